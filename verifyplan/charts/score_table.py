"""Read scores of plans and lay them out: plans down, and for each dimension across a panel from 1 to 10."""

from __future__ import annotations

from collections.abc import Iterable

import altair as alt
import pandas as pd

from verifyplan.charts.encodings import inline, require_columns, text_of, x_of, y2_at, y_at
from verifyplan.charts.labels import distinct_labels, short
from verifyplan.charts.theme import FAINT, LINE, SIZE
from verifyplan.errors import InputError, Problem, TableError, expect, one_of
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.records import DIMENSIONS

COLUMNS = ("run_id", "by", "dimension", "score", "evidence", "refused", "disputed")
KEY = ["run_id", "by", "dimension"]
AUTHORS = ("synthesizer", "challenger")
"""Who gives scores; the challenger's are the audit."""
MIN_SCORE, MAX_SCORE = 1, 10
MAX_PLANS = 40
"""Plans drawn at most: more would not fit on a screen."""
UNIT_PX, GAP_PX, ROW_PX, LINE_HEIGHT_PX = 9, 26, 21, 15
"""Pixels from score to score, from panel to panel, from plan to plan, and from line to line of a heading."""
PANEL_PX = (MAX_SCORE - MIN_SCORE) * UNIT_PX
TICKS = (1, 4, 7, 10)
ONE_LINE_CHARACTERS, MAX_LINE_CHARACTERS = 13, 15
"""A dimension's name of more characters than the first is broken into two lines, of at most the second each."""


def read_scores(scores: pd.DataFrame | RunSet) -> tuple[pd.DataFrame, bool]:
    """Return the table of scores with plain columns, refused ones without a number, and whether it was generated.

    Takes the `scores` of a RunSet, or the RunSet. Raises InputError for anything else, and TableError listing
    missing columns, scores that are not whole numbers from 1 to 10, and rows that repeat another's key.
    """
    if isinstance(scores, RunSet):
        synthetic = bool(scores.runs["synthetic"].fillna(False).any())
        table = scores.scores
    else:
        expect(scores, pd.DataFrame, "scores", "give the scores of a RunSet, or the RunSet")
        synthetic, table = bool(scores.attrs.get("synthetic")), scores
    plain = require_columns(table, COLUMNS, "scores")
    numbers = pd.to_numeric(plain["score"], errors="coerce").astype("float64")
    if problems := _problems(plain, numbers):
        raise TableError(problems)
    texts = {name: plain[name].astype("object").map(str) for name in KEY}
    disputed = plain["disputed"].astype("boolean").fillna(False).astype(bool)
    return plain.assign(**texts, score=numbers.where(plain["refused"].isna()), disputed=disputed), synthetic


def _problems(plain: pd.DataFrame, numbers: pd.Series[float]) -> list[Problem]:
    invalid = plain["score"].notna() & ~(numbers.between(MIN_SCORE, MAX_SCORE) & (numbers % 1 == 0))
    fix = "give whole numbers from 1 to 10, or leave it empty"
    problems = [
        Problem("scores: column score", f"{value!r} is not a score", fix)
        for value in dict.fromkeys(plain.loc[invalid, "score"])
    ]
    twice = plain.duplicated(KEY)
    if twice.any():
        first = ", ".join(f"{name} {plain.loc[twice, name].iloc[0]}" for name in KEY)
        message = f"{int(twice.sum())} rows repeat the key of another, the first at {first}"
        problems.append(Problem("scores", message, f"keep one row for each {', '.join(KEY)}"))
    return problems


def expect_author(by: object) -> None:
    """Raise InputError unless `by` is a role that gives scores."""
    if by not in AUTHORS:
        raise InputError(Problem("by", f"{by!r} gives no scores", f"use {one_of(AUTHORS)}"))


def dimension_names(dimensions: Iterable[str]) -> dict[str, str]:
    """Map each dimension that occurs to its name in words: those of rule A10 first, others in the order they come.

    >>> dimension_names(["tone", "risk_coverage"])
    {'risk_coverage': 'risk coverage', 'tone': 'tone'}
    """
    have = list(dict.fromkeys(dimensions))
    order = [name for name in DIMENSIONS if name in have] + [name for name in have if name not in DIMENSIONS]
    names = distinct_labels(map(dimension_words, order), 28)
    return {name: names[dimension_words(name)] for name in order}


