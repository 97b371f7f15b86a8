"""Names that the plan has wrong: files, definitions, commands and their arguments."""

from __future__ import annotations

import re

from verifyplan.agents.static.debate.page import Lines, reword
from verifyplan.agents.static.debate.remedies.case import Case

_NEAREST = re.compile(r"^The nearest (?:path in the repository |name )?is `([^`]+)`|^Name `([^`]+)` instead")
_ARMS = re.compile(r"^\s*\(?((?:[\w-]+\s*\|\s*)*[\w-]+)\)", re.MULTILINE)
_KNOWS_NOT = re.compile(r"^(\S+) does not know (\S+), and no step adds it\.$")
_ALIKE = (
    {"rollback", "revert", "undo", "back"},
    {"restore", "load", "import", "bring-back"},
    {"dump", "backup", "save", "export"},
    {"staging", "stage", "stg"},
    {"production", "prod", "live"},
    {"start", "up", "run"},
    {"stop", "down", "halt"},
    {"status", "state", "health", "check"},
)


def rename(case: Case) -> Lines | None:
    """The real name in place of the wrong one: everywhere for files and definitions, else on the finding's line."""
    nearest = _NEAREST.search(case.finding.alternative)
    if nearest is None or not case.names or case.finding.statement is None:
        return None
    kind, real = case.finding.statement.kind, nearest[1] or nearest[2]
    wrong = case.names[-1] if kind == "symbol-elsewhere" else case.names[0]
    everywhere = kind in ("file-missing", "symbol-missing")
    numbers = range(1, len(case.lines) + 1) if everywhere else _sentence_lines(case)
    if kind == "command-missing":
        wrong = wrong.partition(" ")[2] or wrong
    return reword(case.lines, numbers, wrong, real)


def command(case: Case) -> Lines | None:
    """A command that is there in place of one that is not, by its like name; a dry run that is missing is added.

    What any other command or option would do is for a person to say.
    """
    return rename(case) or _argument(case)


def _argument(case: Case) -> Lines | None:
    unknown = _KNOWS_NOT.search(case.finding.concern)
    if unknown is None:
        return None
    path, argument = unknown.groups()
    if not argument.startswith("-"):
        known = _known_words(case, path)
        meant = next((word for words in _ALIKE if argument in words for word in known if word in words), None)
        return reword(case.lines, _sentence_lines(case), argument, meant) if meant else None
    if "dry" not in argument and "simulat" not in argument:
        return None
    says = (
        f"`{path}` gets the option `{argument}`, which does everything but write, and prints what it would change; "
        "a test runs it with the option and without."
    )
    return case.add(says, case.first_change())


def _known_words(case: Case, path: str) -> list[str]:
    """The words that a shell script tells apart."""
    text = "\n".join(case.scene.tools.read(path).lines)[:100_000]
    return [word.strip() for arms in _ARMS.findall(text) for word in arms.split("|")]


def _sentence_lines(case: Case) -> range:
    sentence = case.reading.sentence(case.finding.line)
    return range(sentence.first, sentence.last + 1)
