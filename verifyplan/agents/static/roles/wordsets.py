"""Sets of words, written as one text each."""

from __future__ import annotations


def words(*texts: str) -> frozenset[str]:
    """The words of some texts.

    >>> sorted(words("b a", "c"))
    ['a', 'b', 'c']
    """
    return frozenset(word for text in texts for word in text.split())
