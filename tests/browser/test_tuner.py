"""The weight tuner in JupyterLab: moved by keys and mouse, the marks of its ranking at the values they must have."""

from __future__ import annotations

import pytest

from tests.browser.accessibility import axe
from tests.browser.notebook_files import ROOT, notebook
from verifyplan.analysis import weights as vw

PICTURES = ROOT / "out" / "browser"
DEFAULT = vw.presets()["default"]
NAMES = {
    "approach_soundness": "Approach soundness",
    "risk_coverage": "Risk coverage",
    "assumption_validity": "Assumption validity",
    "integration_feasibility": "Integration feasibility",
    "unknowns_coverage": "Unknowns coverage",
    "constraint_alignment": "Constraint alignment",
}
HOSTILE = "<img src=x onerror=window.hacked=1>"
SCORES = f"""
import pandas as pd
scores = pd.DataFrame(
    [[9, 3, 7, 5, 8, 4], [4, 8, 6, 9, 3, 7], [6, 6, 5, 7, 9, 8], [8, 7, 8, 3, 2, 5]],
    columns={list(NAMES)!r}, index=["queue", "backup", {HOSTILE!r}, "cache"],
)
"""
SHOW = SCORES + "from verifyplan.widgets import WeightTuner\ntuner = WeightTuner(scores)\ntuner"
RISK = "Risk coverage"


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    return notebook(tmp_path_factory.mktemp("tuner"), SHOW)


@pytest.fixture
def tuner(lab_tab, shown):
    """The one tuner, with the weights that it began with and none locked."""
    if lab_tab.shown != shown:
        lab_tab.open(shown).run_all()
    lab_tab.click(lab_tab.button("Reset"))
    lab_tab.outputs.get_by_text("Up to date with the weights.").wait_for()
    assert lab_tab.errors() == []
    return lab_tab


def scores():
    found: dict = {}
    exec(SCORES, found)
    return found["scores"]


def expected(weights) -> set[tuple[str, ...]]:
    """What the dots of the ranking must say under weights."""
    now, was = vw.apply(scores(), weights), vw.apply(scores(), DEFAULT)
    rows = zip(now["plan"], now["score"], now["final"], now["rank"], was["score"], was["rank"], strict=True)
    return {
        (
            f"Plan: {plan}",
            f"Score: {score:.2f}",
            f"Final score: {final}",
            f"Rank: {rank}",
            f"Score at the start: {first:.2f}",
            f"Rank at the start: {place}",
        )
        for plan, score, final, rank, first, place in rows
    }


def marks(page) -> set[tuple[str, ...]]:
    found = {tuple(mark.split("\n")) for mark in page.marks('figure[aria-label="How the plans rank"]')}
    return {mark for mark in found if mark[0].startswith("Plan: ")}


def holds(page, weights) -> None:
    """Sliders, what they say and the marks stand where these weights put them."""
    sliders = {name: page.slider(label) for name, label in NAMES.items()}
    places = {name: page.value(slider) for name, slider in sliders.items()}
    assert places == pytest.approx({name: float(weight) for name, weight in weights.items()}, abs=0.0051)
    told = {name: slider.get_attribute("aria-valuetext").removesuffix(", locked") for name, slider in sliders.items()}
    assert {name: float(text) for name, text in told.items()} == {name: float(w) for name, w in weights.items()}
    assert marks(page) == expected(weights)


def moved(weights, dimension: str, to: str, **options):
    return vw.to_decimals(vw.rebalance(weights, dimension, to, **options))


def test_keys_move_a_slider_the_others_give_way_and_the_marks_follow(tuner):
    holds(tuner, DEFAULT)
    tuner.press(tuner.slider(RISK), "ArrowRight", times=5)
    holds(tuner, moved(DEFAULT, "risk_coverage", "0.25"))
    tuner.press(tuner.slider(RISK), "End")
    holds(tuner, moved(DEFAULT, "risk_coverage", "1"))
    tuner.press(tuner.slider(RISK), "Home")
    holds(tuner, moved(DEFAULT, "risk_coverage", "0"))
    assert tuner.errors() == []


