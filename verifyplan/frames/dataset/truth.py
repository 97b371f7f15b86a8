"""The truth of findings in a file beside the runs that are compiled (rule E5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256

import pandas as pd

from verifyplan.errors import InputError, Problem
from verifyplan.frames.dataset.dataset import with_truths
from verifyplan.frames.dataset.storage import Storage
from verifyplan.frames.runset import RunSet
from verifyplan.frames.table_files import TRUTH_COLUMNS, TRUTH_FILES, table_of


@dataclass(frozen=True)
class TruthFile:
    """A file of truth as it was when it was read; without a name there is none."""

    name: str = ""
    """Its name in the folder of runs."""
    digest: str = ""
    """The digest of its bytes."""
    table: pd.DataFrame | None = None
    """Its rows."""

    def fill(self, runs: RunSet) -> RunSet:
        """Return runs with the truth of the findings that the file names; raises as `RunSet.with_truth`."""
        return runs if self.table is None else replace(runs, findings=with_truths(runs.findings, [self.table]))


def truth_beside(source: str) -> TruthFile:
    """Return the file of truth in a folder of runs, at any address; one without a name where there is none.

    A `claims.csv` that says nothing of truth, such as claims that workers vote on, is passed over. Raises InputError
    for another file that cannot be read, or has not both columns.
    """
    folder = Storage.at(source)
    for name in TRUTH_FILES:
        if not folder.exists(name):
            continue
        data = folder.read(name)
        table = table_of(data, name)
        absent = [column for column in TRUTH_COLUMNS if column not in table]
        if not absent:
            return TruthFile(name, sha256(data).hexdigest(), table)
        if name != "claims.csv":
            message = f"there is no column {absent[0]!r}"
            raise InputError(Problem(folder.path(name), message, "give it finding_id and truth, or rename it"))
    return TruthFile()
