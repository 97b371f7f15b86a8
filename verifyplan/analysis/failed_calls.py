"""Say how many calls of runs failed, and why, before any figure that rests on the others (rules A11, B8)."""

from __future__ import annotations

from collections import Counter

from verifyplan.frames.dataset.dataset import Dataset
from verifyplan.frames.run_notes import failure_counts
from verifyplan.frames.runset import RunSet
from verifyplan.rules.failed_calls import FailureKind, failed_words


def failed_calls_of(runs: RunSet) -> str:
    """Return how many calls of runs failed and why, without a full stop; blank where none did.

    A dataset is read part by part. What artifacts and tables of votes do not tell is not counted.

    >>> failed_calls_of(RunSet())
    ''
    """
    kinds: Counter[FailureKind] = Counter()
    n_calls = 0
    for part in (runs.parts if isinstance(runs, Dataset) else ()) or (runs,):
        counts, n = failure_counts(part.calls)
        kinds.update(counts)
        n_calls += n
    return failed_words(kinds, n_calls)
