"""Count votes into packed words by compiled loops, where numba is installed and pays for its start."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from verifyplan.analysis.narrow_codes import VoteCodes
    from verifyplan.analysis.packed_tallies import Packing

Array = npt.NDArray[Any]

CountBlock = Callable[[slice, Array], tuple[Array, Array]]
"""Returns where each finding of some rows begins, and the words of its rounds, from the rows and their indices."""

MIN_VOTES = 5_000_000
"""Tables with so many votes are counted by compiled loops: to load them takes half a second, once in a process."""

MIN_VOTES_LOADED = 200_000
"""Where they are loaded already, tables with so many."""

_LOOPS = "verifyplan.analysis.compiled_loops"


def compiled_count(codes: VoteCodes, packing: Packing) -> CountBlock | None:
    """Return what counts a block of votes by compiled loops; None where numba is not installed, or does not pay.

    The loops are compiled at their first use on a machine, and kept on disk.
    """
    enough = MIN_VOTES_LOADED if _LOOPS in sys.modules else MIN_VOTES
    if len(codes.rounds) < enough or len(codes.key) != 2 or find_spec("numba") is None:
        return None
    return partial(_count_block, import_module(_LOOPS), codes, packing.words.astype(np.uint64))


def _count_block(loops: Any, codes: VoteCodes, words_of: Array, rows: slice, index: Array) -> tuple[Array, Array]:
    outer, inner = (_as_compiled(column.codes[rows]) for column in codes.key)
    first = np.empty(len(index), dtype=np.int64)
    if codes.n_rounds == 1:
        of_round = np.empty(len(index), dtype=np.uint64)
        n = loops.add_words_of_one_round(outer, inner, index, words_of, first, of_round)
        return first[:n], of_round[None, :n]
    words = np.zeros((codes.n_rounds, len(index)), dtype=np.uint64)
    n = loops.add_words(outer, inner, codes.rounds[rows].astype(np.int32), index, words_of, first, words)
    return first[:n], words[:, :n]


def _as_compiled(codes: Array) -> Array:
    """Return codes of one of two widths, so that few loops are compiled."""
    return np.ascontiguousarray(codes, dtype=np.int64 if codes.dtype.itemsize > 4 else np.int32)
