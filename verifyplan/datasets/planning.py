"""The sample repository with a `.planning` tree: documents that agents would hand to each other, with flaws."""

from __future__ import annotations

import shutil
from pathlib import Path

from verifyplan.datasets.plans_data import plans_folder
from verifyplan.datasets.plans_repository import sample_repository


def planning_folder() -> Path:
    """Where the tree lies, beside the bundled sets, installed or not; without the repository that it speaks of."""
    return plans_folder().parent / "planning-example"


def sample_planning(folder: str | Path) -> Path:
    """Make the sample repository in a folder that is new or empty, with its `.planning`; the folder.

    The documents are synthetic, and not part of the repository's history. Raises InputError as `sample_repository`
    does.
    """
    made = sample_repository(folder)
    shutil.copytree(planning_folder() / ".planning", made / ".planning")
    return made
