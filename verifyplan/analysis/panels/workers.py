"""Workers: what each judge of a panel is worth, and who stands out (rule F3)."""

from __future__ import annotations

from collections.abc import Sequence

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
from verifyplan.analysis.panels.labels import positive_code
from verifyplan.analysis.panels.leave_one_out import LeaveOneOut, leave_one_out
from verifyplan.analysis.panels.redundancy import closest_figures, redundant
from verifyplan.analysis.panels.standing_apart import standing_apart
from verifyplan.analysis.panels.worker_notes import notes_on_workers
from verifyplan.analysis.panels.worker_result import Workers
from verifyplan.analysis.panels.worker_table import (
    Figures,
    basis_figures,
    call_figures,
    cost_figures,
    label_figures,
    panel_figures,
    recalls,
    reliability_figures,
    vote_figures,
)
from verifyplan.analysis.replay import Setting
from verifyplan.frames.from_table import as_panel_votes
from verifyplan.frames.load import Runs
from verifyplan.frames.panel_votes import PanelVotes, Which, refuse_all_lost


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
    than 20 items nothing is said. A false alarm costs more than a miss, so what is not clear is not named.

    Raises TableError and SettingsError as `from_table` does, and where all votes are empty. Source: rule F3.

    >>> table = pd.DataFrame({"item": [1, 1, 1, 2, 2, 2], "worker": list("abcabc"), "label": list("xxyxyy")})
    >>> workers(table.assign(truth="x")).table[["worker", "accuracy", "agreement"]].to_numpy().tolist()
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
    return Workers(
        table=table,
        recalls=recalls(cast),
        measure=measure,
        majority=_majority(cast),
        decides="majority" if runs is None else "class",
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
