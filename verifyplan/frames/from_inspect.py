"""Read the scores in logs of Inspect AI as the votes of a panel (rules E4, F3)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.errors import Problem, SettingsError, TableError, one_of
from verifyplan.frames.from_table import from_table
from verifyplan.frames.inspect_logs import Address, InspectLog, Sample, read_inspect_logs
from verifyplan.frames.panel_votes import PanelVotes
from verifyplan.text import did_you_mean

Voter = Literal["scorer", "epoch", "model"]
_OF_SCORE = ("value", "answer", "explanation")
_NUMBERS = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def from_inspect(
    path: Address | Iterable[Address],
    *,
    worker: Voter | Sequence[Voter] = "scorer",
    scorers: str | Sequence[str] | None = None,
    panel: str | None = None,
    label: Literal["value", "answer"] = "value",
    truth: str | None = None,
    threshold: float | None = None,
) -> PanelVotes:
    """Return the scores in logs of Inspect AI (`.eval`, `.json`) as the votes of a panel; Inspect is not needed.

    A sample is an item, and by default each scorer a worker, whose label is the value of its score: `C`, `I`, `P`,
    `N`, or a number. An epoch, and each log of another model, is a run in which the items are judged again. A
    score that is missing or NaN is a lost vote. Values of a scorer that are dictionaries or lists count as several
    scorers, `name/key`. A log that has not ended is read as far as it got.

    Args:
        path: a log, a folder or glob of logs, an fsspec address, or a list of these.
        worker: who votes: `scorer`; or `epoch` or `model`, whose answers are then compared; or several of them.
        scorers: the scorers that count, by name; all of them by default, and exactly one where none is a worker.
        panel: a scorer with several graders, each of which is a worker in its place; Inspect records their grades
            where it reduces them by "majority", its default.
        label: `value`, or `answer`: what the scorer took to be the model's answer.
        truth: the scorer that has the truth, by name, such as people's labels, which is then no worker; or `target`,
            the target of the sample, which is the truth of answers.
        threshold: makes labels of numbers: `C` from here on, else `I`. `C`, `P`, `I` and `N` are 1, 0.5, 0 and 0 then,
            as in Inspect.

    Raises InputError for files that cannot be read; SettingsError for arguments, and TableError for values, that do not
    fit, with all problems.

    >>> from_inspect("logs/no-such-log.eval")
    Traceback (most recent call last):
    verifyplan.errors.InputError: logs/no-such-log.eval: is not there. Fix: name a file, a folder, ...
    """
    voters = [worker] if isinstance(worker, str) else list(worker)
    wanted = [scorers] if isinstance(scorers, str) else scorers
    problems = list(_bad_arguments(voters, label, threshold))
    if problems:
        raise SettingsError(problems)
    logs = read_inspect_logs(path)
    tables = [_rows(log, run, panel) for log, run in zip(logs, _runs(logs, voters), strict=True)]
    rows = pd.concat(tables, ignore_index=True)
    if rows.empty:
        raise TableError(Problem("path", "the logs hold no scores", "score them first, as by `inspect score`"))
    known = list(rows["scorer"].drop_duplicates())
    graders = [name for name in known if name.startswith(f"{panel}: ")]
    chosen = [name for name in known if (wanted is None or name in [*wanted, *graders]) and name != truth]
    problems = list(_unknown_scorers([*(wanted or []), *([truth] if truth else [])], panel, known, graders))
    if not problems and (not chosen or ("scorer" not in voters and len(chosen) > 1)):
        message = f"{len(chosen)} are left, and scorers are not the workers here" if chosen else "none is left to vote"
        problems.append(Problem("scorers", message, f"name one of {one_of(known)}"))
    if problems:
        raise SettingsError(problems)
    votes = rows[rows["scorer"].isin(chosen)]
    labels = votes["answer"] if label == "answer" else _labels(votes, threshold)
    several_epochs = "epoch" not in voters and votes["epoch"].nunique() > 1
    return from_table(
        votes.assign(label=labels, truth=_truth(rows, votes, truth, label, threshold)),
        item=["task", "sample"] if votes["task"].nunique() > 1 else "sample",
        worker=voters,
        run=["run", "epoch"] if several_epochs else "run",
        label="label",
        explanation="explanation",
        truth=None if truth is None else "truth",
    )


def _truth(rows: pd.DataFrame, votes: pd.DataFrame, truth: str | None, label: str, threshold: float | None) -> Any:
    """Return the truth of each vote: the target of its sample, or what a scorer says of it."""
    if truth is None or truth == "target":
        return votes["target"] if truth else None
    key = ["log", "sample", "epoch"]
    right = rows[rows["scorer"].eq(truth)].set_index(key)
    values = right["answer"] if label == "answer" else _labels(right, threshold)
    return values.reindex(pd.MultiIndex.from_frame(votes[key])).to_numpy()


def _rows(log: InspectLog, run: str, panel: str | None) -> pd.DataFrame:
    """Return a row for each sample and scorer of a log; a scorer that gave no score has no value."""
    graders = _graders(log, panel)
    scores = [_flat(log, sample, panel, graders) for sample in log.samples]
    names = list(dict.fromkeys(name for each in scores for name in each))
    nothing: Sample = {}
    found = [each.get(name, nothing) for each in scores for name in names]
    ids = [str(sample["id"]) for sample in log.samples]
    targets = [sample.get("target") for sample in log.samples]
    right = [each if isinstance(each, str) else "; ".join(map(str, each or [])) for each in targets]
    rows = {name: np.array([score.get(name) for score in found], dtype="object") for name in _OF_SCORE}
    columns: dict[str, Any] = {
        "sample": _repeated(ids, len(names)),
        "epoch": _repeated([f"epoch {sample['epoch']}" for sample in log.samples], len(names)),
        "target": _repeated(right, len(names)),
        "scorer": _categories(np.tile(np.arange(len(names)), len(scores)), names),
        **{name: pd.Series(values, dtype="object") for name, values in rows.items()},
    }
    facts = {"task": str(log.spec.get("task")), "model": str(log.spec.get("model")), "log": log.path, "run": run}
    same = {name: _categories(np.zeros(len(found), dtype=np.int8), [fact]) for name, fact in facts.items()}
    return pd.DataFrame({**columns, **same})


def _repeated(texts: list[str], times: int) -> Any:
    return pd.Series(np.repeat(np.array(texts, dtype="object"), times), dtype="object")


def _categories(codes: npt.NDArray[Any], names: list[Any]) -> Any:
    return pd.Categorical.from_codes(codes, dtype=pd.CategoricalDtype(names))


def _flat(log: InspectLog, sample: Sample, panel: str | None, graders: Sequence[str]) -> dict[str, Sample]:
    """Return the scores of a sample by name: a value of several parts is several, a panel is its graders."""
    scores: dict[str, Sample] = {}
    for name, score in (sample.get("scores") or {}).items():
        value = score.get("value")
        if name == panel:
            votes = _panel_of(log, sample, name)
            scores |= {f"{panel}: {who}": {"value": vote} for who, vote in zip(graders, votes, strict=False)}
        elif isinstance(value, dict | list):
            parts = value.items() if isinstance(value, dict) else enumerate(value)
            scores |= {f"{name}/{key}": {**score, "value": part} for key, part in parts}
        else:
            scores[name] = score
    return scores


def _panel_of(log: InspectLog, sample: Sample, name: str) -> list[Any]:
    """Return the grades of a panel, from the whole sample where its summary has them no more."""
    recorded = ((sample["scores"][name].get("metadata")) or {}).get("panel")
    if isinstance(recorded, str):
        recorded = (log.whole(sample)["scores"][name].get("metadata") or {}).get("panel")
    votes = recorded.get("votes") if isinstance(recorded, dict) else None
    return votes if isinstance(votes, list) else []


def _graders(log: InspectLog, panel: str | None) -> list[str]:
    """Return the models of a panel, from the scorer's options or the roles of models; numbers where unknown."""
    if panel is None:
        return []
    size = max(
        (len(_panel_of(log, each, panel)) for each in log.samples if panel in (each.get("scores") or {})), default=0
    )
    options = [each.get("options") or {} for each in log.spec.get("scorers") or [] if each.get("name") == panel]
    roles = log.spec.get("model_roles") or {}
    listed = [options[0].get("model") if options else None, *roles.values()]
    models = next(
        (each for each in listed if isinstance(each, list) and len(each) == size),
        [f"grader {n + 1}" for n in range(size)],
    )
    names = [str(each.get("model")) if isinstance(each, dict) else str(each) for each in models]
    repeated = Counter(names)
    return [f"{name}#{names[:n].count(name)}" if repeated[name] > 1 else name for n, name in enumerate(names)]


