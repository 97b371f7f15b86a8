"""The tools by which an agent opens files, each call counted against its budget and recorded (rules A12, G4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from verifyplan.errors import InputError
from verifyplan.protocol.call import Tool, ToolUse
from verifyplan.repository.records import Match
from verifyplan.repository.repository import Repository
from verifyplan.rules.budgets import Budget, refusal

MAX_AGENT_HITS = 200
"""Hits of one search that an agent is given."""


class FileLines(NamedTuple):
    """The lines of a file, or why there are none."""

    lines: tuple[str, ...]
    refused: str = ""


class SearchHits(NamedTuple):
    """The lines that a search found, or why it was not made."""

    matches: tuple[Match, ...]
    refused: str = ""


class Toolbox:
    """Reads and searches for one agent in one iteration; what is over budget is refused, and says so.

    `documents` are texts that the agent was handed, by name: reading one costs nothing, as it has it already.
    `uses` are all calls in their order, refused ones among them; a file that was read is not paid for twice.
    Source: rule A12, document 000 §9.
    """

    def __init__(self, repository: Repository, documents: Mapping[str, str], budget: Budget) -> None:
        self.uses: list[ToolUse] = []
        self._repository = repository
        self._documents = dict(documents)
        self._budget = budget
        self._used: Counter[Tool] = Counter()
        self._read: dict[str, tuple[str, ...]] = {}

    def read(self, path: str, serves: str = "") -> FileLines:
        """The lines of a document or of a file of the repository; none, with the reason, if it cannot be read."""
        if path in self._documents:
            return FileLines(_lines(self._documents[path]))
        if path in self._read:
            return FileLines(self._read[path])
        refused = self._refused("Read", path, serves)
        if refused:
            return FileLines((), refused)
        lines = self._repository.lines(path)
        self._record("Read", path, serves, results=len(lines or ()))
        if lines is None:
            return FileLines((), f"{path} is no file of the repository that can be read")
        self._read[path] = lines
        return FileLines(lines)

    def grep(self, pattern: str, serves: str = "") -> SearchHits:
        """The lines of the repository that match a pattern, at most 200, in order of path and line."""
        refused, matches = self._refused("Grep", pattern, serves), tuple[Match, ...]()
        if refused:
            return SearchHits((), refused)
        try:
            matches = tuple(self._repository.grep(pattern, limit=MAX_AGENT_HITS))
        except InputError as error:
            refused = str(error)
        self._record("Grep", pattern, serves, results=len(matches))
        return SearchHits(matches, refused)

    def _refused(self, tool: Tool, argument: str, serves: str) -> str:
        """Why a call is refused, which is then recorded; empty where it is allowed."""
        why = refusal(tool, self._used, self._budget)
        if why:
            self.uses.append(ToolUse(tool=tool, argument=argument, serves=serves, refused=why, results=0))
        return why

    def _record(self, tool: Tool, argument: str, serves: str, results: int) -> None:
        self._used[tool] += 1
        self.uses.append(ToolUse(tool=tool, argument=argument, serves=serves, refused="", results=results))


def _lines(text: str) -> tuple[str, ...]:
    """The lines of a document, with any of the three kinds of line end."""
    return tuple(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
