"""Measure which classes and metrics change when a worker is left out (rule F3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from verifyplan.analysis.classify import CLASS_TYPE
from verifyplan.analysis.cluster_intervals import difference_interval, share_interval
from verifyplan.analysis.metrics import IS_HELD, Metric, metrics_of_held, truth_codes
from verifyplan.analysis.panels.decisions import (
    ClassesWithout,
    DecisionChanges,
    class_changes,
    classes_without,
    majority_changes,
    whole_runs,
)
from verifyplan.analysis.panels.leave_one_out import Floats, LeaveOneOut, leave_one_out
from verifyplan.analysis.panels.standing_apart import rows_of_workers
from verifyplan.analysis.panels.worker_notes import note_on_lone_votes
from verifyplan.analysis.panels.worker_table import positive_code
from verifyplan.analysis.replay import Setting
from verifyplan.analysis.result_words import share_words, words_and_tables
from verifyplan.errors import Problem, SettingsError
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.from_table import as_panel_votes
from verifyplan.frames.load import Runs
from verifyplan.frames.panel_votes import PanelVotes, Which
from verifyplan.frames.run_notes import note_unnamed_mode
from verifyplan.frames.runset import RunSet
from verifyplan.text import counted

MAX_TIED = 3
"""Of more workers than this that tie only the first are named."""


@with_field_docs
@dataclass(frozen=True, eq=False)
class Influence:
    """The classes and metrics that change when a worker is left out, one worker at a time."""

    table: pd.DataFrame
    """One row a worker and metric; `documentation("influence")` explains the columns."""
    findings: pd.DataFrame
    """One row a finding, or item, and worker without whom it has another class, or majority: `worker, run, item,
    truth, with_all, without, censored`. Where no vote is left, `without` is empty, and no figure counts the item."""
    decides: str
    """`class`, by the rules that classify findings of runs, or `majority`, of the labels of a table."""
    n: int
    """The number of findings, or items, that were decided."""
    is_even: bool
    """Whether most items have an even number of votes, of two labels: of these, only a tie changes without a worker."""
    synthetic: bool = field(repr=False)
    """True where votes or items were generated, not observed."""
    notes: tuple[str, ...] = ()
    """What a reader must know: what leaving out cannot say, which changes are censored, who alone judged items."""

    def __str__(self) -> str:
        """Return who changes most and least when left out, with n and intervals."""
        changed = self.table[self.table["metric"].eq("changed")].dropna(subset="difference")
        made = " (synthetic)" if self.synthetic else ""
        size = f"{counted(self.table['worker'].nunique(), 'worker')}, {counted(self.n, self._decided)}"
        ties = " (even panel: only ties can change)" if self.is_even else ""
        head = f"{size}{made}, one left out at a time{ties}"
        lines = [f"{head}: nothing to compare"] if changed.empty else [f"{head}: {self._most_and_least(changed)}"]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__  # a console shows the words, not every table

    @property
    def _decided(self) -> str:
        return "finding" if self.decides == "class" else "item"

    def _most_and_least(self, changed: pd.DataFrame) -> str:
        """Return the workers without whom most and fewest decisions change; all of them where they tie."""
        n_changed = (changed["difference"] * changed["n"]).round(9)
        most, fewest = (changed[n_changed.eq(end)] for end in (n_changed.max(), n_changed.min()))
        if n_changed.max() == 0:
            return f"no {self.decides} changes when a worker is left out"
        if len(changed) == 1:
            return f"the {self.decides} changes without {_each_in_words(most)}"
        if len(most) == len(changed):
            return f"equally many change their {self.decides} without each worker: {_each_in_words(most)}"
        return (
            f"most change their {self.decides} without {_each_in_words(most)}; fewest without {_each_in_words(fewest)}"
        )

    def _repr_html_(self) -> str:
        """Return the influence for a notebook; every text is shown as text."""
        return words_and_tables(str(self), self.table)


def _each_in_words(rows: pd.DataFrame) -> str:
    """Return the first workers of a table with their differences, and how many more there are."""
    named = ", ".join(f"{row['worker']}: {in_words(row)}" for _, row in rows.head(MAX_TIED).iterrows())
    return f"{named} and {len(rows) - MAX_TIED} more" if len(rows) > MAX_TIED else named


def in_words(row: Any) -> str:
    """Return the difference of a row as a percentage, with its interval and n."""
    return share_words(row["difference"], row["difference_low"], row["difference_high"], row["n"])


def influence(
    data: pd.DataFrame | PanelVotes | Runs,
    *,
    at: Which = "first",
    positive: str | None = None,
    setting: Setting | None = None,
    item: str | Sequence[str] | None = None,
    worker: str | Sequence[str] | None = None,
    label: str | None = None,
    truth: str | None = None,
    round: str | None = None,
    run: str | None = None,
    cost: str | None = None,
    explanation: str | None = None,
) -> Influence:
    """Return what changes in a panel's decisions when one worker is left out, for each worker.

    Of runs, the decisions are the classes of their findings: all votes of a worker, of every round, are taken out
    and the rules classify again under `setting` (by default each run in its own mode and rounds). Of a
    table, whose columns the arguments from `item` to `explanation` name as in `from_table`, they are the majorities
    of the labels that `at` chooses: `first`, `last`, or those of a round. A tie counts as its share of each label.
    `positive` names the positive of two labels; of claims it is `true`.

    What stays as it was, though it would have gone differently: the other workers' later votes, the rounds that were
    run (a class that needs one more is `censored`), who discovered what.

    Metrics, each with all workers, without the worker, and the difference (without minus with all): `changed`, the
    share of the decisions on which it votes that differ; and of all decisions, of runs `held` and, with truth,
    `precision`, `recall`, `f1`, `false-consensus-rate`, `false-demotion-rate`, of tables with truth `accuracy` and,
    where a positive label is known, `sensitivity` and `specificity` of the majority. Intervals are clustered by run
    and claim (rule F1). Majorities are compared over the items that have votes in both cases: those that the worker
    alone judged are left out. `n` counts the decisions in the denominator with all or without: of `precision` the
    findings of known truth that are held in either case, of `f1` these and all true ones (not, as in `compare`, also
    the false ones held in neither). A figure whose denominator is 0 is NaN. Raises TableError and SettingsError as
    `from_table` and `replay` do. Source: rule F3.

    >>> table = pd.DataFrame(
    ...     {"item": [1, 1, 1, 2, 2, 2], "worker": list("abcabc"), "label": list("xxyxxx")}
    ... )
    >>> influence(table).table.set_index("worker")["difference"].to_dict()
    {'a': 0.25, 'b': 0.25, 'c': 0.0}
    """
    columns = {
        "item": item, "worker": worker, "label": label, "truth": truth, "round": round, "run": run, "cost": cost,
        "explanation": explanation,
    }  # fmt: skip
    votes = as_panel_votes(data, columns)
    code = positive_code(votes, positive)
    runs = whole_runs(votes)
    if runs is not None:
        return _of_runs(runs, setting or Setting(), votes.synthetic)
    if setting is not None:
        message = "applies to runs, and a table of labels has no classes"
        raise SettingsError(Problem("setting", message, "leave it out, or read the table by from_votes"))
    return _of_table(leave_one_out(votes.at(at)), code)


def _of_runs(runs: RunSet, setting: Setting, synthetic: bool) -> Influence:
    classes = classes_without(runs, setting)
    truth = truth_codes(classes.findings)
    with_all = metrics_of_held(IS_HELD[classes.classes], truth)
    sides = ((with_all, metrics_of_held(IS_HELD[without], truth)) for without in classes.without.T)
    rows = _rows(classes.workers, class_changes(classes), sides)
    findings = _changed_classes(classes)
    notes = ["Later votes of the others stay as they were: without a worker they might have been cast differently."]
    if setting.mode == "recorded" and (unnamed := note_unnamed_mode(runs.runs)):
        notes.append(unnamed)
    if n := int(findings["censored"].sum()):
        rest = f"{n:,} of {len(findings):,} changes of class {'rests' if n == 1 else 'rest'}"
        notes.append(f"{rest} on a round that was never run (censored).")
    if runs.findings["origin_worker"].notna().any():
        notes.append("Discoverers of findings stay discoverers: only votes are left out.")
    return Influence(rows, findings, "class", len(classes.findings), False, synthetic, tuple(notes))


def _of_table(votes: LeaveOneOut, positive: int | None) -> Influence:
    rows = _rows(votes.votes.workers, majority_changes(votes), _majority_sides(votes, positive))
    findings, n, notes = _changed_majorities(votes), int(votes.decided.sum()), tuple(note_on_lone_votes(votes))
    return Influence(rows, findings, "majority", n, votes.is_even, votes.votes.synthetic, notes)


Sides: TypeAlias = tuple[dict[str, Metric], dict[str, Metric]]
"""The metrics with all workers and without one, over the decisions that the worker's row is about."""


