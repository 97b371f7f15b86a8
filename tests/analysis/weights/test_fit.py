"""Weights fitted to overall scores: known weights are found, beside an independent optimiser; doubts are told."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from tests.longer import examples
from verifyplan.analysis import weights
from verifyplan.errors import InputError, SettingsError
from verifyplan.protocol.records import DIMENSIONS

KNOWN = {"wit": 0.5, "depth": 0.3, "grace": 0.2, "noise": 0.0}
SCALES = {"wit": (1, 10), "depth": (0, 3), "grace": (-1, 1), "noise": (0, 1)}


def judged(n=400, noise=0.3, seed=0, scale=4.0, known=None):
    """Plans whose overall score is 1 + scale x the weighted sum, with noise; `depth` has few values, and so ties."""
    rng, known = np.random.default_rng(seed), known or KNOWN
    raw = rng.random((n, len(known)))
    raw[:, 1] = np.round(raw[:, 1] * 3) / 3
    overall = 1 + scale * raw @ np.array(list(known.values())) + noise * rng.standard_normal(n)
    low, high = np.array([SCALES[name] for name in known]).T
    return pd.DataFrame(low + raw * (high - low), columns=list(known)).assign(overall=overall)


def told(found):
    return found.weights.set_index("dimension")


def notes(found):
    return "\n".join(found.notes)


def test_known_weights_are_inside_their_intervals_and_near():
    found = weights.fit(judged(), "overall", ranges=SCALES)
    table = told(found)
    for name, weight in KNOWN.items():
        assert table.loc[name, "low"] - 1e-9 <= weight <= table.loc[name, "high"], name
        assert table.loc[name, "weight"] == pytest.approx(weight, abs=0.05)
    assert found.intercept == pytest.approx(1, abs=0.15)
    assert found.scale == pytest.approx(4, abs=0.2)
    assert found.n == 400
    assert found.n_groups is None
    assert table["weight"].sum() == pytest.approx(1)


def test_intervals_hold_the_known_weights_about_as_often_as_they_say():
    inside = []
    for seed in range(40):
        table = told(weights.fit(judged(150, seed=seed), "overall", ranges=SCALES, resamples=300, repeats=1))
        inside += [table.loc[n, "low"] <= KNOWN[n] <= table.loc[n, "high"] for n in ("wit", "depth", "grace")]
    assert 0.88 <= np.mean(inside) <= 0.99


def test_without_noise_the_fit_is_exact_whatever_the_scale_and_ties():
    found = weights.fit(judged(60, noise=0, scale=1e6), "overall", ranges=SCALES)
    assert found.exact() == {name: Decimal(str(weight)) for name, weight in KNOWN.items()}
    assert found.r2 == pytest.approx(1)
    assert found.r2_cv == pytest.approx(1)
    assert found.r2_cv_linear == pytest.approx(1)
    assert (found.intercept, found.scale) == pytest.approx((1, 1e6))


@pytest.mark.parametrize("seed", range(5))
def test_another_optimiser_finds_nothing_better(seed):
    table = judged(80, noise=1.5, seed=seed, known={"wit": 0.9, "depth": 0.1, "grace": 0.0})
    three = {name: SCALES[name] for name in ("wit", "depth", "grace")}
    found = weights.fit(table, "overall", ranges=three, resamples=1, repeats=1)
    low, high = np.array(list(three.values())).T
    x, y = (table.drop(columns="overall").to_numpy() - low) / (high - low), table["overall"].to_numpy()

    def missed(p):
        return ((y - p[3] - p[4] * x @ p[:3]) ** 2).sum()

    other = minimize(
        missed,
        [1 / 3, 1 / 3, 1 / 3, y.mean(), 1],
        bounds=[(0, 1)] * 3 + [(None, None)] * 2,
        constraints={"type": "eq", "fun": lambda p: p[:3].sum() - 1},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    ours = missed([*told(found)["weight"], found.intercept, found.scale])
    assert ours <= other.fun * (1 + 1e-9)
    assert ours == pytest.approx(other.fun, rel=1e-4)
    assert found.r2 == pytest.approx(1 - ours / ((y - y.mean()) ** 2).sum())


def test_cross_validation_is_that_of_a_fit_on_each_training_part():
    table = judged(30, noise=1, seed=4)
    found = weights.fit(table, "overall", ranges=SCALES, folds=30, repeats=2, resamples=1)
    x, y = table.drop(columns="overall").to_numpy(), table["overall"].to_numpy()
    free, constrained = np.empty(30), np.empty(30)
    for i in range(30):
        rest = np.arange(30) != i
        slopes = np.linalg.lstsq(np.column_stack([np.ones(29), x[rest]]), y[rest])[0]
        free[i] = slopes[0] + x[i] @ slopes[1:]
        one = weights.fit(table[rest], "overall", ranges=SCALES, repeats=1, resamples=1)
        scaled = [(x[i, j] - low) / (high - low) for j, (low, high) in enumerate(SCALES.values())]
        constrained[i] = one.intercept + one.scale * (told(one)["weight"].to_numpy() @ scaled)
    every = ((y - y.mean()) ** 2).sum()
    assert found.r2_cv_linear == pytest.approx(1 - ((y - free) ** 2).sum() / every)
    assert found.r2_cv == pytest.approx(1 - ((y - constrained) ** 2).sum() / every)
    assert found.r2_cv_spread == pytest.approx((found.r2_cv, found.r2_cv)), "leaving out one leaves nothing to chance"


def test_the_fit_costs_little_where_weights_are_true_and_it_says_so_where_they_are_not():
    found = weights.fit(judged(), "overall")
    assert found.r2_cv > found.r2_cv_linear - 0.02
    assert found.r2_cv <= found.r2
    against = judged().eval("overall = overall - 4 * grace")
    cost = weights.fit(against, "overall")
    assert cost.r2_cv < cost.r2_cv_linear - 0.02
    assert f"An unconstrained linear fit explains {cost.r2_cv_linear - cost.r2_cv:.3f} more" in notes(cost)


def test_plans_that_lack_a_score_are_left_out_and_counted():
    table = judged(200)
    table.loc[3, "wit"] = np.nan
    table.loc[[5, 6], "overall"] = np.nan
    found = weights.fit(table, "overall", ranges=SCALES)
    assert found.n == 197
    assert "Left out, as a dimension or the overall score is missing: 3 plans." in found.notes
    whole = weights.fit(table.dropna(), "overall", ranges=SCALES)
    pd.testing.assert_frame_equal(found.weights, whole.weights)


def test_overall_scores_come_in_many_ways_and_mean_the_same():
    table = judged(50).set_index(pd.Index([f"p{i}" for i in range(50)]))
    table["dialogue"] = [f"d{i // 5}" for i in range(50)]
    cells = table.drop(columns=["overall", "dialogue"])
    overall, dialogue = table["overall"], table["dialogue"]
    known = weights.fit(table, "overall", groups="dialogue")
    assert known.n_groups == 10
    for given_overall, given_groups in [
        (overall.sample(frac=1, random_state=0), dialogue.sample(frac=1, random_state=1)),
        (overall.to_dict(), dialogue.to_dict()),
        (overall.tolist(), dialogue.tolist()),
        (overall.to_numpy(), tuple(dialogue)),
    ]:
        found = weights.fit(cells, given_overall, groups=given_groups)
        pd.testing.assert_frame_equal(found.weights, known.weights)
        assert (found.r2_cv, found.r2_cv_spread) == (known.r2_cv, known.r2_cv_spread)


def test_groups_are_resampled_and_folded_whole():
    table = judged(60, noise=1, seed=2)
    tenfold = pd.concat([table] * 10, ignore_index=True)
    naive = weights.fit(tenfold, "overall", ranges=SCALES)
    grouped = weights.fit(tenfold, "overall", ranges=SCALES, groups=[i % 60 for i in range(600)])
    alone = weights.fit(table, "overall", ranges=SCALES)
    width = [(told(found)["high"] - told(found)["low"]).mean() for found in (naive, grouped, alone)]
    assert width[0] < 0.6 * width[2]
    assert width[1] == pytest.approx(width[2])
    assert naive.r2_cv > alone.r2_cv + 0.01
    assert grouped.r2_cv == pytest.approx(alone.r2_cv, abs=0.01)
    assert grouped.n_groups == 60


@given(st.permutations(list(KNOWN)), st.sampled_from([1, -2, 1000]))
@settings(max_examples=examples(20))
def test_the_order_of_columns_and_the_unit_of_the_overall_score_change_no_weight(order, unit):
    table = judged(40, noise=1, seed=5)
    known = told(weights.fit(table, "overall", ranges=SCALES, resamples=20, repeats=2))
    found = weights.fit(table[order], unit * table["overall"] + 7, ranges=SCALES, resamples=20, repeats=2)
    assert list(told(found).index) == order
    np.testing.assert_allclose(told(found).loc[known.index].to_numpy(), known.to_numpy(), atol=1e-8)
    assert np.sign(found.scale) == np.sign(unit)
    assert sum(found.exact().values()) == 1


def test_the_seed_decides():
    one, same, other = (weights.fit(judged(50), "overall", seed=seed, resamples=50) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one.weights, same.weights)
    assert one.r2_cv == same.r2_cv
    assert one.scale_interval != other.scale_interval
    assert one.r2_cv != other.r2_cv
    assert one.r2_cv_spread[0] < one.r2_cv < one.r2_cv_spread[1]


def test_grades_of_which_1_is_the_best_give_a_negative_scale_and_the_same_weights():
    table = judged(200)
    up = weights.fit(table, "overall")
    down = weights.fit(table.drop(columns="overall"), 6 - table["overall"])
    assert down.scale == pytest.approx(-up.scale)
    assert told(down)["weight"].tolist() == pytest.approx(told(up)["weight"].tolist())
    assert "The overall score falls as the dimensions rise" in notes(down)
    assert "falls as" not in notes(up)
    assert down.scale_interval == pytest.approx((-up.scale_interval[1], -up.scale_interval[0]))
    assert (down.sign_differs, up.sign_differs) == (0, 0)


def random_scores(seed, n=200, strength=0.0):
    """Three dimensions, and an overall score that has little or nothing to do with them."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.integers(1, 11, (n, 3)), columns=["wit", "depth", "grace"])
    return table.assign(overall=rng.standard_normal(n) + strength * (table["wit"] - 5.5) / 3)


