"""State as a fold over events: from what was recorded to the artifact of a cross run (rules B9, E1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from verifyplan.protocol.artifact import COUNT_KEY_OF_CLASS, Artifact, ArtifactFinding
from verifyplan.protocol.event import Event
from verifyplan.protocol.event_cross import (
    PLAN_BODY,
    DispatchClosed,
    FindingClassified,
    FindingGrouped,
    Part,
    RoundClosed,
    VoteCast,
)
from verifyplan.protocol.event_run import CrossInputs, CrossOutcome, RunEnded, RunStarted
from verifyplan.protocol.vote import Verdict
from verifyplan.rules.classification import sides


@dataclass
class CrossState:
    """The state of a cross run, folded from its events."""

    started: RunStarted | None = None
    groups: dict[Part, dict[str, FindingGrouped]] = field(default_factory=lambda: {"findings": {}, PLAN_BODY: {}})
    votes: dict[tuple[Part, str], dict[int, dict[str, VoteCast]]] = field(default_factory=dict)
    classes: dict[tuple[Part, str], FindingClassified] = field(default_factory=dict)
    dispatches: dict[tuple[Part, int], list[DispatchClosed]] = field(default_factory=dict)
    rounds: dict[Part, list[RoundClosed]] = field(default_factory=lambda: {"findings": [], PLAN_BODY: []})
    ended: RunEnded | None = None

    @property
    def outcome(self) -> CrossOutcome | None:
        """How the run ended; None while it goes on."""
        return self.ended.outcome if self.ended and isinstance(self.ended.outcome, CrossOutcome) else None

    def add(self, event: Event) -> None:
        """Take in one more event; events that carry no state are ignored."""
        match event.type:
            case "run-started":
                self.started = event
            case "finding-grouped":
                self.groups[event.part][event.finding_id] = event
            case "vote-cast":
                rounds = self.votes.setdefault((event.part, event.finding_id), {})
                rounds.setdefault(event.round, {})[event.worker] = event
            case "finding-classified":
                self.classes[event.part, event.finding_id] = event
            case "dispatch-closed":
                self.dispatches.setdefault((event.part, event.round), []).append(event)
            case "round-closed":
                self.rounds[event.part].append(event)
            case "run-ended":
                self.ended = event


def fold_cross(events: Iterable[Event]) -> CrossState:
    """Return the state that a sequence of events adds up to; any prefix of a run folds, too."""
    state = CrossState()
    for event in events:
        state.add(event)
    return state


def artifact_of(state: CrossState, part: Part = "findings") -> Artifact:
    """Return the state artifact, schema 1.2, of an ended run; or the same shape for its plan body (rules B9, B10).

    Raises ValueError if the run has not ended, as each finding of an artifact has a class.
    """
    without_findings = artifact_without_findings(state, part)
    return without_findings.model_copy(update={"findings": tuple(findings_of(state, part))})


def findings_of(state: CrossState, part: Part = "findings") -> Iterator[ArtifactFinding]:
    """Yield the findings of the artifact of an ended run, one by one."""
    assert state.started is not None  # noqa: S101  (an ended run has begun)
    roster = state.started.cross.analysers
    return (ArtifactFinding.model_validate(_finding(state, group, roster)) for group in state.groups[part].values())


def artifact_without_findings(state: CrossState, part: Part = "findings") -> Artifact:
    """Return the artifact of an ended run, but for its findings; ValueError if the run has not ended."""
    if state.started is None or state.outcome is None:
        raise ValueError("the run has not ended: its events have no run-started or no run-ended")
    counts = Counter(state.classes[part, finding_id].classification for finding_id in state.groups[part])
    history = [_round(state, closed) for closed in state.rounds[part]]
    return Artifact.model_validate(
        {
            "schemaVersion": "1.2",
            "taskKey": state.started.task_key,
            "config": _config(state.started.cross),
            "findings": (),
            "roundHistory": history,
            "round2SkippedReason": state.outcome.round2_skipped_reason,
            "finalState": state.outcome.final_state,
            "totalRounds": len(history),
            "finalClassificationCounts": {key: counts[name] for name, key in COUNT_KEY_OF_CLASS.items()},
        }
    )


def _config(inputs: CrossInputs) -> dict[str, Any]:
    """Return the settings, with the rules where they are not neutral, and the mark of a supplementary run."""
    config = dict(inputs.settings)
    if inputs.rules.treatment:
        config["votingRules"] = inputs.rules.treatment
    if inputs.only is not None:
        config["supplementary"] = True
    if inputs.supplements is not None:
        config["supplements"] = inputs.supplements
    return config


def _finding(state: CrossState, group: FindingGrouped, roster: tuple[str, ...]) -> dict[str, Any]:
    key = (group.part, group.finding_id)
    rounds = state.votes.get(key, {})
    cast: list[dict[str, Verdict]] = [{w: v.verdict for w, v in votes.items()} for votes in rounds.values()]
    consensus, dissenting = sides(roster, group.discoverers, cast)
    return {
        "findingId": group.finding_id,
        "summary": group.summary,
        "category": group.category,
        "ticketIds": group.ticket_ids,
        "originWorker": group.discoverers[0] if group.discoverers else None,
        "originEvidence": group.evidence,
        "classification": state.classes[key].classification,
        "rounds": [
            {"round": number, "votes": {worker: _vote(vote) for worker, vote in rounds.get(number, {}).items()}}
            for number in range(1, max(rounds, default=0) + 1)  # listed calls may leave out a round
        ],
        "consensusWorkers": consensus,
        "dissentingWorkers": dissenting,
    }


def _vote(vote: VoteCast) -> dict[str, Any]:
    return {
        "verdict": vote.verdict,
        "disagreeBasis": vote.disagree_basis,
        "explanation": vote.explanation,
    }


def _round(state: CrossState, closed: RoundClosed) -> dict[str, Any]:
    dispatches = state.dispatches.get((closed.part, closed.round), [])
    return {
        "round": closed.round,
        "inputQueueSize": closed.input_queue_size,
        "resolvedCount": closed.resolved_count,
        "carriedForwardCount": closed.carried_forward_count,
        "dispatches": [
            {"worker": d.worker, "status": d.status, "durationMs": d.duration_ms} for d in dispatches if d.status
        ],
        "skippedWorkers": [{"worker": d.worker, "reason": d.skipped} for d in dispatches if d.skipped],
    }
