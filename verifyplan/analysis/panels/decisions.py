"""Decide as a panel does with all its workers and without each one: classes of runs, majorities of tables (rule F3)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.clusters import Clusters, clusters_of_findings, clusters_of_units
from verifyplan.analysis.judgement import counts_suffice
from verifyplan.analysis.panels.leave_one_out import Floats, LeaveOneOut
from verifyplan.analysis.parts_to_judge import parts_to_judge
from verifyplan.analysis.replay import ReplayPart, Setting, replay_parts
from verifyplan.analysis.tally import CodedVotes, count, fill_bases
from verifyplan.frames.panel_votes import Ints, PanelVotes
from verifyplan.frames.runset import RunSet
from verifyplan.rules.classification import Tally
from verifyplan.rules.round_decisions import decide_rounds, rounds_held, rule_set, rules_of_tally

Bools = npt.NDArray[np.bool_]
_KEY = ["run_id", "iteration", "finding_id"]


@dataclass(frozen=True, eq=False)
class ClassesWithout:
    """The class of each finding with all workers' votes, and without those of each one."""

    findings: pd.DataFrame
    """One row a finding that has a class, as `replay` gives it."""
    workers: tuple[str, ...]
    """The workers, sorted."""
    classes: Ints
    """The class with all votes, as a code."""
    without: Ints
    """The class without each worker, of shape (findings, workers)."""
    censored: Bools
    """Whether that class rests on votes that were never cast, in the same shape."""
    voted: Bools
    """Whether the worker voted on the finding, in the same shape."""


def classes_without(runs: RunSet, setting: Setting) -> ClassesWithout:
    """Return the classes that the votes of runs give under a setting, with all workers and without each one.

    Without a worker, its votes of all rounds are as if they had been lost; rounds stay as they were. Discoverers stay
    discoverers. A dataset is judged part by part. Raises the errors of `replay`.
    """
    parts = [_part_without(part, setting) for part in parts_to_judge(runs, setting.rules)]
    if len(parts) == 1:
        return parts[0]
    workers = tuple(sorted({name for part in parts for name in part.workers}))
    return ClassesWithout(
        findings=pd.concat([part.findings for part in parts], ignore_index=True),
        workers=workers,
        classes=np.concatenate([part.classes for part in parts]),
        without=np.concatenate([_of_all(part, part.without, part.classes, workers) for part in parts]),
        censored=np.concatenate(
            [_of_all(part, part.censored, part.findings["censored"].to_numpy(dtype=bool), workers) for part in parts]
        ),
        voted=np.concatenate(
            [_of_all(part, part.voted, np.zeros(len(part.findings), dtype=bool), workers) for part in parts]
        ),
    )


def _of_all(part: ClassesWithout, own: npt.NDArray[Any], others: npt.NDArray[Any], workers: tuple[str, ...]) -> Any:
    """Return values of shape (findings, workers) for more workers than vote in a part, who have the values `others`."""
    values = np.repeat(others[:, None], len(workers), axis=1).astype(own.dtype)
    values[:, [workers.index(name) for name in part.workers]] = own
    return values


def _part_without(runs: RunSet, setting: Setting) -> ClassesWithout:
    table = setting.replay(runs)
    table = table[table["classification"].notna().to_numpy()].reset_index(drop=True)
    named = runs.votes["worker"][~runs.votes["is_origin"].fillna(False).to_numpy(dtype=bool)]
    workers = tuple(sorted(map(str, named.unique())))
    shape = (len(table), len(workers))
    classes = table["classification"].cat.codes.to_numpy(dtype=np.int64)
    without = np.repeat(classes[:, None].astype(np.int8), shape[1], axis=1)
    censored = np.repeat(table["censored"].to_numpy(dtype=bool)[:, None], shape[1], axis=1)
    voted = np.zeros(shape, dtype=bool)
    place = pd.Series(np.arange(len(table)), index=pd.MultiIndex.from_frame(table[_KEY]))
    for part in replay_parts(runs, setting.rules):
        if not part.cast.counted.any():  # all votes are lost, or their findings' discoverers cast them
            continue
        rows = place.reindex(pd.MultiIndex.from_frame(part.cast.findings[_KEY])).to_numpy()
        filled = fill_bases(part.votes, part.cast, part.rules.missing_basis)
        cast = part.cast if part.mode == "collaborative" else replace(part.cast, basis=filled)
        worker = pd.Index(workers).get_indexer(pd.Index(part.votes["worker"]))
        if part.all_asked and counts_suffice(part.rules):
            pairs = _without_by_counts(part, cast, worker)
            at = rows[pairs.finding], pairs.worker
            voted[at], without[at], censored[at] = True, pairs.classification, pairs.censored
            continue
        for number in range(shape[1]):
            own = cast.counted & (worker == number)
            voted[rows[np.unique(cast.finding[own])], number] = True
            left = replace(cast, counted=cast.counted & ~own, failed=cast.failed | own)
            judged = part.judged(left)
            without[rows, number] = judged["classification"].cat.codes
            censored[rows, number] = judged["censored"]
    return ClassesWithout(table, workers, classes, without, censored, voted)


