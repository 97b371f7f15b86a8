"""What several sections of a plan's report need: challenges in order, where they point, references between them."""

from __future__ import annotations

from collections.abc import Iterable

from verifyplan.protocol.event_cross import FindingClassified
from verifyplan.protocol.records import SEVERITIES, UNSETTLED, Challenge, Convergence, Severity
from verifyplan.reports.blocks import Inline, Link, Said
from verifyplan.rules.citations import places
from verifyplan.runlog.plan_state import PlanState

SHOWN_PLACES = 2
READ_FOR_PLACES = 20_000
"""Places are looked for in so many characters of an evidence."""


def worst_first(challenges: Iterable[Challenge]) -> list[Challenge]:
    """Challenges by severity; OPEN and UNRESOLVED ones first; then by their number."""
    return sorted(challenges, key=lambda c: (SEVERITIES.index(c.severity), c.status not in UNSETTLED, *number(c.id)))


def number(name: str) -> tuple[int, str]:
    """What sorts ids as people count: C2 before C10.

    >>> sorted(["C10", "C2"], key=number)
    ['C2', 'C10']
    """
    return len(name), name


def standing(state: PlanState, severity: Severity) -> list[Challenge]:
    """The admitted challenges of a severity that are OPEN or UNRESOLVED and that nobody overrode."""
    overridden = state.outcome.overridden if state.outcome else None
    return worst_first(c for c in state.unsettled if c.severity == severity and c.id != overridden)


def overflowed(state: PlanState, severity: Severity) -> list[Challenge]:
    """The challenges of a severity that did not fit and were never promoted."""
    return [c for name in sorted(state.overflow, key=number) if (c := state.challenges[name]).severity == severity]


def place(state: PlanState, name: str) -> str:
    """The places that a challenge's evidence cites, the first two of them; empty if it cites none."""
    raised = state.raised.get(name)
    found = places(raised.evidence[:READ_FOR_PLACES]) if raised else []
    told = list(dict.fromkeys(f"{p.path}:{p.first}" + (f"-{p.last}" if p.last > p.first else "") for p in found))
    more = f" and {len(told) - SHOWN_PLACES} more" if len(told) > SHOWN_PLACES else ""
    return ", ".join(told[:SHOWN_PLACES]) + more


def cited_lines(state: PlanState, name: str) -> list[int]:
    """The lines of the plan that a challenge's evidence cites."""
    cited = places(state.raised[name].evidence[:READ_FOR_PLACES])
    plan = state.inputs.plan_name
    return [line for one in cited if one.path == plan for line in range(one.first, min(one.last, one.first + 500) + 1)]


def classes(state: PlanState, name: str) -> list[FindingClassified]:
    """The classes that the panel gave a challenge, one an iteration, the last one last."""
    return [state.classes[key] for key in sorted(state.classes) if key[1] == name]


def tally(state: PlanState, iteration: int) -> Convergence | None:
    """What stood against the plan at the end of an iteration, or at its last judgement; None if it had neither.

    A person's answer can have an iteration judged again, and one that was broken off is closed without a judgement.
    """
    closed = next((one.convergence for one in state.iterations if one.iteration == iteration), None)
    judged = next((one for one in reversed(state.rulings) if one.iteration == iteration), None)
    if closed is not None or judged is None:
        return closed
    open_ = {"blocking_open": judged.blocking_open, "significant_open": judged.significant_open}
    return Convergence(**open_, status=judged.status)


def reference(state: PlanState, name: str) -> Inline:
    """An id as a link to its challenge, or as text if there is none."""
    return Link(name) if name in state.challenges else Said(name)
