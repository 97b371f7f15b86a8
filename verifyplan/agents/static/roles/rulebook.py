"""The project's rules as whole sentences with their names: list items and paragraphs of its rules files (SPEC G2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from verifyplan.agents.static.roles.issues import Place
from verifyplan.agents.static.roles.scene import Scene

MOST_FILES = 4
"""Rules files that are read, in order of their paths, those nearest the root first."""

_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(.*)")
_NAME = re.compile(r"\**([A-Z]{1,4}-?\d{1,3})\**[.:)]\s+")
_TICKED = re.compile(r"`([^`]{1,200})`")
_NEGATIVE = re.compile(
    r"\b(?:never|none|do not|don't|must not|may not|shall not|cannot|no one|nobody|nothing else|not allowed"
    r"|forbidden|avoid)\b",
    re.IGNORECASE,
)
_GENERAL = re.compile(
    r"\b(?:all|every|each|any|always|only|must|has to|have to|should|needs?|requires?|takes?|goes?|come[s]? "
    r"with|first|is (?:added|changed|written|removed)|are (?:added|changed|written)|goes with|in the same)\b"
    r"|\bnew\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Rule:
    """One rule: the whole item, the line where it begins and what stands there, and the file's folder as its scope."""

    path: str
    line: int
    text: str
    first: str

    @property
    def name(self) -> str:
        """What the project calls it, such as D1; else its place."""
        match = _NAME.match(self.text)
        return match[1] if match else f"{self.path}:{self.line}"

    @property
    def names(self) -> tuple[str, ...]:
        """What stands in backticks, in order."""
        return tuple(_TICKED.findall(self.text))

    @property
    def place(self) -> Place:
        """Where it begins."""
        return Place(self.path, self.line, self.first)

    @property
    def scope(self) -> str:
        """The folder that the file rules: its own, or all where it stands at the root or in a hidden folder."""
        folder = self.path.rpartition("/")[0]
        return "" if folder.startswith(".") or folder == "docs" else folder


def rulebook(scene: Scene) -> list[Rule]:
    """The rules of the project's rules files, in order of path and line; files that cannot be read are left out."""
    paths = sorted({rule.path for rule in scene.known.rules}, key=lambda path: (path.count("/"), path))
    return [rule for path in paths[:MOST_FILES] for rule in _rules(path, scene.tools.read(path).lines)]


def _rules(path: str, lines: tuple[str, ...]) -> Iterator[Rule]:
    for first, text in _passages(lines):
        if _NEGATIVE.search(text) or _GENERAL.search(text):
            yield Rule(path, first, text, lines[first - 1])


def _passages(lines: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """List items and paragraphs, each with its first line and its text on one line; code and headings left out."""
    first, parts, fenced = 0, list[str](), False
    for at, line in enumerate((*lines, ""), 1):
        fence = line.lstrip().startswith(("```", "~~~"))
        fenced = fenced != fence
        item = None if fenced or fence else _ITEM.match(line)
        ends = fence or fenced or not line.strip() or line.startswith("#")
        if (ends or item) and parts:
            yield first, " ".join(parts)
            parts = []
        if not ends:
            if not parts:
                first = at
            parts.append((item[1] if item else line).strip())
