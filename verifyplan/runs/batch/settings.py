"""The arguments that every batch has: the backend, a folder, and the settings of the runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from verifyplan.agents.base import Backend, ModelBackend
from verifyplan.errors import Problem, SettingsError
from verifyplan.text import did_you_mean


def batching(backend: str | Backend) -> ModelBackend:
    """The backend, if its requests can go in batches; else SettingsError."""
    if isinstance(backend, ModelBackend):
        return backend
    name = repr(backend) if isinstance(backend, str) else type(backend).__name__
    fix = "give agents.Anthropic(model=...); `verify` and `crossverify` take any backend"
    raise SettingsError(Problem("backend", f"{name} has no message batches", fix))


def expect_folder(name: str, folder: object) -> Path:
    """The folder of the logs, without which a batch could not go on; SettingsError if there is none."""
    if isinstance(folder, str | Path) and "\0" not in str(folder):
        return Path(folder)
    fix = "name a folder: a batch may take a day, and goes on from its logs"
    raise SettingsError(Problem(name, f"{folder!r} is no folder's name", fix))


def settings_for(one_run: Callable[..., Any], given: Mapping[str, Any], own: tuple[str, ...]) -> dict[str, Any]:
    """The settings of `one_run` that a batch hands on, with their defaults; `own` are those that it sets itself.

    SettingsError listing what is no setting, and what the batch sets.
    """
    keywords = {p.name: p.default for p in signature(one_run).parameters.values() if p.kind is Parameter.KEYWORD_ONLY}
    known = {name: default for name, default in keywords.items() if name not in own}
    problems = []
    for name in given:
        if name in own:
            problems.append(Problem(name, "is set by the batch itself: each run is one of many", "leave it out"))
        elif name not in known:
            fix = f"use one of {', '.join(known)}"
            problems.append(Problem(name, f"is no setting of {one_run.__name__}{did_you_mean(name, known)}", fix))
    if problems:
        raise SettingsError(problems)
    return known | dict(given)
