"""Look up in a plan run's state what several parts of its report need: challenges in order, places, scores."""

from __future__ import annotations

from collections.abc import Iterable

from verifyplan.protocol.event_cross import FindingClassified
from verifyplan.protocol.event_plan import ScoreGiven
from verifyplan.protocol.records import DIMENSIONS, SEVERITIES, UNSETTLED, Challenge, Convergence, Dimension, Severity
from verifyplan.reports.blocks import Inline, Link, Quoted
from verifyplan.rules.citations import places
from verifyplan.runlog.plan_state import PlanState

MAX_PLACES = 2
"""Places of a challenge that are shown."""
MAX_EVIDENCE_CHARACTERS = 20_000
"""Places are looked for in so many characters of an evidence."""
UNSEEN = "nothing was looked at"
"""The evidence of a score without any look-up says so."""


def id_key(name: str) -> tuple[int, str]:
    """Return the key that sorts ids as people count: C2 before C10.

    >>> sorted(["C10", "C2"], key=id_key)
    ['C2', 'C10']
    """
    return len(name), name


def worst_first(challenges: Iterable[Challenge]) -> list[Challenge]:
    """Return challenges by severity; OPEN and UNRESOLVED ones first; then by their number."""
    return sorted(challenges, key=lambda c: (SEVERITIES.index(c.severity), c.status not in UNSETTLED, *id_key(c.id)))


def unsettled(state: PlanState, severity: Severity) -> list[Challenge]:
    """Return the admitted challenges of a severity that are OPEN or UNRESOLVED and that nobody overrode."""
    overridden = state.outcome.overridden if state.outcome else None
    return worst_first(c for c in state.unsettled if c.severity == severity and c.id != overridden)


def overflowed(state: PlanState, severity: Severity) -> list[Challenge]:
    """Return the challenges of a severity that did not fit and were never promoted."""
    return [c for name in sorted(state.overflow, key=id_key) if (c := state.challenges[name]).severity == severity]


def cited_places(state: PlanState, name: str) -> str:
    """Return the first two places that a challenge's evidence cites; empty if it cites none."""
    raised = state.raised.get(name)
    cited = places(raised.evidence[:MAX_EVIDENCE_CHARACTERS]) if raised else []
    texts = list(dict.fromkeys(f"{p.path}:{p.first}" + (f"-{p.last}" if p.last > p.first else "") for p in cited))
    more = f" and {len(texts) - MAX_PLACES} more" if len(texts) > MAX_PLACES else ""
    return ", ".join(texts[:MAX_PLACES]) + more


def cited_lines(state: PlanState, name: str) -> list[int]:
    """Return the lines of the plan that a challenge's evidence cites."""
    cited = places(state.raised[name].evidence[:MAX_EVIDENCE_CHARACTERS])
    plan = state.inputs.plan_name
    return [line for p in cited if p.path == plan for line in range(p.first, min(p.last, p.first + 500) + 1)]


def panel_classes(state: PlanState, name: str) -> list[FindingClassified]:
    """Return the classes that the panel gave a challenge, one an iteration, the last one last."""
    return [state.classes[key] for key in sorted(state.classes) if key[1] == name]


def convergence_of(state: PlanState, iteration: int) -> Convergence | None:
    """Return the counts at the end of an iteration, or at its last judgement; None if it had neither.

    A person's answer can have an iteration judged again, and one that was broken off is closed without a judgement.
    """
    closed = next((each.convergence for each in state.iterations if each.iteration == iteration), None)
    judged = next((ruling for ruling in reversed(state.rulings) if ruling.iteration == iteration), None)
    if closed is not None or judged is None:
        return closed
    counts = {"blocking_open": judged.blocking_open, "significant_open": judged.significant_open}
    return Convergence(**counts, status=judged.status)


def id_link(state: PlanState, name: str) -> Inline:
    """Return an id as a link to its challenge, or as text if there is none."""
    return Link(name) if name in state.challenges else Quoted(name)


def scores_by(state: PlanState, author: str) -> dict[Dimension, ScoreGiven]:
    """Return the scores that count, by dimension, of the synthesizer or of the challenger's audit."""
    return {score.dimension: score for score in state.scores if score.by == author}


def nothing_looked_up(state: PlanState) -> bool:
    """Return whether every dimension was scored, and each score says that nothing was looked at (rule A10)."""
    own = scores_by(state, "synthesizer")
    return all(name in own and UNSEEN in own[name].evidence.lower() for name in DIMENSIONS)
