"""The run explorer in JupyterLab, by mouse and keyboard: what stands on the page is what the tables say."""

from __future__ import annotations

from pathlib import Path

import pytest

import verifyplan as vp
from tests.browser.accessibility import axe
from tests.browser.notebook_files import notebook
from tests.browser.notebook_page import NotebookPage

OUT = Path(__file__).resolve().parents[2] / "out" / "browser"
CROSS = """
import verifyplan as vp
from verifyplan.widgets.explorer import views as explorer_views
from verifyplan.widgets.explorer import RunExplorer
explorer = RunExplorer(vp.datasets.runs("stdlib-claims"))
explorer
"""
BREAK = """
def broken(*_):
    raise ValueError("the view is <b>gone</b>")
whole, explorer_views.changes = explorer_views.changes, broken
"""
PLAN = """
import verifyplan as vp
from verifyplan.widgets.explorer import RunExplorer
repository = vp.datasets.sample_repository("waybill")
for name in ("purge-hour", "purge-window"):
    vp.verify(vp.datasets.plan_path(name), repository, log_dir="runs", progress=False)
explorer = RunExplorer(vp.load("runs"))
explorer
"""
SHOWN = """
explorer.step = 2
explorer.pool.selected = ["C1"]
explorer.replay.mode.value = "collaborative"
explorer
"""
SEEN = """
import ipywidgets
seen = ipywidgets.HTML("nothing")
def tell(_):
    seen.value = "Python sees " + ", ".join(explorer.selected["finding_id"])
explorer.pool.observe(tell, "selected")
seen
"""
HOSTILE = """
import pandas as pd, verifyplan as vp
from verifyplan.widgets.explorer import RunExplorer
bad = '<img src=x onerror="window.ran = 1"><script>window.ran = 1</script>' + chr(0) + chr(27)
votes = pd.DataFrame({"item": [bad, "F2"], "who": [bad, "b"], "says": "disagree", "words": bad + "x" * 100_000})
explorer = RunExplorer(vp.from_votes(votes, item="item", worker="who", verdict="says", explanation="words"))
explorer.step = 1
explorer.pool.selected = [bad]
explorer
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return notebook(tmp_path_factory.mktemp("cross"), CROSS)


@pytest.fixture
def cross(lab_tab: NotebookPage, shown: Path) -> NotebookPage:
    """An explorer of its own for each test, in one kernel."""
    return lab_tab.again(shown)


def pool(page: NotebookPage, what: str = "findings") -> dict[str, list[str]]:
    """The rows of the pool as the page shows them, by the item's name."""
    rows = page.control("region", f"Pool of {what}").locator("tbody tr")
    cells = rows.evaluate_all("all => all.map(row => [...row.cells].slice(1).map(cell => cell.textContent))")
    return {row[0]: row[1:] for row in cells}


def classes(mode: str, run_id: str) -> dict[str, str]:
    table = vp.replay(vp.datasets.runs("stdlib-claims").select([run_id]), mode)
    return dict(zip(table["finding_id"], table["classification"].astype("str"), strict=True))


def test_the_slider_is_moved_by_keys_and_by_mouse_and_the_pool_follows(cross):
    slider, ended = cross.slider("Step"), classes("recorded", "adversarial/part-01")
    assert {row[0] for row in pool(cross).values()} == {"waiting"}
    cross.press(slider, "ArrowRight", times=2)
    assert slider.get_attribute("aria-valuetext") == "round 2"
    settled = {name: row[0] for name, row in pool(cross).items() if row[0] != "waiting"}
    assert len(settled) == 47
    assert settled.items() <= ended.items()
    cross.drag(slider, 3)
    assert slider.get_attribute("aria-valuetext") == "the end"
    assert {name: row[0] for name, row in pool(cross).items()} == ended
    cross.press(slider, "Home")
    assert {row[0] for row in pool(cross).values()} == {"waiting"}
    cross.click(cross.button("Next step"))
    assert (cross.value(slider), slider.get_attribute("aria-valuetext")) == (1, "round 1")
    assert cross.errors() == []
    assert cross.outside == []


def test_another_run_is_found_by_text_and_chosen(cross):
    cross.write(cross.textbox("Text"), "collaborative/part-07")
    runs = cross.control("region", "Runs")
    assert runs.locator("tbody tr").count() == 1
    cross.press(cross.control("radio", "Choose collaborative/part-07"), "Space")
    assert cross.outputs.get_by_role("heading", name="Run collaborative/part-07").count() == 1
    cross.press(cross.slider("Step"), "End")
    assert {name: row[0] for name, row in pool(cross).items()} == classes("recorded", "collaborative/part-07")
    cross.write(cross.textbox("Text"), "no such run")
    assert cross.outputs.get_by_text("No run passes: none of 24 has all that is asked for.").count() == 1
    assert cross.errors() == []