def _runs(logs: Sequence[InspectLog], voters: Sequence[str]) -> list[str]:
    """Return the run of each log: its task and model, and its file where several logs have the same."""
    keys = [(str(log.spec.get("task")), str(log.spec.get("model"))) for log in logs]
    files = [PurePosixPath(log.path).name for log in logs]
    files = files if len(set(files)) == len(files) else [log.path for log in logs]
    repeated = Counter(keys)
    return [
        "/".join([task, *([] if "model" in voters else [model]), *([file] if repeated[task, model] > 1 else [])])
        for file, (task, model) in zip(files, keys, strict=True)
    ]


def _bad_arguments(voters: Sequence[str], label: str, threshold: object) -> Iterator[Problem]:
    allowed = {"worker": get_args(Voter), "label": ("value", "answer")}
    for name, value in [*(("worker", voter) for voter in voters or [""]), ("label", label)]:
        if value not in allowed[name]:
            message = f"{value!r} is not allowed{did_you_mean(str(value), allowed[name])}"
            yield Problem(name, message, f"use {one_of(allowed[name])}")
    number = isinstance(threshold, int | float) and not isinstance(threshold, bool) and not math.isnan(threshold)
    if threshold is not None and not number:
        yield Problem("threshold", f"must be a number, got {threshold!r}", "give one, such as 0.5")


