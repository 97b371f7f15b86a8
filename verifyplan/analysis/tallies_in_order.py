"""Count votes on findings that follow each other into packed words, block by block and by several threads (rule B5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis import vote_packing
from verifyplan.analysis.block_threads import Scratch, in_threads
from verifyplan.analysis.compiled_tallies import CountBlock, JudgeBlock, compiled_count
from verifyplan.analysis.narrow_codes import VoteCodes
from verifyplan.analysis.tallies_in_any_order import keys
from verifyplan.analysis.vote_packing import Counted, Fill, Packing, refuse_repeated_workers, row_type

Array = npt.NDArray[Any]
T = TypeVar("T")

PROBE_VOTES = 2**12
"""So many votes are looked at first, since few tables that are not in order pass them."""


class NotInOrderError(Exception):
    """The votes on some finding do not follow each other."""


def judge_in_order(
    codes: VoteCodes, packing: Packing, fill: Fill | None, judge: Judge[T], at_once: JudgeBlock | None = None
) -> list[T]:
    """Return how the votes on some findings after the others are judged, where the votes on each follow each other.

    What `judge` is called with lasts only for the call. With `fill`, missing bases are counted, and may be filled in
    vote by vote; `at_once` judges what it can in one pass. Raises NotInOrderError where votes on a finding do not
    follow each other, NotPackedError where a worker votes twice.
    """
    count = compiled_count(codes, packing) or partial(_count_block, codes, packing)
    borders = _borders(codes)
    rising = all(_rises([column.codes[border - 1 : border + 1] for column in codes.key]) for border in borders[1:-1])
    blocks = [slice(*ends) for ends in pairwise(borders)]

    def work(rows: slice, scratch: Scratch) -> tuple[Array, bool, T]:
        done: tuple[Counted, dict[str, Array] | None, bool] | None
        done = at_once(rows, scratch) if at_once is not None else None
        if done is None:
            counted = _count_rows(codes, packing, fill, count, rows, scratch)
            done = counted, None, _rises(counted.keys)
        counted, decisions, rises = done
        if not rises:
            _refuse_disorder(codes, counted.first)
        return counted.first, rises, judge(counted, decisions)

    results = [work(blocks[0], Scratch()), *in_threads(work, blocks[1:], len(codes.rounds))]
    if not (rising and all(rises for _, rises, _ in results)):
        _refuse_disorder(codes, np.concatenate([first for first, _, _ in results]))
    return [result for _, _, result in results]


Judge = Callable[[Counted, dict[str, Array] | None], T]
"""Judges counted votes, from the fields of the decisions on them where these are known."""


def _count_rows(
    codes: VoteCodes, packing: Packing, fill: Fill | None, count: CountBlock, rows: slice, scratch: Scratch
) -> Counted:
    """Return the votes of a block, counted."""
    codes.check_keys(rows)
    codes.check_rounds(rows)
    index = codes.indices(rows, scratch)
    missing = codes.missing(rows) if fill is not None else None
    if fill is not None and missing is not None:
        index = fill(index, missing, rows)
    first, words = count(rows, index, scratch)
    packing.refuse_repeats(words, rows.stop - rows.start)
    if not packing.names_voters:
        worker = codes.worker.codes[rows] - codes.worker.low
        refuse_repeated_workers(_cells(codes, rows, first), worker, packing.n_workers)
    return Counted(
        first=_in_table(first, rows),
        keys=_keys(codes, rows, first, scratch),
        words=words,
        missing=None if missing is None else _count_missing(codes, rows, first, missing),
    )


def _keys(codes: VoteCodes, rows: slice, first: Array, scratch: Scratch) -> tuple[Array, ...]:
    """Return the codes that name the findings of a block, while these are in the cache."""
    at = scratch.array("at", len(first), np.intp)
    at[:] = first
    return tuple(column.codes[rows].take(at, mode="wrap") for column in codes.key)  # all are valid


def _in_table(first: Array, rows: slice) -> Array:
    """Return rows of the table, from those of a block."""
    kind = row_type(rows.stop)
    return np.asarray(first + kind(rows.start), dtype=kind)


def _borders(codes: VoteCodes) -> list[int]:
    """Return the rows at which blocks begin, and the number of all: a finding's votes are in one block."""
    n, borders = len(codes.rounds), [0]
    while borders[-1] < n:
        size = vote_packing.BLOCK_VOTES
        row, window = borders[-1] + (size if borders[-1] else min(size, PROBE_VOTES)), 64
        while row < n:
            begins = np.flatnonzero(_begins(codes, slice(row - 1, min(row + window, n)))[1:])
            if len(begins):
                row += int(begins[0])
                break
            row, window = row + window, 2 * window
        borders.append(min(row, n))
    return borders


