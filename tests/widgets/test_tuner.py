"""The weight tuner: weights that give way and sum to 1, the ranking that follows, what is said, saved and loaded."""

from __future__ import annotations

import asyncio
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.longer import examples
from verifyplan.analysis import weights as vw
from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.errors import InputError
from verifyplan.frames.runset import RunSet
from verifyplan.protocol import weights_file
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.widgets.panel import Panel
from verifyplan.widgets.tuner import WeightTuner
from verifyplan.widgets.tuner import model as tuner_scores

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
FIRST, SECOND = DIMENSIONS[:2]


def six(plans: int = 4) -> pd.DataFrame:
    values = np.random.default_rng(3).integers(1, 11, (plans, 6))
    return pd.DataFrame(values, columns=list(DIMENSIONS), index=[f"plan-{i}" for i in range(plans)])


def titles(html: str) -> list[str]:
    """What the marks of the picture say, a line joined with semicolons."""
    return [one.replace("&#xA;", "; ") for one in re.findall(r'role="graphics-symbol"[^>]*><title>([^<]*)', html)]


@pytest.fixture
def tuner() -> WeightTuner:
    return WeightTuner(six())


def shown(tuner: WeightTuner) -> dict[str, float]:
    return {name: slider.value for name, slider in tuner.sliders.items()}


def marks_of(tuner: WeightTuner) -> set[str]:
    return {title for title in titles(tuner._ranking.value) if title.startswith("Plan: ")}


def expected(scores: pd.DataFrame, weights, start) -> set[str]:
    now, was = vw.apply(scores, weights), vw.apply(scores, start)
    return {
        f"Plan: {plan}; Score: {score:.2f}; Final score: {final}; Rank: {rank}; Score at the start: {first:.2f};"
        f" Rank at the start: {place}"
        for plan, score, final, rank, first, place in zip(
            now["plan"], now["score"], now["final"], now["rank"], was["score"], was["rank"], strict=True
        )
    }


def test_it_begins_with_the_default_weights_and_their_ranking(tuner):
    assert tuner.weights == vw.presets()["default"]
    assert shown(tuner) == {name: float(weight) for name, weight in tuner.weights.items()}
    assert marks_of(tuner) == expected(six(), None, None)
    assert "The score informs and never decides a verdict." in tuner.header.words.value
    assert isinstance(tuner, Panel)


def test_a_slider_moves_the_others_in_proportion_and_the_ranking_at_once(tuner):
    tuner.sliders[FIRST].value = 0.6
    wanted = vw.to_decimals(vw.rebalance(vw.presets()["default"], FIRST, "0.6"))
    assert tuner.weights == wanted
    assert wanted[SECOND] == Decimal("0.1067")
    assert shown(tuner) == {name: float(weight) for name, weight in wanted.items()}
    assert tuner.sliders[SECOND].text == "0.1067"
    assert tuner.sliders[FIRST].text == "0.60"
    assert marks_of(tuner) == expected(six(), wanted, None)
    assert list(tuner.ranking["plan"]) == list(vw.apply(six(), wanted).sort_values("rank", kind="stable")["plan"])
    assert list(tuner.ranking.columns) == ["plan", "score", "final", "rank", "was", "missing"]


def test_there_and_back_loses_nothing(tuner):
    for value in (0.5, 1.0, 0.03, 0.99, 0.25):
        tuner.sliders[FIRST].value = value
    assert tuner.weights == vw.presets()["default"]


def test_a_locked_weight_stays_and_its_slider_says_so(tuner):
    tuner.locks[SECOND].value = True
    assert tuner.sliders[SECOND].disabled
    assert tuner.sliders[SECOND].text == "0.20, locked"
    tuner.sliders[FIRST].value = 1.0
    assert tuner.weights[SECOND] == Decimal("0.20")
    assert tuner.weights[FIRST] == Decimal("0.80")
    assert tuner.sliders[FIRST].value == 0.8
    tuner.sliders[SECOND].value = 0.5  # no page does this: it is disabled
    assert tuner.sliders[SECOND].value == 0.2
    tuner.locks[SECOND].value = False
    assert not tuner.sliders[SECOND].disabled


