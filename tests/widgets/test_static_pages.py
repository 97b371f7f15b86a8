"""Widgets on pages without a kernel: what nbconvert makes of them, run in a real kernel."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

WIDGETS = {
    "RunExplorer": 'vp.widgets.RunExplorer(vp.datasets.runs("stdlib-claims/adversarial").select(["part-01"]))',
    "ModeComparison": 'vp.widgets.ModeComparison(vp.datasets.runs("stdlib-claims/adversarial"))',
    "WeightTuner": 'vp.widgets.WeightTuner(vp.datasets.example_scores(8).drop(columns="overall"))',
    "LiveRun": 'vp.widgets.LiveRun(vp.datasets.plan_path("thin-scans"), ".")',
}


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    folder: Path = tmp_path_factory.mktemp("page")
    cells = ["import verifyplan as vp", *WIDGETS.values()]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbformat.write(notebook, folder / "page.ipynb")
    words = ["nbconvert", "--execute", "--to", "html", "--ExecutePreprocessor.store_widget_state=False", "page.ipynb"]
    done = subprocess.run([sys.executable, "-m", "jupyter", *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return (folder / "page.html").read_text()


def test_every_widget_leaves_a_section_that_needs_neither_kernel_nor_script(page):
    sections = re.split(r'<section aria-label="[^"]+" class="vp-panel">', page)[1:]
    assert len(sections) == len(WIDGETS)
    for section in sections:
        shown, note, _ = section.partition("Shown as it was when its cell ran")
        assert note
        assert "<script" not in shown
    assert "application/vnd.jupyter.widget-view+json" not in page


def test_the_sections_show_what_the_widgets_showed(page):
    for told in ("F-0001", "Where findings move", "How the plans rank", "thin-scans.md"):
        assert told in page
