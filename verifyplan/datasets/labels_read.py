"""Labels of plans read from JSON, a mapping or a table, every problem at once; and written as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from verifyplan.datasets.labels import SOUND, PlanLabel
from verifyplan.errors import InputError, Problem
from verifyplan.files import read_json

COLUMNS = ("plan", "kind", "verdict", "held_out", "severity", "line", "needles", "places")
"""The columns of a table of labels: a row for each defect, and one for each sound plan."""

_NEEDED = ("plan", "kind", "severity", "needles", "places")
_FILE_FIX = "name a JSON file of labels, such as data/plans/labels.json"
_FIX = "see datasets.PlanLabel and datasets.LabelledDefect, or data/plans/labels.json"

Labels = str | Path | Mapping[str, Any] | pd.DataFrame | Iterable[PlanLabel]
"""What labels can be read from."""


def read_labels(labels: Labels) -> tuple[PlanLabel, ...]:
    """Return the labels of plans from a JSON file, a mapping, a table, or labels that were read before.

    JSON and mappings hold `{"plans": [label, ...]}` or `{name: label, ...}`; `PlanLabel` and `LabelledDefect` say
    what a label holds, and `data/plans/labels.json` is an example. A table has a row for each defect and one for each
    sound plan: `plan, kind, severity, needles, places` and, if there, `verdict, held_out, line`. Raises
    InputError for what cannot be read, listing every problem of every label.

    >>> [label] = read_labels({"move": {"defects": [{"severity": "BLOCKING", "needles": ["db.py"], "line": 3}]}})
    >>> label.expected, label.defects[0].cited
    ('RETHINK', ('plan:3',))
    """
    if isinstance(labels, pd.DataFrame):
        return _validated(_of_table(labels), "labels")
    if isinstance(labels, str | Path):
        return _validated(_of_mapping(read_json(Path(labels), _FILE_FIX), str(labels)), str(labels))
    if isinstance(labels, Mapping):
        return _validated(_of_mapping(labels, "labels"), "labels")
    ready = tuple(labels) if isinstance(labels, Iterable) else (labels,)
    if not all(isinstance(one, PlanLabel) for one in ready):
        fix = "give the path of a JSON file, a mapping of names to labels, or a table"
        raise InputError(Problem("labels", f"are a {type(labels).__name__}, not labels of plans", fix))
    return ready


def label_table(labels: Labels) -> pd.DataFrame:
    """Return labels as a table: a row for each defect, and one for each sound plan, whose severity and line are empty.

    Columns: `plan, kind, verdict, held_out, severity, line, needles, places`. Raises InputError as `read_labels` does.
    """
    rows = []
    for label in read_labels(labels):
        common = {"plan": label.plan, "verdict": label.expected, "held_out": label.held_out}
        if not label.defects:
            rows.append({**common, "kind": SOUND, "severity": None, "line": None, "needles": (), "places": ()})
        for one in label.defects:
            own = {"kind": one.kind, "severity": one.severity, "line": one.line}
            rows.append({**common, **own, "needles": one.needles, "places": one.cited})
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _of_mapping(value: Any, place: str) -> list[Any]:
    """Return the labels one by one, each with its name; InputError for a value that has neither form."""
    if isinstance(value, Mapping) and isinstance(value.get("plans"), list | tuple):
        return list(value["plans"])
    if not isinstance(value, Mapping):
        raise InputError(Problem(place, f"holds a {type(value).__name__}, not labels by the names of plans", _FIX))
    return [{"name": name, **label} if isinstance(label, Mapping) else label for name, label in value.items()]


def _of_table(table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the rows of each plan as one label; InputError for missing columns, or rows that disagree on a plan."""
    if missing := [name for name in _NEEDED if name not in table]:
        fix = f"give a table with {', '.join(_NEEDED)}, as datasets.plan_labels does"
        raise InputError(Problem("labels", f"has no column {name!r}", fix) for name in missing)
    for plan, rows in table.groupby("plan", sort=False):
        wrong = [name for name in ("verdict", "held_out") if name in rows and rows[name].nunique(dropna=False) > 1]
        if wrong:
            raise InputError(Problem(f"labels: {plan}", f"its rows disagree on {wrong[0]}", "give each the same"))
        common = {name: _plain(rows[name].iloc[0]) for name in ("verdict", "held_out") if name in rows}
        defects = [_defect(row) for row in rows.to_dict("records") if row["kind"] != SOUND]
        yield {"name": plan, "defects": defects} | {name: one for name, one in common.items() if one is not None}


def _defect(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a row's defect; its line stands among its places, as in `label_table`."""
    return {name: _plain(row[name]) for name in ("kind", "severity", "needles", "places")}


def _plain(value: Any) -> Any:
    """Return a cell as JSON has it: lists of any sort as lists, empty cells as None."""
    if isinstance(value, str):
        return str(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple | set):
        return list(value)
    return None if pd.isna(value) else value


def _validated(values: Iterable[Any], place: str) -> tuple[PlanLabel, ...]:
    """Return the labels; InputError listing all that is wrong with any, and plans that stand twice."""
    labels, problems = list[PlanLabel](), list[Problem]()
    for number, value in enumerate(values):
        name = value.get("name", number) if isinstance(value, Mapping) else number
        try:
            labels.append(PlanLabel.model_validate(value))
        except ValidationError as error:
            problems += [
                Problem(
                    f"{place}: {'.'.join(map(str, (name, *one['loc'])))}",
                    _told(one),
                    _FIX,
                )
                for one in error.errors(include_url=False)
            ]
    twice = [name for name, times in Counter(label.plan for label in labels).items() if times > 1]
    problems += [Problem(f"{place}: {name}", "is labelled twice", "give a plan one label") for name in twice]
    if problems:
        raise InputError(problems)
    return tuple(labels)


_FORMS = {
    "PlanLabel": "a label is a mapping such as {'verdict': 'REVISE', 'defects': [defect, ...]}, {} for a sound plan",
    "LabelledDefect": "a defect is a mapping such as {'severity': 'BLOCKING', 'needles': ['db.py'], 'line': 3}",
    "Evidence": "an evidence is a mapping such as {'place': 'plan:12', 'quote': 'drop it'}",
}
"""What is expected where a label holds something else, by the model that it should be."""


def _told(error: ErrorDetails) -> str:
    """Say what is wrong at a place of a label, and what form is expected there."""
    form = _FORMS.get(str(error.get("ctx", {}).get("class_name")))
    if form is not None:
        return f"is {error['input']!r:.100}, of type {type(error['input']).__name__}: {form}"
    if error["type"] == "tuple_type":
        return f"must be a list, got {error['input']!r:.100}"
    return error["msg"].removeprefix("Value error, ")
