"""Who voted what on which finding, round by round."""

from __future__ import annotations

import pandas as pd

from verifyplan.charts.captions import sentences, subtitle, synthetic_is
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count, plain, short, shortened
from verifyplan.charts.tables import checked
from verifyplan.charts.theme import CLASS_COLORS, MARK_COLORS
from verifyplan.charts.unchecked import unchecked
from verifyplan.charts.vote_tiles import vote_tiles
from verifyplan.errors import Problem, TableError, expect, one_of
from verifyplan.protocol.vote import CLASSIFICATIONS

COLUMNS = ("finding_id", "summary", "round", "worker", "mark", "explanation", "classification")
TEXTS = {"finding_id": "", "summary": "", "worker": "", "explanation": "", "classification": "not classed"}
"""Columns of text, and what stands where a text is missing."""
TITLE = "Who voted what"
GAP = "\N{EN SPACE}"
"""Between a finding's id and its summary; labels hold no such space, so no two rows have one name."""
MOST = 60
"""Findings drawn at most: more would not be read."""


def vote_matrix(grid: pd.DataFrame) -> Figure:
    """Tiles of votes: findings down, workers across, one panel a round, the class named at the right.

    Reads `finding_id, summary, round, worker, mark, explanation, classification`; a mark is one of agree,
    supplement, counter-evidence, burden-not-met, disagree, verification-error, discovered; round 0 is drawn
    as "found by". Findings stand in the order of their classes; the first 60 of the grid are drawn, and the
    caption says how many are left out. `attrs["synthetic"]` marks generated data. Raises TableError where a column is
    missing or a mark unknown.

    >>> row = {"finding_id": "F1", "summary": "No rollback", "round": 1, "worker": "w2", "mark": "agree"}
    >>> vote_matrix(pd.DataFrame([row | {"explanation": "", "classification": "full-consensus"}])).description
    'Table of votes on 1 finding by 1 worker in 1 round. Marks: 1 agree. Classes: 1 full-consensus.'
    """
    expect(grid, pd.DataFrame, "grid", "give what vote_grid(runs) returns")
    whole, synthetic = checked(grid, COLUMNS, "grid"), bool(grid.attrs.get("synthetic"))
    _check_marks(whole)
    if whole.empty:
        return empty(TITLE, "There are no votes to draw.", whole)
    ids = list(dict.fromkeys(map(str, whole["finding_id"])))
    rows = _rows(whole[whole["finding_id"].astype(str).isin(ids[:MOST])])
    with unchecked():
        return figure(
            vote_tiles(rows),
            title=TITLE,
            subtitle=subtitle("Blank: not asked in that round", synthetic),
            caption=_caption(rows, n_findings=len(ids), synthetic=synthetic),
            data=whole,
            description=_description(rows),
        )


def _check_marks(grid: pd.DataFrame) -> None:
    unknown = sorted(set(map(str, grid["mark"])) - set(MARK_COLORS))
    if unknown:
        found = one_of(short(mark, 40) for mark in unknown)
        fix = f"write one of {one_of(MARK_COLORS)}"
        raise TableError(Problem("grid: column mark", f"unknown: {found}", fix))


def _rows(grid: pd.DataFrame) -> pd.DataFrame:
    """The rows in the order drawn, with short labels of findings and workers."""
    rank = grid["classification"].astype(str).map({name: i for i, name in enumerate(CLASSIFICATIONS)})
    rows = grid.assign(**{column: _text(grid[column], missing) for column, missing in TEXTS.items()})
    rows = rows.loc[rank.sort_values(kind="stable", na_position="last").index]
    ids, workers = shortened(rows["finding_id"].sort_index(), 16), shortened(rows["worker"].sort_index(), 18)
    summaries = rows.groupby("finding_id")["summary"].first().map(lambda text: short(text, 46, keep_end=False))
    return rows.assign(
        finding=rows["finding_id"].map(ids) + GAP + rows["finding_id"].map(summaries),
        voter=rows["worker"].map(workers),
        mark=rows["mark"].astype(str),
    )


def _text(texts: pd.Series, missing: str) -> pd.Series:
    return texts.astype(object).where(texts.notna(), missing).map(plain)


def _caption(rows: pd.DataFrame, n_findings: int, synthetic: bool) -> str:
    drawn = rows["finding"].nunique()
    return sentences(
        f"Votes on {_size(rows)} (n), lettered as the key says; findings stand in the order of their classes,"
        " which are named at the right.",
        f"The first {drawn:,} of {n_findings:,} findings are drawn, {n_findings - drawn:,} left out."
        if n_findings > drawn
        else "",
        synthetic_is(synthetic),
    )


def _size(rows: pd.DataFrame) -> str:
    findings, workers = rows["finding"].nunique(), rows["voter"].nunique()
    rounds = rows.loc[rows["round"] > 0, "round"].nunique()
    return f"{count(findings, 'finding')} by {count(workers, 'worker')} in {count(rounds, 'round')}"


def _description(rows: pd.DataFrame) -> str:
    marks = _counted(rows["mark"], list(MARK_COLORS))
    classes = _counted(rows.drop_duplicates("finding")["classification"], list(CLASS_COLORS))
    return f"Table of votes on {_size(rows)}. Marks: {marks}. Classes: {classes}."


def _counted(names: pd.Series, order: list[str]) -> str:
    """How often each name occurs, in this order."""
    counts = names.value_counts()
    return ", ".join(f"{counts[name]:,} {name}" for name in order if name in counts)
