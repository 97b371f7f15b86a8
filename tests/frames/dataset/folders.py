"""Folders of small runs to compile, and what a dataset of them must equal."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tests.frames.artifacts import as_bytes, sound
from verifyplan.frames.dataset.part_files import sorted_votes
from verifyplan.frames.runset import TABLE_NAMES, RunSet


def write_run(folder: Path, name: str, *, explanation: str = "holds") -> Path:
    """Write one artifact; the explanation of its first agree tells one version from another."""
    artifact = sound()
    artifact["findings"][0]["rounds"][0]["votes"]["bob"]["explanation"] = explanation
    path = folder / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(as_bytes(artifact))
    return path


def expect_equal(dataset: RunSet, runs: RunSet) -> None:
    """Check that two sets have the same tables, whatever the order of the runs and their folder."""
    for name in TABLE_NAMES:
        first, second = (_by_run(name, getattr(each, name)) for each in (dataset, runs))
        pd.testing.assert_frame_equal(first, second)


def _by_run(name: str, table: pd.DataFrame) -> pd.DataFrame:
    if name == "runs":
        table = table.assign(source=table["source"].str.rpartition("/")[2])
    table = table.sort_values("run_id", kind="stable").reset_index(drop=True)
    if name == "calls":  # parts are read apart, so that what another run holds is not known in them
        return table.drop(columns="run_repeated")
    return sorted_votes(table) if name == "votes" else table
