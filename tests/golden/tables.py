"""Golden tables on disk and as cells, what differs between two of them, and which differences somebody decided.

A cell is a key (`set:figure:row` or `set:rules:finding`), a column and a value, which is text. Texts must be equal,
numbers of figures to 1e-9 of the larger, or 1e-6 where an iteration comes to them (`LOOSE`). A row of `decisions.csv`
accepts a difference that it names: table, key, column, old and new. `*` in a key stands for anything, as in
`contract:majority:*`, and the row then accepts that change of a value wherever it comes up: write it for as long as a
change is under way. Bounds may widen without a decision, but not narrow: `low` and `high` of a class, `..low_bound` and
`..high_bound` of a figure.
"""

from __future__ import annotations

import csv
import json
import math
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from tests.golden import cases, scripted

FOLDER = Path(__file__).parent
FILES = {
    "judgements": "judgements.parquet",
    "figures": "figures.parquet",
    "events": "events.jsonl",
    "documents": "documents.jsonl",
}
FIRST = "run python -m tests.golden.make"
ABSENT = "(absent)"
LOOSE = ("aggregate", "weights", "power")
"""Figures behind which an optimiser or an iteration is."""
HEADER = ("table", "key", "column", "old", "new", "reason")
RANKS = {"worker-unique": 0, "contested": 1, "partial-consensus": 2, "full-consensus": 3}
WIDER = {"low": -1, "high": 1}


class Decision(NamedTuple):
    """A row of decisions.csv: why cells changed, and from what to what."""

    table: str
    key: str
    column: str
    old: str
    new: str
    reason: str


def computed(table: str, folder: Path) -> Any:
    """Return what the package gives now, as `write` takes it; an empty folder is for what runs write."""
    if table in ("judgements", "figures"):
        return getattr(cases, table)()
    folder.mkdir()
    return list(scripted.events(folder) if table == "events" else scripted.violations(folder))


def write(table: str, content: Any, folder: Path) -> None:
    """Write a golden table, in place of what is there."""
    path = folder / FILES[table]
    if path.suffix == ".parquet":
        content.to_parquet(path, compression="zstd", index=False)
    else:
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content), encoding="utf-8")


def read(table: str, folder: Path) -> Any:
    """Return a golden table as `computed` gives it; FileNotFoundError says which command makes it."""
    path = folder / FILES[table]
    if not path.exists():
        raise FileNotFoundError(f"{path.name} is not there: {FIRST}")
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def cells(table: str, content: Any) -> pd.Series:
    """Return the cells of a table: values as text, by key and column; keys that repeat are refused."""
    if table == "judgements":
        keys = [content[name].astype(str) for name in ("set", "rules", "run_id", "iteration", "finding_id")]
        key = keys[0] + ":" + keys[1] + ":" + keys[2] + "/" + keys[3] + "/" + keys[4]
        rest = content.drop(columns=[one.name for one in keys]).astype(str).assign(key=key)
        content = rest.melt("key", var_name="column")
    elif table != "figures":
        content = scripted.flat(content)
    found: pd.Series[str] = content.set_index(["key", "column"])["value"]
    if found.index.has_duplicates:
        raise ValueError(f"{table}: keys repeat: {list(found.index[found.index.duplicated()][:3])}")
    return found


def report(table: str, content: Any, folder: Path) -> str:
    """Return what differs from the golden table without a decision, line by line; nothing where all is as it was."""
    found = differences(table, cells(table, read(table, folder)), cells(table, content))
    return told(table, undecided(table, found, read_decisions(folder)))


def differences(table: str, old: pd.Series, new: pd.Series) -> pd.DataFrame:
    """Return the cells that differ: `key, column, old, new`; what one side alone has is `(absent)` on the other."""
    both = pd.concat([old.rename("old"), new.rename("new")], axis=1).fillna(ABSENT)
    both = both[both["old"] != both["new"]].reset_index()
    unlike = [not same(table, key, old, new) for key, _, old, new in both.itertuples(index=False)]
    return both[np.array(unlike, bool)].reset_index(drop=True)


