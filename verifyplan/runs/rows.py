"""Rows of findings or plan items from a CSV or JSON file, a DataFrame or any iterable (rule H3)."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from verifyplan.errors import InputError, Problem
from verifyplan.files import decode


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
