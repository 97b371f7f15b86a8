"""The arguments of `debate`: each checked, all problems told at once (rules H1, H3)."""

from __future__ import annotations

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
from verifyplan.runs.arguments import backend_of, check_affordable, check_counts, check_timeout, limits_of
from verifyplan.runs.plan.arguments import check_log_dir, folder_of, timeout_problems
from verifyplan.runs.plan.ruling import writable

NAME = "pair"
"""What a pair is called in a log."""


class Pair:
    """Two backends that each play one role of a debate."""

    def __init__(self, architect: Backend, builder: Backend) -> None:
        self.architect, self.builder = architect, builder

    def describe(self) -> dict[str, Any]:
        """Its name, and what each of the two says of itself."""
        return {"name": NAME, **{role: self.player(role).describe() for role in DEBATE_ROLES}}

    def check_worker(self, worker: str) -> str | None:
        """What is wrong: a pair votes on nothing."""
        return f"architect and builder of a debate do not vote, as {worker!r} would"

    def player(self, role: DebateRole) -> Backend:
        """Who plays a role."""
        return self.architect if role == "architect" else self.builder

    async def answer(self, request: DebateRequest) -> Reply:
        """The reply of whoever plays the role."""
        return await self.player(request.role).answer(request)


class ConversingPair(Pair):
    """A pair of which at least one speaks in turns, each of which is recorded."""

    @property
    def max_concurrency(self) -> int:
        """One: the calls of a debate come one after another."""
        return 1

    async def converse(self, request: DebateRequest, turns: Turns) -> Reply:
        """The reply of whoever plays the role, by turns if it speaks in turns."""
        player = self.player(request.role)
        return await (
            player.converse(request, turns) if isinstance(player, ConversingBackend) else player.answer(request)
        )

    def session(self) -> AbstractAsyncContextManager[object]:
        """Holds the connections of both."""
        return _both(self)

    def at(self, root: str | Path) -> Self:
        """The same pair for a debate over another folder."""
        return type(self)(*(_at(self.player(role), root) for role in DEBATE_ROLES))

    def budget_problem(self, limit: str) -> str | None:
        """None if both can keep a limit, else what is missing; a script costs nothing."""
        for role in DEBATE_ROLES:
            player = self.player(role)
            if isinstance(player, ConversingBackend):
                told = player.budget_problem(limit)
            else:
                told = None if isinstance(player, ScriptedBackend) else f"calls of the {role} have no price"
            if told is not None:
                return told
        return None


@asynccontextmanager
async def _both(pair: Pair) -> AsyncIterator[object]:
    async with AsyncExitStack() as stack:
        for role in DEBATE_ROLES:
            await stack.enter_async_context(session_of(pair.player(role)))
        yield None


def _at(player: Backend, root: str | Path) -> Backend:
    return player.at(root) if isinstance(player, ConversingBackend) else player


def paired(architect: Backend, builder: Backend) -> Backend:
    """Both as one backend: the one that plays both roles, else a pair that speaks in turns if one of them does.

    >>> from verifyplan.agents.scripted import ScriptedBackend
    >>> one = ScriptedBackend({})
    >>> paired(one, one) is one, paired(one, ScriptedBackend({})).describe()["name"]
    (True, 'pair')
    """
    if architect is builder:
        return architect
    in_turns = isinstance(architect, ConversingBackend) or isinstance(builder, ConversingBackend)
    return ConversingPair(architect, builder) if in_turns else Pair(architect, builder)


LARGEST = 1_000_000
"""Characters of a task; every call is told it whole."""
LONGEST_NAME = 500
"""Characters of a document's name."""


class DebateArguments(NamedTuple):
    """Arguments that can be used."""

    task: str
    documents: dict[str, str]
    challenges: tuple[Challenge, ...]
    root: Path
    backend: Backend
    limits: Limits


def check_debate_arguments(
    task: object,
    roles: tuple[str | Backend | None, str | Backend | None],
    *,
    root: object,
    documents: object,
    challenges: object,
    counts: Mapping[str, object],
    timeout: float | None,
    limits: Mapping[str, object],
    log_dir: object,
) -> DebateArguments:
    """The task read, the backends of architect and builder made one; InputError listing everything that is wrong.

    `counts` and `limits` are arguments by their names.
    """
    problems = Problems()
    read = problems.of(lambda: _task(task))
    texts = problems.of(lambda: _documents(documents))
    raised = problems.of(lambda: _challenges(challenges))
    folder = problems.of(lambda: folder_of(root, "root", "the task"))
    backend = problems.of(lambda: backend_of_roles(*roles, folder or "."))
    problems.of(lambda: check_counts(**{name: 0 if value is None else value for name, value in counts.items()}))
    problems.of(lambda: _check_timeout(timeout))
    kept = problems.of(lambda: limits_of(**limits))
    problems.of(lambda: check_log_dir(log_dir))
    if backend is not None and kept is not None:
        problems.of(lambda: check_affordable(backend, kept))
    if problems or read is None or texts is None or raised is None or folder is None or backend is None or kept is None:
        raise InputError(problems)
    return DebateArguments(read, texts, raised, folder, backend, kept)


