"""Find, by columns over many artifacts, those that may break rule B9; `violations` then says what they break."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from verifyplan.frames.artifact_tables import Ints, Votes
from verifyplan.protocol.artifact import COUNT_KEY_OF_CLASS, Artifact, RoundRecord
from verifyplan.protocol.vote import VERDICTS

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

_CLASS_CODES = {name: code for code, name in enumerate(COUNT_KEY_OF_CLASS)}
_CONTESTED, _UNIQUE = _CLASS_CODES["contested"], _CLASS_CODES["worker-unique"]
_DISAGREE, _ERROR = VERDICTS.index("disagree"), VERDICTS.index("verification-error")


def suspects(artifacts: Sequence[Artifact], votes: Votes) -> Bools:
    """Return, for each artifact, whether it breaks rule B9 in anything but its config alone; `votes` are theirs."""
    if not artifacts:
        return np.zeros(0, dtype=bool)
    broken = np.array([_repeats(artifact) for artifact in artifacts], dtype=bool)
    broken |= _totals(artifacts)
    broken[votes.run[_finding_faults(artifacts, votes)]] = True
    classes = np.array(
        [-1 if of.classification is None else _CLASS_CODES[of.classification] for of in votes.findings], dtype=np.int64
    )
    classed = np.bincount(votes.run[classes < 0], minlength=len(artifacts)) == 0
    broken |= classed & _miscounted(artifacts, votes, classes)
    broken |= classed & _misresolved(artifacts, votes, classes)
    return broken


def _numbers(values: Iterable[float | None]) -> Floats:
    """Return numbers as floats, NaN for None: below 2**53 they are exact."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _differ(one: Any, other: Any) -> Bools:
    """Return whether two numbers differ where both are known."""
    return np.asarray(np.abs(one - other) > 0, dtype=bool)


def _repeats(artifact: Artifact) -> bool:
    """Return whether an artifact has two findings of an id, two dispatches of a worker, or rounds out of order."""
    findings, history = artifact.findings, artifact.roundHistory or ()
    return len({finding.findingId for finding in findings}) < len(findings) or any(
        entry.round != number or _carried_wrongly(entry) or _dispatched_twice(entry)
        for number, entry in enumerate(history, start=1)
    )


def _carried_wrongly(entry: RoundRecord) -> bool:
    size, resolved, carried = entry.inputQueueSize, entry.resolvedCount, entry.carriedForwardCount
    return size is not None and resolved is not None and carried is not None and carried != size - resolved


def _dispatched_twice(entry: RoundRecord) -> bool:
    dispatches = entry.dispatches or ()
    return len({dispatch.worker for dispatch in dispatches}) < len(dispatches)


def _totals(artifacts: Sequence[Artifact]) -> Bools:
    """Return whether rounds or the ending are not those of the history."""
    total = _numbers(artifact.totalRounds for artifact in artifacts)
    limit = _numbers(artifact.config.effectiveMaxRounds for artifact in artifacts)
    histories = [artifact.roundHistory for artifact in artifacts]
    recorded = _numbers(None if history is None else len(history) for history in histories)
    left = _numbers(history[-1].carriedForwardCount if history else None for history in histories)
    converged = np.array([artifact.finalState == "converged" for artifact in artifacts], dtype=bool)
    second = np.array([artifact.round2SkippedReason == "not-skipped" for artifact in artifacts], dtype=bool)
    rounds = np.where(np.isnan(recorded), total, recorded)
    faults = (total > limit) | _differ(total, recorded) | (converged & (left > 0)) | (second & (rounds < 2))
    return np.asarray(faults, dtype=bool)


def _finding_faults(artifacts: Sequence[Artifact], votes: Votes) -> Ints:
    """Return the positions of findings whose rounds are out of order, or with a basis where none belongs."""
    position = np.arange(len(votes.rounds)) - _firsts(votes)[votes.finding_of_round]
    misplaced = np.array(votes.rounds, dtype=np.int64) != position + 1
    adversarial = np.array([artifact.adversarial for artifact in artifacts], dtype=bool)[votes.run[votes.finding]]
    disagrees, based = votes.verdict == _DISAGREE, votes.basis >= 0
    misbased = based != (disagrees & adversarial)
    return np.concatenate([votes.finding_of_round[misplaced], votes.finding[misbased]])


def _firsts(votes: Votes) -> Ints:
    """Return, for each finding, the position of its first round among all rounds."""
    lengths = np.bincount(votes.finding_of_round, minlength=len(votes.findings))
    return np.asarray(np.cumsum(lengths) - lengths, dtype=np.int64)


def _miscounted(artifacts: Sequence[Artifact], votes: Votes, classes: Ints) -> Bools:
    """Return whether the counts of classes are not those of the findings, all of which have one."""
    width = len(_CLASS_CODES)
    known = classes >= 0
    found = np.bincount(votes.run[known] * width + classes[known], minlength=len(artifacts) * width)
    recorded = _numbers(
        getattr(artifact.finalClassificationCounts, key, None)
        for artifact in artifacts
        for key in COUNT_KEY_OF_CLASS.values()
    )
    return np.asarray(_differ(recorded, found).reshape(-1, width).any(axis=1), dtype=bool)


def _misresolved(artifacts: Sequence[Artifact], votes: Votes, classes: Ints) -> Bools:
    """Return whether a round resolved another number of findings than got their class from its votes."""
    lengths = np.bincount(votes.finding_of_round, minlength=len(votes.findings))
    histories = [artifact.roundHistory or () for artifact in artifacts]
    width = 1 + max(lengths.max(initial=0), max(map(len, histories)))
    given = classes != _CONTESTED
    unique = (classes == _UNIQUE) & (lengths > 0)
    given[unique] = _heard(votes, lengths)[unique]
    settled = np.bincount(votes.run[given] * width + lengths[given], minlength=len(artifacts) * width)
    owner = np.repeat(np.arange(len(artifacts)), [len(history) for history in histories])
    number = np.array([i for history in histories for i in range(1, len(history) + 1)], dtype=np.int64)
    recorded = _numbers(entry.resolvedCount for history in histories for entry in history)
    wrong = np.bincount(owner[_differ(recorded, settled[owner * width + number])], minlength=len(artifacts)) > 0
    exempt = [
        bool(of.config.votingRules or of.config.supplementary) or not of.findings
        or any(finding.rounds is None for finding in of.findings)
        for of in artifacts
    ]  # fmt: skip
    return np.asarray(wrong & ~np.array(exempt, dtype=bool), dtype=bool)


def _heard(votes: Votes, lengths: Ints) -> Bools:
    """Return whether each finding has a vote in its last round that is no error and not its first discoverer's."""
    finding, last = votes.finding, _firsts(votes) + lengths - 1
    origins = np.array([of.originWorker for of in votes.findings], dtype="object")
    others = np.array(votes.worker, dtype="object") != origins[finding]
    counts = (votes.verdict != _ERROR) & (votes.round == last[finding]) & others
    return np.bincount(finding[counts], minlength=len(votes.findings)) > 0
