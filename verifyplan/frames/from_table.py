"""Read any long table of labels as the votes of a panel, its columns named by the caller (rules E4, F3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.errors import Problem, SettingsError, TableError, expect, one_of
from verifyplan.frames.bundled import is_bundled
from verifyplan.frames.bundled_votes import votes
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.panel_votes import PanelVotes, votes_of_runs
from verifyplan.frames.vote_tables import VOTE_TABLES
from verifyplan.text import counted, did_you_mean

_NEEDED = ("item", "worker", "label")
_OPTIONAL = ("truth", "round", "run", "cost", "explanation")

Duplicates: TypeAlias = Literal["refuse", "first", "last", "all"]
"""What becomes of a worker's further votes on an item in one round: an error, or which of them count."""


def from_table(
    frame: pd.DataFrame,
    *,
    item: str | Sequence[str],
    worker: str | Sequence[str],
    label: str,
    truth: str | None = None,
    round: str | None = None,
    run: str | None = None,
    cost: str | None = None,
    explanation: str | None = None,
    labels: Mapping[Any, str] | None = None,
    duplicates: Duplicates = "refuse",
) -> PanelVotes:
    """Return any long table of labels, one row a vote, as the votes of a panel; each argument names a column.

    Nothing is guessed: a column that is not named is left out. Labels are compared as text, of which 1 and 1.0 are
    the same and spaces around do not count; an empty cell is a vote that was lost.

    Args:
        frame: the table; it is not changed.
        item: what is labelled; several columns, as a list, name it together.
        worker: who gives the label: a model, a person, a set-up; likewise.
        label: the label, of any number of classes.
        truth: the right label of the item, in the words of `label`; empty where it is not known.
        round: the round of the vote, a whole number.
        run: the run; an item in two runs is labelled twice.
        cost: what the vote cost, in a unit of your own.
        explanation: the worker's words.
        labels: words of the table and the labels they mean, such as `{"yes": "true", "no": "false"}`, for votes and
            truth alike.
        duplicates: what becomes of a worker's second vote on an item in one round and run: `refuse` raises an error,
            `first` and `last` keep one vote, in the order of rows, and `all` keeps each of them.

    Raises TableError listing every column that is absent, items with two truths, and repeated votes.

    >>> table = pd.DataFrame({"q": [1, 1, 2], "judge": ["a", "b", "a"], "says": ["cat", "dog", "dog"]})
    >>> votes = from_table(table, item="q", worker="judge", label="says")
    >>> votes.labels, votes.workers, len(votes.units)
    (('cat', 'dog'), ('a', 'b'), 2)
    """
    named = {
        "item": item, "worker": worker, "label": label, "truth": truth, "round": round, "run": run, "cost": cost,
        "explanation": explanation,
    }  # fmt: skip
    used = {name: column for name, column in named.items() if column is not None}
    return _from_columns(frame, used, labels, duplicates)


def as_panel_votes(
    data: pd.DataFrame | PanelVotes | Runs, columns: Mapping[str, Any], duplicates: Duplicates = "refuse"
) -> PanelVotes:
    """Return votes of a panel from what an analysis takes: such votes, runs, a long table, or a bundled table's name.

    `columns` are the analysis' arguments that name columns. Of a table those that are None have the argument's own
    name, where there is such a column: `item`, `worker`, `label`, `truth`, `round`, `run`, `cost`, `explanation`.
    Of a table, `duplicates` is that of `from_table`.
    """
    if isinstance(data, str) and data in VOTE_TABLES and is_bundled(data):
        data = votes(data)
    if isinstance(data, pd.DataFrame):
        names = {name: columns.get(name) or name for name in (*_NEEDED, *_OPTIONAL)}
        wanted = {name: column for name, column in names.items() if columns.get(name) or column in data}
        return _from_columns(data, {**{name: names[name] for name in _NEEDED}, **wanted}, None, duplicates)
    named = [name for name, column in columns.items() if column is not None]
    if named:
        fix = "leave it out, or give a table"
        raise TableError(Problem(name, "names a column, and only a table has columns", fix) for name in named)
    return data if isinstance(data, PanelVotes) else votes_of_runs(as_runs(data))


