"""Find the rules that no other beats, and those whose quality rests on enough findings to compare with (rule R5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from verifyplan.analysis.treatments.rule_quality import Floats
from verifyplan.protocol.vote import Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.vote_codes import Bools

MIN_MEASURED_FINDINGS = 20
"""Rules whose quality rests on fewer findings are not compared with others, where some rest on twice as many."""
MIN_MEASURED_SHARE = 0.1
"""Nor are those whose quality rests on less than this share of what that of the median rule rests on."""


def on_frontier(value: npt.ArrayLike, cost: npt.ArrayLike, n_changed: Sequence[int]) -> Bools:
    """Return whether no other rule is at least as good and cheaper, or as cheap and better; missing ones are not.

    Of rules that are as good and as cheap, only that with the fewest changed fields is, of these the first.

    >>> on_frontier([0.5, 0.9, 0.9, 0.7], [1, 2, 2, 3], [1, 2, 1, 1]).tolist()
    [True, False, True, False]
    """
    values, costs = np.asarray(value, dtype=np.float64), np.asarray(cost, dtype=np.float64)
    order = np.lexsort((np.asarray(n_changed), -values.round(12), costs))
    order = order[~(np.isnan(values) | np.isnan(costs))[order]]
    before = np.maximum.accumulate(np.append(-np.inf, values[order]))[:-1]
    is_on = np.zeros(len(values), dtype=bool)
    is_on[order] = values[order] > before + 1e-12
    return is_on


def min_measured(n: npt.ArrayLike) -> float:
    """Return how many findings the quality of a rule must rest on to be compared, from what that of each rests on.

    At least 20, and a tenth of the median; but never more than half of the largest, so that few findings do not leave
    out every rule.

    >>> min_measured([3, 80, 100]), min_measured([3, 2000, 4000]), min_measured([3, 12])
    (20.0, 200.0, 6.0)
    """
    counts: Floats = np.asarray(n, dtype=np.float64)
    if not len(counts):
        return 0.0
    enough = max(MIN_MEASURED_FINDINGS, MIN_MEASURED_SHARE * float(np.median(counts)))
    return min(float(enough), float(counts.max()) / 2)


def n_changed(rules: VotingRules, today: VotingRules, mode: Mode | None) -> int:
    """Return in how many fields rules differ from today's, the order of asking left out.

    `mode` is the one in which all runs were recorded, which rules that name no mode leave as it is.

    >>> n_changed(VotingRules(mode="adversarial", max_rounds=1), VotingRules(), "adversarial")
    1
    """
    first, other = ({**dict(each), "mode": each.mode or mode, "order": None} for each in (rules, today))
    return sum(first[name] != other[name] for name in first)


def changes_mode(rules: VotingRules, mode: Mode | None) -> bool:
    """Return whether rules judge votes in another mode than that in which all runs were recorded, None for several.

    >>> changes_mode(VotingRules(), "adversarial"), changes_mode(VotingRules(mode="collaborative"), "adversarial")
    (False, True)
    """
    return rules.mode is not None and rules.mode != mode
