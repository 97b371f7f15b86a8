"""The rows of a plan run's log: the run, its iterations, research, scores, budgets and panel (part A, rule E4)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, get_args

from verifyplan.frames.log_calls import call_ends, tools_used, turns_by_call
from verifyplan.frames.log_challenges import challenge_rows, history_rows
from verifyplan.frames.log_events import (
    LogEvents,
    Row,
    columns_of,
    dispatch_columns,
    finding_row,
    round_columns,
    rules_columns,
    vote_columns,
)
from verifyplan.frames.runset import TableLists
from verifyplan.protocol.call import TOOLS
from verifyplan.protocol.event_cross import DispatchClosed, FindingQueued, RoundClosed
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
from verifyplan.protocol.vote import VERIFICATION_MODE_OF
from verifyplan.rules.budgets import budget_of
from verifyplan.rules.lifecycle import claim_of
from verifyplan.rules.scoring import WEIGHTS
from verifyplan.runlog.plan_state import PlanState, fold_plan

CHALLENGE = "challenge"
"""The category of a challenge among the findings."""

_ROLES: dict[str, Role] = {role: role for role in get_args(Role)}
_CALL = re.compile(r"i(\d{1,9})/([a-z-]+)")


def plan_columns(log: LogEvents) -> TableLists:
    """Return the columns of every table of a plan run but its calls, turns and tools."""
    state, run_id = fold_plan(log.events), log.run_id
    findings = _panel_findings(log, state)
    rounds, votes = log.of(RoundClosed), [vote for cast in state.votes.values() for vote in cast]
    rows: dict[str, list[Row]] = {
        "runs": [{**_run(log, state), "total_rounds": len(rounds), "n_findings": len(findings)}],
        "findings": findings,
        "iterations": _iterations(log, state),
        "challenges": challenge_rows(run_id, state, {event.id: event.tag for event in log.of(ChallengeOverflowed)}),
        "challenge_history": history_rows(log),
        **_research(log, state),
        "scores": _scores(log, state),
        "sections": [
            {"run_id": run_id, "section": number, **section.model_dump()}
            for number, section in enumerate(state.assessed.sections if state.assessed else (), 1)
        ],
        "budgets": _budgets(log, state),
    }
    return {
        **{name: columns_of(of_table) for name, of_table in rows.items()},
        "votes": vote_columns(run_id, votes, [False] * len(votes)),
        "rounds": round_columns(run_id, rounds),
        "dispatches": dispatch_columns(run_id, log.of(DispatchClosed)),
    }


def _fields(source: object, *names: str) -> Row:
    """Return some attributes by name; all None where there is no source."""
    return {name: getattr(source, name) if source is not None else None for name in names}


def _run(log: LogEvents, state: PlanState) -> Row:
    inputs, outcome = log.started.plan, state.outcome
    panel, settings = inputs.settings.panel, inputs.settings
    last = state.rulings[-1].status if state.rulings else None
    cites = list(state.settled.values())
    return {
        **log.run_row(),
        **_fields(panel, "mode", "max_rounds"),
        **(rules_columns(panel.all_rules) if panel else {}),
        "roster": json.dumps(panel.workers, ensure_ascii=False) if panel else None,
        "verification_mode": VERIFICATION_MODE_OF[panel.mode] if panel else None,
        "enabled": panel is not None,
        "effective_max_rounds": panel.max_rounds if panel else None,
        "plan_verdict": outcome.verdict if outcome else None,
        "plan_status": _outcome_row(outcome)["plan_status"] if outcome else last,
        **_fields(outcome, "strong", "ended_by", "overridden", "score"),
        "exit_reason": (outcome.exit_reason or None) if outcome else None,
        **_fields(state.assessed, "trivial", "team", "quality", "complexity"),
        **_fields(settings, "policy", "max_iterations"),
        "plan_rules": json.dumps(settings.rules.changed, ensure_ascii=False),
        "plan_rules_digest": settings.rules.digest,
        "n_iterations": len({event.iteration for event in log.of(IterationStarted)}),
        "n_settled_cited": sum(cites),
        "n_settled_uncited": len(cites) - sum(cites),
        **_fields(inputs, "plan_path", "plan_name"),
    }


def _iterations(log: LogEvents, state: PlanState) -> list[Row]:
    rulings = {event.iteration: _ruling(event) for event in state.rulings}  # the last one, if an answer changed it
    if state.outcome is not None and state.iteration:
        rulings[state.iteration] = rulings.get(state.iteration, _ruling(None)) | _outcome_row(state.outcome)
    closed = {event.state.iteration: event.state for event in log.of(IterationClosed)}
    degraded = {point.iteration for point in log.of(Checkpoint) if point.kind == "degradation"}
    counted: dict[str, Iterable[Any]] = {
        "n_new": log.of(ChallengeRaised),
        "n_admitted": log.of(ChallengeAdmitted),
        "n_overflowed": log.of(ChallengeOverflowed),
        "n_settled": [change for change in log.of(StatusChanged) if change.new not in UNSETTLED],
        "n_refused": state.refusals,
        "n_failed": log.of(AgentFailed),
    }
    counts = {name: Counter(event.iteration for event in events) for name, events in counted.items()}
    return [
        {
            "run_id": log.run_id,
            "iteration": number,
            **(rulings.get(number) or _ruling(None)),
            **{name: counter[number] for name, counter in counts.items()},
            "degraded": number in degraded,
            "tightened": tightened,
            "quality_score": closed[number].quality_score if number in closed else None,
            "closed": number in closed,
        }
        for number, tightened in {event.iteration: event.tightened for event in log.of(IterationStarted)}.items()
    ]


def _ruling(ruling: ConvergenceEvaluated | None) -> Row:
    return {
        "plan_status": ruling.status if ruling else None,
        "plan_verdict": ruling.verdict if ruling else None,
        **_fields(ruling, "strong", "blocking_open", "significant_open", "stated_status", "stated_verdict", "differs"),
    }


def _outcome_row(outcome: PlanOutcome) -> Row:
    """Return how the last iteration ended, where an override, a failure, a budget or overflow changed what A3 gave."""
    return {
        "plan_status": outcome.status,
        "plan_verdict": outcome.verdict,
        "strong": outcome.strong,
    }


def _research(log: LogEvents, state: PlanState) -> dict[str, list[Row]]:
    """Return the rows of unknowns, of surfaced contexts and of probed risks."""
    run_id, changed_in = log.run_id, state.last_changed_in
    listed = {event.unknown.id: event.iteration for event in log.of(UnknownListed)}
    answered = {event.id: event.iteration for event in log.of(UnknownResolved)}
    evidence = {event.risk.id: event.evidence for event in log.of(RiskProbed)}

    def row(kind: str, name: str, iteration: int, entry: Any) -> Row:
        return {"run_id": run_id, kind: name, "iteration": iteration, **entry.model_dump(exclude={"id"})}

    return {
        "unknowns": [
            {**row("unknown_id", name, listed[name], unknown), "answered_in": answered.get(name)}
            for name, unknown in state.unknowns.items()
        ],
        "contexts": [row("context_id", name, changed_in[name], context) for name, context in state.contexts.items()],
        "risks": [
            {**row("risk_id", name, changed_in[name], risk), "evidence": evidence[name]}
            for name, risk in state.risks.items()
        ],
    }


def _scores(log: LogEvents, state: PlanState) -> list[Row]:
    """Return one row a dimension and author, as it was given last, refused and disputed scores included (rule A10).

    A score of what is no dimension has no row. Weights are the run's own, else the default ones.
    """
    weights = log.started.plan.settings.weights or {}
    disputed = {event.dimension for event in state.disputes}
    rows: dict[tuple[str, str], Row] = {}
    for event in log.events:
        if isinstance(event, ScoreGiven | ScoreRefused) and event.dimension in DIMENSIONS:
            rows[event.by, event.dimension] = {
                "run_id": log.run_id,
                **_fields(event, "by", "dimension", "iteration"),
                "score": None if isinstance(event, ScoreRefused) else event.score,
                "evidence": None if isinstance(event, ScoreRefused) else event.evidence,
                "refused": event.reason if isinstance(event, ScoreRefused) else None,
                "disputed": event.dimension in disputed,
                "weight": _weight(weights.get(event.dimension, WEIGHTS[event.dimension])),
            }
    return list(rows.values())


def _weight(weight: object) -> float | None:
    try:
        return float(str(weight))
    except ValueError:
        return None


def _budgets(log: LogEvents, state: PlanState) -> list[Row]:
    """Return one row a call of an agent and tool that it had or used; panel workers have no budget (rule A12).

    Of a log that was written when memory_search without a memory left its share to Read and Grep, `over` says what
    today's ceilings make of it.
    """
    ended, turns = call_ends(log.records), turns_by_call(log.records)
    memory = bool(log.started.backend.get("memory"))
    rows = []
    for call_id in (event.call_id for event in log.of(CallRequested)):
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
                "run_id": log.run_id,
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


def _panel_findings(log: LogEvents, state: PlanState) -> list[Row]:
    """Return one row a challenge that the panel was asked about, with its votes and class of the last iteration."""
    last = {event.finding_id: event.iteration for event in log.of(FindingQueued)}
    panel = log.started.plan.settings.panel
    rows = []
    for name, iteration in last.items():
        raised = state.raised.get(name)
        facts = {"summary": claim_of(raised.challenge) if raised else None, **_fields(raised, "evidence")}
        facts |= {"category": CHALLENGE, "ticket_ids": [], "truth": None}
        votes, classified = state.votes.get((iteration, name), []), state.classes.get((iteration, name))
        rows.append(finding_row(log.run_id, name, votes, panel.workers if panel else (), classified, **facts))
    return rows
