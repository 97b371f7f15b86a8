"""Make one value an item of the scores of several workers, by their mean or median (rule F3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from verifyplan.analysis.aggregation.score_aggregation import ScoreAggregation, best_measure, error_measures
from verifyplan.analysis.aggregation.vote_counts import Floats, Ints
from verifyplan.analysis.aggregation.weighted_votes import Ties
from verifyplan.analysis.cluster_intervals import LEVEL
from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.columns import fitted
from verifyplan.errors import Problem, TableError, one_of
from verifyplan.frames.bundled_votes import votes as bundled_votes
from verifyplan.frames.from_table import Duplicates, as_panel_votes
from verifyplan.frames.load import Runs
from verifyplan.frames.panel_votes import PanelVotes, Which
from verifyplan.frames.vote_tables import VOTE_TABLES
from verifyplan.text import counted, did_you_mean, is_or_are

ScoreMethod: TypeAlias = Literal["mean", "median"]
"""A way to make one value of several scores."""
SCORE_METHODS = get_args(ScoreMethod)

PRIOR_DEGREES = 3
"""The spread of the scores of an item counts with that of all items, which weighs so many degrees of freedom."""


def aggregate_scores(
    data: pd.DataFrame | PanelVotes | Runs,
    columns: Mapping[str, Any],
    method: ScoreMethod,
    ties: Ties,
    at: Which,
    duplicates: Duplicates,
) -> ScoreAggregation:
    """Return one value an item; `columns` are the arguments of `aggregate` that name columns."""
    votes, truth, group = _read(data, columns, duplicates)
    votes = votes.at(at)
    score = np.array([*map(float, votes.labels), np.nan])[votes.label]
    given = ~np.isnan(score)
    if not given.any():
        raise TableError(Problem("votes: score", "no score is given: every cell is empty", "check the column"))
    unit, worker, score = votes.unit[given], votes.worker[given], score[given]
    by_unit = pd.Series(score).groupby(unit)
    value = by_unit.agg(method).reindex(range(len(votes.units))).to_numpy(np.float64)
    n = np.bincount(unit, minlength=len(votes.units))
    half = _half_widths(unit, score, n) if method == "mean" else np.full(len(n), np.nan)
    notes, measures = [*_notes(votes, n, truth)], []
    if group is None:
        measures = [*error_measures(votes, value, truth)]
    elif not np.isnan(truth).all():
        best, more = best_measure(votes.units["run"], group, value, truth, ties)
        measures, notes = [best], [*notes, *more]
    table = {
        "run": votes.units["run"], "item": votes.units["item"], "value": value, "n": n, "low": value - half,
        "high": value + half, "truth": truth,
    }  # fmt: skip
    named = RESULT_TABLES["aggregate.measures"]
    return ScoreAggregation(
        method=method,
        scores=fitted(RESULT_TABLES["aggregate.scores"], pd.DataFrame(table), "scores"),
        workers=_workers(votes, unit, worker, score),
        measures=fitted(named, pd.DataFrame(measures, columns=[column.name for column in named]), "measures"),
        notes=tuple(notes),
        votes=votes,
    )


def _read(
    data: pd.DataFrame | PanelVotes | Runs, columns: Mapping[str, Any], duplicates: Duplicates
) -> tuple[PanelVotes, Floats, Any]:
    """Return scores as labels of votes, the true value of each unit, and its group, or None where none is named."""
    if isinstance(data, str) and data in VOTE_TABLES:
        data = bundled_votes(data)
    if not isinstance(data, pd.DataFrame):
        votes = as_panel_votes(data, columns, duplicates)
        _refuse_words(votes)
        return votes, np.array([*map(float, votes.labels), np.nan])[votes.truth], None
    names = {name: columns.get(name) or name for name in ("score", "truth", "group")}
    wanted = {name for name in names if name == "score" or columns.get(name)}
    wanted |= {"truth"} & set(data.columns)
    problems = [*_absent({name: names[name] for name in names if name in wanted}, data)]
    if problems:
        raise TableError(problems)
    numbers = {name: _numbers(data[names[name]], name) for name in ("score", "truth") if name in wanted}
    kept = {name: columns.get(name) for name in ("item", "worker", "round", "run", "cost", "explanation")}
    put: dict[str, Any] = {_SCORE: numbers["score"], _ALL: "all"}
    plain = data.drop(columns="truth", errors="ignore").assign(**put)
    votes = as_panel_votes(plain, {**kept, "label": _SCORE}, duplicates)
    rows = as_panel_votes(
        plain.drop(columns="round", errors="ignore"),
        {"item": kept["item"], "run": kept["run"], "worker": _ALL, "label": _ALL},
        "all",
    ).unit
    truth = np.full(len(votes.units), np.nan)
    if "truth" in wanted:
        truth = _of_units(numbers["truth"], rows, votes, "truth").to_numpy(np.float64)
    group = _of_units(data[names["group"]], rows, votes, "group").to_numpy(object) if "group" in wanted else None
    return votes, truth, group


_SCORE, _ALL = "(score)", "(all)"  # names of columns that are put beside those of the table


def _absent(named: Mapping[str, Any], frame: pd.DataFrame) -> Iterator[Problem]:
    for name, column in named.items():
        count = list(frame.columns).count(column)
        if count != 1:
            near = did_you_mean(column, frame.columns)
            message = f"there are {count} columns {column!r}" if count else f"there is no column {column!r}{near}"
            yield Problem(f"votes: {name}", message, f"name one of its columns: {one_of(frame.columns[:20])}")


def _numbers(values: pd.Series[Any], name: str) -> pd.Series[Any]:
    """Return a column as numbers, NaN for empty cells; TableError for others. A truth may be true and false."""
    numbers = pd.to_numeric(values, errors="coerce").astype("float64")
    texts = values.astype("str").str.strip() if values.dtype in ("object", "str") else None
    empty = values.isna() | (texts.eq("") if texts is not None else False)
    bad = (numbers.isna() & ~empty) | np.isinf(numbers)
    if name == "score" and pd.api.types.is_bool_dtype(values):
        bad = ~empty
    if bad.any():
        first = int(bad.to_numpy().argmax())
        message = f"{one_of([values.iloc[first]])} is not a number ({counted(int(bad.sum()), 'such row')})"
        fix = "name a column of numbers, empty where a score was lost; for words use method='majority' and label="
        raise TableError(Problem(f"votes: {name}", message, fix))
    return numbers


def _refuse_words(votes: PanelVotes) -> None:
    """Raise TableError where labels that are to be scores are no numbers."""
    words = [name for name in votes.labels if not _is_number(name)]
    if words:
        message = f"has {one_of(words[:5])}: no number"
        raise TableError(Problem("votes: label", message, "use method='majority', or give a table with score="))


def _is_number(name: str) -> bool:
    try:
        return bool(np.isfinite(float(name)))
    except ValueError:
        return False


def _of_units(values: pd.Series[Any], rows: Ints, votes: PanelVotes, name: str) -> pd.Series[Any]:
    """Return the value of each unit in a column of rows; TableError where rows of a unit differ."""
    by_unit = values.reset_index(drop=True).groupby(rows)
    several = by_unit.nunique() > 1
    if several.any():
        unit = int(np.flatnonzero(several)[0])
        shown = one_of(values.reset_index(drop=True)[rows == unit].dropna().unique()[:5])
        message = f"item {votes.units['item'].iloc[unit]!r} has several: {shown}"
        message += f" ({counted(int(several.sum()), 'such item')})"
        raise TableError(Problem(f"votes: {name}", message, f"give each item one {name}"))
    return by_unit.first().reindex(range(len(votes.units)))


def _half_widths(unit: Ints, score: Floats, n: Ints) -> Floats:
    """Return half the 95 % interval of each unit's mean, its variance moderated by that of all units (Smyth 2004)."""
    mean = np.bincount(unit, score, minlength=len(n)) / np.maximum(n, 1)
    squares = np.bincount(unit, (score - mean[unit]) ** 2, minlength=len(n))
    own = np.maximum(n - 1, 0)
    if not squares.sum() > 0:
        return np.full(len(n), np.nan)
    pooled = squares.sum() / own.sum()
    prior = np.minimum(PRIOR_DEGREES, own.sum() - own)
    freedom = np.where(n > 0, prior + own, np.nan)
    variance = (prior * pooled + squares) / freedom
    return np.asarray(stdtrit(freedom, (1 + LEVEL) / 2) * np.sqrt(variance / np.maximum(n, 1)))


