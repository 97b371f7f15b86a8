"""Drawn weights: shares of draws counted by hand, blocks that change nothing, and laws of rank correlation."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy
from scipy.stats import kendalltau

from tests.longer import examples
from verifyplan.analysis import weights
from verifyplan.analysis.weights import dirichlet
from verifyplan.errors import InputError

CENTRE = {"a": "0.5", "b": "0.3", "c": "0.2"}
CELLS = st_numpy.arrays(np.int64, st.tuples(st.integers(1, 7), st.just(3)), elements=st.integers(1, 4))


def table_of(cells):
    return pd.DataFrame(cells, columns=list("abc"), index=[f"p{i}" for i in range(len(cells))])


def drawn_scores(cells, concentration, draws, seed=0, centre=(0.5, 0.3, 0.2)):
    """The same weights, drawn by hand; identical plans have identical scores."""
    drawn = np.random.default_rng(seed).dirichlet(concentration * np.array(centre), size=draws)
    return np.round(np.array([[sum(w * x for w, x in zip(d, row, strict=True)) for row in cells] for d in drawn]), 10)


def ranks_by_hand(scores):
    return np.array([[1 + sum(other > one for other in row) for one in row] for row in scores])


@given(CELLS, st.sampled_from([1.0, 50.0]), st.integers(1, 60))
@settings(max_examples=examples(40))
def test_shares_of_draws_are_those_counted_by_hand(cells, concentration, draws):
    table = table_of(cells)
    found = weights.rank_stability(table, CENTRE, concentration=concentration, draws=draws, threshold=2.5)
    scores = drawn_scores(cells, concentration, draws)
    ranks = ranks_by_hand(scores)
    base = weights.apply(table, CENTRE)
    assert found[["plan", "score", "rank"]].equals(base[["plan", "score", "rank"]])
    assert found["kept_rank"].tolist() == pytest.approx((ranks == base["rank"].to_numpy(dtype=int)).mean(axis=0))
    assert found["first"].tolist() == pytest.approx((ranks == 1).mean(axis=0))
    assert found["above"].tolist() == pytest.approx((scores >= 2.5 - 1e-9).mean(axis=0))
    low, high = np.quantile(ranks, 0.025, axis=0, method="lower"), np.quantile(ranks, 0.975, axis=0, method="higher")
    assert found["low_rank"].tolist() == low.tolist()
    assert found["high_rank"].tolist() == high.tolist()


@given(CELLS, st.sampled_from([1.0, 50.0]), st.integers(1, 60), st.sampled_from([1.5, 2.5, 3.5]), st.integers(1, 4))
@settings(max_examples=examples(40))
def test_ranks_above_a_threshold_are_those_counted_by_hand(cells, concentration, draws, threshold, tile):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dirichlet, "_TILE", (tile, 2 * tile - 1))
        found = weights.rank_stability(
            table_of(cells), CENTRE, concentration=concentration, draws=draws, threshold=threshold, ranked="above"
        )
    scores = drawn_scores(cells, concentration, draws)
    ranks = ranks_by_hand(scores)
    above = scores >= threshold - 1e-9
    at_centre = weights.apply(table_of(cells), CENTRE)["rank"].to_numpy(dtype=int)
    assert found["kept_rank"].tolist() == pytest.approx(((ranks == at_centre) & above).mean(axis=0))
    assert found["first"].tolist() == pytest.approx(((ranks == 1) & above).mean(axis=0))
    assert found["above"].tolist() == pytest.approx(above.mean(axis=0))
    for plan, (low, high) in enumerate(zip(found["low_rank"], found["high_rank"], strict=True)):
        of_plan = ranks[above[:, plan], plan]
        if len(of_plan):
            assert (low, high) == (
                np.quantile(of_plan, 0.025, method="lower"),
                np.quantile(of_plan, 0.975, method="higher"),
            )
        else:
            assert low is high is pd.NA


def test_ranking_above_needs_a_threshold_that_not_too_many_reach(monkeypatch):
    table = table_of([[1, 2, 3], [3, 3, 3]])
    with pytest.raises(InputError, match="threshold: is missing: ranked='above' ranks the plans that reach it"):
        weights.rank_stability(table, CENTRE, ranked="above")
    with pytest.raises(InputError, match="ranked: must be 'all' or 'above', got 'top'"):
        weights.rank_stability(table, CENTRE, ranked="top")
    monkeypatch.setattr(dirichlet, "MAX_SCORES_ABOVE", 150)
    with pytest.raises(InputError, match="threshold: 1 is reached by more than 150 scores over all draws"):
        weights.rank_stability(table, CENTRE, draws=100, threshold=1, ranked="above")


@given(CELLS)
@settings(max_examples=examples(40))
def test_stability_is_that_counted_by_hand(cells):
    table = table_of(cells)
    found = weights.stability_measures(table, CENTRE, concentration=3, draws=30, threshold=2.5).set_index("measure")
    base = weights.apply(table, CENTRE)
    centre, score = base["rank"].to_numpy(dtype=int), base["score"].to_numpy()
    scores = drawn_scores(cells, 3, 30)
    ranks = ranks_by_hand(scores)
    pairs = [(i, j) for i, j in itertools.permutations(range(len(cells)), 2) if centre[i] < centre[j]]
    assert found["n"].to_dict() == {
        "kendall-tau-b": len(cells), "pairs-kept": len(pairs), "ranks-kept": len(cells), "same-first": 30,
        "above-kept": len(cells),
    }  # fmt: skip
    assert found.loc["ranks-kept", "value"] == pytest.approx((ranks == centre).mean())
    assert found.loc["same-first", "value"] == np.mean([((row == 1) == (centre == 1)).all() for row in ranks])
    assert found.loc["above-kept", "value"] == pytest.approx(((scores >= 2.5 - 1e-9) == (score >= 2.5 - 1e-9)).mean())
    if pairs:
        kept = [np.mean([row[i] < row[j] for i, j in pairs]) for row in ranks]
        taus = [kendalltau(centre, row).statistic for row in ranks]
        assert found.loc["pairs-kept", "value"] == pytest.approx(np.mean(kept))
        assert found.loc["pairs-kept", ["low", "high"]].tolist() == pytest.approx(np.percentile(kept, [2.5, 97.5]))
        assert found.loc["kendall-tau-b", "value"] == pytest.approx(np.mean(taus))
        assert found.loc["kendall-tau-b", ["low", "high"]].tolist() == pytest.approx(np.percentile(taus, [2.5, 97.5]))
    else:
        assert found.loc[["pairs-kept", "kendall-tau-b"], "value"].isna().all()


def test_the_range_of_ranks_is_the_middle_95_percent():
    cells = np.random.default_rng(5).integers(1, 100, size=(60, 3))
    found = weights.rank_stability(table_of(cells), CENTRE, concentration=2, draws=400)
    ranks = ranks_by_hand(drawn_scores(cells, 2, 400))
    assert found["low_rank"].tolist() == np.quantile(ranks, 0.025, axis=0, method="lower").tolist()
    assert found["high_rank"].tolist() == np.quantile(ranks, 0.975, axis=0, method="higher").tolist()


def test_first_place_is_kept_by_all_that_share_it_or_not_at_all():
    told = weights.stability_measures(pd.DataFrame({"a": [3, 1], "b": [1, 3]}), {"a": 0.5, "b": 0.5}, draws=50)
    assert told.set_index("measure").loc["same-first", ["value", "n"]].tolist() == [0, 50]
    assert told.set_index("measure").loc["pairs-kept", "n"] == 0


def test_blocks_change_nothing(monkeypatch):
    table = table_of(np.random.default_rng(3).integers(1, 5, size=(9, 3)))
    settings = {"concentration": 2, "draws": 97, "threshold": 2.2}
    whole = weights.rank_stability(table, CENTRE, **settings), weights.stability_measures(table, CENTRE, **settings)
    monkeypatch.setattr(dirichlet, "_MAX_SCORES", 40)
    blocks = weights.rank_stability(table, CENTRE, **settings), weights.stability_measures(table, CENTRE, **settings)
    for one, other in zip(whole, blocks, strict=True):
        pd.testing.assert_frame_equal(one, other)


def test_with_one_draw_every_share_is_0_or_1_and_the_range_is_one_rank():
    table = table_of([[4, 1, 1], [1, 4, 1], [1, 1, 4]])
    found = weights.rank_stability(table, CENTRE, draws=1, concentration=0.5, threshold=2)
    assert found["low_rank"].tolist() == found["high_rank"].tolist()
    assert set(found[["kept_rank", "first", "above"]].to_numpy().ravel()) <= {0.0, 1.0}
    assert found["first"].sum() == 1


def test_plans_of_equal_scores_tie_in_every_draw_and_weights_of_0_stay_0():
    table = table_of([[3, 2, 1], [3, 2, 4], [1, 1, 1]])
    found = weights.rank_stability(table, {"a": "0.5", "b": "0.5", "c": "0"}, concentration=0.3, draws=300)
    assert found["first"].tolist() == [1, 1, 0]
    assert found[["rank", "low_rank", "high_rank"]].to_numpy().tolist() == [[1, 1, 1], [1, 1, 1], [3, 3, 3]]
    [tau, *_] = weights.stability_measures(table, {"a": "0.5", "b": "0.5", "c": "0"}, draws=20).itertuples()
    assert tau.value == pytest.approx(1)


def test_a_single_weight_leaves_nothing_to_draw():
    table = table_of([[3, 2, 1], [1, 2, 4]])
    found = weights.rank_stability(table, {"a": 1, "b": 0, "c": 0}, concentration=0.01, draws=10, threshold=3)
    assert found["kept_rank"].tolist() == [1, 1]
    assert found["above"].tolist() == [1, 0]


@pytest.mark.parametrize(("concentration", "spread"), [(10, 0.13), (50, 0.06), (200, 0.03)])
def test_the_spread_of_a_weight_is_as_documented(concentration, spread):
    drawn = dirichlet.draw(
        pd.DataFrame({"a": [1], "b": [2]}), {"a": "0.25", "b": "0.75"}, concentration, 20_000, 0
    ).weights[:, 0]
    assert drawn.mean() == pytest.approx(0.25, abs=0.005)
    assert round(drawn.std(), 2) == spread


def test_the_surer_the_weights_the_more_ranks_are_kept():
    table = table_of(np.random.default_rng(1).integers(1, 10, size=(30, 3)))
    kept = [
        weights.rank_stability(table, CENTRE, concentration=c, draws=300)["kept_rank"].mean() for c in (2, 20, 2000)
    ]
    assert kept == sorted(kept)
    assert kept[0] < 0.5 < kept[2]


def test_a_threshold_that_is_reached_counts_though_floats_fall_short():
    table = pd.DataFrame([[7] * 6, [6] * 6], columns=list("abcdef"))
    found = weights.rank_stability(table, weights.presets(list("abcdef"))["equal"], threshold=7, draws=500)
    assert found["above"].tolist() == [1, 0]
    assert weights.rank_stability(table, weights.presets(list("abcdef"))["equal"], draws=5)["above"].isna().all()


def test_settings_are_told_and_the_seed_decides():
    table = table_of([[3, 2, 1], [1, 2, 4]])
    one, same, other = (
        weights.rank_stability(table, CENTRE, concentration=1, draws=50, seed=seed) for seed in (1, 1, 3)
    )
    assert one.attrs == {"draws": 50, "concentration": 1.0, "seed": 1, "threshold": None}
    assert weights.stability_measures(table, CENTRE, draws=9, threshold=2).attrs == {
        "draws": 9, "concentration": 50.0, "seed": 0, "threshold": 2.0,
    }  # fmt: skip
    pd.testing.assert_frame_equal(one, same)
    assert not one.equals(other)


def test_plans_without_scores_have_rows_without_values_and_none_is_no_error():
    table = table_of([[3.0, 2, 1], [1, np.nan, 4]])
    lacking = weights.rank_stability(table, CENTRE, draws=5, threshold=1).iloc[1]
    assert lacking.drop("plan").isna().all()
    for few in (table.iloc[1:], table.iloc[:0]):
        assert len(weights.rank_stability(few, CENTRE, draws=5)) == len(few)
        told = weights.stability_measures(few, CENTRE, draws=5)
        assert told["value"].isna().all()
        assert told["n"].eq(0).all()
    alone = weights.stability_measures(table, CENTRE, draws=5).set_index("measure")
    assert alone["value"].dropna().to_dict() == {"ranks-kept": 1.0, "same-first": 1.0}


def test_all_that_is_wrong_is_told_at_once():
    wrong = {"concentration": 0, "draws": 0, "seed": -1, "threshold": float("nan")}
    for analysis in (weights.rank_stability, weights.stability_measures):
        with pytest.raises(InputError, match="Fix: ") as raised:
            analysis(pd.DataFrame({"a": ["x"]}), {"a": "0.5"}, **wrong)
        places = ["concentration", "draws", "seed", "threshold", "scores: column a", "weights"]
        assert [problem.place for problem in raised.value.problems] == places
    with pytest.raises(InputError, match=r"draws: 1000001 is out of range. Fix: give a whole number from 1 to 1000000"):
        weights.rank_stability(pd.DataFrame({"a": [1]}), {"a": 1}, draws=1_000_001)
