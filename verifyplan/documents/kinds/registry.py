"""The model of each kind of document; a kind is added by one line (rule D1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from verifyplan.documents.checks.catalogue import Violation
from verifyplan.documents.kinds.codebase_map import CodebaseMap, check_codebase_map
from verifyplan.documents.kinds.debug_log import DebugLog, check_debug_log
from verifyplan.documents.kinds.execution_summary import ExecutionSummary, check_summary
from verifyplan.documents.kinds.integration_report import IntegrationReport, check_integration
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.kinds.plan_check_report import PlanCheckReport, check_plan_check
from verifyplan.documents.kinds.plan_checks import check_plan
from verifyplan.documents.kinds.research_note import ResearchNote, check_research_note
from verifyplan.documents.kinds.research_summary import ResearchSummary, check_research_summary
from verifyplan.documents.kinds.verification import VerificationDocument
from verifyplan.documents.kinds.verification_checks import check_verification
from verifyplan.documents.reading.document import Document, Kind
from verifyplan.documents.reading.source import Source

MODELS: dict[Kind, type[Document]] = {
    "research-note": ResearchNote,
    "research-summary": ResearchSummary,
    "plan": PlanDocument,
    "plan-check": PlanCheckReport,
    "summary": ExecutionSummary,
    "verification": VerificationDocument,
    "integration": IntegrationReport,
    "debug-log": DebugLog,
    "codebase-map": CodebaseMap,
}

Checker = Callable[[Any, Path | None], Iterator[Violation]]
"""Takes a document of its kind and the root of the repository, or None where that is not there."""

CHECKERS: dict[Kind, Checker] = {
    "research-note": check_research_note,
    "research-summary": check_research_summary,
    "plan": check_plan,
    "plan-check": check_plan_check,
    "summary": check_summary,
    "verification": check_verification,
    "integration": check_integration,
    "debug-log": check_debug_log,
    "codebase-map": check_codebase_map,
}


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
