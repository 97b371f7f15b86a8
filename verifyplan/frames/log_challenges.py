"""The rows of challenges as they stand at the end, and of all that happened to each (rules A1, A2, A5, A9)."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from verifyplan.frames.log_events import Row, RunEvents
from verifyplan.protocol.event import Event
from verifyplan.protocol.event_cross import FindingClassified
from verifyplan.protocol.event_plan import (
    ChallengeAdmitted,
    ChallengeOverflowed,
    ChallengeRaised,
    PromotionRefused,
    Restated,
    SectionRead,
    StatusChanged,
    StatusRefused,
)
from verifyplan.rules.citations import Place, places
from verifyplan.runlog.plan_state import PlanState


def challenge_rows(run_id: str, state: PlanState, tags: dict[str, str]) -> list[Row]:
    """One row a challenge that has an id, with its last status, and what of the plan its evidence cites."""
    classes = {name: event.classification for (_, name), event in sorted(state.classes.items())}
    restated = Counter(event.into for event in state.restated if event.what == "challenge")
    plan, sections = state.inputs.plan_name, state.assessed.sections if state.assessed else ()
    return [
        {
            "run_id": run_id,
            "challenge_id": name,
            **challenge.model_dump(exclude={"id"}),
            **_raised(state.raised[name]),
            **_cited(places(state.raised[name].evidence), plan, sections),
            "admitted_in": state.admitted.get(name),
            "overflow": name in state.overflow,
            "overflow_tag": tags.get(name),
            "n_restated": restated[name],
            "classification": classes.get(name),
            "disputed": classes[name] == "contested" if name in classes else None,
        }
        for name, challenge in state.challenges.items()
    ]


def _raised(event: ChallengeRaised) -> Row:
    return {
        "evidence": event.evidence,
        "uncited": event.uncited,
        "raised_by": event.raised_by,
        "owed": event.owed,
        "disputes": event.disputes,
        "probability": event.probability,
    }


def _cited(cited: Sequence[Place], plan: str, sections: Sequence[SectionRead]) -> Row:
    """The first place that the evidence cites, and every place that is in the plan."""
    within = [place for place in cited if place.path == plan]
    line = within[0].first if within else None
    return {
        "place": f"{cited[0].path}:{_lines(cited[0])}" if cited else None,
        "plan_line": line,
        "plan_section": _section_at(line, sections) if line is not None else None,
        "plan_lines": [_lines(place) for place in within],
    }


def _lines(place: Place) -> str:
    return str(place.first) if place.first == place.last else f"{place.first}-{place.last}"


def _section_at(line: int, sections: Sequence[SectionRead]) -> str | None:
    found = bisect_right(sections, line, key=lambda section: section.first) - 1
    return sections[found].title if found >= 0 and line <= sections[found].last else None


def history_rows(story: RunEvents) -> list[Row]:
    """One row for each thing that happened to a challenge, numbered by challenge, in the order of the log.

    A refusal about an id that no challenge has stands there, too, under that id.
    """
    rows = list(_history(story))
    steps: Counter[str] = Counter()
    for row in rows:
        steps[row["challenge_id"]] += 1
        row["step"] = steps[row["challenge_id"]]
    return rows


def _history(story: RunEvents) -> Iterator[Row]:
    statuses: dict[str, str] = {}
    for record in story.records:
        told = _told(record.event, statuses)
        if told is not None:
            blank = dict.fromkeys(("old", "new", "resolution", "reason", "classification", "uncited", "by"))
            yield {"run_id": story.run_id, "step": 0, **blank, **told, "seq": record.seq}
            if told["event"] in ("raised", "changed"):
                statuses[told["challenge_id"]] = told["new"]


def _told(event: Event, statuses: dict[str, str]) -> dict[str, Any] | None:
    """What an event says of a challenge; None if it is about something else."""
    match event:
        case ChallengeRaised(iteration=iteration, challenge=challenge, uncited=uncited):
            return _row(challenge.id, iteration, "raised", new=challenge.status, uncited=uncited, by=challenge.origin)
        case ChallengeAdmitted(iteration=iteration, id=name, promoted=promoted, by_rule=by_rule):
            by = "synthesizer" if promoted and not by_rule else "rule"
            return _row(name, iteration, "promoted" if promoted else "admitted", by=by)
        case ChallengeOverflowed(iteration=iteration, id=name, tag=tag, reason=reason):
            return _row(name, iteration, "overflowed", reason=f"{tag}: {reason}", by="rule")
        case FindingClassified(
            part="challenges", iteration=iteration, finding_id=name, classification=given, rule=rule
        ):
            return _row(name, iteration, "classified", classification=given, reason=rule, by="panel")
        case StatusChanged() | StatusRefused():
            return _moved(event, statuses)
        case PromotionRefused(iteration=iteration, id=name, reason=reason):
            return _row(name, iteration, "refused", reason=reason, by="synthesizer")
        case Restated(what="challenge", iteration=iteration, role=role, text=text, into=name):
            return _row(name, iteration, "restated", reason=text, by=role)
    return None


def _moved(event: StatusChanged | StatusRefused, statuses: dict[str, str]) -> dict[str, Any]:
    name, iteration = event.id, event.iteration
    if isinstance(event, StatusChanged):
        told = _row(name, iteration, "changed", old=event.old, new=event.new, uncited=event.uncited, by=event.by)
    else:
        old = statuses.get(name)
        told = _row(name, iteration, "refused", old=old, new=event.new, reason=event.reason, by="synthesizer")
    return {**told, "resolution": event.resolution}


def _row(name: str, iteration: int, event: str, **more: Any) -> dict[str, Any]:
    return {"challenge_id": name, "iteration": iteration, "event": event, **more}
