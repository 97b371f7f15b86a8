"""Read votes that are ties by a named reading: against the claim, for it, shared out, or lost (rules E4, B7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.errors import Problem, one_of
from verifyplan.text import counted

Ties: TypeAlias = Literal["against", "for", "share", "lost"]
"""How a tie of a judge counts: it does not uphold the claim, upholds it, does so by lot, or is no vote."""

TIES: tuple[Ties, ...] = get_args(Ties)
TIE = "tie"
"""The word of a vote that is a tie, in any case."""

TIES_IN_WORDS: dict[Ties, str] = {
    "against": "a judge's tie counts against the claim",
    "for": "a judge's tie counts for the claim",
    "share": "a judge's tie counts for or against the claim by lot",
    "lost": "a judge's tie counts as a lost vote",
}
"""Each reading as the start of a sentence, for captions and notes."""

_FIX = (
    "give ties='against' (a tie does not uphold the claim), 'for' (it does), 'share' (half of the ties do, by lot) or "
    "'lost' (a tie is no vote), and name the reading with your figures"
)


def ties_problems(ties: object, n_ties: int = 0, place: str = "votes: ties") -> list[Problem]:
    """Return what is wrong with the argument `ties`: an unknown reading, or none where there are ties."""
    if ties is not None and ties not in TIES:
        return [Problem(place, f"must be one of {one_of(TIES)}, got {ties!r}", _FIX)]
    if ties is None and n_ties:
        verb = "is a tie" if n_ties == 1 else "are ties"
        return [Problem(place, f"{counted(n_ties, 'vote')} {verb}, and nothing says how they count", _FIX)]
    return []


def upheld_by_lot(keys: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Return for each vote whether a tie upholds the claim where ties are shared: for about half of them.

    `keys` has the `item`, the `worker` and, where there are any, the `round` of each vote. The lot is a digest of these
    three as text (round 1 where there are none), so that a vote falls on the same side by whatever function its table
    is read, and in every run.

    >>> keys = pd.DataFrame({"item": range(1000), "worker": "ann"})
    >>> int(upheld_by_lot(keys).sum())
    511
    """
    rounds = pd.to_numeric(keys["round"], errors="coerce").astype("Int64") if "round" in keys else 1
    texts = keys[["item", "worker"]].assign(round=rounds).astype("str").astype("object")
    digests = pd.util.hash_pandas_object(texts, index=False).to_numpy()
    return np.asarray(digests >> np.uint64(33) & np.uint64(1), dtype=bool)


def ties_of_runs(runs: pd.DataFrame) -> tuple[Ties, ...]:
    """Return the readings of ties in the table `runs`, in the order of TIES; none where no vote was a tie."""
    known = set(runs["ties"].dropna())
    return tuple(reading for reading in TIES if reading in known)


def ties_sentence(readings: Sequence[Ties]) -> str:
    """Return how ties were read as a sentence, blank where no vote was a tie.

    >>> ties_sentence(["against"]), ties_sentence([])
    ("A judge's tie counts against the claim.", '')
    >>> ties_sentence(["against", "lost"])
    "Ties were read in several ways: a judge's tie counts against the claim; a judge's tie counts as a lost vote."
    """
    words = [TIES_IN_WORDS[reading] for reading in readings]
    if len(words) < 2:
        return "".join(f"{each[0].upper()}{each[1:]}." for each in words)
    return f"Ties were read in several ways: {'; '.join(words)}."


def tied_sides(ties: Ties, keys: pd.DataFrame, words: tuple[Any, Any, Any]) -> npt.NDArray[Any]:
    """Return the word, or code, for each tied vote, given those of a vote for, against and lost.

    >>> tied_sides("lost", pd.DataFrame({"item": [1, 2]}), ("agree", "disagree", None)).tolist()
    [None, None]
    """
    upheld, refused, lost = words
    if ties == "share":
        return np.where(upheld_by_lot(keys), np.array(upheld, dtype="object"), np.array(refused, dtype="object"))
    word = {"for": upheld, "against": refused, "lost": lost}[ties]
    filled = np.empty(len(keys), dtype="object")
    filled[:] = word
    return filled