def _unknown_scorers(
    asked: Sequence[str], panel: str | None, known: Sequence[str], graders: Sequence[str]
) -> Iterator[Problem]:
    names = [name for name in known if name not in graders]
    for name in asked:
        if name not in known and name != "target" and not (name == panel and graders):
            fix = f"use {one_of(names)}"
            yield Problem("scorers", f"there is no scorer {name!r}{did_you_mean(str(name), names)}", fix)
    if panel is not None and not graders:
        fix = "name a scorer of several models whose reducer is 'majority', or leave it out"
        yield Problem("panel", f"scorer {panel!r} has no grades of single graders", fix)


def _labels(votes: pd.DataFrame, threshold: float | None) -> pd.Series[Any]:
    """Return the label of each value; TableError where some scorers use numbers and others words."""
    values = votes["value"]
    if threshold is not None:
        numbers = values.map(_number)
        bad = numbers.isna() & values.notna()
        if bad.any():
            who, value = votes.loc[bad, ["scorer", "value"]].iloc[0]
            message = f"{who!r} has {value!r}, which is not a number ({int(bad.sum())} such)"
            raise TableError(Problem("threshold", message, "name other scorers, or leave the threshold out"))
        return numbers.ge(threshold).map({True: "C", False: "I"}).where(values.notna())
    word = values[values.notna()].map(lambda value: isinstance(value, str)).astype(bool)
    if word.any() and not word.all():
        one, other = (votes.loc[word.index[mask], "scorer"].iloc[0] for mask in (word, ~word))
        fix = "name those of one kind, or make labels of both by threshold=0.5"
        raise TableError(Problem("scorers", f"{one!r} scores in words and {other!r} in numbers", fix))
    return values


def _number(value: Any) -> float:
    """Return a value as Inspect's metrics read it; NaN for one that is missing or no number."""
    text = str(value).strip().lower()
    try:
        return _NUMBERS[text] if text in _NUMBERS else float(value)
    except (TypeError, ValueError):
        return math.nan
