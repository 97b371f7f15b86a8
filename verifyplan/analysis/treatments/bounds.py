"""Bound the classes and the metrics of findings that lack votes: the worst and the best within reach (rule R4).

Classes are not monotone in votes: a refutation carries a finding on, and the next round can hold it. So bounds of
classes come from the set of outcomes that each round can have, and from the classes that are then within reach over the
rounds. Bounds of metrics are the extremes over all choices of classes within these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.cluster_intervals import share_interval
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.metrics import FALSE, IS_HELD, TRUE, UNKNOWN, Metric, metrics_of_classes, metrics_of_held
from verifyplan.analysis.treatments.round_outcomes import ANY_CLASS, HAS_NO_VOTES, outcomes_of_rounds, widest
from verifyplan.analysis.treatments.rule_walk import classes_of, order_of, states_after
from verifyplan.protocol.vote import CLASSIFICATIONS, Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.round_decisions import judge_codes
from verifyplan.rules.vote_codes import UNSEEN, Codes, Ints


class ClassBounds(NamedTuple):
    """The classes of findings within reach of the votes that were never cast, by position in CLASSIFICATIONS."""

    low: Ints
    """The worst class."""
    high: Ints
    """The best class: the lower position."""


def class_bounds(
    codes: Codes,
    allowed: Ints,
    rules: VotingRules,
    mode: Mode,
    workers: Sequence[str],
    known: Ints | None = None,
) -> ClassBounds:
    """Return the worst and the best class that each finding can have, whatever the unseen votes would have been.

    Both are the class of the finding where no vote is missing. See `attainable_classes` for arguments and method.

    >>> from verifyplan.rules.vote_codes import AGREE
    >>> codes = np.array([[[AGREE, AGREE], [UNSEEN, AGREE]]], dtype=np.int8)
    >>> class_bounds(codes, np.array([1, 1]), VotingRules(), "collaborative", ["a", "b"])
    ClassBounds(low=array([2, 0]), high=array([0, 0]))
    """
    return bounds_of(attainable_classes(codes, allowed, rules, mode, workers, known))


def bounds_of(attainable: Ints) -> ClassBounds:
    """Return the bounds of sets of classes, as `attainable_classes` gives them.

    >>> bounds_of(np.array([0b0110, 0b1000]))
    ClassBounds(low=array([2, 3]), high=array([1, 3]))
    """
    sets = np.arange(ANY_CLASS + 1)
    contains = (sets[:, None] >> np.arange(len(CLASSIFICATIONS))) & 1
    worst, best = len(CLASSIFICATIONS) - 1 - contains[:, ::-1].argmax(axis=1), contains.argmax(axis=1)
    return ClassBounds(worst[attainable], best[attainable])


def attainable_classes(
    codes: Codes,
    allowed: Ints,
    rules: VotingRules,
    mode: Mode,
    workers: Sequence[str],
    known: Ints | None = None,
) -> Ints:
    """Return the classes that each finding can have as a set: bit c for position c in CLASSIFICATIONS.

    An unseen vote may become any kind of vote, or an error. Rules that judge each round on its own votes give exactly
    the classes of all completions. Sticky refutations and last votes tie rounds together: then the set may be larger,
    never smaller. Beyond `MAX_COMPLETIONS` of a round, under rules that both tie rounds and stop within them, and under
    the aggregate `dawid-skene`, it is the widest that the rules can give (where no vote of a run is unseen, a caller
    knows the class). Source: partial identification (Manski 1990); rule R4.

    Args:
        codes: votes with `UNSEEN` where rules would ask and nobody did, of shape (rounds, workers, findings).
        allowed: the rounds that are allowed, one number a finding.
        rules: the voting rules.
        mode: the mode that judges rounds.
        workers: names of the second axis.
        known: the classes of findings without unseen votes, where they have been judged before.

    >>> from verifyplan.rules.vote_codes import AGREE, COUNTER
    >>> codes = np.array([[[COUNTER], [AGREE]], [[UNSEEN], [UNSEEN]]], dtype=np.int8)
    >>> sets = attainable_classes(codes, np.array([2]), VotingRules(), "adversarial", ["a", "b"])
    >>> [name for position, name in enumerate(CLASSIFICATIONS) if sets[0] >> position & 1]
    ['full-consensus', 'partial-consensus', 'contested', 'worker-unique']
    """
    if rules.aggregate == "dawid-skene":
        return classes_of(np.full(codes.shape[2], widest(rules, mode), dtype=np.int64))
    ran = np.arange(1, len(codes) + 1)[:, None] <= allowed
    open_findings = ((codes == UNSEEN).any(axis=1) & ran).any(axis=0)
    if known is None:
        known = np.zeros(codes.shape[2], dtype=np.int64)
        seen = codes[:, :, ~open_findings]
        decided, _ = judge_codes(seen, allowed[~open_findings], rules, mode, workers)
        known[~open_findings] = decided.classification
    attainable: Ints = 1 << known
    if open_findings.any():
        outcomes = outcomes_of_rounds(codes[:, :, open_findings], rules, mode, workers)
        outcomes[~ran[:, open_findings]] = HAS_NO_VOTES
        states = np.full(outcomes.shape[1], HAS_NO_VOTES, dtype=np.int64)
        for outcome in outcomes:
            states = states_after(states, outcome, order_of(rules))
        attainable[open_findings] = classes_of(states)
    return attainable


Array = npt.NDArray[Any]

NOT_HELD, EITHER, HELD_SURELY = range(3)
"""What unseen votes can make of a finding: not held in any case, either, held in any case."""

_FALLS = ("false-consensus-rate", "false-demotion-rate")
"""Metrics that are lowest where all others are highest."""


BOUNDS_COLUMNS = ["metric", "value", "low", "high", "low_bound", "high_bound", "n", "n_censored"]
"""The columns of `metric_bounds`."""


def held_states(bounds: ClassBounds) -> Array:
    """Return NOT_HELD, EITHER or HELD_SURELY for each finding, from the bounds of its class."""
    return np.asarray(IS_HELD[bounds.low].astype(np.int64) + IS_HELD[bounds.high])


def metric_bounds(classes: Array, bounds: ClassBounds, truth: Array, clusters: Clusters) -> pd.DataFrame:
    """Return every metric of one condition with its bounds, and an interval that contains those of both bounds.

    Each metric rises or falls with every finding that is held, by its truth: precision, recall and F1 are lowest where
    of the findings that can be either the true ones are not held and the false ones are. Where nothing is then held,
    precision is that of the other extreme, the only value that any choice gives.

    Args:
        classes: the class of each finding by the votes that were cast, by position in CLASSIFICATIONS.
        bounds: the worst and the best class that unseen votes can give; both are the class where none is missing. A
            class outside them, which a finding can have while votes are missing, widens them.
        truth: FALSE, TRUE or UNKNOWN of each finding (`metrics.truth_codes`).
        clusters: which findings are not independent.

    Returns:
        A row a metric, in the order of `metrics_of_classes`: `metric, value, low, high` (the interval of 95 %, from the
        lower end at the low bound to the upper end at the high bound), `low_bound, high_bound, n, n_censored` (the
        findings of its denominator whose part in it unseen votes can change). Where nothing is censored, the bounds are
        the value, and the interval that of the value. NaN where a metric is not defined.
    """
    bounds = ClassBounds(np.maximum(bounds.low, classes), np.minimum(bounds.high, classes))
    lowest, highest, censored = _extremes(bounds, truth)
    rows = [
        (name, *figures_of(lowest[name], metric, highest[name], clusters), metric.n, int(censored[name].sum()))
        for name, metric in metrics_of_classes(classes, truth).items()
    ]
    return pd.DataFrame(rows, columns=BOUNDS_COLUMNS)


def figures_of(lowest: Metric, metric: Metric, highest: Metric, clusters: Clusters) -> tuple[float, ...]:
    """Return `value, low, high, low_bound, high_bound` of a metric from what it is and what it is at its bounds.

    The interval contains those of the three. A bound that is not defined is the other.
    """
    same = np.array_equal(lowest.part, highest.part) and np.array_equal(lowest.whole, highest.whole)
    choices = [metric] if same else [lowest, metric, highest]
    ends = [share_interval(choice.part, choice.whole, clusters) for choice in choices]
    low, value, high = ends[0].value, ends[len(ends) // 2].value, ends[-1].value
    interval = np.fmin.reduce([end.low for end in ends]), np.fmax.reduce([end.high for end in ends])
    return value, *interval, (high if np.isnan(low) else low), (low if np.isnan(high) else high)


def _extremes(bounds: ClassBounds, truth: Array) -> tuple[dict[str, Metric], dict[str, Metric], dict[str, Array]]:
    """Return each metric at its low and at its high bound, and which findings make the difference."""
    states = held_states(bounds)
    ranges: dict[str, tuple[Array, Array]] = {"held": (states == HELD_SURELY, states != NOT_HELD)}
    for position, classification in enumerate(CLASSIFICATIONS):
        possible = (bounds.high <= position) & (position <= bounds.low)
        ranges[classification] = possible & (bounds.high == bounds.low), possible
    everything = np.ones(len(truth), dtype=bool)
    lowest = {name: Metric(sure, everything, len(truth)) for name, (sure, _) in ranges.items()}
    highest = {name: Metric(possible, everything, len(truth)) for name, (_, possible) in ranges.items()}
    censored = {name: possible & ~sure for name, (sure, possible) in ranges.items()}
    sure, possible = ranges["held"]
    worst = metrics_of_held(np.where(truth == FALSE, possible, sure), truth)
    best = metrics_of_held(np.where(truth == FALSE, sure, possible), truth)
    for name in worst.keys() - {"held"}:
        lowest[name], highest[name] = (best[name], worst[name]) if name in _FALLS else (worst[name], best[name])
        censored[name] = (states == EITHER) & _counted(name, truth)
    return lowest, highest, censored


def _counted(metric: str, truth: Array) -> Array:
    """Return which findings a metric of truth counts."""
    match metric:
        case "recall" | "false-demotion-rate":
            counted: Array = truth == TRUE
        case "false-consensus-rate":
            counted = truth == FALSE
        case _:
            counted = truth != UNKNOWN
    return counted
