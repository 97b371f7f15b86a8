"""Write the data's texts and numbers as labels and sentences of charts: printable, short and distinct."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
"""Control characters that XML forbids, and those that turn the direction of the text around them."""


def plain(text: object) -> str:
    """Return the whole text with control characters and lone surrogates replaced, which no page can show.

    >>> plain("bell" + chr(7) + " and text")
    'bell� and text'
    """
    return _UNPRINTABLE.sub("\ufffd", str(text).encode("utf-8", "replace").decode())


def short(text: object, width: int, *, keep_end: bool = True) -> str:
    """Return the text on one line of at most `width` characters.

    Names often differ only at their end, so the middle is left out; `keep_end=False` keeps the beginning alone, as
    for prose.

    >>> short("adversarial, max_rounds = 12", 16), short("The backup is never tested", 14, keep_end=False)
    ('adversaria…= 12', 'The backup is…')
    """
    line = " ".join(plain(text).split()) or "(empty)"
    if len(line) <= width:
        return line
    tail = width // 3 if keep_end else 0
    return f"{line[: width - tail - 1].rstrip()}…{line[len(line) - tail :].lstrip()}"


def distinct_labels(texts: Iterable[object], width: int) -> dict[str, str]:
    """Map each different text to a short label; no two labels are equal.

    Labels that cutting would make equal begin where the texts differ, and are numbered if need be.

    >>> labels = distinct_labels(["adversarial, max_rounds=2, w=3", "adversarial, max_rounds=3, w=3"], 16)
    >>> list(labels.values())
    ['…max_rounds=2,…', '…max_rounds=3,…']
    """
    whole = list(dict.fromkeys(map(str, texts)))
    labels = [short(text, width) for text in whole]
    if len(set(labels)) < len(labels):
        lines = [" ".join(plain(text).split()) for text in whole]
        same = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*lines, strict=False))
        words = "".join(letters[0] for letters in same).rpartition(" ")[0]  # that all of them begin with
        lines = [f"…{line[len(words) :].lstrip()}" for line in lines] if words else lines
        labels = [short(line, width, keep_end=False) for line in lines]
    numbered: dict[str, None] = {}  # in order
    for label in labels:
        numbers = itertools.count(2)
        new = label
        while new in numbered:
            new = f"{label} ({next(numbers)})"
        numbered[new] = None
    return dict(zip(whole, numbered, strict=True))


def percent(share: float, decimals: int = 0) -> str:
    """Return a share in per cent; only an exact 0 or 1 is written as 0 % or 100 %.

    >>> percent(0.414), percent(0.002), percent(0.999), percent(1.0), percent(0.414, 1)
    ('41 %', '<1 %', '>99 %', '100 %', '41.4 %')
    """
    least = 10.0**-decimals
    if 0 < 100 * share < least:
        return f"<{least:g} %"
    if 100 - least < 100 * share < 100:
        return f">{100 - least:g} %"
    return f"{100 * share:.{decimals}f} %"


def interval_text(low: float, high: float) -> str:
    """Return an interval of shares in per cent, with one decimal; empty where an end is missing.

    >>> interval_text(0.3, 0.52).split(chr(0x2013)), interval_text(float("nan"), float("nan"))
    (['30.0', '52.0 %'], '')
    """
    if math.isnan(low) or math.isnan(high):
        return ""
    return f"{100 * low:.1f}\N{EN DASH}{100 * high:.1f} %"


def count(number: int, noun: str) -> str:
    """Return a number and its noun, in the plural unless the number is 1.

    >>> count(1, "finding"), count(2000, "finding")
    ('1 finding', '2,000 findings')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def first_drawn(drawn: int, n: int, noun: str, left_out: str = "") -> str:
    """Say how many of `n` are drawn and left out, and in `left_out` more of those; nothing where all are drawn.

    >>> first_drawn(40, 52, "plan"), first_drawn(40, 40, "plan")
    ('The first 40 of 52 plans are drawn; 12 are left out.', '')
    """
    more = f", {left_out}" if left_out else ""
    return f"The first {drawn:,} of {count(n, noun)} are drawn; {n - drawn:,} are left out{more}." if n > drawn else ""


def sentences(*parts: str) -> str:
    """Join the parts that are not empty by spaces."""
    return " ".join(part for part in parts if part)
