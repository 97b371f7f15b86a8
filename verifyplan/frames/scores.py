"""Read scores as sides of a threshold: probabilities and grades as verdicts or labels (rules E4, B7)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.errors import Problem, one_of
from verifyplan.frames.ties import TIE, Ties
from verifyplan.text import counted, did_you_mean

AgreesWhen: TypeAlias = Literal["at-least", "at-most"]
"""Which scores agree: those at the threshold and above, or at it and below."""


def score_problems(
    verdict: object, score: object, threshold: object, agrees_when: object, verdicts: object
) -> Iterator[Problem]:
    """Yield what is wrong with the arguments of `from_votes` that say where verdicts come from."""
    if (verdict is None) == (score is None):
        message = "neither names a column" if verdict is None else "both name a column"
        yield Problem("votes: verdict, score", message, "name the column of verdicts, or that of scores")
    if score is None and threshold is not None:
        yield Problem("votes: threshold", "goes with scores", "name their column by score=, or leave it out")
    if score is not None and verdicts is not None:
        fix = "leave it out: scores become verdicts by threshold"
        yield Problem("votes: verdicts", "goes with a column of verdicts, not of scores", fix)
    if score is not None:
        yield from threshold_problems(threshold, agrees_when)


def threshold_problems(threshold: object, agrees_when: object) -> Iterator[Problem]:
    """Yield what is wrong with a threshold and its side."""
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not math.isfinite(threshold):
        yield Problem("votes: threshold", f"must be a number, got {threshold!r}", "say where agreeing begins, as 0.5")
    if agrees_when not in get_args(AgreesWhen):
        near = did_you_mean(str(agrees_when), get_args(AgreesWhen))
        yield Problem(
            "votes: agrees_when", f"{agrees_when!r} is not allowed{near}", f"use {one_of(get_args(AgreesWhen))}"
        )


def sides(
    values: pd.Series[Any], threshold: float, agrees_when: AgreesWhen, place: str, words: tuple[str, str, str | None],
    ties: Ties | None = None,
) -> tuple[pd.Series[Any], list[Problem]]:  # fmt: skip
    """Return the word of each score (agrees, does not, missing), and what is wrong with them.

    A score at the threshold agrees, unless `ties` are read in a way of their own: then it is a tie.

    A column of single precision holds 0.7 as 0.69999999, so the threshold is rounded as its scores were.
    """
    stored = getattr(values.dtype, "numpy_dtype", values.dtype)
    if stored in (np.float16, np.float32):
        with np.errstate(over="ignore"):  # beyond all scores it is infinite, with all of them on one side
            threshold = float(stored.type(threshold))
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    texts = values.astype("str").str.strip() if values.dtype in ("object", "str") else None
    missing = values.isna().to_numpy() | (
        texts.eq("").fillna(False).to_numpy(dtype=bool) if texts is not None else False
    )
    bad = (np.isnan(numbers) | np.isinf(numbers)) & ~missing
    problems = []
    if bad.any():
        row = int(bad.argmax())
        where = f"row {values.index[row]} (index)"
        message = f"{one_of([values.iloc[row]])} in {where} is not a number ({counted(int(bad.sum()), 'row')})"
        problems.append(Problem(place, message, "give numbers, or leave the cell of a lost vote empty"))
    problems += _wrong_scale(numbers[~missing & ~bad], threshold)
    agree = numbers >= threshold if agrees_when == "at-least" else numbers <= threshold
    chosen = np.where(agree, words[0], words[1]).astype("object")
    if ties is not None:
        chosen[numbers == threshold] = TIE
    chosen[missing] = words[2]
    return pd.Series(chosen, index=values.index), problems


def _wrong_scale(scores: npt.NDArray[np.float64], threshold: float) -> Iterator[Problem]:
    """Yield that a threshold is beyond probabilities: all votes would say the same, as if the panel agreed."""
    low, high = scores.min(initial=np.inf), scores.max(initial=-np.inf)
    if 0 <= low < high <= 1 and not 0 <= threshold <= 1:
        message = f"is {threshold:g}, but all scores are from {low:.3g} to {high:.3g}, so that all would say the same"
        fix = (
            f"give it on the scale of the scores, as {threshold / 100:g}" if 1 < threshold <= 100 else "give one within"
        )
        yield Problem("votes: threshold", message, fix)


def labels_of_scores(
    values: pd.Series[Any], threshold: float, agrees_when: AgreesWhen, ties: Ties | None = None
) -> tuple[pd.Series[Any], list[Problem]]:
    """Return each score as the label `true` or `false`, None where there is none, `tie` where `ties` are read apart."""
    return sides(values, threshold, agrees_when, "votes: label", ("true", "false", None), ties)


def verdicts_of_scores(
    values: pd.Series[Any], threshold: float, agrees_when: AgreesWhen, ties: Ties | None = None
) -> tuple[pd.Series[Any], list[Problem]]:
    """Return the verdict of each score: agree or disagree, verification-error where there is none.

    >>> verdicts_of_scores(pd.Series([0.5, 0.4, None]), 0.5, "at-least")[0].tolist()
    ['agree', 'disagree', 'verification-error']
    >>> verdicts_of_scores(pd.Series([0.5, 0.4]), 0.5, "at-least", "lost")[0].tolist()
    ['tie', 'disagree']
    """
    return sides(values, threshold, agrees_when, "votes: score", ("agree", "disagree", "verification-error"), ties)