def _begins(codes: VoteCodes, rows: slice, scratch: Scratch | None = None) -> Array:
    """Return whether the finding of each of some rows is another than in the row before; true at the first."""
    n = rows.stop - rows.start
    begins, differs = ((scratch or Scratch()).array(name, n, np.dtype(bool)) for name in ("begins", "differs"))
    begins[0] = True
    for position, column in enumerate(codes.key):
        part = column.codes[rows]
        np.not_equal(part[1:], part[:-1], out=(differs if position else begins)[1:])
        if position:
            begins[1:] |= differs[1:]
    return begins


def _count_block(
    codes: VoteCodes, packing: Packing, rows: slice, index: Array, scratch: Scratch
) -> tuple[Array, Array]:
    """Return where each finding of some rows begins, counted from the first row, and the words of its rounds."""
    begins = _begins(codes, rows, scratch)
    first = np.flatnonzero(begins)
    at = scratch.array("at", len(index), np.intp)
    votes, others = (scratch.array(name, len(index), packing.words.dtype) for name in ("votes", "others"))
    at[:] = index
    packing.words.take(at, out=votes, mode="wrap")  # any mode but the default writes at once; all indices are valid
    if codes.n_rounds == 1:
        return first, _sums(votes, first, others)[None]
    rounds = codes.rounds[rows]
    begins[1:] |= rounds[1:] != rounds[:-1]
    starts = np.flatnonzero(begins)  # of rounds that follow each other
    words = np.zeros((codes.n_rounds, len(first)), dtype=votes.dtype)
    cell = (rounds.take(starts).astype(np.int64) - 1) * len(first)
    cell += np.searchsorted(first, starts, side="right") - 1
    np.add.at(words.reshape(-1), cell, _sums(votes, starts, others))
    return first, words


def _sums(values: Array, starts: Array, others: Array) -> Array:
    """Return the sum of the values from each start up to the next; `values` and `others` are overwritten.

    Each sum is put together from windows of 1, 2, 4 ... values, each the sum of two smaller ones: numpy adds many
    numbers at a time in this way, unlike in a running sum.

    >>> _sums(np.array([1, 2, 3, 4]), np.array([0, 1]), np.zeros(4, dtype=int)).tolist()
    [1, 9]
    """
    left, at = np.diff(starts, append=len(values)), starts.copy()
    some, every = int(np.bitwise_or.reduce(left)), int(np.bitwise_and.reduce(left))
    sums, width = np.zeros(len(starts), dtype=values.dtype), 1
    while True:
        if every & width:
            sums += values.take(at, mode="wrap")
            at += width
        elif some & width:
            taken = left & width
            sums += values.take(at, mode="wrap") * (taken > 0)  # from the start again where nothing is taken, perhaps
            at += taken
        if 2 * width > some:
            return sums
        np.add(values[:-width], values[width:], out=others[:-width])
        values, others, width = others, values, 2 * width


def _cells(codes: VoteCodes, rows: slice, first: Array) -> Array:
    """Return the position of each vote in a table of rounds by findings."""
    cell: Array = np.repeat(np.arange(len(first)), np.diff(first, append=rows.stop - rows.start))
    cell += (codes.rounds[rows].astype(np.int64) - 1) * len(first)
    return cell


def _count_missing(codes: VoteCodes, rows: slice, first: Array, missing: Array) -> Array:
    shape = codes.n_rounds, len(first)
    return np.bincount(_cells(codes, rows, first)[missing], minlength=shape[0] * shape[1]).reshape(shape)


def _rises(keys: Sequence[Array]) -> bool:
    """Return whether each key is above the one before: their findings are different, then."""
    rises: Any = False
    for key in reversed(keys):
        rises = (key[1:] > key[:-1]) | ((key[1:] == key[:-1]) & rises)
    return bool(np.all(rises))


def _refuse_disorder(codes: VoteCodes, first: Array) -> None:
    if not pd.Index(keys(codes, first)).is_unique:
        raise NotInOrderError
