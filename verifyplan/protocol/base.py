"""The base of all protocol models, and words for what does not fit their fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from verifyplan.errors import InputError, Problem, one_of
from verifyplan.text import did_you_mean, short_repr


class Model(BaseModel):
    """A value that never changes and refuses unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


_EXPECTED = {
    "literal_error": "{expected}",
    "greater_than": "above {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "less_than": "below {lt}",
    "finite_number": "a finite number",
    "bool": "true or false",
    "decimal": "a number",
    "dict_type": "a mapping",
    "float": "a number",
    "int": "an integer",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must not be blank",
    "string": "a text",
    "tuple_type": "a list",
}
"""What a field must be, by the type of pydantic's error or the first word of it."""


def validation_problems(error: ValidationError, fields: Iterable[str], noun: str, fix: str) -> list[Problem]:
    """Return every problem with the fields of a model; those of an error that a validator raised each by itself.

    `noun` says what has the fields ("these rules"), `fix` what to do about a value that does not fit.
    """
    names = list(fields)
    return [problem for detail in error.errors(include_url=False) for problem in _problems(detail, names, noun, fix)]


def _problems(detail: ErrorDetails, names: list[str], noun: str, fix: str) -> Iterator[Problem]:
    parts = [text for part in detail["loc"] if (text := str(part)) and text[0] not in "<["]  # tags, and keys
    place = ".".join(parts)
    raised = detail.get("ctx", {}).get("error")
    if isinstance(raised, InputError) and raised.problems:
        yield from (Problem(f"{place}.{p.place}" if place else p.place, p.message, p.fix) for p in raised.problems)
    elif detail["type"] == "extra_forbidden" and len(parts) > 1:
        yield Problem(place, f"is not a field of {parts[0]}", "leave it out")
    elif detail["type"] == "extra_forbidden":
        yield Problem(place, f"is not a field of {noun}{did_you_mean(place, names)}", f"use {one_of(names)}")
    else:
        yield Problem(place or noun, f"{_expected(detail)}, got {short_repr(detail['input'])}", fix)


def _expected(detail: ErrorDetails) -> str:
    """Return what a field must be; what a validator says itself is taken as it is."""
    kind, limits = detail["type"], {name: str(value) for name, value in detail.get("ctx", {}).items()}
    if kind == "value_error":
        return limits["error"]
    form = _EXPECTED.get(kind) or _EXPECTED.get(kind.partition("_")[0])
    whole = isinstance(detail["input"], int) and not isinstance(detail["input"], bool)
    text = form.format(**limits) if form else detail["msg"].removeprefix("Input should be ")
    text = f"an integer of {text}" if whole and text.startswith("at ") else text
    message = text if text.startswith("must ") else f"must be {text}"
    return re.sub(r"Fraction\((\d+), (\d+)\)", r"\1/\2", message)
