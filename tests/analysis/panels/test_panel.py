"""What a panel is worth: planted correlations, closed forms, brute force, selection that is not rewarded, words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from math import comb
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.longer import LONG, examples
from verifyplan.analysis.cluster_intervals import Interval
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.panels.effective_votes import (
    effective_votes,
    effective_votes_interval,
    votes_in_words,
    why_unusual,
)
from verifyplan.analysis.panels.error_correlation import error_correlation
from verifyplan.analysis.panels.majority_accuracy import share_right
from verifyplan.analysis.panels.panel_answers import PanelAnswers
from verifyplan.analysis.panels.panel_notes import _on_order
from verifyplan.analysis.panels.selection import best_judge, forward_selection, judge_order, partitions
from verifyplan.errors import InputError, SettingsError, TableError


def table(errors: np.ndarray, truth: np.ndarray | None = None) -> pd.DataFrame:
    """A long table of yes and no from an array (items, judges) of whether each judge errs; judges are a, b, c ..."""
    n, k = errors.shape
    truth = np.arange(n) % 2 if truth is None else truth
    says = np.where(errors, 1 - truth[:, None], truth[:, None])
    return pd.DataFrame(
        {
            "item": np.repeat([f"q{i:05}" for i in range(n)], k),
            "worker": np.tile([chr(97 + j) for j in range(k)], n),
            "label": np.where(says, "yes", "no").ravel(),
            "truth": np.repeat(np.where(truth, "yes", "no"), k),
        }
    )


def planted(n: int, k: int, r: float, rate: float = 0.3, seed: int = 0) -> np.ndarray:
    """Errors of which any two judges' have correlation r: with chance r an item's judges all err alike."""
    rng = np.random.default_rng(seed)
    alike = rng.random((n, 1)) < r
    return np.where(alike, rng.random((n, 1)) < rate, rng.random((n, k)) < rate)


@pytest.mark.parametrize(("r", "expected"), [(0, 5.00), (0.25, 2.51), (1, 1.00)])
def test_planted_correlations(r, expected):
    worth = vp.panel(table(planted(10_000, 5, r))).figure("effective-votes")
    assert worth.value == pytest.approx(expected, abs=0.1)
    if r < 1:
        assert worth.low <= 5 / (1 + 4 * r) <= worth.high


def test_effective_votes_are_those_of_kish():
    assert effective_votes(5, 0.25) == 2.5
    assert effective_votes(1, 0.3) == 1
    assert effective_votes(3, -0.44) == pytest.approx(25)
    assert np.isnan(effective_votes(3, -0.5))
    assert np.isnan(effective_votes(3, -0.46))  # above ten votes a judge


def test_judges_who_always_err_together_are_one_vote():
    errors = np.tile(planted(60, 1, 0), 4)
    worth = vp.panel(table(errors))
    value, *interval, _ = worth.figure("effective-votes")
    assert value == 1
    assert np.isnan(interval).all(), "other items may tell them apart"
    assert worth.pairs["correlation"].tolist() == pytest.approx([1] * 6)
    words = "4 judges, worth 1.0 independent votes (they share every error, so there is no interval)\n"
    assert str(worth).startswith(words)


def test_errors_that_exclude_each_other_are_worth_more_than_their_number():
    worst = np.random.default_rng(0).integers(3, size=90)
    errors = np.vstack([worst[:, None] == np.arange(3), planted(60, 3, 0)])
    worth = vp.panel(table(errors))
    assert worth.figure("error-correlation").value < 0
    assert worth.figure("effective-votes").value > worth.figure("effective-votes").low > 3
    words = "3 judges, worth more than 3 independent votes (they err together less than independent judges would)\n"
    assert str(worth).startswith(words)
    assert "not shown to differ from 0" not in str(worth)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_errors_that_exclude_each_other_completely_have_no_number_of_votes(k):
    errors = np.arange(120)[:, None] // 2 % k == np.arange(k)
    worth = vp.panel(table(errors))
    assert np.isnan(worth.figure("effective-votes")[:3]).all()
    assert worth.figure("error-correlation").value == pytest.approx(-1 / (k - 1), abs=0.01)
    assert str(worth).startswith(f"{k} judges, of unknown independence")
    assert "errors exclude each other completely" in " ".join(worth.notes)


def test_no_panel_is_said_to_be_worth_a_number_of_votes_that_nobody_cast():
    found = Interval(5.25, 2.4, 38.0, 60)
    assert votes_in_words(found, 4, noun=" votes") == "more than 4 votes [2.4, more than 4]"
    assert why_unusual(found, 4) == "err together less than independent judges would"
    assert votes_in_words(found._replace(value=3.1), 10.04) == "3.1 [2.4, more than 10]"
    assert votes_in_words(found._replace(value=3.96, high=3.98), 4) == "4.0 [2.4, 4.0]"
    assert why_unusual(found._replace(value=3.96), 4) == ""
    assert votes_in_words(found._replace(value=1.384, low=1.26, high=1.57), 3, decimals=2) == "1.38 [1.26, 1.57]"


def test_an_interval_that_leaves_everything_open_gives_no_number():
    worth = vp.panel(table(planted(12, 4, 0.25, rate=0.2, seed=7)))
    found = worth.figure("effective-votes")
    assert found.low < 1.15
    assert found.high > 4
    few = "4 judges, worth from 1.0 to more than 4 independent votes (they have too few common errors to say)"
    assert str(worth).startswith(f"{few}\n")
    assert vp.charts.panel(worth).caption.startswith(f"{few}; ")


def test_the_words_say_which_correlation_counts_and_what_the_plain_one_would_be():
    truth = np.arange(400) % 2
    errors = np.random.default_rng(0).random((400, 4)) < np.where(truth, 0.6, 0.1)[:, None]  # harder where truth is 1
    worth = vp.panel(table(errors, truth))
    names = ("error-correlation", "error-correlation-plain", "effective-votes-plain")
    r, plain, votes = map(worth.figure, names)
    assert abs(r.value) < 0.1 < plain.value
    line = str(worth).splitlines()[1]
    assert line == (
        f"errors of two judges correlate by {r.value:.2f} [{r.low:.2f}, {r.high:.2f}] within each class of truth, on "
        f"average; over all items by {plain.value:.2f} ({votes.value:.1f} votes): this "
        "says how independent judges are, not how good"
    )
    asked = vp.panel(table(errors, truth), correlation="plain")
    assert asked.figure("error-correlation")[:3] == plain[:3]
    assert f"correlate by {plain.value:.2f} [{plain.low:.2f}, {plain.high:.2f}] over all items, on average: " in str(
        asked
    )
    one_class = str(vp.panel(table(planted(60, 3, 0.5), np.ones(60, dtype=int)))).splitlines()[1]
    assert " over all items, on average: this says " in one_class


def constant(n_constant: int) -> vp.results.PanelWorth:
    """Five judges, of whom some answer the same to every item."""
    votes = table(planted(200, 5, 0, seed=1))
    return vp.panel(votes.assign(label=votes["label"].mask(votes["worker"].isin(list("abcde")[:n_constant]), "no")))


def test_few_pairs_do_not_stand_for_those_of_judges_who_answer_a_constant():
    worth = constant(3)
    assert worth.pairs["correlation"].notna().sum() == 1
    assert np.isnan(worth.figure("effective-votes").value)
    assert str(worth).startswith("5 judges, of unknown independence")
    assert (
        "errors of a, b, c never vary among common items of the same truth (always right, or always wrong), so 9 of 10 "
        "pairs have no correlation: with so few their errors cannot be correlated, and effective votes are unknown"
    ) in worth.notes


def test_a_single_constant_judge_is_left_out_and_named():
    worth = constant(1)
    assert worth.figure("effective-votes").value == pytest.approx(5, abs=1)
    assert (
        "errors of a never vary among common items of the same truth (always right, or always wrong), so 4 of 10 pairs "
        "have no correlation"
    ) in worth.notes


def test_errors_whose_correlation_may_be_zero_do_not_exclude_each_other():
    worth = vp.panel(table(planted(300, 5, 0, seed=0)))
    r = worth.figure("error-correlation")
    assert r.value < 0 < r.high
    [line] = [line for line in str(worth).splitlines() if line.startswith("errors of two judges correlate by ")]
    assert f"by {r.value:.2f} [{r.low:.2f}, {r.high:.2f}] within each class of truth, on average (not shown to " in line
    assert "not shown to differ from 0" not in str(vp.panel(table(planted(300, 5, 0.4))))


def with_guessers(n_guessers: int, n_good: int = 4) -> np.ndarray:
    """Errors that go together, of good judges, and then those of judges who guess."""
    coins = np.random.default_rng(7).random((300, n_guessers)) < 0.52
    return np.hstack([planted(300, n_good, 0.3, rate=0.2, seed=1), coins])


@pytest.mark.parametrize(("n", "who"), [(1, "e is"), (2, "e, f are")])
def test_guessers_are_named_with_what_the_others_are_worth(n, who):
    errors = with_guessers(n)
    worth, without = vp.panel(table(errors)), vp.panel(table(errors[:, :4])).figure("effective-votes").value
    assert worth.figure("effective-votes").value > without + 0.5  # noise raises it
    assert "this says how independent judges are, not how good" in str(worth)
    whom, low_high = "it" if n == 1 else "them", r"\[[+-]\d+\.\d, [+-]\d+\.\d\]"
    whole, rest = (100 * vp.panel(table(part)).figure("majority").value for part in (errors, errors[:, :4]))
    [line] = [line for line in str(worth).splitlines() if line.startswith("who may guess: ")]
    gap = re.search(rf"{rest - whole:+.1f} points {low_high}".replace("+", r"\+", 1), line)[0]
    assert line == (
        f"who may guess: {who} not shown to be right more often than by guessing among "
        f"2 labels; without {whom} the majority is right on {rest:.1f} % of 300 items, with {whom} {whole:.1f} % "
        f"({gap}); the other 4 judges are worth {without:.1f} independent votes"
    )


def test_guessers_are_named_alone_where_no_panel_is_left_without_them():
    alone = vp.panel(table(with_guessers(2, 1)))
    assert alone.may_guess == "b, c are not shown to be right more often than by guessing among 2 labels"
    crowd = table(with_guessers(1, 3)).query("worker != 'd' or item < 'q00019'")
    assert vp.panel(crowd, items="all").may_guess == ""  # 19 items of d


def test_of_open_answers_and_without_truth_nobody_guesses():
    for votes in (vp.datasets.votes("debate-rounds"), table(with_guessers(1)).drop(columns="truth")):
        assert "guessing" not in str(vp.panel(votes))


def within_truth(errors: np.ndarray, truth: np.ndarray) -> float:
    """The mean correlation of errors centred within truth classes, by numpy."""
    centred = errors.astype(float)
    for value in np.unique(truth):
        centred[truth == value] -= centred[truth == value].mean(axis=0)
    upper = np.triu_indices(errors.shape[1], k=1)
    return float(np.corrcoef(centred.T)[upper].mean())


def test_errors_are_centred_within_truth_classes_and_plain_ones_are_not():
    rng = np.random.default_rng(3)
    truth = np.arange(400) % 2
    errors = rng.random((400, 4)) < np.where(truth, 0.1, 0.5)[:, None]  # all are lenient, and independent otherwise
    upper = np.triu_indices(4, k=1)
    within = vp.panel(table(errors, truth)).figure("error-correlation")
    plain = vp.panel(table(errors, truth), correlation="plain").figure("error-correlation")
    assert within.value == pytest.approx(within_truth(errors, truth), abs=1e-12)
    assert plain.value == pytest.approx(np.corrcoef(errors.T.astype(float))[upper].mean(), abs=1e-12)
    assert within.low < 0 < within.high
    assert plain.low > 0


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 6), share=st.sampled_from([0.6, 0.9, 1.0]))
def test_the_correlation_of_all_pairs_is_that_of_each_pair_by_itself(seed, k, share):
    rng = np.random.default_rng(seed)
    n_units = 60
    answer = np.where(rng.random((n_units, k)) < share, rng.random((n_units, k)) < rng.uniform(0, 0.6, k), -1)
    truth, units = rng.integers(0, 2, n_units), np.arange(n_units)
    answers = PanelAnswers(
        tuple(map(str, range(k))),
        answer.astype(np.int64),
        2,
        True,
        truth,
        Clusters(units * 0, units),
        np.ones(k),
        False,
    )
    found = error_correlation(answers, "within-truth")
    sums, n = np.zeros(n_units), 0
    for a, b in combinations(range(k), 2):
        both = (answer[:, a] >= 0) & (answer[:, b] >= 0)
        own, other = (np.where(both, answer[:, judge], 0.0) for judge in (a, b))
        for number in (0, 1):
            members = both & (truth == number)
            for errors in (own, other):
                errors[members] -= errors[members].mean() if members.any() else 0
        spreads = (own**2).sum(), (other**2).sum()
        if both.sum() < 10 or min(spreads) < 1e-9:
            assert np.isnan(found.pairs[[a, b], [b, a]]).all()
            continue
        own, other = own / np.sqrt(spreads[0]), other / np.sqrt(spreads[1])
        r = (own * other).sum()
        assert found.pairs[a, b] == found.pairs[b, a] == pytest.approx(r, abs=1e-12)
        sums, n = sums + own * other - r * (own**2 + other**2) / 2, n + 1
    if not found.by_votes:
        np.testing.assert_allclose(found.residuals, sums / max(n, 1), atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 7), n_labels=st.integers(1, 4))
def test_each_judge_of_an_order_adds_most_to_the_majority_of_those_before(seed, k, n_labels):
    rng = np.random.default_rng(seed)
    answer = rng.integers(-1, n_labels, (25, k))
    votes = (answer == np.arange(n_labels)[:, None, None]).astype(np.int8)
    order, right = (each[0] for each in forward_selection(votes, np.ones((1, 25), dtype=np.int64)))
    accuracy = right.mean(axis=0)
    left = np.argsort(-votes[0].mean(axis=0), kind="stable").tolist()
    for step, judge in enumerate(order):
        reached = [share_right(votes[:, :, [*order[:step], other]].sum(axis=2)).mean() for other in left]
        assert judge == left[int((np.array(reached) >= max(reached) - 1e-12).argmax())]
        assert accuracy[step] == pytest.approx(max(reached), abs=1e-12)
        left.remove(judge)


def test_missing_votes_are_compared_over_common_items():
    errors = planted(80, 3, 0.4, seed=5)
    votes = table(errors).drop(index=range(0, 60, 3))  # judge a has no vote on the first 20 items
    worth = vp.panel(votes, items="all", correlation="plain")
    frame = pd.DataFrame(errors.astype(float), columns=list("abc"))
    frame.loc[:19, "a"] = np.nan
    expected = frame.corr(min_periods=10).to_numpy()[np.triu_indices(3, k=1)]
    assert worth.pairs["correlation"].tolist() == pytest.approx(expected.tolist(), abs=1e-12)
    assert worth.pairs["n"].tolist() == [60, 60, 80]
    common = vp.panel(votes)
    assert (common.n_items, worth.n_items) == (60, 80)
    assert (
        "20 of 80 items lack the vote of at least one judge and are left out, other than in workers (in Python, "
        "items='all' counts them)" in common.notes
    )


def answers_of(n: int, k: int, r: float, rate: float, rng: np.random.Generator) -> PanelAnswers:
    """Answers of one class of truth, of which any two judges' errors have correlation r."""
    alike = rng.random((n, 1)) < r
    errors = np.where(alike, rng.random((n, 1)) < rate, rng.random((n, k)) < rate).astype(np.int64)
    zero, names = np.zeros(n, dtype=np.int64), tuple(map(str, range(k)))
    return PanelAnswers(names, errors, 2, True, zero, Clusters(zero, np.arange(n)), np.ones(k), False)


