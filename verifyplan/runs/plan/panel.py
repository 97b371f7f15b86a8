"""The panel: workers vote on every unsettled challenge, by the loop of cross-verification (rule A9, part B)."""

from __future__ import annotations

from verifyplan.engine.queue import QueueLoop
from verifyplan.protocol.challenge import Challenge
from verifyplan.protocol.event import Event
from verifyplan.protocol.event_cross import FindingGrouped, RoundClosed
from verifyplan.rules.panel import claim_of
from verifyplan.runs.plan.hub import ActiveRun


async def vote(hub: ActiveRun) -> None:
    """Let the panel vote on what is OPEN or UNRESOLVED; nothing happens without a panel or a challenge."""
    panel, unsettled = hub.settings.panel, hub.state.unsettled
    if panel is None or not unsettled:
        return
    hub.check_budget("the panel")

    def emit(event: Event) -> None:
        hub.emit(event)
        if isinstance(event, RoundClosed) and event.carried_forward_count and event.round < panel.max_rounds:
            hub.check_budget(f"round {event.round + 1} of the panel")

    loop = QueueLoop(
        part="challenges",
        iteration=hub.state.iteration,
        roster=panel.workers,
        mode=panel.mode,
        verification_mode=panel.verification_mode,
        max_rounds=panel.max_rounds,
        caller=hub.caller,
        emit=emit,
        documents={hub.state.inputs.plan_name: hub.state.inputs.plan_text},
        items_per_call=panel.items_per_call,
        closed=hub.step,
    )
    await loop.run([as_finding(challenge, hub.state.raised[challenge.id].evidence) for challenge in unsettled])
    hub.check_overrun()


def as_finding(challenge: Challenge, evidence: str) -> FindingGrouped:
    """A challenge as the panel votes on it; no panel worker is its discoverer."""
    return FindingGrouped(
        part="challenges",
        finding_id=challenge.id,
        summary=claim_of(challenge),
        evidence=evidence,
        category="challenge",
        discoverers=(),
    )
