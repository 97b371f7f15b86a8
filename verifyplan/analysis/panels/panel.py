"""Say what a panel of judges is worth: how many independent votes, and which of its judges (rule F3a)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

import numpy as np
import pandas as pd

from verifyplan.analysis.cluster_intervals import Interval, difference_interval, share_interval
from verifyplan.analysis.panels.effective_votes import effective_votes_interval
from verifyplan.analysis.panels.error_correlation import (
    Correlation,
    ErrorCorrelation,
    error_correlation,
    linear_interval,
)
from verifyplan.analysis.panels.majority_accuracy import independent_majority, share_right
from verifyplan.analysis.panels.panel_answers import MAX_CLOSED_LABELS, Floats, Items, PanelAnswers, panel_answers
from verifyplan.analysis.panels.panel_notes import notes_on_panel, who_may_guess
from verifyplan.analysis.panels.panel_result import PanelWorth
from verifyplan.analysis.panels.panel_tables import judges_table, order_table, pairs_table, size_table
from verifyplan.analysis.panels.selection import BestJudge, JudgeOrder, best_judge, judge_order, partitions, widened
from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.frames.from_table import as_panel_votes
from verifyplan.frames.load import Runs
from verifyplan.frames.panel_votes import PanelVotes, Which, refuse_all_lost
from verifyplan.frames.ties import ties_sentence


def panel(
    data: pd.DataFrame | PanelVotes | Runs,
    *,
    at: Which = "first",
    item: str | Sequence[str] | None = None,
    worker: str | Sequence[str] | None = None,
    label: str | None = None,
    truth: str | None = None,
    round: str | None = None,
    run: str | None = None,
    cost: str | None = None,
    explanation: str | None = None,
    items: Items | None = None,
    correlation: Correlation = "within-truth",
    seed: int = 0,
) -> PanelWorth:
    """Return what a panel of judges is worth: independent votes, majority against its best judge, who can be dropped.

    Effective votes are n / (1 + (n - 1) r), with r the mean correlation of the errors of two judges (Kish 1965): they
    count independence, not skill, and the words name judges not shown to be right more often than by guessing. Of few
    items the interval is wide; where it leaves everything open, the words give no number.
    The most frequent label of an item is its majority; of a tie each label has its share. Figures of judges by name
    are of all items, and too good, since these items chose the judges. Beside them is what choosing gains on other
    items: judges are chosen on four fifths of the items and scored on the last (by run where there are 10 or more
    whose claims differ, else by claim), on average over up to 200 ways to part the items. Without any known truth only
    agreement is measured. To drop a judge means that the majority of the others is not shown to be worse;
    `workers` says which judges are unreliable, that is clearly worse than the others.

    Args:
        data: runs (a RunSet, a run, a path), the votes of a panel, or a long table with one row a vote.
        at: which vote of a judge on an item counts: its `first`, its `last`, or that of a round.
        item: the column of a table that names what is labelled (see `from_table`); None takes the column `item`, and
            likewise below.
        worker: the column of the judge.
        label: the column of the label.
        truth: the column of the right label; where there is none, only agreement is measured.
        round: the column of the round.
        run: the column of the run.
        cost: the column of what a vote cost.
        explanation: the column of the judge's words.
        items: `common` counts the items on which every judge voted, `all` every item with a vote; None takes the
            common ones where they are half of all or more. Errors are always compared on items in common.
        correlation: `within-truth` takes errors as they vary within each class of truth, `plain` over all items,
            `pooled` over all pairs of votes on one item, whoever gave them. Where judges see few items in common, pairs
            of votes are taken in any case.
        seed: of the parts of the items, and of the draws behind independent judges of three labels or more; figures
            hardly depend on it.

    Raises:
        TableError: where fewer than two judges have votes, and as `from_table`.
        SettingsError: for an argument of no known value.

    >>> worth = panel("stdlib-claims/adversarial")
    >>> worth.n_judges, worth.best_judge, round(worth.figure("effective-votes").value, 1)
    (4, 'syntax-tree', 2.0)
    """
    if problems := list(_problems(items, correlation, seed)):
        raise SettingsError(problems)
    columns = {
        "item": item, "worker": worker, "label": label, "truth": truth, "round": round, "run": run, "cost": cost,
        "explanation": explanation,
    }  # fmt: skip
    cast = as_panel_votes(data, columns)
    votes, several_rounds = cast.at(at), len(np.unique(cast.round)) > 1
    refuse_all_lost(votes)
    answers, left_out = panel_answers(votes, items)
    best, order, figures = None, None, {"agreement": agreement_interval(answers)}
    found = error_correlation(answers, correlation)
    if answers.has_truth:
        parts = partitions(answers, seed)
        best = best_judge(answers, parts)
        order = judge_order(answers, parts) if answers.can_be_ordered else None
        figures = dict(_figures(answers, found, correlation, best, order, seed))
    kept = _kept(answers, order, figures)
    costs = {} if best is None else _costs(answers, best, order)
    rows = [(name, *figure, costs.get(name, np.nan)) for name, figure in figures.items()]
    summary = pd.DataFrame(rows, columns=["figure", "value", "low", "high", "n", "cost"])
    judges = judges_table(answers, found, ties_sentence(votes.ties))
    return PanelWorth(
        judges=judges,
        pairs=pairs_table(answers, found),
        order=order_table(answers, order),
        size_curve=size_table(answers),
        summary=summary,
        n_judges=len(answers.workers),
        n_items=len(answers.answer),
        n_runs=answers.clusters.n_runs,
        votes_per_item=found.n_votes,
        correlation=correlation,
        best_judge=None if best is None else answers.workers[best.judge],
        dropped=tuple(name for name in answers.workers if name not in kept),
        costs_known=answers.costs_known,
        synthetic=votes.synthetic,
        may_guess="" if best is None else who_may_guess(answers, found, correlation, judges, len(votes.labels)),
        chance=None if best is None or len(votes.labels) > MAX_CLOSED_LABELS else 1 / len(votes.labels),
        notes=(
            *left_out,
            *notes_on_panel(votes, answers, found, best, order, summary, at, several_rounds=several_rounds),
        ),
    )


def _problems(items: object, correlation: object, seed: object) -> Iterator[Problem]:
    if items is not None and items not in get_args(Items):
        yield Problem("items", f"must be one of {one_of(get_args(Items))}, got {items!r}", "leave it out")
    if correlation not in get_args(Correlation):
        yield Problem(
            "correlation", f"must be one of {one_of(get_args(Correlation))}, got {correlation!r}", "leave it out"
        )
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        yield Problem("seed", f"must be an integer of at least 0, got {seed!r}", "give a whole number from 0")


def _figures(
    answers: PanelAnswers,
    found: ErrorCorrelation,
    correlation: Correlation,
    best: BestJudge,
    order: JudgeOrder | None,
    seed: int,
) -> Iterator[tuple[str, Interval]]:
    """Yield every figure of the panel as a whole, by name."""
    clusters, one = answers.clusters, np.ones(len(answers.answer))
    majority = share_right(answers.one_hot.sum(axis=2, dtype=np.int16))
    correct, voted = answers.correct, answers.voted
    some_right = np.asarray(correct.any(axis=1))
    yield from zip(("effective-votes", "error-correlation"), effective_votes_interval(found, clusters), strict=True)
    if correlation == "within-truth":
        plain = effective_votes_interval(error_correlation(answers, "plain"), clusters)
        yield from zip(("effective-votes-plain", "error-correlation-plain"), plain, strict=True)
    yield "agreement", agreement_interval(answers)
    yield "majority", share_interval(majority, one, clusters)
    yield "mean-judge", share_interval(correct.sum(axis=1), voted.sum(axis=1), clusters)
    held_out = share_interval(best.held_out.right, best.held_out.voted, clusters)
    yield "best-judge", widened(held_out, float(best.held_out.variance))
    yield "best-judge-in-sample", share_interval(correct[:, best.judge], voted[:, best.judge], clusters)
    yield "any-judge", share_interval(some_right, one, clusters)
    classes = answers.truth_class if correlation == "within-truth" else np.zeros(len(one), dtype=np.int64)
    alone = independent_majority(answers, classes, seed)
    found_alone = linear_interval(alone.accuracy, alone.residuals, clusters)
    yield "independent", found_alone._replace(low=max(0.0, found_alone.low), high=min(1.0, found_alone.high))
    own = (majority - majority.mean()) / len(one)
    gap = linear_interval(alone.accuracy - float(majority.mean()), alone.residuals - own, clusters)
    yield "independent-minus-majority", gap._replace(low=max(-1.0, gap.low), high=min(1.0, gap.high))
    own_right, own_voted = correct[:, best.judge], voted[:, best.judge]
    there, chosen = best.held_out.voted, best.held_out.right
    gap = difference_interval(majority * there, there, chosen, there, clusters)
    yield "best-minus-majority", widened(gap, float(best.held_out.variance), least=-1.0)
    own = difference_interval(majority * own_voted, own_voted, own_right, own_voted, clusters)
    yield "best-in-sample-minus-majority", own
    if order is not None:
        named = order.right[:, order.kept - 1]
        cases = (("", order.smaller.right, float(order.smaller.variance)), ("-in-sample", named, 0.0))
        for name, right, variance in cases:
            yield f"smaller-panel{name}", widened(share_interval(right, one, clusters), variance)
            gap = difference_interval(majority, one, right, one, clusters)
            yield f"smaller{name}-minus-majority", widened(gap, variance, least=-1.0)


def agreement_interval(answers: PanelAnswers) -> Interval:
    """Return the share of the pairs of votes on one item that say the same."""
    counts = answers.one_hot.sum(axis=2).astype(np.float64)
    n = counts.sum(axis=0)
    alike = (counts * (counts - 1)).sum(axis=0) / 2
    return share_interval(alike, n * (n - 1) / 2, answers.clusters)


def _costs(answers: PanelAnswers, best: BestJudge, order: JudgeOrder | None) -> dict[str, float]:
    """Return the mean cost of an item for the figures that have one."""
    by_judge: Floats = answers.cost * answers.voted.mean(axis=0)
    whole = float(by_judge.sum())
    single = {"best-judge": answers.cost[best.judge], "best-judge-in-sample": answers.cost[best.judge]}
    costs = {"majority": whole, "independent": whole, "any-judge": whole, **single}
    costs["mean-judge"] = whole / max(float(answers.voted.sum(axis=1).mean()), 1e-12)
    if order is not None:
        costs |= dict.fromkeys(
            ("smaller-panel", "smaller-panel-in-sample"), float(by_judge[order.order[: order.kept]].sum())
        )
    return {name: float(value) for name, value in costs.items()}


def _kept(answers: PanelAnswers, order: JudgeOrder | None, figures: dict[str, Interval]) -> tuple[str, ...]:
    """Return the judges of the smallest panel without loss; all where choosing fewer loses on held-out items."""
    if order is None or figures["smaller-minus-majority"].high < 0:
        return answers.workers
    return tuple(answers.workers[j] for j in order.order[: order.kept])
