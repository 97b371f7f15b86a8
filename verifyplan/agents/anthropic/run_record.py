"""Write the state of a plan run for a model to read: one entry a challenge, unknown, vote and so on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from verifyplan.agents.untrusted_text import quoted
from verifyplan.protocol.records import INACTIVE, SEVERITIES, UNSETTLED, Challenge, ProbedRisk, SurfacedContext, Unknown
from verifyplan.protocol.role_call import Moved, PanelResult, RoleRequest

EMPTY_RECORD = "Nothing is on record yet."


def run_record(request: RoleRequest) -> str:
    """Return all that is on record in a run, in sections; blank fields and empty sections are left out.

    The keys are those of the answers. A text of several lines is indented below its key, so that no text can pass for
    an entry of its own.
    """
    sections = (
        ("CHALLENGES", _challenges(request.challenges, request)),
        ("IN OVERFLOW", _challenges(request.overflow, request)),
        ("UNKNOWNS", map(_unknown, request.unknowns)),
        ("SURFACED CONTEXTS", map(_context, request.contexts)),
        ("PROBED RISKS", map(_risk, request.risks)),
        ("CHANGES OF STATUS", [_status_change(change, request) for change in request.moved]),
        ("VOTES OF THE PANEL IN THIS ITERATION", map(_panel, request.panel)),
    )
    lists = [(title, list(entries)) for title, entries in sections]
    texts = ["\n".join([title, *entries]) for title, entries in lists if entries]
    active = sum(challenge.status not in INACTIVE for challenge in request.challenges)
    unsettled = Counter(challenge.severity for challenge in request.challenges if challenge.status in UNSETTLED)
    severities = ", ".join(f"{unsettled[severity]} {severity}" for severity in SEVERITIES)
    counts = f"Challenges: {active} of at most {request.rules.max_active} active; unsettled: {severities}."
    return "\n\n".join([counts, *texts]) if texts else EMPTY_RECORD


def record_entry(head: str, *fields: tuple[str, str]) -> str:
    r"""Return a line, and below it, indented, the fields that are not blank.

    >>> print(record_entry("C1", ("claim", "It assumes x."), ("alternative", " "), ("evidence", "plan.md:3\n> x")))
    C1
      claim: It assumes x.
      evidence: plan.md:3
        > x
    """
    return "\n".join([head, *(f"  {line}" for line in field_lines(*fields))])


def field_lines(*fields: tuple[str, str]) -> list[str]:
    """Return the lines of the fields that are not blank, each with its key; further lines of a text are indented."""
    lines: list[str] = []
    for key, text in fields:
        if text.strip():
            first, *rest = text.strip().splitlines()
            lines += [f"{key}: {first}", *(f"  {line}" for line in rest)]
    return lines


def challenge_entry(challenge: Challenge, evidence: str = "") -> str:
    """Return a challenge with its evidence, as far as it is known."""
    source = f"raised by {challenge.origin} in iteration {challenge.iteration_introduced}"
    return record_entry(
        f"{challenge.id} {challenge.severity}, confidence {challenge.confidence}, {challenge.status}, {source}",
        ("claim", challenge.claim),
        ("concern", challenge.concern),
        ("failure_scenario", challenge.failure_scenario),
        ("alternative", challenge.alternative),
        ("evidence", evidence),
        ("resolution", challenge.resolution),
    )


def _challenges(challenges: Iterable[Challenge], request: RoleRequest) -> Iterator[str]:
    return (challenge_entry(challenge, request.evidence.get(challenge.id, "")) for challenge in challenges)


def _unknown(unknown: Unknown) -> str:
    affects = f", affects {unknown.affects_challenge}" if unknown.affects_challenge else ""
    return record_entry(
        f"{unknown.id} {unknown.type}{affects}: {unknown.resolution or 'not answered yet'}",
        ("description", unknown.description),
        ("suggested_query", unknown.suggested_query),
        ("finding", unknown.finding or ""),
    )


def _context(context: SurfacedContext) -> str:
    return record_entry(
        f"{context.id} {context.impact}, from {context.source}{_raised(context.generates_challenge)}",
        ("location", context.location),
        ("relevance", context.relevance),
    )


def _risk(risk: ProbedRisk) -> str:
    return record_entry(
        f"{risk.id} {risk.severity}, probability {risk.probability}{_raised(risk.generates_challenge)}",
        ("risk", risk.risk),
        ("trigger", risk.trigger),
        ("cascade", risk.cascade),
    )


def _raised(challenge: str | None) -> str:
    return f", raised {challenge}" if challenge else ""


def _status_change(change: Moved, request: RoleRequest) -> str:
    """Return a change; its resolution is left out where it is that of the challenge."""
    resolutions = {challenge.id: challenge.resolution for challenge in request.challenges}
    resolution = "" if change.resolution == resolutions.get(change.challenge) else change.resolution
    return record_entry(
        f"iteration {change.iteration}: {change.challenge} from {change.old} to {change.new}",
        ("resolution", resolution),
    )


def _panel(panel: PanelResult) -> str:
    votes = (
        (quoted(vote.worker), f"{vote.verdict}{f' ({vote.basis})' if vote.basis else ''}. {vote.explanation}")
        for vote in panel.votes
    )
    return record_entry(f"{panel.challenge} {panel.classification}, by rule {quoted(panel.rule)}", *votes)
