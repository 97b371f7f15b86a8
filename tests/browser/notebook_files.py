"""Notebooks for tests: written from the sources of their cells, or copied with the folder they lie in."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.browser.notebook_asserts import HELD

ROOT = Path(__file__).resolve().parents[2]
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}}


def notebook(folder: Path, *cells: str, name: str = "test.ipynb") -> Path:
    """A notebook of code cells in the folder."""
    empty = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    made = [{**empty, "id": f"cell-{number}", "source": cell} for number, cell in enumerate(cells)]
    # by hand, as to import nbformat takes two seconds, also where these tests are only collected
    written = {"nbformat": 4, "nbformat_minor": 5, "metadata": KERNEL, "cells": made}
    (folder / name).write_text(json.dumps(written))
    return folder / name


def copied(folder: Path, original: Path) -> Path:
    """A copy of a notebook of this repository, beside copies of its neighbours, so that nothing is written there."""
    ignored = shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__")
    shutil.copytree(original.parent, folder / "notebooks", ignore=ignored)
    return folder / "notebooks" / original.name


def with_asserts(path: Path) -> Path:
    """The notebook, in place, with a folded cell of asserts after each cell of which something must hold."""
    written = json.loads(path.read_text())
    cells = []
    for cell in written["cells"]:
        cells.append(cell)
        if code := HELD.get(cell["id"]):
            hidden = {"jupyter": {"source_hidden": True}}
            cells.append({**cell, "id": f"{cell['id']}-held", "metadata": hidden, "source": code.strip()})
    path.write_text(json.dumps(written | {"cells": cells}))
    return path
