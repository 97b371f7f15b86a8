"""`debate`: architect and builder settle a change turn by turn; from the arguments to the run (part C of the rules)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from verifyplan.agents.base import Backend
from verifyplan.errors import InputError, Problem, Problems
from verifyplan.files import decode
from verifyplan.protocol.event import Sink
from verifyplan.protocol.event_run import DebateInputs, RunStarted
from verifyplan.protocol.records import Challenge
from verifyplan.repository.repository import Repository
from verifyplan.rules.debate import MAX_TURNS
from verifyplan.runs.arguments import (
    check_affordable,
    check_booleans,
    check_counts,
    check_log_dir,
    check_timeout,
    read_folder,
    read_limits,
    writable,
)
from verifyplan.runs.debate.loop import drive_debate
from verifyplan.runs.debate.pair import backend_of_roles
from verifyplan.runs.debate.run import Debate
from verifyplan.runs.start import describe_repository, driven, open_log, start_event

LOG_STEM = "debate"
"""The name of a debate's log, before its number."""

MAX_TITLE_CHARACTERS = 100
"""Characters of the task's first line that name the run."""


MAX_TASK_CHARACTERS = 1_000_000
"""Every call holds the whole task."""
MAX_NAME_CHARACTERS = 500
"""Characters of a document's name."""


@dataclass(frozen=True)
class PreparedDebate:
    """A debate whose arguments were read; nothing is written and no agent is called before it is driven."""

    started: RunStarted
    """Its first event, with its settings and inputs."""
    backend: Backend
    """Who plays both roles, made for the folder."""
    log_dir: str | Path | None
    """The folder of its log; None writes nothing."""
    sink: Sink | None = None
    progress: bool | None = None

    def drive(self) -> Debate:
        """Drive the debate to its end, and write its log."""
        with open_log(self.log_dir, LOG_STEM, self.sink) as log:
            drive_debate(self.started, self.backend, log.recorder, self.progress)
        return Debate(log.recorder.finished(), log.path, log.run_id)


# `driven` drives what this body prepares: callers get a Debate, as the docstring says.
@driven(Debate)
def debate(
    task: str | Path,
    architect: Backend | None = None,
    builder: Backend | None = None,
    max_turns: int = MAX_TURNS,
    *,
    repo: str | Path = ".",
    documents: Mapping[str, str] | None = None,
    challenges: Sequence[Challenge] = (),
    timeout: float | None = 600.0,
    max_tokens: int | None = None,
    max_cost: Decimal | str | float | None = None,
    repetition: int = 1,
    log_dir: str | Path | None = "runs",
    sink: Sink | None = None,
    progress: bool | None = None,
    synthetic: bool = False,
) -> PreparedDebate:
    r"""Let an architect and a builder settle a change turn by turn: propose or critique, implement, verify.

    Rules alone end it: the diff equals that of the turn before, the architect's verification begins with `Verified`, or
    the turns are used up. No call is repeated to change an outcome. Call it from a script or a notebook alike;
    code that awaits calls it through `asyncio.to_thread`. Source: rules C1-C4.

    Args:
        task: what to settle, as a text, or a `Path` to a file that contains it.
        architect: who proposes, criticises and verifies: `agents.Anthropic`, a `ScriptedBackend`, or any object with
            the methods of `agents.base.Backend`. The static agents write nothing and cannot play a role.
        builder: who writes the diff; by default the architect.
        max_turns: the last turn, 3 unless you say more here: longer debates drift.
        repo: the folder that the task is about; it is only read, and no diff is applied to it.
        documents: texts under debate beside its files, by the name that a diff gives them.
        challenges: the open challenges of a plan that is revised.
        timeout: seconds that one call may take; None for no limit.
        max_tokens: tokens, in and out, after which no call is made and the debate ends without a status.
        max_cost: US dollars after which no call is sent; only with backends that know their prices.
        repetition: the number of this debate among debates of the same task and settings, from 1.
        log_dir: the folder of the run log; None writes none, and such a debate cannot be resumed.
        sink: a function that is called with each event as it happens; an error that it raises ends the run.
        progress: whether to show progress; by default in a terminal or a notebook.
        synthetic: whether to mark the debate as one whose task or answers were generated.

    Returns:
        A `Debate`: `.status`, `.reason`, `.turns`, `.diff`, `.log`, `.frames`, `.state`, `.log_path`.

    Raises:
        InputError: for a task, backend, folder or setting that cannot be used, listing all problems.

    >>> from verifyplan.agents.scripted import ScriptedBackend
    >>> script = {
    ...     "t1/propose": {"content": "Say hello."},
    ...     "t1/verify": {"content": "Verified: it does."},
    ... }
    >>> script["t1/implement"] = {
    ...     "content": "Done.",
    ...     "diff": "--- /dev/null\n+++ b/hello\n@@ -0,0 +1 @@\n+hello\n",
    ... }
    >>> both = ScriptedBackend(script)
    >>> print(debate("greet", both, log_dir=None))
    CONVERGED (VERIFIED) in turn 1 of at most 3: greet
    turn 1
      architect proposes: Say hello.
      builder implements (diff of 4 lines): Done.
      architect verifies: Verified: it does.
    """
    problems = Problems()
    text = problems.of(lambda: read_task(task))
    texts = problems.of(lambda: read_documents(documents))
    raised = problems.of(lambda: read_challenges(challenges))
    folder = problems.of(lambda: read_folder(repo, "repo", "the task"))
    pair = problems.of(lambda: backend_of_roles(architect, builder, folder or ".", repetition))
    problems.of(lambda: check_counts(max_turns=max_turns, repetition=repetition))
    problems.of(lambda: check_booleans(synthetic=synthetic))
    problems.of(lambda: check_timeout(timeout))
    limits = problems.of(lambda: read_limits(max_tokens=max_tokens, max_cost=max_cost))
    problems.of(lambda: check_log_dir(log_dir))
    if pair is not None and limits is not None:
        problems.of(lambda: check_affordable(pair, limits))
    if problems or text is None or texts is None or raised is None or folder is None or pair is None or limits is None:
        raise InputError(problems)
    inputs = DebateInputs(
        task=text,
        documents=texts,
        challenges=raised,
        max_turns=max_turns,
        timeout=timeout,
        limits=limits,
        repository=describe_repository(Repository.open(folder)),
    )
    title = text.strip().splitlines()[0].strip()[:MAX_TITLE_CHARACTERS]
    started = start_event(title, inputs, pair, synthetic=synthetic, repetition=repetition)
    return PreparedDebate(started, pair, log_dir, sink, progress)


def read_task(task: object) -> str:
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


def read_documents(documents: object) -> dict[str, str]:
    """Return texts by the names that a diff gives them; InputError listing bad names and what is not a text."""
    if documents is None:
        return {}
    if not isinstance(documents, Mapping):
        fix = "give a mapping of names to texts"
        raise InputError(Problem("documents", f"must be a mapping, got a {type(documents).__name__}", fix))
    problems = Problems()
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


def read_challenges(challenges: object) -> tuple[Challenge, ...]:
    """Return the challenges of a list; InputError listing every field that does not fit."""
    fix = "give challenges of a plan run, such as those of `run.state.pool`"
    if isinstance(challenges, str | Mapping) or not isinstance(challenges, Sequence):
        raise InputError(Problem("challenges", f"must be a list, got a {type(challenges).__name__}", fix))
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