def test_a_slider_whose_others_are_all_locked_cannot_move_and_says_so(tuner):
    for name in DIMENSIONS[1:]:
        tuner.locks[name].value = True
    assert tuner.sliders[FIRST].disabled
    assert tuner.sliders[FIRST].text == "0.25, cannot move"
    assert "Approach soundness cannot move: all others are locked." in tuner._held.value
    tuner.sliders[FIRST].value = 0.9
    assert tuner.weights == vw.presets()["default"]
    assert tuner.sliders[FIRST].value == 0.25


def test_where_locked_weights_take_all_no_other_can_move():
    tuner = WeightTuner(
        pd.DataFrame({"wit": [1, 2], "depth": [2, 1], "tone": [1, 1]}), {"wit": 1, "depth": 0, "tone": 0}
    )
    tuner.locks["wit"].value = True
    assert tuner.sliders["depth"].text == "0.00, cannot move"
    assert "Depth cannot move: the locked weights take all. Tone cannot" in tuner._held.value


def test_a_single_dimension_has_all_the_weight():
    tuner = WeightTuner(pd.DataFrame({"wit": [1, 2]}))
    assert tuner.weights == {"wit": 1}
    assert tuner.sliders["wit"].text == "1.00, cannot move"
    assert "Wit cannot move: it is the only dimension." in tuner._held.value


def test_every_control_has_a_name(tuner):
    assert [slider.label for slider in tuner.sliders.values()][:2] == ["Approach soundness", "Risk coverage"]
    assert tuner.locks[SECOND].description == 'Lock <span class="vp-hidden">risk coverage</span>'
    for control in (*tuner.locks.values(), *tuner.buttons.values(), tuner.path, tuner.saving, tuner.loading):
        assert control.description


moves = st.lists(
    st.one_of(
        st.tuples(st.just("move"), st.sampled_from(DIMENSIONS), st.integers(0, 100)),
        st.tuples(st.just("lock"), st.sampled_from(DIMENSIONS), st.booleans()),
    ),
    max_size=25,
)


@settings(max_examples=examples(25))
@given(moves)
def test_whatever_is_moved_and_locked_weights_sum_to_exactly_1_and_locked_ones_stay(steps):
    tuner = WeightTuner(pd.DataFrame(columns=list(DIMENSIONS), dtype=float))
    for kind, name, value in steps:
        before = tuner.weights
        if kind == "lock":
            tuner.locks[name].value = value
            assert tuner.weights == before
            continue
        locked = {one for one, box in tuner.locks.items() if box.value}
        tuner.sliders[name].value = value / 100
        assert sum(map(Fraction, tuner.weights.values())) == 1
        assert all(weight >= 0 for weight in tuner.weights.values())
        assert all(tuner.weights[one] == before[one] for one in locked)
        if not locked:
            assert tuner.weights[name] == Decimal(value) / 100
    assert not tuner.failure.value
    assert shown(tuner) == {name: float(weight) for name, weight in tuner.weights.items()}


def test_presets_and_reset_set_all_weights_and_unlock(tuner):
    tuner.locks[SECOND].value = True
    tuner.buttons["equal"].click()
    assert tuner.weights == vw.presets()["equal"]
    assert not tuner.locks[SECOND].value
    assert "All are unlocked." in tuner._note.value
    tuner.buttons["start"].click()
    assert tuner.weights == vw.presets()["default"]
    assert "unlocked" not in tuner._note.value
    assert "fitted" not in tuner.buttons


def test_fitted_weights_are_offered_where_they_are_given():
    scores = six(60)
    fit = vw.fit(scores, scores[FIRST] * 0.7 + scores[SECOND] * 0.3, resamples=20, repeats=1)
    tuner = WeightTuner(scores, fitted=fit)
    tuner.buttons["fitted"].click()
    assert tuner.weights == fit.exact()
    mapped = WeightTuner(scores, fitted=vw.presets()["equal"])
    mapped.buttons["fitted"].click()
    assert mapped.weights == vw.presets()["equal"]
    with pytest.raises(InputError, match=r"weights\.wit: is not a dimension of these scores"):
        WeightTuner(scores, fitted={"wit": 1})


def test_weights_can_be_set_and_stay_as_exact_as_they_were_given(tuner):
    given = dict.fromkeys(DIMENSIONS, "0") | {FIRST: "0.123456789", SECOND: "0.876543211"}
    tuner.weights = given
    assert tuner.weights == {name: Decimal(text) for name, text in given.items()}
    assert tuner.sliders[FIRST].text == "about 0.1235"
    with pytest.raises(InputError, match=r"sum to 0\.12"):
        tuner.weights = given | {SECOND: "0"}
    assert tuner.weights[FIRST] == Decimal("0.123456789")
    tuner.locks[FIRST].value = True
    tuner.sliders[SECOND].value = 0.5
    assert tuner.weights[FIRST] == Decimal("0.123456789")
    assert sum(tuner.weights.values()) == 1


