"""Make the backend of a run, and check that it can play the workers and keep the limits (rules H1, H3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from verifyplan.agents.base import Backend, ConversingBackend, RepeatableBackend
from verifyplan.agents.static import StaticBackend
from verifyplan.errors import InputError, Problem, SettingsError
from verifyplan.protocol.settings import Limits
from verifyplan.runs.arguments import Workers


def make_backend(backend: str | Backend, workers: Workers, repo: str | Path, repetition: int = 1) -> Backend:
    """Return the backend of a name, or the backend itself, for a folder and one of several runs of the same inputs.

    SettingsError, InputError for a bad one.
    """
    if not isinstance(backend, Backend) or isinstance(backend, type):
        if backend != "static":
            fix = "use 'static', or pass a backend object: agents.Anthropic(model=...), ScriptedBackend(script)"
            raise SettingsError(Problem("backend", f"{backend!r} is unknown", fix))
    elif not isinstance(backend, ConversingBackend):
        return backend
    if not Path(repo).is_dir():
        raise InputError(Problem("repo", f"{str(repo)!r} is not a folder", "name the folder that evidence cites"))
    if isinstance(backend, ConversingBackend):
        bound = backend.at(repo)
        return bound.in_repetition(repetition) if isinstance(bound, RepeatableBackend) else bound
    return StaticBackend(repo, workers if isinstance(workers, Mapping) else None)


def bind_backend(
    backend: str | Backend, workers: Workers, repo: str | Path, limits: Limits, repetition: int = 1
) -> Backend:
    """Return the backend of a run: for its folder and repetition, able to play its workers and to keep its limits.

    SettingsError, InputError for a backend that is unknown or cannot do one of these.
    """
    bound = make_backend(backend, workers, repo, repetition)
    check_workers(bound, list(workers))
    check_affordable(bound, limits)
    return bound


def check_workers(backend: Backend, roster: Sequence[str]) -> None:
    """Raise a SettingsError that lists every worker the backend cannot play."""
    if messages := [message for worker in roster if (message := backend.check_worker(worker))]:
        fix = "rename the worker, or map its name to one that the backend can play"
        raise SettingsError(Problem("workers", message, fix) for message in messages)


def check_affordable(backend: Backend, limits: Limits) -> None:
    """Raise a SettingsError where the run is to end at a cost, and the backend cannot tell what its calls cost."""
    if limits.max_cost is None:
        return
    problem: str | None = "its calls have no price"
    if isinstance(backend, ConversingBackend):
        problem = backend.budget_problem("max_cost")
    if problem:
        fix = "give the backend prices=, or end the run by max_tokens"
        raise SettingsError(Problem("max_cost", f"cannot be kept: {problem}", fix))
