"""The run viewer in JupyterLab, by mouse and keyboard: what stands on the page is what the tables say."""

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
viewer = vp.view("stdlib-claims")
viewer
"""
BREAK = """
def broken(*_):
    raise ValueError("the view is <b>gone</b>")
whole, explorer_views.changes = explorer_views.changes, broken
"""
PLAN = """
import verifyplan as vp
viewer = vp.view(vp.load(vp.datasets.path("live-example")), "C1", "plan/purge-hour-001")
viewer
"""
HOSTILE = """
import pandas as pd, verifyplan as vp
bad = '<img src=x onerror="window.ran = 1"><script>window.ran = 1</script>' + chr(0) + chr(27)
votes = pd.DataFrame({"item": [bad, "F2"], "who": [bad, "b"], "says": "disagree", "words": bad + "x" * 100_000})
viewer = vp.view(vp.from_votes(votes, item="item", worker="who", verdict="says", explanation="words"), bad)
viewer
"""
MANY = """
import pandas as pd, verifyplan as vp
votes = pd.DataFrame({"item": [f"F-{n:05}" for n in range(20_000)], "who": "a", "says": "agree"})
viewer = vp.view(vp.from_votes(votes, item="item", worker="who", verdict="says"))
viewer
"""

TWICE_RIGHT = """tab => {
  tab.focus();
  const right = () => new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true });
  for (let n = 0; n < 2; n++) document.activeElement.dispatchEvent(right());
}"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return notebook(tmp_path_factory.mktemp("cross"), CROSS)


@pytest.fixture
def cross(lab_tab: NotebookPage, shown: Path) -> NotebookPage:
    """A viewer of its own for each test, in one kernel."""
    return lab_tab.again(shown)


def entries(page: NotebookPage, label: str = "Findings") -> dict[str, str]:
    """The rows of a list that are drawn, and the class or status of each."""
    rows = page.control("listbox", label).get_by_role("option")
    cells = rows.evaluate_all(
        "all => all.map(row => [row.querySelector('b').textContent, row.querySelector('.vp-chip')?.textContent ?? ''])"
    )
    return dict(cells)


def classes(mode: str, run_id: str) -> dict[str, str]:
    table = vp.replay(vp.datasets.runs("stdlib-claims").select([run_id]), mode)
    return dict(zip(table["finding_id"], table["classification"].astype("str"), strict=True))


def focused(page: NotebookPage) -> str:
    """The name of what has the focus: the first bold text in it, else its label."""
    script = "e => e.querySelector('b')?.textContent ?? e.getAttribute('aria-label')"
    return str(page.tab.locator(":focus").evaluate(script))


def test_the_timeline_is_gone_through_by_keys_and_by_mouse_and_the_list_follows(cross):
    ended = classes("recorded", "adversarial/part-01")
    assert entries(cross) == ended
    steps = cross.outputs.get_by_role("tab")
    assert steps.evaluate_all("all => all.map(tab => tab.getAttribute('aria-selected'))") == ["false"] * 3 + ["true"]
    cross.press(steps.nth(3), "ArrowLeft")
    assert focused(cross) == "round 2; 4 calls"
    cross.press(steps.nth(2), "Home")
    assert set(entries(cross).values()) == {"waiting"}
    cross.click(cross.control("tab", "round 1; 4 calls"))
    assert set(entries(cross).values()) > {"waiting"}
    assert cross.outputs.get_by_text("4 calls; none failed", exact=False).count() == 1
    cross.click(cross.outputs.locator(".vp-call > summary").first)
    cross.click(cross.control("tab", "round 2; 4 calls"))
    assert cross.outputs.locator(".vp-call[open]").count() == 1
    steps.first.evaluate(TWICE_RIGHT)  # faster than any kernel answers
    cross.settle()
    assert steps.nth(2).get_attribute("aria-selected") == "true"
    assert cross.errors() == []
    assert cross.outside == []


def test_a_finding_is_searched_chosen_by_keys_and_its_votes_read(cross):
    listbox = cross.control("listbox", "Findings")
    cross.press(listbox.get_by_role("option").first, "End")
    assert focused(cross) == list(entries(cross))[-1]
    cross.tab.keyboard.press("/")
    cross.tab.keyboard.type("f-0145")
    cross.settle()
    assert list(entries(cross)) == ["F-0145"]
    cross.tab.keyboard.press("Enter")
    cross.tab.keyboard.press("Enter")
    cross.settle()
    assert listbox.get_by_role("option", selected=True).count() == 1
    vote = cross.button("window, round 1: disagree, counter-evidence")
    cross.press(vote, "ArrowRight")
    assert focused(cross) == "window, round 2: disagree, counter-evidence"
    cross.tab.keyboard.press("Enter")
    words = (
        vp.datasets.runs("stdlib-claims")
        .select(["adversarial/part-01"])
        .votes.set_index(["finding_id", "worker", "round"])
    )
    assert words["explanation"]["F-0145", "window", 2] in cross.text(".vp-vote-words")
    cross.tab.keyboard.press("Escape")
    assert cross.text(".vp-vote-words") == "Choose a vote to read its words."
    cross.click(cross.outputs.get_by_text("Why it ends in its class, as it was recorded"))
    assert cross.outputs.get_by_text("hard-refute", exact=False).count() >= 2
    assert axe(cross) == []


