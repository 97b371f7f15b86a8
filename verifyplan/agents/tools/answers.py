"""What the tools answer, as a model reads it: numbered lines, hits with their places, commits, notes (rule G4)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from verifyplan.agents.tools.arguments import ReadArguments
from verifyplan.agents.tools.passages import Note
from verifyplan.agents.tools.wording import lines_that_fit, one_line, short_line
from verifyplan.repository.records import Commit, Match
from verifyplan.text import counted

MAX_LINES = 400
"""Lines that Read shows unless the last line is given."""

_MOST_FILES = 10
_LONGEST_PASSAGE = 4_000


class LookupResult(NamedTuple):
    """The text for the model, the number of lines or hits in it, and whether it is a failure."""

    text: str
    results: int = 0
    failed: bool = False


def file_lines(name: str, text: str, asked: ReadArguments) -> LookupResult:
    r"""The lines that were asked for, each behind its number, and how many the file has.

    >>> print(file_lines("a.py", "x\ny\nz\n", ReadArguments(path="a.py", first=2, last=2)).text)
    a.py: line 2 of 3. More: first=3
    2: y
    """
    name, lines = one_line(name), text.removesuffix("\n").split("\n") if text else []
    if not lines:
        return LookupResult(f"{name} is empty")
    if asked.first > len(lines):
        return LookupResult(
            f"{name} has {counted(len(lines), 'line')}; first={asked.first} is behind them", failed=True
        )
    last = min(len(lines), asked.last or asked.first + MAX_LINES - 1)
    wanted = islice(enumerate(lines, 1), asked.first - 1, last)
    found = lines_that_fit(f"{number}: {short_line(line)}" for number, line in wanted)
    end = asked.first + len(found) - 1
    which = f"line {end}" if len(found) == 1 else f"lines {asked.first}-{end}"
    more = f". More: first={end + 1}" if end < len(lines) else ""
    return LookupResult("\n".join([f"{name}: {which} of {len(lines):,}{more}", *found]), len(found))


def search_hits(matches: Sequence[Match], most: int) -> LookupResult:
    """The lines that a search found, as `path:line: text`, and whether there may be more."""
    if not matches:
        return LookupResult("No line matches.")
    found = lines_that_fit(f"{one_line(hit.path)}:{hit.line}: {short_line(hit.text)}" for hit in matches)
    files = len({hit.path for hit in matches[: len(found)]})
    heading = f"{counted(len(found), 'hit')} in {counted(files, 'file')}"
    if len(found) < len(matches) or len(found) == most:
        heading = f"The first {heading}; there may be more: ask for less, or give a path"
    return LookupResult("\n".join([heading, *found]), len(found))


def commit_list(commits: Sequence[Commit]) -> LookupResult:
    """Commits, newest first: date, hash, subject, and up to 10 files each."""
    if not commits:
        return LookupResult("No commit is known that touches this.")
    found = lines_that_fit(_commit(commit) for commit in commits)
    return LookupResult("\n".join([f"{counted(len(found), 'commit')}, newest first", *found]), len(found))


def note_passages(found: Sequence[Note], passages: int) -> LookupResult:
    """Passages of notes, each behind its place; `passages` is how many there are to look in."""
    if not found:
        return LookupResult("No note speaks of that." if passages else "The memory holds no notes.")
    fit = lines_that_fit(f"{one_line(note.path)}:{note.line}\n{_passage(note)}\n" for note in found)
    return LookupResult("\n".join([f"{counted(len(fit), 'passage')} that fit best", *fit]), len(fit))


def _passage(note: Note) -> str:
    whole = "\n".join(map(short_line, note.passage.split("\n")))
    return whole if len(whole) <= _LONGEST_PASSAGE else f"{whole[:_LONGEST_PASSAGE]}... (cut)"


def _commit(commit: Commit) -> str:
    named = ", ".join(map(one_line, commit.files[:_MOST_FILES]))
    left = len(commit.files) - _MOST_FILES
    more = f" and {counted(left, 'other file')}" if left > 0 else ""
    return f"{commit.date[:10]} {commit.hash[:10]} {one_line(commit.subject)}\n    {named}{more}"
