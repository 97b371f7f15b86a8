"""Read the columns of a table of votes as codes as narrow as they come: categories and integers are not copied."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from verifyplan.analysis.block_threads import Scratch
from verifyplan.frames.text_codes import arrow_texts, text_codes
from verifyplan.frames.vote_checks import NEEDED
from verifyplan.protocol.vote import BASES, VERDICTS

Array = npt.NDArray[Any]

MAX_ROUND = 2**31
"""Rounds are numbers below this."""

MAX_KEY = 2**62
"""Numbers of findings are below this."""

MAX_WORDS = 16
"""A column of verdicts or bases has at most so many different values, used or not."""

FIRST_VOTES = 10_000
"""So many votes say whether all are likely to be of one round."""

MIN_THREADED_VOTES = 100_000
"""Texts of tables with so many votes are read by several threads."""


@dataclass(frozen=True, eq=False)
class ColumnCodes:
    """A column as integers from `low` on; a missing value is -1, below it."""

    codes: Array
    """One integer a row."""
    names: Any = None
    """The values that the codes mean, an array; None where the column holds integers itself."""

    @cached_property
    def low(self) -> int:
        """The lowest code of a value."""
        return 0 if self.names is not None else int(self.codes.min())

    @cached_property
    def span(self) -> int:
        """How many codes there can be from the lowest on."""
        return len(self.names) if self.names is not None else int(self.codes.max()) - self.low + 1


class LaterRoundError(Exception):
    """Of votes that were expected to be of one round, some are not."""


class MissingKeyError(Exception):
    """The finding of some votes has no name."""


class VoteCodes(NamedTuple):
    """A table of votes as codes; arrays have one entry a vote.

    Bases may be missing, and keys, which `check_keys` must look at; nothing else.
    """

    key: tuple[ColumnCodes, ...]
    """The columns that name a finding."""
    rounds: Array
    """The round of each vote, from 1."""
    n_rounds: int
    """The highest round; where it is 1, that of the first votes, and `check_rounds` must look at the others."""
    worker: ColumnCodes
    """Who votes."""
    verdict: Array
    """The place of each verdict in `verdicts`."""
    verdicts: tuple[str, ...]
    """The verdicts that the column may hold."""
    basis: Array
    """The place of each basis in `bases`; -1 where there is none."""
    bases: tuple[str, ...]
    """All bases, in the order of the column."""
    is_origin: Array | None
    """Whether the vote is the discoverer's own; None where the table does not say."""

    @property
    def kinds(self) -> tuple[tuple[Any, Any], ...]:
        """The combinations of verdict and basis, in the order in which `indices` numbers them."""
        return tuple((verdict, basis) for verdict in self.verdicts for basis in (None, *self.bases))

    def indices(self, rows: slice, scratch: Scratch | None = None) -> Array:
        """Return the number of each vote's combination of worker and kind; a discoverer's are after all others.

        It is an array of the scratch, if there is one.
        """
        n_kinds, n_workers, n = len(self.kinds), self.worker.span, rows.stop - rows.start
        size = n_kinds * n_workers * (1 if self.is_origin is None else 2)
        dtype = np.dtype(np.uint8 if size <= 2**8 else np.uint16 if size <= 2**16 else np.uint32)
        scratch = scratch or Scratch()
        index, term = scratch.array("index", n, dtype), scratch.array("term", n, dtype)

        def add(values: Array) -> None:
            if values.dtype.itemsize == dtype.itemsize:
                np.add(index, values.view(dtype), out=index)
            else:
                np.copyto(term, values, casting="unsafe")
                np.add(index, term, out=index)

        worker = self.worker.codes[rows]
        np.copyto(index, worker - self.worker.low if self.worker.low else worker, casting="unsafe")
        np.multiply(index, dtype.type(len(self.verdicts)), out=index)
        add(self.verdict[rows])
        np.multiply(index, dtype.type(len(self.bases) + 1), out=index)
        add(self.basis[rows])
        np.add(index, dtype.type(1), out=index)  # a missing basis is -1, and now 0
        if self.is_origin is not None:
            np.multiply(self.is_origin[rows], dtype.type(n_kinds * n_workers), out=term)
            add(term)
        return index

    def check_rounds(self, rows: slice) -> None:
        """Raise LaterRoundError if one round was expected, and some of these votes are of another."""
        if self.n_rounds == 1 and (self.rounds[rows] != 1).any():
            raise LaterRoundError

    def check_keys(self, rows: slice) -> None:
        """Raise MissingKeyError if the finding of some of these votes has no name."""
        if any(int(column.codes[rows].min()) < 0 for column in self.key if column.names is not None):
            raise MissingKeyError

    def of_all_rounds(self) -> VoteCodes | None:
        """Return the codes with the highest round of all votes; None where some round cannot be one."""
        n_rounds = _highest_round(self.rounds)
        return self._replace(n_rounds=n_rounds) if n_rounds else None

    def missing(self, rows: slice) -> Array | None:
        """Return which votes are disagrees of others than the discoverer without a basis; None where no vote is."""
        if "disagree" not in self.verdicts:
            return None
        missing = (self.verdict[rows] == self.verdicts.index("disagree")) & (self.basis[rows] < 0)
        if self.is_origin is not None:
            missing &= ~self.is_origin[rows]
        return missing if missing.any() else None