@pytest.mark.parametrize("seed", range(1, 13))  # one seed of the first 60, the very first, explains by chance
def test_a_fit_to_chance_is_told_not_to_be_used_and_nothing_soothes(seed):
    found = weights.fit(random_scores(seed), "overall", resamples=200)
    assert found.r2_cv <= 0
    assert not found.explains
    assert found.notes[0].startswith(
        "The fit explains nothing of scores that it has not seen: do not use these weights."
    )
    for soothing in ("this is right", "hold;", "check the direction"):
        assert soothing not in notes(found)


def test_it_is_told_where_only_some_folds_say_that_nothing_is_explained():
    found = weights.fit(random_scores(30), "overall", resamples=20)
    assert found.r2_cv_spread[0] <= 0 < found.r2_cv
    assert not found.explains
    least, most = found.r2_cv_spread
    assert found.notes[0] == (
        "With some splits into folds, the fit explains nothing of scores that it has not seen: do not use these "
        f"weights. Cross-validated R² is {least:.3f} to {most:.3f}."
    )
    sound = weights.fit(judged(), "overall", resamples=20)
    assert sound.explains
    assert "do not use" not in notes(sound)


def test_an_unconstrained_fit_that_explains_nothing_either_is_not_held_against_the_weights():
    found = [weights.fit(random_scores(seed, n=20), "overall", resamples=1, repeats=2) for seed in range(30)]
    better = [one for one in found if one.r2_cv_linear - one.r2_cv > 0.02 and one.r2_cv_linear <= 0]
    assert better
    assert not any("An unconstrained" in notes(one) for one in better)


