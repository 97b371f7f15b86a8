"""Hold the rules of a run as one value: presets, JSON, a digest, and how two of them differ in words (rule R1)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeVar

from pydantic import BeforeValidator, Field, PlainSerializer, ValidationError

from verifyplan.errors import InputError, Problem, SettingsError, one_of
from verifyplan.files import read_json, write_text
from verifyplan.protocol.base import Model, validation_problems
from verifyplan.text import did_you_mean, short_repr

DIGEST_CHARACTERS = 12
"""A digest has so many characters of a SHA-256."""

_FILE_FIX = "name a JSON file, such as the method save writes"

MAX_DENOMINATOR = 10_000
"""Shares and weights are fractions with at most this denominator, so that counts of votes stay exact."""


def plain_integer(value: object) -> object:
    """Return an integer of any kind, such as numpy's, as Python's own; other values, and truth values, as they are."""
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else value


Count = Annotated[int, Field(ge=1, strict=True), BeforeValidator(plain_integer)]
"""An integer of at least 1."""


def exact_fraction(value: object) -> Fraction:
    """Return an exact fraction of a number or a text such as "2/3" or "0.5"; ValueError where there is none."""
    value = plain_integer(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
        raise ValueError("must be a number, or a text such as '2/3'")
    try:
        exact = Fraction(value)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise ValueError("must be a number, or a text such as '2/3'") from None
    short = exact.limit_denominator(MAX_DENOMINATOR)
    if isinstance(value, float) and float(short) == value:
        return short
    if exact.denominator > MAX_DENOMINATOR:
        raise ValueError(f"must have a denominator of at most {MAX_DENOMINATOR:,}; write it as a text such as '2/3'")
    return exact


Exact = Annotated[Fraction, BeforeValidator(exact_fraction), PlainSerializer(str)]
"""An exact number: 0.5, "2/3" and Fraction(2, 3) are taken; JSON holds the text."""


class RulesValue(Model):
    """Rules as a frozen value: every field has a neutral default, and equal rules have equal digests.

    Raises SettingsError, listing all that is wrong, for unknown fields and values.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """The fields that each named preset sets; all others are neutral."""
    NEUTRAL_WORDS: ClassVar[Mapping[str, str]] = {}
    """The neutral value in words, of the fields where it does not speak for itself."""
    ADDED_FIELDS: ClassVar[frozenset[str]] = frozenset()
    """Fields that are younger than the digests in logs: a digest leaves them out where they are neutral."""

    if not TYPE_CHECKING:  # type checkers take the fields as the arguments

        def __init__(self, /, **fields: Any) -> None:
            try:
                super().__init__(**fields)
            except ValidationError as error:
                fix = "change it, or leave it out for the neutral value"
                fields = type(self).model_fields
                raise SettingsError(validation_problems(error, fields, "these rules", fix)) from None

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """Return the names of the presets."""
        return tuple(cls.PRESETS)

    @classmethod
    def preset(cls, name: str) -> Self:
        """Return the rules of a preset; SettingsError for an unknown name."""
        if name not in cls.PRESETS:
            message = f"{name!r} is not a preset{did_you_mean(name, cls.PRESETS)}"
            raise SettingsError(Problem("preset", message, f"use {one_of(cls.PRESETS)}"))
        return cls(**cls.PRESETS[name])

    @property
    def digest(self) -> str:
        """Twelve characters that tell these rules from any others; equal rules of any process have the same."""
        left_out = self.ADDED_FIELDS - self.changed.keys()
        text = json.dumps(self.model_dump(mode="json", exclude=set(left_out)), sort_keys=True)
        return hashlib.sha256(f"{type(self).__name__}:{text}".encode()).hexdigest()[:DIGEST_CHARACTERS]

    @property
    def changed(self) -> dict[str, Any]:
        """The fields that are not neutral, as JSON holds them."""
        neutral = _neutral(type(self))
        return {name: value for name, value in self.model_dump(mode="json").items() if value != neutral[name]}

    @property
    def in_words(self) -> dict[str, str]:
        """Every field with its value in words."""
        changed, values = self.changed, self.model_dump(mode="json")
        neutral = {name: words for name, words in self.NEUTRAL_WORDS.items() if name not in changed}
        return {name: neutral.get(name, value_words(value)) for name, value in values.items()}

    def diff(self, other: Self) -> str:
        """Say how other rules differ from these, one line a field; empty where they are equal."""
        mine, theirs = self.in_words, other.in_words
        values, others = self.model_dump(mode="json"), other.model_dump(mode="json")
        return "\n".join(f"{name}: {mine[name]} -> {theirs[name]}" for name in values if values[name] != others[name])

    def to_json(self) -> str:
        """Return the rules as JSON: the fields that are not neutral, which `from_json` reads."""
        return json.dumps(self.changed, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the rules in a JSON text, neutral where it says nothing; SettingsError listing what is wrong."""
        try:
            content = json.loads(text)
        except ValueError as error:
            raise SettingsError(Problem("rules", f"is not JSON ({error})", 'write {"field": value}')) from None
        return cls._of_content(content, "rules")

    def save(self, path: str | Path) -> Path:
        """Write the rules to a JSON file, whole or not at all, and return its path."""
        try:
            return write_text(path, self.to_json())
        except OSError as error:
            fix = "name a file in a folder that you may write to"
            raise InputError(Problem(str(path), f"cannot be written ({error.strerror or error})", fix)) from None

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the rules in a JSON file; InputError where it cannot be read, SettingsError listing what is wrong."""
        return cls._of_content(read_json(Path(path), _FILE_FIX), str(path))

    @classmethod
    def _of_content(cls, content: object, place: str) -> Self:
        if not isinstance(content, dict):
            raise SettingsError(Problem(place, f"holds {short_repr(content)}, not an object", 'write {"field": value}'))
        try:
            return cls(**content)
        except SettingsError as error:
            raise SettingsError(Problem(f"{place}: {p.place}", p.message, p.fix) for p in error.problems) from None

    def __eq__(self, other: object) -> bool:
        """Rules of one kind are equal if their JSON is: a quorum of 1 vote is not one of 1/1."""
        return type(other) is type(self) and self.model_dump(mode="json") == other.model_dump(mode="json")

    def __hash__(self) -> int:
        """Equal rules have equal hashes, also where a field is a mapping."""
        return hash(self.digest)

    def __str__(self) -> str:
        """The fields that are not neutral, in one line, with the digest."""
        fields = ", ".join(f"{name}={value_words(value)}" for name, value in self.changed.items())
        return f"{type(self).__name__}({fields}) [{self.digest}]"


@cache
def _neutral(kind: type[RulesValue]) -> dict[str, Any]:
    """Return the neutral rules of a kind, as JSON holds them."""
    return kind().model_dump(mode="json")


def value_words(value: object) -> str:
    """Return the value of a field, as JSON holds it, in words.

    >>> value_words({"margin": 2}), value_words(["a", "b"]), value_words([])
    ('margin 2', 'a, b', 'nothing')
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {value_words(part)}" for name, part in value.items())
    if isinstance(value, list):
        return ", ".join(map(value_words, value)) or "nothing"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


RulesValueT = TypeVar("RulesValueT", bound=RulesValue)


def read_rules(kind: type[RulesValueT], rules: object, name: str = "rules") -> RulesValueT:
    """Return rules from a value, the name of a preset, a mapping of fields or its JSON, or the path of a JSON file.

    Raises SettingsError for anything else, listing all that is wrong; `name` is the argument that they were given by.
    """
    if isinstance(rules, kind):
        return rules
    if isinstance(rules, RulesValue):
        message = f"must be a {kind.__name__}, got a {type(rules).__name__}"
        raise SettingsError(Problem(name, message, f"give a {kind.__name__}, or one of {one_of(kind.PRESETS)}"))
    if isinstance(rules, Mapping):
        try:
            return kind(**{str(key): value for key, value in rules.items()})
        except SettingsError as error:
            raise SettingsError(Problem(f"{name}.{p.place}", p.message, p.fix) for p in error.problems) from None
    if isinstance(rules, str) and rules in kind.PRESETS:
        return kind.preset(rules)
    if isinstance(rules, str) and rules.lstrip().startswith("{"):
        return kind.from_json(rules)
    if isinstance(rules, Path) or (isinstance(rules, str) and (rules.endswith(".json") or Path(rules).is_file())):
        return kind.load(rules)
    near = did_you_mean(rules, kind.PRESETS) if isinstance(rules, str) else ""
    fix = f"give a {kind.__name__}, a JSON file, or one of {one_of(kind.PRESETS)}"
    raise SettingsError(Problem(name, f"{short_repr(rules)} is neither rules nor the name of a preset{near}", fix))
