"""Read any long table of labels as the votes of a panel, its columns named by the caller (rules E4, F3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.errors import Problem, SettingsError, TableError, expect, one_of
from verifyplan.frames.bundled import is_bundled
from verifyplan.frames.bundled_votes import votes
from verifyplan.frames.codes import Coded, coded, joined, plain, renamed
from verifyplan.frames.label_words import spelling_problems, truth_word_problems, with_booleans, with_ties
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.own_words import as_truth
from verifyplan.frames.panel_votes import PanelVotes, votes_of_runs
from verifyplan.frames.scores import AgreesWhen, labels_of_scores, threshold_problems
from verifyplan.frames.table_shape import how_to_make_long, one_column_problem
from verifyplan.frames.ties import Ties, ties_problems
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
    run: str | Sequence[str] | None = None,
    cost: str | None = None,
    explanation: str | None = None,
    toward: str | None = None,
    labels: Mapping[Any, str] | None = None,
    duplicates: Duplicates = "refuse",
    threshold: float | None = None,
    agrees_when: AgreesWhen = "at-least",
    ties: Ties | None = None,
) -> PanelVotes:
    """Return any long table of labels, one row a vote, as the votes of a panel; each argument names a column.

    Nothing is guessed: a column that is not named is left out. Labels are compared as text, of which 1 and 1.0 are
    the same and spaces around do not count; booleans, and true and false in any case, are the labels `true` and
    `false`; an empty cell is a vote that was lost.

    Args:
        frame: the table; it is not changed.
        item: what is labelled; several columns, as a list, name it together.
        worker: who gives the label: a model, a person, a set-up; likewise.
        label: the label, of any number of classes.
        truth: the right label of the item, in the words of `label`; empty where it is not known.
        round: the round of the vote, a whole number.
        run: the run, likewise; an item in two runs is labelled twice.
        cost: what the vote cost, in a unit of your own.
        explanation: the worker's words.
        toward: the answer that the vote was pushed toward, in the words of `label`; empty where none was: see `flips`.
        labels: words of the table and the labels they mean, such as `{"yes": "true", "no": "false"}`, for votes and
            truth alike, in any case; None is a lost vote.
        duplicates: what becomes of a worker's second vote on an item in one round and run: `refuse` raises an error,
            `first` and `last` keep one vote, in the order of rows, and `all` keeps each of them.
        threshold: makes labels of scores: `true` from here on, else `false`; `truth` is then booleans, 0 and 1, or true
            and false.
        agrees_when: with `threshold`: scores are `true` that are `at-least` the threshold, or `at-most`.
        ties: how a label `tie` counts, and with `threshold` a score exactly there (else it is `true`), as in
            `from_votes`: `against` and `for` where labels are true and false, `share` between two labels, `lost`.
            Needed where truth is known and never a tie.

    Raises TableError listing every column that is absent, items with two truths, repeated votes, labels or workers
    that differ only in case, and a truth in other words than the votes.

    >>> table = pd.DataFrame(
    ...     {"q": [1, 1, 2], "judge": ["a", "b", "a"], "says": ["cat", "dog", "dog"]}
    ... )
    >>> votes = from_table(table, item="q", worker="judge", label="says")
    >>> votes.labels, votes.workers, len(votes.units)
    (('cat', 'dog'), ('a', 'b'), 2)
    """
    named = {
        "item": item, "worker": worker, "label": label, "truth": truth, "round": round, "run": run, "cost": cost,
        "explanation": explanation, "toward": toward,
    }  # fmt: skip
    used = {name: column for name, column in named.items() if column is not None}
    if threshold is not None:
        frame = _by_threshold(frame, used, threshold, agrees_when, ties)
    return _from_columns(frame, used, labels, duplicates, ties)


def _by_threshold(
    frame: pd.DataFrame, named: Mapping[str, Any], threshold: float, agrees_when: AgreesWhen, ties: Ties | None
) -> pd.DataFrame:
    """Return a copy of a table whose labels are true, false and tie, its truth true and false.

    TableError for what has no side.
    """
    expect(frame, pd.DataFrame, "votes", "read the file first, by pandas.read_csv or pandas.read_parquet")
    problems = [*threshold_problems(threshold, agrees_when), *ties_problems(ties), *_absent(frame, named)]
    if problems:
        raise TableError(problems)
    labels, problems = labels_of_scores(frame[named["label"]], threshold, agrees_when, ties)
    changed = {named["label"]: labels}
    if "truth" in named:
        try:
            truth = as_truth(frame[named["truth"]], "votes: truth")
            changed[named["truth"]] = truth.astype("object").map({True: "true", False: "false"})
        except TableError as error:
            problems += error.problems
    if problems:
        raise TableError(problems)
    return frame.assign(**changed)


def as_panel_votes(
    data: pd.DataFrame | PanelVotes | Runs,
    columns: Mapping[str, Any],
    duplicates: Duplicates = "refuse",
    *,
    verdicts: bool = False,
    words: bool = False,
) -> PanelVotes:
    """Return votes of a panel from what an analysis takes: such votes, runs, a long table, or a bundled table's name.

    `columns` are the analysis' arguments that name columns. Of a table those that are None have the argument's own
    name, where there is such a column: `item`, `worker`, `label`, `truth`, `round`, `run`, `cost`, `explanation`,
    and `toward` where `columns` has it. Of a table, `duplicates` is that of `from_table`; of runs, `verdicts` and
    `words` are those of `votes_of_runs`.
    """
    if isinstance(data, str) and data in VOTE_TABLES and is_bundled(data):
        data = votes(data)
    if isinstance(data, pd.DataFrame):
        names = {name: columns.get(name) or name for name in (*_NEEDED, *_OPTIONAL, *columns)}
        wanted = {name: column for name, column in names.items() if columns.get(name) or column in data}
        return _from_columns(data, {**{name: names[name] for name in _NEEDED}, **wanted}, None, duplicates)
    named = [name for name, column in columns.items() if column is not None]
    if named:
        fix = "leave it out, or give a table"
        raise TableError(Problem(name, "names a column, and only a table has columns", fix) for name in named)
    return data if isinstance(data, PanelVotes) else votes_of_runs(as_runs(data), verdicts=verdicts, words=words)


def _from_columns(
    frame: pd.DataFrame,
    named: Mapping[str, Any],
    meanings: Mapping[Any, str] | None,
    duplicates: Duplicates,
    ties: Ties | None = None,
) -> PanelVotes:
    if duplicates not in get_args(Duplicates):
        fix = f"use {one_of(get_args(Duplicates))}"
        raise SettingsError(Problem("duplicates", f"{duplicates!r} is not a policy", fix))
    expect(frame, pd.DataFrame, "votes", "read the file first, by pandas.read_csv or pandas.read_parquet")
    words, problems = _own_words(meanings)
    problems += _absent(frame, named)
    if not problems and not len(frame):
        problems.append(Problem("votes", "the table has no rows", "give at least one vote"))
    if problems:
        raise TableError(problems)
    names, problems = _names(frame, {key: named[key] for key in _NAMES if key in named})
    numbers = {key: frame[named[key]].reset_index(drop=True) for key in ("round", "cost") if key in named}
    problems += [*_empty(names), *_bad_numbers(numbers)]
    if problems:
        raise TableError(problems)
    names |= {key: with_booleans(renamed(names[key], words)) for key in ("label", "truth", "toward") if key in names}
    votes = _votes(names, numbers)
    words_of_votes = frame[named["explanation"]].reset_index(drop=True) if "explanation" in named else None
    votes = replace(
        votes,
        explanation=words_of_votes,
        synthetic=bool(frame.attrs.get("synthetic", False)),
        ties=(frame.attrs["ties"],) if frame.attrs.get("ties") else (),
    )
    votes = votes if votes.ties and ties is None else with_ties(votes, ties)
    again = _again(votes, "first" if duplicates == "refuse" else duplicates)
    problems = [*_contradictions(names, votes), *spelling_problems(names, meanings, named)]
    if not problems:
        problems += truth_word_problems(votes, meanings)
    if duplicates == "refuse":
        problems += _repeats(votes, again)
    if problems:
        raise TableError(problems)
    return votes.take(~again) if again.any() else votes


_NAMES = ("item", "worker", "run", "label", "truth", "toward")


def _names(frame: pd.DataFrame, named: Mapping[str, Any]) -> tuple[dict[str, Coded], list[Problem]]:
    """Return the columns of names as codes, and those that hold no names."""
    columns: dict[str, Coded] = {}
    problems: list[Problem] = []
    for key, name in named.items():
        try:
            parts = [coded(frame[part]) for part in _several(name)]
            columns[key] = parts[0] if len(parts) == 1 else joined(parts)
        except TypeError:
            fix = "give texts, numbers or booleans"
            problems.append(Problem(f"votes: {key}", "holds lists or other values that are not names", fix))
    return columns, problems


def _votes(names: Mapping[str, Coded], numbers: Mapping[str, pd.Series[Any]]) -> PanelVotes:
    item, worker, label = (names[key] for key in _NEEDED)
    nothing = np.full(len(item.codes), -1)
    run = names.get("run", Coded(nothing + 1, ["all"]))
    truth = names.get("truth", Coded(nothing, []))
    unit, pairs = pd.factorize(run.codes * len(item.names) + item.codes)
    labels = sorted({*label.names, *truth.names}, key=_number_or_text)
    code = {name: position for position, name in enumerate(labels)}
    truth_of_unit = np.full(len(pairs), -1)
    known = np.flatnonzero(truth.codes >= 0)[::-1]  # backwards, so that of several the first counts
    truth_of_unit[unit[known]] = truth.codes[known]
    true_label = np.array([*(code[name] for name in truth.names), -1])[truth_of_unit]
    given = names.get("toward")
    toward = None if given is None else np.array([*(code.get(name, -2) for name in given.names), -1])[given.codes]
    by_name = np.argsort(np.array(worker.names, dtype="object"), kind="stable")
    units = {
        "run": np.array(run.names, dtype="object")[pairs // len(item.names)],
        "item": np.array(item.names, dtype="object")[pairs % len(item.names)],
        "truth": np.array([*labels, None], dtype="object")[true_label],
    }
    return PanelVotes(
        labels=tuple(labels),
        workers=tuple(worker.names[position] for position in by_name),
        units=pd.DataFrame({name: pd.array(values, dtype="str") for name, values in units.items()}),
        unit=unit.astype(np.int64),
        worker=np.argsort(by_name)[worker.codes],
        label=np.array([*(code[name] for name in label.names), -1], dtype=np.int64)[label.codes],
        round=pd.to_numeric(numbers["round"]).to_numpy(dtype=np.int64) if "round" in numbers else nothing + 2,
        truth=true_label.astype(np.int64),
        toward=toward,
        cost=pd.to_numeric(numbers["cost"]).to_numpy(np.float64, na_value=np.nan) if "cost" in numbers else None,
    )


def _own_words(meanings: Mapping[Any, str] | None) -> tuple[dict[str, str], list[Problem]]:
    """Return the label of each of the caller's words, the empty text for a lost vote, and what is wrong with them."""
    if meanings is not None and not isinstance(meanings, Mapping):
        fix = "write each word and its label, as {'yes': 'true'}"
        return {}, [Problem("votes: labels", f"is a {type(meanings).__name__}, not a mapping", fix)]
    words: dict[str, str] = {}
    problems: list[Problem] = []
    for word, label in (meanings or {}).items():
        meant = "" if label is None else str(label).strip()
        if words.setdefault(plain(word), meant) != meant:
            message = f"means {meant!r} and, in another spelling, {words[plain(word)]!r}"
            fix = "give each word one label; case and spaces do not matter"
            problems.append(Problem(f"votes: labels[{word!r}]", message, fix))
    return words, problems


