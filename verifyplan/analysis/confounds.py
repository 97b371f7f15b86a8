"""In what two sets differ beside the reading: what may explain a difference as well as the mode does (rule F1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from verifyplan.analysis.setting import Setting
from verifyplan.frames.runset import RunSet

MAX_SHOWN_VALUES = 5
"""So many names of one side are shown."""

ROUNDS = "rounds allowed"


def recorded_facts(runs: RunSet) -> dict[str, set[Any]]:
    """Return, by the name of each possible confound, the values that a set recorded; none where it recorded nothing."""
    workers = pd.concat([runs.votes["worker"].drop_duplicates(), runs.dispatches["worker"].drop_duplicates()])
    prompts = runs.runs["prompts"].dropna().str.split("; ").explode()
    return {
        "workers": set(workers),
        ROUNDS: set(runs.runs["effective_max_rounds"].dropna().astype("int64")),
        "evidence access": set(runs.runs["verification_mode"].dropna()),
        "backends": set(runs.runs["backend"].dropna()),
        "models": set(runs.calls["model"].dropna()),
        "prompts": set(prompts),
    }


def confounds(a: dict[str, set[Any]], b: dict[str, set[Any]], settings: tuple[Setting, Setting]) -> Iterator[str]:
    """Yield a note for each thing in which two sets are recorded to differ beside the mode of their votes.

    What one side did not record cannot be told, and is passed over. Rounds are no confound where both settings say how
    many are read.
    """
    read_alike = all(setting.max_rounds is not None for setting in settings)
    for name, first in a.items():
        second = b[name]
        if first and second and first != second and not (name == ROUNDS and read_alike):
            sides = [f"{_shown(only)} only in the {side}" for only, side in _only(first, second) if only]
            yield f"Confound, {name}: {'; '.join(sides)}."


def _only(first: set[Any], second: set[Any]) -> list[tuple[set[Any], str]]:
    return [(first - second, "first set"), (second - first, "second set")]


def _shown(values: set[Any]) -> str:
    names = [str(value) for value in sorted(values)]
    more = f" and {len(names) - MAX_SHOWN_VALUES} more" if len(names) > MAX_SHOWN_VALUES else ""
    return ", ".join(names[:MAX_SHOWN_VALUES]) + more
