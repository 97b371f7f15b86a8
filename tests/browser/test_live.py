"""A live run in JupyterLab: started by mouse, answered by keyboard, cancelled and resumed; and what fails says so."""

from __future__ import annotations

import re

import pytest
from browser.accessibility import axe
from browser.notebook_files import ROOT, notebook
from playwright.sync_api import expect

PICTURES = ROOT / "out" / "browser"
TESTS = ROOT / "tests"
SET_UP = f"""
import sys
sys.path[:0] = [{str(TESTS)!r}, {str(TESTS / "loops")!r}, {str(TESTS / "loops" / "plan")!r}]
import asyncio
from pathlib import Path
from planning import challenge, script
from widgets.live_runs import BLOCKED, VOTES, Gated, cross_run, plan_run
"""
ASKS = SET_UP + 'live = plan_run(Path("log"))\nlive'
HELD = SET_UP + 'backend = Gated(VOTES, calls=3)\nlive = cross_run(Path("log"), backend=backend)\nlive'
LET_GO = "backend.go.set()"
HOSTILE = (
    SET_UP
    + """
text = "<script>window.broken = 1</script><img src=x onerror='window.broken = 1'>" + "x" * 100_000
raised = [challenge(claim=text, concern=text, alternative=text, evidence=text, severity="BLOCKING")]
told = {"i1/challenger": {"challenges": raised}, "i1/synthesizer": {"question": text}}
plan_run(Path("log"), told, panel=None, start=True)
"""
)
BROKEN = SET_UP + 'live = plan_run(Path("log"))\nlive.form.answer = lambda: 1 / 0\nlive.start()\nlive'


def status(page):
    return page.outputs.get_by_role("status")


def until(page, words):
    """Wait until the status says so: runs go on in a thread, of which the page knows no request."""
    expect(status(page)).to_contain_text(re.compile(words), timeout=30_000)
    page.settle()


def chosen(page):
    """What the choice of a challenge shows."""
    return page.select("Challenge").evaluate("one => one.selectedOptions[0]?.text").replace("\xa0", " ")


def run_cell(page, code):
    """Run code in the kernel, beside the widget, as a cell at the end of the notebook would."""
    page.tab.evaluate(
        """code => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel
            .requestExecute({ code, store_history: false }).done.then(() => null)""",
        code,
    )
    page.settle()


def test_a_run_is_started_by_mouse_and_its_question_answered_by_keyboard(page, tmp_path):
    page.open(notebook(tmp_path, ASKS)).run_all()
    expect(status(page)).to_have_text("Ready to start.")
    page.click(page.button("Start"))
    until(page, "waits for your answer: 1 challenge open")
    assert chosen(page) == "C2, BLOCKING: `rows` stay as they are."
    assert axe(page) == []
    page.screenshot(PICTURES / "live-asks-light.png")
    page.use_theme("dark")
    page.screenshot(PICTURES / "live-asks-dark.png")
    page.press(page.outputs.get_by_role("radio").first, "ArrowDown")
    page.tab.keyboard.press("ArrowDown")
    page.settle()
    assert page.outputs.get_by_role("radio").nth(2).is_checked()
    page.press(page.button("Answer"), "Enter")
    expect(page.outputs.get_by_role("alert")).to_contain_text("note: is blank. Fix: write the context")
    expect(status(page)).to_contain_text("waits for your answer")
    page.write(page.textbox("Note"), "the old store stays")
    page.press(page.button("Answer"), "Enter")
    until(page, "waits for your answer")
    assert page.textbox("Note").input_value() == ""
    assert chosen(page).startswith("C2, BLOCKING")
    assert page.outputs.get_by_role("radio").first.is_checked()
    page.press(page.button("Answer"), "Enter")
    until(page, r"Ended: REVISE \(strong\)")
    expect(page.outputs.get_by_role("alert")).to_have_count(0)
    ended = page.outputs.get_by_role("region", name="How the run ended")
    expect(ended).to_contain_text("Verdict: REVISE (strong)")
    expect(ended).to_contain_text("it informs and never decides the verdict")
    assert axe(page) == []
    page.screenshot(PICTURES / "live-ended-dark.png")
    page.use_theme("light")
    page.screenshot(PICTURES / "live-ended-light.png")
    assert page.errors() == []
    assert page.outside == []
    assert len(list((tmp_path / "log").glob("*.jsonl"))) == 1