CELLS = [
    (12, 5, 0.25, 0.3),
    (12, 20, 0.3, 0.3),
    (20, 5, 0.25, 0.1),
    (50, 5, 0.25, 0.1),
    (60, 3, 0.6, 0.2),
    (100, 5, 0.25, 0.3),
]


@pytest.mark.parametrize("correlation", ["plain", "pooled"])
@pytest.mark.parametrize(("n", "k", "r", "rate"), CELLS)
def test_the_interval_of_effective_votes_covers(n, k, r, rate, correlation):
    """A smaller version of benchmarks/panel_coverage.py: of 12 claims intervals held the truth in 46 to 83 % before."""
    truth, held, there = effective_votes(k, r), 0, 0
    rng = np.random.default_rng(1)
    for _ in range(400):
        drawn = answers_of(n, k, r, rate, rng)
        found, _ = effective_votes_interval(error_correlation(drawn, correlation), drawn.clusters)
        there += np.isfinite(found.low)
        held += found.low <= truth <= found.high
    assert there > 200
    assert held / there >= 0.93


def test_with_many_items_what_is_imagined_hardly_counts():
    """The interval is then that of the linearised mean correlation, on log(n_eff - 1)."""
    drawn = answers_of(4_000, 5, 0.25, 0.3, np.random.default_rng(0))
    found = error_correlation(drawn, "plain")
    low, high = effective_votes_interval(found, drawn.clusters)[0][1:3]
    bare = effective_votes_interval(found._replace(unseen=0.0), drawn.clusters)[0]
    assert bare.high - bare.low == pytest.approx(high - low, rel=0.01)
    assert bare.high - bare.low < high - low


