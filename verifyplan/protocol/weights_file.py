"""Weights in a file, as `verify` takes them: JSON, decimals as text, a sum of exactly 1 (rules A10, F4, H3)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any, TypeAlias

from verifyplan.errors import InputError, Problem, SettingsError, one_of
from verifyplan.files import decode, write_text
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.strict_json import strict_json
from verifyplan.text import did_you_mean, short_repr

VERSION = 1
MAX_FILE_BYTES = 64 * 1024
"""A weights file has a few hundred bytes; one beyond this is something else."""

_KEYS = ("version", "weights", "ranges")
_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)
_DIGITS = 60
_PRECISION_DIGITS = 2 * _DIGITS + 1
"""Digits with which any such decimals are added without rounding."""

Ranges: TypeAlias = Mapping[str, tuple[float, float]]


class RangedWeights(dict[str, Decimal]):
    """Weights from a file with `ranges`, as those of a fit; where these differ, of dimensions rescaled by them.

    A copy keeps the ranges, and so does `|`, unless it brings a dimension that has none.
    """

    def __init__(self, weights: Mapping[str, Decimal], ranges: Ranges) -> None:
        super().__init__(weights)
        self.ranges = dict(ranges)

    def copy(self) -> RangedWeights:
        """Return the same weights with the same ranges."""
        return RangedWeights(self, self.ranges)

    def __or__(self, other: Any) -> Any:
        both = super().__or__(other)
        return RangedWeights(both, self.ranges) if isinstance(both, dict) and set(both) <= set(self.ranges) else both

    @property
    def rescaled(self) -> bool:
        """Whether the ranges differ: then the weights are none of the scores as they are."""
        return len(set(self.ranges.values())) > 1

    def exact(self) -> dict[str, Decimal]:
        """Return the weights alone, without their ranges."""
        return dict(self)


def save(weights: Mapping[str, Decimal | str], path: str | Path, ranges: Ranges | None = None) -> Path:
    """Write weights as a file that `load` takes, and `verify(weights=...)` if they are of its six dimensions.

    `{"version": 1, "weights": {"approach_soundness": "0.25", ...}}`, with every decimal as it was given ("0.250" stays
    so), in the order of rule A10 or, for other dimensions, in the order given. `"ranges": {"wit": [0, 100], ...}`
    follows if `ranges` are given; `verify` refuses a file whose ranges differ, as its weights are of dimensions
    rescaled by them. The file is written whole or not at all, and its path is returned. The score informs and never
    decides a verdict. Raises InputError listing all that is wrong, before anything is written, and where the path
    cannot be written. Binary fractions are refused: `to_decimals` and the `.exact()` of a fit give decimals.

    >>> from tempfile import mkdtemp
    >>> path = save({"wit": "0.5", "depth": "0.5"}, mkdtemp() + "/weights.json")
    >>> load(path)
    {'wit': Decimal('0.5'), 'depth': Decimal('0.5')}
    """
    if not isinstance(path, str | Path):
        raise InputError(Problem("path", f"is a {type(path).__name__}, not a path", "name a file"))
    if not isinstance(weights, Mapping):
        fix = "give a mapping of dimensions to decimals; .exact() of a fit is one"
        raise SettingsError(Problem("weights", f"are a {type(weights).__name__}, not a mapping", fix))
    texts = {str(name): _text(weight) for name, weight in weights.items()}
    problems = _weight_problems(texts, _order(texts), "")
    if problems:
        raise SettingsError(problems)
    content = {"version": VERSION, "weights": {name: texts[name] for name in _order(texts)}}
    if ranges:
        content["ranges"] = {name: list(ranges[name]) for name in _order(texts)}
    try:
        return write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(Problem(_place(path), f"cannot be written ({reason})", "name a file that can")) from None


def load(path: str | Path, dimensions: Sequence[str] | None = None) -> dict[str, Decimal]:
    """Return the weights in a file that `save` or a person wrote, as decimals that sum to exactly 1.

    With `dimensions` they must be these, as `verify` asks for its six, and come in this order; None takes any. Those of
    a fit have `.ranges`, too, and `apply` ranks plans as under the fit.

    Raises InputError where the file cannot be read or is not JSON, SettingsError listing all that is wrong in it: an
    unknown version, numbers in place of text, unknown or missing dimensions, a sum that is not 1, ranges that are none.

    >>> from tempfile import mkdtemp
    >>> path = save(dict.fromkeys(["wit", "depth"], "0.5"), mkdtemp() + "/weights.json")
    >>> load(path, dimensions=["depth", "wit"])
    {'depth': Decimal('0.5'), 'wit': Decimal('0.5')}
    """
    content = _read(path)
    place = _place(path)
    if not isinstance(content, dict):
        fix = 'write {"version": 1, "weights": {...}}'
        raise SettingsError(Problem(place, f"holds {short_repr(content)}, not an object", fix))
    problems = [
        Problem(f"{place}: {short_repr(key)}", f"is unknown{did_you_mean(key, _KEYS)}", f"use {one_of(_KEYS)} alone")
        for key in content
        if key not in _KEYS
    ]
    problems += _version_problems(content, place)
    texts = content.get("weights")
    if not isinstance(texts, dict):
        what = f"are {short_repr(texts)}, not an object" if "weights" in content else "are missing"
        problems.append(Problem(f"{place}: weights", what, "give each dimension a decimal as text"))
        raise SettingsError(problems)
    names = _order(texts) if dimensions is None else list(dimensions)
    problems += _weight_problems(texts, names, f"{place}: ")
    ranges = content.get("ranges")
    if "ranges" in content and not _are_ranges(ranges, texts):
        fix = 'give each dimension its ends, as "ranges": {"wit": [0, 100], ...}, or leave them out'
        problems.append(Problem(f"{place}: ranges", f"are not those of the dimensions: {short_repr(ranges)}", fix))
    if problems:
        raise SettingsError(problems)
    weights = {name: Decimal(texts[name]) for name in names}
    return RangedWeights(weights, {name: tuple(ranges[name]) for name in names}) if ranges else weights


def _are_ranges(ranges: object, names: Iterable[str]) -> bool:
    """Return whether these are two ends for each of the names, the low one first."""
    return (
        isinstance(ranges, dict)
        and set(ranges) == set(names)
        and all(
            isinstance(ends, list)
            and len(ends) == 2
            and all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends)
            and ends[0] <= ends[1]
            for ends in ranges.values()
        )
    )


def _order(weights: Iterable[str]) -> list[str]:
    """Return the names in the order of rule A10 if they are its six dimensions, else as they come."""
    names = list(weights)
    return list(DIMENSIONS) if set(names) == set(DIMENSIONS) else names


def text_of(weight: Decimal) -> str:
    """Return a decimal as the file has it: digits alone, never an exponent.

    >>> text_of(Decimal("1E-7")), text_of(Decimal("0.250"))
    ('0.0000001', '0.250')
    """
    return format(weight, "f")


def _read(path: str | Path) -> Any:
    fix = "name a weights file, such as weights.save writes"
    if not isinstance(path, str | Path):
        raise InputError(Problem("path", f"is a {type(path).__name__}, not a path", fix))
    try:
        if not Path(path).is_file():  # a pipe or a device may never end
            what = "is a folder" if Path(path).is_dir() else "is not a file"
            raise InputError(Problem(_place(path), what if Path(path).exists() else "does not exist", fix))
        with Path(path).open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:  # a name with a null byte is a ValueError, and so is an InputError
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise InputError(Problem(_place(path), f"cannot be read ({reason})", fix)) from None
    if len(data) > MAX_FILE_BYTES:
        raise InputError(Problem(_place(path), f"is larger than {MAX_FILE_BYTES // 1024} KiB", fix))
    try:
        return strict_json(decode(data, _place(path)), _place(path))
    except InputError as error:
        raise InputError(error.problems) from None


def _place(path: str | Path) -> str:
    """Return a path as an error names it, control characters written out."""
    return str(path) if str(path).isprintable() else repr(str(path))


def _version_problems(content: Mapping[str, object], place: str) -> list[Problem]:
    version = content.get("version")
    if isinstance(version, int) and not isinstance(version, bool) and version == VERSION:
        return []
    what = f"{short_repr(version)} is unknown" if "version" in content else "is missing"
    return [Problem(f"{place}: version", what, f"write {VERSION}, if the weights are as this version reads them")]


def _text(weight: object) -> object:
    """Return a decimal as its digits, and whatever else as it is."""
    if not isinstance(weight, Decimal) or not weight.is_finite():
        return weight
    sign, digits, exponent = weight.as_tuple()
    return weight if len(digits) + abs(int(exponent)) > _DIGITS or sign else text_of(weight)


def _weight_problems(texts: Mapping[str, object], dimensions: Sequence[str], place: str) -> list[Problem]:
    """Return all that is wrong with weights as text; the sum is looked at where each alone is right."""
    if not texts and not dimensions:
        return [Problem(f"{place}weights", "must not be empty", "give each dimension a decimal as text")]
    fix = f"use {one_of(dimensions)}"
    if texts and not set(texts) & set(dimensions):
        return [Problem(f"{place}weights", f"are of other dimensions: {one_of(list(texts)[:8])}", fix)]
    problems = [
        Problem(f"{place}weights.{n}", f"is not a dimension{did_you_mean(n, dimensions)}", fix)
        for n in texts
        if n not in dimensions
    ]
    problems += [
        Problem(f"{place}weights.{n}", "is missing", "give it a weight; '0' leaves it out")
        for n in dimensions
        if n not in texts
    ]
    for name, text in texts.items():
        if not isinstance(text, str):
            problems.append(
                Problem(f"{place}weights.{name}", f"{short_repr(text)} must be text", "write it in quotes, as '0.25'")
            )
        elif len(text) > _DIGITS or not _DECIMAL.fullmatch(text):
            problems.append(
                Problem(
                    f"{place}weights.{name}",
                    f"{short_repr(text)} is not a decimal of at least 0",
                    "write digits, as '0.25'",
                )
            )
    if not problems:
        with localcontext(prec=_PRECISION_DIGITS):
            total = sum(Decimal(str(text)) for text in texts.values())
        if total != 1:
            problems.append(Problem(f"{place}weights", f"sum to {total}", "make them sum to exactly 1"))
    return problems
