"""Compare what two documents say: ids of plans and phases, and texts whatever their numbering and format (D3)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import PurePath

from verifyplan.rules.likeness import Sayings

MAX_COMPARISONS = 250_000
"""Pairs of texts beyond which only equal wording matches: similar wording takes a comparison of each with each."""
MAX_COMPARED_CHARACTERS = 600
"""Characters of a text beyond which only equal wording matches: comparing takes time by the square of the length."""
MIN_WORD_CHARACTERS = 4

_PHASE = re.compile(r"(\d+(?:\.\d+)?)(?:-|$)")
_PLAN_OR_SUMMARY = re.compile(r"(?:^|-)(?:plan|summary)(?=-|$)")
_LIST_NUMBER = re.compile(r"^\s*(?:[-*+]\s+)?(?:#?\d{1,4}[.):]\s+)?")
_TOKEN = re.compile(r"\w+|[<>=!+%$]+")
_SIGN = re.compile(r"[<>=!+%$]")


def plan_key(plan_id: str, phase: str = "") -> str:
    """Return a plan's id as ids are compared: small letters, no leading zeros, with its phase.

    So `01`, `26-01` and `26-01-PLAN.md` in the folder of phase 26 are one plan. An id that is a number alone belongs to
    `phase`, the name of its folder or its `phase` field; without one it stays as it is. An empty id gives an empty key.

    >>> plan_key("01", "26-backend"), plan_key("26-01", "26-backend"), plan_key("12.1-01"), plan_key("auth-02b")
    ('26-1', '26-1', '12.1-1', 'auth-02b')
    """
    parts = plan_id.strip().strip("\"'").lower().split("-")
    number = phase_number(phase)
    if len(parts) == 1 and parts[0].isdecimal() and number:
        parts = [number, *parts]
    return "-".join(map(_without_leading_zeros, parts))


def phase_number(phase: str) -> str:
    """Return the number that a phase's name begins with, without leading zeros; empty without one.

    >>> phase_number("01-foundation"), phase_number("12.1-iac"), phase_number("3"), phase_number("auth")
    ('1', '12.1', '3', '')
    """
    number = _PHASE.match(phase.strip())
    return _without_leading_zeros(number[1]) if number else ""


def _without_leading_zeros(part: str) -> str:
    whole, dot, rest = part.partition(".")
    return f"{whole.lstrip('0') or '0'}{dot}{rest}" if whole.isdecimal() and whole.isascii() else part


def id_in_name(path: str) -> str:
    """Return the plan id in the name of a plan's or a summary's file; empty without one.

    >>> id_in_name("01-01-PLAN.md"), id_in_name("SUMMARY-auth-02.md"), id_in_name("PLAN-03.md"), id_in_name("PLAN.md")
    ('01-01', 'auth-02', '03', '')
    """
    return _PLAN_OR_SUMMARY.sub("", PurePath(path).stem.lower()).strip("-")


def wording(text: str) -> str:
    """Return a text as it is compared: small letters, without numbering, formatting, punctuation and blanks.

    Signs that change the meaning (`<`, `>=`, `!`, `%`) stay.

    >>> wording("1. **Tokens** expire in `<= 15` minutes."), wording("tokens expire in <= 15 minutes")
    ('tokens expire in <= 15 minutes', 'tokens expire in <= 15 minutes')
    """
    plain = _LIST_NUMBER.sub("", unicodedata.normalize("NFKC", text).casefold(), count=1)
    tokens = (token.strip("_") for token in _TOKEN.findall(plain))
    return " ".join(token for token in tokens if token)


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text that carry meaning: of four letters or more, or with a digit.

    >>> sorted(words_of("Which of S3 or GCS stores the uploads?"))
    ['s3', 'stores', 'uploads', 'which']
    """
    tokens = wording(text).split()
    return frozenset(word for word in tokens if len(word) >= MIN_WORD_CHARACTERS or any(map(str.isdigit, word)))


def matched(texts: Sequence[str], others: Sequence[str]) -> list[int | None]:
    """Return for each text in `texts` the place of the first one in `others` that says the same; None without one.

    Equal wording matches first, each text any number of times. What is left on both sides is compared as findings are
    (rule B2): the same names, numbers and negations, and similar words; here the same signs, too.

    >>> matched(["Login works", "Tokens expire"], ["1. `Login` works.", "Dark mode exists"])
    [0, None]
    """
    left, right = [wording(text) for text in texts], [wording(text) for text in others]
    first = {text: at for at, text in reversed(list(enumerate(right)))}
    places = [first.get(text) for text in left]
    known = set(left)
    open_left = [at for at, place in enumerate(places) if place is None and len(texts[at]) <= MAX_COMPARED_CHARACTERS]
    open_right = [
        at for at, text in enumerate(right) if text not in known and len(others[at]) <= MAX_COMPARED_CHARACTERS
    ]
    if open_left and open_right and len(open_left) * len(open_right) <= MAX_COMPARISONS:
        candidates = Sayings({str(at): (others[at], "") for at in open_right})
        for at in open_left:
            similar = map(int, candidates.every(texts[at]))
            places[at] = next((place for place in similar if _signs(right[place]) == _signs(left[at])), None)
    return places


def unmatched(texts: Sequence[str], others: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return the places in `texts` that `others` does not say, and those in `others` that `texts` does not say.

    >>> unmatched(["Login works", "Tokens expire"], ["1. `Login` works.", "Dark mode exists"])
    ([1], [1])
    """
    both = (matched(texts, others), matched(others, texts))
    missing, extra = ([at for at, place in enumerate(places) if place is None] for places in both)
    return missing, extra


def _signs(words: str) -> list[str]:
    return [word for word in words.split() if _SIGN.match(word)]
