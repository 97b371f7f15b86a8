"""What the hub knows of a plan run, written for a model to read: one entry a challenge, unknown, vote and so on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from verifyplan.agents.untrusted_text import quoted
from verifyplan.protocol.challenge import INACTIVE, SEVERITIES, UNSETTLED, Challenge
from verifyplan.protocol.plan_call import Moved, PanelResult, RoleRequest
from verifyplan.protocol.research import ProbedRisk, SurfacedContext, Unknown
from verifyplan.rules.guards import MAX_ACTIVE

EMPTY_RECORD = "Nothing is on record yet."


def run_record(request: RoleRequest) -> str:
    """All that is on record in a run, in sections; blank fields and empty sections are left out.

    The keys are those of the answers. A text of several lines is indented below its key, so that no text can pass for
    an entry of its own.
    """
    sections = (
        ("CHALLENGES", [challenge_entry(one, request.evidence.get(one.id, "")) for one in request.challenges]),
        ("IN OVERFLOW", [challenge_entry(one, request.evidence.get(one.id, "")) for one in request.overflow]),
        ("UNKNOWNS", [_unknown(one) for one in request.unknowns]),
        ("SURFACED CONTEXTS", [_context(one) for one in request.contexts]),
        ("PROBED RISKS", [_risk(one) for one in request.risks]),
        ("CHANGES OF STATUS", [_move(one, request) for one in request.moved]),
        ("VOTES OF THE PANEL IN THIS ITERATION", [_panel(one) for one in request.panel]),
    )
    told = ["\n".join([title, *entries]) for title, entries in sections if entries]
    return "\n\n".join([_counts(request), *told]) if told else EMPTY_RECORD


def record_entry(head: str, *fields: tuple[str, str]) -> str:
    r"""A line, and below it, indented, the fields that are not blank.

    >>> print(record_entry("C1", ("claim", "It assumes x."), ("alternative", " "), ("evidence", "plan.md:3\n> x")))
    C1
      claim: It assumes x.
      evidence: plan.md:3
        > x
    """
    return "\n".join([head, *(f"  {line}" for line in field_lines(*fields))])


def field_lines(*fields: tuple[str, str]) -> list[str]:
    """The lines of the fields that are not blank, each with its key; further lines of a text are indented."""
    lines: list[str] = []
    for key, text in fields:
        if text.strip():
            first, *rest = text.strip().splitlines()
            lines += [f"{key}: {first}", *(f"  {line}" for line in rest)]
    return lines


def _counts(request: RoleRequest) -> str:
    active = sum(one.status not in INACTIVE for one in request.challenges)
    unsettled = Counter(one.severity for one in request.challenges if one.status in UNSETTLED)
    told = ", ".join(f"{unsettled[severity]} {severity}" for severity in SEVERITIES)
    return f"Challenges: {active} of at most {MAX_ACTIVE} active; unsettled: {told}."


def challenge_entry(one: Challenge, evidence: str = "") -> str:
    """A challenge with the places that it cites, as far as they are known."""
    source = f"raised by {one.origin} in iteration {one.iteration_introduced}"
    return record_entry(
        f"{one.id} {one.severity}, confidence {one.confidence}, {one.status}, {source}",
        ("claim", one.claim),
        ("concern", one.concern),
        ("failure_scenario", one.failure_scenario),
        ("alternative", one.alternative),
        ("evidence", evidence),
        ("resolution", one.resolution),
    )


def _unknown(one: Unknown) -> str:
    affects = f", affects {one.affects_challenge}" if one.affects_challenge else ""
    return record_entry(
        f"{one.id} {one.type}{affects}: {one.resolution or 'not answered yet'}",
        ("description", one.description),
        ("suggested_query", one.suggested_query),
        ("finding", one.finding or ""),
    )


def _context(one: SurfacedContext) -> str:
    return record_entry(
        f"{one.id} {one.impact}, from {one.source}{_raised(one.generates_challenge)}",
        ("location", one.location),
        ("relevance", one.relevance),
    )


def _risk(one: ProbedRisk) -> str:
    return record_entry(
        f"{one.id} {one.severity}, probability {one.probability}{_raised(one.generates_challenge)}",
        ("risk", one.risk),
        ("trigger", one.trigger),
        ("cascade", one.cascade),
    )


def _raised(challenge: str | None) -> str:
    return f", raised {challenge}" if challenge else ""


def _move(one: Moved, request: RoleRequest) -> str:
    """A change; its resolution is left out where it stands with the challenge already."""
    current = {challenge.id: challenge.resolution for challenge in request.challenges}
    resolution = "" if one.resolution == current.get(one.challenge) else one.resolution
    return record_entry(
        f"iteration {one.iteration}: {one.challenge} from {one.old} to {one.new}",
        ("resolution", resolution),
    )


def _panel(one: PanelResult) -> str:
    return record_entry(f"{one.challenge} {one.classification}, by rule {quoted(one.rule)}", *_votes(one))


def _votes(one: PanelResult) -> Iterator[tuple[str, str]]:
    for vote in one.votes:
        basis = f" ({vote.basis})" if vote.basis else ""
        yield quoted(vote.worker), f"{vote.verdict}{basis}. {vote.explanation}"
