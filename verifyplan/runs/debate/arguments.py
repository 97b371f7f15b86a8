"""Check the arguments of `debate`, all problems at once, and make one backend of its two roles (rules C2, G1, H3)."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Self

from pydantic import ValidationError

from verifyplan.agents.base import Backend, ConversingBackend, Turns, session_of
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.agents.static import StaticBackend
from verifyplan.errors import InputError, Problem, Problems, SettingsError
from verifyplan.files import decode
from verifyplan.protocol.call import Reply
from verifyplan.protocol.message import DEBATE_ROLES, DebateRole
from verifyplan.protocol.records import Challenge
from verifyplan.protocol.role_call import DebateRequest
from verifyplan.protocol.settings import Limits
from verifyplan.runs.arguments import (
    check_affordable,
    check_counts,
    check_log_dir,
    check_timeout,
    make_backend,
    read_folder,
    read_limits,
    timeout_problems,
    writable,
)

NAME = "pair"
"""The name of a pair of backends in a log."""

MAX_TASK_CHARACTERS = 1_000_000
"""Every call holds the whole task."""
MAX_NAME_CHARACTERS = 500
"""Characters of a document's name."""


class DebateArguments(NamedTuple):
    """Arguments of a debate that can be used."""

    task: str
    documents: dict[str, str]
    challenges: tuple[Challenge, ...]
    repo: Path
    backend: Backend
    limits: Limits


def check_debate_arguments(
    *,
    task: object,
    architect: str | Backend | None,
    builder: str | Backend | None,
    max_turns: object,
    repo: object,
    documents: object,
    challenges: object,
    timeout: float | None,
    max_tokens: object,
    max_cost: object,
    repetition: object,
    log_dir: object,
    **_: object,
) -> DebateArguments:
    """Check arguments of `debate`, by the names of its parameters; InputError listing everything that is wrong."""
    problems = Problems()
    text = problems.of(lambda: _read_task(task))
    texts = problems.of(lambda: _read_documents(documents))
    raised = problems.of(lambda: _read_challenges(challenges))
    folder = problems.of(lambda: read_folder(repo, "repo", "the task"))
    backend = problems.of(lambda: backend_of_roles(architect, builder, folder or "."))
    counts = {"max_turns": max_turns, "repetition": repetition}
    problems.of(lambda: check_counts(**{name: 0 if value is None else value for name, value in counts.items()}))
    problems.of(lambda: check_timeout(timeout))
    if timeout == math.inf:
        problems += timeout_problems(timeout)
    usable = problems.of(lambda: read_limits(max_tokens=max_tokens, max_cost=max_cost))
    problems.of(lambda: check_log_dir(log_dir))
    if backend is not None and usable is not None:
        problems.of(lambda: check_affordable(backend, usable))
    if problems or None in (text, texts, raised, folder, backend, usable):
        raise InputError(problems)
    return DebateArguments(text, texts, raised, folder, backend, usable)  # type: ignore[arg-type]  # none is None


def _read_task(task: object) -> str:
    """Return the task, read if it is a file; InputError where it is blank, or holds what no log can."""
    fix = "say what is to be settled, or name a file that does, as a Path"
    if not isinstance(task, str | Path):
        raise InputError(Problem("task", f"is a {type(task).__name__}, not a text", fix))
    text = str(task)
    if isinstance(task, Path):
        try:
            with task.open("rb") as stream:
                data = stream.read(4 * MAX_TASK_CHARACTERS + 1)
        except (OSError, ValueError) as error:
            readable = "name a file of text, or give the text itself"
            raise InputError(Problem("task", f"{text!r} cannot be read ({error})", readable)) from None
        text = decode(data, text)
    if not text.strip():
        raise InputError(Problem("task", "is blank", fix))
    if len(text) > MAX_TASK_CHARACTERS:
        raise InputError(Problem("task", f"is longer than {MAX_TASK_CHARACTERS:,} characters", "say it in fewer words"))
    if not writable(text):
        message = "holds halves of surrogate pairs, which cannot be written down"
        raise InputError(Problem("task", message, "read the text as UTF-8"))
    return text


def _read_documents(documents: object) -> dict[str, str]:
    """Return texts by the names that a diff gives them; InputError listing bad names and what is not a text."""
    if documents is None:
        return {}
    if not isinstance(documents, Mapping):
        fix = "give a mapping of names to texts"
        raise InputError(Problem("documents", f"are a {type(documents).__name__}, not a mapping", fix))
    problems: list[Problem] = []
    for name, text in documents.items():
        if not isinstance(name, str) or not _is_document_name(name):
            fix = "name it as a file under the repo, such as PLAN.md"
            problems.append(Problem("documents", f"{str(name)[:MAX_NAME_CHARACTERS]!r} cannot be named in a diff", fix))
        elif not isinstance(text, str) or not writable(text):
            problems.append(Problem(f"documents[{name!r}]", "is not a text that can be written down", "give its text"))
    if problems:
        raise InputError(problems)
    return dict(documents)


