"""Notebooks for tests: written from the sources of their cells, or copied with the folder they lie in."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[2]
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}}


def notebook(folder: Path, *cells: str, name: str = "test.ipynb") -> Path:
    """A notebook of code cells in the folder."""
    made = nbformat.v4.new_notebook(metadata=KERNEL, cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbformat.write(made, folder / name)
    return folder / name


def copied(folder: Path, original: Path) -> Path:
    """A copy of a notebook of this repository, beside copies of its neighbours, so that nothing is written there."""
    ignored = shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__")
    shutil.copytree(original.parent, folder / "notebooks", ignore=ignored)
    return folder / "notebooks" / original.name