def test_a_saved_file_is_what_verify_takes_and_loads_again(tuner, tmp_path):
    tuner.sliders[FIRST].value = 0.4
    wanted = tuner.weights
    tuner.path.value = str(tmp_path / "my weights.json")
    tuner.saving.click()
    assert vw.load(tmp_path / "my weights.json") == wanted
    assert str(tmp_path / "my weights.json") in tuner._note.value
    assert "verifyplan verify PLAN.md --weights" in tuner._note.value
    tuner.buttons["equal"].click()
    tuner.saving.click()  # over a weights file
    assert vw.load(tmp_path / "my weights.json") == vw.presets()["equal"]
    tuner.buttons["start"].click()
    tuner.loading.click()
    assert tuner.weights == vw.presets()["equal"]
    assert "Loaded from" in tuner._note.value
    assert not tuner.failure.value


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("notes.txt", "exists already and is not a weights file"),
        ("", "is blank"),
        ("no/such/w.json", "cannot be written"),
    ],
)
def test_saving_where_it_cannot_be_is_said_and_overwrites_nothing(tuner, tmp_path, monkeypatch, path, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "no").write_text("a file, not a folder")
    tuner.path.value = path
    tuner.saving.click()
    assert told in tuner.failure.value
    assert (tmp_path / "notes.txt").read_text() == "mine"
    tuner.path.value = "good.json"
    tuner.saving.click()
    assert not tuner.failure.value


def test_loading_what_is_no_weights_file_is_said_and_changes_nothing(tuner, tmp_path):
    tuner.path.value = str(tmp_path / "nowhere<b>.json")
    tuner.loading.click()
    assert "does not exist" in tuner.failure.value
    assert "<b>.json" not in tuner.failure.value
    assert tuner.weights == vw.presets()["default"]


def test_other_dimensions_start_equal_and_are_saved_and_loaded(tmp_path):
    tuner = WeightTuner(pd.DataFrame({"wit": [7, 5], "depth": [4, 6]}, index=["a", "b"]))
    assert tuner.weights == {"wit": Decimal("0.5"), "depth": Decimal("0.5")}
    assert list(tuner.buttons) == ["equal", "start"]
    tuner.sliders["wit"].value = 0.7
    tuner.path.value = str(tmp_path / "own.json")
    tuner.saving.click()
    assert "Saved in" in tuner._note.value
    assert "verifyplan verify" not in tuner._note.value, "verify takes its six dimensions alone"
    tuner.buttons["equal"].click()
    tuner.loading.click()
    assert tuner.weights == vw.load(tmp_path / "own.json") == {"wit": Decimal("0.7"), "depth": Decimal("0.3")}
    vw.save(vw.presets()["equal"], tmp_path / "own.json")
    tuner.loading.click()
    assert "weights: are of other dimensions" in tuner.failure.value


def test_loaded_weights_of_rescaled_dimensions_are_said_to_weigh_scores_as_given(tmp_path):
    tuner = WeightTuner(pd.DataFrame({"wit": [70, 5], "depth": [4, 6]}, index=["a", "b"]))
    tuner.path.value = str(tmp_path / "own.json")
    for ranges, is_said in (({"wit": (0, 100), "depth": (1, 10)}, True), (None, False)):
        weights_file.save({"wit": "0.7", "depth": "0.3"}, tmp_path / "own.json", ranges)
        tuner.loading.click()
        assert tuner.weights == {"wit": Decimal("0.7"), "depth": Decimal("0.3")}
        assert ("here they weigh the scores as given" in tuner._note.value) == is_said


def test_a_failing_callback_shows_its_error(tuner, monkeypatch):
    monkeypatch.setattr(tuner._scores, "picture", lambda _: 1 / 0)
    tuner.sliders[FIRST].value = 0.6
    assert "ZeroDivisionError: division by zero" in tuner.failure.value
    monkeypatch.undo()
    tuner.sliders[FIRST].value = 0.7
    assert not tuner.failure.value


