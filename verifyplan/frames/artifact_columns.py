"""Many artifacts as columns: runs, findings, votes and history, each with the position of what it belongs to (rule B9).

Artifacts are taken some at a time, so that few of their objects are in memory, and in the processor's cache, at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from verifyplan.protocol.artifact import (
    COUNT_KEY_OF_CLASS,
    DISPATCH_STATUSES,
    FINAL_STATES,
    ROUND2_REASONS,
    Artifact,
    ArtifactConfig,
    ClassificationCounts,
)
from verifyplan.protocol.vote import BASES, CLASSIFICATIONS, VERDICTS

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Texts: TypeAlias = Any
"""Texts as an Arrow array."""
Names = list[list[str]]
"""Lists of names, empty where there is none; equal ones are one list."""
Part = TypeVar("Part", bound=tuple[Any, ...])


class Runs(NamedTuple):
    """One entry an artifact."""

    config: list[ArtifactConfig]
    task_key: list[str | None]
    schema_version: list[str]
    total_rounds: Floats
    final_state: Ints
    """Codes of FINAL_STATES; -1 for none, as in all codes."""
    round2_skipped_reason: Ints
    """Codes of ROUND2_REASONS."""
    has_history: Bools
    counts: Floats
    """A row an artifact, a column for each of CLASSIFICATIONS; NaN where the number is not recorded."""


class Findings(NamedTuple):
    """One entry a finding."""

    run: Ints
    finding_id: Texts
    summary: Texts
    category: Texts
    evidence: Texts
    origin: Ints
    """Codes of workers."""
    classification: Ints
    """Codes of CLASSIFICATIONS."""
    has_rounds: Bools
    ticket_ids: Names
    consensus: Names
    dissenting: Names


class Consensus(NamedTuple):
    """One entry a worker of a finding's consensus."""

    finding: Ints
    worker: Ints


class Rounds(NamedTuple):
    """One entry a round of a finding."""

    finding: Ints
    number: Ints


class Votes(NamedTuple):
    """One entry a vote."""

    round: Ints
    """Positions among the rounds of findings."""
    worker: Ints
    verdict: Ints
    """Codes of VERDICTS."""
    basis: Ints
    """Codes of BASES."""
    explanation: Texts


class History(NamedTuple):
    """One entry a round of a run."""

    run: Ints
    number: Ints
    input_queue_size: Floats
    resolved_count: Floats
    carried_forward_count: Floats


class Dispatches(NamedTuple):
    """One entry a call of a worker in a round of a run."""

    entry: Ints
    """Positions in the history."""
    worker: Ints
    status: Ints
    """Codes of DISPATCH_STATUSES."""
    duration_ms: Floats


class Skips(NamedTuple):
    """One entry a worker that gave no votes in a round of a run."""

    entry: Ints
    """Positions in the history."""
    worker: Ints
    reason: Texts


class ArtifactColumns(NamedTuple):
    """All that several artifacts hold, in the order in which it is recorded."""

    runs: Runs
    findings: Findings
    consensus: Consensus
    rounds: Rounds
    votes: Votes
    history: History
    dispatches: Dispatches
    skips: Skips
    workers: tuple[str, ...]
    """The names of all workers, by their codes."""
    names_are_plain: bool
    """Whether no name, of a worker or in a list, is blank or has a colon."""

    @property
    def finding_of_vote(self) -> Ints:
        """Of each vote: the position of its finding."""
        return self.rounds.finding[self.votes.round]

    @property
    def rounds_of_finding(self) -> Ints:
        """Of each finding: how many rounds it has."""
        return np.bincount(self.rounds.finding, minlength=len(self.findings.run))


