"""What every widget has: failures shown in words, and forgotten; markup shown as text; a picture without a kernel."""

from __future__ import annotations

import asyncio
import threading

import ipywidgets as ipw
import pandas as pd
import pytest

from verifyplan.charts import adaptive
from verifyplan.errors import InputError, Problem
from verifyplan.widgets.controls import MAX_ROWS, SelectableTable, Slider
from verifyplan.widgets.html import CSS
from verifyplan.widgets.panel import Panel, guarded
from verifyplan.widgets.repaint import Debouncer


class Divider(Panel):
    """Divides 6 by a slider's value; `deep` sets the slider from within another callback."""

    def __init__(self) -> None:
        super().__init__("Divider <of 6>")
        self.slider = Slider(label="By", low=-3, high=3, value=1)
        self.shown = ipw.HTML()
        self.slider.observe(self._moved, "value")
        self.fill(self.slider, self.shown)

    def static(self) -> str:
        return self.shown.value

    @guarded
    def _moved(self, change) -> None:
        if change["new"] == 3:
            raise InputError(Problem("by", "<3> is too much", "give less"))
        self.shown.value = str(6 / change["new"])

    @guarded
    def idle(self) -> str:
        return "idle"

    @guarded
    def deep(self, value: float) -> str:
        self.slider.value = value
        return "done"


def test_a_failing_callback_is_shown_with_its_place_and_forgotten_once_it_works():
    panel = Divider()
    panel.slider.value = 0
    assert "ZeroDivisionError: float division by zero" in panel.failure.value
    assert "test_panel.py" in panel.failure.value
    assert 'role="alert"' in panel.failure.value
    panel.slider.value = 2
    assert panel.failure.value == ""
    assert panel.shown.value == "3.0"


def test_our_own_errors_are_shown_in_words_alone_and_as_text():
    panel = Divider()
    panel.slider.value = 3
    assert "by: &lt;3&gt; is too much. Fix: give less." in panel.failure.value
    assert "Where it happened" not in panel.failure.value


def test_a_failure_that_another_callback_set_off_stays():
    panel = Divider()
    assert panel.deep(0) == "done"
    assert "ZeroDivisionError" in panel.failure.value
    panel.deep(1)
    assert panel.failure.value == ""


def test_another_callback_that_works_does_not_hide_a_failure():
    panel = Divider()
    panel.slider.value = 0
    assert panel.idle() == "idle"
    assert "ZeroDivisionError" in panel.failure.value


def test_without_a_kernel_there_is_what_it_showed():
    panel = Divider()
    panel.slider.value = 2
    bundle = panel._repr_mimebundle_()
    assert "as it was when its cell ran" in bundle["text/html"]
    assert bundle["text/html"].startswith('<section class="vp-panel" aria-label="Divider &lt;of 6&gt;"><style>')
    header = '<header class="vp-header"><div><h3 class="vp-title">Divider &lt;of 6&gt;</h3></div></header>'
    assert f"</style>{header}3.0<p" in bundle["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_a_table_shows_what_it_is_given_as_text_and_says_what_it_left_out():
    table = SelectableTable(label="Runs")
    frame = pd.DataFrame({"id": [f"<b>{n}" for n in range(MAX_ROWS + 1)], "share": 0.125, "tags": [["a", "b"]] * 501})
    frame.loc[0, "share"] = float("nan")
    table.fill(frame, "id", titles={"id": "Run", "share": "Share", "tags": "Tags"}, noun="run")
    assert table.rows[:2] == [["<b>0", "-", "a, b"], ["<b>1", "0.12", "a, b"]]
    assert [column["numeric"] for column in table.columns] == [False, True, False]
    assert table.note == "The first 500 of 501 runs: filter or sort to see others."
    assert "&lt;b&gt;0" in table.html()
    assert "<b>" not in table.html()


@pytest.mark.parametrize(("rows", "note"), [(0, "0 runs"), (1, "1 run"), (2, "2 runs")])
def test_a_table_counts_its_rows(rows, note):
    table = SelectableTable(label="Runs")
    table.fill(pd.DataFrame({"id": [str(n) for n in range(rows)]}), "id", noun="run")
    assert (len(table.row_keys), table.note) == (rows, note)


def test_a_cell_of_a_huge_text_is_cut():
    table = SelectableTable(label="Runs")
    table.fill(pd.DataFrame({"id": ["r"], "text": ["x" * 100_000]}), "id")
    assert len(table.rows[0][1]) <= 120


def test_steps_asked_for_in_two_threads_are_done_one_at_a_time_and_all_of_the_last(monkeypatch):
    monkeypatch.setattr("verifyplan.widgets.repaint.REST_S", 0.001)
    done, failures = [], []
    begun, go_on, at_once = threading.Event(), threading.Event(), threading.Lock()

    def step(number):
        assert at_once.acquire(blocking=False), "two steps at once"
        begun.set()
        assert go_on.wait(10)
        done.append(number)
        at_once.release()

    steps = [lambda number=number: step(number) for number in range(3)]
    debouncer = Debouncer(steps, changed=lambda: None, failed=failures.append)

    def ask(first):
        async def work():
            assert first or begun.wait(10)
            for _ in range(1 if first else 5):
                debouncer.later()
                await asyncio.sleep(0.03)
            go_on.set()
            while debouncer.stale:
                await asyncio.sleep(0.005)

        asyncio.run(work())

    threads = [threading.Thread(target=ask, args=(first,)) for first in (True, False)]
    threads[0].start()
    threads[1].start()
    for thread in threads:
        thread.join(20)
    assert failures == []
    assert done[-3:] == [0, 1, 2]
    assert not debouncer.stale


def test_widgets_and_charts_call_the_same_pages_light_and_dark():
    for page in (*adaptive.DARK_PAGES, *adaptive.LIGHT_PAGES):
        assert page in CSS
