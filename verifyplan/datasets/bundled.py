"""Fixture sets that come with verifyplan: recorded runs, with the truth of their claims where it is known."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from verifyplan.errors import InputError, Problem, one_of
from verifyplan.frames.load import load
from verifyplan.frames.runset import RunSet
from verifyplan.text import did_you_mean

_INSTALLED = Path(__file__).resolve().parent.parent / "_data"
_CHECKOUT = Path(__file__).resolve().parents[2] / "data"


class _Set(NamedTuple):
    folder: str
    about: str


_SETS = {
    "stdlib-claims": _Set("stdlib-claims", "claims about Python's standard library, both modes, truth known"),
    "stdlib-claims/collaborative": _Set("stdlib-claims/collaborative", "the same claims, collaborative runs only"),
    "stdlib-claims/adversarial": _Set("stdlib-claims/adversarial", "the same claims, adversarial runs only"),
    "contract": _Set("contract", "one artifact of each schema version and each final state"),
    "live-example": _Set("live-example", "logs of live runs against a server on loopback; no model was asked"),
    "live-example/plan": _Set("live-example/plan", "of these, the plan run"),
    "live-example/collaborative": _Set("live-example/collaborative", "of these, the panel's collaborative run"),
    "live-example/adversarial": _Set("live-example/adversarial", "of these, the panel's adversarial runs, repeated"),
}


def names() -> pd.DataFrame:
    """The bundled sets: `name, about`.

    >>> "stdlib-claims" in names()["name"].tolist()
    True
    """
    return pd.DataFrame([{"name": name, "about": one.about} for name, one in _SETS.items()])


def path(name: str) -> Path:
    """The folder of a bundled set, for the command line and for `load`.

    Raises InputError for a name that is not bundled.
    """
    if name not in _SETS:
        raise InputError(
            Problem("dataset", f"{name!r} is not bundled{did_you_mean(name, _SETS)}", f"use {one_of(_SETS)}")
        )
    return (_INSTALLED if _INSTALLED.is_dir() else _CHECKOUT) / _SETS[name].folder


def runs(name: str = "stdlib-claims") -> RunSet:
    """The recorded runs of a bundled set as tables, with truth where it is known.

    Raises InputError for a name that is not bundled.
    """
    loaded = load(path(name))
    return loaded.with_truth(claims(name)) if name.startswith("stdlib-claims") else loaded


def claims(name: str = "stdlib-claims") -> pd.DataFrame:
    """The findings that the runs of a set were made from, one row a discoverer, truth included.

    Raises InputError for a set that was not made from claims.
    """
    table = path(name.split("/")[0]) / "claims.csv"
    if not table.exists():
        fix = "use 'stdlib-claims' or 'live-example'"
        raise InputError(Problem("dataset", f"{name!r} was not made from claims", fix))
    frame = pd.read_csv(table, dtype={"truth": "boolean"}, keep_default_na=False)
    frame.attrs["synthetic"] = True
    return frame