def test_stability_is_told_in_numbers_and_marked_while_it_is_out_of_date(tuner):
    told = tuner._stability.value
    table = vw.stability_measures(six(), draws=tuner_scores.N_DRAWS)
    pd.testing.assert_frame_equal(tuner.stability, table)
    pairs = table.set_index("measure").loc["pairs-kept"]
    assert f"{pairs['n']:.0f} pairs of plans with an order: {100 * pairs['value']:.0f} %" in told
    assert "200 draws: in" in told
    assert "Up to date" in tuner._state.value
    ranks = tuner._ranks.value
    tuner.sliders[FIRST].value = 1.0
    assert "Out of date" in tuner._state.value
    assert (tuner._stability.value, tuner._ranks.value) == (told, ranks)
    tuner.updating.click()
    assert "Up to date" in tuner._state.value
    assert tuner._stability.value != told
    assert tuner._ranks.value != ranks


def test_what_takes_longer_follows_once_when_the_sliders_rest(tuner, monkeypatch):
    monkeypatch.setattr("verifyplan.widgets.repaint.REST_S", 0.05)
    computed = []
    monkeypatch.setattr(tuner._scores, "rank_picture", lambda weights: computed.append(weights) or _Nothing())

    async def drag() -> None:
        for value in (0.3, 0.4, 0.5):
            tuner.sliders[FIRST].value = value
        assert computed == []
        for _ in range(200):
            await asyncio.sleep(0.02)
            if "Up to date" in tuner._state.value:
                return

    asyncio.run(drag())
    assert computed == [tuner.weights]
    assert "Up to date" in tuner._state.value


class _Nothing:
    def _repr_html_(self) -> str:
        return ""


def test_a_failure_while_at_rest_is_said_and_a_closed_widget_does_nothing_more(tuner, monkeypatch):
    monkeypatch.setattr("verifyplan.widgets.repaint.REST_S", 0.01)
    monkeypatch.setattr(tuner._scores, "stability", lambda _: 1 / 0)

    async def rest(closed: bool) -> None:
        tuner.sliders[FIRST].value += 0.1
        if closed:
            tuner.close()
        await asyncio.sleep(0.1)

    asyncio.run(rest(closed=False))
    assert "ZeroDivisionError" in tuner.failure.value
    assert "Out of date" in tuner._state.value
    tuner.failure.value = ""
    asyncio.run(rest(closed=True))
    assert tuner.failure.value == ""


def test_plans_that_lack_a_score_are_named_and_have_no_rank():
    scores = six(3).astype(float)
    scores.loc["plan-1", SECOND] = np.nan
    scores.index = ["a", HOSTILE, "c"]
    tuner = WeightTuner(scores)
    assert "3 plans, of which 2 with all scores." in tuner.header.words.value
    assert "&lt;img src=x onerror=alert(2)&gt;: no risk coverage" in tuner._unranked.value
    last = tuner.ranking.iloc[-1]
    assert (last["plan"], last["missing"]) == (HOSTILE, SECOND)
    assert pd.isna(last["rank"])
    assert len(marks_of(tuner)) == 2


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        (six(4).iloc[:0], ["There are no plans to score.", "No plan has a rank"]),
        (six(1), ["One plan has a rank (n = 1)"]),
        (pd.DataFrame(5, index=["a", "b", "c"], columns=list(DIMENSIONS)), ["All 3 plans have the same score"]),
        (pd.DataFrame(np.nan, index=["a"], columns=list(DIMENSIONS)), ["1 plan, of which 0 with all scores."]),
    ],
    ids=["empty", "one", "ties", "missing"],
)
def test_what_leaves_nothing_to_rank_is_said(scores, told):
    tuner = WeightTuner(scores)
    tuner.sliders[FIRST].value = 0.5
    tuner.refresh()
    for words in told:
        assert words in tuner.page()
    assert not tuner.failure.value


def test_what_cannot_be_used_is_refused_when_it_is_given():
    with pytest.raises(InputError, match="threshold: must be a number or None, got 'high'"):
        WeightTuner(six(), threshold="high")
    with pytest.raises(InputError, match="scores: must be a RunSet, a run, a path"):
        WeightTuner([1])
    with pytest.raises(InputError, match=r"sum to 0\.5"):
        WeightTuner(six(), dict.fromkeys(DIMENSIONS, "0") | {FIRST: "0.5"})


def test_a_threshold_is_told():
    assert "stay on their side of the threshold, 6.5." in WeightTuner(six(), threshold=6.5)._stability.value


