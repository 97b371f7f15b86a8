"""Find, by columns over many artifacts, those that may break rule B9; `violations` then says what they break."""

from __future__ import annotations

from typing import Any

import numpy as np

from verifyplan.frames.artifact_columns import ArtifactColumns, Bools, Ints
from verifyplan.protocol.artifact import FINAL_STATES, ROUND2_REASONS
from verifyplan.protocol.vote import CLASSIFICATIONS, VERDICTS

_CONTESTED, _UNIQUE = CLASSIFICATIONS.index("contested"), CLASSIFICATIONS.index("worker-unique")
_DISAGREE, _ERROR = VERDICTS.index("disagree"), VERDICTS.index("verification-error")
_CONVERGED, _NOT_SKIPPED = FINAL_STATES.index("converged"), ROUND2_REASONS.index("not-skipped")


def suspects(columns: ArtifactColumns) -> Bools:
    """Return, for each artifact, whether it breaks rule B9 in anything but its config alone.

    >>> from verifyplan.frames.artifact_columns import columns_of
    >>> from verifyplan.protocol.artifact import Artifact
    >>> suspects(columns_of([Artifact(schemaVersion="1.2", findings=(), roundHistory=(), totalRounds=1)])).tolist()
    [True]
    """
    runs, findings, dispatches = columns.runs, columns.findings, columns.dispatches
    broken = _totals(columns)
    broken[_repeated(findings.run, findings.finding_id.dictionary_encode().indices.to_numpy())] = True
    broken[findings.run[_finding_faults(columns)]] = True
    broken[columns.history.run[_queue_faults(columns)]] = True
    broken[columns.history.run[_repeated(dispatches.entry, dispatches.worker)]] = True
    classed = np.bincount(findings.run[findings.classification < 0], minlength=len(runs.config)) == 0
    broken |= classed & _miscounted(columns)
    broken |= classed & _misresolved(columns)
    return broken


def _differ(a: Any, b: Any) -> Bools:
    """Return whether two numbers differ where both are known."""
    return np.asarray(np.abs(a - b) > 0, dtype=bool)


def _repeated(owner: Ints, code: Ints) -> Ints:
    """Return the owners that have a code twice, as often as they have."""
    width = int(code.max(initial=0)) + 1
    pairs = np.sort(owner * width + code)
    return np.asarray(pairs[1:][np.diff(pairs) == 0] // width, dtype=np.int64)


def _place(owner: Ints) -> Ints:
    """Return the place of each part among those of its owner, from 0; the parts of an owner are together."""
    lengths = np.bincount(owner)
    return np.asarray(np.arange(len(owner)) - (np.cumsum(lengths) - lengths)[owner], dtype=np.int64)


def _queue_faults(columns: ArtifactColumns) -> Bools:
    """Return whether each round of a run is out of order, or carries on other than it should."""
    history = columns.history
    carried = history.input_queue_size - history.resolved_count
    faults = (history.number != _place(history.run) + 1) | _differ(history.carried_forward_count, carried)
    return np.asarray(faults, dtype=bool)


def _totals(columns: ArtifactColumns) -> Bools:
    """Return whether the rounds or the ending of each run are not those of its history."""
    runs, history = columns.runs, columns.history
    n_runs = len(runs.config)
    limit = np.array([config.effectiveMaxRounds for config in runs.config], dtype=np.float64)
    recorded = np.where(runs.has_history, np.bincount(history.run, minlength=n_runs), np.nan)
    left = np.full(n_runs, np.nan)
    left[history.run] = history.carried_forward_count  # of several rounds, the last counts
    rounds = np.where(runs.has_history, recorded, runs.total_rounds)
    faults = (runs.total_rounds > limit) | _differ(runs.total_rounds, recorded)
    faults |= (runs.final_state == _CONVERGED) & (left > 0)
    faults |= (runs.round2_skipped_reason == _NOT_SKIPPED) & (rounds < 2)
    return np.asarray(faults, dtype=bool)


def _finding_faults(columns: ArtifactColumns) -> Ints:
    """Return the positions of findings whose rounds are out of order, or with a basis where none belongs."""
    rounds, votes, of_vote = columns.rounds, columns.votes, columns.finding_of_vote
    misplaced = rounds.number != _place(rounds.finding) + 1
    adversarial = np.array([bool(config.adversarial) for config in columns.runs.config], dtype=bool)
    disagrees, based = votes.verdict == _DISAGREE, votes.basis >= 0
    misbased = based != (disagrees & adversarial[columns.findings.run[of_vote]])
    return np.concatenate([rounds.finding[misplaced], of_vote[misbased]])


def _miscounted(columns: ArtifactColumns) -> Bools:
    """Return whether the counts of classes are not those of the findings, all of which have one."""
    findings, (n_runs, width) = columns.findings, columns.runs.counts.shape
    known = findings.classification >= 0
    at = findings.run[known] * width + findings.classification[known]
    found = np.bincount(at, minlength=n_runs * width).reshape(n_runs, width)
    return np.asarray(_differ(columns.runs.counts, found).any(axis=1), dtype=bool)


def _misresolved(columns: ArtifactColumns) -> Bools:
    """Return whether a round resolved another number of findings than got their class from its votes."""
    findings, history, n_rounds = columns.findings, columns.history, columns.rounds_of_finding
    n_runs, number = len(columns.runs.config), _place(history.run) + 1
    resolved = findings.classification != _CONTESTED
    unique = (findings.classification == _UNIQUE) & (n_rounds > 0)
    resolved[unique] = _heard(columns)[unique]
    width = 1 + max(n_rounds.max(initial=0), number.max(initial=0))
    settled = np.bincount(findings.run[resolved] * width + n_rounds[resolved], minlength=n_runs * width)
    differs = _differ(history.resolved_count, settled[history.run * width + number])
    wrong = np.zeros(n_runs, dtype=bool)
    wrong[history.run[differs]] = True
    other_rules = [bool(config.votingRules or config.supplementary) for config in columns.runs.config]
    wrong[np.array(other_rules, dtype=bool) | (np.bincount(findings.run, minlength=n_runs) == 0)] = False
    wrong[findings.run[~findings.has_rounds]] = False
    return wrong


def _heard(columns: ArtifactColumns) -> Bools:
    """Return whether each finding has a vote in its last round that is no error and not its first discoverer's."""
    votes, origin, of_vote = columns.votes, columns.findings.origin, columns.finding_of_vote
    last = np.cumsum(columns.rounds_of_finding) - 1
    counts = (votes.verdict != _ERROR) & (votes.round == last[of_vote]) & (votes.worker != origin[of_vote])
    return np.bincount(of_vote[counts], minlength=len(origin)) > 0
