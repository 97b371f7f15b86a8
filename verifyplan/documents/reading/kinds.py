"""Which of the nine documents a file is: by its name and folder, else by what it holds (rule D1)."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from verifyplan.documents.reading.base import Kind
from verifyplan.documents.reading.source import Source

_NAMES: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("plan-check", re.compile(r"(?:.+-)?PLAN-CHECK(?:-.+)?")),
    ("integration", re.compile(r"(?:.+-)?INTEGRATION-REPORT(?:-.+)?")),
    ("verification", re.compile(r"(?:.+-)?VERIFICATION(?:-.+)?")),
    ("research-note", re.compile(r"(?:.+-)?RESEARCH(?:-.+)?")),
    ("summary", re.compile(r"(?:.+-)?SUMMARY(?:-.+)?")),
    ("plan", re.compile(r"(?:.+-)?PLAN(?:-.+)?")),
)
_OTHERS = re.compile(
    r"(?:.+-)?(?:ROADMAP|STATE|CONTEXT|VALIDATION|VALIDATION-REPORT|PROJECT|REQUIREMENTS|MILESTONES|UAT|README|CHANGELOG"
    r"|LICENSE|HISTORY|NOTES)(?:-.+)?"
)
_KEYS: tuple[tuple[Kind, frozenset[str]], ...] = (
    ("verification", frozenset({"must_haves_total"})),
    ("integration", frozenset({"checks_total"})),
    ("debug-log", frozenset({"slug", "mode", "status"})),
    ("research-note", frozenset({"confidence", "sources_checked"})),
    ("research-summary", frozenset({"confidence", "sources", "conflicts"})),
    ("plan", frozenset({"must_haves", "wave"})),
    ("summary", frozenset({"plan", "status", "commits"})),
)
_RESEARCH = re.compile(r"(?:.+-)?research", re.IGNORECASE)
_REPORT = re.compile(r"(?:VERIFICATION PASSED|ISSUES FOUND)[ \t]*$")
_COUNTS = re.compile(r"Plans: *\d+ *\| *Tasks: *\d+")
_FIRST = 40


def kind_of(path: str, source: Source) -> Kind | None:
    """The kind that a file is: by its name, its folder, then its content; None if it is none of the nine.

    A name of another known document (ROADMAP, STATE, CONTEXT, VALIDATION ...) is none, whatever the file holds.

    >>> from verifyplan.documents.reading.source import read_source
    >>> [kind_of(path, read_source("", path)) for path in ("research/SUMMARY.md", "01-01-PLAN.md", "STATE.md")]
    ['research-summary', 'plan', None]
    """
    place = PurePosixPath(path.replace("\\", "/"))
    folders = place.parts[:-1]
    if folders and _RESEARCH.fullmatch(folders[-1]) and place.stem == "SUMMARY":
        return "research-summary"
    if _OTHERS.fullmatch(place.stem):
        return None
    named = next((kind for kind, pattern in _NAMES if pattern.fullmatch(place.stem)), None)
    return named or _by_folder(folders) or _by_content(source)


def _by_folder(folders: tuple[str, ...]) -> Kind | None:
    within: dict[str, Kind] = {"research": "research-note", "codebase": "codebase-map", "debug": "debug-log"}
    own = within.get(folders[-1]) if folders else None
    return own or ("debug-log" if "debug" in folders[-2:] else None)


def _by_content(source: Source) -> Kind | None:
    keys = set(source.front.values)
    by_key = next((kind for kind, wanted in _KEYS if wanted <= keys), None)
    if by_key:
        return by_key
    head = [line.strip("*# \t") for line in source.lines[:_FIRST]]
    if any(_REPORT.match(line) for line in head) and any(_COUNTS.match(line) for line in head):
        return "plan-check"
    return "plan" if any(element.name == "action" for element in source.elements) else None
