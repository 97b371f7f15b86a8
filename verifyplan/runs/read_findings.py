"""Findings from Python values, tables, JSON and CSV, with every problem told at once (rule H3)."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError

from verifyplan.errors import InputError, Problem
from verifyplan.files import decode
from verifyplan.protocol.base import Model
from verifyplan.protocol.vote import Finding, PlanItem
from verifyplan.rules.citations import places
from verifyplan.rules.grouping import claim_words
from verifyplan.text import did_you_mean


class FrameLike(Protocol):
    """What is needed of a DataFrame: rows as dictionaries, and where it says that it is synthetic."""

    attrs: dict[Any, Any]

    def to_dict(self, orient: str) -> list[dict[str, Any]]:
        """Rows as dictionaries, for orient "records"."""


RowSource = str | Path | FrameLike | Iterable[Any]
"""A CSV or JSON file, a DataFrame, or any number of models or dictionaries."""


def read_rows(source: RowSource, name: str, required: Sequence[str]) -> tuple[str, list[Any]]:
    """What to call the source in messages, and its rows, not yet checked.

    Raises InputError for a file that is missing, damaged, not UTF-8 or no list, and for a CSV file without one
    of the `required` columns or with one column twice.
    """
    if isinstance(source, str | Path):
        return str(source), _read_file(Path(source), required)
    if hasattr(source, "to_dict") and hasattr(source, "columns"):
        return name, source.to_dict("records")
    if isinstance(source, Iterable) and not isinstance(source, bytes):
        return name, list(source)
    message = f"a {type(source).__name__} holds no rows"
    raise InputError(Problem(name, message, "give a CSV or JSON file, a DataFrame, or a list of dictionaries"))


def _read_file(path: Path, required: Sequence[str]) -> list[Any]:
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:  # a path with a NUL in it is a ValueError
        message = f"cannot be read ({getattr(error, 'strerror', None) or error})"
        raise InputError(Problem(repr(str(path)), message, "name a CSV or JSON file that exists")) from None
    text = decode(data, str(path))
    return _csv_rows(text, path, required) if path.suffix.lower() == ".csv" else _json_rows(text, path)


def _csv_rows(text: str, path: Path, required: Sequence[str]) -> list[Any]:
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        columns = list(reader.fieldnames or ())
        fix = f"begin the file with a header that has {', '.join(required)}"
        problems = [Problem(str(path), f"has no column {name!r}", fix) for name in required if name not in columns]
        twice = [column for column, times in Counter(columns).items() if times > 1]
        problems += [Problem(str(path), f"has the column {name!r} twice", "keep one of them") for name in twice]
        if problems:
            raise InputError(problems)
        return list(reader)
    except csv.Error as error:
        fix = "mend the quotes of that line, or give the findings as JSON"
        raise InputError(Problem(f"{path}: line {reader.reader.line_num}", f"is not CSV ({error})", fix)) from None


def _json_rows(text: str, path: Path) -> list[Any]:
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        fix = "write a JSON list of objects, or a .csv file with a header"
        raise InputError(Problem(str(path), f"is not JSON ({error})", fix)) from None
    if not isinstance(rows, list):
        message = f"holds a {type(rows).__name__} at its top"
        raise InputError(Problem(str(path), message, "write a JSON list of objects"))
    return rows


TRUTHS: dict[Any, bool | None] = {
    **dict.fromkeys(["true", "1", 1, "yes"], True),
    **dict.fromkeys(["false", "0", 0, "no"], False),
    **dict.fromkeys(["", "null", "none", "nan", "<na>", None], None),
}
"""How truth is read, small letters; anything else is a problem."""

PLAN_BODY = "plan-body"
"""The category of plan items in the tables (rule B10)."""

RowModel = TypeVar("RowModel", Finding, PlanItem)


def read_findings(source: RowSource, roster: Sequence[str]) -> list[Finding]:
    """The findings of a run: `finding_id, summary`, optionally `evidence, worker, category, truth, ticket_ids`.

    A finding that several workers found stands in several rows of one id, or under several ids that the matcher joins.
    Where no row names a worker, everybody votes on every finding. Raises InputError listing every bad row, unknown
    worker, repeated (id, worker), worker that is missing where other rows name one, and id whose rows hold different
    claims (spaces and case aside) or cite different files.
    """
    place, rows = read_rows(source, "findings", _required(Finding))
    findings, problems = _parse(Finding, rows, place)
    seen: set[tuple[str, str | None]] = set()
    named = any(finding.worker for _, finding in findings)
    first: dict[str, Finding] = {}
    for position, finding in findings:
        before = first.setdefault(finding.finding_id, finding)
        if message := _other_claim(finding, before):
            fix = "give other claims other ids; workers that number their findings alike need a prefix each"
            problems.append(Problem(f"{place}[{position}].finding_id", message, fix))
        if finding.worker is None and named:
            fix = "name who brought it, as in the other rows, or leave the worker out of all rows"
            problems.append(Problem(f"{place}[{position}].worker", "is missing", fix))
        if finding.worker is not None and finding.worker not in roster:
            fix = f"name one of the run's workers: {', '.join(roster) or 'there are none'}"
            problems.append(Problem(f"{place}[{position}].worker", f"{finding.worker!r} is no worker of this run", fix))
        if finding.category == PLAN_BODY:
            message = f"{PLAN_BODY!r} is kept for the items of a plan body"
            problems.append(Problem(f"{place}[{position}].category", message, "give another category, or none"))
        if (finding.finding_id, finding.worker) in seen:
            message = f"{finding.worker or 'the table'!r} brings {finding.finding_id!r} twice"
            problems.append(Problem(f"{place}[{position}]", message, "drop one row, or give it an id of its own"))
        seen.add((finding.finding_id, finding.worker))
    if problems:
        raise InputError(problems)
    return [finding for _, finding in findings]


def _other_claim(finding: Finding, before: Finding) -> str | None:
    """How a finding differs from the first of its id, if it is another claim (rule B2)."""
    if claim_words(finding.summary) != claim_words(before.summary):
        return f"{finding.finding_id!r} claims {finding.summary!r:.60} here and {before.summary!r:.60} in a row before"
    files, known = ({cited.path for cited in places(one.evidence)} for one in (finding, before))
    if files and known and not files & known:
        return f"{finding.finding_id!r} cites {min(files)!r} here and {min(known)!r} in a row before"
    return None


def read_plan_items(source: RowSource) -> list[PlanItem]:
    """The items of a plan body: `finding_id, summary`, optionally `evidence, truth` (rule B10).

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


def _parse(model: type[RowModel], rows: list[Any], place: str) -> tuple[list[tuple[int, RowModel]], list[Problem]]:
    parsed: list[tuple[int, RowModel]] = []
    problems: list[Problem] = []
    for position, row in enumerate(rows):
        try:
            parsed.append((position, row if isinstance(row, model) else model.model_validate(_clean(row, model))))
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                field = ".".join(str(part) for part in detail["loc"])
                where = f"{place}[{position}]" + (f".{field}" if field else "")
                given = "" if detail["type"] == "missing" else f", received {detail['input']!r:.80}"
                message = _not_a_column(field, model) if detail["type"] == "extra_forbidden" else detail["msg"]
                problems.append(Problem(where, f"{message}{given}", _fix(model)))
    return parsed, problems


def _not_a_column(name: str, model: type[Model]) -> str:
    return f"is none of the columns that are read{did_you_mean(name, model.model_fields)}"


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
