"""Say what a panel is worth in each round: accuracy, agreement, effective votes, and how these change (rule F3b)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.analysis.cluster_intervals import Interval, share_interval
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.panels.error_correlation import effective_votes_interval, error_correlation
from verifyplan.analysis.panels.leave_one_out import Floats
from verifyplan.analysis.panels.panel_answers import panel_answers
from verifyplan.analysis.panels.round_answers import Majority, RoundAnswers
from verifyplan.analysis.panels.round_changes import RoundStep, Share, ends_of_step
from verifyplan.frames.panel_votes import PanelVotes

MEASURES = ("vote-accuracy", "majority-accuracy", "agreement")
"""Of a panel in each round: the share of right votes, that of right majorities, and of pairs of votes that agree."""


def _parts(answers: RoundAnswers, panel: Majority) -> dict[str, tuple[Floats, Floats]]:
    """Return the numerator and denominator of each measure, of shape (units, rounds)."""
    judged = ~np.isnan(panel.credit)
    parts = (
        (panel.right, panel.n * answers.known[:, None].astype(float)),
        (np.nan_to_num(panel.credit), judged.astype(float)),
        (panel.agreeing, panel.pairs),
    )
    return dict(zip(MEASURES, parts, strict=True))


def panel_by_round(votes: PanelVotes, answers: RoundAnswers, panel: Majority, clusters: Clusters) -> pd.DataFrame:
    """Return the table `rounds` of Flips."""
    rows = []
    for measure, (part, whole) in _parts(answers, panel).items():
        for column, number in enumerate(answers.rounds):
            value = share_interval(part[:, column], whole[:, column], clusters)
            rows.append({"measure": measure, "round": int(number), **value._asdict()})
    return pd.DataFrame([*rows, *_effective_votes(votes, answers)])


def _effective_votes(votes: PanelVotes, answers: RoundAnswers) -> Iterator[dict[str, Any]]:
    """Yield how many independent votes the panel is worth, and of how many, in each round of two workers or more.

    The items are those that `panel` takes if none are named: the common ones where they are half of all or more.
    """
    for column, number in enumerate(answers.rounds):
        judged = answers.vote[:, column][(answers.answer[:, column] >= 0) & answers.known[answers.unit]]
        if len(np.unique(votes.worker[judged])) > 1:
            counted, _ = panel_answers(votes.take(judged), items=None)
            correlation = error_correlation(counted, "within-truth")
            found, _ = effective_votes_interval(correlation, counted.clusters)
            votes_of_item = Interval(correlation.n_votes, np.nan, np.nan, found.n)
            for measure, figure in (("effective-votes", found), ("votes", votes_of_item)):
                yield {"measure": measure, "round": int(number), **figure._asdict()}


def panel_change(answers: RoundAnswers, panel: Majority, whole: RoundStep) -> dict[str, tuple[Share, Share]]:
    """Return each measure of the panel in the units' first round and in their last, on equal units."""
    found = {}
    for measure, (part, weight) in _parts(answers, panel).items():
        (before, after), (n_before, n_after) = ends_of_step(part, whole), ends_of_step(weight, whole)
        kept = whole.counts & (n_before > 0) & (n_after > 0)
        found[measure] = (before * kept, n_before * kept), (after * kept, n_after * kept)
    return found