def _majority_sides(votes: LeaveOneOut, positive: int | None) -> Iterator[Sides]:
    """Yield the metrics of majorities, of each worker over the items that have votes with and without it."""
    decided, with_all, of_votes = votes.decided, votes.panel_right(), votes.panel_right_without()
    right, truth = with_all[decided], votes.votes.truth[decided]
    for own in rows_of_workers(votes.votes.worker, len(votes.votes.workers)):
        without = with_all.copy()
        without[votes.votes.unit[own]] = of_votes[own]
        without = without[decided]
        both = np.isfinite(right) & np.isfinite(without)
        first, second = (_majority_metrics(each, both, truth, positive) for each in (right, without))
        yield first, second


def _rows(workers: Sequence[str], changes: DecisionChanges, sides: Iterable[Sides]) -> pd.DataFrame:
    clusters = changes.clusters
    rows: list[tuple[object, ...]] = []
    rows_of = rows_of_workers(changes.worker, len(workers))
    for name, own, (with_all, left) in zip(workers, rows_of, sides, strict=True):
        change = share_interval(changes.change[own], np.ones(len(own)), clusters.take(changes.decision[own]))
        rows.append((name, "changed", 0.0, change.value, *change))
        for metric, second in left.items():
            first = with_all[metric]
            difference = difference_interval(*first[:2], *second[:2], clusters)
            rows.append((name, metric, first.value, second.value, *difference))
    names = ["worker", "metric", "with_all", "without", "difference", "difference_low", "difference_high", "n"]
    return pd.DataFrame(rows, columns=names)


