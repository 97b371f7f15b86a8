"""What of a run's outcome came out otherwise when it was driven again, in words (rule E3)."""

from __future__ import annotations

from verifyplan.rules.convergence import verdict_words
from verifyplan.runs.cross_run import CrossRun
from verifyplan.runs.debate.run import Debate
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.run import Run


def outcome_changes(recorded: Run, again: Run, *, whole: bool = True) -> tuple[str, ...]:
    """List what two runs of the same replies came to where they differ: verdict, statuses of challenges, classes.

    What only the recorded run has is listed if the second one was driven as far (`whole`).
    """
    old, new = _outcome(recorded), _outcome(again)
    names = [name for name in (old | new) if name in new or whole]
    return tuple(
        f"{name}: {old.get(name, 'none')}; now: {new.get(name, 'none')}"
        for name in names
        if old.get(name) != new.get(name)
    )


def _outcome(run: Run) -> dict[str, str]:
    """Return what a run came to, by the name of each part; without parts that it has not come to."""
    if isinstance(run, PlanRun):
        return _plan(run)
    if isinstance(run, CrossRun):
        return _cross(run)
    return _debate(run) if isinstance(run, Debate) else {}


def _plan(run: PlanRun) -> dict[str, str]:
    state, outcome = run.state, run.outcome
    parts: dict[str, str] = {}
    if outcome is not None:
        parts["verdict"] = verdict_words(outcome.verdict, outcome.strong)
        parts["status"] = outcome.status or "none"
        parts["ended by"] = outcome.ended_by
        parts["score"] = str(outcome.score or "none")
    for name, challenge in state.challenges.items():
        overflow = ", in overflow" if name in state.overflow else ""
        parts[name] = f"{challenge.severity}, {challenge.status}{overflow}"
    for (iteration, name), classified in state.classes.items():
        parts[f"the panel on {name} in iteration {iteration}"] = classified.classification
    return parts


def _cross(run: CrossRun) -> dict[str, str]:
    outcome = run.state.outcome
    parts: dict[str, str] = {"final state": outcome.final_state} if outcome else {}
    if outcome and outcome.gate_passed is not None:
        parts["gate of the plan body"] = "passed" if outcome.gate_passed else "failed"
    return parts | {name: classified.classification for (_, name), classified in run.state.classes.items()}


def _debate(run: Debate) -> dict[str, str]:
    if run.outcome is None:
        return {}
    return {"status": run.outcome.status or "none", "reason": run.outcome.reason, "turns": str(run.turns)}
