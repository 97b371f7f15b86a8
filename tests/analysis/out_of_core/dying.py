"""Functions of parts that end the process they are called in."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verifyplan.analysis.out_of_core.connection import connected

if TYPE_CHECKING:  # a process that dies needs nothing else
    from verifyplan.frames.dataset.dataset import Dataset


def dies_once(part: Dataset, folder: Path) -> list[str]:
    """Return the run ids of a part; the first time that it is called for the last run, its process dies."""
    ids = list(part.runs["run_id"])
    mark = folder / "died"
    if "part-12" in ids and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return ids


def dies(_: object) -> None:
    """Die whatever the part is."""
    os.kill(os.getpid(), signal.SIGKILL)


def where(_: object) -> tuple[int, Any]:
    """Return the process that this is called in, and what is connected there."""
    return os.getpid(), connected()