def test_hostile_names_are_shown_as_text_and_without_a_kernel_all_stands_as_html():
    scores = pd.DataFrame({HOSTILE: [7, 5], "depth": [4, 6]}, index=[HOSTILE, "b"])
    page = WeightTuner(scores)._repr_mimebundle_()["text/html"]
    assert "<script" not in page
    assert "<img" not in page
    assert page.startswith('<section class="vp-panel" aria-label="Weight tuner">')
    assert '<td class="vp-number">0.5</td>' in page
    assert "How sure the ranks are" in page
    assert "What each weight does" in page


def test_runs_and_their_table_of_scores_are_taken():
    rows = [("a", FIRST, 9), ("a", SECOND, 3), ("b", FIRST, 2), ("b", SECOND, 8)]
    rows += [(plan, name, 5) for plan in "ab" for name in DIMENSIONS[2:]]
    table = pd.DataFrame(rows, columns=["run_id", "dimension", "score"])
    table = table.assign(by="synthesizer", evidence="a.md:1", refused=None, disputed=False)
    for scores in (table, RunSet(scores=table)):
        tuner = WeightTuner(scores)
        tuner.sliders[FIRST].value = 1
        assert list(tuner.ranking["plan"]) == ["a", "b"]
        tuner.sliders[SECOND].value = 1
        assert list(tuner.ranking["plan"]) == ["b", "a"]
    assert "There are no plans to score." in WeightTuner(RunSet()).header.words.value


def test_a_fit_to_unequal_ranges_says_so():
    scores = six(60)
    fit = vw.fit(scores, scores[FIRST] * 2 + scores[SECOND], resamples=20, repeats=1, ranges={FIRST: (0, 100)})
    tuner = WeightTuner(scores, fitted=fit)
    tuner.buttons["fitted"].click()
    assert "fitted to dimensions rescaled to 0 to 1 each" in tuner._note.value


def test_a_fit_whose_scale_is_negative_is_said_to_turn_the_ranking_upside_down():
    scores = six(60)
    grades = 6 - 0.5 * scores[FIRST] + np.random.default_rng(1).standard_normal(60) * 0.1
    for overall, falls in ((grades, True), (-grades, False)):
        tuner = WeightTuner(scores, fitted=vw.fit(scores, overall, resamples=20, repeats=1))
        tuner.buttons["fitted"].click()
        assert ("The overall score falls as this weighted sum rises" in tuner._note.value) == falls
        assert ("this ranking is upside down" in tuner._note.value) == falls
        assert "Do not use" not in tuner._note.value
    tuner.buttons["equal"].click()
    assert "upside down" not in tuner._note.value


def test_a_fit_that_explains_nothing_is_said_not_to_be_used():
    scores = six(60)
    fit = vw.fit(scores, np.random.default_rng(2).random(60), resamples=20, repeats=5)
    tuner = WeightTuner(scores, fitted=fit)
    tuner.buttons["fitted"].click()
    assert f"<b>Do not use these weights:</b> cross-validated R² is {fit.r2_cv:.3f}" in tuner._note.value


def test_many_plans_are_drawn_in_part_and_named_in_part():
    scores = six(120).astype(float)
    scores.iloc[60:, 0] = np.nan
    tuner = WeightTuner(scores)
    assert len(marks_of(tuner)) == tuner_scores.MAX_DRAWN_PLANS
    assert "The first 15 of 60 plans are drawn; 45 are left out." in tuner._ranking.value
    assert "and 40 more" in tuner._unranked.value
    assert "Without a rank, since a score is missing: 60 plans." in tuner._unranked.value


def test_synthetic_scores_are_marked():
    scores = six()
    scores.attrs["synthetic"] = True
    assert "Synthetic data" in WeightTuner(scores).header.words.value


def test_the_ranking_is_documented_and_the_start_is_said(tuner):
    assert list(tuner.ranking.columns) == [column.name for column in RESULT_TABLES["ranking"]]
    assert tuner._note.value == "<p>Starts at the default weights.</p>"
    table = pd.DataFrame({"wit": [7, 5], "depth": [4, 6]}, index=["a", "b"])
    fitted = WeightTuner(table, fitted={"wit": 0.25, "depth": 0.75})
    assert fitted._note.value == "<p>Starts at equal weights. A button above sets the fitted ones.</p>"
    assert WeightTuner(table, {"wit": 0.3, "depth": 0.7})._note.value == "<p>Starts at the weights given.</p>"
