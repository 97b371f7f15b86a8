"""Which of the nine kinds a document is, and the model and checker of each; a kind is added by one line (rule D1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
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
from verifyplan.documents.reading.document import Document, DocumentKind
from verifyplan.documents.reading.source import Source

REGISTRY: dict[DocumentKind, tuple[type[Document], Callable[[Any], Iterator[Violation]]]] = {
    "research-note": (ResearchNote, check_research_note),
    "research-summary": (ResearchSummary, check_research_summary),
    "plan": (PlanDocument, check_plan),
    "plan-check": (PlanCheckReport, check_plan_check),
    "summary": (ExecutionSummary, check_summary),
    "verification": (VerificationDocument, check_verification),
    "integration": (IntegrationReport, check_integration),
    "debug-log": (DebugLog, check_debug_log),
    "codebase-map": (CodebaseMap, check_codebase_map),
}
"""The model of each kind, and the function that checks a document of it by itself."""

_NAMES_OF_FILES: tuple[tuple[DocumentKind, re.Pattern[str]], ...] = (
    ("plan-check", re.compile(r"(?:.+-)?PLAN-CHECK(?:-.+)?")),
    ("integration", re.compile(r"(?:.+-)?INTEGRATION-REPORT(?:-.+)?")),
    ("verification", re.compile(r"(?:.+-)?VERIFICATION(?:-.+)?")),
    ("research-note", re.compile(r"(?:.+-)?RESEARCH(?:-.+)?")),
    ("summary", re.compile(r"(?:.+-)?SUMMARY(?:-.+)?")),
    ("plan", re.compile(r"(?:.+-)?PLAN(?:-.+)?")),
)
_OTHER_DOCUMENTS = re.compile(
    r"(?:.+-)?(?:ROADMAP|STATE|CONTEXT|VALIDATION|VALIDATION-REPORT|PROJECT|REQUIREMENTS|MILESTONES|UAT|README|CHANGELOG"
    r"|LICENSE|HISTORY|NOTES)(?:-.+)?"
)
_TYPICAL_KEYS: tuple[tuple[DocumentKind, frozenset[str]], ...] = (
    ("verification", frozenset({"must_haves_total"})),
    ("integration", frozenset({"checks_total"})),
    ("debug-log", frozenset({"slug", "mode", "status"})),
    ("research-note", frozenset({"confidence", "sources_checked"})),
    ("research-summary", frozenset({"confidence", "sources", "conflicts"})),
    ("plan", frozenset({"must_haves", "wave"})),
    ("summary", frozenset({"plan", "status", "commits"})),
)
_RESEARCH_FOLDER = re.compile(r"(?:.+-)?research", re.IGNORECASE)
_PLAN_CHECK_HEADING = re.compile(r"(?:VERIFICATION PASSED|ISSUES FOUND)[ \t]*$")
_PLAN_CHECK_COUNTS = re.compile(r"Plans: *\d+ *\| *Tasks: *\d+")
N_HEAD_LINES = 40


def kind_of(path: str, source: Source) -> DocumentKind | None:
    """Return the kind of a file, by its name, its folder, then its content; None if it is none of the nine.

    The name of another known document (ROADMAP, STATE, CONTEXT ...) is no kind, whatever the file holds.

    >>> from verifyplan.documents.reading.source import read_source
    >>> [kind_of(path, read_source("", path)) for path in ("research/SUMMARY.md", "01-01-PLAN.md", "STATE.md")]
    ['research-summary', 'plan', None]
    """
    place = PurePosixPath(path.replace("\\", "/"))
    folders = place.parts[:-1]
    if folders and _RESEARCH_FOLDER.fullmatch(folders[-1]) and place.stem == "SUMMARY":
        return "research-summary"
    if _OTHER_DOCUMENTS.fullmatch(place.stem):
        return None
    by_name = next((kind for kind, pattern in _NAMES_OF_FILES if pattern.fullmatch(place.stem)), None)
    by_folder: dict[str, DocumentKind] = {"research": "research-note", "codebase": "codebase-map", "debug": "debug-log"}
    within = by_folder.get(folders[-1]) if folders else None
    return by_name or within or ("debug-log" if "debug" in folders[-2:] else _kind_by_content(source))


def _kind_by_content(source: Source) -> DocumentKind | None:
    keys = set(source.front.values)
    by_key = next((kind for kind, typical in _TYPICAL_KEYS if typical <= keys), None)
    if by_key:
        return by_key
    head = [line.strip("*# \t") for line in source.lines[:N_HEAD_LINES]]
    if any(_PLAN_CHECK_HEADING.match(line) for line in head) and any(_PLAN_CHECK_COUNTS.match(line) for line in head):
        return "plan-check"
    return "plan" if any(element.name == "action" for element in source.elements) else None
