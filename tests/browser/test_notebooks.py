"""Every notebook of this repository in JupyterLab: it runs whole, offline, and is pictured in both themes."""

from __future__ import annotations

import pytest

from tests.browser.accessibility import axe
from tests.browser.notebook_files import ROOT, copied

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PICTURES = ROOT / "out" / "browser"


@pytest.mark.parametrize("original", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_whole_without_an_error_or_another_host(page, tmp_path, original):
    page.open(copied(tmp_path, original)).run_all()
    for theme in ("light", "dark"):
        page.use_theme(theme)
        page.screenshot(PICTURES / f"{original.stem}-{theme}.png")
        assert axe(page) == []
    assert page.errors() == []
    assert page.outside == []
    assert page.outputs.count() > 3, "a notebook that shows nothing has not run"


def test_there_are_notebooks_to_run():
    assert len(NOTEBOOKS) >= 3
