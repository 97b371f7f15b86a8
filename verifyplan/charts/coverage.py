"""Which parts of a plan were challenged, and how badly."""

from __future__ import annotations

import pandas as pd

from verifyplan.charts.captions import sentences, subtitle, synthetic_is
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count, plain, short
from verifyplan.charts.section_strip import section_strip
from verifyplan.charts.tables import checked
from verifyplan.charts.unchecked import unchecked
from verifyplan.errors import InputError, Problem, expect
from verifyplan.protocol.records import SEVERITIES

COUNTS = tuple(severity.lower() for severity in SEVERITIES)
COLUMNS = ("run_id", "section", "title", "level", "first", "last", "lines", "n", *COUNTS, "worst")
TITLE = "What of the plan was challenged"
KEY = "The plan from top to bottom, a block a section, as long as its lines; colour: the worst challenge"


def coverage(table: pd.DataFrame, run_id: str | None = None) -> Figure:
    """A plan's sections as a strip from top to bottom, coloured by the worst challenge that cites a line of each.

    Reads what `coverage(runs)` of `verifyplan.analysis` returns. `run_id` may be left out where there is one run.
    Sections that nobody challenged are grey. `attrs["synthetic"]` marks generated data. Raises TableError where a
    column is missing, InputError where it is not clear which run is meant.

    >>> table = pd.DataFrame({"run_id": "r", "section": [1, 2], "title": ["Goal", "Steps"], "level": 2, "first": [1, 5],
    ...     "last": [4, 9], "lines": [4, 5], "n": [0, 2], "blocking": [0, 1], "significant": 0, "minor": [0, 1],
    ...     "worst": [None, "BLOCKING"]})
    >>> coverage(table).description
    'Strip of 2 sections. Goal (lines 1-4): not challenged; Steps (lines 5-9): 1 blocking, 1 minor.'
    """
    expect(table, pd.DataFrame, "table", "give what coverage(runs) returns")
    whole, synthetic = checked(table, COLUMNS, "coverage"), bool(table.attrs.get("synthetic"))
    one = _one_run(whole, run_id)
    if one.empty:
        return empty(TITLE, "There is no section to draw.", one)
    rows = _rows(one)
    elsewhere = dict(table.attrs.get("elsewhere", {})).get(rows["run_id"].iloc[0], 0)
    with unchecked():
        return figure(
            section_strip(rows),
            title=TITLE,
            subtitle=subtitle(KEY, synthetic),
            caption=_caption(rows, elsewhere, synthetic=synthetic),
            data=one,
            description=_description(rows),
        )


def _one_run(whole: pd.DataFrame, run_id: str | None) -> pd.DataFrame:
    have = list(dict.fromkeys(whole["run_id"]))
    if run_id is None and len(have) > 1:
        message = f"is needed: there are {len(have)} runs"
        raise InputError(Problem("run_id", message, f"name one: {', '.join(have[:5])}"))
    if run_id is not None and run_id not in have:
        raise InputError(Problem("run_id", f"{run_id!r} has no section here", f"use one of: {', '.join(have[:5])}"))
    return whole if run_id is None else whole[whole["run_id"] == run_id].reset_index(drop=True)


def _rows(one: pd.DataFrame) -> pd.DataFrame:
    """The sections in the order of the plan, with their names and counts in words."""
    rows = one.sort_values("first", kind="stable").reset_index(drop=True)
    challenged = rows["worst"].notna()
    return rows.astype({"worst": "object"}).assign(
        worst=rows["worst"].astype("object").where(challenged, "none"),
        name=[short(title, 48, keep_end=False) for title in rows["title"]],
        title=rows["title"].map(plain),
        told=[_counts(row) for row in rows[list(COUNTS)].to_dict("records")],
        where=[_lines(first, last) for first, last in zip(rows["first"], rows["last"], strict=True)],
    )


def _counts(row: dict[object, int]) -> str:
    return ", ".join(f"{n:,} {severity}" for severity, n in row.items() if n) or "not challenged"


def _lines(first: int, last: int) -> str:
    return f"line {first:,}" if first == last else f"lines {first:,}-{last:,}"


def _caption(rows: pd.DataFrame, elsewhere: int, *, synthetic: bool) -> str:
    bare = rows[rows["n"] == 0]
    lines, without = int(rows["lines"].sum()), int(bare["lines"].sum())
    return sentences(
        f"The plan's {count(len(rows), 'section')} and the challenges that cite a line of each, whatever became of "
        f"them; n: {int(rows['n'].sum()):,} citations of {count(lines, 'line')}.",
        f"Nobody challenged {count(len(bare), 'section')} ({count(without, 'line')}), in grey.",
        f"Not drawn: {count(elsewhere, 'challenge')} that cite no line of the plan." if elsewhere else "",
        synthetic_is(synthetic),
    )


def _description(rows: pd.DataFrame) -> str:
    told = rows["name"] + " (" + rows["where"] + "): " + rows["told"]
    return f"Strip of {count(len(rows), 'section')}. {'; '.join(told)}."
