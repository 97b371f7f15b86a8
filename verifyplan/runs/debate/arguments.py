"""Read what is debated: the task, the documents, the challenges; all problems at once (rule H3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from verifyplan.errors import InputError, Problem, Problems
from verifyplan.files import decode
from verifyplan.protocol.records import Challenge
from verifyplan.runs.arguments import (
    writable,
)

MAX_TASK_CHARACTERS = 1_000_000
"""Every call holds the whole task."""
MAX_NAME_CHARACTERS = 500
"""Characters of a document's name."""


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
        raise InputError(Problem("documents", f"are a {type(documents).__name__}, not a mapping", fix))
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
