"""Count the votes of each round into packed words, block by block, so that votes stay as narrow as they come (rule B5).

A vote adds a word: a bit that says who votes, and above it one to the digit of what the vote counts as. The sum over a
round is its tally, and has as many of the lower bits as the round has votes unless a worker votes twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.compiled_tallies import compiled_count
from verifyplan.analysis.narrow_codes import MAX_KEY, VoteCodes
from verifyplan.rules.classification import Tally

Array = npt.NDArray[Any]

BLOCK_VOTES = 2**17
"""Votes are counted so many at a time: what is made of them stays in the cache."""

MAX_WORD_BITS = 62
"""A word has at most so many bits: one for each worker, and four digits."""

MAX_CELLS_A_VOTE = 8
"""Votes in any order are counted into a table of at most so many cells, findings by rounds, for each vote."""

N_DIGITS = 4
_DIGIT = {"agree": 0, "supplement": 1, "counter-evidence": 2, "burden-not-met": 3}


class NotPackedError(Exception):
    """Votes cannot be counted into words: they are too many, too sparse, or not in order (see `code_votes`)."""


class NotInOrderError(Exception):
    """The votes on some finding do not follow each other."""


class Packing(NamedTuple):
    """How votes are packed."""

    words: Array
    """The word that a vote adds, by its index (see `VoteCodes.indices`)."""
    n_workers: int
    """The number of the lower bits, which say who votes."""

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
        return np.asarray(words >> words.dtype.type(self.n_workers))

    def tally(self, packed: Array) -> Tally:
        """Return packed tallies as counts.

        >>> Packing(np.zeros(0), n_workers=2).tally(np.array([1 + 2 * 3**3]))
        Tally(agree=array([1]), supplement=array([0]), counter_evidence=array([0]), burden_not_met=array([2]))
        """
        left, digits = packed.astype(np.int64), []
        for _ in range(N_DIGITS):
            left, digit = np.divmod(left, self.radix)
            digits.append(digit)
        return Tally(*digits)


class Counted(NamedTuple):
    """The votes on some findings, one after the other in order of appearance."""

    first: Array
    """The row of the first vote on each finding."""
    words: Array
    """The sum of the words of each round, of shape (rounds, findings); 0 where a round has no votes."""
    missing: Array | None
    """The missing bases of each round, of the same shape; None where none is missing."""


def packing_of(codes: VoteCodes, *, missing_as: str) -> Packing:
    """Return how votes are packed, with a missing basis as `missing_as`; NotPackedError where workers are too many."""
    n_workers = codes.worker.span
    bits = (
        n_workers + ((n_workers + 1) ** N_DIGITS - 1).bit_length() if n_workers < MAX_WORD_BITS else MAX_WORD_BITS + 1
    )
    if bits > MAX_WORD_BITS:
        raise NotPackedError
    word: Any = np.uint32 if bits <= 32 else np.uint64
    place = [_DIGIT.get((basis or missing_as) if verdict == "disagree" else verdict) for verdict, basis in codes.kinds]
    counts = np.array([0 if digit is None else (n_workers + 1) ** digit for digit in place], dtype=word)
    who: Array = word(1) << np.arange(n_workers, dtype=word)[:, None]
    words = (who + (counts << word(n_workers))).ravel()
    own = np.repeat(who.ravel(), len(counts))  # of discoverers, who count for nothing
    return Packing(np.concatenate([words, own]), n_workers)


Fill = Callable[[Array, Array, slice], Array]
"""Returns the indices of some votes with bases filled in, from the indices, which of them miss one, and the rows."""


def votes_in_order(codes: VoteCodes, packing: Packing, fill: Fill | None = None) -> Iterator[Counted]:
    """Yield the votes on all findings, many of these at a time, where the votes on each follow each other.

    With `fill`, missing bases are counted, and may be filled in vote by vote. Raises NotInOrderError where votes on a
    finding do not follow each other, NotPackedError where a worker votes twice.
    """
    n, start, size = len(codes.rounds), 0, BLOCK_VOTES
    count = compiled_count(codes, packing) or partial(_count_block, codes, packing)
    rising, firsts = True, []
    while start < n:
        rows = slice(start, min(start + size, n))
        index = codes.indices(rows)
        missing = codes.missing(rows) if fill is not None else None
        if fill is not None and missing is not None:
            index = fill(index, missing, rows)
        first, words = count(rows, index)
        found, stop = len(first), rows.stop
        if stop < n:  # the last finding may go on in the next block
            found, stop = found - 1, start + int(first[-1])
        if found == 0:
            size *= 2
            continue
        _refuse_repeats(packing, words[:, :found], stop - start)
        gaps = None if missing is None else _count_missing(codes, rows, first, missing)[:, :found]
        first = first + start
        rising = rising and _rises(codes, first)
        firsts.append(first[:found])
        if not rising and not _are_distinct(codes, first):
            raise NotInOrderError
        yield Counted(first[:found], words[:, :found], gaps)
        start = stop
    if not rising and not _are_distinct(codes, np.concatenate(firsts)):
        raise NotInOrderError


def _count_block(codes: VoteCodes, packing: Packing, rows: slice, index: Array) -> tuple[Array, Array]:
    """Return where each finding of some rows begins, counted from the first row, and the words of its rounds."""
    changes: Any = False
    for column in codes.key:
        part = column.codes[rows]
        changes = changes | (part[1:] != part[:-1])
    first = np.concatenate([[0], np.flatnonzero(changes) + 1])
    votes = packing.words.take(index)
    if codes.n_rounds == 1:
        return first, np.add.reduceat(votes, first)[None]
    words = np.zeros((codes.n_rounds, len(first)), dtype=votes.dtype)
    np.add.at(words.reshape(-1), _cells(codes, rows, first), votes)
    return first, words


def _cells(codes: VoteCodes, rows: slice, first: Array) -> Array:
    """Return the position of each vote in a table of rounds by findings."""
    cell: Array = np.repeat(np.arange(len(first)), np.diff(first, append=rows.stop - rows.start))
    cell += (codes.rounds[rows].astype(np.int64) - 1) * len(first)
    return cell


def _count_missing(codes: VoteCodes, rows: slice, first: Array, missing: Array) -> Array:
    shape = codes.n_rounds, len(first)
    return np.bincount(_cells(codes, rows, first)[missing], minlength=shape[0] * shape[1]).reshape(shape)


def _rises(codes: VoteCodes, first: Array) -> bool:
    """Return whether the key rises from finding to finding, which are then all different."""
    rises: Any = False
    for column in reversed(codes.key):
        key = column.codes.take(first)
        rises = (key[1:] > key[:-1]) | ((key[1:] == key[:-1]) & rises)
    return bool(np.all(rises))


def _are_distinct(codes: VoteCodes, first: Array) -> bool:
    return bool(pd.Index(_keys(codes, first)).is_unique)


def _keys(codes: VoteCodes, rows: Any) -> Array:
    """Return a number for the finding of each of some rows: equal where the finding is the same."""
    if prod(column.span for column in codes.key) >= MAX_KEY:
        raise NotPackedError
    key = np.zeros(1, dtype=np.int64)
    for column in codes.key:
        key = key * column.span + (column.codes[rows].astype(np.int64) - column.low)
    return key


def votes_in_any_order(codes: VoteCodes, packing: Packing, fill: Fill | None = None) -> Counted:
    """Return the votes on all findings, each counted where the key of its finding says.

    Raises NotPackedError where a worker votes twice, and where there are far more findings and rounds than votes.
    """
    number, n_numbers = numbers(codes)
    n, shape = len(number), (codes.n_rounds, n_numbers)
    if shape[0] * shape[1] > MAX_CELLS_A_VOTE * n:
        raise NotPackedError
    words = np.zeros(shape, dtype=packing.words.dtype)
    gaps = np.zeros(shape, dtype=np.int32) if fill is not None else None
    first = np.full(n_numbers, n)
    for start in range((n - 1) // BLOCK_VOTES * BLOCK_VOTES, -1, -BLOCK_VOTES):
        rows = slice(start, min(start + BLOCK_VOTES, n))
        index = codes.indices(rows)
        cell = number[rows].astype(np.int64)
        first[cell[::-1]] = np.arange(rows.stop - 1, start - 1, -1)  # of several the last: the first row
        cell += (codes.rounds[rows].astype(np.int64) - 1) * n_numbers
        missing = codes.missing(rows) if fill is not None else None
        if fill is not None and gaps is not None and missing is not None:
            np.add.at(gaps.reshape(-1), cell[missing], 1)
            index = fill(index, missing, rows)
        np.add.at(words.reshape(-1), cell, packing.words.take(index))
    _refuse_repeats(packing, words, n)
    is_first = np.zeros(n, dtype=bool)
    is_first[first[first < n]] = True
    appearing = np.flatnonzero(is_first)
    order = number[appearing]
    return Counted(appearing, words[:, order], None if gaps is None else gaps[:, order])


def numbers(codes: VoteCodes) -> tuple[Array, int]:
    """Return the number of each vote's finding, from 0, and a limit of these numbers: as small as the keys allow."""
    most = MAX_CELLS_A_VOTE * len(codes.rounds)
    *others, last = codes.key
    if prod(column.span for column in codes.key) <= most:
        return _keys(codes, slice(None)), prod(column.span for column in codes.key)
    number = last.codes - last.low if last.low else last.codes
    if last.span <= most and all(_follows(column.codes, number, last.span) for column in others):
        return number, last.span
    found, distinct = pd.factorize(_keys(codes, slice(None)))
    return found, len(distinct)


def _follows(values: Array, number: Array, n_numbers: int) -> bool:
    """Return whether rows of one number have one value: as where the ids of findings differ between runs."""
    table = np.zeros(n_numbers, dtype=values.dtype)
    table[number] = values
    return all(
        bool((table[number[start : start + BLOCK_VOTES]] == values[start : start + BLOCK_VOTES]).all())
        for start in range(0, len(number), BLOCK_VOTES)
    )


def _refuse_repeats(packing: Packing, words: Array, n_votes: int) -> None:
    """Raise NotPackedError if a worker votes twice in a round: the bits of a sum are fewer than its terms, then."""
    lower = words.dtype.type((1 << packing.n_workers) - 1)
    if int(np.bitwise_count(words & lower).sum(dtype=np.int64)) != n_votes:
        raise NotPackedError
