"""What research brought to a plan run: unknowns with answers, surfaced contexts, probed risks (rules A1, A13)."""

from __future__ import annotations

from collections.abc import Iterable

from verifyplan.protocol.records import ProbedRisk, SurfacedContext, Unknown
from verifyplan.reports.blocks import Inline, Section, Table, Words, brief
from verifyplan.reports.plan_parts import number, reference
from verifyplan.runlog.plan_state import PlanState

Row = tuple[Words, ...]

LONG = 400
"""Longest text in these tables, where it stands nowhere else."""


def _reference(state: PlanState, name: str | None) -> Words:
    one: Inline = reference(state, name) if name else "-"
    return (one,)


def unknowns(state: PlanState) -> Section:
    """What the challenger wanted answered, and the answers."""
    head = ("id", "type", "question", "affects", "answer", "finding")
    rows = (_unknown(state, state.unknowns[name]) for name in sorted(state.unknowns, key=number))
    return _section("Unknowns", head, rows)


def _unknown(state: PlanState, one: Unknown) -> Row:
    affects = _reference(state, one.affects_challenge)
    answer = one.resolution or "not answered"
    return (one.id,), (one.type,), brief(one.description, LONG), affects, (answer,), brief(one.finding or "", LONG)


def contexts(state: PlanState) -> Section:
    """What memory, code and history hold on the plan."""
    head = ("id", "source", "where", "why it matters", "impact", "raised")
    rows = (_context(state, state.contexts[name]) for name in sorted(state.contexts, key=number))
    return _section("Surfaced contexts", head, rows)


def _context(state: PlanState, one: SurfacedContext) -> Row:
    raised = _reference(state, one.generates_challenge)
    return (one.id,), (one.source,), brief(one.location), brief(one.relevance, LONG), (one.impact,), raised


def risks(state: PlanState) -> Section:
    """What could go wrong, when, and what follows."""
    head = ("id", "severity", "probability", "risk", "trigger", "what follows", "raised")
    rows = (_risk(state, state.risks[name]) for name in sorted(state.risks, key=number))
    return _section("Probed risks", head, rows)


def _risk(state: PlanState, one: ProbedRisk) -> Row:
    told = (brief(one.risk, LONG), brief(one.trigger, LONG), brief(one.cascade, LONG))
    return (one.id,), (one.severity,), (one.probability,), *told, _reference(state, one.generates_challenge)


def _section(title: str, head: tuple[str, ...], rows: Iterable[Row]) -> Section:
    told = tuple(rows)
    return Section(title, (Table(head, told, title),) if told else ())
