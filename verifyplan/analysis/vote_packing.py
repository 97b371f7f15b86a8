"""Pack votes into words whose sums are tallies (rule B5).

A vote adds a word: lower bits that say who votes, and above these one to the digit of what the vote counts as. The sum
over a round is its tally, and has as many of the lower bits as the round has votes unless a worker votes twice. Where a
word has no room for a bit of each worker, the lower bits count the votes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from verifyplan.analysis.narrow_codes import VoteCodes
from verifyplan.rules.classification import Tally

Array = npt.NDArray[Any]

BLOCK_VOTES = 2**17
"""Votes are counted so many at a time: what is made of them stays in the cache."""

MAX_WORD_BITS = 62
"""A word has at most so many bits: one for each worker, or a count of them, and four digits."""

N_DIGITS = 4
_DIGIT = {"agree": 0, "supplement": 1, "counter-evidence": 2, "burden-not-met": 3}


class NotPackedError(Exception):
    """Votes cannot be counted into words: they are too many, too sparse, or not in order (see `code_votes`)."""


class Packing(NamedTuple):
    """How votes are packed."""

    words: Array
    """The word that a vote adds, by its index (see `VoteCodes.indices`)."""
    n_workers: int
    """How many may vote."""
    lower_bits: int
    """The number of the lower bits."""

    @property
    def names_voters(self) -> bool:
        """Whether each worker has a lower bit."""
        return self.lower_bits == self.n_workers

    @property
    def radix(self) -> int:
        """The base of the digits: a round has fewer votes, since nobody votes twice."""
        return self.n_workers + 1

    @property
    def n_tallies(self) -> int:
        """The number of different packed tallies."""
        return int(self.radix**N_DIGITS)

    def tallies(self, words: Array) -> Array:
        """Return the tallies of words, still packed."""
        return np.asarray(words >> words.dtype.type(self.lower_bits))

    def tally(self, packed: Array) -> Tally:
        """Return packed tallies as counts.

        >>> Packing(np.zeros(0), n_workers=2, lower_bits=2).tally(np.array([1 + 2 * 3**3]))
        Tally(agree=array([1]), supplement=array([0]), counter_evidence=array([0]), burden_not_met=array([2]))
        """
        left, digits = packed.astype(np.int64), []
        for _ in range(N_DIGITS):
            left, digit = np.divmod(left, self.radix)
            digits.append(digit)
        return Tally(*digits)

    def nameless(self, words: Array) -> Array:
        """Return numbers that are equal where tallies and the numbers of votes are, whoever votes.

        >>> Packing(np.zeros(0), n_workers=2, lower_bits=2).nameless(np.array([0b101, 0b110, 0b111]))
        array([4, 4, 5])
        """
        if not self.names_voters:
            return words
        lower = words.dtype.type((1 << self.lower_bits) - 1)
        return np.asarray(self.tallies(words) * words.dtype.type(self.radix) + np.bitwise_count(words & lower))

    def refuse_repeats(self, words: Array, n_votes: int) -> None:
        """Raise NotPackedError if a worker votes twice in a round: a sum has fewer bits than terms, then.

        Says nothing where workers have no bit each: see `refuse_repeated_workers`.
        """
        lower = words.dtype.type((1 << self.lower_bits) - 1)
        if self.names_voters and int(np.bitwise_count(words & lower).sum(dtype=np.int64)) != n_votes:
            raise NotPackedError


class Counted(NamedTuple):
    """The votes on some findings, one after the other in order of appearance."""

    first: Array
    """The row of the first vote on each finding."""
    keys: tuple[Array, ...]
    """The codes of each column that names a finding."""
    words: Array
    """The sum of the words of each round, of shape (rounds, findings); 0 where a round has no votes."""
    missing: Array | None
    """The missing bases of each round, of the same shape; None where none is missing."""


def row_type(n_votes: int) -> type[np.int32 | np.int64]:
    """Return the narrower type that has room for the rows of so many votes."""
    return np.int32 if n_votes < 2**31 else np.int64


Fill = Callable[[Array, Array, slice], Array]
"""Returns the indices of some votes with bases filled in, from the indices, which of them miss one, and the rows."""


def packing_of(codes: VoteCodes, *, missing_as: str) -> Packing:
    """Return how votes are packed, with a missing basis as `missing_as`; NotPackedError where workers are too many."""
    n_workers = codes.worker.span
    tally_bits = ((n_workers + 1) ** N_DIGITS - 1).bit_length() if n_workers < 2**16 else MAX_WORD_BITS
    lower = n_workers if n_workers + tally_bits <= MAX_WORD_BITS else n_workers.bit_length()
    if lower + tally_bits > MAX_WORD_BITS:
        raise NotPackedError
    n_bits = lower + tally_bits
    word: Any = np.uint16 if n_bits <= 16 else np.uint32 if n_bits <= 32 else np.uint64
    place = [_DIGIT.get((basis or missing_as) if verdict == "disagree" else verdict) for verdict, basis in codes.kinds]
    counts = np.array([0 if digit is None else (n_workers + 1) ** digit for digit in place], dtype=word)
    ones = np.ones(n_workers, dtype=word)
    who: Array = (ones << np.arange(n_workers, dtype=word) if lower == n_workers else ones)[:, None]
    words = (who + (counts << word(lower))).ravel()
    own = np.repeat(who.ravel(), len(counts))  # of discoverers, who count for nothing
    return Packing(np.concatenate([words, own]), n_workers, lower)


def refuse_repeated_workers(cell: Array, worker: Array, n_workers: int) -> None:
    """Raise NotPackedError if a worker, by position, votes twice in a cell, the number of a finding and round."""
    vote = cell * np.int64(n_workers) + worker
    if (vote[1:] > vote[:-1]).all():
        return
    vote.sort()
    if (vote[1:] == vote[:-1]).any():
        raise NotPackedError