class Codes(dict[str | None, int]):
    """A number from 0 on for each name, in the order in which they are first met; -1 for None.

    >>> workers = Codes()
    >>> workers.of(["ann", None, "bob", "ann"]).tolist(), workers.names
    ([0, -1, 1, 0], ('ann', 'bob'))
    """

    def __init__(self) -> None:
        self[None] = -1

    def __missing__(self, name: str | None) -> int:
        """Return the code of a new name: the next number."""
        code = self[name] = len(self) - 1
        return code

    def of(self, names: Collection[str | None]) -> Ints:
        """Return the codes of some names."""
        return _looked_up(names, self)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, by their codes."""
        return tuple(name for name in self if name is not None)


class SharedLists(dict[tuple[str, ...], list[str]]):
    """One list for all that are equal: most findings have the same few, and a list each would be 30 % of the memory.

    >>> lists = SharedLists()
    >>> ann, none, again = lists.of([["ann"], None, ("ann",)])
    >>> ann, none, ann is again
    (['ann'], [], True)
    """

    def __init__(self) -> None:
        self.are_plain = True
        """Whether no name is blank or has a colon."""

    def __missing__(self, names: tuple[str, ...]) -> list[str]:
        """Return a new list, which is shared from now on."""
        made = self[names] = list(names)
        self.are_plain &= _are_plain(made)
        return made

    def of(self, lists: Iterable[Iterable[str] | None]) -> Names:
        """Return some lists, each of them the first that was equal."""
        return [self[tuple(names or ())] for names in lists]


class ArtifactsInColumns:
    """The columns of artifacts that are added some at a time.

    >>> from verifyplan.protocol.artifact import Artifact, ArtifactFinding
    >>> artifacts = ArtifactsInColumns()
    >>> for _ in range(2):
    ...     added = artifacts.add([Artifact(schemaVersion="1.1", findings=(ArtifactFinding(findingId="F"),))])
    >>> added.findings.run.tolist()
    [1]
    >>> artifacts.columns().findings.run.tolist()
    [0, 1]
    """

    def __init__(self) -> None:
        self._workers = Codes()
        self._lists = SharedLists()
        self._parts: list[tuple[Any, ...]] = []
        self._sizes = np.zeros(4, dtype=np.int64)

    def add(self, artifacts: Sequence[Artifact]) -> ArtifactColumns:
        """Add artifacts behind those that are there, and return their columns; they are not needed any more."""
        runs, findings, rounds, entries = self._sizes.tolist()
        config, all_findings, all_entries = (_each(name, artifacts) for name in ("config", "findings", "roundHistory"))
        their_findings, run_of_finding = _flat(all_findings, runs)
        their_entries, run_of_entry = _flat(all_entries, runs)
        their_rounds, finding_of_round = _flat(_each("rounds", their_findings), findings)
        self._parts.append(
            (
                _runs(artifacts, config),
                self._findings(their_findings, run_of_finding),
                self._consensus(their_findings, findings),
                Rounds(finding_of_round, np.array(_each("round", their_rounds), dtype=np.int64)),
                self._votes(_each("votes", their_rounds), rounds),
                _history(their_entries, run_of_entry),
                self._dispatches(their_entries, entries),
                self._skips(their_entries, entries),
            )
        )
        self._sizes += [len(artifacts), len(their_findings), len(their_rounds), len(their_entries)]
        return self._with_names(self._parts[-1])

    def columns(self) -> ArtifactColumns:
        """Return all that was added."""
        if not self._parts:
            self.add([])
        return self._with_names([_joined(parts) for parts in zip(*self._parts, strict=True)])

    def _with_names(self, levels: Iterable[Any]) -> ArtifactColumns:
        workers = self._workers.names
        return ArtifactColumns._make([*levels, workers, self._lists.are_plain and _are_plain(workers)])

    def _findings(self, findings: list[Any], run: Ints) -> Findings:
        ids, summary, category, evidence = (
            _texts(name, findings) for name in ("findingId", "summary", "category", "originEvidence")
        )
        return Findings(
            run,
            ids,
            summary,
            category,
            evidence,
            self._workers.of(_each("originWorker", findings)),
            _coded("classification", findings, CLASSIFICATIONS),
            np.array([finding.rounds is not None for finding in findings], dtype=bool),
            self._lists.of(_each("ticketIds", findings)),
            self._lists.of(_each("consensusWorkers", findings)),
            self._lists.of(_each("dissentingWorkers", findings)),
        )

    def _consensus(self, findings: list[Any], before: int) -> Consensus:
        workers, finding = _flat(_each("consensusWorkers", findings), before)
        return Consensus(finding, self._workers.of(workers))

    def _votes(self, by_worker: list[dict[str, Any]], before: int) -> Votes:
        workers, of_round = _flat(by_worker, before)
        votes = list(chain.from_iterable(map(dict.values, by_worker)))
        return Votes(
            of_round,
            self._workers.of(workers),
            _coded("verdict", votes, VERDICTS),
            _coded("disagreeBasis", votes, BASES),
            _texts("explanation", votes),
        )

    def _dispatches(self, entries: list[Any], before: int) -> Dispatches:
        dispatches, entry = _flat(_each("dispatches", entries), before)
        workers, durations = self._workers.of(_each("worker", dispatches)), _numbers("durationMs", dispatches)
        return Dispatches(entry, workers, _coded("status", dispatches, DISPATCH_STATUSES), durations)

    def _skips(self, entries: list[Any], before: int) -> Skips:
        skips, entry = _flat(_each("skippedWorkers", entries), before)
        return Skips(entry, self._workers.of(_each("worker", skips)), _texts("reason", skips))


def _are_plain(names: Iterable[str]) -> bool:
    return all(name and ":" not in name for name in names)


def columns_of(artifacts: Sequence[Artifact]) -> ArtifactColumns:
    """Return artifacts as columns."""
    made = ArtifactsInColumns()
    made.add(artifacts)
    return made.columns()


def _runs(artifacts: Sequence[Artifact], config: list[ArtifactConfig]) -> Runs:
    counts = [count or _NO_COUNTS for count in _each("finalClassificationCounts", artifacts)]
    return Runs(
        config,
        _each("taskKey", artifacts),
        _each("schemaVersion", artifacts),
        _numbers("totalRounds", artifacts),
        _coded("finalState", artifacts, FINAL_STATES),
        _coded("round2SkippedReason", artifacts, ROUND2_REASONS),
        np.array([artifact.roundHistory is not None for artifact in artifacts], dtype=bool),
        np.column_stack([_numbers(COUNT_KEY_OF_CLASS[name], counts) for name in CLASSIFICATIONS]),
    )


_NO_COUNTS = ClassificationCounts()


def _history(entries: list[Any], run: Ints) -> History:
    names = ("inputQueueSize", "resolvedCount", "carriedForwardCount")
    numbers = np.array(_each("round", entries), dtype=np.int64)
    return History(run, numbers, *(_numbers(name, entries) for name in names))


def _each(name: str, parts: Iterable[Any]) -> list[Any]:
    """Return an attribute of each part."""
    return list(map(attrgetter(name), parts))


def _texts(name: str, parts: Iterable[Any]) -> Texts:
    return pa.array(_each(name, parts), pa.large_string())


def _numbers(name: str, parts: Iterable[Any]) -> Floats:
    """Return a number of each part, NaN for None: below 2**53 they are exact."""
    return np.array(_each(name, parts), dtype=np.float64)


def _coded(name: str, parts: Collection[Any], words: tuple[str, ...]) -> Ints:
    """Return an attribute of each part as a code of some words; -1 for None."""
    codes: dict[str | None, int] = {None: -1, **{word: code for code, word in enumerate(words)}}
    return _looked_up(_each(name, parts), codes)


def _looked_up(names: Collection[str | None], codes: dict[str | None, int]) -> Ints:
    return np.fromiter(map(codes.__getitem__, names), np.int64, len(names))


def _flat(owners: Sequence[Collection[Any] | None], before: int) -> tuple[list[Any], Ints]:
    """Return what owners hold, one after another, and the position of the owner of each, `before` being before them."""
    present = [parts or () for parts in owners]
    lengths = np.fromiter(map(len, present), np.int64, len(present))
    return list(chain.from_iterable(present)), before + np.repeat(np.arange(len(present)), lengths)


def _joined(parts: Sequence[Part]) -> Part:
    """Return columns one behind the other, field by field."""
    return type(parts[0])(*(_JOIN[type(fields[0])](fields) for fields in zip(*parts, strict=True)))


_JOIN: dict[type, Callable[[Sequence[Any]], Any]] = {
    list: lambda fields: list(chain.from_iterable(fields)),
    np.ndarray: np.concatenate,
    pa.LargeStringArray: pa.concat_arrays,
}
