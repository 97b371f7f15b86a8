"""Tell made-up strings from words, names and placeholders: mixed letters and digits, entropy."""

from __future__ import annotations

import re
from collections import Counter
from math import log2

VARIED = 4
"""Different characters that a key has at least: `xxxxxxxxxxxx` is a placeholder."""

_CASES = re.compile(r"[a-z](?=[A-Z])|[A-Z](?=[a-z])")
_NOT_ALNUM = re.compile(r"[^A-Za-z0-9]+")


def looks_random(text: str, mixed: int, plain: int) -> bool:
    """Return whether a part of the text looks like no word: `mixed` letters and digits or capitals, or `plain` letters.

    >>> looks_random("sk-ant-your-key-goes-here", 8, 20), looks_random("sk-ant-a1b2c3d4e5", 8, 20)
    (False, True)
    """
    parts = (part for part in _NOT_ALNUM.split(text) if len(part) >= mixed)
    return any(
        len(set(part)) >= VARIED and not part.isdigit() and (_is_mixed(part) or len(part) >= plain) for part in parts
    )


def entropy(text: str) -> float:
    """Return Shannon's entropy of the characters of a text, in bits a character (Shannon 1948); 0.0 for none.

    >>> entropy("aabb"), entropy("")
    (1.0, 0.0)
    """
    counts = Counter(text).values()
    return sum((-count / len(text) * log2(count / len(text)) for count in counts), 0.0)


def _is_mixed(part: str) -> bool:
    """Return whether letters and digits, or small letters and capitals, mix as in no name: AbCdE, not aCamelCase."""
    return not part.isalpha() or len(_CASES.findall(part)) * 3 >= len(part)