def vote_codes(votes: pd.DataFrame) -> VoteCodes | None:
    """Return a table of votes as codes; None where a column is absent, or holds what cannot be classified.

    Where the first votes are of one round, so is expected of the others (see `VoteCodes.check_rounds`).
    """
    if any(name not in votes for name in NEEDED) or not votes.columns.is_unique or not len(votes):
        return None
    key = [name for name in ("run_id", "iteration", "finding_id") if name in votes]
    rounds, n_rounds = _rounds(votes["round"])
    if n_rounds == 0:
        return None
    names = [*key, "worker", "verdict", "disagree_basis"]
    read = dict(zip(names, _read(votes[name] for name in names), strict=True))
    verdict, basis = read["verdict"], read["disagree_basis"]
    verdicts, bases = _words(verdict), _words(basis)
    if verdicts is None or bases is None or not set(verdicts) <= set(VERDICTS) or not set(bases) <= set(BASES):
        return None
    if any(read[name].names is not None and int(read[name].codes.min()) < 0 for name in ("worker", "verdict")):
        return None
    origin = votes["is_origin"].fillna(False).to_numpy(dtype=bool) if "is_origin" in votes else None
    return VoteCodes(
        key=tuple(read[name] for name in key),
        rounds=rounds,
        n_rounds=n_rounds,
        worker=read["worker"],
        verdict=verdict.codes,
        verdicts=verdicts,
        basis=basis.codes,
        bases=(*bases, *(name for name in BASES if name not in bases)),
        is_origin=origin if origin is not None and origin.any() else None,
    )


def _words(column: ColumnCodes) -> tuple[Any, ...] | None:
    """Return the few values of a column; None where there are too many, or none that could be words."""
    if column.names is None or column.span > MAX_WORDS:
        return None
    return tuple(column.names.to_pylist() if isinstance(column.names, pa.Array) else column.names)


def _rounds(values: pd.Series[Any]) -> tuple[Array, int]:
    """Return rounds as integers, and the highest; 0 where one of them is no round."""
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iu" and values.dtype.isnative:
        rounds: Array = values.to_numpy()
    else:
        numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype="float64", na_value=np.nan)
        if not ((numbers >= 1) & (numbers < MAX_ROUND) & (numbers == np.floor(numbers))).all():
            return np.zeros(0, dtype=np.int32), 0
        rounds = numbers.astype(np.int32)
    return rounds, 1 if extent(rounds[:FIRST_VOTES]) == (1, 1) else _highest_round(rounds)


def _highest_round(rounds: Array) -> int:
    low, high = extent(rounds)
    return high if low >= 1 and high < MAX_ROUND else 0


def extent(values: Array) -> tuple[int, int]:
    """Return the lowest and the highest of some integers, which are read once.

    >>> extent(np.array([3, 1, 2]))
    (1, 3)
    """
    blocks = [values[start : start + _BLOCK] for start in range(0, len(values), _BLOCK)]
    each = [(int(block.min()), int(block.max())) for block in blocks]
    return min(low for low, _ in each), max(high for _, high in each)


_BLOCK = 2**16
"""Values are looked at so many at a time, which stay in the cache."""


def _read(columns: Iterable[pd.Series[Any]]) -> list[ColumnCodes]:
    """Return columns as codes; many texts by several threads, since Arrow lets others run."""
    several = list(columns)
    if len(several[0]) < MIN_THREADED_VOTES or not any(isinstance(each.dtype, pd.StringDtype) for each in several):
        return [codes_of(each) for each in several]
    with ThreadPoolExecutor() as threads:
        return list(threads.map(codes_of, several))


def codes_of(values: pd.Series[Any]) -> ColumnCodes:
    """Return a column as codes: of categories and integers their own, else numbered in order of appearance.

    >>> codes_of(pd.Series(["b", "a", None, "b"], dtype="category")).codes.tolist()
    [1, 0, -1, 1]
    >>> nine = codes_of(pd.Series([7, 9, 7]))
    >>> nine.codes.tolist(), nine.low, nine.span
    ([7, 9, 7], 7, 3)
    """
    array = values.array
    if isinstance(array, pd.Categorical):
        return ColumnCodes(array.codes, array.categories)
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iu" and len(values):
        integers = values.to_numpy()
        if integers.dtype.itemsize < 4 and integers.min() < 0:
            return ColumnCodes(integers.astype(np.int64))  # the difference of two may have no room in so few bits
        if values.dtype.kind == "i" or int(integers.max()) < 2**63:
            return ColumnCodes(integers)
    if isinstance(values.dtype, pd.StringDtype):
        return ColumnCodes(*text_codes(arrow_texts(values)))
    codes, names = pd.factorize(values)
    return ColumnCodes(codes, names)
