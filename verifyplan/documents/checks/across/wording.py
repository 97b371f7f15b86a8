"""Whether two documents speak of the same thing, however they number and format it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verifyplan.documents.reading.wording import wording as wording
from verifyplan.rules.restatement import Sayings

MOST_COMPARED = 250_000
"""Pairs of texts beyond which only equal wording counts: like wording takes a comparison of each with each."""

LONGEST = 600
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
    lacking = [at for at, place in enumerate(found) if place is None and len(wanted[at]) <= LONGEST]
    left = [at for at, text in enumerate(offered) if text not in there and len(given[at]) <= LONGEST]
    if lacking and left and len(lacking) * len(left) <= MOST_COMPARED:
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
