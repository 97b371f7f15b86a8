"""Rows of a plan run's log: the run, its iterations, its research, its scores and its panel (part A, rule E4)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Protocol, get_args

from verifyplan.frames.log_calls import ends, tools_used, turns_by_call
from verifyplan.frames.log_challenges import challenge_rows, history_rows
from verifyplan.frames.log_events import (
    Row,
    RunEvents,
    dispatch_rows,
    round_rows,
    vote_rows,
)
from verifyplan.frames.runset import Rows
from verifyplan.protocol.call import TOOLS
from verifyplan.protocol.event_cross import DispatchClosed, FindingQueued, RoundClosed, VoteCast
from verifyplan.protocol.event_plan import (
    AgentFailed,
    ChallengeAdmitted,
    ChallengeOverflowed,
    ChallengeRaised,
    ConvergenceEvaluated,
    IterationClosed,
    IterationStarted,
    RiskProbed,
    ScoreGiven,
    ScoreRefused,
    StatusChanged,
    UnknownListed,
    UnknownResolved,
)
from verifyplan.protocol.event_run import CallRequested, Checkpoint, PlanOutcome
from verifyplan.protocol.records import DIMENSIONS, UNSETTLED
from verifyplan.protocol.role_call import AGENT_OF_ROLE, Role
from verifyplan.protocol.vote import Verdict
from verifyplan.rules.ballots import sides
from verifyplan.rules.budgets import budget_of
from verifyplan.rules.lifecycle import claim_of
from verifyplan.rules.scoring import WEIGHTS
from verifyplan.runlog.plan_state import PlanState, fold_plan

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


def score_rows(story: RunEvents, state: PlanState) -> list[Row]:
    """One row a dimension and author, as it was given last; a score of what is no dimension has no row.

    Weights are the run's own, else the default ones.
    """
    given = story.started.plan.settings.weights or {}
    disputed = {event.dimension for event in state.disputes}
    rows: dict[tuple[str, str], Row] = {}
    for event in story.events:
        if isinstance(event, ScoreGiven | ScoreRefused) and event.dimension in DIMENSIONS:
            rows[event.by, event.dimension] = {
                "run_id": story.run_id,
                "by": event.by,
                "dimension": event.dimension,
                "iteration": event.iteration,
                **_score(event),
                "disputed": event.dimension in disputed,
                "weight": _weight(given.get(event.dimension, WEIGHTS[event.dimension])),
            }
    return list(rows.values())


def _score(event: ScoreGiven | ScoreRefused) -> Row:
    if isinstance(event, ScoreRefused):
        return {"score": None, "evidence": None, "refused": event.reason}
    return {"score": event.score, "evidence": event.evidence, "refused": None}


def _weight(weight: object) -> float | None:
    try:
        return float(str(weight))
    except ValueError:
        return None


_ROLES: dict[str, Role] = {role: role for role in get_args(Role)}
_CALL = re.compile(r"i(\d{1,9})/([a-z-]+)")


def budget_rows(story: RunEvents, state: PlanState) -> list[Row]:
    """One row a call of an agent and tool that it had or used; panel workers have no budget.

    Of a log that was written when memory_search without a memory left its share to Read and Grep, `over` says what
    today's ceilings make of it.
    """
    ended, turns = ends(story), turns_by_call(story)
    memory = bool(story.started.backend.get("memory"))
    rows = []
    for call_id in (event.call_id for event in story.of(CallRequested)):
        place = _CALL.fullmatch(call_id)
        role = _ROLES.get(place[2]) if place else None
        if place is None or role is None:
            continue
        iteration = int(place[1])
        budget = budget_of(role, state.directives.get(iteration - 1, ()), memory=memory)
        uses = tools_used(ended.get(call_id), turns.get(call_id, ()))
        used = Counter(use.tool for use in uses if not use.refused)
        refused = Counter(use.tool for use in uses if use.refused)
        rows += [
            {
                "run_id": story.run_id,
                "call_id": call_id,
                "iteration": iteration,
                "agent": AGENT_OF_ROLE[role],
                "role": role,
                "tool": tool,
                "used": used[tool],
                "ceiling": budget.limit(tool),
                "refused": refused[tool],
                "over": used[tool] > budget.limit(tool),
            }
            for tool in TOOLS
            if budget.limit(tool) or used[tool] or refused[tool]
        ]
    return rows


class _Counted(Protocol):
    @property
    def iteration(self) -> int: ...


def plan_rows(story: RunEvents) -> Rows:
    """Every table of a plan run but its calls and tools."""
    state, run_id = fold_plan(story.events), story.run_id
    findings = panel_findings(story, state)
    votes = [vote for cast in state.votes.values() for vote in cast]
    rounds = story.of(RoundClosed)
    return {
        "runs": [{**_run(story, state), "total_rounds": len(rounds), "n_findings": len(findings)}],
        "findings": findings,
        "votes": list(vote_rows(run_id, votes)),
        "rounds": round_rows(run_id, rounds),
        "dispatches": dispatch_rows(run_id, story.of(DispatchClosed)),
        "iterations": _iterations(story, state),
        "challenges": challenge_rows(run_id, state, {event.id: event.tag for event in story.of(ChallengeOverflowed)}),
        "challenge_history": history_rows(story),
        "unknowns": _unknowns(story, state),
        "contexts": _contexts(run_id, state),
        "risks": _risks(story, state),
        "scores": score_rows(story, state),
        "sections": _sections(run_id, state),
        "budgets": budget_rows(story, state),
    }


def _run(story: RunEvents, state: PlanState) -> Row:
    inputs, outcome, read = story.started.plan, state.outcome, state.assessed
    panel, settings = inputs.settings.panel, inputs.settings
    last = state.rulings[-1].status if state.rulings else None
    return {
        **story.run_row(),
        "mode": panel.mode if panel else None,
        "verification_mode": panel.verification_mode if panel else None,
        "enabled": panel is not None,
        "max_rounds": panel.max_rounds if panel else None,
        "effective_max_rounds": panel.max_rounds if panel else None,
        "plan_verdict": outcome.verdict if outcome else None,
        "strong": outcome.strong if outcome else None,
        "plan_status": _ended(outcome)["plan_status"] if outcome else last,
        "ended_by": outcome.ended_by if outcome else None,
        "trivial": read.trivial if read else None,
        "overridden": outcome.overridden if outcome else None,
        "exit_reason": (outcome.exit_reason or None) if outcome else None,
        "score": outcome.score if outcome else None,
        "team": read.team if read else None,
        "quality": read.quality if read else None,
        "complexity": read.complexity if read else None,
        "policy": settings.policy,
        "max_iterations": settings.max_iterations,
        "n_iterations": len({event.iteration for event in story.of(IterationStarted)}),
        "plan_path": inputs.plan_path,
        "plan_name": inputs.plan_name,
    }


def _iterations(story: RunEvents, state: PlanState) -> list[Row]:
    rulings = {event.iteration: _ruling(event) for event in state.rulings}  # the last one, if an answer changed it
    if state.outcome is not None and state.iteration:
        rulings[state.iteration] = rulings.get(state.iteration, _ruling(None)) | _ended(state.outcome)
    closed = {event.state.iteration: event.state for event in story.of(IterationClosed)}
    degraded = {point.iteration for point in story.of(Checkpoint) if point.kind == "degradation"}
    settled = (move.iteration for move in story.of(StatusChanged) if move.new not in UNSETTLED)
    counts = {
        "n_new": _by_iteration(story.of(ChallengeRaised)),
        "n_admitted": _by_iteration(story.of(ChallengeAdmitted)),
        "n_overflowed": _by_iteration(story.of(ChallengeOverflowed)),
        "n_settled": Counter(settled),
        "n_refused": _by_iteration(state.refusals),
        "n_failed": _by_iteration(story.of(AgentFailed)),
    }
    return [
        {
            "run_id": story.run_id,
            "iteration": number,
            **(rulings.get(number) or _ruling(None)),
            **{name: counter[number] for name, counter in counts.items()},
            "degraded": number in degraded,
            "tightened": tightened,
            "quality_score": closed[number].quality_score if number in closed else None,
            "closed": number in closed,
        }
        for number, tightened in {event.iteration: event.tightened for event in story.of(IterationStarted)}.items()
    ]


def _ruling(ruling: ConvergenceEvaluated | None) -> Row:
    return {
        "plan_status": ruling.status if ruling else None,
        "plan_verdict": ruling.verdict if ruling else None,
        "strong": ruling.strong if ruling else None,
        "blocking_open": ruling.blocking_open if ruling else None,
        "significant_open": ruling.significant_open if ruling else None,
        "stated_status": ruling.stated_status if ruling else None,
        "stated_verdict": ruling.stated_verdict if ruling else None,
        "differs": ruling.differs if ruling else None,
    }


def _ended(outcome: PlanOutcome) -> Row:
    """How the last iteration ended, where an override, a failure, a budget or overflow made it not what A3 gave."""
    return {
        "plan_status": outcome.status or "FORCED_EXIT",  # an old log of an aborted run has none
        "plan_verdict": outcome.verdict,
        "strong": outcome.strong,
    }


def _by_iteration(events: Iterable[_Counted]) -> Counter[int]:
    return Counter(event.iteration for event in events)


def _unknowns(story: RunEvents, state: PlanState) -> list[Row]:
    listed = {event.unknown.id: event.iteration for event in story.of(UnknownListed)}
    answered = {event.id: event.iteration for event in story.of(UnknownResolved)}
    return [
        {
            "run_id": story.run_id,
            "unknown_id": name,
            "iteration": listed[name],
            "answered_in": answered.get(name),
            **unknown.model_dump(exclude={"id"}),
        }
        for name, unknown in state.unknowns.items()
    ]


def _contexts(run_id: str, state: PlanState) -> list[Row]:
    return [
        {
            "run_id": run_id,
            "context_id": name,
            "iteration": state.surfaced_in[name],
            **context.model_dump(exclude={"id"}),
        }
        for name, context in state.contexts.items()
    ]


def _risks(story: RunEvents, state: PlanState) -> list[Row]:
    evidence = {event.risk.id: event.evidence for event in story.of(RiskProbed)}
    return [
        {
            "run_id": story.run_id,
            "risk_id": name,
            "iteration": state.surfaced_in[name],
            **risk.model_dump(exclude={"id"}),
            "evidence": evidence[name],
        }
        for name, risk in state.risks.items()
    ]


def _sections(run_id: str, state: PlanState) -> list[Row]:
    found = state.assessed.sections if state.assessed else ()
    return [{"run_id": run_id, "section": number, **section.model_dump()} for number, section in enumerate(found, 1)]