@pytest.mark.parametrize("correlation", ["plain", "pooled"])
def test_an_imagined_item_moves_the_mean_as_a_real_one_does(correlation):
    """Of many items, one more on which all err moves the mean correlation by what it is linearised to."""
    drawn = answers_of(4_000, 4, 0.3, 0.2, np.random.default_rng(2))
    half = [np.isin(np.arange(4), pair).astype(int) for pair in combinations(range(4), 2)]
    found = error_correlation(drawn, correlation)

    def moved(rows: list[np.ndarray]) -> float:
        more = np.vstack([drawn.answer, *rows])
        item = np.arange(len(more))
        whole = drawn._replace(answer=more, truth_class=item * 0, clusters=Clusters(item * 0, item))
        return (error_correlation(whole, correlation).mean - found.mean) / len(rows)

    all_or_none = max(abs(moved([np.full(4, code)])) for code in (0, 1))
    assert found.unseen == pytest.approx(np.hypot(all_or_none, moved(half)), rel=0.02)


def brute_force_independent(accuracy: list[float]) -> float:
    n = len(accuracy)
    total = 0.0
    for right in product([0, 1], repeat=n):
        chance = np.prod([p if hit else 1 - p for p, hit in zip(accuracy, right, strict=True)])
        total += chance * (1.0 if 2 * sum(right) > n else 0.5 if 2 * sum(right) == n else 0.0)
    return total


