"""Data that comes with verifyplan: recorded runs with the truth of their claims, scripted debates, made-up scores."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
from pydantic import ValidationError

from verifyplan.errors import InputError, Problem, SettingsError, one_of
from verifyplan.files import decode
from verifyplan.frames.load import load
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.base import Model
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.text import did_you_mean

M = TypeVar("M", bound=Model)

_INSTALLED = Path(__file__).resolve().parent.parent / "_data"
_CHECKOUT = Path(__file__).resolve().parents[2] / "data"

_SETS = {
    "stdlib-claims": "claims about Python's standard library, both modes, truth known",
    "stdlib-claims/collaborative": "the same claims, collaborative runs only",
    "stdlib-claims/adversarial": "the same claims, adversarial runs only",
    "contract": "one artifact of each schema version and each final state",
    "live-example": "logs of live runs against a server on loopback; no model was asked",
    "live-example/plan": "of these, the plan run",
    "live-example/collaborative": "of these, the panel's collaborative run",
    "live-example/adversarial": "of these, the panel's adversarial runs, repeated",
}


def names() -> pd.DataFrame:
    """Return the bundled sets: `name, about`.

    >>> "stdlib-claims" in names()["name"].tolist()
    True
    """
    return pd.DataFrame([{"name": name, "about": about} for name, about in _SETS.items()])


def path(name: str) -> Path:
    """Return the folder of a bundled set, for the command line and for `load`.

    Raises InputError for a name that is not bundled.
    """
    if name not in _SETS:
        raise InputError(
            Problem("dataset", f"{name!r} is not bundled{did_you_mean(name, _SETS)}", f"use {one_of(_SETS)}")
        )
    return _data_folder() / name


def _data_folder() -> Path:
    return _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT


def runs(name: str = "stdlib-claims") -> RunSet:
    """Return the recorded runs of a bundled set as tables, with truth where it is known.

    Raises InputError for a name that is not bundled.
    """
    loaded = load(path(name))
    return loaded.with_truth(claims(name)) if name.startswith("stdlib-claims") else loaded


def claims(name: str = "stdlib-claims") -> pd.DataFrame:
    """Return the findings that the runs of a set were made from, one row a discoverer, truth included.

    Raises InputError for a set that was not made from claims.
    """
    table = path(name.split("/")[0]) / "claims.csv"
    if not table.exists():
        fix = "use 'stdlib-claims' or 'live-example'"
        raise InputError(Problem("dataset", f"{name!r} was not made from claims", fix))
    frame = pd.read_csv(table, dtype={"truth": "boolean"}, keep_default_na=False)
    frame.attrs["synthetic"] = True
    return frame


def plans_folder() -> Path:
    """Return the folder of the labelled plans: labels, plans, and the repository with its history."""
    return _data_folder() / "plans"


def planning_folder() -> Path:
    """Return the folder of the `.planning` example, without the repository that it speaks of."""
    return _data_folder() / "planning-example"


def read_data(model: type[M], file: Path) -> M:
    """Return a bundled JSON file as the model that it must fit; InputError lists what does not."""
    text = decode(file.read_bytes(), file.name)
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise InputError(
            Problem(f"{file.name}: {'.'.join(map(str, detail['loc']))}", detail["msg"], "install verifyplan again")
            for detail in error.errors()
        ) from None


DEBATES = {
    "readme-section": "add a README section on local development",
    "purge-stop": "make the purge stop at 04:00, and say so in docs/runbook.md",
    "excel-export": "settle what is open about the plan excel-export, for `revise`",
}
"""The scripted debates, and the task of each."""


def debate_script(name: str) -> Path:
    """Return the JSON file of a scripted debate, for `ScriptedBackend` or `verifyplan debate --script`.

    Its diffs apply to `sample_repository`, that of `excel-export` to the labelled plan of that name; task and answers
    are synthetic. `DEBATES` has the tasks. InputError for an unknown name.

    >>> debate_script("readme-section").name
    'readme-section.json'
    """
    if name not in DEBATES:
        fix = f"use {one_of(DEBATES)}"
        raise InputError(Problem("name", f"must be a scripted debate, got {name!r}{did_you_mean(name, DEBATES)}", fix))
    return _data_folder() / "debates" / f"{name}.json"


EXAMPLE_WEIGHTS = (0.35, 0.25, 0.10, 0.10, 0.15, 0.05)
"""The weight of each dimension in the overall scores, in the order of the dimensions: the result a fit should have."""


def example_scores(n: int = 40, seed: int = 7) -> pd.DataFrame:
    """Return scores from 1 to 10 of `n` made-up plans, one row a plan, one column a dimension, and a column `overall`.

    A plan has a quality of its own, each dimension strays from it by itself, and `overall` is what somebody would
    say who weighs the dimensions 35, 25, 10, 10, 15, 5 % and strays by about half a point. Nobody scored anything:
    `attrs["synthetic"]` is True. Raises SettingsError for less than one plan.

    >>> example_scores(3).shape, example_scores(3).attrs
    ((3, 7), {'synthetic': True})
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise SettingsError(Problem("n", f"must be an integer of at least 1, got {n!r}", "name a number of plans"))
    rng = np.random.default_rng(seed)
    quality = rng.normal(6.5, 1.5, size=(n, 1))
    scores = np.clip(np.rint(quality + rng.normal(0, 1.6, size=(n, len(DIMENSIONS)))), 1, 10)
    overall = np.clip(np.rint((scores @ np.array(EXAMPLE_WEIGHTS) + rng.normal(0, 0.5, size=n)) * 2) / 2, 1, 10)
    plans = pd.Index([f"plan-{number:02d}" for number in range(1, n + 1)], name="plan")
    table = pd.DataFrame(scores, index=plans, columns=list(DIMENSIONS)).assign(overall=overall)
    table.attrs["synthetic"] = True
    return table
