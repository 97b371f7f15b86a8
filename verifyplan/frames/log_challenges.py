"""The rows of challenges as they are at the end, and of their history (rules A1, A2, A5, A9)."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from verifyplan.frames.log_events import LogEvents, Row
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

_FROM_EVENT = ("evidence", "uncited", "raised_by", "owed", "disputes", "probability")


def challenge_rows(run_id: str, state: PlanState, tags: dict[str, str]) -> list[Row]:
    """Return one row a challenge that has an id, with its last status, and what of the plan its evidence cites."""
    classes = {name: event.classification for (_, name), event in sorted(state.classes.items())}
    restated = Counter(event.into for event in state.restated if event.what == "challenge")
    plan, sections = state.inputs.plan_name, state.assessed.sections if state.assessed else ()
    return [
        {
            "run_id": run_id,
            "challenge_id": name,
            **challenge.model_dump(exclude={"id"}),
            **{field: getattr(state.raised[name], field) for field in _FROM_EVENT},
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


def _cited(cited: Sequence[Place], plan: str, sections: Sequence[SectionRead]) -> Row:
    """Return the first place that the evidence cites, and every place that is in the plan."""
    within = [place for place in cited if place.path == plan]
    line, title = within[0].first if within else None, None
    if line is not None:
        at = bisect_right(sections, line, key=lambda section: section.first) - 1
        title = sections[at].title if at >= 0 and line <= sections[at].last else None
    return {
        "place": f"{cited[0].path}:{_lines(cited[0])}" if cited else None,
        "plan_line": line,
        "plan_section": title,
        "plan_lines": [_lines(place) for place in within],
    }


def _lines(place: Place) -> str:
    return str(place.first) if place.first == place.last else f"{place.first}-{place.last}"


def history_rows(log: LogEvents) -> list[Row]:
    """Return one row for each event of a challenge, numbered by challenge, in the order of the log.

    A refusal about an id that no challenge has is there, too, under that id.
    """
    statuses: dict[str, str] = {}
    steps: Counter[str] = Counter()
    rows = []
    for record in log.records:
        if record.event.type not in _OF_CHALLENGES:  # nearly all
            continue
        for change in _history(record.event, statuses):
            name = change["challenge_id"]
            steps[name] += 1
            blank = dict.fromkeys(("old", "new", "resolution", "reason", "classification", "uncited", "by"))
            rows.append({"run_id": log.run_id, "step": steps[name], **blank, **change, "seq": record.seq})
            if change["event"] in ("raised", "changed"):
                statuses[name] = change["new"]
    return rows


_OF_CHALLENGES = frozenset(
    event.model_fields["type"].default
    for event in (
        ChallengeRaised,
        ChallengeAdmitted,
        ChallengeOverflowed,
        FindingClassified,
        StatusChanged,
        StatusRefused,
        PromotionRefused,
        Restated,
    )
)


def _history(event: Event, statuses: dict[str, str]) -> Iterator[Row]:
    """Yield what an event says of a challenge; nothing if it is about something else."""
    match event:
        case ChallengeRaised(iteration=iteration, challenge=challenge, uncited=uncited):
            status, by = challenge.status, challenge.origin
            yield _row(challenge.id, iteration, "raised", new=status, uncited=uncited, by=by)
        case ChallengeAdmitted(id=name, iteration=iteration, promoted=promoted, by_rule=by_rule):
            by_whom = "synthesizer" if promoted and not by_rule else "rule"
            yield _row(name, iteration, "promoted" if promoted else "admitted", by=by_whom)
        case ChallengeOverflowed(id=name, iteration=iteration):
            yield _row(name, iteration, "overflowed", reason=f"{event.tag}: {event.reason}", by="rule")
        case FindingClassified(part="challenges", finding_id=name, iteration=iteration, rule=rule):
            yield _row(name, iteration, "classified", classification=event.classification, reason=rule, by="panel")
        case StatusChanged(id=name, iteration=iteration, old=old, new=new, resolution=resolution):
            changed: Row = {"old": old, "new": new, "resolution": resolution}
            yield _row(name, iteration, "changed", **changed, uncited=event.uncited, by=event.by)
        case StatusRefused(id=name, iteration=iteration, new=new, resolution=resolution):
            changed = {"old": statuses.get(name), "new": new, "resolution": resolution}
            yield _row(name, iteration, "refused", **changed, reason=event.reason, by="synthesizer")
        case PromotionRefused(id=name, iteration=iteration, reason=reason):
            yield _row(name, iteration, "refused", reason=reason, by="synthesizer")
        case Restated(what="challenge", into=name, iteration=iteration, text=text, role=role):
            yield _row(name, iteration, "restated", reason=text, by=role)


def _row(name: str, iteration: int, event: str, **more: Any) -> Row:
    return {"challenge_id": name, "iteration": iteration, "event": event, **more}
