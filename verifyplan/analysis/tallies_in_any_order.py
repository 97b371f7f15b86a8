"""Count votes that come in any order into packed words, each where the key of its finding says (rule B5)."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.narrow_codes import MAX_KEY, VoteCodes
from verifyplan.analysis.vote_packing import (
    Counted,
    Fill,
    NotPackedError,
    Packing,
    refuse_repeated_workers,
)

Array = npt.NDArray[Any]

BLOCK_VOTES = 2**16
"""Votes in any order are counted so many at a time, fewer than in order: the table of findings is in the cache, too."""

MAX_CELLS_A_VOTE = 8
"""Votes in any order are counted into a table of at most so many cells, findings by rounds, for each vote."""


def votes_in_any_order(codes: VoteCodes, packing: Packing, fill: Fill | None = None) -> Counted:
    """Return the votes on all findings, each counted where the key of its finding says.

    Raises NotPackedError where a worker votes twice, and where there are far more findings and rounds than votes.
    """
    codes.check_keys(slice(None))
    codes.check_rounds(slice(None))
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
    packing.refuse_repeats(words, n)
    if not packing.names_voters:
        cell = number + (codes.rounds.astype(np.int64) - 1) * n_numbers
        refuse_repeated_workers(cell, codes.worker.codes - codes.worker.low, packing.n_workers)
    is_first = np.zeros(n, dtype=bool)
    is_first[first[first < n]] = True
    appearing = np.flatnonzero(is_first)
    order = number[appearing]
    keys_of_findings = tuple(column.codes.take(appearing) for column in codes.key)
    return Counted(appearing, keys_of_findings, words[:, order], None if gaps is None else gaps[:, order])


def numbers(codes: VoteCodes) -> tuple[Array, int]:
    """Return the number of each vote's finding, from 0, and a limit of these numbers: as small as the keys allow."""
    most = MAX_CELLS_A_VOTE * len(codes.rounds)
    *others, last = codes.key
    if prod(column.span for column in codes.key) <= most:
        return keys(codes, slice(None)), prod(column.span for column in codes.key)
    number = last.codes - last.low if last.low else last.codes
    if last.span <= most and all(_follows(column.codes, number, last.span) for column in others):
        return number, last.span
    found, distinct = pd.factorize(keys(codes, slice(None)))
    return found, len(distinct)


def keys(codes: VoteCodes, rows: Any) -> Array:
    """Return a number for the finding of each of some rows: equal where the finding is the same."""
    if prod(column.span for column in codes.key) >= MAX_KEY:
        raise NotPackedError
    key = np.zeros(1, dtype=np.int64)
    for column in codes.key:
        key = key * column.span + (column.codes[rows].astype(np.int64) - column.low)
    return key


def _follows(values: Array, number: Array, n_numbers: int) -> bool:
    """Return whether rows of one number have one value: as where the ids of findings differ between runs."""
    table = np.zeros(n_numbers, dtype=values.dtype)
    table[number] = values
    return all(
        bool((table[number[start : start + BLOCK_VOTES]] == values[start : start + BLOCK_VOTES]).all())
        for start in range(0, len(number), BLOCK_VOTES)
    )
