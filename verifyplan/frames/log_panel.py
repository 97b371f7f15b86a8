"""What a plan run's panel voted on, as findings: challenges, each as it was voted on last (rules A9, E4)."""

from __future__ import annotations

from verifyplan.frames.log_index import Row, RunEvents
from verifyplan.protocol.event_cross import FindingQueued, VoteCast
from verifyplan.protocol.vote import Verdict
from verifyplan.rules.ballots import sides
from verifyplan.rules.panel import claim_of
from verifyplan.runlog.plan_state import PlanState

CHALLENGE = "challenge"
"""The category of a challenge among the findings."""


def panel_findings(story: RunEvents, state: PlanState) -> list[Row]:
    """One row a challenge that the panel was asked about, with the votes and the class of the last iteration."""
    last = {event.finding_id: event.iteration for event in story.of(FindingQueued)}
    panel = story.started.plan.settings.panel
    roster = panel.workers if panel else ()
    return [_finding(story.run_id, state, name, last[name], roster) for name in last]


def _finding(run_id: str, state: PlanState, name: str, iteration: int, roster: tuple[str, ...]) -> Row:
    rounds = _rounds(state.votes.get((iteration, name), []))
    consensus, dissenting = sides(roster, (), rounds.values())
    classified = state.classes.get((iteration, name))
    raised = state.raised.get(name)
    return {
        "run_id": run_id,
        "finding_id": name,
        "summary": claim_of(raised.challenge) if raised else None,
        "category": CHALLENGE,
        "evidence": raised.evidence if raised else None,
        "ticket_ids": [],
        "origin_worker": None,
        "discoverers": [],
        "classification": classified.classification if classified else None,
        "consensus_workers": list(consensus),
        "dissenting_workers": list(dissenting),
        "n_rounds": len(rounds),
        "truth": None,
    }


def _rounds(votes: list[VoteCast]) -> dict[int, dict[str, Verdict]]:
    rounds: dict[int, dict[str, Verdict]] = {}
    for vote in votes:
        rounds.setdefault(vote.round, {})[vote.worker] = vote.verdict
    return rounds
