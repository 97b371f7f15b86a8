"""The compiled loops that count votes; importing this module loads numba (see `compiled_tallies`)."""

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
def judge_one_round(
    outer: Any, inner: Any, worker: Any, verdict: Any, basis: Any, kinds: Any, words_of: Any, lower_bits: Any,
    table: Any, first: Any, words: Any, decided: Any,
) -> Any:  # fmt: skip
    """Decide findings whose votes are all of the first round, by a table of decisions, in one pass over the votes.

    Arrays have one entry a vote but for `kinds` (the lowest code of a worker, the verdicts, the bases and none, and the
    code of a disagree), `words_of`, the words by index, and `table`, the decision of each packed tally. Written are
    `first`, where each finding begins, `words`, and `decided`. Returns the number of findings, and whether their
    keys rise, whether a worker votes twice in a finding, and whether a disagree has no basis.
    """
    low, n_verdicts, n_bases, disagree = kinds
    finding = 0
    last_outer, last_inner = outer[0], inner[0]
    word, clash = np.uint64(0), np.uint64(0)
    rises, missing = True, False
    first[0] = 0
    for i in range(len(verdict)):
        if (inner[i] ^ last_inner) | (outer[i] ^ last_outer):  # one branch
            rises &= outer[i] > last_outer or (outer[i] == last_outer and inner[i] > last_inner)
            words[finding], decided[finding] = word, table[word >> lower_bits]
            finding += 1
            first[finding] = i
            last_outer, last_inner, word = outer[i], inner[i], np.uint64(0)
        missing |= (verdict[i] == disagree) & (basis[i] < 0)
        index = ((worker[i] - low) * n_verdicts + verdict[i]) * n_bases + basis[i] + 1
        vote = words_of[np.uint64(index)]  # which cannot be negative: a signed index would be looked at for that
        clash |= word & vote
        word += vote
    words[finding], decided[finding] = word, table[word >> lower_bits]
    repeats = (clash & ((np.uint64(1) << lower_bits) - np.uint64(1))) != np.uint64(0)
    return finding + 1, rises, repeats, missing
