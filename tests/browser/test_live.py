"""A live run in JupyterLab: started by mouse, answered by keyboard, cancelled and resumed; and what fails says so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import axe
from tests.browser.controls import Controls
from tests.browser.notebook_files import ROOT, notebook
from tests.browser.notebook_page import NotebookPage

PICTURES = ROOT / "out" / "browser"
TESTS = ROOT / "tests"
SET_UP = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import asyncio
from pathlib import Path
from tests.runs.plan.planning import challenge, script
from tests.widgets.live_runs import BLOCKED, VOTES, Gated, cross_run, plan_run
"""
ASKS = SET_UP + 'live = plan_run(Path("log"))\nlive'
LET_GO = "backend.go.set()"
ANSWERS = "backend.script['2']['cy'] = VOTES[2]['ann']"
TOGETHER = (
    SET_UP
    + """
import ipywidgets
text = "<script>window.broken = 1</script><img src=x onerror='window.broken = 1'>" + "x" * 100_000
raised = [challenge(claim=text, concern=text, alternative=text, evidence=text, severity="BLOCKING")]
told = {"i1/challenger": {"challenges": raised}, "i1/synthesizer": {"question": text}}
backend = Gated(VOTES, calls=3)
lives = {
    "asks": plan_run(Path("asks")),
    "held": cross_run(Path("held"), backend=backend),
    "hostile": plan_run(Path("hostile"), told, panel=None, start=True),
    "broken": plan_run(Path("broken")),
    "unfit": plan_run(Path("unfit"), policy="x", timeout=-1, start=True),
}
lives["broken"].form.answer = lambda: 1 / 0
lives["broken"].start()
for name, live in lives.items():
    live.add_class("live-" + name)
ipywidgets.VBox(list(lives.values()))
"""
)
HELD = (
    SET_UP
    + """
import ipywidgets
backend = Gated(VOTES, calls=3)
lives = [cross_run(Path("ended"), backend=backend), cross_run(Path("left"), backend=Gated(VOTES, calls=3))]
lives[0].add_class("live-ended")
lives[1].add_class("live-left")
ipywidgets.VBox(lives)
"""
)


class Shown(Controls):
    """One of the live runs that stand in one notebook, by its name there."""

    def __init__(self, page: NotebookPage, folder: Path, name: str) -> None:
        self.page, self.tab, self.selector = page, page.tab, f".live-{name}"
        self.logs = folder / name
        self.outputs = page.outputs.locator(self.selector)

    def settle(self) -> None:
        self.page.settle()

    def pictures(self, name: str) -> None:
        self.page.pictures(PICTURES / name, self.outputs)


@pytest.fixture(scope="module")
def together(lab_tab, tmp_path_factory):
    """The folder of a notebook with a live run for each test that leaves its kernel be: to start one takes seconds.

    Whatever opens another notebook in the tab comes after these tests.
    """
    folder = tmp_path_factory.mktemp("together")
    lab_tab.open(notebook(folder, TOGETHER)).run_all()
    return folder


@pytest.fixture
def shown(lab_tab, together):
    """Finds one of them; nothing on their page may have gone wrong."""
    yield lambda name: Shown(lab_tab, together, name)
    assert lab_tab.errors() == []
    assert lab_tab.outside == []


def status(page):
    return page.outputs.get_by_role("status")


def until(page, words):
    """Wait until the status says so: runs go on in a thread, of which the page knows no request."""
    expect(status(page)).to_contain_text(re.compile(words), timeout=30_000)
    page.settle()


def chosen(page):
    """What the choice of a challenge shows."""
    return page.select("Challenge").evaluate("one => one.selectedOptions[0]?.text").replace("\xa0", " ")


def test_a_run_is_started_by_mouse_and_its_question_answered_by_keyboard(shown):
    asks = shown("asks")
    expect(status(asks)).to_have_text("Ready to start.")
    asks.click(asks.button("Start"))
    until(asks, "waits for your answer: 1 challenge open")
    assert chosen(asks) == "C2, BLOCKING (overridden: REVISE (strong)): `rows` stay as they are."
    assert axe(asks.page, asks.selector) == []
    asks.pictures("live-asks-light")
    asks.page.use_theme("dark")
    asks.pictures("live-asks-dark")
    asks.press(asks.outputs.get_by_role("radio").first, "ArrowDown")
    asks.tab.keyboard.press("ArrowDown")
    asks.settle()
    assert asks.outputs.get_by_role("radio").nth(2).is_checked()
    asks.press(asks.button("Answer"), "Enter")
    expect(asks.outputs.get_by_role("alert")).to_contain_text("note: is blank. Fix: write the context")
    expect(status(asks)).to_contain_text("waits for your answer")
    asks.write(asks.textbox("Note"), "the old store stays")
    asks.button("Answer").dblclick()  # of which the second half must not answer the next question
    expect(asks.textbox("Note")).to_have_value("")
    expect(asks.button("Answer")).to_be_enabled()
    until(asks, "waits for your answer")
    assert chosen(asks).startswith("C2, BLOCKING")
    assert asks.outputs.get_by_role("radio").first.is_checked()
    asks.press(asks.button("Answer"), "Enter")
    until(asks, r"Ended: REVISE \(strong\)")
    expect(asks.outputs.get_by_role("alert")).to_have_count(0)
    ended = asks.outputs.get_by_role("region", name="How the run ended")
    expect(ended).to_contain_text("Verdict: REVISE (strong)")
    expect(ended).to_contain_text("it informs and never decides the verdict")
    expect(asks.textbox("Note")).to_be_hidden()
    expect(asks.outputs.locator("iframe")).to_be_hidden()
    assert axe(asks.page, asks.selector) == []
    asks.pictures("live-ended-dark")
    asks.page.use_theme("light")
    asks.pictures("live-ended-light")
    assert len(list(asks.logs.glob("*.jsonl"))) == 1


