"""The synthesizer: settles each challenge by what was found, and says by which finding (rules A2, A4, A5, A9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verifyplan.agents.static.roles.issues import place_of
from verifyplan.agents.static.roles.panel import Case, refutation
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.protocol.call import Item
from verifyplan.protocol.records import (
    INACTIVE,
    SEVERITIES,
    UNSETTLED,
    Challenge,
    Status,
)
from verifyplan.protocol.role_call import PanelResult, StatusChange, SynthesizerAnswer
from verifyplan.protocol.vote import HELD
from verifyplan.rules.citations import cites_location
from verifyplan.rules.convergence import evaluate
from verifyplan.rules.guards import MAX_ACTIVE, cap, source_of

_LONGEST = 400


def answer(scene: Scene) -> SynthesizerAnswer:
    """How every unsettled challenge is settled, who comes in from overflow, and what the counts then say.

    A challenge that a counter-evidence of the panel refutes is WITHDRAWN; of those that stand a MINOR one is DEFERRED,
    one that an answered unknown settles is RESOLVED, any other UNRESOLVED. Without a panel the
    synthesizer looks again itself. Every resolution cites an id or a place.
    """
    request = scene.request
    results = {result.challenge: result for result in request.panel}
    changes = [
        change for challenge in scene.unsettled if (change := _settled(scene, challenge, results.get(challenge.id)))
    ]
    after = _after(request.challenges, changes)
    promoted = _promoted(scene, after)
    ruling = evaluate([*after, *promoted], request.iteration, max(request.max_iterations, 1))
    return SynthesizerAnswer(
        changes=tuple(changes),
        promotions=tuple(challenge.id for challenge in promoted),
        status=ruling.status,
        verdict=ruling.verdict,
        question=_question(scene, [*after, *promoted]),
    )


def _settled(scene: Scene, challenge: Challenge, result: PanelResult | None) -> StatusChange | None:
    """The change of one challenge; None where it stays UNRESOLVED."""
    withdrawn = _refuted(scene, challenge, result)
    status, resolution = ("WITHDRAWN", withdrawn) if withdrawn else _standing(scene, challenge, result)
    if status == challenge.status:
        return None
    return StatusChange(challenge=challenge.id, status=status, resolution=resolution)


def _refuted(scene: Scene, challenge: Challenge, result: PanelResult | None) -> str:
    """Why a challenge does not hold, citing what refutes it; empty if it was not refuted.

    A counter-evidence that cites a place is enough where the panel did not leave the challenge at consensus: what one
    look-up claims, another refutes.
    """
    if result is None:
        why = _looked_at_alone(scene, challenge)
        return f"{challenge.id} does not hold: {why}" if why else ""
    if result.classification in HELD:
        return ""
    countered = [vote for vote in result.votes if vote.basis == "counter-evidence" and cites_location(vote.explanation)]
    cited = " ".join(f"{vote.worker}: {vote.explanation}" for vote in countered)
    return _cut(f"{challenge.id} does not hold. {cited}") if countered else ""


def _looked_at_alone(scene: Scene, challenge: Challenge) -> str:
    """What the panel's means show against a challenge on which no panel voted."""
    said = scene.request.evidence.get(challenge.id, "")
    item = Item(finding_id=challenge.id, summary=f"{challenge.claim} {challenge.concern}", evidence=said)
    return refutation(Case(item, {scene.name: scene.text}, scene.known, scene.tools))


def _standing(scene: Scene, challenge: Challenge, result: PanelResult | None) -> tuple[Status, str]:
    """What becomes of a challenge that was not refuted."""
    settled = _by_unknown(scene, challenge)
    if settled:
        return "RESOLVED", settled
    held = _held(result)
    if challenge.severity == "MINOR":
        return "DEFERRED", f"{challenge.id} is MINOR and can be dealt with on the way. {held}"
    disputed = result is not None and result.classification == "contested"
    why = "is disputed and not refuted" if disputed else "stands: nothing in the plan or the repository settles it"
    return "UNRESOLVED", f"{challenge.id} {why}. {held}"


def _by_unknown(scene: Scene, challenge: Challenge) -> str:
    """The answered unknown that bears the plan out on this challenge; empty if there is none."""
    for unknown in scene.request.unknowns:
        if unknown.affects_challenge == challenge.id and unknown.resolution == "CONFIRMED" and unknown.finding:
            return f"{unknown.id} settles {challenge.id} in the plan's favour: {unknown.finding}"
    return ""


def _held(result: PanelResult | None) -> str:
    if result is None:
        return "No panel voted on it."
    votes = ", ".join(f"{vote.worker} {vote.verdict}" for vote in result.votes)
    why = next((vote.explanation for vote in result.votes if cites_location(vote.explanation)), "")
    return _cut(f"The panel left it at {result.classification} ({votes}). {why}".strip())


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rstrip()} ..."


def _after(challenges: Sequence[Challenge], changes: Sequence[StatusChange]) -> list[Challenge]:
    """The challenges as they are once the changes are made."""
    new: Mapping[str, Status] = {change.challenge: change.status for change in changes}
    return [c.model_copy(update={"status": new[c.id]}) if c.id in new else c for c in challenges]


def _promoted(scene: Scene, after: Sequence[Challenge]) -> list[Challenge]:
    """Overflowed challenges of earlier iterations that matter and fit under the caps, the worst first."""
    request = scene.request
    room = MAX_ACTIVE - sum(1 for challenge in after if challenge.status not in INACTIVE)
    waiting = [c for c in request.overflow if c.iteration_introduced < request.iteration and c.severity != "MINOR"]
    chosen: list[Challenge] = []
    for challenge in sorted(waiting, key=lambda c: SEVERITIES.index(c.severity)):
        new = [c for c in request.challenges if c.iteration_introduced == request.iteration]
        used = sum(1 for c in (*new, *chosen) if source_of(c.origin) == source_of(challenge.origin))
        if len(chosen) < room and used < cap(challenge.origin, request.iteration):
            chosen.append(challenge)
    return chosen


def _question(scene: Scene, after: Sequence[Challenge]) -> str:
    """One question to the user on the first BLOCKING challenge that stands; empty where none does."""
    blocking = next((c for c in after if c.severity == "BLOCKING" and c.status in UNSETTLED), None)
    if blocking is None:
        return ""
    place = place_of(scene.request.evidence.get(blocking.id, ""))
    where = f" ({place})" if place else ""
    instead = f" One way: {blocking.alternative}" if blocking.alternative.strip() else ""
    return f"{blocking.id}{where}: {blocking.claim} {blocking.concern} What is meant, or what shall change?{instead}"