@pytest.mark.parametrize("k", [2, 3, 6])
def test_independent_judges_are_exact_for_two_labels(k):
    truth = np.arange(200) % 2
    errors = planted(200, k, 0.5, seed=k)
    accuracy = [[1 - errors[truth == value, j].mean() for j in range(k)] for value in (0, 1)]
    expected = np.mean([brute_force_independent(each) for each in accuracy])
    worth = vp.panel(table(errors, truth))
    assert worth.figure("independent").value == pytest.approx(expected, abs=1e-12)
    gap = worth.figure("independent-minus-majority")
    assert gap.value == pytest.approx(expected - worth.figure("majority").value, abs=1e-12)
    assert worth.figure("independent").low < expected < worth.figure("independent").high


def test_independent_judges_lose_nothing_to_independent_judges():
    gap = vp.panel(table(planted(3_000, 5, 0, seed=2))).figure("independent-minus-majority")
    assert gap.low < 0 < gap.high


def test_independent_judges_of_several_labels_are_drawn_and_agree_with_the_exact_ones():
    truth = np.arange(300) % 2
    votes = table(planted(300, 4, 0.4, seed=8), truth)
    exact = vp.panel(votes).figure("independent")
    third = pd.DataFrame({"item": "extra", "worker": list("abcd"), "label": "maybe", "truth": "maybe"})
    drawn = vp.panel(pd.concat([votes, third])).figure("independent")
    assert drawn.value == pytest.approx((300 * exact.value + 1) / 301, abs=0.004)
    assert drawn.high - drawn.low == pytest.approx(exact.high - exact.low, rel=0.1)


def brute_force_draws(labels: list[str], truth: str, k: int) -> float:
    shares = []
    for drawn in combinations(labels, k):
        counts = {label: drawn.count(label) for label in drawn}
        top = [label for label, n in counts.items() if n == max(counts.values())]
        shares.append((truth in top) / len(top))
    return float(np.mean(shares))


@given(st.lists(st.sampled_from("xyz"), min_size=2, max_size=7))
@settings(max_examples=examples(40))
def test_the_majority_of_fewer_judges_is_the_mean_over_all_ways_to_draw_them(labels):
    votes = pd.DataFrame({"item": "q", "worker": range(len(labels)), "label": labels, "truth": labels[0]})
    curve = vp.panel(votes).size_curve
    expected = [brute_force_draws(labels, labels[0], k) for k in curve["size"]]
    assert curve["accuracy"].tolist() == pytest.approx(expected, abs=1e-12)


def test_the_size_curve_of_two_labels_is_hypergeometric():
    right, n = 5, 8
    errors = np.tile(np.arange(n) >= right, (12, 1))
    curve = vp.panel(table(errors)).size_curve.set_index("size")["accuracy"]
    ways = {h: comb(right, h) * comb(n - right, 5 - h) / comb(n, 5) for h in range(6)}
    assert curve[5] == pytest.approx(sum(chance for h, chance in ways.items() if h > 2))
    assert curve[1] == right / n
    assert curve[8] == 1


def test_ties_count_as_their_share_and_the_oracle_as_right():
    errors = np.array([[0, 1], [1, 0], [1, 1], [0, 0]] * 5, dtype=bool)
    worth = vp.panel(table(errors))
    assert worth.figure("majority").value == 0.5
    assert worth.figure("any-judge").value == 0.75
    assert worth.figure("mean-judge")[0::3] == (0.5, 40)