def _several(name: Any) -> list[Any]:
    """Return the columns that an argument names, one or a list."""
    return list(name) if isinstance(name, list | tuple) else [name]


def _absent(frame: pd.DataFrame, named: Mapping[str, Any]) -> Iterator[Problem]:
    if problem := one_column_problem(frame):
        yield problem
        return
    counts, used = Counter(frame.columns), [each for name in named.values() for each in _several(name)]
    pairs = ((key, each) for key, name in named.items() for each in _several(name) or [""])
    for argument, name in pairs:
        count = counts[name]
        if count != 1:
            near = did_you_mean(name, frame.columns)
            message = f"there are {count} columns {name!r}" if count else f"there is no column {name!r}{near}"
            long = how_to_make_long(frame, used, "label") if argument == "worker" and not count else ""
            fix = f"name one of its columns: {one_of(frame.columns[:20])}{long}"
            yield Problem(f"votes: {argument}", message, fix)


def _number_or_text(label: str) -> tuple[int, float, str]:
    """Return a key that sorts numbers by value, before other texts."""
    try:
        number = float(label)
    except ValueError:
        number = np.nan
    return (0, number, label) if np.isfinite(number) else (1, 0.0, label)


def _empty(names: Mapping[str, Coded]) -> Iterator[Problem]:
    for key in ("item", "worker", "run"):
        empty = names[key].codes < 0 if key in names else np.zeros(0, dtype=bool)
        if empty.any():
            message = f"is empty in {counted(int(empty.sum()), 'row')}, the first is row {int(empty.argmax())}"
            yield Problem(f"votes: {key}", message, "fill it, or drop the row")


