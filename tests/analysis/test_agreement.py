"""Agreement and cost: against figures from the literature, and against counts by hand."""

from __future__ import annotations

from functools import cache

import evalica
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

import verifyplan as vp
from benchmarks.simulated_runs import Design, errors
from tests.longer import examples
from verifyplan.analysis.agreement_measures import alpha, cohen_kappa, measured, units_needed
from verifyplan.analysis.agreement_measures import fleiss_kappa as fleiss_kappa_sums
from verifyplan.analysis.clusters import Clusters


def runs_of(table: list[str], labels: dict[str, str]) -> vp.RunSet:
    """One row a worker, one letter an item; a dot is no vote."""
    rows = [
        {"item": f"i{i:02d}", "who": f"w{w}", "says": labels[letter]}
        for w, row in enumerate(table)
        for i, letter in enumerate(row)
        if letter != "."
    ]
    return vp.from_votes(pd.DataFrame(rows), item="item", worker="who", verdict="says")


def measure(runs: vp.RunSet, name: str) -> pd.Series:
    table = vp.agreement(runs)
    return table[table["measure"] == name].iloc[0]


def test_alpha_of_krippendorffs_own_example():
    """Krippendorff 2011, example B: two observers, ten units, alpha = 0.692 with four categories.

    Ours has three verdicts, so the example's fourth category, used once by both, is left out: 9 units.
    """
    runs = runs_of(["aabbcbcab", "bababbcab"], {"a": "agree", "b": "supplement", "c": "disagree"})
    a, b = np.array(list("aabbcbcab")), np.array(list("bababbcab"))
    n = 18
    counts = np.array([np.sum(a == x) + np.sum(b == x) for x in "abc"])
    observed = 2 * np.sum(a != b) / n
    expected = 1 - np.sum(counts * (counts - 1)) / (n * (n - 1))
    got = measure(runs, "krippendorff-alpha")
    assert got["value"] == pytest.approx(1 - observed / expected)
    assert got["n"] == 9


def test_alpha_of_the_binary_example_with_missing_votes():
    """Krippendorff 2011, example A: two observers, ten units, binary: alpha = 0.095."""
    runs = runs_of(["0100000010", "1110010000"], {"0": "agree", "1": "disagree"})
    assert measure(runs, "krippendorff-alpha")["value"] == pytest.approx(0.095, abs=5e-4)


def test_cohens_kappa_by_hand_and_on_shared_findings_only():
    runs = runs_of(["aaaddd..", "aaddda.d"], {"a": "agree", "d": "disagree"})
    got = measure(runs, "cohen-kappa")
    assert (got["worker_a"], got["worker_b"], got["n"]) == ("w0", "w1", 6)
    assert got["value"] == pytest.approx((4 / 6 - 0.5) / 0.5)


def test_fleiss_kappa_of_unequal_panels_by_hand():
    """Agreement and chance are both of the units with two votes: the last one has a single vote."""
    runs = runs_of(["aadd.", "aadda", "dadd."], {"a": "agree", "d": "disagree"})
    got = measure(runs, "fleiss-kappa")
    observed = (1 / 3 + 1 + 1 + 1) / 4
    share = (2 / 3 + 1 + 0 + 0) / 4
    expected = share**2 + (1 - share) ** 2
    assert (got["value"], got["n"]) == (pytest.approx((observed - expected) / (1 - expected)), 4)
    assert measure(runs, "gwet-ac1")["value"] == pytest.approx((observed - (1 - expected)) / expected), "of two labels"


def test_errors_are_no_opinions_and_unanimity_is_not_defined():
    labels = {"a": "agree", "e": "verification-error"}
    runs = runs_of(["aaa", "aae"], labels)
    for name in ("krippendorff-alpha", "krippendorff-alpha-ordinal", "fleiss-kappa", "gwet-ac1"):
        assert measure(runs, name)[["value", "n"]].isna().tolist() == [True, False]
        lost = "; 1 of 6 votes is lost, and left out" if name == "krippendorff-alpha" else ""  # said once
        assert measure(runs, name)["note"] == f"all votes are the same label: chance explains everything{lost}"
    assert np.isnan(measure(runs, "cohen-kappa")["value"])


def test_no_votes_at_all():
    empty = runs_of(["a"], {"a": "verification-error"})
    table = vp.agreement(empty)
    assert table["measure"].tolist() == [
        "krippendorff-alpha", "krippendorff-alpha-ordinal", "fleiss-kappa", "gwet-ac1"
    ]  # fmt: skip
    assert table["value"].isna().all()
    first, *others = table["note"]
    assert first == "no item has two votes; 1 of 1 vote is lost, and left out"
    assert set(others) == {"no item has two votes"}