@pytest.mark.usefixtures("every_partition")
def test_choosing_the_best_judge_is_not_rewarded():
    """Of 40 judges who guess one is best by chance; on other items it is as good as any."""
    errors = np.random.default_rng(0).random((100, 40)) < 0.5
    worth = vp.panel(table_of_many(errors))
    assert worth.figure("best-judge-in-sample").value == pytest.approx(0.58)
    held_out = worth.figure("best-judge")
    assert held_out.low < 0.5 < held_out.high
    assert "the best judge is not certain" in " ".join(worth.notes)


def table_of_many(errors: np.ndarray) -> pd.DataFrame:
    return table(errors).assign(worker=np.tile([f"judge-{j:02}" for j in range(errors.shape[1])], len(errors)))


def test_the_best_judge_is_best_on_the_same_items():
    """Judge a answers the easy items only, most of them rightly, though more rarely than the others there."""
    easy = np.arange(100) < 50
    rng = np.random.default_rng(0)
    chances = np.where(easy[:, None], [0.15, 0.02, 0.02], [1, 0.5, 0.6])
    votes = table(rng.random((100, 3)) < chances)
    votes = votes[votes["worker"].ne("a") | np.repeat(easy, 3)]
    worth = vp.panel(votes, items="all")
    assert worth.judges["worker"][0] == "a"
    assert worth.best_judge == "b"
    assert (
        "judges saw different items (b saw 100 of 100): the best single judge is the one who is right most often "
        "compared with the others on the same items"
    ) in worth.notes


def test_judges_without_common_items_are_ranked_by_accuracy_and_said_to_be():
    errors = planted(60, 2, 0, rate=0.1, seed=1)
    errors[::2, 0] = True
    votes = table(errors)
    apart = votes[votes["worker"].eq("a") == (np.repeat(np.arange(60), 2) < 30)]
    worth = vp.panel(apart, items="all")
    assert worth.best_judge == "b"
    assert "no two saw the same item" in " ".join(worth.notes)


@given(st.integers(0, 10_000))
@settings(max_examples=examples(100))
def test_where_all_judge_all_items_the_best_judge_is_the_most_accurate(seed):
    errors = np.random.default_rng(seed).random((15, 4)) < 0.4
    worth = vp.panel(table(errors))
    assert worth.best_judge == "abcd"[int(errors.sum(axis=0).argmin())]


@pytest.mark.parametrize("n", [5, 9, 15, 30])
def test_copies_of_a_run_do_not_make_items_many(n):
    votes = table(planted(n, 3, 0.3, seed=2))
    copies = pd.concat([votes.assign(run=f"r{k}") for k in range(10)])
    single, worth = vp.panel(votes), vp.panel(copies)
    without_intervals = [[re.sub(r" \[.*?\]", "", note) for note in each.notes] for each in (worth, single)]
    assert without_intervals[0] == without_intervals[1]
    assert worth.order.empty == single.order.empty == (n < 20)
    assert worth.figure("effective-votes").value == pytest.approx(single.figure("effective-votes").value, nan_ok=True)


@pytest.mark.filterwarnings("error")
def test_costs_that_are_all_zero_say_nothing():
    rng = np.random.default_rng(3)
    errors = rng.random((120, 5)) < [0.05, 0.4, 0.4, 0.4, 0.4]
    worth = vp.panel(table(errors).assign(cost=0.0))
    assert not worth.costs_known
    assert "saves 80 % of the votes" in str(worth)
    assert "every vote costs 0: each vote counts as 1" in worth.notes


def test_the_order_finds_the_good_judges_and_drops_the_copies():
    rng = np.random.default_rng(4)
    good = rng.random((300, 3)) < 0.15
    copies = np.repeat(rng.random((300, 1)) < 0.45, 4, axis=1)
    worth = vp.panel(table(np.hstack([copies, good])).assign(cost=1.0))
    assert set(worth.order["worker"][:3]) == {"e", "f", "g"}
    assert worth.order["position"].tolist() == list(range(1, 8))
    assert worth.order["cost_share"].tolist() == pytest.approx(np.arange(1, 8) / 7)
    assert {"a", "b", "c", "d"} <= set(worth.dropped)
    assert worth.figure("smaller-minus-majority").low > 0
    assert worth.order["gain"].iloc[1:].tolist() == pytest.approx(np.diff(worth.order["held_out"]).tolist())
    assert worth.order["held_out"].iloc[-1] == worth.figure("majority").value


def test_judges_whose_loss_shows_on_other_items_are_not_dropped():
    worth = vp.panel(table(planted(300, 7, 0, rate=0.3, seed=1)))
    assert worth.order["held_out"].iloc[-1] > worth.order["held_out"].iloc[0]
    assert len(worth.dropped) <= 2


def test_costs_are_those_of_the_votes():
    votes = table(planted(100, 3, 0.2)).assign(cost=lambda each: each["worker"].map({"a": 1.0, "b": 2.0, "c": 5.0}))
    worth = vp.panel(votes)
    costs = worth.summary.set_index("figure")["cost"]
    assert worth.costs_known
    assert costs["majority"] == costs["any-judge"] == 8
    assert costs["mean-judge"] == pytest.approx(8 / 3)
    assert worth.judges.set_index("worker")["cost"].to_dict() == {"a": 1, "b": 2, "c": 5}
    assert "of the cost" in str(worth) or "no judge can be dropped" in str(worth)
    assert not vp.panel(votes.drop(columns="cost")).costs_known


def test_runs_say_what_their_panel_is_worth():
    worth = vp.panel("stdlib-claims/adversarial")
    assert (worth.n_judges, worth.n_runs) == (4, 12)
    assert worth.synthetic
    assert vp.panel(vp.datasets.runs("stdlib-claims/adversarial")).summary.equals(worth.summary)
    assert "(synthetic)" in str(worth)


