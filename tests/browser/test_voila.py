"""Notebooks under Voila, from a template that asks no other host for anything."""

from __future__ import annotations

import pytest

from tests.browser.notebook_files import ROOT, copied, notebook
from tests.longer import LONG

QUICK = ROOT / "notebooks" / "00_quickstart.ipynb"
PICTURES = ROOT / "out" / "browser"
SLIDER = """
import ipywidgets
slider, words = ipywidgets.IntSlider(description="Rows", value=3), ipywidgets.Label()
def tell(change):
    words.value = f"{6 // change['new']} left"
slider.observe(tell, "value")
ipywidgets.VBox([slider, words])
"""

BAR = """
from verifyplan.progress import progress
with progress("working", 2) as step:
    step()
"the end"
"""
CLOSED = """
import ipywidgets
from IPython.display import display
output = ipywidgets.Output()
display(output)
output.close()
"""


NOTEBOOKS = ["00_quickstart", "40_tune_weights", *(["30_explore_runs"] if LONG else [])]
"""Those with widgets; the viewer of the last is shown under Voila by test_explorer.py, too."""


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_served_without_an_error_or_another_host(voila_page, tmp_path, name):
    voila_page.open(copied(tmp_path, QUICK.with_name(f"{name}.ipynb"))).run_all()
    voila_page.screenshot(PICTURES / f"{name}-voila.png")
    assert voila_page.errors() == []
    assert voila_page.outside == []
    assert voila_page.outputs.count() > 3
    if name == "40_tune_weights":
        slider = voila_page.slider("Risk coverage").first
        voila_page.press(slider, "End")
        assert voila_page.value(slider) == 1
        voila_page.outputs.get_by_text("Up to date with the weights.").first.wait_for()
        assert voila_page.errors() == []


def test_a_cell_that_fails_is_found(voila_page, tmp_path):
    voila_page.open(notebook(tmp_path, "1 / 0")).run_all()
    assert "traceback: ZeroDivisionError: division by zero" in voila_page.errors()


def test_a_slider_moves_and_its_failing_callback_is_found(voila_page, tmp_path):
    voila_page.open(notebook(tmp_path, SLIDER)).run_all()
    slider = voila_page.outputs.get_by_role("slider")
    voila_page.press(slider, "ArrowLeft")
    assert "3 left" in voila_page.text(".jupyter-widgets")
    assert voila_page.errors() == []
    voila_page.press(slider, "ArrowLeft", times=2)
    assert "callback: ZeroDivisionError: integer division or modulo by zero" in voila_page.errors()


def test_a_bar_that_has_ended_leaves_nothing_on_the_page(voila_page, tmp_path):
    voila_page.open(notebook(tmp_path, BAR)).run_all()
    assert voila_page.errors() == []
    assert [text for text in voila_page.outputs.all_inner_texts() if text] == ["'the end'"]


def test_a_widget_that_the_kernel_has_closed_is_found_once_the_page_has_asked_for_it(voila_page, tmp_path):
    voila_page.open(notebook(tmp_path, CLOSED))
    voila_page.outputs.get_by_text("Error displaying widget").first.wait_for(timeout=60_000)  # at rest before it asks
    assert "page: Error displaying widget: model not found" in voila_page.errors()
