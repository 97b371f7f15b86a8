"""The recorded sets and tables of votes that come with verifyplan: their names, folders, and claims."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from verifyplan.errors import InputError, Problem, one_of
from verifyplan.frames.vote_tables import VOTE_TABLES
from verifyplan.text import did_you_mean

_INSTALLED = Path(__file__).resolve().parent.parent / "_data"
_CHECKOUT = Path(__file__).resolve().parents[2] / "data"

BUNDLED_SETS = {
    "stdlib-claims": "claims about Python's standard library, both modes, truth known",
    "stdlib-claims/collaborative": "the same claims, collaborative runs only",
    "stdlib-claims/adversarial": "the same claims, adversarial runs only",
    "contract": "one artifact of each schema version and each final state",
    "live-example": "logs of live runs against a server on loopback; no model was asked",
    "live-example/plan": "of these, the plan run",
    "live-example/collaborative": "of these, the panel's collaborative run",
    "live-example/adversarial": "of these, the panel's adversarial runs, repeated",
}
"""The recorded sets, and what each is about."""


def names() -> pd.DataFrame:
    """Return what is bundled: `name, kind, about`.

    Kind `runs`: recorded runs, read by `datasets.runs`; kind `votes`: real votes, read by `datasets.votes`.

    >>> names().groupby("kind")["name"].first().tolist()
    ['stdlib-claims', 'llmbar']
    """
    runs = [(name, "runs", about) for name, about in BUNDLED_SETS.items()]
    votes = [(name, "votes", table.about) for name, table in VOTE_TABLES.items()]
    return pd.DataFrame([*runs, *votes], columns=["name", "kind", "about"])


def path(name: str) -> Path:
    """Return the folder of a bundled set, for the command line and for `load`; of a table of votes its Parquet file.

    Raises InputError for a name that is not bundled.

    >>> path("stdlib-claims").name, path("rte").name
    ('stdlib-claims', 'rte.parquet')
    """
    if name in VOTE_TABLES:
        return data_folder() / "votes" / VOTE_TABLES[name].file
    if name not in BUNDLED_SETS:
        known = [*BUNDLED_SETS, *VOTE_TABLES]
        raise InputError(
            Problem("dataset", f"{name!r} is not bundled{did_you_mean(name, known)}", f"use {one_of(known)}")
        )
    return data_folder() / name


def is_bundled(text: str) -> bool:
    """Return whether a text is the name of a bundled set or table of votes, and not a path.

    >>> is_bundled("contract"), is_bundled("llmbar"), is_bundled("runs")
    (True, True, False)
    """
    return text in {**BUNDLED_SETS, **VOTE_TABLES} and not Path(text).exists()


def data_folder() -> Path:
    """Return the folder of all bundled data: that of the installed package, or of the checkout."""
    return _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT


def claims(name: str = "stdlib-claims") -> pd.DataFrame:
    """Return the findings that the runs of a set were made from, one row a discoverer, truth included.

    Raises InputError for a set that was not made from claims.

    >>> claims().columns.tolist()[:3]
    ['finding_id', 'summary', 'evidence']
    """
    table = path(name.split("/")[0]) / "claims.csv"
    if not table.exists():
        fix = "use 'stdlib-claims' or 'live-example'"
        raise InputError(Problem("dataset", f"{name!r} was not made from claims", fix))
    frame = pd.read_csv(table, dtype={"truth": "boolean"}, keep_default_na=False)
    frame.attrs["synthetic"] = True
    return frame
