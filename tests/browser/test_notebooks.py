"""Every notebook of this repository in JupyterLab: it runs whole, offline, and is pictured in both themes."""

from __future__ import annotations

import json

import pytest

from tests.browser.accessibility import axe
from tests.browser.notebook_asserts import HELD
from tests.browser.notebook_files import ROOT, copied, with_asserts

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PICTURES = ROOT / "out" / "browser"


@pytest.mark.parametrize("original", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_whole_without_an_error_or_another_host(page, tmp_path, original):
    page.open(with_asserts(copied(tmp_path, original))).run_all()
    for theme in ("light", "dark"):
        page.use_theme(theme)
        page.screenshot(PICTURES / f"{original.stem}-{theme}.png")
        assert axe(page, colors=theme == "dark") == []
    assert page.errors() == []
    assert page.outside == []
    assert page.outputs.count() > 3, "a notebook that shows nothing has not run"


def test_of_each_notebook_something_is_held():
    cells = {cell["id"] for path in NOTEBOOKS for cell in json.loads(path.read_text())["cells"]}
    assert set(HELD) <= cells
    assert {path.stem[:2] for path in NOTEBOOKS} == {name[:2] for name in HELD}
