"""A manifest's text: what a parser read from it, and the line on which that stands."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from verifyplan.agents.repository.records import Command, Ecosystem, Package, Runner

LARGEST = 500_000
"""Characters above which a manifest is not read."""


class DamagedError(Exception):
    """A manifest cannot be read; the text says why, as part of a sentence."""


@dataclass(frozen=True)
class Manifest:
    """Path and lines of a manifest, and where things stand in it."""

    path: str
    text: str

    @property
    def lines(self) -> list[str]:
        """The lines of the text."""
        return self.text.split("\n")

    def package(self, name: str, version: str, line: int, ecosystem: Ecosystem) -> Package:
        """A package that this manifest declares."""
        return Package(name, version.strip(), self.path, line, ecosystem)

    def command(self, name: str, runner: Runner, line: int) -> Command:
        """A command that this manifest defines."""
        return Command(name, runner, self.path, line)


class Lines:
    """Finds the line of a name that a parser gave without one.

    Each search begins where the caller says, which is where the last one ended; a manifest made to defeat that is
    given up on after two million lines looked at, and the line is then that where the search began.
    """

    def __init__(self, manifest: Manifest) -> None:
        self._lines = manifest.lines
        self._left = 2_000_000

    def find(self, pattern: str, start: int = 1) -> int:
        """The first line from `start` on in which the pattern is found, else the first anywhere, else `start`."""
        search = re.compile(pattern).search
        for number in chain(range(start, len(self._lines) + 1), range(1, start)):
            self._left -= 1
            if self._left < 0:
                break
            if search(self._lines[number - 1][:2_000]):
                return number
        return start

    def section(self, *patterns: str) -> int:
        """The line where a section begins: that of the first pattern that is found anywhere, else 1."""
        for pattern in patterns:
            line = self.find(pattern)
            if line > 1 or re.search(pattern, self._lines[0][:2_000]):
                return line
        return 1


def toml(manifest: Manifest) -> dict[str, Any]:
    """A TOML text as a table; DamagedError if it is none."""
    try:
        return tomllib.loads(manifest.text)
    except (ValueError, RecursionError):
        raise DamagedError("is no valid TOML") from None


def json_table(manifest: Manifest) -> dict[str, Any]:
    """A JSON text as a table, empty if it is something else; DamagedError if it is no JSON."""
    try:
        return table(json.loads(manifest.text))
    except (ValueError, RecursionError):
        raise DamagedError("is no valid JSON") from None


def table(value: object, *keys: str) -> dict[str, Any]:
    """The table under some keys; empty if there is none.

    >>> table({"tool": {"poetry": {"name": "x"}}}, "tool", "poetry"), table({"tool": 3}, "tool", "poetry")
    ({'name': 'x'}, {})
    """
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return dict(value) if isinstance(value, Mapping) else {}


def strings(value: object) -> list[str]:
    """The strings of a list; empty if it is none."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def version_of(value: object) -> str:
    """The version in `"1.0"`, `{version = "1.0"}` or a list of such; empty if none is stated."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, Mapping):
        value = value.get("version", "")
    return value if isinstance(value, str) else ""