def _from_columns(
    frame: pd.DataFrame, named: Mapping[str, Any], meanings: Mapping[Any, str] | None, duplicates: Duplicates
) -> PanelVotes:
    if duplicates not in get_args(Duplicates):
        fix = f"use {one_of(get_args(Duplicates))}"
        raise SettingsError(Problem("duplicates", f"{duplicates!r} is no policy", fix))
    expect(frame, pd.DataFrame, "votes", "read the file first, by pandas.read_csv or pandas.read_parquet")
    problems = list(_absent(frame, named))
    if problems:
        raise TableError(problems)
    table = pd.DataFrame({name: _joined(frame, column) for name, column in named.items()}).reset_index(drop=True)
    table = table.assign(**{name: _text(table[name]) for name in ("item", "worker", "run") if name in table})
    words = {_plain(word): str(label).strip() for word, label in (meanings or {}).items()}
    for name in ("label", "truth"):
        table[name] = _labels(table[name], words) if name in table else None
    problems = [*_empty(table), *_bad_numbers(table)]
    if problems:
        raise TableError(problems)
    coded = _coded(table, bool(frame.attrs.get("synthetic", False)))
    problems = [*_contradictions(table, coded), *_unknown_truth(coded)]
    if duplicates == "refuse":
        problems += _repeats(table, coded)
    if problems:
        raise TableError(problems)
    return coded if duplicates in ("refuse", "all") else coded.take(~_again(coded, duplicates))


def _coded(table: pd.DataFrame, synthetic: bool) -> PanelVotes:
    run = table["run"] if "run" in table else pd.Series("all", index=table.index)
    run_code, item_code = pd.factorize(run)[0], pd.factorize(table["item"])[0]
    unit, _ = pd.factorize(run_code.astype(np.int64) * (int(item_code.max(initial=-1)) + 1) + item_code)
    first = ~pd.Series(unit).duplicated().to_numpy()
    known = table["truth"].notna().to_numpy()
    truths = pd.Series(table["truth"].to_numpy()[known], index=unit[known], dtype="object")
    truths = truths[~truths.index.duplicated()].reindex(range(int(first.sum())))
    labels = tuple(sorted({*table["label"].dropna().unique(), *truths.dropna().unique()}, key=_number_or_text))
    code = {name: position for position, name in enumerate(labels)}
    worker, names = pd.factorize(table["worker"], sort=True)
    units = pd.DataFrame({"run": run[first].to_numpy(), "item": table["item"][first].to_numpy(), "truth": truths})
    return PanelVotes(
        labels=labels,
        workers=tuple(map(str, names)),
        units=units.astype("str"),
        unit=unit.astype(np.int64),
        worker=worker.astype(np.int64),
        label=table["label"].map(code).fillna(-1).to_numpy(dtype=np.int64),
        round=pd.to_numeric(table["round"]).to_numpy(dtype=np.int64) if "round" in table else np.ones(len(table), int),
        truth=truths.map(code).fillna(-1).to_numpy(dtype=np.int64),
        cost=pd.to_numeric(table["cost"]).to_numpy(dtype=np.float64, na_value=np.nan) if "cost" in table else None,
        explanation=table.get("explanation"),
        synthetic=synthetic,
    )


def _absent(frame: pd.DataFrame, named: Mapping[str, Any]) -> Iterator[Problem]:
    counts = frame.columns.value_counts()
    pairs = ((key, each) for key, name in named.items() for each in ([name] if isinstance(name, str) else name))
    for argument, name in pairs:
        count = counts.get(name, 0)
        if count != 1:
            near = did_you_mean(name, frame.columns)
            message = f"there are {count} columns {name!r}" if count else f"there is no column {name!r}{near}"
            yield Problem(f"votes: {argument}", message, f"name one of its columns: {one_of(frame.columns[:20])}")


def _joined(frame: pd.DataFrame, column: str | Sequence[str]) -> pd.Series[Any]:
    """Return a column; several as one text, joined by slashes, missing where one of them is."""
    if isinstance(column, str):
        return frame[column]
    parts = [_text(frame[name]) for name in column]
    return parts[0].str.cat(pd.concat(parts[1:], axis=1), sep="/")