def test_the_mouse_moves_a_slider_and_a_locked_one_stays(tuner):
    tuner.press(tuner.checkbox("Lock risk coverage"), "Space")
    assert tuner.slider(RISK).is_disabled()
    tuner.drag(tuner.slider("Unknowns coverage"), 0.5)
    to = f"{tuner.value(tuner.slider('Unknowns coverage')):.2f}"
    holds(tuner, moved(DEFAULT, "unknowns_coverage", to, locked=["risk_coverage"]))
    tuner.press(tuner.slider("Unknowns coverage"), "End")
    holds(tuner, moved(DEFAULT, "unknowns_coverage", "1", locked=["risk_coverage"]))
    assert tuner.value(tuner.slider(RISK)) == 0.2
    assert tuner.value(tuner.slider("Unknowns coverage")) == 0.8


def test_a_slider_whose_others_are_locked_says_that_it_cannot_move(tuner):
    for label in list(NAMES.values())[1:]:
        tuner.click(tuner.checkbox(f"Lock {label.lower()}"))
    first = tuner.slider("Approach soundness")
    assert first.is_disabled()
    assert first.get_attribute("aria-valuetext") == "0.25, cannot move"
    assert "Approach soundness cannot move: all others are locked." in tuner.outputs.last.inner_text()
    tuner.pictures(PICTURES / "tuner-locked")


def test_presets_reset_save_and_load(tuner, tmp_path):
    tuner.press(tuner.slider(RISK), "End")
    path = tmp_path / "weights.json"
    tuner.write(tuner.textbox("Weights file"), str(path))
    tuner.click(tuner.button("Save weights"))
    wanted = moved(DEFAULT, "risk_coverage", "1")
    assert vw.load(path) == wanted
    assert f"Saved in {path}" in tuner.outputs.last.inner_text()
    for name, weights in (
        ("Equal weights", vw.presets()["equal"]),
        ("Reset", DEFAULT),
        ("Load weights", wanted),
        ("Default weights", DEFAULT),
    ):
        tuner.click(tuner.button(name))
        holds(tuner, weights)
    assert tuner.errors() == []


def test_stability_follows_when_the_sliders_rest(tuner):
    figure = tuner.outputs.locator('figure[aria-label="How sure the ranks are"]')
    before = figure.inner_html()
    tuner.press(tuner.slider(RISK), "End")
    tuner.outputs.get_by_text("Up to date with the weights.").wait_for()
    assert figure.inner_html() != before
    table = vw.stability_measures(scores(), moved(DEFAULT, "risk_coverage", "1"), draws=200).set_index("measure")
    pairs = table.loc["pairs-kept"]
    assert (
        f"{pairs['n']:.0f} pairs of plans with an order: {100 * pairs['value']:.0f} %"
        in tuner.outputs.last.inner_text()
    )


def test_a_failing_callback_and_a_file_that_is_none_are_told_in_the_widget(tuner, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    tuner.write(tuner.textbox("Weights file"), str(tmp_path / "notes.txt"))
    tuner.click(tuner.button("Save weights"))
    alert = tuner.outputs.get_by_role("alert")
    assert "exists already and is not a weights file" in alert.inner_text()
    assert (tmp_path / "notes.txt").read_text() == "mine"
    tuner.write(tuner.textbox("Weights file"), str(tmp_path / "weights.json"))
    tuner.click(tuner.button("Save weights"))
    assert alert.count() == 0
    assert vw.load(tmp_path / "weights.json")


def test_it_is_readable_and_has_names_in_both_themes(tuner):
    assert tuner.cut() == []
    tuner.press(tuner.slider(RISK), "ArrowRight", times=30)
    tuner.outputs.get_by_text("Up to date with the weights.").wait_for()
    for theme in ("light", "dark"):
        tuner.use_theme(theme)
        tuner.pictures(PICTURES / f"tuner-{theme}")
        assert axe(tuner) == []
    tuner.use_theme("light")
    assert tuner.tab.evaluate("window.hacked") is None
    assert tuner.outside == []
    assert "The score informs and never decides a verdict." in tuner.outputs.last.inner_text()


def test_a_failure_of_ours_is_told_too(tuner):
    tuner.execute("tuner._scores.picture = lambda weights: 1 / 0")
    tuner.press(tuner.slider(RISK), "End")
    assert "ZeroDivisionError: division by zero" in tuner.outputs.get_by_role("alert").inner_text()
    tuner.execute("del tuner._scores.picture")  # all tests here share the one tuner