def test_resamples_with_another_sign_of_scale_are_counted_and_the_interval_of_the_scale_shows_them():
    unsure = weights.fit(random_scores(1), "overall", resamples=400)
    low, high = unsure.scale_interval
    assert low < 0 < high
    assert 0.025 < unsure.sign_differs < 1
    assert f"The sign of the scale is not certain: {100 * unsure.sign_differs:.1f} % of resamples" in notes(unsure)
    sure = weights.fit(judged(100), "overall", resamples=400)
    assert sure.sign_differs == 0
    assert "sign of the scale" not in notes(sure)
    assert sure.scale_interval[0] < sure.scale < sure.scale_interval[1]
    assert sure.intercept_interval[0] < sure.intercept < sure.intercept_interval[1]


def test_intervals_of_scale_and_intercept_are_those_of_fits_to_resampled_plans():
    table = judged(60, noise=1.0, seed=3)
    found = weights.fit(table, "overall", ranges=SCALES, resamples=500, repeats=1)
    rng, drawn = np.random.default_rng(8), []
    for _ in range(300):
        again = table.iloc[rng.integers(60, size=60)].reset_index(drop=True)
        one = weights.fit(again, "overall", ranges=SCALES, resamples=1, repeats=1)
        drawn.append((one.intercept, one.scale))
    wanted = np.percentile(drawn, [2.5, 97.5], axis=0)
    np.testing.assert_allclose(found.intercept_interval, wanted[:, 0], atol=0.25)
    np.testing.assert_allclose(found.scale_interval, wanted[:, 1], atol=0.45)


