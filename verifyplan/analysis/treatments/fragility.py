"""Find the conclusions that rest on few votes: failed, uncited, filled-in or single ones (rule R4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.analysis.chosen_rules import chosen_rules
from verifyplan.analysis.judgement import bases_matter
from verifyplan.analysis.result_words import share_words, words_and_tables
from verifyplan.analysis.treatments.changed_votes import (
    Effect,
    Judged,
    LeftOut,
    PartVotes,
    effect_of_left_out,
    failed_as_anything,
    left_out_workers,
    other_basis,
    part_votes,
    single_votes,
    together,
)
from verifyplan.analysis.treatments.fragility_tables import (
    Change,
    change_table,
    finding_table,
    metric_table,
    worker_table,
)
from verifyplan.analysis.treatments.recorded_votes import RecordedVotes, recorded_votes, refuse_estimates
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.run_notes import note_unnamed_mode
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.vote_codes import AGREE, COUNTER, LOST, UNCITED, Bools, Ints
from verifyplan.text import counted

_JOINT = {
    "failed": ("vote", "that failed", "that failed", "No vote failed."),
    "uncited": (
        "counter-evidence",
        "that cites no place",
        "that cite no place",
        "No counter-evidence that counts lacks a place.",
    ),
    "filled-in": ("basis", "that was filled in", "that were filled in", "No basis was filled in."),
}
"""The votes that are changed together: what they are, which of them, one or several, and what it is to have none."""


@with_field_docs
@dataclass(frozen=True, eq=False)
class Fragility:
    """The changes if votes that failed, cite nothing, were filled in, or are single had gone the other way."""

    table: pd.DataFrame
    """One row a kind of change: the votes it concerns, and the findings whose class, or whether they are held,
    changes; `documentation("fragility")` has every column."""
    metrics: pd.DataFrame
    """`kind, taken_as, metric, value, low, high, low_bound, high_bound, n`: the range of each metric under each kind of
    change, with an interval that contains those of its ends."""
    findings: pd.DataFrame
    """One row a finding and kind of change that gives it another class."""
    workers: pd.DataFrame
    """One row a worker: the findings whose class changes without this worker."""
    n_findings: int
    """The findings that were judged."""
    n_runs: int
    """Their runs."""
    n_votes: int
    """The votes that count, as the rules read them."""
    n_failed: int
    """The votes that failed."""
    synthetic: bool
    """True where findings or votes were generated, not observed."""
    notes: tuple[str, ...] = ()
    """What a reader must know: changes that would go on to a round that was never held, votes without explanations."""

    def __str__(self) -> str:
        """Return how many conclusions rest on which votes, and how far the metrics would move."""
        made = " (synthetic)" if self.synthetic else ""
        votes = f"{counted(self.n_votes, 'vote')} and {self.n_failed:,} that failed"
        head = f"{counted(self.n_findings, 'finding')}{made} of {counted(self.n_runs, 'run')}, {votes}"
        return "\n".join([head, *self._sentences(), *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__  # a console shows the words, not every table

    def _repr_html_(self) -> str:
        return words_and_tables(str(self), self.table)

    def _sentences(self) -> Iterator[str]:
        rows: dict[Any, Any] = {(row.kind, row.taken_as): row for row in self.table.itertuples()}
        for kind, taken_as in (("failed", "anything"), ("uncited", "other basis"), ("filled-in", "other basis")):
            yield _joint_sentence(rows[kind, taken_as]) + self._range(kind, taken_as)
        single = rows["single", "opposite"]
        held = share_words(single.held_share, single.held_low, single.held_high)
        yield (
            f"A single vote, taken the opposite way, decides the class of {single.n_class_changed:,} of "
            f"{counted(single.n, 'finding')}, and whether {single.n_held_changed:,} are held: {held}."
            + self._range("single", "opposite")
        )
        if len(self.workers) > 1 and self.workers["n_class_changed"].any():
            most: Any = self.workers.sort_values("n_class_changed", ascending=False, kind="stable").iloc[0]
            yield (
                f"Leaving out {most['worker']} changes most: {most['n_class_changed']:,} of "
                f"{counted(self.n_findings, 'finding')} would have another class{_held(most)}."
                + self._range("worker", "left out")
            )

    def _range(self, kind: str, taken_as: str) -> str:
        """Return how far F1 would move, or without truth the share that is held."""
        metrics = self.metrics[self.metrics["kind"].eq(kind) & self.metrics["taken_as"].eq(taken_as)]
        metrics = metrics.set_index("metric")
        name = "f1" if "f1" in metrics.index else "held"
        row: Any = metrics.loc[name]
        low, value, high = row["low_bound"], row["value"], row["high_bound"]
        if not low < high:
            return ""
        words = "F1" if name == "f1" else "the share of findings held"
        return f" {words[0].upper()}{words[1:]}, {100 * value:.1f} %, could be {100 * low:.1f} to {100 * high:.1f} %."


def _joint_sentence(row: Any) -> str:
    noun, of_one, of_several, none = _JOINT[row.kind]
    if not row.n_votes:
        return none
    if not row.n_class_changed:
        return f"No conclusion rests on the {counted(row.n_votes, noun)} {of_one if row.n_votes == 1 else of_several}."
    which = of_one if row.n_deciding == 1 else of_several
    findings = counted(row.n_class_changed, "finding")
    return f"The conclusion of {findings} rests on {counted(row.n_deciding, noun)} {which}{_held(row)}."


def _held(row: Any) -> str:
    return f" (for {row.n_held_changed:,} whether it is held)" if row.n_held_changed else ""


def fragility(runs: Runs, rules: object = None) -> Fragility:
    """Return which conclusions would change if failed, uncited, filled-in or single votes had gone the other way.

    Every change is judged by the votes that were cast, under the rules of each run or under `rules`. Failed votes are
    taken as agree, as counter-evidence, and as anything (which finds classes that neither extreme gives, since classes
    are not monotone in votes); counter-evidences that cite no place, and bases that were filled in, as the other basis;
    each single vote the opposite way (agree becomes counter-evidence, any disagree agree), all others as cast; and each
    worker is left out.

    Args:
        runs: a RunSet, a run, or a path.
        rules: voting rules, a preset, a mapping or a JSON file; None takes those of each run.

    Returns:
        A Fragility: `.table` (a row a kind of change), `.metrics`, `.findings`, `.workers`, `.notes`.

    Raises:
        SettingsError: for rules that do not fit, and the aggregate `dawid-skene`, which judges whole runs.
        TableError: as `replay`.

    >>> from verifyplan.frames.votes import from_votes
    >>> says = ["agree", "disagree", "verification-error"]
    >>> votes = pd.DataFrame({"item": "F", "who": list("abc"), "says": says})
    >>> runs = from_votes(votes, item="item", worker="who", verdict="says")
    >>> print(fragility(runs))  # doctest: +ELLIPSIS
    1 finding of 1 run, 2 votes and 1 that failed
    The conclusion of 1 finding rests on 1 vote that failed (for 1 whether it is held)...
    """
    runs = as_runs(runs)
    chosen = chosen_rules(rules)
    recorded = recorded_votes(runs, chosen).with_classes()
    for part in recorded.parts:
        refuse_estimates(part.rules, "fragility")
    votes = [part_votes(part) for part in recorded.parts]
    before = [part.judge(part.read) for part in votes]
    classes = _scatter(recorded, [judged.classes for judged in before], recorded.unvoted)
    changes = [*_joint_changes(recorded, votes, before, classes), *_single_changes(recorded, votes, before)]
    left, workers = _workers(recorded, votes, before, classes)
    changes.append(left)
    clusters = recorded.clusters
    return Fragility(
        table=change_table(changes, classes, clusters),
        metrics=metric_table(changes, classes, recorded.truth, clusters),
        findings=finding_table(changes, classes, recorded.findings),
        workers=workers,
        n_findings=len(classes),
        n_runs=recorded.findings["run_id"].nunique(),
        n_votes=int(sum(int((part.read > LOST).sum()) for part in votes)),
        n_failed=int(sum(int((part.recorded == LOST).sum()) for part in votes)),
        synthetic=bool(runs.runs["synthetic"].eq(True).any()),
        notes=tuple(_notes(chosen, runs, changes, recorded)),
    )


def _scatter(recorded: RecordedVotes, of_parts: Iterable[Ints | Bools], unvoted: Ints | int = 0) -> Ints:
    """Return figures of the findings of each part in the order of all findings."""
    joined = np.full(len(recorded.findings), unvoted, dtype=np.int64)
    for part, figures in zip(recorded.parts, of_parts, strict=True):
        joined[part.rows] = figures
    return joined


def _over_parts(recorded: RecordedVotes, effects: list[Effect]) -> Effect:
    unvoted = np.where(recorded.unvoted >= 0, 1 << np.maximum(recorded.unvoted, 0), 0)
    return Effect(
        _scatter(recorded, [effect.n_votes for effect in effects]),
        _scatter(recorded, [effect.n_deciding for effect in effects]),
        _scatter(recorded, [effect.attainable for effect in effects], unvoted),
        _scatter(recorded, [effect.goes_on for effect in effects]) > 0,
    )


def _joint_changes(
    recorded: RecordedVotes, votes: list[PartVotes], before: list[Judged], classes: Ints
) -> Iterable[Change]:
    """Yield the changes of all votes of a kind at once."""
    for kind, taken_as in (
        ("failed", "agree"),
        ("failed", "counter-evidence"),
        ("uncited", "other basis"),
        ("filled-in", "other basis"),
    ):
        judged, effects = [], []
        for part, own in zip(votes, before, strict=True):
            cells = _cells(part, kind)
            changed = other_basis(part.read)
            if kind == "failed":
                changed = np.full_like(part.read, AGREE if taken_as == "agree" else COUNTER)
            after, effect = together(part, cells, changed, own)
            judged.append(after.classes)
            effects.append(effect)
        after_all = _scatter(recorded, judged, recorded.unvoted)
        yield Change(kind, taken_as, _over_parts(recorded, effects), (classes, after_all))


def _cells(part: PartVotes, kind: str) -> Bools:
    """Return the votes of a kind; bases count where the rules look at them."""
    if kind == "failed":
        cells: Bools = part.recorded == LOST
    else:
        cells = part.filled if kind == "filled-in" else part.recorded == UNCITED
        cells = cells & bases_matter(part.part.rules, part.part.mode)
    return cells


def _single_changes(recorded: RecordedVotes, votes: list[PartVotes], before: list[Judged]) -> Iterable[Change]:
    """Yield the changes that each finding may have by itself."""
    for kind, taken_as, effect_of in (
        ("failed", "anything", failed_as_anything),
        ("single", "opposite", single_votes),
    ):
        effects = [effect_of(part, own) for part, own in zip(votes, before, strict=True)]
        yield Change(kind, taken_as, _over_parts(recorded, effects), None)


def _workers(
    recorded: RecordedVotes, votes: list[PartVotes], before: list[Judged], classes: Ints
) -> tuple[Change, pd.DataFrame]:
    """Return the change of leaving out any one worker, and a row a worker."""
    effects = []
    without: dict[str, Any] = {}  # a byte a class: workers may be many
    voted: dict[str, int] = defaultdict(int)
    for part, own in zip(votes, before, strict=True):
        left_out: list[LeftOut] = list(left_out_workers(part))
        effects.append(effect_of_left_out(part, own, left_out))
        for left in left_out:
            name = part.part.cube.workers[left.worker]
            without.setdefault(name, classes.astype(np.int8))[part.part.rows[left.findings]] = left.judged.classes
            voted[name] += len(left.findings)
    change = Change("worker", "left out", _over_parts(recorded, effects), (classes, *without.values()))
    return change, worker_table(without, voted, classes, recorded.clusters)


def _notes(rules: VotingRules, runs: RunSet, changes: list[Change], recorded: RecordedVotes) -> Iterable[str]:
    if rules.mode is None and (unnamed := note_unnamed_mode(runs.runs)):
        yield unnamed
    if len(recorded.findings) == 0:
        yield "There are no findings: nothing was judged."
    going_on = np.logical_or.reduce([change.effect.goes_on for change in changes])
    if n := int(going_on.sum()):
        yield (
            f"{counted(n, 'finding')} would have gone on to a round that never took place if a vote were changed; "
            "they are judged by the votes that were cast."
        )
    uncited = sum(int(change.effect.n_votes.sum()) for change in changes if change.kind == "uncited")
    if uncited and not runs.votes["explanation"].fillna("").str.strip().any():
        yield "No vote has an explanation: every counter-evidence counts as one that cites no place."