class _ClassWithout(NamedTuple):
    """The class of a finding without a worker who voted on it; one entry a finding and worker."""

    finding: Ints
    worker: Ints
    classification: Ints
    censored: Bools


def _without_by_counts(part: ReplayPart, cast: CodedVotes, worker: Ints) -> _ClassWithout:
    """Return the classes without each worker by tallies from which its own votes are subtracted.

    One entry for each finding and worker who voted on it: the time grows with the votes, not with votes x workers.
    """
    width = int(worker.max(initial=0)) + 1
    pair = np.zeros(len(worker), dtype=np.int64)  # votes that do not count are in no tally
    pair[cast.counted], distinct = pd.factorize((cast.finding * width + worker)[cast.counted])
    finding, own = distinct // width, replace(cast, finding=pair, findings=pd.DataFrame(index=range(len(distinct))))
    allowed = part.max_rounds[finding]
    executed = np.minimum(cast.last_round[finding], allowed)
    rounds = int(executed.max(initial=1))
    of_all, of_pair = count(cast, cast.basis, rounds), count(own, cast.basis, rounds)
    left = Tally(
        *(np.asarray(every)[:, finding] - np.asarray(each) for every, each in zip(of_all, of_pair, strict=True))
    )
    rules = rules_of_tally(left, rule_set(part.rules, part.mode), part.rules.majority)
    decision = decide_rounds(rules, executed, part.rules)
    censored = cast.lack_votes(rounds_held(decision, allowed, part.rules), finding)
    return _ClassWithout(finding, distinct % width, decision.classification, censored)


class DecisionChanges(NamedTuple):
    """How far each decision that a worker voted on is another without that worker; one entry a decision and worker."""

    change: Floats
    """From 0 to 1."""
    decision: Ints
    """The position of the decision in `clusters`."""
    worker: Ints
    """The position of the worker among the workers, sorted."""
    clusters: Clusters
    """One entry a decision."""


def class_changes(classes: ClassesWithout) -> DecisionChanges:
    """Return which classes of findings change without each worker: 1 or 0."""
    decision, worker = np.nonzero(classes.voted)
    changed = (classes.without != classes.classes[:, None])[decision, worker]
    return DecisionChanges(changed.astype(np.float64), decision, worker, clusters_of_findings(classes.findings))


def majority_changes(votes: LeaveOneOut) -> DecisionChanges:
    """Return how far the majority on each unit with a vote changes without each worker.

    A tie is half of each of two labels, so a majority that becomes a tie has changed by a half. A unit that a worker
    alone voted on has no majority without it: the two are no entry.
    """
    decided = votes.decided
    place = np.cumsum(decided) - 1
    clusters = clusters_of_units(votes.votes).take(decided)
    both = votes.others > 0
    return DecisionChanges(votes.change[both], place[votes.votes.unit[both]], votes.votes.worker[both], clusters)


def whole_runs(votes: PanelVotes) -> RunSet | None:
    """Return the runs that votes were read from, if these are all of their votes; None for a table, or a part."""
    if votes.runs is None:
        return None
    cast = sum(int((~part["is_origin"].fillna(False)).sum()) for part in votes.runs.votes_by_part(["is_origin"]))
    return votes.runs if cast == len(votes) else None