def _bad_numbers(columns: Mapping[str, pd.Series[Any]]) -> Iterator[Problem]:
    fixes = {"round": "number the rounds 0, 1, 2", "cost": "give numbers from 0, or leave it empty"}
    for name, values in columns.items():
        numbers = pd.to_numeric(values, errors="coerce").to_numpy(np.float64, na_value=np.nan)
        bad = (np.isnan(numbers) & values.notna().to_numpy()) | (numbers < 0) | np.isinf(numbers)
        if name == "round":
            bad |= np.isnan(numbers) | (numbers % 1 != 0) | (numbers >= 2**31)
        if bad.any():
            message = f"{one_of([values[int(bad.argmax())]])} is not a {name} ({counted(int(bad.sum()), 'row')})"
            yield Problem(f"votes: {name}", message, fixes[name])


def _contradictions(names: Mapping[str, Coded], votes: PanelVotes) -> Iterator[Problem]:
    if "truth" not in names:
        return
    truth = names["truth"]
    first = np.full(len(votes.units), -1)
    known = np.flatnonzero(truth.codes >= 0)
    first[votes.unit[known[::-1]]] = truth.codes[known[::-1]]
    units = np.unique(votes.unit[known[truth.codes[known] != first[votes.unit[known]]]])
    if len(units):
        values = np.unique(truth.codes[known[votes.unit[known] == units[0]]])
        message = (
            f"item {votes.units['item'].iloc[units[0]]!r} has several: {one_of(truth.names[code] for code in values)} "
            f"({counted(len(units), 'such item')})"
        )
        yield Problem("votes: truth", message, "give each item one truth, or name the column of its run")


def _repeats(votes: PanelVotes, again: npt.NDArray[np.bool_]) -> Iterator[Problem]:
    if again.any():
        vote = int(again.argmax())
        worker, item = votes.workers[votes.worker[vote]], votes.units["item"].iloc[votes.unit[vote]]
        message = f"{worker!r} labels item {item!r} a second time ({counted(int(again.sum()), 'such row')})"
        fix = (
            "name the column of the round or run, as round='round' or run='run'; if the table holds several conditions "
            "(modes, prompts), make votes of each: "
            "{name: from_table(rows, ...) for name, rows in table.groupby('condition')}; "
            "only if a vote really is there twice, keep one: duplicates='first'"
        )
        yield Problem("votes: worker", message, fix)


def _again(votes: PanelVotes, keep: str) -> npt.NDArray[np.bool_]:
    """Return which votes repeat a worker's vote on a unit in one round, but for the one to keep; none to keep all."""
    if keep == "all":
        return np.zeros(len(votes), dtype=bool)
    rounds, distinct = pd.factorize(votes.round)
    key = (votes.unit * len(votes.workers) + votes.worker) * len(distinct) + rounds
    return pd.Series(key).duplicated(keep="last" if keep == "last" else "first").to_numpy()