def _text(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return names as text: 1.0 is 1, spaces around do not count, an empty text is missing."""
    if pd.api.types.is_float_dtype(values.dtype) and (values.dropna() % 1 == 0).all():
        values = values.astype("Int64")
    distinct = values.drop_duplicates().dropna()
    names = {value: str(value).strip() or None for value in distinct}
    return values.astype("object").map(names)


def _labels(values: pd.Series[Any], words: Mapping[str, str]) -> pd.Series[Any]:
    texts = _text(values)
    return texts.map({text: words.get(_plain(text), text) for text in texts.dropna().unique()}) if words else texts


def _plain(word: object) -> str:
    """Return a word as it is looked up: 1 and 1.0, Yes and yes are the same."""
    text = str(word).strip().lower()
    return text[:-2] if text.endswith(".0") and text[:-2].lstrip("-").isdigit() else text


def _number_or_text(label: str) -> tuple[int, float, str]:
    """Return a key that sorts numbers by value, before other texts."""
    try:
        return 0, float(label), label
    except ValueError:
        return 1, 0.0, label


def _empty(table: pd.DataFrame) -> Iterator[Problem]:
    for name in ("item", "worker", "run", "round"):
        if name in table and table[name].isna().any():
            rows = counted(int(table[name].isna().sum()), "row")
            first = int(table[name].isna().to_numpy().argmax())
            yield Problem(f"votes: {name}", f"is empty in {rows}, the first is row {first}", "fill it, or drop the row")


def _bad_numbers(table: pd.DataFrame) -> Iterator[Problem]:
    for name, fix in (("round", "number the rounds 0, 1, 2"), ("cost", "give numbers from 0, or leave it empty")):
        if name not in table:
            continue
        numbers = pd.to_numeric(table[name], errors="coerce")
        bad = (numbers.isna() & table[name].notna()) | numbers.lt(0) | (numbers.abs() == np.inf)
        if name == "round":
            bad |= numbers.notna() & (numbers % 1 != 0)
        if bad.any():
            value = table.loc[bad.to_numpy(), name].iloc[0]
            yield Problem(f"votes: {name}", f"{value!r} is no {name} ({counted(int(bad.sum()), 'row')})", fix)


def _contradictions(table: pd.DataFrame, votes: PanelVotes) -> Iterator[Problem]:
    known = pd.DataFrame({"unit": votes.unit, "truth": table["truth"]}).dropna().drop_duplicates()
    twice = known["unit"].duplicated()
    if twice.any():
        item = votes.units["item"].iloc[int(known.loc[twice, "unit"].iloc[0])]
        values = one_of(known.loc[known["unit"].eq(known.loc[twice, "unit"].iloc[0]), "truth"])
        message = f"item {item!r} has several: {values} ({counted(int(twice.sum()), 'such item')})"
        yield Problem("votes: truth", message, "give each item one truth, or name the column of its run")


def _unknown_truth(votes: PanelVotes) -> Iterator[Problem]:
    used, true = np.unique(votes.label[votes.label >= 0]), np.unique(votes.truth[votes.truth >= 0])
    if len(used) and len(true) and not np.intersect1d(used, true).size:
        message = (
            f"holds {one_of([votes.labels[code] for code in true[:5]])}, and no vote has such a label: votes say "
            f"{one_of([votes.labels[code] for code in used[:5]])}"
        )
        fix = "make both the same words, as by labels={'yes': 'true', 'no': 'false'} of from_table"
        yield Problem("votes: truth", message, fix)


def _repeats(table: pd.DataFrame, votes: PanelVotes) -> Iterator[Problem]:
    again = _again(votes, "first")
    if again.any():
        row = table[again].iloc[0]
        message = (
            f"{row['worker']!r} labels item {row['item']!r} a second time ({counted(int(again.sum()), 'such row')})"
        )
        fix = (
            "keep one, as by duplicates='first'; or, if the table has several rounds or runs, name their columns: "
            "round='round', run='run'"
        )
        yield Problem("votes: worker", message, fix)


def _again(votes: PanelVotes, keep: str) -> npt.NDArray[np.bool_]:
    """Return which votes repeat a worker's vote on a unit in one round, but for the one to keep."""
    key = pd.DataFrame({"unit": votes.unit, "worker": votes.worker, "round": votes.round})
    return key.duplicated(keep="last" if keep == "last" else "first").to_numpy()
