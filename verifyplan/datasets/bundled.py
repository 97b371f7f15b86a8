"""Data that comes with verifyplan: recorded runs with the truth of their claims, scripted debates, made-up scores."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import ValidationError

from verifyplan.errors import InputError, Problem, SettingsError, one_of
from verifyplan.files import decode
from verifyplan.frames.bundled import data_folder
from verifyplan.frames.load import load_bundled
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.base import Model
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.text import did_you_mean

M = TypeVar("M", bound=Model)
Bools = npt.NDArray[np.bool_]


def runs(name: str = "stdlib-claims") -> RunSet:
    """Return the recorded runs of a bundled set as tables, with truth where it is known.

    `llmbar` and its parts are tables of real votes (`datasets.votes`), read here as verification votes. Each pair is a
    run of four findings, both claims in both orders of the outputs: who finds the claimed output better agrees.

    Raises InputError for a name that is not bundled, and for other tables of votes.

    >>> runs("contract")
    RunSet(15 runs, 27 findings, 84 votes, 21 rounds, 51 dispatches)
    """
    return load_bundled(name)


def plans_folder() -> Path:
    """Return the folder of the labelled plans: labels, plans, and the repository with its history."""
    return data_folder() / "plans"


def planning_folder() -> Path:
    """Return the folder of the `.planning` example, without the repository that it speaks of."""
    return data_folder() / "planning-example"


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
    return data_folder() / "debates" / f"{name}.json"


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
    _expect_number(n, "plans")
    rng = np.random.default_rng(seed)
    quality = rng.normal(6.5, 1.5, size=(n, 1))
    scores = np.clip(np.rint(quality + rng.normal(0, 1.6, size=(n, len(DIMENSIONS)))), 1, 10)
    overall = np.clip(np.rint((scores @ np.array(EXAMPLE_WEIGHTS) + rng.normal(0, 0.5, size=n)) * 2) / 2, 1, 10)
    plans = pd.Index([f"plan-{number:02d}" for number in range(1, n + 1)], name="plan")
    table = pd.DataFrame(scores, index=plans, columns=list(DIMENSIONS)).assign(overall=overall)
    table.attrs["synthetic"] = True
    return table


EXAMPLE_JUDGES = {"ada": 0.88, "ben": 0.85, "cleo": 0.82, "dan": 0.8, "eve": 0.52}
"""How often each judge of the example votes is right in its first round; 30 points less on hard claims, a fifth."""


def example_votes(n: int = 200, seed: int = 7) -> pd.DataFrame:
    """Return made-up votes, one row a vote: five judges, `n` claims, two rounds, asked in two modes.

    Columns: `mode, claim, judge, round, answer, truth`; answers and truth are yes and no. In the second round a judge
    in the minority takes the other side in three of ten cases. Asked in the adversarial mode, judges answer no in
    a quarter of the cases in which they would have said yes. One judge is hardly better than a coin. Nobody voted:
    `attrs["synthetic"]` is True. Raises SettingsError for less than one claim.

    >>> example_votes(2)["mode"].unique().tolist(), example_votes(200).shape
    (['collaborative', 'adversarial'], (4000, 6))
    """
    _expect_number(n, "claims")
    rng = np.random.default_rng(seed)
    truth, hard = rng.random((n, 1)) < 0.5, rng.random((n, 1)) < 0.2
    answers = np.stack([_example_answers(truth, hard, doubt, rng) for doubt in (0, 0.25)])
    mode, round, claim, judge = (index.ravel() for index in np.indices(answers.shape))
    words = np.array(["no", "yes"])
    columns = {
        "mode": np.array(["collaborative", "adversarial"])[mode],
        "claim": [f"claim-{number:03d}" for number in claim + 1],
        "judge": np.array(list(EXAMPLE_JUDGES))[judge],
        "round": round + 1,
        "answer": words[answers.ravel().astype(int)],
        "truth": words[truth.ravel().astype(int)[claim]],
    }
    table = pd.DataFrame(columns)
    table.attrs["synthetic"] = True
    return table


def _expect_number(n: object, things: str) -> None:
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise SettingsError(Problem("n", f"must be an integer of at least 1, got {n!r}", f"name a number of {things}"))


def _example_answers(truth: Bools, hard: Bools, doubt: float, rng: np.random.Generator) -> Bools:
    """Return answers of shape (rounds, claims, judges), of claims that are true or not, hard or not."""
    shape = (len(truth), len(EXAMPLE_JUDGES))
    first = truth == (rng.random(shape) < np.array(list(EXAMPLE_JUDGES.values())) - 0.3 * hard)
    first &= rng.random(shape) >= doubt
    majority = first.sum(axis=1, keepdims=True) * 2 > shape[1]
    return np.stack([first, np.where(rng.random(shape) < 0.3, majority, first)])
