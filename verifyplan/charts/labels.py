"""Text and numbers of the data as they stand in charts: clean, short, and still told apart."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable

_UNSHOWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
"""Control characters that XML forbids, and those that turn the direction of the text around them."""


def plain(text: object) -> str:
    """The text whole, with what no page can show replaced: control characters and half characters.

    >>> plain("bell" + chr(7) + " and text")
    'bell� and text'
    """
    return _UNSHOWABLE.sub("\ufffd", str(text).encode("utf-8", "replace").decode())


def short(text: object, width: int, *, keep_end: bool = True) -> str:
    """The text on one line of at most `width` characters.

    Names often differ only at their end, so what is left out is left out inside; of prose the beginning is
    kept.

    >>> short("adversarial, max_rounds = 12", 16), short("The backup is never tested", 14, keep_end=False)
    ('adversaria…= 12', 'The backup is…')
    """
    line = " ".join(plain(text).split()) or "(empty)"
    if len(line) <= width:
        return line
    tail = width // 3 if keep_end else 0
    return f"{line[: width - tail - 1].rstrip()}…{line[len(line) - tail :].lstrip()}"


def shortened(texts: Iterable[object], width: int) -> dict[str, str]:
    """A short label for each different text; no two labels are equal.

    Where cutting would make them equal, they begin where the texts differ, and are numbered if need be.

    >>> labels = shortened(["adversarial, max_rounds=2, w=3", "adversarial, max_rounds=3, w=3"], 16)
    >>> list(labels.values())
    ['…max_rounds=2,…', '…max_rounds=3,…']
    """
    whole = list(dict.fromkeys(map(str, texts)))
    labels = [short(text, width) for text in whole]
    if len(set(labels)) < len(labels):
        labels = [short(text, width, keep_end=False) for text in _without_equal_start(whole)]
    return dict(zip(whole, _numbered(labels), strict=True))


def _without_equal_start(texts: list[str]) -> list[str]:
    """The texts from the word on in which they differ, "…" for what they all begin with."""
    lines = [" ".join(plain(text).split()) for text in texts]
    same = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*lines, strict=False))
    words = "".join(letters[0] for letters in same).rpartition(" ")[0]
    return [f"…{line[len(words) :].lstrip()}" for line in lines] if words else lines


def _numbered(labels: list[str]) -> list[str]:
    """The labels, with a number behind those that stood before."""
    taken: dict[str, None] = {}  # in order
    for label in labels:
        numbers = itertools.count(2)
        new = label
        while new in taken:
            new = f"{label} ({next(numbers)})"
        taken[new] = None
    return list(taken)


def percent(share: float) -> str:
    """A share in whole per cent; one that is nearly none or nearly all is not rounded to none or all.

    >>> percent(0.414), percent(0.002), percent(0.999), percent(1.0)
    ('41 %', '<1 %', '>99 %', '100 %')
    """
    if 0 < share < 0.01:
        return "<1 %"
    if 0.99 < share < 1:
        return ">99 %"
    return f"{100 * share:.0f} %"


def interval(low: float, high: float) -> str:
    """An interval of shares as it stands beside a mark; empty where there is none.

    >>> interval(0.3, 0.52).split(chr(0x2013)), interval(float("nan"), float("nan"))
    (['30', '52 %'], '')
    """
    if math.isnan(low) or math.isnan(high):
        return ""
    return f"{100 * low:.0f}\N{EN DASH}{100 * high:.0f} %"


def count(number: int, noun: str) -> str:
    """A number and its noun, in the plural where it is not one.

    >>> count(1, "finding"), count(2000, "finding")
    ('1 finding', '2,000 findings')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
