"""The ids of plans, so that `01`, `26-01` and `26-01-PLAN.md` in the folder of phase 26 are known to be one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import PurePath

from verifyplan.rules.restatement import Sayings

_PHASE = re.compile(r"(\d+(?:\.\d+)?)(?:-|$)")
_KIND = re.compile(r"(?:^|-)(?:plan|summary)(?=-|$)")


def plan_key(plan_id: str, phase: str = "") -> str:
    """A plan's id in the one form in which ids are compared: small letters, no leading zeros, with its phase.

    An id that is a number alone belongs to `phase`, the name of its folder or its `phase` field; without one it stays
    as it is. An empty id gives an empty key.

    >>> plan_key("01", "26-backend"), plan_key("26-01", "26-backend"), plan_key("12.1-01"), plan_key("auth-02b")
    ('26-1', '26-1', '12.1-1', 'auth-02b')
    """
    parts = plan_id.strip().strip("\"'").lower().split("-")
    number = phase_number(phase)
    if len(parts) == 1 and parts[0].isdecimal() and number:
        parts = [number, *parts]
    return "-".join(_plain(part) for part in parts)


def phase_number(phase: str) -> str:
    """The number that a phase's name begins with, without leading zeros; empty where there is none.

    >>> phase_number("01-foundation"), phase_number("12.1-iac"), phase_number("3"), phase_number("auth")
    ('1', '12.1', '3', '')
    """
    found = _PHASE.match(phase.strip())
    return _plain(found[1]) if found else ""


def id_in_name(path: str) -> str:
    """The plan id in the name of a plan's or a summary's file; empty where the name holds none.

    >>> id_in_name("01-01-PLAN.md"), id_in_name("SUMMARY-auth-02.md"), id_in_name("PLAN-03.md"), id_in_name("PLAN.md")
    ('01-01', 'auth-02', '03', '')
    """
    return _KIND.sub("", PurePath(path).stem.lower()).strip("-")


def _plain(part: str) -> str:
    whole, dot, rest = part.partition(".")
    return f"{whole.lstrip('0') or '0'}{dot}{rest}" if whole.isdecimal() and whole.isascii() else part


_NUMBER = re.compile(r"^\s*(?:[-*+]\s+)?(?:#?\d{1,4}[.):]\s+)?")
_TOKEN = re.compile(r"\w+|[<>=!+%$]+")


def wording(text: str) -> str:
    """A text as it is compared: small letters, without numbering, formatting, punctuation and blanks.

    Signs that change what is said (`<`, `>=`, `!`, `%`) stay.

    >>> wording("1. **Tokens** expire in `<= 15` minutes."), wording("tokens expire in <= 15 minutes")
    ('tokens expire in <= 15 minutes', 'tokens expire in <= 15 minutes')
    """
    plain = _NUMBER.sub("", unicodedata.normalize("NFKC", text).casefold(), count=1)
    tokens = (token.strip("_") for token in _TOKEN.findall(plain))
    return " ".join(token for token in tokens if token)


MAX_COMPARISONS = 250_000
"""Pairs of texts beyond which only equal wording counts: like wording takes a comparison of each with each."""

MAX_COMPARED_CHARACTERS = 600
"""Letters of a text beyond which only equal wording counts: comparing takes time by the square of the length."""

_SIGN = re.compile(r"[<>=!+%$]")


def matched(wanted: Sequence[str], given: Sequence[str]) -> list[int | None]:
    """For each text in `wanted` the place of the first in `given` that says the same; None where none does.

    Equal wording matches first, each text any number of times; what is left on both sides is matched by the matcher of
    findings (rule B2), signs besides: the same names, numbers, negations and signs, and like words.

    >>> matched(["Login works", "Tokens expire"], ["1. `Login` works.", "Dark mode exists"])
    [0, None]
    """
    asked, offered = [wording(text) for text in wanted], [wording(text) for text in given]
    first = {text: at for at, text in reversed(list(enumerate(offered)))}
    found = [first.get(text) for text in asked]
    there = set(asked)
    lacking = [at for at, place in enumerate(found) if place is None and len(wanted[at]) <= MAX_COMPARED_CHARACTERS]
    left = [at for at, text in enumerate(offered) if text not in there and len(given[at]) <= MAX_COMPARED_CHARACTERS]
    if lacking and left and len(lacking) * len(left) <= MAX_COMPARISONS:
        sayings = Sayings({str(at): (given[at], "") for at in left})
        for at in lacking:
            places = map(int, sayings.every(wanted[at]))
            found[at] = next((place for place in places if _signs(offered[place]) == _signs(asked[at])), None)
    return found


def unmatched(wanted: Sequence[str], given: Sequence[str]) -> tuple[list[int], list[int]]:
    """The places in `wanted` that `given` does not say, and those in `given` that `wanted` does not ask for.

    >>> unmatched(["Login works", "Tokens expire"], ["1. `Login` works.", "Dark mode exists"])
    ([1], [1])
    """
    return _nowhere(matched(wanted, given)), _nowhere(matched(given, wanted))


def words_of(text: str) -> frozenset[str]:
    """The words of a text that carry meaning: of four letters or more, or with a digit.

    >>> sorted(words_of("Which of S3 or GCS stores the uploads?"))
    ['s3', 'stores', 'uploads', 'which']
    """
    return frozenset(
        word for word in wording(text).split() if len(word) >= _SHORTEST or any(char.isdigit() for char in word)
    )


_SHORTEST = 4


def _signs(words: str) -> list[str]:
    return [word for word in words.split() if _SIGN.match(word)]


def _nowhere(found: Sequence[int | None]) -> list[int]:
    return [at for at, place in enumerate(found) if place is None]
