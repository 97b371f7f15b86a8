"""ModeComparison in JupyterLab: settings changed, rows sorted, filtered and chosen by hand; what Python then sees."""

from __future__ import annotations

from pathlib import Path

import pytest

import verifyplan as vp
from tests.browser.accessibility import axe
from tests.browser.notebook_files import notebook
from verifyplan.analysis.replay import Setting
from verifyplan.widgets.comparison import ModeComparison

OUT = Path(__file__).resolve().parents[2] / "out" / "browser"
MADE = """import verifyplan as vp
from verifyplan.widgets.comparison import ModeComparison
widget = ModeComparison(vp.datasets.runs("stdlib-claims/collaborative"),
    vp.datasets.runs("stdlib-claims/adversarial"))
widget"""
ONE = """import verifyplan as vp
from verifyplan.analysis.replay import Setting
from verifyplan.widgets.comparison import ModeComparison
ModeComparison("stdlib-claims/adversarial", modes=["collaborative", Setting("adversarial", max_rounds=5)])"""
ASKED = "print('keys', '|'.join(widget.selected['key']), '|'.join(map(str, widget.selected['disagreement'].round(3))))"
BROKEN = """from verifyplan.widgets.comparison import view as comparison_view
def broken(*args, **words):
    raise RuntimeError("<b>no words</b> today")
comparison_view.explain = broken"""


@pytest.fixture(scope="module")
def sets():
    return [vp.datasets.runs(f"stdlib-claims/{mode}") for mode in ("collaborative", "adversarial")]


def cells_of(page):
    """The counts that the chart of transitions tells, by from and to, read from the marks' labels."""
    labels = page.outputs.locator('figure[aria-label="Where findings move"] svg path[aria-label^="From"]').evaluate_all(
        "all => all.map(one => one.getAttribute('aria-label'))"
    )
    told = [dict(line.split(": ", 1) for line in label.split("\n")) for label in labels]
    return {(one["From"].split(" under ")[0], one["To"].split(" under ")[0]): int(one["Findings"]) for one in told}


def counts_in(comparison):
    table = comparison.transitions
    return {(a, b): int(table.loc[a, b]) for a in table.index for b in table.columns}


def rows_of(page):
    return page.outputs.locator(".vp-table tbody tr")


def shown_keys(page):
    boxes = rows_of(page).get_by_role("checkbox")
    return boxes.evaluate_all("all => all.map(one => one.getAttribute('aria-label').replace('Choose ', ''))")


def run_last(page):
    """Run the last cell, as Shift+Enter does in it, and give what it prints."""
    page.tab.locator(".jp-Notebook .jp-CodeCell").last.locator(".cm-content").click()
    page.tab.keyboard.press("Shift+Enter")
    page.settle()
    return page.outputs.locator("pre").last.inner_text()


def test_a_comparison_is_set_sorted_filtered_and_chosen_by_hand(page, tmp_path, sets):
    page.open(notebook(tmp_path, MADE, ASKED)).run_all()
    assert cells_of(page) == counts_in(vp.compare(*sets))

    page.choose(page.select("Mode of the first"), "adversarial")
    page.choose(page.select("Rounds of the second"), "1")
    expected = ModeComparison(*sets, modes=[Setting("adversarial"), Setting("recorded", max_rounds=1)])
    assert cells_of(page) == counts_in(expected.comparison) != counts_in(vp.compare(*sets))

    assert rows_of(page).count() == len(expected.table.rows)
    page.click(page.button("Sort by Disagreement"))
    expected.table.sort = {"column": "disagreement", "descending": False}
    assert shown_keys(page) == expected.table.row_keys
    page.click(page.button("Sort by Disagreement"))
    expected.table.sort = {"column": "disagreement", "descending": True}
    assert shown_keys(page) == expected.table.row_keys
    head = page.outputs.locator("th[aria-sort]")
    assert (head.get_attribute("aria-sort"), head.inner_text().split()[0]) == ("descending", "Disagreement")

    option = next(words for words, value in expected.changed.options if value == "lost")
    page.choose(page.select("What changed"), option)
    page.write(page.textbox("Find"), "PARAMETER")
    expected.changed.value, expected.find.value = "lost", "parameter"
    keys = expected.table.row_keys
    assert 2 < len(keys) == rows_of(page).count()

    page.press(page.checkbox(f"Choose {keys[0]}"), "Space")
    page.click(rows_of(page).nth(2))
    expected.table.selected = [keys[0], keys[2]]
    assert page.outputs.locator("article").count() == 2
    assert expected.selected["finding_id"].iloc[1] in page.outputs.locator("article").nth(1).inner_text()
    shares = "|".join(map(str, expected.selected["disagreement"].round(3)))
    assert run_last(page).strip() == f"keys {keys[0]}|{keys[2]} {shares}"
    assert [words for words in page.cut() if "950: Findings, their class" not in words] == []  # it scrolls
    for theme in ("light", "dark"):
        page.use_theme(theme)
        page.pictures(OUT / f"comparison-{theme}", page.outputs.first)
        assert axe(page) == []
    page.click(page.button("Choose none"))
    assert page.outputs.locator("article").count() == 0
    page.execute(BROKEN)
    page.click(rows_of(page).nth(1))
    assert "That did not work. RuntimeError: <b>no words</b> today" in page.text('[role="alert"]')
    page.click(rows_of(page).nth(1))
    assert page.outputs.locator('[role="alert"]').count() == 0
    assert page.errors() == []
    assert page.outside == []


def test_one_set_and_hostile_texts_are_shown_as_words(page, tmp_path):
    hostile = """import dataclasses
import pandas as pd
import verifyplan as vp
from verifyplan.widgets.comparison import ModeComparison
bad = "<img src=x onerror='document.body.dataset.ran = 1'><script>document.body.dataset.ran = 1</script>" + chr(7)
votes = pd.DataFrame({"item": [bad, bad, "<b>G", "<b>G"], "who": [bad, "b"] * 2,
    "says": ["agree", "disagree"] * 2, "why": bad * 1000})
runs = vp.from_votes(votes, item="item", worker="who", verdict="says", explanation="why")
widget = ModeComparison(dataclasses.replace(runs, findings=runs.findings.assign(summary=bad * 1000)))
widget.table.selected = widget.table.row_keys
widget"""
    page.open(notebook(tmp_path, ONE, hostile)).run_all()
    assert page.outputs.locator("article").count() == 2
    assert page.outputs.locator("img").count() == 0
    assert page.tab.evaluate("document.body.dataset.ran") is None
    assert axe(page) == []
    assert page.errors() == []
