"""Findings from Python values, tables, JSON and CSV, with every problem told at once (SPEC H3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from verifyplan.errors import InputError, Problem
from verifyplan.loops.rows import Source, read_rows
from verifyplan.protocol.base import Model
from verifyplan.protocol.finding import Finding, PlanItem
from verifyplan.rules.citations import places

TRUTHS: dict[Any, bool | None] = {
    **dict.fromkeys(["true", "1", 1, "yes"], True),
    **dict.fromkeys(["false", "0", 0, "no"], False),
    **dict.fromkeys(["", "null", "none", "nan", "<na>", None], None),
}
"""How truth is read, small letters; anything else is a problem."""

PLAN_BODY = "plan-body"
"""The category of plan items in the tables (SPEC B10)."""

Given = TypeVar("Given", Finding, PlanItem)


def read_findings(source: Source, roster: Sequence[str]) -> list[Finding]:
    """The findings of a run: `finding_id, summary, evidence, worker`, optionally `category, truth, ticket_ids`.

    A finding that several workers found stands in several rows of one id, or under several ids that the
    matcher joins. Raises InputError listing every bad row, unknown worker, repeated (id, worker), and id whose
    rows cite different files, which makes them other claims.
    """
    place, rows = read_rows(source, "findings", _required(Finding))
    findings, problems = _parse(Finding, rows, place)
    seen: set[tuple[str, str]] = set()
    cited: dict[str, set[str]] = {}
    for position, finding in findings:
        files = {place.path for place in places(finding.evidence)}
        before = cited.setdefault(finding.finding_id, files)
        if files and before and not files & before:
            message = f"{finding.finding_id!r} cites {min(files)!r} here and {min(before)!r} in a row before"
            fix = "give other claims other ids; workers that number their findings alike need a prefix each"
            problems.append(Problem(f"{place}[{position}].finding_id", message, fix))
        if finding.worker not in roster:
            fix = f"name one of the run's workers: {', '.join(roster) or 'there are none'}"
            problems.append(Problem(f"{place}[{position}].worker", f"{finding.worker!r} is no worker of this run", fix))
        if finding.category == PLAN_BODY:
            message = f"{PLAN_BODY!r} is kept for the items of a plan body"
            problems.append(Problem(f"{place}[{position}].category", message, "give another category, or none"))
        if (finding.finding_id, finding.worker) in seen:
            message = f"{finding.worker!r} brings {finding.finding_id!r} twice"
            problems.append(Problem(f"{place}[{position}]", message, "drop one row, or give it an id of its own"))
        seen.add((finding.finding_id, finding.worker))
    if problems:
        raise InputError(problems)
    return [finding for _, finding in findings]


def read_plan_items(source: Source) -> list[PlanItem]:
    """The items of a plan body: `finding_id, summary`, optionally `evidence, truth` (SPEC B10).

    Raises InputError listing every bad row and repeated id.
    """
    place, rows = read_rows(source, "plan_items", _required(PlanItem))
    items, problems = _parse(PlanItem, rows, place)
    seen: set[str] = set()
    for position, item in items:
        if item.finding_id in seen:
            message = f"{item.finding_id!r} stands twice"
            problems.append(Problem(f"{place}[{position}].finding_id", message, "give each item its own id"))
        seen.add(item.finding_id)
    if problems:
        raise InputError(problems)
    return [item for _, item in items]


def _parse(model: type[Given], rows: list[Any], place: str) -> tuple[list[tuple[int, Given]], list[Problem]]:
    parsed: list[tuple[int, Given]] = []
    problems: list[Problem] = []
    for position, row in enumerate(rows):
        try:
            parsed.append((position, row if isinstance(row, model) else model.model_validate(_clean(row, model))))
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                field = ".".join(str(part) for part in detail["loc"])
                where = f"{place}[{position}]" + (f".{field}" if field else "")
                given = "" if detail["type"] == "missing" else f", received {detail['input']!r:.80}"
                problems.append(Problem(where, f"{detail['msg']}{given}", _fix(model)))
    return parsed, problems


def _fix(model: type[Model]) -> str:
    required = _required(model)
    optional = [name for name in model.model_fields if name not in required]
    return f"give {', '.join(required)}, and if you like {', '.join(optional)}"


def _required(model: type[Model]) -> list[str]:
    return [name for name, field in model.model_fields.items() if field.is_required()]


def _clean(row: Any, model: type[Model]) -> Any:
    """A row with truth read from its usual spellings, and with the empty cells of a table left out."""
    if not isinstance(row, Mapping):
        return row
    plain = {key: _plain(value) for key, value in row.items()}
    kept = {key: value for key, value in plain.items() if not (_empty(value) and key in model.model_fields)}
    truth = kept.get("truth")
    if isinstance(truth, str | int | float):
        kept["truth"] = TRUTHS.get(truth.strip().lower() if isinstance(truth, str) else truth, truth)
    if isinstance(kept.get("ticket_ids"), str):
        kept["ticket_ids"] = tuple(part.strip() for part in kept["ticket_ids"].split(";") if part.strip())
    return kept


def _plain(value: Any) -> Any:
    """A value of numpy as Python's own: a bool, a number, a list."""
    return value.tolist() if hasattr(value, "tolist") else value


def _empty(value: Any) -> bool:
    """None, NaN, NA and an empty cell of a CSV file mean the same: nothing was given."""
    if isinstance(value, str):
        return not value
    return value is None or str(value) in {"nan", "<NA>"}
