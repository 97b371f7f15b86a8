"""The rule studio in JupyterLab: two settings changed by keys and mouse, what follows, narrow windows, files."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import verifyplan as vp
from tests.browser.accessibility import axe
from tests.browser.notebook_files import ROOT, notebook

PICTURES = ROOT / "out" / "browser"
SHOW = """
import verifyplan as vp
from verifyplan.widgets import RuleStudio
studio = RuleStudio(vp.datasets.runs("stdlib-claims/adversarial"), left="adversarial", right="sticky-refutes")
studio
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    return notebook(tmp_path_factory.mktemp("studio"), SHOW)


@pytest.fixture
def studio(lab_tab, shown):
    """The one studio, as the test before left it."""
    if lab_tab.shown != shown:
        lab_tab.open(shown).run_all()
    assert lab_tab.errors() == []
    return lab_tab


def status(page) -> str:
    return page.outputs.get_by_role("status").first.inner_text()


def test_controls_change_the_right_setting_and_all_follows(studio):
    assert "no finding changes class" in status(studio)
    studio.write(studio.select("Quorum, right"), "2/3")
    expect(studio.outputs.last).to_contain_text('"quorum": "2/3"', timeout=60_000)  # a busy kernel starts late
    right = vp.VotingRules(mode="adversarial", refutes="sticky", quorum="2/3")
    runs = vp.datasets.runs("stdlib-claims/adversarial")
    changed = vp.replay(runs, rules="adversarial")["classification"] != vp.replay(runs, rules=right)["classification"]
    n = int(changed.sum())
    assert (f"{n} finding" if n else "no finding changes class") in status(studio)
    assert right.to_json().strip() in studio.outputs.last.inner_text().replace("\xa0", " ")
    assert studio.errors() == []


def test_rules_that_make_no_sense_are_named_and_what_was_shown_stays(studio):
    before = status(studio)
    studio.write(studio.select("Majority, left"), "3")
    assert "majority: must be below 1" in studio.outputs.get_by_role("alert").inner_text()
    assert status(studio) == before
    studio.write(studio.select("Majority, left"), "")
    assert studio.outputs.get_by_role("alert").count() == 0


def test_no_column_is_cut_in_a_narrow_window_in_both_themes(studio):
    studio.choose(studio.select("Max rounds, right"), "3")  # votes never cast: cells with bounds
    assert studio.tab.locator(".vp-studio .vp-bounds").count() > 0
    assert studio.cut() == []
    for theme in ("dark", "light"):
        studio.use_theme(theme)
        assert axe(studio) == []
        studio.pictures(PICTURES / f"rule-studio-{theme}")


def test_rules_and_findings_are_saved(studio, tmp_path):
    studio.write(studio.textbox("Files begin with"), str(tmp_path / "mine"))
    for name in ("Save rules", "Save findings", "Save charts"):
        studio.click(studio.button(name))
    saved = sorted(path.name for path in tmp_path.iterdir())
    assert vp.VotingRules.load(tmp_path / "mine-left.json") == vp.VotingRules.preset("adversarial"), saved
    assert any(name.endswith(".csv") for name in saved), saved