def ratings(seed: int, workers: int = 6, items: int = 40, labels: int = 4, missing: float = 0.3) -> np.ndarray:
    """Labels of a panel with some agreement, of shape (items, workers); -1 where a vote is missing."""
    rng = np.random.default_rng(seed)
    right = rng.integers(0, labels, size=(items, 1))
    said = np.where(rng.random((items, workers)) < 0.6, right, rng.integers(0, labels, size=(items, workers)))
    return np.where(rng.random(said.shape) < missing, -1, said)


def long(said: np.ndarray) -> pd.DataFrame:
    rows, columns = np.nonzero(said >= 0)
    return pd.DataFrame({"item": rows, "worker": columns, "label": said[rows, columns]})


@pytest.mark.parametrize("seed", range(4))
def test_alpha_equals_that_of_an_independent_library(seed):
    said = ratings(seed)
    table = vp.agreement(long(said), ordered=[0, 1, 2, 3]).set_index("measure")["value"]
    observers = pd.DataFrame(np.where(said.T >= 0, said.T, np.nan))
    for name, distance in (("krippendorff-alpha", "nominal"), ("krippendorff-alpha-ordinal", "ordinal")):
        assert table[name] == pytest.approx(evalica.alpha(observers, distance=distance).alpha, abs=1e-9)


SPARSE = st.lists(st.lists(st.integers(-1, 2), min_size=4, max_size=4), min_size=1, max_size=12).map(np.array)
"""Labels of four workers on a few items, of shape (items, workers); -1, no vote, is made frequent by `st.integers`."""


@settings(max_examples=examples(200))
@given(SPARSE, st.integers(0, 30))
def test_no_measure_of_a_sparse_table_leaves_its_range_or_its_interval(said, n_single):
    singles = np.full((n_single, 4), -1)
    singles[:, 0] = 0
    said = np.concatenate([said, singles])
    if not (said >= 0).any():
        return
    table = vp.agreement(long(said), ordered=np.unique(said[said >= 0]))
    value, low, high = (table[name].to_numpy() for name in ("value", "low", "high"))
    known, bounded = np.isfinite(value), np.isfinite(low)
    assert (np.abs(value[known]) <= 1).all()
    assert (np.isfinite(high) == bounded).all()
    assert ((low >= -1) & (low <= value) & (value <= high) & (high <= 1))[bounded].all()
    assert not bounded[table["n"] < 2].any()
    assert table.loc[~bounded, "note"].ne("").all(), "why there is no interval"


@settings(max_examples=examples(50))
@given(SPARSE, st.integers(1, 30))
def test_items_with_one_vote_change_no_measure(said, n_single):
    """They agree with nothing: only the notes know of them, and what the labels of a scale are."""
    pairable = said[(said >= 0).sum(axis=1) >= 2]
    if not len(pairable):
        return
    singles = np.full((n_single, 4), -1)
    singles[:, 3] = pairable.max()
    more = vp.agreement(long(np.concatenate([said, singles])))
    pd.testing.assert_frame_equal(more, vp.agreement(long(pairable)))
    values = more.set_index("measure")["value"]
    seen = pairable[:, (pairable >= 0).any(axis=0)]
    if np.isfinite(values["krippendorff-alpha"]):
        observers = pd.DataFrame(np.where(seen.T >= 0, seen.T, np.nan))
        assert values["krippendorff-alpha"] == pytest.approx(evalica.alpha(observers).alpha, abs=1e-9)


def test_one_item_with_two_votes_has_no_interval_and_says_so():
    said = np.full((21, 2), -1)
    said[0], said[1:, 0] = (0, 1), 0
    table = vp.agreement(long(said)).set_index("measure")
    expected = {"krippendorff-alpha": 0, "fleiss-kappa": -1, "gwet-ac1": -1, "cohen-kappa": 0}
    assert table["value"].to_dict() == expected
    assert table[["low", "high"]].isna().all(axis=None)
    assert set(table["n"]) == {1}
    assert set(table["note"]) == {"one item has two votes, so there is no interval"}


@pytest.mark.parametrize("seed", range(4))
def test_kappas_equal_those_of_independent_libraries(seed):
    said = ratings(seed)
    table = vp.agreement(long(said))
    for row in table[table["measure"] == "cohen-kappa"].itertuples():
        first, second = said[:, [int(row.worker_a), int(row.worker_b)]].T
        both = (first >= 0) & (second >= 0)
        assert row.value == pytest.approx(cohen_kappa_score(first[both], second[both]), abs=1e-9)
        assert row.n == both.sum()
    full = ratings(seed, missing=0)
    singles = np.full((30, 6), -1)
    singles[:, 0] = 3
    counts = np.stack([(full == label).sum(axis=1) for label in range(4)], axis=1)
    for table in (full, np.concatenate([full, singles])):
        got = vp.agreement(long(table)).set_index("measure")["value"]
        assert got["fleiss-kappa"] == pytest.approx(fleiss_kappa(counts), abs=1e-9)


