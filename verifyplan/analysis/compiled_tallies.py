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

from verifyplan.analysis.vote_packing import Counted, Packing, row_type

if TYPE_CHECKING:
    from verifyplan.analysis.block_threads import Scratch
    from verifyplan.analysis.narrow_codes import ColumnCodes, VoteCodes

Array = npt.NDArray[Any]

CountBlock = Callable[[slice, Array, "Scratch"], tuple[Array, Array]]
"""Returns where each finding of some rows begins, and the words of its rounds, from the rows and their indices."""

JudgeBlock = Callable[[slice, "Scratch"], "tuple[Counted, dict[str, Array], bool] | None"]
"""Returns the counted votes of some rows, the fields of their decisions, and whether the keys rise; None where a worker
votes twice, or a key or basis is missing."""

MIN_VOTES = 5_000_000
"""Tables with so many votes are counted by compiled loops: to load them takes half a second, once in a process."""

MIN_VOTES_LOADED = 200_000
"""Where they are loaded already, tables with so many."""

_LOOPS = "verifyplan.analysis.compiled_loops"


def compiled_count(codes: VoteCodes, packing: Packing) -> CountBlock | None:
    """Return what counts a block of votes by compiled loops; None where numba is not installed, or does not pay.

    The loops are compiled at their first use on a machine, and kept on disk.
    """
    return (
        partial(_count_block, import_module(_LOOPS), codes, packing.words.astype(np.uint64)) if _pays(codes) else None
    )


def compiled_judge(codes: VoteCodes, packing: Packing, table: Array | None) -> JudgeBlock | None:
    """Return what judges a block of votes of one round in one compiled pass, by a table of decisions; None as above.

    None, too, without such a table, and where findings have more than two keys, or discoverers vote.
    """
    if table is None or table.dtype.itemsize != 4 or codes.is_origin is not None or len(codes.key) != 2:
        return None
    if not packing.names_voters or not _pays(codes):
        return None
    disagree = codes.verdicts.index("disagree") if "disagree" in codes.verdicts else len(codes.verdicts)
    index = np.uint8 if len(packing.words) <= 2**8 else np.uint16
    kinds = np.array([codes.worker.low, len(codes.verdicts), len(codes.bases) + 1, disagree]).astype(index)
    words, bits = packing.words.astype(np.uint64), np.uint64(packing.lower_bits)
    return partial(_judge_block, import_module(_LOOPS), codes, (*kinds, *map(_lowest, codes.key)), (words, bits), table)


def _pays(codes: VoteCodes) -> bool:
    enough = MIN_VOTES_LOADED if _LOOPS in sys.modules else MIN_VOTES
    return len(codes.rounds) >= enough and find_spec("numba") is not None


def _judge_block(
    loops: Any, codes: VoteCodes, kinds: Any, words_of: Any, table: Array, rows: slice, scratch: Scratch
) -> tuple[Counted, dict[str, Array], bool] | None:
    n = rows.stop - rows.start
    keys = tuple(_as_compiled(column.codes[rows]) for column in codes.key)
    first, words, decided = (
        scratch.array(name, n + 1, kind)
        for name, kind in (("starts", np.int32), ("words", np.uint64), ("decided", np.uint32))
    )
    n, rises, repeats, missing = loops.judge_one_round(
        keys,
        codes.rounds[rows],
        tuple(_unsigned(column[rows]) for column in (codes.worker.codes, codes.verdict, codes.basis)),
        kinds,
        *words_of,
        table.view(np.uint32),
        tuple(
            scratch.array(name, loops.TILE_VOTES, kind)
            for name, kind in (("index", kinds[0].dtype), ("begins", np.uint8))
        ),
        (first, words, decided),
    )
    if repeats or missing:
        return None
    row, outer, inner = (np.empty(n, dtype=each) for each in (row_type(rows.stop), *(key.dtype for key in keys)))
    fields = tuple(np.empty((4, n), dtype=np.uint8))
    loops.write_findings(keys, first, decided, rows.start, (row, outer, inner, *fields))
    names = (table.dtype.names or ())[:: 1 if sys.byteorder == "little" else -1]
    named = {name: of_each.view(table.dtype[name]) for name, of_each in zip(names, fields, strict=True)}
    return Counted(row, (outer, inner), words[None, :n], None), named, rises


def _unsigned(codes: Array) -> Array:
    """Return codes of one of two widths, a missing one as the highest number."""
    return np.ascontiguousarray(codes, dtype=np.int64 if codes.dtype.itemsize > 1 else np.int8).view(
        np.uint64 if codes.dtype.itemsize > 1 else np.uint8
    )


def _count_block(
    loops: Any, codes: VoteCodes, words_of: Array, rows: slice, index: Array, scratch: Scratch
) -> tuple[Array, Array]:
    run, *others = (_as_compiled(column.codes[rows]) for column in codes.key)
    n, finding = len(index), others[-1]
    outer = run if len(others) == 1 else np.cumsum(np.append(False, _changes(run) | _changes(others[0])))
    first = scratch.array("first", n, np.int64)
    words = scratch.array("of_rounds", codes.n_rounds * n, np.uint64).reshape(codes.n_rounds, n)
    words.fill(0)
    n = loops.add_words(outer, finding, codes.rounds[rows].astype(np.int32), index, words_of, first, words)
    return first[:n], words[:, :n]


def _lowest(column: ColumnCodes) -> Any:
    """Return the lowest code that a key may have, of the type of its codes in compiled loops."""
    kind = _as_compiled(column.codes[:0]).dtype.type
    return kind(np.iinfo(kind).min if column.names is None else 0)


def _changes(values: Array) -> Array:
    return np.asarray(values[1:] != values[:-1])


def _as_compiled(codes: Array) -> Array:
    """Return codes of one of three widths, so that few loops are compiled."""
    kind = next((each for each in (np.int16, np.int32) if np.can_cast(codes.dtype, each)), np.int64)
    return np.ascontiguousarray(codes, dtype=kind)