def test_without_truth_agreement_is_measured_and_nothing_claimed():
    votes = table(planted(50, 3, 0.3)).drop(columns="truth")
    worth = vp.panel(votes)
    assert not worth.has_truth
    assert worth.summary["figure"].tolist() == ["agreement"]
    assert worth.order.empty
    assert worth.size_curve.empty
    assert worth.judges["accuracy"].isna().all()
    assert worth.judges["agreement"].notna().all()
    assert worth.pairs["correlation"].isna().all()
    assert "so no number of independent votes is claimed" in str(worth)
    with pytest.raises(SettingsError, match=r"figure: this panel has no figure 'majority'\. Fix: use 'agreement'"):
        worth.figure("majority")
    errors = planted(50, 3, 0.3)
    alike = np.mean([errors[:, a] == errors[:, b] for a, b in combinations(range(3), 2)])
    assert worth.figure("agreement").value == pytest.approx(alike)


def test_items_without_truth_and_lost_votes_are_counted():
    votes = table(planted(40, 3, 0.3))
    votes.loc[votes["item"].eq("q00000"), "truth"] = None
    votes.loc[5, "label"] = None
    notes = " ".join(vp.panel(votes).notes)
    assert "1 of 40 items have no known truth and are left out" in notes
    assert "1 vote of 120 was lost and is not counted" in notes


def test_items_with_one_vote_say_nothing_of_correlation_and_a_note_says_how_many_do():
    votes = table(planted(120, 6, 0.3))
    item, judge = votes["item"].str[1:].astype(int), votes["worker"].factorize()[0]
    kept = (item + judge) % 6 < np.where(item % 3 > 0, 2, 1)
    notes = " ".join(vp.panel(votes[kept]).notes)
    assert "the effective votes are those of the 2.0 votes that the 80 of 120 items with several votes have" in notes


def test_open_answers_are_right_or_one_of_the_wrong_ones():
    rng = np.random.default_rng(1)
    items = [f"q{i}" for i in range(30)]
    rows = [
        (item, judge, f"{item}-right" if rng.random() < 0.6 else f"{item}-wrong-{rng.integers(2)}", f"{item}-right")
        for item in items
        for judge in "abcde"
    ]
    votes = pd.DataFrame(rows, columns=["item", "worker", "label", "truth"])
    worth = vp.panel(votes)
    right = votes.assign(right=votes["label"].eq(votes["truth"]))
    counts = votes.groupby(["item", "label"]).size().rename("n").reset_index()
    top = counts[counts["n"].eq(counts.groupby("item")["n"].transform("max"))]
    shared = top["label"].str.endswith("right").groupby(top["item"]).mean().mean()
    assert worth.figure("majority").value == pytest.approx(shared)
    errors = 1 - right.pivot(index="item", columns="worker", values="right").astype(float)
    assert worth.figure("error-correlation").value == pytest.approx(
        errors.corr().to_numpy()[np.triu_indices(5, k=1)].mean()
    )  # one class of truth: each item's is its own


@given(st.randoms(use_true_random=False))
@settings(max_examples=8)
def test_no_figure_depends_on_the_order_of_rows(random):
    votes = table(planted(40, 3, 0.3, seed=2)).drop(index=[0, 7, 22])
    rows = list(range(len(votes)))
    random.shuffle(rows)
    first, second = vp.panel(votes, items="all"), vp.panel(votes.iloc[rows], items="all")
    for name in ("summary", "judges", "pairs", "order", "size_curve"):
        pd.testing.assert_frame_equal(getattr(first, name), getattr(second, name))


def test_repeated_claims_and_runs_widen_the_interval():
    votes = table(planted(60, 4, 0.3, seed=9))
    ten = pd.concat([votes.assign(run=f"r{i}") for i in range(10)])
    alone, copied = vp.panel(votes), vp.panel(ten)
    assert copied.figure("effective-votes").value == pytest.approx(alone.figure("effective-votes").value)
    width, copied_width = (np.diff(each.figure("effective-votes")[1:3])[0] for each in (alone, copied))
    assert copied_width > 0.8 * width


def every_table(worth: vp.results.PanelWorth) -> Iterator[tuple[str, pd.DataFrame]]:
    yield "panel", worth.summary
    for name in ("judges", "pairs", "order", "size_curve"):
        yield f"panel.{name}", getattr(worth, name)


@pytest.mark.parametrize("known", [True, False])
def test_every_column_is_documented(known):
    votes = table(planted(40, 3, 0.3))
    worth = vp.panel(votes if known else votes.drop(columns="truth"))
    for name, found in every_table(worth):
        assert list(found.columns) == list(vp.documentation(name).index), name


def test_the_answer_in_short_is_one_line():
    rng = np.random.default_rng(4)
    copies = np.repeat(rng.random((400, 1)) < 0.4, 3, axis=1)
    good = rng.random((400, 5)) < 0.25
    line = vp.panel(table(np.hstack([good, copies])).assign(cost=1)).in_short()
    numbers = r"[-+]?\d+\.\d"
    points = rf"{numbers} points \[{numbers}, {numbers}\]"
    assert re.fullmatch(
        rf"8 judges, worth {numbers} independent votes \[{numbers}, {numbers}\]; "
        rf"(dropping|keeping only) [a-h](, [a-h])* and [a-h] changes accuracy by {points} on these items "
        rf"\(chosen on other items: {points}(: no loss is shown, but up to {numbers} points cannot be excluded)?\)"
        rf" and saves \d\d % of the cost; the best single judge \([a-e]\) is "
        rf"{numbers} points worse than the majority \[{numbers}, {numbers}\] on these items "
        rf"\(chosen on other items: {points}\)",
        line,
    ), line


FIGURES = [f"{name}-minus-majority" for name in ("smaller-in-sample", "smaller", "best-in-sample", "best")]