def test_ac1_of_two_workers_by_its_closed_form():
    """Gwet 2008: 118 of 125 items alike, 5 and 2 not; AC1 is high where kappa is 0."""
    said = np.array([[0, 0]] * 118 + [[0, 1]] * 5 + [[1, 0]] * 2)
    table = vp.agreement(long(said)).set_index("measure")
    share = (118 * 2 + 7) / 250
    chance = 2 * share * (1 - share)
    assert table.loc["gwet-ac1", "value"] == pytest.approx((118 / 125 - chance) / (1 - chance), abs=1e-12)
    assert table.loc["cohen-kappa", "value"] < 0


@settings(max_examples=examples(20))
@given(st.permutations(range(24)), st.integers(0, 5))
def test_order_of_rows_does_not_matter(order, seed):
    table = long(ratings(seed, workers=3, items=8, labels=3, missing=0))
    pd.testing.assert_frame_equal(vp.agreement(table), vp.agreement(table.iloc[list(order)]))


def test_panels_long_tables_and_runs_give_the_same():
    runs = runs_of(["aadda", "adddd", "aadad"], {"a": "agree", "d": "disagree"})
    columns = {"item": "finding_id", "worker": "worker", "label": "verdict", "run": "run_id"}
    of_table = vp.agreement(runs.votes, **columns)
    of_panel = vp.agreement(vp.from_table(runs.votes, **columns))
    pd.testing.assert_frame_equal(of_table, of_panel)
    of_runs = vp.agreement(runs)
    same = of_runs[of_runs["measure"] != "krippendorff-alpha-ordinal"].reset_index(drop=True)
    pd.testing.assert_frame_equal(of_table, same, check_dtype=False)


def test_a_bundled_table_of_votes_is_taken_by_its_name():
    table = vp.datasets.votes("debate-rounds")
    pd.testing.assert_frame_equal(vp.agreement("debate-rounds"), vp.agreement(table))


def test_an_order_must_name_every_label():
    with pytest.raises(vp.errors.SettingsError) as error:
        vp.agreement(long(ratings(0)), ordered=[0, 1, 2])
    assert str(error.value) == (
        "ordered: must name every label, got '0', '1', '2'. Fix: name each once, from one end of the scale to the "
        "other: '0', '1', '2', '3'."
    )


def test_the_votes_of_a_round_are_those_of_the_round():
    table = pd.DataFrame(
        [(item, worker, round, label) for item in "FG" for worker in "ab" for round, label in ((1, item), (2, worker))],
        columns=["item", "worker", "round", "label"],
    )
    values = [vp.agreement(table, at=at).set_index("measure").loc["cohen-kappa", "value"] for at in ("first", 2)]
    assert values == [1, 0]


def test_what_has_no_interval_says_why():
    alike = vp.agreement(long(np.array([[0, 0], [1, 1], [0, 0]])))
    assert alike["low"].isna().all()
    assert alike["note"].str.contains("no two votes on an item differ").all()
    constant = vp.agreement(long(np.array([[0, 0], [0, 1], [0, 0]]))).set_index("measure").loc["cohen-kappa"]
    assert constant["note"].startswith("nothing varies between items")


def test_few_items_are_said_beside_alpha():
    note = vp.agreement(long(ratings(0, labels=2, missing=0))).loc[0, "note"]
    assert note.startswith("40 items are few: to show an alpha of 0.667 takes 6")
    assert units_needed(0.25) == 81, "Krippendorff 2004: 81 units for four labels, 139 for an alpha of .8"
    assert vp.agreement(long(ratings(0, items=400, labels=2))).loc[0, "note"] == ""


def test_intervals_take_runs_and_repeated_items_as_clusters():
    said = ratings(1, items=20, missing=0)
    once = long(said).assign(run="a")
    copies = pd.concat([once.assign(run=name) for name in "abcdefghij"])
    single, repeated = (vp.agreement(each).loc[0] for each in (once, copies))
    assert repeated["value"] == pytest.approx(single["value"], abs=0.01)
    assert repeated["high"] - repeated["low"] > 0.7 * (single["high"] - single["low"]), "ten copies say nothing more"


@cache
def agreements_of_a_known_design() -> list[pd.DataFrame]:
    design = Design(12, 30, rates=(0.3,) * 5, run_correlation=0.1, item_correlation=0.5)
    tables = (
        long(said.T.astype(int)).assign(run=np.repeat(design.clusters.run, 5))
        for block in errors(design, 60, seed=5)
        for said in block
    )
    return [vp.agreement(table).set_index("measure") for table in tables]