def test_ranges_are_those_given_else_the_scale_of_the_six_else_what_was_observed():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({DIMENSIONS[0]: rng.integers(4, 9, 50), "wit": rng.integers(4, 9, 50)})
    found = weights.fit(table, rng.random(50))
    assert found.ranges == {DIMENSIONS[0]: (1.0, 10.0), "wit": (4.0, 8.0)}
    assert weights.fit(table - 4, rng.random(50)).ranges[DIMENSIONS[0]] == (0.0, 4.0), "no scores from 1 to 10"
    given = weights.fit(table, rng.random(50), ranges={"wit": (0, 10)}).ranges
    assert given == {DIMENSIONS[0]: (1.0, 10.0), "wit": (0.0, 10.0)}


def test_weights_fitted_to_the_six_dimensions_are_those_that_apply_to_their_scores(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(3, 9, (300, 6)), columns=list(DIMENSIONS))
    default = weights.presets()["default"]
    found = weights.fit(table, weights.apply(table, default)["score"].to_numpy())
    assert found.exact() == default
    assert weights.load(weights.save(found.exact(), tmp_path / "w.json")) == default


def test_a_constant_dimension_weighs_nothing_and_nothing_is_known_of_it():
    found = weights.fit(judged().assign(depth=2.0), "overall")
    assert told(found).loc["depth", "weight"] == 0
    assert told(found).loc["depth", ["low", "high"]].isna().all()
    assert "depth is constant: nothing can be learnt about it, so its weight is 0" in notes(found)
    assert "At 0, the least that is allowed: depth" not in notes(found)
    assert "depth: 0.000 [not known]" in str(found)
    assert found.exact()["depth"] == 0


def test_collinear_dimensions_are_told():
    table = judged(noise=0.1)
    close = table["wit"] + 0.01 * np.random.default_rng(9).standard_normal(len(table))
    found = weights.fit(table.assign(close=close), "overall")
    assert "Collinear (variance inflation of 10 or more): wit, close." in notes(found)
    assert "Collinear" not in notes(weights.fit(table, "overall"))
    twice = weights.fit(table.assign(close=table["wit"]), "overall", ranges=SCALES | {"close": (1, 10)})
    assert "Collinear (variance inflation of 10 or more): wit, close." in notes(twice)
    assert told(twice).loc[["wit", "close"], "weight"].sum() == pytest.approx(0.5, abs=0.05)


