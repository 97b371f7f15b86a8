"""What the tools answer, as a model reads it: numbered lines, hits with their places, commits, notes (rule G4)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from verifyplan.agents.tools.arguments import ReadArguments
from verifyplan.agents.tools.passages import Note
from verifyplan.agents.tools.wording import cut, fitting, shown
from verifyplan.repository.records import Commit, Match
from verifyplan.text import counted

MOST_LINES = 400
"""Lines that Read shows unless the last line is given."""

_MOST_FILES = 10
_LONGEST_PASSAGE = 4_000


class Answer(NamedTuple):
    """The text for the model, the number of lines or hits in it, and whether it is a failure."""

    text: str
    results: int = 0
    failed: bool = False


def numbered(name: str, text: str, asked: ReadArguments) -> Answer:
    r"""The lines that were asked for, each behind its number, and how many the file has.

    >>> print(numbered("a.py", "x\ny\nz\n", ReadArguments(path="a.py", first=2, last=2)).text)
    a.py: line 2 of 3. More: first=3
    2: y
    """
    name, lines = shown(name), text.removesuffix("\n").split("\n") if text else []
    if not lines:
        return Answer(f"{name} is empty")
    if asked.first > len(lines):
        return Answer(f"{name} has {counted(len(lines), 'line')}; first={asked.first} is behind them", failed=True)
    last = min(len(lines), asked.last or asked.first + MOST_LINES - 1)
    wanted = islice(enumerate(lines, 1), asked.first - 1, last)
    found = fitting(f"{number}: {cut(line)}" for number, line in wanted)
    end = asked.first + len(found) - 1
    which = f"line {end}" if len(found) == 1 else f"lines {asked.first}-{end}"
    more = f". More: first={end + 1}" if end < len(lines) else ""
    return Answer("\n".join([f"{name}: {which} of {len(lines):,}{more}", *found]), len(found))


def hits(matches: Sequence[Match], most: int) -> Answer:
    """The lines that a search found, as `path:line: text`, and whether there may be more."""
    if not matches:
        return Answer("No line matches.")
    found = fitting(f"{shown(hit.path)}:{hit.line}: {cut(hit.text)}" for hit in matches)
    files = len({hit.path for hit in matches[: len(found)]})
    heading = f"{counted(len(found), 'hit')} in {counted(files, 'file')}"
    if len(found) < len(matches) or len(found) == most:
        heading = f"The first {heading}; there may be more: ask for less, or give a path"
    return Answer("\n".join([heading, *found]), len(found))


def history(commits: Sequence[Commit]) -> Answer:
    """Commits, newest first: date, hash, subject, and up to 10 files each."""
    if not commits:
        return Answer("No commit is known that touches this.")
    found = fitting(_commit(commit) for commit in commits)
    return Answer("\n".join([f"{counted(len(found), 'commit')}, newest first", *found]), len(found))


def notes(found: Sequence[Note], passages: int) -> Answer:
    """Passages of notes, each behind its place; `passages` is how many there are to look in."""
    if not found:
        return Answer("No note speaks of that." if passages else "The memory holds no notes.")
    fit = fitting(f"{shown(note.path)}:{note.line}\n{_passage(note)}\n" for note in found)
    return Answer("\n".join([f"{counted(len(fit), 'passage')} that fit best", *fit]), len(fit))


def _passage(note: Note) -> str:
    whole = "\n".join(map(cut, note.passage.split("\n")))
    return whole if len(whole) <= _LONGEST_PASSAGE else f"{whole[:_LONGEST_PASSAGE]}... (cut)"


def _commit(commit: Commit) -> str:
    named = ", ".join(map(shown, commit.files[:_MOST_FILES]))
    left = len(commit.files) - _MOST_FILES
    more = f" and {counted(left, 'other file')}" if left > 0 else ""
    return f"{commit.date[:10]} {commit.hash[:10]} {shown(commit.subject)}\n    {named}{more}"