def dimension_words(dimension: str) -> str:
    """Return a dimension's name as words."""
    return dimension.replace("_", " ")


def every_cell(scores: pd.DataFrame, plans: Iterable[str]) -> pd.DataFrame:
    """Return a row for each of these plans and each dimension of the table, in this order, with or without a score.

    Adds `plan` and `name`, the labels of the plan and of the dimension, and `whole`, the dimension's whole name.
    """
    chosen, names = list(plans), dimension_names(scores["dimension"])
    labels = distinct_labels(chosen, 26)
    grid = pd.MultiIndex.from_product([chosen, names], names=["run_id", "dimension"]).to_frame(index=False)
    cells = grid.merge(scores, on=["run_id", "dimension"], how="left")
    return cells.assign(
        plan=cells["run_id"].map(labels),
        name=cells["dimension"].map(names),
        whole=cells["dimension"].map(dimension_words),
    )


def panels(rows: pd.DataFrame, marks: list[alt.Chart], notes: dict[str, str] | None = None) -> alt.LayerChart:
    """Draw the marks over their frame: lines at scores, the names of dimensions above, those of plans at the left.

    Reads `plan, name`, and is the data of the marks, which are charts without any, placed by `place` at `x:Q`. `notes`
    maps dimensions to a text under their name.
    """
    height = ROW_PX * rows["plan"].nunique()
    frame = _frame(list(dict.fromkeys(rows["name"])), notes or {}, height)
    scale = alt.Scale(domain=list(dict.fromkeys(rows["plan"])), type="band")
    axis = alt.Axis(grid=False, ticks=False, domain=False, labelLimit=0, labelPadding=14)
    y = alt.Y(field="plan", type="nominal", scale=scale, axis=axis, title=None)
    layers = [*frame, *(mark.encode(y=y) for mark in marks)]
    return alt.LayerChart(data=inline(rows), layer=layers, width=width_of(rows), height=height)


def place(rows: pd.DataFrame, score: str = "score") -> pd.Series[float]:
    """Return the places of a column's scores in pixels from the left edge of the first panel."""
    left = {name: number * (PANEL_PX + GAP_PX) for number, name in enumerate(dict.fromkeys(rows["name"]))}
    return rows["name"].map(left).astype("float64") + (rows[score] - MIN_SCORE) * UNIT_PX


def width_of(rows: pd.DataFrame) -> int:
    """Return the pixels across of all panels."""
    return int(rows["name"].nunique()) * (PANEL_PX + GAP_PX) - GAP_PX


def _frame(names: list[str], notes: dict[str, str], height: int) -> list[alt.Chart]:
    corners = pd.DataFrame([(name, score) for name in names for score in TICKS])
    corners.columns = pd.Index(["name", "score"])
    ticks = alt.Chart(inline(corners.assign(x=place(corners)))).encode(x=x_of("x"))
    texts = [_heading_lines(name, notes.get(name, "")) for name in names]
    deepest = max(map(len, texts))  # headings have as many lines each, so that they end at one height
    padded = ["\n".join([""] * (deepest - len(lines)) + lines) for lines in texts]
    heads = pd.DataFrame({"name": names, "score": MIN_SCORE, "text": padded})
    return [
        ticks.mark_rule(color=LINE, aria=False).encode(y=y_at(0), y2=y2_at(height)),
        ticks.mark_text(fontSize=SIZE - 1, color=FAINT, aria=False).encode(y=y_at(-10), text=text_of("score")),
        alt.Chart(inline(heads.assign(x=place(heads))))
        .mark_text(align="left", lineBreak="\n", lineHeight=LINE_HEIGHT_PX, fontWeight="bold", aria=False)
        .encode(x=x_of("x"), y=y_at(-28 - LINE_HEIGHT_PX * (deepest - 1)), text=text_of("text")),
    ]


def _heading_lines(name: str, note: str) -> list[str]:
    """Return the name on two lines, broken at the space that makes the longer one shortest, and the note below."""
    words = name.split()
    splits = [(" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words))]
    long = splits and len(name) > ONE_LINE_CHARACTERS
    lines = min(splits, key=lambda two: max(map(len, two))) if long else (name,)
    return [*(short(line, MAX_LINE_CHARACTERS) for line in lines), *([note] if note else [])]
