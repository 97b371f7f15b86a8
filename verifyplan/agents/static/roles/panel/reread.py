"""panel-1: reads the quoted lines and what stands around them again, and asks whether the plan says otherwise."""

from __future__ import annotations

from collections.abc import Callable

from verifyplan.agents.static.outcome import Outcome
from verifyplan.agents.static.roles.challenges import Cited
from verifyplan.agents.static.roles.lenses import demands, spoken_at
from verifyplan.agents.static.roles.panel.case import Case
from verifyplan.agents.static.roles.phrases import Kind
from verifyplan.agents.static.roles.reading import Reading

Defence = Callable[[Reading, tuple[str, ...]], int]


def judge(case: Case) -> Outcome:
    """Whether the challenge's quotations stand in the plan, and whether the plan says elsewhere what it misses.

    A quotation that stands nowhere refutes the challenge; one at another line is a caveat. Words that no static
    agent would use are judged by their quotations alone.
    """
    if not case.plan_places:
        return Outcome("undecided", "The evidence cites no place in the plan, so there is nothing to read again.")
    notes = []
    for place in case.plan_places:
        outcome = _quoted(case, place)
        if outcome.kind in ("refuted", "undecided"):
            return outcome
        notes += [outcome.why] if outcome.kind == "caveat" else []
    defence = _defence(case)
    if defence:
        return Outcome("refuted", defence)
    first = case.plan_places[0]
    if notes:
        return Outcome("caveat", notes[0])
    if case.statement is None:
        return Outcome("caveat", f"The quotation stands at {first}; whether the rest follows from it was not judged.")
    return Outcome("holds", f"{first} says so, and no other line of the plan takes it back.")


def _quoted(case: Case, place: Cited) -> Outcome:
    """Whether one quotation stands where it is said to stand."""
    name, reading = case.document(place.path) or ("", None)
    if reading is None:
        return Outcome("undecided", f"There is no document {place.path}.")
    lines = reading.plan.lines
    if not 1 <= place.first <= len(lines):
        return Outcome("refuted", f"{name} has no line {place.first}; its last is {name}:{len(lines)}.")
    at = case.quote_at(place, lines)
    if at is None:
        reads = lines[place.first - 1].strip()[:80] or "nothing"
        return Outcome("caveat", f"Nothing is quoted from {place}, which reads: {reads}")
    if at == 0:
        reads = lines[place.first - 1].strip()[:80] or "nothing"
        return Outcome("refuted", f"The quoted text stands nowhere in {name}; {place} reads: {reads}")
    if not place.first <= at <= place.last:
        return Outcome("caveat", f"The quoted text stands at {name}:{at}, not at the cited line {place.first}.")
    return Outcome("holds", f"{place} reads as quoted.")


def _defence(case: Case) -> str:
    """What the plan says elsewhere against the challenge, with its place; empty if nothing."""
    if case.statement is None:
        return ""
    name, reading = case.document(case.plan_places[0].path) or ("", None)
    defence = _DEFENCES.get(case.statement.kind)
    at = defence(reading, case.statement.names) if defence and reading else 0
    return f"{name}:{at} speaks of it: {reading.plan.line(at).strip()[:120]}" if at and reading else ""


def _made(reading: Reading, names: tuple[str, ...]) -> int:
    return reading.makes(names[0])


def _spoken(reading: Reading, names: tuple[str, ...]) -> int:
    demand = next((one for one in demands() if one.what == names[1]), None)
    return spoken_at(demand, reading) if demand else 0


_DEFENCES: dict[Kind, Defence] = {"file-missing": _made, "symbol-missing": _made, "demand": _spoken}
