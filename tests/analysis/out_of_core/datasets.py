"""Datasets to analyse part by part, written without any run file."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from verifyplan.frames.dataset.dataset import Dataset
from verifyplan.frames.dataset.manifest import Manifest, write_manifest
from verifyplan.frames.dataset.part_files import write_part
from verifyplan.frames.dataset.storage import Storage
from verifyplan.frames.runset import RunSet


def dataset_of(runs: RunSet, folder: Path | str, runs_a_part: int = 1) -> Dataset:
    """Write runs as a dataset with so many runs in a part, in their order."""
    storage = Storage.at(folder)
    ids = list(runs.runs["run_id"])
    chunks = [ids[start : start + runs_a_part] for start in range(0, len(ids), runs_a_part)]
    parts = tuple(write_part(storage, runs.select(chunk)) for chunk in chunks)
    write_manifest(storage, Manifest(source="", parts=parts, files=""))
    return Dataset.open(folder)


def in_order(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of findings sorted by its key."""
    return table.sort_values(
        [name for name in ("run_id", "iteration", "finding_id") if name in table], ignore_index=True
    )