def _workers(votes: PanelVotes, unit: Ints, worker: Ints, score: Floats) -> pd.DataFrame:
    """Return what each worker gives, and how far above the others on the same items."""
    total, n = np.bincount(unit, score), np.bincount(unit)
    others = np.where(n[unit] > 1, (total[unit] - score) / np.maximum(n[unit] - 1, 1), np.nan)
    given = pd.DataFrame({"mean": score, "offset": score - others}).groupby(worker)
    table = given.mean().reindex(range(len(votes.workers)))
    sizes = np.bincount(worker, minlength=len(votes.workers))
    table = table.assign(worker=list(votes.workers), n=sizes)
    return fitted(RESULT_TABLES["aggregate.scorers"], table.reset_index(drop=True), "workers")


def _notes(votes: PanelVotes, n: Ints, truth: Floats) -> Iterator[str]:
    lost, silent = int((votes.label < 0).sum()), int((n == 0).sum())
    if lost:
        yield f"{counted(lost, 'score')} {is_or_are(lost)} empty, and left out"
    if silent:
        yield f"{counted(silent, 'item')} without a score: no value"
    unknown = int(np.isnan(truth).sum())
    if 0 < unknown < len(truth):
        yield f"the truth of {unknown:,} of {counted(len(truth), 'item')} is not known"