def _is_document_name(name: str) -> bool:
    """Return whether a diff can name a document so: a relative path that stays inside, of printable characters."""
    path = PurePosixPath(name)
    inside = not path.is_absolute() and ".." not in path.parts and path.as_posix() == name and name != "."
    return inside and name.isprintable() and len(name) <= MAX_NAME_CHARACTERS


def _read_challenges(challenges: object) -> tuple[Challenge, ...]:
    fix = "give challenges of a plan run, such as those of `run.state.pool`"
    if isinstance(challenges, str | Mapping) or not isinstance(challenges, Sequence):
        raise InputError(Problem("challenges", f"are a {type(challenges).__name__}, not a list", fix))
    problems, read = Problems(), []
    for number, challenge in enumerate(challenges):
        try:
            read.append(Challenge.model_validate(challenge))
        except ValidationError as error:
            problems += [
                Problem(".".join(map(str, (f"challenges[{number}]", *detail["loc"]))), detail["msg"], fix)
                for detail in error.errors(include_url=False)
            ]
    if problems:
        raise InputError(problems)
    return tuple(read)


def backend_of_roles(architect: str | Backend | None, builder: str | Backend | None, repo: str | Path) -> Backend:
    """Return the backends of both roles as one, made for a folder; without a builder the architect plays both.

    SettingsError naming each role that no backend can play: static agents write nothing.
    """
    problems = Problems()
    first = problems.of(lambda: _role_backend("architect", architect, repo))
    both = builder is None or builder is architect
    second = first if both else problems.of(lambda: _role_backend("builder", builder, repo))
    if first is None or second is None:
        raise SettingsError(problems)
    return paired(first, second)


def _role_backend(role: str, backend: str | Backend | None, repo: str | Path) -> Backend:
    fix = "give agents.Anthropic(model), a ScriptedBackend(script), or an object of your own with its methods"
    if isinstance(backend, StaticBackend) or backend == "static":
        raise SettingsError(Problem(role, "static agents play no role of a debate: they write nothing", fix))
    if not isinstance(backend, Backend) or isinstance(backend, type):
        got = "none" if backend is None else repr(backend)
        raise SettingsError(Problem(role, f"must be a backend that can write, got {got}", fix))
    return make_backend(backend, (), repo)


def paired(architect: Backend, builder: Backend) -> Backend:
    """Return both as one backend: the one that plays both roles, else a pair that speaks in turns if one of them does.

    >>> from verifyplan.agents.scripted import ScriptedBackend
    >>> both = ScriptedBackend({})
    >>> paired(both, both) is both, paired(both, ScriptedBackend({})).describe()["name"]
    (True, 'pair')
    """
    if architect is builder:
        return architect
    in_turns = isinstance(architect, ConversingBackend) or isinstance(builder, ConversingBackend)
    return ConversingPair(architect, builder) if in_turns else Pair(architect, builder)


class Pair:
    """Two backends that each play one role of a debate."""

    def __init__(self, architect: Backend, builder: Backend) -> None:
        self.architect, self.builder = architect, builder

    def describe(self) -> dict[str, Any]:
        """Return the name, and the description of each of the two."""
        return {"name": NAME, **{role: self.player(role).describe() for role in DEBATE_ROLES}}

    def check_worker(self, worker: str) -> str | None:
        """Return why it plays no worker: a pair votes on nothing."""
        return f"architect and builder of a debate do not vote, as {worker!r} would"

    def player(self, role: DebateRole) -> Backend:
        """Return the backend that plays a role."""
        return self.architect if role == "architect" else self.builder

    async def answer(self, request: DebateRequest) -> Reply:
        """Return the reply of the backend that plays the role."""
        return await self.player(request.role).answer(request)


class ConversingPair(Pair):
    """A pair of which at least one speaks in turns, each of which is recorded."""

    @property
    def max_concurrency(self) -> int:
        """One: the calls of a debate come one after another."""
        return 1

    async def converse(self, request: DebateRequest, turns: Turns) -> Reply:
        """Return the reply of the backend that plays the role, by turns if it speaks in turns."""
        player = self.player(request.role)
        return await (
            player.converse(request, turns) if isinstance(player, ConversingBackend) else player.answer(request)
        )

    def session(self) -> AbstractAsyncContextManager[object]:
        """Hold the connections of both."""

        @asynccontextmanager
        async def both() -> AsyncIterator[object]:
            async with AsyncExitStack() as stack:
                for role in DEBATE_ROLES:
                    await stack.enter_async_context(session_of(self.player(role)))
                yield None

        return both()

    def at(self, repo: str | Path) -> Self:
        """Return the same pair for a debate over another folder."""
        players = [self.player(role) for role in DEBATE_ROLES]
        return type(self)(*(p.at(repo) if isinstance(p, ConversingBackend) else p for p in players))

    def budget_problem(self, limit: str) -> str | None:
        """Return None if both can keep a limit, else what is missing; a script costs nothing."""
        for role in DEBATE_ROLES:
            player = self.player(role)
            problem = None if isinstance(player, ScriptedBackend) else f"calls of the {role} have no price"
            if isinstance(player, ConversingBackend):
                problem = player.budget_problem(limit)
            if problem is not None:
                return problem
        return None
