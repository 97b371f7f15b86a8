"""The synthesizer: settles each challenge by evidence, and cites it (rules A2, A4, A5, A9)."""

from __future__ import annotations

from collections.abc import Sequence

from verifyplan.agents.static.roles.context import RoleContext
from verifyplan.agents.static.roles.issues import first_cited, shortened
from verifyplan.agents.static.roles.panel import ChallengeCase, refutation
from verifyplan.protocol.call import Item
from verifyplan.protocol.records import INACTIVE, SEVERITIES, UNSETTLED, Challenge, Status
from verifyplan.protocol.role_call import PanelResult, StatusChange, SynthesizerAnswer
from verifyplan.protocol.vote import HELD
from verifyplan.rules.citations import cites_location
from verifyplan.rules.convergence import evaluate
from verifyplan.rules.guards import cap, source_of

_MAX_RESOLUTION_CHARACTERS = 400


def answer(context: RoleContext) -> SynthesizerAnswer:
    """Return how every unsettled challenge is settled, which overflow is promoted, and the status that follows.

    A challenge that a counter-evidence of the panel refutes is WITHDRAWN; of the others a MINOR challenge is DEFERRED,
    a challenge that an answered unknown settles is RESOLVED, any other UNRESOLVED. Without a panel the synthesizer
    looks again itself. Every resolution cites an id or a place.
    """
    request = context.request
    results = {result.challenge: result for result in request.panel}
    changes = []
    for challenge in context.unsettled:
        status, resolution = _settled(context, challenge, results.get(challenge.id))
        if status != challenge.status:
            changes.append(StatusChange(challenge=challenge.id, status=status, resolution=resolution))
    new = {change.challenge: change.status for change in changes}
    after = [c.model_copy(update={"status": new[c.id]}) if c.id in new else c for c in request.challenges]
    promoted = _promoted(context, after)
    ruling = evaluate([*after, *promoted], request.iteration, max(request.max_iterations, 1), rules=request.rules)
    return SynthesizerAnswer(
        changes=tuple(changes),
        promotions=tuple(challenge.id for challenge in promoted),
        status=ruling.status,
        verdict=ruling.verdict,
        question=_question(context, [*after, *promoted]),
    )


def _settled(context: RoleContext, challenge: Challenge, result: PanelResult | None) -> tuple[Status, str]:
    """Return the status of one challenge, and the resolution."""
    refuted = _refuted(context, challenge, result)
    if refuted:
        return "WITHDRAWN", refuted
    for unknown in context.request.unknowns:
        if unknown.affects_challenge == challenge.id and unknown.resolution == "CONFIRMED" and unknown.finding:
            return "RESOLVED", f"{unknown.id} settles {challenge.id} in the plan's favour: {unknown.finding}"
    panel = "No panel voted on it."
    if result is not None:
        votes = ", ".join(f"{vote.worker} {vote.verdict}" for vote in result.votes)
        why = next((vote.explanation for vote in result.votes if cites_location(vote.explanation)), "")
        panel = _cut(f"The panel left it at {result.classification} ({votes}). {why}".strip())
    if challenge.severity == "MINOR":
        return "DEFERRED", f"{challenge.id} is MINOR and can be dealt with on the way. {panel}"
    disputed = result is not None and result.classification == "contested"
    why = "is disputed and not refuted" if disputed else "stands: nothing in the plan or the repository settles it"
    return "UNRESOLVED", f"{challenge.id} {why}. {panel}"


def _refuted(context: RoleContext, challenge: Challenge, result: PanelResult | None) -> str:
    """Return why a challenge does not hold, citing what refutes it; empty if it was not refuted.

    A counter-evidence that cites a place is enough where the panel did not leave the challenge at consensus: a look-up
    refutes what another look-up claims.
    """
    if result is None:
        text = context.request.evidence.get(challenge.id, "")
        item = Item(finding_id=challenge.id, summary=f"{challenge.claim} {challenge.concern}", evidence=text)
        why = refutation(ChallengeCase(item, {context.name: context.text}, context.index, context.tools))
        return f"{challenge.id} does not hold: {why}" if why else ""
    if result.classification in HELD:
        return ""
    countered = [vote for vote in result.votes if vote.basis == "counter-evidence" and cites_location(vote.explanation)]
    cited = " ".join(f"{vote.worker}: {vote.explanation}" for vote in countered)
    return _cut(f"{challenge.id} does not hold. {cited}") if countered else ""


def _cut(text: str) -> str:
    return shortened(" ".join(text.split()), _MAX_RESOLUTION_CHARACTERS)


def _promoted(context: RoleContext, after: Sequence[Challenge]) -> list[Challenge]:
    """Return overflowed challenges of earlier iterations, without MINOR, that fit under the caps, the worst first."""
    request = context.request
    room = request.rules.max_active - sum(1 for challenge in after if challenge.status not in INACTIVE)
    waiting = [c for c in request.overflow if c.iteration_introduced < request.iteration and c.severity != "MINOR"]
    new = [c for c in request.challenges if c.iteration_introduced == request.iteration]
    chosen: list[Challenge] = []
    for challenge in sorted(waiting, key=lambda c: SEVERITIES.index(c.severity)):
        used = sum(1 for c in (*new, *chosen) if source_of(c.origin) == source_of(challenge.origin))
        if len(chosen) < room and used < cap(challenge.origin, request.iteration, rules=request.rules):
            chosen.append(challenge)
    return chosen


def _question(context: RoleContext, after: Sequence[Challenge]) -> str:
    """Return one question to the user on the first unsettled BLOCKING challenge; empty if there is none."""
    blocking = next((c for c in after if c.severity == "BLOCKING" and c.status in UNSETTLED), None)
    if blocking is None:
        return ""
    place = first_cited(context.request.evidence.get(blocking.id, ""))
    where = f" ({place})" if place else ""
    instead = f" One way: {blocking.alternative}" if blocking.alternative.strip() else ""
    return f"{blocking.id}{where}: {blocking.claim} {blocking.concern} What is meant, or what shall change?{instead}"
