"""The report of a cross run: plan bodies, runs that were broken off, long runs, hostile texts."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from tests.runs.crossing import AGREE, BURDEN, COUNTER, finding, run_of
from verifyplan.reports import cross

VOTES = {1: {"bob": {"F-1": AGREE, "F-2": COUNTER, "F-3": BURDEN}, "cy": {"F-1": AGREE, "F-2": COUNTER, "F-3": AGREE}}}
FOUND = [finding(f"F-{n}") for n in (1, 2, 3)]


def plain(run):
    return run.report().replace("\\", "")


def test_a_plan_body_has_its_classes_and_its_gate_beside_the_findings():
    items = [{"finding_id": "P-001", "summary": "one"}]
    votes = {**VOTES, "p1": {name: {"P-001": AGREE} for name in ("ann", "bob", "cy")}}
    script = {str(key): value for key, value in votes.items()}
    run = run_of(script, FOUND, task_type="implementation-planning", plan_items=items, max_rounds=1)
    text = plain(run)
    assert "3 findings, 1 plan item, 3 workers, collaborative: " in text
    assert "| class | findings | plan items |" in text
    passed = "passed" if run.gate_passed else "failed"
    assert f"The plan body {passed} its gate." in text


def test_a_run_that_was_broken_off_has_a_report_without_classes():
    whole = run_of(VOTES, FOUND, max_rounds=1)
    for events in range(1, len(whole.records)):
        text = plain(type(whole)(whole.records[:events], None, "run"))
        assert f": broken off after {events} event" in text
    assert "| F-1 | none yet | - | - | " in text or "| F-1 | full-consensus | " in text


def test_of_long_runs_the_first_findings_are_shown_and_the_others_counted(monkeypatch):
    monkeypatch.setattr(cross, "MAX_FINDINGS", 2)
    monkeypatch.setattr(cross, "MAX_FINDINGS_IN_FULL", 1)
    text = plain(run_of(VOTES, FOUND, max_rounds=1))
    assert "The first 2; 1 more is in the run's table findings." in text
    assert "The first 1; 2 more are in the run's table votes." in text
    assert "### F-1: full-consensus" in text
    assert "### F-2" not in text


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_no_text_changes_the_structure_of_the_page(form):
    hostile = "</td><script>alert(1)</script>\n# heading\n| a | b |\n```"
    votes = {1: {"bob": {"F-1": AGREE | {"explanation": hostile}}, "cy": {"F-1": COUNTER | {"explanation": hostile}}}}
    found = [finding("F-1", evidence=hostile) | {"summary": hostile}]
    text = run_of(votes, found, max_rounds=1).report(form=form)
    page = MarkdownIt("commonmark").enable("table").render(text) if form == "markdown" else text
    assert "<script" not in page
    assert page.count("<h1") == 1
    assert page.count("<h3") == 1
    assert page.count("&lt;script&gt;alert(1)") >= 4  # shown, not lost


def test_changed_rules_come_first_and_are_marked():
    text = plain(run_of(VOTES, FOUND, max_rounds=1, rules={"refutes": "sticky"}))
    table = text.split("## Rules")[1].partition("| --- |\n")[2]
    assert table.startswith("| refutes | sticky | yes |")
