"""Scores of plans on their way into a chart: read, checked, named, and one row for every plan and dimension."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from verifyplan.charts.labels import shortened
from verifyplan.charts.tables import checked
from verifyplan.errors import InputError, Problem, TableError, expect, one_of
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.records import DIMENSIONS

COLUMNS = ("run_id", "by", "dimension", "score", "evidence", "refused", "disputed")
KEY = ["run_id", "by", "dimension"]
AUTHORS = ("synthesizer", "challenger")
"""Who gives scores; the challenger's are the audit."""
LEAST, MOST = 1, 10
"""The lowest and the highest score."""
PLANS = 40
"""Plans drawn at most: more would not fit on a screen."""


def read_scores(scores: pd.DataFrame | RunSet) -> tuple[pd.DataFrame, bool]:
    """The table of scores with plain columns, those that were refused without a number, and whether it was generated.

    Takes the `scores` of a RunSet, or the RunSet. Raises InputError for anything else, and TableError listing
    columns that are missing, scores that are no whole numbers from 1 to 10, and rows that repeat another's key.
    """
    if isinstance(scores, RunSet):
        synthetic = bool(scores.runs["synthetic"].fillna(False).any())
        table = scores.scores
    else:
        expect(scores, pd.DataFrame, "scores", "give the scores of a RunSet, or the RunSet")
        synthetic, table = bool(scores.attrs.get("synthetic")), scores
    plain = checked(table, COLUMNS, "scores")
    numbers = pd.to_numeric(plain["score"], errors="coerce").astype("float64")
    _check(plain, numbers)
    texts = {name: plain[name].astype("object").map(str) for name in KEY}
    disputed = plain["disputed"].astype("boolean").fillna(False).astype(bool)
    counted = numbers.where(plain["refused"].isna())
    return plain.assign(**texts, score=counted, disputed=disputed), synthetic


def expect_author(by: object) -> None:
    """Raise InputError unless `by` is one who gives scores."""
    if by not in AUTHORS:
        raise InputError(Problem("by", f"{by!r} gives no scores", f"use {one_of(AUTHORS)}"))


def _check(plain: pd.DataFrame, numbers: pd.Series[float]) -> None:
    odd = plain["score"].notna() & ~(numbers.between(LEAST, MOST) & (numbers % 1 == 0))
    problems = [
        Problem("scores: column score", f"{value!r} is no score", "give whole numbers from 1 to 10, or leave it empty")
        for value in dict.fromkeys(plain.loc[odd, "score"])
    ]
    twice = plain.duplicated(KEY)
    if twice.any():
        first = ", ".join(f"{name} {plain.loc[twice, name].iloc[0]}" for name in KEY)
        message = f"{int(twice.sum())} rows repeat the key of another, the first at {first}"
        problems.append(Problem("scores", message, f"keep one row for each {', '.join(KEY)}"))
    if problems:
        raise TableError(problems)


def dimension_names(dimensions: Iterable[str]) -> dict[str, str]:
    """Each dimension that occurs with its name in words: those of rule A10 first, others in the order they come.

    >>> dimension_names(["tone", "risk_coverage"])
    {'risk_coverage': 'risk coverage', 'tone': 'tone'}
    """
    have = list(dict.fromkeys(dimensions))
    order = [name for name in DIMENSIONS if name in have] + [name for name in have if name not in DIMENSIONS]
    words = shortened(map(in_words, order), 28)
    return {name: words[in_words(name)] for name in order}


def in_words(dimension: str) -> str:
    """A dimension's name as words."""
    return dimension.replace("_", " ")


def every_cell(scores: pd.DataFrame, plans: Iterable[str]) -> pd.DataFrame:
    """A row for each of these plans and each dimension of the table, in this order, without a score where none is.

    Adds `plan` and `name`, the labels of the plan and of the dimension, and `whole`, the dimension's whole name.
    """
    chosen, names = list(plans), dimension_names(scores["dimension"])
    labels = shortened(chosen, 26)
    grid = pd.MultiIndex.from_product([chosen, names], names=["run_id", "dimension"]).to_frame(index=False)
    cells = grid.merge(scores, on=["run_id", "dimension"], how="left")
    return cells.assign(
        plan=cells["run_id"].map(labels), name=cells["dimension"].map(names), whole=cells["dimension"].map(in_words)
    )
