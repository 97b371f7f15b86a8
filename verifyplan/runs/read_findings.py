"""Read findings and plan items from Python values, tables, JSON and CSV, and report every problem at once (rule H3)."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError

from verifyplan.csv_cells import plain_cell
from verifyplan.errors import InputError, Problem
from verifyplan.files import decode
from verifyplan.protocol.base import Model
from verifyplan.protocol.event_cross import PLAN_BODY
from verifyplan.protocol.vote import Finding, PlanItem
from verifyplan.redaction import redact
from verifyplan.rules.citations import places
from verifyplan.rules.grouping import claim_words
from verifyplan.runs.arguments import HOLDS_KEY
from verifyplan.text import counted, did_you_mean

TRUTHS: dict[Any, bool | None] = {
    **dict.fromkeys(["true", "1", 1, "yes"], True),
    **dict.fromkeys(["false", "0", 0, "no"], False),
    **dict.fromkeys(["", "null", "none", "nan", "<na>", None], None),
}
"""The spellings of truth, in small letters; anything else is a problem."""

MAX_SHOWN_COLUMNS = 12

RowModel = TypeVar("RowModel", Finding, PlanItem)


class FrameLike(Protocol):
    """The part of a DataFrame that is read: its rows, and its attributes, where it may say that it is synthetic."""

    attrs: dict[Any, Any]

    def to_dict(self, orient: str) -> list[dict[str, Any]]:
        """Return the rows as dictionaries, for orient "records"."""


RowSource = str | Path | FrameLike | Iterable[Any]
"""A CSV or JSON file, a DataFrame, or any number of models or dictionaries."""


def read_findings(source: RowSource, roster: Sequence[str]) -> list[Finding]:
    """Return the findings of a run: `finding_id, summary`, optionally `evidence, worker, category, truth, ticket_ids`.

    A finding that several workers found has several rows of one id, or several ids that the matcher joins. Where no
    row names a worker, everybody votes on every finding. Raises InputError listing every bad row, unknown worker,
    repeated (id, worker), worker that is missing where other rows name one, and id whose rows hold different claims
    (spaces and case aside) or cite different files.
    """
    place, findings, problems = _read_models(source, Finding, "findings")
    seen: set[tuple[str, str | None]] = set()
    named = any(finding.worker for _, finding in findings)
    first: dict[str, Finding] = {}
    strangers: dict[str, list[str]] = {}
    for position, finding in findings:
        row = f"{place}[{position}]"
        if message := _other_claim(finding, first.setdefault(finding.finding_id, finding)):
            fix = "give other claims other ids; workers that number their findings alike need a prefix each"
            problems.append(Problem(f"{row}.finding_id", message, fix))
        if finding.worker is None and named:
            fix = "name who found it, as in the other rows, or leave the worker out of all rows"
            problems.append(Problem(f"{row}.worker", "is missing", fix))
        if finding.worker is not None and finding.worker not in roster:
            strangers.setdefault(finding.worker, []).append(f"{row}.worker")
        if finding.category == PLAN_BODY:
            message = f"{PLAN_BODY!r} is reserved for the items of a plan body"
            problems.append(Problem(f"{row}.category", message, "give another category, or none"))
        if (finding.finding_id, finding.worker) in seen:
            message = f"{finding.worker or 'the table'!r} brings {finding.finding_id!r} twice"
            problems.append(Problem(row, message, "drop one row, or give it another id"))
        seen.add((finding.finding_id, finding.worker))
    problems += [_no_voter(worker, rows, roster) for worker, rows in strangers.items()]
    if problems:
        raise InputError(problems)
    return [finding for _, finding in findings]


def _no_voter(worker: str, rows: Sequence[str], roster: Sequence[str]) -> Problem:
    """Return one problem for all findings of a worker who is not on the roster."""
    more = f", and so in {counted(len(rows) - 1, 'row')} more" if len(rows) > 1 else ""
    message = (
        f"{worker!r} is not a worker of this run{more}; the column worker says who found a claim, and whoever found it "
        "does not vote on it"
    )
    fix = (
        f"name one of the run's workers ({', '.join(roster) or 'there are none'}), add {worker!r} to workers=, or drop "
        "the column: then everybody votes on every finding"
    )
    return Problem(rows[0], message, fix)


def _other_claim(finding: Finding, first: Finding) -> str | None:
    """Return how a finding differs from the first of its id, if it is another claim (rule B2)."""
    if claim_words(finding.summary) != claim_words(first.summary):
        return f"{finding.finding_id!r} claims {finding.summary!r:.60} here and {first.summary!r:.60} in an earlier row"
    files, known = ({cited.path for cited in places(row.evidence)} for row in (finding, first))
    if files and known and not files & known:
        return f"{finding.finding_id!r} cites {min(files)!r} here and {min(known)!r} in an earlier row"
    return None


def read_plan_items(source: RowSource) -> list[PlanItem]:
    """Return the items of a plan body: `finding_id, summary`, optionally `evidence, truth` (rule B10).

    Raises InputError listing every bad row and repeated id.
    """
    place, items, problems = _read_models(source, PlanItem, "plan_items")
    seen: set[str] = set()
    for position, item in items:
        if item.finding_id in seen:
            message = f"{item.finding_id!r} is the id of two items"
            problems.append(Problem(f"{place}[{position}].finding_id", message, "give each item its own id"))
        seen.add(item.finding_id)
    if problems:
        raise InputError(problems)
    return [item for _, item in items]


def check_ids(findings: Sequence[Finding], items: Sequence[PlanItem]) -> None:
    """Raise an InputError if a plan item has the id of a finding, or an id holds a key: tables tell both by ids."""
    ids = dict.fromkeys(finding.finding_id for finding in findings)
    problems = [
        Problem(
            f"plan_items[{position}].finding_id",
            f"{item.finding_id!r} is also the id of a finding",
            "give each plan item its own id, such as P-001",
        )
        for position, item in enumerate(items)
        if item.finding_id in ids
    ]
    ids |= dict.fromkeys(item.finding_id for item in items)
    problems += [Problem("finding_id", HOLDS_KEY, "give an id such as F-001") for name in ids if redact(name) != name]
    if problems:
        raise InputError(problems)


def _read_models(
    source: RowSource, model: type[RowModel], name: str
) -> tuple[str, list[tuple[int, RowModel]], list[Problem]]:
    """Return what to call the source in messages, its good rows with their positions, and what is wrong with others."""
    required = [name for name, field in model.model_fields.items() if field.is_required()]
    optional = [name for name in model.model_fields if name not in required]
    fix = f"give {', '.join(required)}, and if you like {', '.join(optional)}{_renaming(source, model, required)}"
    place, rows = read_rows(source, name, required)
    parsed: list[tuple[int, RowModel]] = []
    problems: list[Problem] = []
    of_column: dict[tuple[str, str], list[int]] = {}
    """By kind and column, the position in `problems` of its one problem, repeated for each row that has it."""
    for position, row in enumerate(rows):
        try:
            parsed.append((position, row if isinstance(row, model) else model.model_validate(_clean(row, model))))
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                column = ".".join(str(part) for part in detail["loc"])
                message = detail["msg"]
                if detail["type"] == "extra_forbidden":
                    message = f"is not a column that is read{did_you_mean(column, model.model_fields)}"
                if detail["type"] in ("extra_forbidden", "missing"):
                    said = of_column.setdefault((detail["type"], column), [])
                    said.append(said[0] if said else len(problems))
                    if len(said) > 1:
                        continue
                received = "" if detail["type"] == "missing" else f", received {detail['input']!r:.80}"
                where = f"{place}[{position}]" + (f".{column}" if column else "")
                problems.append(Problem(where, f"{message}{received}", fix))
    for number, *more in of_column.values():
        also = f", and so in {counted(len(more), 'row')} more" if more else ""
        problems[number] = replace(problems[number], message=f"{problems[number].message}{also}")
    return place, parsed, problems


def _renaming(source: RowSource, model: type[Model], required: Sequence[str]) -> str:
    """Return how to rename the columns of a table; blank if none is missing, or the source is not a table."""
    columns = [str(column) for column in getattr(source, "columns", ())]
    missing = [name for name in required if name not in columns]
    free = [column for column in columns if column not in model.model_fields]
    if not columns or not missing or not free:
        return ""
    pairs = ", ".join(f"{free[0] if len(free) == len(missing) == 1 else '...'!r}: {name!r}" for name in missing)
    return f"; rename yours, of {', '.join(map(repr, free[:MAX_SHOWN_COLUMNS]))}: table.rename(columns={{{pairs}}})"


def _clean(row: Any, model: type[Model]) -> Any:
    """Return a row with truth read from its usual spellings, and without the empty cells of a table."""
    if not isinstance(row, Mapping):
        return row
    plain = {key: value.tolist() if hasattr(value, "tolist") else value for key, value in row.items()}  # of numpy
    kept = {key: value for key, value in plain.items() if not (_is_empty(value) and key in model.model_fields)}
    truth = kept.get("truth")
    if isinstance(truth, str | int | float):
        kept["truth"] = TRUTHS.get(truth.strip().lower() if isinstance(truth, str) else truth, truth)
    if isinstance(kept.get("ticket_ids"), str):
        kept["ticket_ids"] = tuple(part.strip() for part in kept["ticket_ids"].split(";") if part.strip())
    return kept


def _is_empty(value: Any) -> bool:
    """Return whether a cell holds nothing: None, NaN, NA, or an empty cell of a CSV file."""
    if isinstance(value, str):
        return not value
    return value is None or str(value) in {"nan", "<NA>"}


def read_rows(source: RowSource, name: str, required: Sequence[str]) -> tuple[str, list[Any]]:
    """Return what to call the source in messages, and its rows, not yet checked.

    Raises InputError for a file that is missing, damaged, not UTF-8 or not a list, and for a CSV file without one of
    the `required` columns or with one column twice.
    """
    if isinstance(source, str | Path):
        return str(source), _read_file(Path(source), required)
    if hasattr(source, "to_dict") and hasattr(source, "columns"):
        return name, source.to_dict("records")
    if isinstance(source, Iterable) and not isinstance(source, bytes):
        return name, list(source)
    message = f"must be rows, got a {type(source).__name__}"
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
        columns = Counter(reader.fieldnames or ())
        fix = f"begin the file with a header that has {', '.join(required)}"
        problems = [Problem(str(path), f"has no column {name!r}", fix) for name in required if name not in columns]
        twice = [name for name, times in columns.items() if times > 1]
        problems += [Problem(str(path), f"has the column {name!r} twice", "keep one of them") for name in twice]
        if problems:
            raise InputError(problems)
        return [{name: _plain(cell) for name, cell in row.items()} for row in reader]
    except csv.Error as error:
        fix = "correct the quotes in that line, or give the findings as JSON"
        raise InputError(Problem(f"{path}: line {reader.reader.line_num}", f"is not CSV ({error})", fix)) from None


def _plain(cell: Any) -> Any:
    """Return a cell as it was before `safe_cell`; cells behind the last column come as a list."""
    return plain_cell(cell) if isinstance(cell, str) else cell


def _json_rows(text: str, path: Path) -> list[Any]:
    fix = "write a JSON list of objects"
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(Problem(str(path), f"is not JSON ({error})", f"{fix}, or a .csv file with a header")) from None
    if not isinstance(rows, list):
        raise InputError(Problem(str(path), f"must hold a list, got a {type(rows).__name__}", fix))
    return rows
