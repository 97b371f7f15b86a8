"""Say what a reader of a panel's figures must know (rule F3a)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from verifyplan.analysis.cluster_intervals import Interval, difference_interval
from verifyplan.analysis.independence import notes_on_independence
from verifyplan.analysis.interval_notes import MIN_TRUSTED_RUNS
from verifyplan.analysis.panels.effective_votes import effective_votes, votes_in_words
from verifyplan.analysis.panels.error_correlation import Correlation, ErrorCorrelation, error_correlation
from verifyplan.analysis.panels.majority_accuracy import share_right
from verifyplan.analysis.panels.panel_answers import MAX_CLOSED_LABELS, PanelAnswers
from verifyplan.analysis.panels.selection import BestJudge, JudgeOrder
from verifyplan.frames.panel_votes import PanelVotes, Which
from verifyplan.frames.run_notes import note_mixed_modes
from verifyplan.frames.ties import ties_sentence
from verifyplan.text import counted, listed

MIN_ITEMS_TO_NAME = 20
"""Of a judge with fewer items than this it is not said that it may be guessing."""
MIN_CERTAIN = 0.995
"""From this share of parts on, which is printed as 100 %, a choice of judges is not called uncertain."""


def notes_on_panel(
    votes: PanelVotes,
    answers: PanelAnswers,
    found: ErrorCorrelation,
    best: BestJudge | None,
    order: JudgeOrder | None,
    summary: pd.DataFrame,
    at: Which,
    *,
    several_rounds: bool,
) -> Iterator[str]:
    """Yield what limits the figures; `best` is None where no truth is known, `at` says which round counts."""
    if votes.ties:
        yield ties_sentence(votes.ties).removesuffix(".")
    yield from _on_rounds(at) if several_rounds else ()
    lost = int((votes.label < 0).sum())
    if lost:
        was = "was lost and is" if lost == 1 else "were lost and are"
        yield f"{counted(lost, 'vote')} of {len(votes):,} {was} not counted"
    if votes.runs is not None:
        yield from notes_on_independence(votes.runs)
        yield from (note.removesuffix(".") for note in (note_mixed_modes(votes.runs.runs),) if note)
    n_runs = answers.clusters.n_runs
    if n_runs == 1 and votes.runs is not None:
        yield "there is one run: how much a figure changes from run to run is not known, and intervals leave it out"
    if 1 < n_runs < MIN_TRUSTED_RUNS:
        yield f"with {n_runs} runs, how much runs differ is uncertain, which makes intervals wide"
    if best is None:
        return
    yield from _on_correlation(answers, found)
    yield from _on_different_items(answers, best)
    if best.agreed < MIN_CERTAIN:
        name, share = answers.workers[best.judge], 100 * best.agreed
        yield f"the best judge is not certain: {name} is chosen on {share:.0f} % of the parts of the items"
    yield from _on_order(answers, order)
    if votes.cost is not None and not answers.costs_known:
        why = "every vote costs 0" if (votes.cost == 0).all() else "the cost of some judge is not known"
        yield f"{why}: each vote counts as 1"
    flat = summary["low"].eq(summary["high"]) & summary["figure"].ne("smaller-minus-majority")
    if flat.any():
        yield f"no item differs in {listed(summary.loc[flat, 'figure'])}: an interval of zero width says nothing"


def _on_order(answers: PanelAnswers, order: JudgeOrder | None) -> Iterator[str]:
    if order is None:
        why = "there are fewer than 20 items" if answers.crossed else "the judges see few items in common"
        yield f"{why}: judges are not ranked"
        return
    if order.kept < len(answers.workers) and order.agreed < MIN_CERTAIN:
        share = 100 * order.agreed
        yield f"whom to drop is not certain: the same judges are kept on {share:.0f} % of the parts of the items"
    if not answers.voted.all():
        yield "judges have votes missing: an item that none of a smaller panel answered counts as wrong for it"


def _on_rounds(at: Which) -> Iterator[str]:
    other = "last" if at == "first" else "first"
    which = f"each judge's {at} vote on an item counts" if at in ("first", "last") else f"votes of round {at} count"
    yield f"with several rounds, {which} (in Python, at={other!r} takes the {other})"


def _on_different_items(answers: PanelAnswers, best: BestJudge) -> Iterator[str]:
    voted = answers.voted
    if voted.all():
        return
    name, n = answers.workers[best.judge], int(voted[:, best.judge].sum())
    how = "the one who is right most often compared with the others on the same items"
    if voted.sum(axis=1).max() < 2:
        how = "the most accurate, though no two saw the same item, and some may have seen easier ones"
    yield f"judges saw different items ({name} saw {n:,} of {len(voted):,}): the best single judge is {how}"


def who_may_guess(
    answers: PanelAnswers, found: ErrorCorrelation, correlation: Correlation, judges: pd.DataFrame, n_labels: int
) -> str:
    """Return who is not shown to be better than guessing, and what the others are worth; nothing where nobody is.

    What they are worth is how right their majority is beside that of all, on items that they voted on, and how many
    independent votes they are.

    Of open answers nobody is named: how often a guess is right cannot be known.
    """
    if np.isnan(found.mean) or n_labels > MAX_CLOSED_LABELS:
        return ""
    may_guess = judges["accuracy_low"].le(1 / n_labels) & judges["accuracy_n"].ge(MIN_ITEMS_TO_NAME)
    if not may_guess.any():
        return ""
    names = list(judges.loc[may_guess, "worker"])
    verb, whom = ("is", "it") if len(names) == 1 else ("are", "them")
    words = f"{listed(names)} {verb} not shown to be right more often than by guessing among {n_labels} labels"
    kept = ~np.isin(answers.workers, names)
    rest = answers._replace(
        workers=tuple(name for name, stays in zip(answers.workers, kept, strict=True) if stays),
        answer=answers.answer[:, kept],
        cost=answers.cost[kept],
    )
    if kept.sum() < 2 or not answers.crossed:
        return words
    there = np.asarray(rest.voted.any(axis=1), dtype=np.float64)
    counts = (each.one_hot.sum(axis=2, dtype=np.int16) for each in (answers, rest))
    all_right, rest_right = (np.asarray(share_right(each) * there) for each in counts)
    n = there.sum()
    gap = difference_interval(all_right, there, rest_right, there, answers.clusters)
    points = f"{100 * gap.value:+.1f} points [{100 * gap.low:+.1f}, {100 * gap.high:+.1f}]"
    shares = [100 * float(each.sum()) / n for each in (rest_right, all_right)]
    right = f"{shares[0]:.1f} % of {counted(int(n), 'item')}, with {whom} {shares[1]:.1f} %"
    words += f"; without {whom} the majority is right on {right} ({points})"
    others = error_correlation(rest, correlation)
    worth = Interval(effective_votes(others.n_votes, others.mean), np.nan, np.nan, 0)
    if not np.isfinite(worth.value):
        return words
    votes = votes_in_words(worth, others.n_votes, noun=" independent votes")
    return f"{words}; the other {counted(int(kept.sum()), 'judge')} are worth {votes}"


def _on_correlation(answers: PanelAnswers, found: ErrorCorrelation) -> Iterator[str]:
    pairs = found.pairs[np.triu_indices(len(answers.workers), k=1)]
    undefined = int(np.isnan(pairs).sum())
    yield from _on_constant_errors(answers, found)
    if np.isnan(found.mean) and found.n_constant and not found.by_votes:
        return
    if np.isnan(found.mean):
        yield "no two judges have 10 common items on which both are sometimes wrong: their errors cannot be correlated"
        return
    if found.n_votes != len(answers.workers):
        items, shared = len(answers.voted), int((answers.voted.sum(axis=1) > 1).sum())
        which = "an item has" if shared == items else f"the {shared:,} of {items:,} items with several votes have"
        yield (
            f"few judges see the same items: the correlation is that of pairs of votes on one item, and the effective "
            f"votes are those of the {found.n_votes:.1f} votes that {which}"
        )
    elif undefined > found.n_constant and not found.by_votes:
        yield (
            f"{counted(undefined - found.n_constant, 'pair')} of {len(pairs):,} have fewer than 10 common items and "
            "are left out of the correlation"
        )
    if np.isnan(effective_votes(found.n_votes, found.mean)):
        yield f"errors exclude each other completely (r = {found.mean:.2f}): effective votes cannot be computed"


def _on_constant_errors(answers: PanelAnswers, found: ErrorCorrelation) -> Iterator[str]:
    if found.by_votes or not found.n_constant:
        return
    never_vary = np.asarray(found.constant.any(axis=1))
    names = [name for name, never in zip(answers.workers, never_vary, strict=True) if never]
    pairs = counted(len(answers.workers) * (len(answers.workers) - 1) // 2, "pair")
    unknown = ": with so few their errors cannot be correlated, and effective votes are unknown"
    yield (
        f"errors of {listed(names)} never vary among common items of the same truth (always right, or always wrong), "
        f"so {found.n_constant:,} of {pairs} have no correlation{unknown if np.isnan(found.mean) else ''}"
    )
