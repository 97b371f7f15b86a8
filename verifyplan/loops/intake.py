"""Findings from Python values, tables, JSON and CSV, with every problem told at once (SPEC H3)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError

from verifyplan.errors import InputError, Problem
from verifyplan.files import decode
from verifyplan.protocol.base import Model
from verifyplan.protocol.finding import Finding, PlanItem

TRUTHS: dict[Any, bool | None] = {
    **dict.fromkeys(["true", "1", 1, "yes"], True),
    **dict.fromkeys(["false", "0", 0, "no"], False),
    **dict.fromkeys(["", "null", "none", "nan", "<na>", None], None),
}
"""How truth is read, small letters; anything else is a problem."""

Given = TypeVar("Given", Finding, PlanItem)


class Table(Protocol):
    """What is needed of a DataFrame: rows as dictionaries, and where it says that it is synthetic."""

    attrs: dict[Any, Any]

    def to_dict(self, orient: str) -> list[dict[str, Any]]:
        """Rows as dictionaries, for orient "records"."""


Source = str | Path | Table | Iterable[Any]
"""A CSV or JSON file, a DataFrame, or any number of models or dictionaries."""


def read_findings(source: Source, roster: Sequence[str]) -> list[Finding]:
    """The findings of a run: `finding_id, summary, evidence, worker`, optionally `category, truth, ticket_ids`.

    A finding that several workers found stands in several rows of one id, or under several ids that the
    matcher joins. Raises InputError listing every bad row, unknown worker and repeated (id, worker).
    """
    place, rows = _rows(source, "findings")
    findings, problems = _parse(Finding, rows, place)
    seen: set[tuple[str, str]] = set()
    for position, finding in findings:
        if finding.worker not in roster:
            fix = f"name one of the run's workers: {', '.join(roster) or 'there are none'}"
            problems.append(Problem(f"{place}[{position}].worker", f"{finding.worker!r} is no worker of this run", fix))
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
    place, rows = _rows(source, "plan_items")
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


def _rows(source: Source, name: str) -> tuple[str, list[Any]]:
    if isinstance(source, str | Path):
        return str(source), _read_file(Path(source))
    if hasattr(source, "to_dict"):
        return name, source.to_dict("records")
    return name, list(source)


def _read_file(path: Path) -> list[Any]:
    try:
        text = decode(path.read_bytes(), str(path))
    except OSError as error:
        message = f"cannot be read ({error.strerror})"
        raise InputError(Problem(str(path), message, "name a CSV or JSON file that exists")) from None
    if path.suffix.lower() == ".csv":
        return list(csv.DictReader(io.StringIO(text)))
    try:
        rows = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        fix = "write a JSON list of objects, or a .csv file with a header"
        raise InputError(Problem(str(path), f"is not JSON ({error})", fix)) from None
    if not isinstance(rows, list):
        message = f"holds a {type(rows).__name__} at its top"
        raise InputError(Problem(str(path), message, "write a JSON list of objects"))
    return rows


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
    required = [name for name, field in model.model_fields.items() if field.is_required()]
    optional = [name for name in model.model_fields if name not in required]
    return f"give {', '.join(required)}, and if you like {', '.join(optional)}"


def _clean(row: Any, model: type[Model]) -> Any:
    """A row with truth read from its usual spellings, and with the empty cells of a table left out."""
    if not isinstance(row, Mapping):
        return row
    kept = {key: value for key, value in row.items() if not (_empty(value) and key in model.model_fields)}
    if "truth" in kept:
        truth = kept["truth"]
        key = truth.strip().lower() if isinstance(truth, str) else truth
        kept["truth"] = TRUTHS.get(key, truth) if isinstance(key, str | int | float) else bool(key)
    if isinstance(kept.get("ticket_ids"), str):
        kept["ticket_ids"] = tuple(part.strip() for part in kept["ticket_ids"].split(";") if part.strip())
    return kept


def _empty(value: Any) -> bool:
    """None, NaN, NA and an empty cell of a CSV file mean the same: nothing was given."""
    return value is None or value == "" or str(value) in {"nan", "<NA>"}
