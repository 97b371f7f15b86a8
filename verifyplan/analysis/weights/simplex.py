"""Weights: checked, preset, moved against each other, written as decimals; they sum to exactly 1 (rules A10, F4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

import pandas as pd

from verifyplan.errors import Problem, SettingsError, expect_lists, one_of
from verifyplan.protocol import weights_file
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.protocol.weights_file import load as load
from verifyplan.rules.scoring import WEIGHTS
from verifyplan.text import did_you_mean, short_repr

Weight: TypeAlias = Decimal | str | Fraction | float
Weights: TypeAlias = "Mapping[str, Weight] | pd.Series[Any]"


@runtime_checkable
class FittedWeights(Protocol):
    """A fit of weights, as `fit` returns it."""

    @property
    def ranges(self) -> Mapping[str, tuple[float, float]]:
        """The ends of each dimension between which it was rescaled."""

    def exact(self) -> Mapping[str, Decimal]:
        """Return the weight of each dimension that was fitted; they sum to exactly 1."""


WeightsOfScores: TypeAlias = "Weights | FittedWeights | str | PathLike[str] | None"
"""Weights for the dimensions of some scores: `equal` for each the same, the path of a weights file, or None for the
default ones of rule A10."""
Exact: TypeAlias = dict[str, Fraction]

TOLERANCE = Fraction(1, 10**9)
"""Binary fractions may miss a sum of 1 by so much; they are then divided by their sum."""

SAVED_PLACES = 10
"""Places of numbers that are saved as decimals."""
MAX_DIGITS = 400
"""No weight has more digits than this, or an exponent beyond it."""

_EXAMPLE = "give a decimal such as '0.25', or a number from 0 to 1"


def presets(dimensions: Iterable[str] | None = None) -> dict[str, dict[str, Decimal]]:
    """Return weights to start from: `equal`, for any dimensions, and `default` (25, 20, 15, 15, 15, 10 %) for the six.

    Each sums to exactly 1. Sixths have no end as decimals: `equal` for the six dimensions of rule A10 is 0.1667 four
    times and 0.1666 twice. Other dimensions have no default weights. `apply`, `sensitivity`, `rank_stability` and
    `stability_measures` also take `weights="equal"`, which is exact. Weights change a score, which informs and never
    decides a verdict.

    >>> presets()["equal"]["risk_coverage"], sum(presets()["equal"].values())
    (Decimal('0.1667'), Decimal('1.0000'))
    >>> presets(["wit", "depth"])
    {'equal': {'wit': Decimal('0.5000'), 'depth': Decimal('0.5000')}}
    """
    expect_lists(dimensions=dimensions)
    names = list(DIMENSIONS if dimensions is None else dict.fromkeys(dimensions))
    if not names:
        raise SettingsError(
            Problem("dimensions", "must name at least one dimension, got none", "name the columns of your scores")
        )
    equal = to_decimals(dict.fromkeys(names, Fraction(1, len(names))))
    default: dict[str, Decimal] = {name: WEIGHTS[name] for name in DIMENSIONS}
    return {"default": default, "equal": equal} if set(names) == set(DIMENSIONS) else {"equal": equal}


def to_decimals(weights: Weights, places: int = 4) -> dict[str, Decimal]:
    """Return weights as decimals of so many places that sum to exactly 1; what rounding leaves is shared out.

    Each is rounded down, and the units that are then missing go to those that lost most (largest remainder; ties
    in the order given), so no weight is off by a whole unit. Raises SettingsError as `apply` does.

    >>> to_decimals({"wit": 2 / 3, "depth": 1 / 3}, places=2)
    {'wit': Decimal('0.67'), 'depth': Decimal('0.33')}
    """
    if isinstance(places, bool) or not isinstance(places, int) or not 0 <= places <= 15:
        raise SettingsError(Problem("places", f"{places!r} is out of range", "give a whole number from 0 to 15"))
    exact = checked(weights, None)
    units = {name: weight * 10**places for name, weight in exact.items()}
    down = {name: int(unit) for name, unit in units.items()}
    due = sorted(units, key=lambda name: down[name] - units[name])
    for name in due[: 10**places - sum(down.values())]:
        down[name] += 1
    return {name: Decimal(unit).scaleb(-places) for name, unit in down.items()}


def save(weights: Weights | FittedWeights, path: str | Path) -> Path:
    """Write weights or a fit of weights as a file that `load` takes, and return its path.

    Give a fit itself, not its numbers (`.exact()`): the file gets the ranges of its dimensions, too, so that `apply`
    does the same with the file as with the fit.

    `verify(weights=...)` takes it, too, if they are of its six dimensions: `{"version": 1, "weights":
    {"approach_soundness": "0.25", ...}}`. Decimals and their texts are written as given ("0.250" stays so), other
    numbers as decimals of at most 10 places that sum to exactly 1 (see `to_decimals`), in the order of rule A10 or, for
    other dimensions, in that of the mapping. The file is written whole or not at all. The score informs and never
    decides a verdict. Raises InputError listing all that is wrong, before anything is written, and where the path
    cannot be written.

    >>> from tempfile import mkdtemp
    >>> path = save({"wit": "0.5", "depth": "0.5"}, mkdtemp() + "/weights.json")
    >>> load(path)
    {'wit': Decimal('0.5'), 'depth': Decimal('0.5')}
    >>> load(save({"wit": 0.4, "depth": 0.6}, path))
    {'wit': Decimal('0.4'), 'depth': Decimal('0.6')}
    """
    ranges = None
    if isinstance(weights, FittedWeights):
        ranges = weights.ranges
        weights = dict(weights.exact())
    if isinstance(weights, pd.Series):
        weights = {str(name): weight for name, weight in weights.items()}
    if isinstance(weights, Mapping) and any(isinstance(each, Fraction | float | Integral) for each in weights.values()):
        decimals = to_decimals(weights, SAVED_PLACES)
        weights = {name: weight.normalize() for name, weight in decimals.items()}
    return weights_file.save(weights, path, ranges)  # type: ignore[arg-type]


def rebalance(weights: Weights, dimension: str, to: Weight, *, locked: Iterable[str] = ()) -> Exact:
    """Return weights after one of them was moved: the others give way in proportion, and the sum stays exactly 1.

    `to` is cut to what is possible: from 0 to 1 less the `locked` weights, which stay as they are. Where all that
    could give way are 0, they share evenly; where none is left to give way, the weight takes what the locked ones
    leave. Fractions are exact, so that moving there and back loses nothing. What is returned has no ranges: moved
    weights of a fit, or of a file with ranges, weigh scores as given. Raises SettingsError for invalid weights, and for
    a dimension that does not exist or is locked itself.

    >>> rebalance({"wit": "0.5", "depth": "0.3", "length": "0.2"}, "wit", "0.75")
    {'wit': Fraction(3, 4), 'depth': Fraction(3, 20), 'length': Fraction(1, 10)}
    """
    expect_lists(locked=locked)
    exact, fixed = checked(weights, None), set(locked)
    problems = [
        Problem("locked" if name != dimension else "dimension", f"{name!r} has no weight", f"use {one_of(exact)}")
        for name in dict.fromkeys([dimension, *sorted(fixed, key=str)])
        if name not in exact
    ]
    if dimension in fixed:
        problems.append(Problem("dimension", f"{dimension!r} is locked", "unlock it, or move another"))
    wanted = _parsed(to)
    if wanted is None:
        problems.append(Problem("to", f"must be a number from 0 to 1, got {short_repr(to)}", _EXAMPLE))
    if problems or wanted is None:
        raise SettingsError(problems)
    return moved(exact, dimension, wanted, fixed)


def moved(exact: Exact, dimension: str, to: Fraction, locked: Iterable[str] = ()) -> Exact:
    """Return what `rebalance` does, for weights that were checked."""
    fixed = set(locked)
    free = [name for name in exact if name != dimension and name not in fixed]
    most = 1 - sum((exact[name] for name in fixed), Fraction(0))
    weight = min(max(to, Fraction(0)), most) if free else most
    before = sum((exact[name] for name in free), Fraction(0))
    rest = most - weight
    shares = {name: exact[name] / before if before else Fraction(1, len(free)) for name in free}
    new = {dimension: weight, **{name: rest * share for name, share in shares.items()}}
    return {name: new.get(name, old) for name, old in exact.items()}


def checked(weights: WeightsOfScores, dimensions: Sequence[str] | None) -> Exact:
    """Return weights as exact fractions in the order of `dimensions` (None: of any); SettingsError lists all problems.

    None means the default weights of the six dimensions, `equal` the same weight for each of `dimensions`. Decimals,
    their texts, whole numbers and fractions must sum to exactly 1; where one is a binary fraction, all may miss it by
    1e-9 and are divided by their sum.
    """
    expect_lists(dimensions=dimensions)
    if isinstance(weights, str) and weights == "equal" and dimensions:
        return {name: Fraction(1, len(dimensions)) for name in dimensions}
    if weights is None:
        if dimensions is not None and set(dimensions) != set(DIMENSIONS):
            fix = f"give 'equal', or a weight for each of {one_of(list(dimensions)[:8])}"
            raise SettingsError(Problem("weights", "are missing: the default ones are for other dimensions", fix))
        weights = {str(name): weight for name, weight in WEIGHTS.items()}
    if isinstance(weights, FittedWeights):
        weights = dict(weights.exact())
    if not isinstance(weights, Mapping | pd.Series):
        fix = "give a mapping of dimensions to decimals, such as presets(dimensions)['equal'] or load(path)"
        raise SettingsError(Problem("weights", f"are a {type(weights).__name__}, not a mapping", fix))
    raw = {str(name): weight for name, weight in weights.items()}
    names = list(raw) if dimensions is None else list(dimensions)
    exact = {name: _parsed(weight) for name, weight in raw.items()}
    problems = [*_name_problems(raw, names), *_value_problems(raw, exact)]
    sound = {name: weight for name, weight in exact.items() if weight is not None}
    total = sum(sound.values(), Fraction(0))
    binary = any(isinstance(weight, float) for weight in raw.values())
    if not problems and abs(total - 1) > (TOLERANCE if binary else 0):
        problems.append(Problem("weights", f"sum to {float(total)!r}", "make them sum to exactly 1"))
    if problems:
        raise SettingsError(problems)
    return {name: sound[name] / total for name in names}


def _name_problems(raw: Mapping[str, object], names: Sequence[str]) -> list[Problem]:
    if not raw:
        return [Problem("weights", "must not be empty", "give a weight for every dimension")]
    fix = f"use {one_of(names[:8])}"
    return [
        Problem(f"weights.{name}", f"is not a dimension of these scores{did_you_mean(name, names)}", fix)
        for name in raw
        if name not in names
    ] + [
        Problem(f"weights.{name}", "is missing", "give it a weight (0: it does not count), or leave the column out")
        for name in names
        if name not in raw
    ]


def _value_problems(raw: Mapping[str, object], exact: Mapping[str, Fraction | None]) -> Iterator[Problem]:
    for name, weight in exact.items():
        if weight is None:
            yield Problem(f"weights.{name}", f"must be a number from 0 to 1, got {short_repr(raw[name])}", _EXAMPLE)
        elif weight < 0:
            yield Problem(f"weights.{name}", f"must be at least 0, got {short_repr(raw[name])}", _EXAMPLE)


def _parsed(weight: object) -> Fraction | None:
    """Return a weight as a fraction, a binary one as the shortest decimal that means it; None if it is not a number."""
    if isinstance(weight, Fraction) or (isinstance(weight, Integral) and not isinstance(weight, bool)):
        return Fraction(weight) if abs(weight) < 10**MAX_DIGITS else None
    text = repr(float(weight)) if isinstance(weight, float) else weight
    if isinstance(text, str) and len(text) > MAX_DIGITS:
        return None
    try:
        value = Decimal(text) if isinstance(text, str | Decimal) else Decimal("NaN")
    except InvalidOperation:
        return None
    exponent = abs(value.adjusted()) if value.is_finite() and value else 0
    sound = value.is_finite() and max(exponent, len(value.as_tuple().digits)) <= MAX_DIGITS
    return Fraction(value) if sound else None