@pytest.mark.parametrize("name", ["krippendorff-alpha", "gwet-ac1", "cohen-kappa"])
def test_intervals_hold_the_truth_about_as_often_as_they_say(name):
    """Two fresh runs of 60 items and five workers of one rate: kappa and alpha have a closed form."""
    alike = multivariate_normal(cov=[[1, 0.55], [0.55, 1]]).cdf(norm.ppf([0.3, 0.3])) * 2 + 1 - 0.6
    chance = 0.42 if name == "gwet-ac1" else 0.58
    true = (alike - chance) / (1 - chance)
    rows = [table.loc[[name]].iloc[0] for table in agreements_of_a_known_design()]
    held = [row["low"] <= true <= row["high"] for row in rows]
    assert np.mean(held) > 0.85


@pytest.mark.parametrize("n", [8, 30])
def test_intervals_of_few_items_with_a_rare_label_hold_the_truth(n):
    """Five workers say the rare label in 10 % of cases, and all of them on few items, or on none, by chance.

    Without the item that is imagined, intervals of alpha held the truth in 52 % with 8 items, those of kappa in less.
    """
    rng = np.random.default_rng(0)
    alike = multivariate_normal(cov=[[1, 0.5], [0.5, 1]]).cdf(norm.ppf([0.1, 0.1])) * 2 + 1 - 0.2
    true = (alike - 0.82) / 0.18
    held: dict[str, list[bool]] = {"alpha": [], "fleiss": [], "cohen": []}
    for _ in range(300):
        latent = rng.standard_normal((n, 1)) + rng.standard_normal((n, 5))
        said = (latent / np.sqrt(2) < norm.ppf(0.1)).astype(int)
        clusters = Clusters(np.zeros(n, dtype=int), np.arange(n))
        counts = np.column_stack([5 - said.sum(axis=1), said.sum(axis=1)])
        of_all = [measured(of(counts), clusters, n) for of in (alpha, fleiss_kappa_sums)]
        found = [*of_all, cohen_kappa(said[:, 0], said[:, 1], 2, clusters)]
        for name, each in zip(held, found, strict=True):
            held[name] += [each.low <= true <= each.high] if np.isfinite(each.low) else []
    assert min(np.mean(each) for each in held.values()) >= 0.92, {name: np.mean(each) for name, each in held.items()}


def test_the_table_has_the_columns_that_are_documented():
    table = vp.agreement(long(ratings(0)), ordered=range(4))
    documented = vp.documentation("agreement")
    assert list(documented.index) == list(table.columns)
    assert set(table["measure"]) == set(documented.loc["measure", "type"].split(" | "))


def test_a_comparison_carries_both_for_each_condition():
    sets = [vp.datasets.runs(f"stdlib-claims/{mode}") for mode in ("collaborative", "adversarial")]
    comparison = vp.compare(*sets, resamples=20)
    assert comparison.agreement["condition"].unique().tolist() == ["collaborative", "adversarial"]
    calls = comparison.cost.set_index(["condition", "measure"])["value"]
    for name, runs in zip(("collaborative", "adversarial"), sets, strict=True):
        assert calls[name, "calls"] == (runs.dispatches["status"] == "completed").sum()
        assert calls[name, "votes"] == len(runs.votes)


def test_more_pairs_than_200_workers_have_are_left_out_and_said():
    """The number of pairs grows with the square of the workers: a table of 500,000 rows answers no question."""
    item, worker = (axis.ravel() for axis in np.indices((3, 202)))
    votes = pd.DataFrame({"item": item, "worker": worker, "label": np.random.default_rng(0).integers(0, 2, 606)})
    found = vp.agreement(votes)
    assert found["measure"].tolist() == ["krippendorff-alpha", "fleiss-kappa", "gwet-ac1"]
    left_out = "Cohen's kappa is left out: the 20,301 pairs are over 20,000; choose fewer workers"
    assert found["note"].str.endswith(left_out).tolist() == [True, False, False]
    few = votes[votes["worker"] < 4]
    assert (vp.agreement(few)["measure"] == "cohen-kappa").sum() == 6


def test_a_printed_table_hides_no_column():
    votes = pd.DataFrame({"item": list("FFGGHH"), "worker": ["a" * 30, "b" * 30] * 3, "label": list("ynyynn")})
    text = str(vp.agreement(votes))
    assert "..." not in text
    assert text.splitlines()[0].split() == ["measure", "worker_a", "worker_b", "value", "low", "high", "n", "note"]
