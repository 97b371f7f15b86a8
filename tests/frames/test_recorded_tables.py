"""Bundled artifacts give the tables and the classes that they gave when these were recorded (rules B6, B9, E4).

`python -m tests.frames.test_recorded_tables` records them anew: do so only where a table is meant to change.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import verifyplan as vp
from verifyplan.frames.columns import FIRST_TABLES

RECORDED = Path(__file__).with_name("recorded_tables.json")
SETS = ("contract", "stdlib-claims/adversarial", "stdlib-claims/collaborative")


def facts(name: str) -> dict[str, Any]:
    """Return the digest of each table, paths left out, and how many findings each mode puts into each class."""
    runs = vp.load(vp.datasets.path(name))
    tables = {table: getattr(runs, table).drop(columns="source", errors="ignore") for table in FIRST_TABLES}
    digests = {
        table: hashlib.sha256(frame.to_csv(lineterminator="\n").encode()).hexdigest() for table, frame in tables.items()
    }
    classes = {
        mode: vp.classify(runs.votes, mode=mode, missing_basis="infer")["classification"].value_counts().to_dict()
        for mode in ("collaborative", "adversarial")
    }
    return {"tables": digests, "classes": classes}


@pytest.mark.parametrize("name", SETS)
def test_bundled_artifacts_give_the_tables_and_classes_that_are_recorded(name):
    assert facts(name) == json.loads(RECORDED.read_text(encoding="utf-8"))[name]


if __name__ == "__main__":
    RECORDED.write_text(json.dumps({name: facts(name) for name in SETS}, indent=1) + "\n", encoding="utf-8")