def shown(*differences: tuple[float, ...]) -> str:
    """The line of a panel of three, of which c can be dropped, with these differences and their intervals."""
    worth = vp.panel(table(planted(60, 3, 0.3)))
    summary = worth.summary.set_index("figure")
    for name, difference in zip(FIGURES, differences, strict=True):
        summary.loc[name, ["value", "low", "high"]] = difference
    found = replace(worth, summary=summary.reset_index(), dropped=("c",), best_judge="a", notes=())
    return found.in_short().split("; ", 1)[1]


def test_plus_is_better_than_the_majority_of_all_and_a_loss_that_cannot_be_excluded_is_said():
    line = shown((0.03, 0.01, 0.05), (-0.026, -0.066, 0.014), (-0.04, -0.07, 0), (-0.05, -0.08, 0.01))
    assert line.startswith(
        "dropping c changes accuracy by +3.0 points [+1.0, +5.0] on these items (chosen on other items: -2.6 points "
        "[-6.6, +1.4]: no loss is shown, but up to 6.6 points cannot be excluded) and saves "
    )
    assert line.endswith(
        "the best single judge (a) is 4.0 points worse than the majority [-7.0, 0.0] on these items (chosen on other "
        "items: -5.0 points [-8.0, +1.0])"
    )
    line = shown((0.0, -0.01, 0.01), (-0.002, -0.009, 0.0), (0.27, 0.2, 0.34), (0.26, 0.19, 0.33))
    assert "on these items (chosen on other items: -0.2 points [-0.9, 0.0]) and saves " in line
    assert "(a) is 27.0 points better than the majority [+20.0, +34.0] on these items (chosen on other " in line


def uneven(seed: int) -> pd.DataFrame:
    """Five judges of whom none is clearly the best, on 120 items."""
    rng = np.random.default_rng(seed)
    return table(rng.random((120, 5)) < [0.2, 0.22, 0.25, 0.35, 0.45])


@pytest.mark.usefixtures("every_partition")
@pytest.mark.parametrize("made", [0, 1])
def test_no_figure_hangs_on_the_seed(made):
    votes = uneven(made)
    found = [vp.panel(votes, seed=seed).summary.set_index("figure") for seed in range(10 if LONG else 5)]
    values = np.array([each["value"] for each in found])
    assert np.ptp(values, axis=0).max() < 0.006, dict(zip(found[0].index, np.ptp(values, axis=0), strict=True))


def test_figures_of_judges_by_name_are_theirs():
    rng = np.random.default_rng(4)
    copies = np.repeat(rng.random((100, 1)) < 0.45, 2, axis=1)
    votes = table(np.hstack([copies, rng.random((100, 3)) < 0.25]))
    worth, right = vp.panel(votes), votes["label"].eq(votes["truth"])
    accuracy = right.groupby(votes["worker"]).mean()
    majority = worth.figure("majority").value
    gap = worth.figure("best-in-sample-minus-majority").value
    assert gap == pytest.approx(accuracy[worth.best_judge] - majority)
    assert 0 < len(worth.dropped) < 4
    without = votes[~votes["worker"].isin(worth.dropped)]
    named = vp.panel(without).figure("majority").value
    assert worth.figure("smaller-panel-in-sample").value == pytest.approx(named)
    assert worth.figure("smaller-in-sample-minus-majority").value == pytest.approx(named - majority)


def test_what_fewer_judges_lose_is_said_and_follows_from_the_curve():
    worth = vp.panel(uneven(0))
    curve = worth.size_curve.set_index("size")
    assert curve["change"].tolist() == pytest.approx((curve["accuracy"] - curve.loc[5, "accuracy"]).tolist())
    [line] = [line for line in str(worth).splitlines() if line.startswith("fewer judges, drawn at random, ")]
    assert "compared with all: 1 judge -" in line
    row = curve.loc[3]
    points = " points [".join([f"{100 * row['change']:+.1f}", f"{100 * row['change_low']:+.1f}"])
    assert f", 3 judges {points}, " in line


@pytest.mark.parametrize("n", [25, 60])
def test_judges_chosen_on_other_items_are_those_that_a_loop_chooses(n):
    """One partition by hand: the order without each part, with as many judges as the other parts say."""
    errors = np.random.default_rng(n).random((n, 4)) < [0.2, 0.3, 0.3, 0.45]
    answers = PanelAnswers(
        tuple("abcd"),
        errors.astype(np.int64),
        2,
        True,
        np.zeros(n, dtype=np.int64),
        Clusters(np.zeros(n, dtype=np.int64), np.arange(n)),
        np.ones(4),
        False,
    )
    part = partitions(answers, 3)[:1]
    found, best = judge_order(answers, part), best_judge(answers, part)

    def ordered(kept: np.ndarray) -> list[int]:
        ones = np.ones((1, int(kept.sum())), dtype=np.int64)
        return forward_selection(answers.one_hot[:, kept], ones)[0][0].tolist()

    def right(order: list[int], here: np.ndarray) -> np.ndarray:
        votes = answers.one_hot[:, here]
        return np.column_stack([share_right(votes[:, :, order[: k + 1]].sum(axis=2)) for k in range(4)])

    for number in range(5):
        here = part[0] == number
        inner = [p for p in range(5) if p != number]
        curve = sum(right(ordered(~here & (part[0] != p)), part[0] == p).sum(axis=0) for p in inner)
        enough = int((curve >= curve[-1] - 1e-9).argmax())
        reached = right(ordered(~here), here)
        np.testing.assert_allclose(found.held_out.right[here], reached)
        np.testing.assert_allclose(found.smaller.right[here], reached[:, enough])
        chosen = int(errors[~here].sum(axis=0).argmin())
        np.testing.assert_allclose(best.held_out.right[here], ~errors[here, chosen])


