"""The final quality score, and the challenger's audit of it; it informs and never decides (rule A10)."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction

from verifyplan.errors import InputError, Problem, SettingsError, one_of
from verifyplan.protocol.records import DIMENSIONS, Dimension

WEIGHTS: dict[Dimension, Decimal] = {
    "approach_soundness": Decimal("0.25"),
    "risk_coverage": Decimal("0.20"),
    "assumption_validity": Decimal("0.15"),
    "integration_feasibility": Decimal("0.15"),
    "unknowns_coverage": Decimal("0.15"),
    "constraint_alignment": Decimal("0.10"),
}
"""The default weights (rule A10); they sum to exactly 1."""

INFORMS = "The score informs and never decides a verdict."
"""The sentence beside every score that is shown."""

MAX_DIGITS = 80
"""Digits of a weight that is written out; 1e9999999 is short to write and long to compute."""

DISPUTED_FROM = 2
"""A dimension is disputed where the two scores differ by so much or more."""


def final_score(scores: Mapping[str, int], weights: Mapping[str, Decimal | str] | None = None) -> int:
    """Return the weighted sum of the six scores, rounded half up, in exact arithmetic.

    `scores` are whole numbers 1-10, one for each dimension. `weights` are decimals (or their text, never binary
    fractions) at least 0 that sum to exactly 1; the default is 25, 20, 15, 15, 15, 10 %. Raises InputError or
    SettingsError listing all that is wrong. Source: rule A10.

    >>> final_score(dict.fromkeys(DIMENSIONS, 7))
    7
    """
    _check_scores(scores)
    exact = check_weights(weights) if weights is not None else {name: Fraction(w) for name, w in WEIGHTS.items()}
    total = sum((exact[name] * scores[name] for name in DIMENSIONS), Fraction(0))
    return int((Decimal(total.numerator) / Decimal(total.denominator)).quantize(Decimal(1), ROUND_HALF_UP))


def check_weights(weights: Mapping[str, Decimal | str]) -> dict[Dimension, Fraction]:
    """Return weights as exact fractions; SettingsError for unknown, missing, negative ones, and a sum that is not 1."""
    problems = _names(weights, "weights")
    exact: dict[str, Fraction] = {}
    for name, weight in weights.items():
        try:
            exact[name] = _exactly(weight)
        except (ValueError, InvalidOperation):
            fix = "give a decimal, or its text such as '0.25'"
            problems.append(Problem(f"weights.{name}", f"{weight!r} is not an exact decimal", fix))
    problems += [Problem(f"weights.{k}", f"{w} is negative", "give 0 or more") for k, w in exact.items() if w < 0]
    if not problems and sum(exact.values()) != 1:
        problems.append(Problem("weights", f"sum to {float(sum(exact.values()))}", "make them sum to exactly 1"))
    if problems:
        raise SettingsError(problems)
    return {name: exact[name] for name in DIMENSIONS}


def _exactly(weight: object) -> Fraction:
    """Return a decimal or its text as a fraction; ValueError for all else, and for numbers that would fill memory."""
    number = Decimal(weight) if isinstance(weight, str | Decimal) else Decimal("NaN")
    if not number.is_finite() or len(number.as_tuple().digits) + abs(int(number.as_tuple().exponent)) > MAX_DIGITS:
        raise ValueError(weight)
    return Fraction(number)


def audit(scores: Mapping[str, int], challenger: Mapping[str, int] | None) -> list[Dimension]:
    """Return the dimensions in which the challenger's scores differ by 2 or more; none if there was no audit.

    Both scores are reported with their reasons and neither wins. Raises InputError for values that are not scores.

    >>> own = dict.fromkeys(DIMENSIONS, 7)
    >>> audit(own, own | {"risk_coverage": 5})
    ['risk_coverage']
    """
    _check_scores(scores)
    if challenger is None:
        return []
    _check_scores(challenger)
    return [name for name in DIMENSIONS if abs(scores[name] - challenger[name]) >= DISPUTED_FROM]


def _check_scores(scores: Mapping[str, int]) -> None:
    problems = _names(scores, "scores")
    for name, score in scores.items():
        if isinstance(score, bool) or not isinstance(score, int) or not 1 <= score <= 10:
            problems.append(Problem(f"scores.{name}", f"{score!r} is not a score", "give a whole number from 1 to 10"))
    if problems:
        raise InputError(problems)


def _names(scores: Mapping[str, object], place: str) -> list[Problem]:
    unknown = [
        Problem(f"{place}.{n}", "is not a dimension", f"use {one_of(DIMENSIONS)}")
        for n in scores
        if n not in DIMENSIONS
    ]
    return unknown + [Problem(f"{place}.{n}", "is missing", "give all six") for n in DIMENSIONS if n not in scores]