def _majority_metrics(right: Floats, known: Any, truth: Any, positive: int | None) -> dict[str, Metric]:
    if not (truth >= 0).any():
        return {}
    kinds = {"accuracy": known}
    if positive is not None:
        kinds |= {"sensitivity": known & (truth == positive), "specificity": known & (truth != positive)}
    return {name: Metric(np.where(kind, right, 0.0), kind, int(kind.sum())) for name, kind in kinds.items()}


def _changed_classes(classes: ClassesWithout) -> pd.DataFrame:
    finding, worker = np.nonzero(classes.voted & (classes.without != classes.classes[:, None]))
    findings, names = classes.findings.iloc[finding], np.array(classes.workers, dtype=object)
    table = {
        "worker": names[worker],
        "run": findings["run_id"].to_numpy(),
        "item": findings["finding_id"].to_numpy(),
        "truth": findings["truth"].map({True: "true", False: "false"}).to_numpy(),
        "with_all": _class_names(classes.classes[finding]),
        "without": _class_names(classes.without[finding, worker]),
        "censored": classes.censored[finding, worker],
    }
    return pd.DataFrame(table).sort_values("worker", kind="stable").reset_index(drop=True)


def _class_names(codes: Any) -> Any:
    return CLASS_TYPE.categories.to_numpy(dtype=object)[codes]


def _changed_majorities(votes: LeaveOneOut) -> pd.DataFrame:
    changed = np.flatnonzero((votes.change > 0) | (votes.others == 0))
    unit = votes.votes.unit[changed]
    units = votes.votes.units.iloc[unit]
    names = np.array(votes.votes.workers, dtype=object)
    table = {
        "worker": names[votes.votes.worker[changed]],
        "run": units["run"].to_numpy(),
        "item": units["item"].to_numpy(),
        "truth": units["truth"].to_numpy(),
        "with_all": _label_names(votes.majority[unit], votes.votes.labels),
        "without": _label_names(votes.without[changed], votes.votes.labels),
        "censored": False,
    }
    return pd.DataFrame(table).sort_values("worker", kind="stable").reset_index(drop=True)


def _label_names(majority: Floats, labels: Sequence[str]) -> Any:
    """Return the majority of each row as a text: a label, several that tie, or nothing where no vote is left."""
    distinct, code = np.unique(majority > 0, axis=0, return_inverse=True)
    texts = [" or ".join(name for name, top in zip(labels, row, strict=True) if top) for row in distinct]
    return np.array(texts, dtype=object)[code.ravel()] if len(majority) else []