def backend_of_roles(architect: str | Backend | None, builder: str | Backend | None, root: str | Path) -> Backend:
    """Return the backends of both roles as one, made for a folder; without a builder the architect plays both.

    SettingsError naming each role that no backend can play: static agents write nothing.
    """
    problems = Problems()
    first = problems.of(lambda: _backend_of("architect", architect, root))
    both = builder is None or builder is architect
    second = first if both else problems.of(lambda: _backend_of("builder", builder, root))
    if first is None or second is None:
        raise SettingsError(problems)
    return paired(first, second)


WRITERS = "give agents.Anthropic(model), a ScriptedBackend(script), or an object of your own with its methods"
"""What can play a role of a debate."""


def _backend_of(role: str, backend: str | Backend | None, root: str | Path) -> Backend:
    if isinstance(backend, StaticBackend) or backend == "static":
        raise SettingsError(Problem(role, "static agents play no role of a debate: they write nothing", WRITERS))
    if not isinstance(backend, Backend) or isinstance(backend, type):
        got = "none" if backend is None else repr(backend)
        raise SettingsError(Problem(role, f"must be a backend that can write, got {got}", WRITERS))
    return backend_of(backend, (), root)


def _check_timeout(timeout: float | None) -> None:
    check_timeout(timeout)
    if problems := timeout_problems(timeout):  # seconds without end
        raise SettingsError(problems)


def _task(task: object) -> str:
    """The task, read if it is a file; InputError where it says nothing, or holds what no log can."""
    fix = "say what is to be settled, or name a file that does, as a Path"
    if not isinstance(task, str | Path):
        raise InputError(Problem("task", f"is a {type(task).__name__}, not a text", fix))
    text = _file(task) if isinstance(task, Path) else task
    if not text.strip():
        raise InputError(Problem("task", "says nothing", fix))
    if len(text) > LARGEST:
        raise InputError(Problem("task", f"is longer than {LARGEST:,} characters", "say it in fewer words"))
    return _writable(text, "task")


def _file(path: Path) -> str:
    fix = "name a file of text, or give the text itself"
    try:
        with path.open("rb") as stream:
            return decode(stream.read(4 * LARGEST + 1), str(path))
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(Problem("task", f"{str(path)!r} cannot be read ({error})", fix)) from None


def _writable(text: str, place: str) -> str:
    if not writable(text):
        fix = "read the text as UTF-8"
        raise InputError(Problem(place, "holds halves of surrogate pairs, which cannot be written down", fix))
    return text


def _documents(documents: object) -> dict[str, str]:
    """Texts by the names that a diff gives them; InputError listing bad names and what is no text."""
    if documents is None:
        return {}
    if not isinstance(documents, Mapping):
        fix = "give a mapping of names to texts"
        raise InputError(Problem("documents", f"are a {type(documents).__name__}, not a mapping", fix))
    problems: list[Problem] = []
    for name, text in documents.items():
        if not isinstance(name, str) or not _is_name(name):
            fix = "name it as a file under the root, such as PLAN.md"
            problems.append(Problem("documents", f"{str(name)[:LONGEST_NAME]!r} cannot stand in a diff", fix))
        elif not isinstance(text, str) or not writable(text):
            problems.append(Problem(f"documents[{name!r}]", "is no text that can be written down", "give its text"))
    if problems:
        raise InputError(problems)
    return dict(documents)


def _is_name(name: str) -> bool:
    """Whether a diff can name a document so: a relative path that stays where it is, of characters that show."""
    path = PurePosixPath(name)
    inside = not path.is_absolute() and ".." not in path.parts and path.as_posix() == name and name != "."
    return inside and name.isprintable() and len(name) <= LONGEST_NAME


def _challenges(challenges: object) -> tuple[Challenge, ...]:
    fix = "give challenges of a plan run, such as those of `run.state.pool`"
    if isinstance(challenges, str | Mapping) or not isinstance(challenges, Sequence):
        raise InputError(Problem("challenges", f"are a {type(challenges).__name__}, not a list", fix))
    problems, read = Problems(), []
    for number, one in enumerate(challenges):
        try:
            read.append(Challenge.model_validate(one))
        except ValidationError as error:
            problems += [
                Problem(".".join(map(str, (f"challenges[{number}]", *wrong["loc"]))), wrong["msg"], fix)
                for wrong in error.errors(include_url=False)
            ]
    if problems:
        raise InputError(problems)
    return tuple(read)