def test_a_run_is_watched_stopped_cancelled_and_resumed(shown):
    held = shown("held")
    again = held.button("Ask failed calls again")
    expect(again).to_have_count(0)
    held.press(held.button("Start"), "Enter")
    until(held, "Round 1 of at most 2: waits for ann")
    expect(held.outputs.get_by_role("listitem").last).to_contain_text("r1/cy: cy is asked about")
    expect(held.outputs.get_by_role("table", name="3 calls under way")).to_contain_text("r1/cy")
    expect(held.textbox("Note")).to_be_hidden()
    held.pictures("live-running-light")
    held.click(held.button("Stop now"))
    until(held, "Cancelled")
    held.click(held.button("Resume"))
    until(held, "Round 1 of at most 2: waits for ann")
    bar = held.outputs.get_by_role("progressbar")
    assert [bar.get_attribute(name) for name in ("value", "max")] == ["0", "6"]
    held.click(held.button("Cancel"))
    until(held, "Stopping: 3 calls under way")
    held.pictures("live-stopping-light")
    held.page.execute(LET_GO)
    until(held, r"Cancelled\. Resume goes on here; elsewhere, resume with vp\.resume\('held/")
    assert axe(held.page, held.selector) == []
    held.pictures("live-cancelled-light")
    held.click(held.button("Resume"))
    until(held, "Ended: ")
    expect(held.outputs.get_by_role("region", name="How the run ended")).to_contain_text("3 findings, 3 workers")
    assert [bar.get_attribute(name) for name in ("value", "max")] == ["6", "6"]
    expect(held.outputs.get_by_text("1 of 6 calls failed: 1 timeout.", exact=False)).to_be_visible()
    held.pictures("live-cross-ended-light")
    assert axe(held.page, held.selector) == []
    held.page.execute(ANSWERS)
    again.dblclick()  # of which the second half must not fail
    expect(again).to_have_count(0)
    until(held, "Ended: ")
    expect(held.outputs.get_by_text("6 asked, 6 replied")).to_be_visible()
    expect(again).to_have_count(0)


def test_markup_and_long_texts_do_not_break_the_page(shown):
    hostile = shown("hostile")
    until(hostile, "waits for your answer")
    assert hostile.tab.evaluate("() => window.broken") is None
    expect(hostile.outputs.get_by_role("region", name="Question of the run")).to_contain_text("<script>window.broken")
    width = hostile.page.outputs.first.evaluate("one => one.scrollWidth - one.clientWidth")
    assert width <= 1, "nothing is wider than the page"


def test_a_callback_that_fails_shows_its_error(shown):
    broken = shown("broken")
    until(broken, "waits for your answer")
    broken.click(broken.button("Answer"))
    alert = broken.outputs.get_by_role("alert")
    expect(alert).to_contain_text("That did not work. ZeroDivisionError: division by zero")
    broken.click(broken.button("Stop here"))
    until(broken, "Stopped, with its question open")
    expect(alert).to_have_count(0)


def test_settings_that_do_not_fit_are_told_in_the_page(shown):
    unfit = shown("unfit")
    until(unfit, "Failed, and there is no log")
    for words in (
        "timeout: must be a finite number above 0, got -1",
        "policy: must be 'protocol' or 'deliberate', got 'x'",
    ):
        expect(unfit.outputs.get_by_role("alert")).to_contain_text(words)
    for theme in ("dark", "light"):
        unfit.page.use_theme(theme)
        assert axe(unfit.page, unfit.selector) == []
        unfit.pictures(f"live-failed-{theme}")


def test_an_interrupt_leaves_runs_going_and_a_restart_of_the_kernel_leaves_a_log_that_goes_on(page, tmp_path):
    page.open(notebook(tmp_path, HELD)).run_all()
    ended, left = Shown(page, tmp_path, "ended"), Shown(page, tmp_path, "left")
    for one in (ended, left):
        one.click(one.button("Start"))
        until(one, "waits for ann")
    kernel = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
    waiting = tmp_path / "waiting"
    for code in ("1", f"Path({str(waiting)!r}).touch(); lives[0].wait()"):
        execute = f"code => {{ {kernel}.requestExecute({{ code: code, store_history: false }}); }}"
        page.tab.evaluate(execute, code)
        while "wait" in code and not waiting.exists():
            page.tab.wait_for_timeout(50)
        page.tab.wait_for_timeout(
            300
        )  # a signal that comes before the code runs, or just before it waits, is not seen by it
        page.tab.evaluate(f"() => {kernel}.interrupt()")
        page.settle()
    assert set(page.errors()) == {"cell: KeyboardInterrupt: "}  # a slow kernel may be in two cells, one after the other
    for one in (ended, left):
        expect(status(one)).to_contain_text("waits for ann")
    page.execute(LET_GO)
    until(ended, "Ended: ")
    page.close()  # ends the kernel, and the other run with it
    [log] = left.logs.rglob("*.jsonl")
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


def test_a_question_is_answered_under_voila(voila_page, tmp_path):
    voila_page.open(notebook(tmp_path, ASKS)).run_all()
    voila_page.click(voila_page.button("Start"))
    until(voila_page, "waits for your answer: 1 challenge open")
    voila_page.click(voila_page.button("Answer"))
    until(voila_page, r"Ended: REVISE \(strong\)")
    assert axe(voila_page) == []
    assert voila_page.errors() == []