def test_another_run_is_found_and_chosen_and_findings_of_all_runs_open_theirs(cross):
    search = cross.textbox("Search runs")
    cross.write(search, "collaborative/part-07")
    assert list(entries(cross, "Runs")) == ["collaborative/part-07"]
    cross.click(cross.control("listbox", "Runs").get_by_role("option"))
    assert cross.outputs.get_by_role("heading", name="Run collaborative/part-07").count() == 1
    assert entries(cross) == classes("recorded", "collaborative/part-07")
    cross.click(cross.button("All runs"))
    cross.write(cross.textbox("Search items"), "F-0145")
    found = cross.control("listbox", "Items of all runs").get_by_role("option")
    assert found.count() == 2
    cross.click(found.first)
    assert cross.outputs.get_by_role("heading", name="Run adversarial/part-01").count() == 1
    assert cross.outputs.get_by_role("heading", name="F-0145", exact=False).count() == 1
    assert cross.errors() == []


def test_other_rules_mark_the_classes_that_differ_and_presets_are_tried(cross):
    cross.select("Replay mode").focus()
    cross.choose(cross.select("Replay mode"), "collaborative")
    old, new = (classes(mode, "adversarial/part-01") for mode in ("recorded", "collaborative"))
    count = sum(new[name] != old[name] for name in old)
    assert cross.outputs.locator(".vp-entry").get_by_text("≠", exact=False).count() == count
    assert cross.outputs.get_by_text(f"{count} differences to the recorded classes", exact=False).count() == 1
    assert cross.tab.locator(":focus").get_attribute("name") == "mode"
    cross.click(cross.outputs.get_by_text("What presets of the rules would make of these votes"))
    row = cross.outputs.get_by_role("row").filter(has_text="sticky-refutes")
    assert " of 60" in row.inner_text()
    cross.click(cross.button("As recorded"))
    assert cross.outputs.get_by_text("0 differences to the recorded classes", exact=False).count() == 1
    assert cross.errors() == []


def test_a_list_of_twenty_thousand_is_scrolled_and_gone_through_by_slices(page, tmp_path):
    page.open(notebook(tmp_path, MANY)).run_all()
    listbox = page.control("listbox", "Findings")
    assert listbox.get_by_role("option").count() == 200
    listbox.evaluate("box => { box.parentElement.scrollTop = 46 * 9000; }")
    page.settle()
    assert "F-09005" in entries(page)
    page.press(listbox.get_by_role("option").first, "End")
    assert focused(page) == "F-19999"
    page.press(listbox.locator("[tabindex='0']"), "Home")
    assert focused(page) == "F-00000"
    assert page.errors() == []


def test_a_callback_that_fails_shows_its_error(page, tmp_path):
    page.open(notebook(tmp_path, CROSS, BREAK)).run_all()
    page.click(page.control("tab", "what was found"))
    alert = page.outputs.get_by_role("alert")
    assert "That did not work. ValueError: the view is <b>gone</b>" in alert.inner_text()
    assert axe(page) == []


def test_markup_in_texts_does_not_run(page, tmp_path):
    page.open(notebook(tmp_path, HOSTILE)).run_all()
    page.click(page.outputs.locator(".vp-vote").first)
    assert "<script>" in page.text(".vp-vote-words")
    assert page.tab.evaluate("window.ran") is None
    assert page.outputs.locator("img").count() == 0
    assert page.errors() == []


def test_a_run_of_models_shows_transcripts_and_evidence_in_both_themes_and_widths(page, tmp_path):
    page.open(notebook(tmp_path, PLAN)).run_all()
    assert "The work itself is small." in page.text(".vp-cited")
    page.click(page.control("tab", "iteration 1, what was challenged; 1 call"))
    page.click(page.outputs.locator(".vp-call > summary"))
    transcript = page.outputs.locator(".vp-call [data-slot]")
    page.click(transcript.get_by_text("What was asked"))
    assert "its digest equals the recorded one" in transcript.inner_text()
    assert transcript.get_by_text("what tools returned", exact=False).count() == 3
    page.choose(page.select("Policy"), "deliberate")
    assert page.outputs.get_by_role("heading", name="Under policy deliberate").count() == 1
    assert page.cut() == []
    for theme in ("light", "dark"):
        page.use_theme(theme)
        assert axe(page) == []
        page.pictures(OUT / f"viewer-{theme}")
    assert page.errors() == []


def test_voila_shows_it_and_the_timeline_steps(voila_page, tmp_path):
    voila_page.open(notebook(tmp_path, CROSS)).run_all()
    voila_page.click(voila_page.control("tab", "what was found"))
    assert set(entries(voila_page).values()) == {"waiting"}
    assert voila_page.errors() == []
    assert voila_page.outside == []