def test_a_run_is_watched_cancelled_and_resumed(page, tmp_path):
    page.open(notebook(tmp_path, HELD)).run_all()
    page.press(page.button("Start"), "Enter")
    until(page, "Round 1 of at most 2: waits for ann")
    bar = page.outputs.get_by_role("progressbar")
    steps = page.outputs.get_by_role("listitem")
    expect(steps.last).to_contain_text("r1/cy: cy is asked about")
    assert [bar.get_attribute(name) for name in ("value", "max")] == ["0", "6"]
    page.click(page.button("Cancel"))
    until(page, "Stopping: 3 calls under way")
    page.screenshot(PICTURES / "live-stopping-light.png")
    run_cell(page, LET_GO)
    until(page, r"Cancelled\. Resume goes on here; elsewhere, resume with vp\.resume\('log/")
    assert axe(page) == []
    page.screenshot(PICTURES / "live-cancelled-light.png")
    page.click(page.button("Resume"))
    until(page, "Ended: ")
    expect(page.outputs.get_by_role("region", name="How the run ended")).to_contain_text("3 findings, 3 workers")
    assert [bar.get_attribute(name) for name in ("value", "max")] == ["6", "6"]
    page.screenshot(PICTURES / "live-cross-ended-light.png")
    assert axe(page) == []
    assert page.errors() == []


def test_stop_now_and_a_restart_of_the_kernel_leave_logs_that_go_on(page, tmp_path):
    page.open(notebook(tmp_path, HELD)).run_all()
    page.click(page.button("Start"))
    until(page, "waits for ann")
    page.click(page.button("Stop now"))
    until(page, "Cancelled")
    page.click(page.button("Resume"))
    until(page, "waits for ann")
    page.close()  # ends the kernel, and the run with it
    [log] = (tmp_path / "log").rglob("*.jsonl")
    again = (
        SET_UP
        + f"""
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.widgets.live import LiveRun
LiveRun.resume({str(log)!r}, backend=ScriptedBackend(VOTES, silent=True), matcher=None)
"""
    )
    page.open(notebook(tmp_path, again, name="again.ipynb")).run_all()
    page.click(page.button("Start"))
    until(page, "Ended: ")
    assert page.errors() == []


def test_an_interrupt_of_the_kernel_leaves_the_run_going(page, tmp_path):
    page.open(notebook(tmp_path, HELD)).run_all()
    page.click(page.button("Start"))
    until(page, "waits for ann")
    kernel = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
    for code in ("1", "import time; live.wait()"):
        page.tab.evaluate(f"() => {{ {kernel}.requestExecute({{ code: '{code}', store_history: false }}); }}")
        if "wait" in code:
            page.tab.wait_for_function(f"() => {kernel}.status === 'busy'")
        page.tab.evaluate(f"() => {kernel}.interrupt()")
        page.settle()
    assert page.errors() == ["cell: KeyboardInterrupt: "]
    expect(status(page)).to_contain_text("waits for ann")
    run_cell(page, LET_GO)
    until(page, "Ended: ")


def test_a_question_is_answered_under_voila(voila_page, tmp_path):
    voila_page.open(notebook(tmp_path, ASKS)).run_all()
    voila_page.click(voila_page.button("Start"))
    until(voila_page, "waits for your answer: 1 challenge open")
    voila_page.click(voila_page.button("Answer"))
    until(voila_page, r"Ended: REVISE \(strong\)")
    assert axe(voila_page) == []
    assert voila_page.errors() == []


def test_markup_and_long_texts_do_not_break_the_page(page, tmp_path):
    page.open(notebook(tmp_path, HOSTILE)).run_all()
    until(page, "waits for your answer")
    assert page.tab.evaluate("() => window.broken") is None
    expect(page.outputs.get_by_role("region", name="Question of the run")).to_contain_text("<script>window.broken")
    width = page.outputs.first.evaluate("one => one.scrollWidth - one.clientWidth")
    assert width <= 1, "nothing is wider than the page"
    assert page.errors() == []


def test_a_callback_that_fails_shows_its_error(page, tmp_path):
    page.open(notebook(tmp_path, BROKEN)).run_all()
    until(page, "waits for your answer")
    page.click(page.button("Answer"))
    alert = page.outputs.get_by_role("alert")
    expect(alert).to_contain_text("That did not work. ZeroDivisionError: division by zero")
    page.click(page.button("Stop here"))
    until(page, "Stopped, with its question open")
    expect(alert).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_settings_that_do_not_fit_are_told_in_the_page(page, tmp_path, theme):
    cell = SET_UP + 'plan_run(Path("log"), policy="x", timeout=-1, start=True)'
    page.open(notebook(tmp_path, cell), theme=theme).run_all()
    until(page, "Failed, and there is no log")
    for words in ("timeout: -1", "policy: 'x'"):
        expect(page.outputs.get_by_role("alert")).to_contain_text(words)
    assert axe(page) == []
    page.screenshot(PICTURES / f"live-failed-{theme}.png")
