"""Measure what each judge of a panel is worth, and find those who stand out (rule F3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.analysis.cluster_intervals import Interval, share_interval
from verifyplan.analysis.clusters import clusters_of_units
from verifyplan.analysis.panels.decisions import (
    DecisionChanges,
    class_changes,
    classes_without,
    majority_changes,
    whole_runs,
)
from verifyplan.analysis.panels.leave_one_out import LeaveOneOut, leave_one_out
from verifyplan.analysis.panels.standing_apart import standing_apart
from verifyplan.analysis.panels.worker_notes import notes_on_workers
from verifyplan.analysis.panels.worker_table import (
    MAX_CHANGE,
    Figures,
    basis_figures,
    call_figures,
    closest_figures,
    cost_figures,
    label_figures,
    panel_figures,
    positive_code,
    recalls,
    redundant,
    reliability_figures,
    vote_figures,
)
from verifyplan.analysis.replay import Setting
from verifyplan.analysis.result_words import share_words, shares_words, table_words, words_and_tables
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.from_table import as_panel_votes
from verifyplan.frames.load import Runs
from verifyplan.frames.panel_votes import PanelVotes, Which, refuse_all_lost
from verifyplan.frames.ties import ties_sentence
from verifyplan.text import counted, listed

SEE_PANEL = (
    "unreliable means clearly worse than the others; which judges the majority can do without is another question: "
    "see panel, which may name reliable judges"
)
"""Said where workers are compared, since `panel` names judges to drop where nobody here is unreliable."""
FEW_ITEMS = 100
"""With fewer items than this, the words say that only large differences between workers can be shown."""
MAX_EXPLAINED = 3
"""Of more workers than this only the names are said, and the figures of the first."""


@with_field_docs
@dataclass(frozen=True, eq=False)
class Workers:
    """The workers of a panel, each with its figures, their intervals and their n."""

    table: pd.DataFrame
    """One row a worker, by name; `documentation("workers")` explains the columns."""
    recalls: pd.DataFrame | None
    """`worker, label, recall, low, high, n`: how often each worker finds each true label; None without truth."""
    measure: str
    """The figure that workers are judged by: `accuracy`, or without truth `agreement` with the others' majority."""
    majority: Interval | None
    """The accuracy of the majority, ties counted as their share; None without truth."""
    decides: str
    """What changes without a worker: the `class` of findings of runs, or the `majority` of the labels of a table."""
    is_even: bool
    """Whether most items have an even number of votes, of two labels: of these, only a tie changes without a worker."""
    positive: str | None
    """The positive of two labels; None where there is none."""
    n_items: int
    """The number of items, an item in two runs counted twice, that have a label."""
    n_votes: int
    """The number of votes that the labels are of, lost ones left out."""
    synthetic: bool
    """True where votes or items were generated, not observed."""
    modes: tuple[str, ...] = ()
    """The modes of the runs, whose rules give the `class`; empty of a table of labels."""
    notes: tuple[str, ...] = ()
    """What a reader must know: lost votes, few items, which round counts, workers with one label alone."""

    @property
    def unreliable(self) -> tuple[str, ...]:
        """The workers who are clearly worse than the others; the worst first."""
        return self._named("unreliable", self.measure, ascending=True)

    @property
    def redundant(self) -> tuple[str, ...]:
        """The workers without whom next to nothing changes, one left out at a time."""
        return self._named("redundant", "influence", ascending=True)

    @property
    def influential(self) -> tuple[str, ...]:
        """The workers without whom clearly more decisions change than without the others, for better or worse.

        The one without whom most change is first. Of runs this holds under the rules of their modes alone.
        """
        return self._named("influential", "influence", ascending=False)

    def _named(self, column: str, by: str, *, ascending: bool) -> tuple[str, ...]:
        chosen = self.table[self.table[column].to_numpy(dtype=bool)]
        return tuple(chosen.sort_values(by, ascending=ascending, kind="stable")["worker"])

    def __str__(self) -> str:
        """Return the range of the workers, who is unreliable, redundant or influential, each worker, and the notes."""
        table = [table_words(self._shown, ".table")] if len(self.table) > 1 else []
        return "\n".join([*self._lines(), *table, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__  # a console shows the words, not every table

    def _lines(self) -> list[str]:
        if len(self.table) < 2:
            return [self.range_in_words(), self.standing_out()]
        apart = [f"{kind}: {who or 'none shown'}" for kind, who in self._apart().items()]
        if not self.unreliable and self.n_items < FEW_ITEMS:
            apart[0] += f" (with {counted(self.n_items, 'item')}, only large differences can be shown)"
        return [self.range_in_words(), *apart, SEE_PANEL]

    def range_in_words(self) -> str:
        """Return the sizes, the worst and the best worker, and with truth the majority, in one line."""
        made = " (synthetic)" if self.synthetic else ""
        size = f"{counted(len(self.table), 'worker')}, {counted(self.n_items, 'item')}, {counted(self.n_votes, 'vote')}"
        known = self.table.dropna(subset=self.measure).sort_values(self.measure, kind="stable")
        if known.empty:
            return f"{size}{made}: no votes to compare"
        worst, best = known.iloc[0], known.iloc[-1]
        figure = "accuracy" if self.measure == "accuracy" else "agreement with the majority of the others"
        if len(known) == 1:
            return f"{size}{made}: {figure} {self._figure(best, self.measure)} of {best['worker']}"
        between = f"{figure} from {self._figure(worst, self.measure)} of {worst['worker']} to "
        between += f"{self._figure(best, self.measure)} of {best['worker']}"
        if self.majority is not None:
            between += f"; majority {share_words(*self.majority)}, a tie counting as its share"
        return f"{size}{made}: {between}"

    def standing_out(self) -> str:
        """Return who is unreliable, redundant or changes most decisions, with figures; or that nobody is or can be."""
        apart = self._apart()
        if len(self.table) == 1:
            return "there is only one worker, and nobody to compare with"
        if not any(apart.values()):
            return (
                "nobody stands out: no worker is clearly unreliable or redundant, or clearly changes more "
                f"{'classes' if self.decides == 'class' else 'majorities'} than the others{self._under}"
            )
        return "; ".join(f"{kind}: {who}" for kind, who in apart.items() if who)

    def _apart(self) -> dict[str, str]:
        """Return who is unreliable, redundant and influential, with figures; blank where nobody is shown to be."""
        return {
            "unreliable": self._who(self.unreliable, self._why_unreliable),
            "redundant (if it alone is left out)": self._who(self.redundant, self._why_redundant),
            f"influential (changes the {self.decides} most often{self._under})": self._who(
                self.influential, self._why_influential
            ),
        }

    @property
    def _shown(self) -> pd.DataFrame:
        """The workers as they are printed, the best first: few columns, each share with its interval."""
        rows = self.table.sort_values(self.measure, ascending=False, kind="stable")
        flags = ("unreliable", "redundant", "influential")
        columns = {
            "worker": rows["worker"],
            "n": rows[f"{self.measure}_n"],
            self.measure: shares_words(rows, self.measure),
            f"{self.decides} changes without it{self._can_change}": shares_words(rows, "influence"),
            "stands out as": [", ".join(flag for flag in flags if row[flag]) for _, row in rows.iterrows()],
        }
        return pd.DataFrame(columns)

    @property
    def _can_change(self) -> str:
        return " (even panel: only ties can)" if self.is_even else ""

    @property
    def _under(self) -> str:
        return f" under {listed(self.modes)} rules" if self.modes else ""

    def _who(self, names: tuple[str, ...], why: Any) -> str:
        rows = self.table.set_index("worker")
        if not names:
            return ""
        if len(names) <= MAX_EXPLAINED:
            return ", ".join(f"{name} ({why(rows.loc[name])})" for name in names)
        return f"{listed(names)} ({len(names)} of {len(rows)}; the first: {why(rows.loc[names[0]])})"

    def _why_unreliable(self, row: Any) -> str:
        gap, low, high = (100 * row[f"gap{end}"] for end in ("", "_low", "_high"))
        others = f"{-gap:.1f} points below the others [{-high:.1f}, {-low:.1f}]"
        return f"{self.measure} {self._figure(row, self.measure)}, {others}"

    def _why_redundant(self, row: Any) -> str:
        if row["influence_high"] < MAX_CHANGE:
            return f"without it {self._changes(row)}"
        return f"errs as {row['closest']} does, r = {row['closest_correlation']:.2f}, n = {row['closest_n']:,}"

    def _why_influential(self, row: Any) -> str:
        return f"without it {self._changes(row)}"

    def _changes(self, row: Any) -> str:
        return f"the {self.decides} changes in {self._figure(row, 'influence')}"

    def _figure(self, row: Any, name: str) -> str:
        return share_words(row[name], row[f"{name}_low"], row[f"{name}_high"], row[f"{name}_n"])

    def _repr_html_(self) -> str:
        """Return the words and the workers in few columns for a notebook; every text is shown as text."""
        return words_and_tables("\n".join([*self._lines(), *(f"note: {note}" for note in self.notes)]), self._shown)


def workers(
    data: pd.DataFrame | PanelVotes | Runs,
    *,
    at: Which = "first",
    positive: str | None = None,
    item: str | Sequence[str] | None = None,
    worker: str | Sequence[str] | None = None,
    label: str | None = None,
    truth: str | None = None,
    round: str | None = None,
    run: str | None = None,
    cost: str | None = None,
    explanation: str | None = None,
) -> Workers:
    """Return what each worker of a panel is worth, and say who is unreliable, redundant or influential.

    `data` is a long table of labels with one row a vote, whose columns the arguments from `item` to `explanation`
    name as in `from_table`, or runs. Labels may be of any number of classes; those that count are chosen by `at`: each
    worker's `first` or `last` on an item, or those of one round. What is not about labels (lost votes, bases, calls,
    cost) counts all rounds. `positive` names the positive of two labels, for sensitivity and specificity; of claims it
    is `true`. `.recalls` has every label by itself.

    A worker's agreement is that with the majority of the others on the item, a tie counting as its share; its
    influence the share of the decisions on which it votes that change without it (`influence`), and `adds` what it
    adds there to the majority's accuracy. Without any truth `one_coin` and `dawid_skene` are how often it is right as
    Dawid-Skene estimates, which errs where few workers err together; with truth they are left out. Columns are there
    only where the data can fill them: bases, calls and time of runs, accuracy with truth. Intervals are clustered by
    run and claim (rule F1). A figure with n = 0 is NaN.

    A worker is **unreliable** if its accuracy (without truth: its agreement) is clearly below that of the others on
    the same items (by more than 5 points, Holm's procedure over all workers: rule F3); **influential** if clearly more
    decisions change without it than without the others, for better or worse, and of runs under the rules of their
    modes alone; **redundant** if next to nothing changes without it, or it errs as another does. Of workers with fewer
    than 20 items nothing is said. A false alarm costs more than a miss, so what is not clear is not named. `panel`
    answers another question, whom the majority can do without: it may name judges to drop of whom none is unreliable.
    Printed are few columns, the best worker first; `.table` has all.

    Raises TableError and SettingsError as `from_table` does, and where all votes are empty. Source: rule F3.

    >>> table = pd.DataFrame(
    ...     {"item": [1, 1, 1, 2, 2, 2], "worker": list("abcabc"), "label": list("xxyxyy")}
    ... )
    >>> found = workers(table.assign(truth="x")).table
    >>> found[["worker", "accuracy", "agreement"]].to_numpy().tolist()
    [['a', 1.0, 0.25], ['b', 0.5, 0.5], ['c', 0.0, 0.25]]
    """
    columns = {
        "item": item, "worker": worker, "label": label, "truth": truth, "round": round, "run": run, "cost": cost,
        "explanation": explanation,
    }  # fmt: skip
    votes = as_panel_votes(data, columns)
    refuse_all_lost(votes)
    code, runs = positive_code(votes, positive), whole_runs(votes)
    cast = leave_one_out(votes.at(at) if len(votes) else votes)
    changes = majority_changes(cast) if runs is None else class_changes(classes_without(runs, Setting()))
    figures = vote_figures(votes)
    figures |= cost_figures(votes) if runs is None else call_figures(runs, votes.workers, figures["asked"])
    figures |= {} if runs is None else basis_figures(runs, votes.workers)
    figures |= label_figures(cast, code)
    measure = "accuracy" if "accuracy" in figures else "agreement"
    figures |= reliability_figures(cast) if measure == "agreement" else {}
    figures |= panel_figures(cast, changes) | closest_figures(cast)
    table = pd.DataFrame(figures | _standing_out(figures, cast, changes, measure))
    table.attrs["ties"] = ties_sentence(votes.ties)
    return Workers(
        table=table,
        recalls=recalls(cast),
        measure=measure,
        majority=_majority(cast),
        decides="majority" if runs is None else "class",
        is_even=runs is None and cast.is_even,
        positive=None if code is None else votes.labels[code],
        n_items=int(cast.decided.sum()),
        n_votes=len(cast.votes),
        synthetic=votes.synthetic,
        modes=() if runs is None else tuple(sorted(runs.runs["mode"].dropna().astype(str).unique())),
        notes=tuple(notes_on_workers(votes, cast, table, measure, code, at)),
    )


def _standing_out(figures: Figures, votes: LeaveOneOut, changes: DecisionChanges, measure: str) -> Figures:
    """Return how far each worker is from the others, and whether it is unreliable, redundant, influential."""
    cast, n = votes.votes, len(votes.votes.workers)
    value = votes.right if measure == "accuracy" else votes.agreement
    known = np.isfinite(value)
    clusters = clusters_of_units(cast)
    apart = standing_apart(value[known], cast.unit[known], cast.worker[known], n, clusters)
    change = standing_apart(changes.change, changes.decision, changes.worker, n, changes.clusters)
    unreliable = np.isin(np.arange(n), apart.below)
    return {
        "gap": [each.value for each in apart.gaps],
        "gap_low": [each.low for each in apart.gaps],
        "gap_high": [each.high for each in apart.gaps],
        "gap_n": [each.n for each in apart.gaps],
        "unreliable": unreliable,
        "redundant": redundant(figures, votes) & ~unreliable,
        "influential": np.isin(np.arange(n), change.above),
    }


def _majority(votes: LeaveOneOut) -> Interval | None:
    right = votes.panel_right()
    known = np.isfinite(right)
    if not known.any():
        return None
    return share_interval(right[known], np.ones(int(known.sum())), clusters_of_units(votes.votes).take(known))