def test_doubts_of_the_sample_and_the_weights_are_told():
    small = weights.fit(judged(40, noise=2), "overall", folds=50, groups=[i // 2 for i in range(40)])
    told_of = notes(small)
    assert "The sample is small: 40 plans for 4 weights" in told_of
    assert "Green (1991) asks for 104 and one for each, here 108" in told_of
    assert "There are 20 groups: with fewer than 20 to 50 (Cameron and Miller 2015)" in told_of
    assert "There are 20 folds, not 50" in told_of
    assert small.folds == 20
    large = weights.fit(judged(108, noise=0.1), "overall")
    assert "small" not in notes(large)
    assert "groups" not in notes(large)


def test_weights_at_0_and_intervals_that_include_it_are_told_apart():
    against = judged(200).eval("overall = overall - noise")
    at_zero = weights.fit(against, "overall")
    assert told(at_zero).loc["noise"].tolist() == [0, 0, 0]
    assert "At 0, the least that is allowed: noise;" in notes(at_zero)
    assert "The interval includes 0" not in notes(at_zero)
    little = weights.fit(judged(200).eval("overall = overall + 0.05 * noise"), "overall")
    assert told(little).loc["noise", "low"] == 0 < told(little).loc["noise", "weight"]
    assert "The interval includes 0, so it may not matter at all: noise." in notes(little)
    assert "At 0" not in notes(little)


def test_an_overall_score_that_nothing_explains_gives_equal_weights_and_says_why():
    square = pd.DataFrame({"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5})
    found = weights.fit(square, (square["a"] ^ square["b"]).tolist())
    assert told(found)["weight"].tolist() == pytest.approx([0.5, 0.5])
    assert found.r2 == pytest.approx(0)
    assert found.r2_cv < 0
    assert "so all weights are equal" in notes(found)
    assert sum(found.exact().values()) == 1


def test_a_single_dimension_has_all_the_weight():
    found = weights.fit(judged(120)[["wit", "overall"]], "overall")
    assert found.weights.to_numpy().tolist() == [["wit", 1.0, 1.0, 1.0]]


def test_the_fit_is_told_in_words_and_every_text_is_shown_as_text():
    table = judged(60).rename(columns={"wit": "<script>alert(1)</script>"})
    table.attrs["synthetic"] = True
    found = weights.fit(table, "overall")
    text = str(found).splitlines()
    assert text[0] == "weights fitted to 60 overall scores (synthetic)"
    assert text[1].startswith(f"R² {found.r2:.3f}; cross-validated {found.r2_cv:.3f} (")
    assert text[1].endswith(f"over 20 repeats of 10 folds), unconstrained {found.r2_cv_linear:.3f}")
    first = found.weights.iloc[0]
    assert text[2] == f"{first.dimension}: {first.weight:.3f} [{first.low:.3f} to {first.high:.3f}]"
    assert text[-1] == "The score informs and never decides a verdict."
    ends = [f"{low:.3g} to {high:.3g}" for low, high in (found.intercept_interval, found.scale_interval)]
    assert f"95 % intervals: intercept {ends[0]}, scale {ends[1]}" in text
    assert len(text) <= 13
    assert "<script>" not in found._repr_html_()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;: 0." in found._repr_html_()
    with pytest.raises(AttributeError):
        found.r2 = 1


def test_all_that_is_wrong_is_told_at_once():
    table = judged(20).drop(columns="overall")
    with pytest.raises(InputError, match="Fix: ") as raised:
        weights.fit(
            table,
            [1, 2],
            folds=1,
            repeats=0,
            resamples=True,
            seed=-1,
            groups="nobody",
            ranges={"wit": (5, 6), "beauty": (0, 1), "depth": (1, 1), "grace": "ab"},
        )
    assert {one.place: one.message for one in raised.value.problems} == {
        "folds": "1 is out of range",
        "repeats": "0 is out of range",
        "resamples": "True is out of range",
        "seed": "-1 is out of range",
        "overall": "has 2 values for 20 plans",
        "groups": "'nobody' is not a column of the scores",
        "ranges.wit": f"scores from {table['wit'].min():g} to {table['wit'].max():g} lie outside of 5 to 6",
        "ranges.beauty": "is not a dimension of these scores",
        "ranges.depth": "must be a pair (low, high), got (1, 1)",
        "ranges.grace": "must be a pair (low, high), got 'ab'",
    }
    with pytest.raises(SettingsError, match="ranges: are a list"):
        weights.fit(table, [1] * 20, ranges=[1])


SMALL = judged(20)
CELLS = SMALL.drop(columns="overall")


@pytest.mark.parametrize(
    ("overall", "more", "message"),
    [
        ("overal", {}, "overall: 'overal' is not a column of the scores .did you mean 'overall'"),
        ([1.0] * 20, {}, "overall: is the same for all plans"),
        (["good"] * 20, {}, "overall: holds more than numbers"),
        ([True] * 20, {}, "overall: is the same for all plans"),
        ([np.inf] * 20, {}, "overall: must be finite and at most 1e.15, got inf"),
        ([None] * 20, {}, "scores: 0 plans are too few for 0 dimensions; 20 left out, as a score is missing"),
        ([1.0, 2, 3, 4, 5] + [None] * 15, {}, "scores: 5 plans are too few for 4 dimensions; .* Fix: give 6 plans"),
        ({"x": 1}, {}, "overall: has none of the plans that have scores. Fix: index it by plan, such as '0', '1'"),
        (pd.Series([1, 2], index=["1", 1]), {}, "overall: the plan '1' occurs twice"),
        (7, {}, "overall: is a int"),
        (b"7" * 20, {}, "overall: is a bytes"),
        ([[1, 2]] * 20, {}, "overall: has 20 values for 20 plans"),
        ("overall", {"groups": ["one"] * 20}, "groups: all plans are in one group"),
        ("overall", {"groups": ["one", None] * 10}, "groups: are missing for 10 plans"),
    ],
)
def test_what_cannot_be_fitted_to_is_told_in_words(overall, more, message):
    with pytest.raises(InputError, match=message):
        weights.fit(SMALL if isinstance(overall, str) else CELLS, overall, **more)


def test_an_overall_score_among_the_dimensions_is_refused():
    with pytest.raises(InputError, match=r"overall: is the same as the dimension 'overall'\. Fix: leave it out"):
        weights.fit(SMALL, SMALL["overall"])


def test_plans_that_are_all_alike_are_told():
    with pytest.raises(InputError, match="scores: are the same for all plans"):
        weights.fit(pd.DataFrame({"wit": [3] * 9, "depth": [1] * 9}), range(9))


def test_the_tables_given_are_not_changed():
    table = judged(30)
    before = table.copy(deep=True)
    weights.fit(table, "overall", resamples=5, repeats=1)
    pd.testing.assert_frame_equal(table, before)


def test_booleans_are_fitted_as_0_and_1_with_a_note():
    rng = np.random.default_rng(4)
    table = pd.DataFrame(rng.uniform(0, 10, (40, 2)), columns=["wit", "depth"], index=[f"p{n}" for n in range(40)])
    shipped = table["wit"] + rng.normal(0, 1, 40) > 5
    found = weights.fit(table, shipped, resamples=50)
    assert found.weights.equals(weights.fit(table, shipped.astype(int), resamples=50).weights)
    assert any("whose values are not probabilities" in note for note in found.notes)
    missing = shipped.astype("boolean").mask(np.arange(40) == 3)
    assert weights.fit(table, missing, resamples=50).n == 39


def test_scores_and_overall_scores_that_are_both_turned_give_the_same_fit_and_the_ranks_turned():
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.integers(1, 11, (80, 3)), columns=list("abc"))
    overall = 0.6 * table["a"] + 0.3 * table["b"] + 0.1 * table["c"] + rng.normal(0, 0.5, 80)
    ranges = dict.fromkeys(table, (1, 10))
    best, turned = weights.fit(table, overall, ranges=ranges), weights.fit(11 - table, 11 - overall, ranges=ranges)
    pd.testing.assert_frame_equal(best.weights, turned.weights)
    assert (best.notes, best.scale > 0) == (turned.notes, turned.scale > 0)
    first, last = weights.apply(table, best)["rank"].idxmin(), weights.apply(11 - table, turned)["rank"].idxmax()
    assert first == last, "rank 1 has the highest sum, whatever the scores mean"
