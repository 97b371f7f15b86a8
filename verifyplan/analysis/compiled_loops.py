"""The compiled loop that counts votes; importing this module loads numba (see `compiled_tallies`)."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def add_words(outer: Any, inner: Any, rounds: Any, index: Any, words_of: Any, first: Any, words: Any) -> int:
    """Add the word of each vote to its round and finding, and return the number of findings.

    A finding begins where a key differs from that of the vote before. Arrays have one entry a vote but for `words_of`,
    the words by index, and what is written: `first`, where each finding begins, and `words`, of shape (rounds,
    findings) and zero before.
    """
    finding = -1
    last_outer, last_inner = outer[0], inner[0]
    for i in range(len(index)):
        if finding < 0 or inner[i] != last_inner or outer[i] != last_outer:
            finding += 1
            first[finding] = i
            last_outer, last_inner = outer[i], inner[i]
        words[rounds[i] - 1, finding] += words_of[index[i]]
    return finding + 1


@numba.njit(cache=True, nogil=True)
def add_words_of_one_round(outer: Any, inner: Any, index: Any, words_of: Any, first: Any, words: Any) -> int:
    """Return what `add_words` does where all votes are of the first round; `words` need not be zero before."""
    finding = 0
    last_outer, last_inner = outer[0], inner[0]
    word = np.uint64(0)
    first[0] = 0
    for i in range(len(index)):
        if inner[i] != last_inner or outer[i] != last_outer:
            words[finding] = word
            finding += 1
            first[finding] = i
            last_outer, last_inner, word = outer[i], inner[i], np.uint64(0)
        word += words_of[index[i]]
    words[finding] = word
    return finding + 1
