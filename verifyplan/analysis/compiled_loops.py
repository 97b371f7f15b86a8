"""The compiled loops that count votes; importing this module loads numba (see `compiled_tallies`)."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

TILE_VOTES = 2**12
"""So many votes are read by one loop after the other: their columns stay in the nearest cache."""


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
    keys: Any, rounds: Any, votes: Any, kinds: Any, words_of: Any, lower_bits: Any, table: Any, work: Any, found: Any,
) -> Any:  # fmt: skip
    """Decide findings whose votes are all of the first round, by a table of decisions.

    Arrays have one entry a vote but for `words_of`, the words by index, and `table`, the decision of each packed tally.
    `keys` are the outer and the inner one; `votes` the codes of workers, verdicts and bases, unsigned, so that none is
    the highest number; `kinds` the lowest code of a worker, the numbers of verdicts and of bases (with none), and the
    code of a disagree, of the type of indices, then the lowest code that each key may have. `work` has room for the
    indices of TILE_VOTES votes, and for whether a finding begins at each. Written is `found`: the first row, the word
    and the decision of each finding.

    Returns the number of findings, and whether their keys rise, whether a worker votes twice in a finding, and
    whether a key is missing, a disagree has no basis or a vote is of another round.

    All loops but one are short and without branches: the compiler has them take many votes at a time.
    """
    (outers, inners), (workers, verdicts, bases), (index, begins), (first, words, decided) = keys, votes, work, found
    low, n_verdicts, n_bases, disagree, lowest_outer, lowest_inner = kinds
    one, finding, word, clash = np.uint64(1), np.uint64(0), np.uint64(0), np.uint64(0)
    missing, later, first[0] = False, np.int64(0), 0
    for start in range(0, len(rounds), TILE_VOTES):
        stop = min(start + TILE_VOTES, len(rounds))
        outer, inner, verdict, basis = outers[start:stop], inners[start:stop], verdicts[start:stop], bases[start:stop]
        worker, round_, n = workers[start:stop], rounds[start:stop], stop - start
        for i in range(n):
            index[i] = ((worker[i] - low) * n_verdicts + verdict[i]) * n_bases + basis[i] + np.uint8(1)
        for i in range(n):
            missing |= (outer[i] < lowest_outer) | (inner[i] < lowest_inner)
        for i in range(n):
            missing |= (verdict[i] == disagree) & (basis[i] >= n_bases)
        for i in range(n):
            later |= round_[i] ^ 1
        begins[0] = (start > 0) & ((outer[0] != outers[start - 1]) | (inner[0] != inners[start - 1]))
        for i in range(1, n):
            begins[i] = (outer[i] != outer[i - 1]) | (inner[i] != inner[i - 1])
        for i in range(n):
            is_next = np.uint64(begins[i])
            finding += is_next
            word &= is_next - one  # all bits, or none at the first vote of a finding
            vote = words_of[index[i]]
            clash |= word & vote
            word += vote
            words[finding], first[finding + one] = word, start + i + 1
    repeats = (clash & ((one << lower_bits) - one)) != 0
    n_decided = np.uint64(0) if repeats else finding + one  # a repeated vote makes words that are beyond the table
    for i in range(n_decided):
        decided[i] = table[words[i] >> lower_bits]
    falls = False
    for i in range(1, finding + one):
        here, last = first[i], first[i - 1]
        falls |= outers[here] < outers[last]
        falls |= (outers[here] == outers[last]) & (inners[here] <= inners[last])
    return finding + one, not falls, repeats, missing or later != 0


@numba.njit(cache=True, nogil=True)
def write_findings(keys: Any, first: Any, decided: Any, start: int, found: Any) -> None:
    """Write the findings of a block that `judge_one_round` has decided.

    One call writes all, because threads wait for each other at each. `start` is the row of the table at which the block
    begins. `found` is written: the rows of the table at which findings begin, the outer and the inner key, and the
    bytes of the decisions, from the lowest.
    """
    (outer, inner), (row, of_outer, of_inner, bytes_0, bytes_1, bytes_2, bytes_3) = keys, found
    for i in range(len(row)):
        row[i] = first[i] + start
    for i in range(len(row)):
        of_outer[i], of_inner[i] = outer[first[i]], inner[first[i]]
    for i in range(len(row)):
        decision = decided[i]
        bytes_0[i], bytes_1[i] = decision, decision >> np.uint32(8)
        bytes_2[i], bytes_3[i] = decision >> np.uint32(16), decision >> np.uint32(24)