def test_another_replay_mode_marks_the_classes_that_differ(cross):
    cross.press(cross.slider("Step"), "End")
    cross.choose(cross.select("Replay mode"), "collaborative")
    old, new = (classes(mode, "adversarial/part-01") for mode in ("recorded", "collaborative"))
    expected = {name: new[name] if new[name] == old[name] else f"≠ {new[name]}" for name in old}
    assert {name: row[2] for name, row in pool(cross).items()} == expected
    count = sum(new[name] != old[name] for name in old)
    assert cross.outputs.get_by_text(f"{count} differences to the recorded classes", exact=False).count() == 1
    cross.click(cross.button("As recorded"))
    assert cross.outputs.get_by_text("0 differences to the recorded classes", exact=False).count() == 1
    assert cross.errors() == []


def test_a_finding_is_found_in_the_pool_by_its_number(cross):
    everyone = len(pool(cross))
    cross.write(cross.textbox("Find in the pool"), "f-0145")
    assert list(pool(cross)) == ["F-0145"]
    assert cross.outputs.get_by_text(f"1 finding; found among {everyone}.", exact=True).count() == 1
    cross.write(cross.textbox("Find in the pool"), "no such claim")
    assert cross.outputs.get_by_text(f"None of {everyone} findings has this text", exact=False).count() == 1
    assert cross.errors() == []


def test_the_chosen_finding_shows_its_votes_and_python_sees_it(page, tmp_path):
    page.open(notebook(tmp_path, CROSS, SEEN)).run_all()
    page.press(page.slider("Step"), "ArrowRight", times=2)
    page.click(page.control("radio", "Choose F-0145"))
    votes = page.control("region", "Votes on F-0145").locator("tbody tr")
    told = votes.evaluate_all("all => all.map(row => [...row.cells].slice(0, 3).map(cell => cell.textContent))")
    assert told[:2] == [["window", "1", "Cdisagree, counter-evidence"], ["search", "1", "Aagree"]]
    assert page.outputs.get_by_text("Python sees F-0145", exact=True).count() == 1
    assert page.outputs.get_by_role("img", name="round 2: counter-evidence").count() > 0
    assert axe(page) == []


def test_a_callback_that_fails_shows_its_error(page, tmp_path):
    page.open(notebook(tmp_path, CROSS, BREAK)).run_all()
    page.press(page.slider("Step"), "ArrowRight")
    alert = page.outputs.get_by_role("alert")
    assert "That did not work. ValueError: the view is <b>gone</b>" in alert.inner_text()
    assert axe(page) == []


def test_a_plan_run_is_stepped_through_to_its_ruling(page, tmp_path):
    page.open(notebook(tmp_path, PLAN)).run_all()
    page.choose(page.select("Verdict"), "RETHINK")
    page.click(page.control("radio", "Choose purge-hour-001"))
    page.press(page.slider("Step"), "End")
    assert page.slider("Step").get_attribute("aria-valuetext") == "iteration 3, the ruling"
    changed = page.outputs.get_by_role("row").filter(has_text="FORCED_EXIT: RETHINK")
    assert "1 BLOCKING and 0 SIGNIFICANT are unsettled (policy protocol)" in changed.inner_text()
    assert pool(page, "challenges")["C1"][:2] == ["BLOCKING", "UNRESOLVED"]
    page.choose(page.select("Policy"), "deliberate")
    assert page.outputs.get_by_role("heading", name="Under policy deliberate").count() == 1
    assert page.errors() == []


def test_markup_in_texts_does_not_run(page, tmp_path):
    page.open(notebook(tmp_path, HOSTILE)).run_all()
    page.press(page.slider("Step"), "ArrowRight")
    assert page.tab.evaluate("window.ran") is None
    assert page.outputs.locator("img").count() == 0
    assert page.errors() == []


@pytest.fixture(scope="module")
def stepped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return notebook(tmp_path_factory.mktemp("stepped"), PLAN.removesuffix("explorer\n") + SHOWN)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_reads_well_in_both_themes(lab_tab, stepped, theme):
    if lab_tab.shown != stepped:
        lab_tab.open(stepped, theme=theme).run_all()
    lab_tab.use_theme(theme)
    assert axe(lab_tab) == []
    lab_tab.screenshot(OUT / f"explorer-{theme}.png")
    assert lab_tab.errors() == []


def test_voila_shows_it_and_the_slider_moves(voila_page, tmp_path):
    voila_page.open(notebook(tmp_path, CROSS)).run_all()
    voila_page.press(voila_page.slider("Step"), "End")
    assert {name: row[0] for name, row in pool(voila_page).items()} == classes("recorded", "adversarial/part-01")
    assert voila_page.errors() == []
    assert voila_page.outside == []