def same(table: str, key: str, old: str, new: str) -> bool:
    """Whether two values are equal, numbers to the tolerance of their figure; classes and rounds exactly."""
    first, second = _number(old), _number(new)
    if old == new or table != "figures" or first is None or second is None:
        return old == new
    loose = key.split(":")[1].split(".")[0] in LOOSE
    return math.isclose(first, second, rel_tol=1e-6 if loose else 1e-9, abs_tol=1e-12)


def widened(table: str, column: str, old: str, new: str) -> bool:
    """Whether a bound of unseen votes only widened, which needs no decision."""
    first: float | None
    second: float | None
    if table == "judgements" and column in WIDER:
        first, second, side = RANKS.get(old), RANKS.get(new), WIDER[column]
    elif table == "figures" and column.endswith(("low_bound", "high_bound")):
        first, second, side = _number(old), _number(new), WIDER[column.removesuffix("_bound").split("_")[-1]]
    else:
        return False
    return first is not None and second is not None and (second - first) * side > 0


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def undecided(table: str, found: pd.DataFrame, decisions: list[Decision]) -> pd.DataFrame:
    """Return the differences that no decision names and that are more than a wider bound."""
    rows = [row for row in decisions if row.table == table]
    open_ = [
        not widened(table, column, old, new) and not any(_names(row, key, column, old, new) for row in rows)
        for key, column, old, new in found.itertuples(index=False)
    ]
    return found[np.array(open_, bool)].reset_index(drop=True)


def _names(row: Decision, key: str, column: str, old: str, new: str) -> bool:
    pattern = ".*".join(map(re.escape, row.key.split("*")))
    values = same(row.table, key, row.old, old) and same(row.table, key, row.new, new)
    return values and row.column == column and re.fullmatch(pattern, key) is not None


def told(table: str, found: pd.DataFrame, at_most: int = 20) -> str:
    """Return differences as lines for a person, the first ones in full and the others by figure."""
    first = found[:at_most].itertuples(index=False)
    lines = [f"{table}: {key} {column}: {old} -> {new}" for key, column, old, new in first]
    counts = found[at_most:]["key"].map(figure_of).value_counts(sort=False)
    return "\n".join([*lines, *(f"{table}: {count} more cells in {name}" for name, count in counts.items())])


def figure_of(key: str) -> str:
    """Return the set and the figure or rules that a key is of."""
    return ":".join(key.split(":")[:2])


def read_decisions(folder: Path) -> list[Decision]:
    """Return the rows of decisions.csv; ValueError for another header, or a row without a reason."""
    with (folder / "decisions.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    if tuple(header) != HEADER or any(len(row) != len(HEADER) or not row[-1].strip() for row in rows):
        raise ValueError(f"decisions.csv: needs the columns {', '.join(HEADER)}, and a reason in each row")
    return [Decision(*row) for row in rows]


def decided(table: str, found: pd.DataFrame, reason: str, at_most: int = 5) -> list[Decision]:
    """Return the rows that tell of differences which are written: one a cell.

    Where more than `at_most` cells of a column of a figure, or of a type of event, differ, one row tells of them and
    accepts nothing further.
    """
    rows = list[Decision]()
    columns = "*" if table == "events" else found["column"]  # an event more or less moves all fields of the others
    for names, part in found.groupby([found["key"].map(figure_of), found.assign(column=columns)["column"]], sort=False):
        figure, column = map(str, names)
        if len(part) > at_most:
            cells = f"({len(part)} cells)"
            rows.append(Decision(table, f"{figure}:*", column, cells, cells, reason))
        else:
            rows += [Decision(table, *map(str, cell)) for cell in part.assign(reason=reason).to_numpy()]
    return rows


def stale(table: str, golden: pd.Series, decisions: list[Decision]) -> list[str]:
    """Return the cells whose last decision says another value than the golden table and was not from it either."""
    last = {(row.key, row.column): row for row in decisions if row.table == table and "*" not in row.key}
    values = {cell: golden.get(cell, ABSENT) for cell in last}
    return [
        f"{table}: {key} {column}: is {values[key, column]}, and the last decision says {row.old} -> {row.new}"
        for (key, column), row in last.items()
        if not any(same(table, key, values[key, column], one) for one in (row.old, row.new))
    ]