def test_html_is_escaped():
    votes = table(planted(40, 3, 0.3)).replace({"worker": {"a": "<b>a</b>"}})
    assert "<b>a</b>" not in vp.panel(votes)._repr_html_()


def test_bad_arguments_are_listed_together():
    with pytest.raises(SettingsError) as caught:
        vp.panel(table(planted(20, 2, 0)), items="some", correlation="none", seed=-1)
    assert [str(problem) for problem in caught.value.problems] == [
        "items: must be one of 'common', 'all', got 'some'. Fix: leave it out.",
        "correlation: must be one of 'within-truth', 'plain', 'pooled', got 'none'. Fix: leave it out.",
        "seed: must be an integer of at least 0, got -1. Fix: give a whole number from 0.",
    ]


def test_one_judge_is_no_panel():
    with pytest.raises(
        TableError, match=r"panel: votes: only one worker voted \('a'\)\. Fix: .* at least 2 judges: give"
    ):
        vp.panel(table(planted(20, 1, 0)))
    apart = pd.DataFrame({"item": range(6), "worker": list("aabbcc"), "label": "x", "truth": "x"})
    with pytest.raises(
        TableError, match=r"no item has the votes of all 3 judges\. Fix: in Python, leave items= out, or take"
    ):
        vp.panel(apart, items="common")
    known = apart.assign(truth=["x", "x", None, None, None, None])
    with pytest.raises(TableError, match=r"only one worker voted on items whose truth is known \('a'\)"):
        vp.panel(known)
    with pytest.raises(TableError, match=r"nobody voted on items whose truth is known\."):
        vp.panel(known.assign(label=[None, None, "x", "x", "x", "x"]))


def test_votes_that_are_all_empty_are_no_panel():
    with pytest.raises(TableError, match=r"votes: label: all votes are empty \(40 votes\)\. Fix: name the column that"):
        vp.panel(table(planted(20, 2, 0)).assign(label=None))


def test_a_file_of_votes_is_read_by_from_table_or_from_votes(tmp_path):
    (tmp_path / "votes.csv").write_text("item,worker,label\n", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"a \.csv is not a run.* to from_table \(any labels\) or from_votes \(verdicts\)"
    ):
        vp.panel(tmp_path / "votes.csv")


def test_perfect_judges_have_no_correlation():
    worth = vp.panel(table(np.zeros((30, 3), dtype=bool)))
    assert np.isnan(worth.figure("effective-votes").value)
    assert str(worth).startswith("3 judges, of unknown independence\n")
    assert "their errors cannot be correlated" in " ".join(worth.notes)


def test_few_items_give_no_order():
    worth = vp.panel(table(planted(19, 3, 0.3)))
    assert worth.order.empty
    assert worth.dropped == ()
    assert "there are fewer than 20 items: judges are not ranked" in worth.notes
    assert len(vp.panel(table(planted(20, 3, 0.3))).order) == 3


def test_many_judges_have_a_size_curve_up_to_200_votes():
    errors = planted(6, 150, 0.1)
    curve = vp.panel(table_of_many(errors)).size_curve
    assert curve["size"].tolist() == list(range(1, 151))
    assert curve["accuracy"].between(0, 1).all()
    assert vp.panel(table_of_many(planted(6, 201, 0.1))).size_curve.empty


def test_runs_with_costs_divide_them_by_votes():
    worth = vp.panel("live-example")
    assert worth.costs_known
    calls = vp.datasets.runs("live-example").calls
    votes = vp.datasets.runs("live-example").votes
    paid = calls[calls["role"].eq("worker") & calls["worker"].eq("dee")]["cost"].sum()
    assert worth.judges.set_index("worker")["cost"]["dee"] == pytest.approx(paid / votes["worker"].eq("dee").sum())


def test_a_panel_of_several_rounds_says_which_votes_it_takes():
    first = table(planted(40, 3, 0.2, rate=0.2, seed=7)).assign(turn=1)
    votes = pd.concat([first, first.assign(turn=2)])
    assert vp.panel(votes, round="turn").notes[0] == (
        "with several rounds, each judge's first vote on an item counts (in Python, at='last' takes the last)"
    )
    assert "at='first' takes the first" in vp.panel(votes, round="turn", at="last").notes[0]
    assert vp.panel(votes, round="turn", at=2).notes[0].startswith("with several rounds, votes of round 2 count")


def test_judges_are_printed_in_few_columns_with_those_that_can_be_dropped():
    worth = vp.panel("llmbar/plain")
    text, page = str(worth), worth._repr_html_()
    assert len(worth.dropped) > 1
    head = r"^judge +votes  accuracy +r of errors  agreement +can be dropped \(all together\)$"
    assert re.search(head, text, re.MULTILINE)
    assert len(re.findall(r"^\S+ +414 .* yes$", text, re.MULTILINE)) == len(worth.dropped) == page.count("<td>yes</td>")
    assert "not that the judge is unreliable: see workers" in text
    assert "see workers" not in str(vp.panel(table(planted(60, 3, 0.3)).drop(columns="truth")))


@pytest.mark.parametrize(("agreed", "said"), [(0.97, True), (0.996, False), (1.0, False)])
def test_a_choice_that_prints_as_100_percent_is_not_called_uncertain(agreed, said):
    answers = SimpleNamespace(workers=["a", "b", "c"], voted=np.ones((4, 3), dtype=bool))
    notes = list(_on_order(answers, SimpleNamespace(kept=1, agreed=agreed)))
    assert bool([note for note in notes if note.startswith("whom to drop is not certain")]) is said
