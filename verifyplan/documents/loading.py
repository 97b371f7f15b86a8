"""Load documents from a file, a folder or a text: each as the one of the nine kinds that it is (rules D1, H3)."""

from __future__ import annotations

import re
import stat
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
from verifyplan.documents.kinds.verification import VerificationDocument, check_verification
from verifyplan.documents.reading.document import N_HEAD_LINES, Document, DocumentKind
from verifyplan.documents.reading.source import BYTE_ORDER_MARK, Source, read_source
from verifyplan.documents.tree import Tree, planning_folder
from verifyplan.documents.walk import Unread, shown_path, walk
from verifyplan.documents.walk import is_folder as is_folder
from verifyplan.errors import InputError, Problem
from verifyplan.files import decode
from verifyplan.progress import progress

MAX_BYTES = 20_000_000
"""Bytes above which a document is not read."""

NAMES = (
    "PLAN-01.md, PLAN-CHECK.md, SUMMARY-01-01.md, VERIFICATION.md, INTEGRATION-REPORT.md, RESEARCH.md,"
    " research/SUMMARY.md, codebase/STACK.md, debug/no-login.md"
)
"""A name of each of the nine documents, by which its kind is known."""

N_BINARY_BYTES = 8_192
"""A file with a zero byte among its first ones is binary."""
MAX_QUICK = 400
"""So many documents are read in about two seconds."""

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


def load(path: str | Path) -> Document | Tree:
    """Load the document in a file, or all documents in a folder: a phase, a `.planning`, or what holds one.

    Raises InputError if there is no such file, or the one file is binary, not UTF-8, larger than 20 MB, or none of
    the nine documents. In a folder, what cannot be read is listed in `unread`.

    >>> import tempfile, verifyplan as vp
    >>> project = vp.datasets.sample_planning(tempfile.mkdtemp() + "/parcels")
    >>> [document.kind for document in load(project)][:2]
    ['plan', 'plan']
    """
    place = Path(path)
    if is_folder(place):
        return _load_tree(place)
    text = read_text(place)
    document = load_text(text, str(path))
    if document is None:
        message = "is not one of the nine documents that agents hand over"
        raise InputError(Problem(shown_path(path), message, f"the kind follows from name and folder: {NAMES}"))
    return document


def load_beside(path: str | Path) -> tuple[Document, ...]:
    """Load the other documents in a file's folder, without those that cannot be read.

    Nothing is read from a folder with more than 400 files in Markdown.
    """
    place = Path(path)
    try:
        names = sorted(other for other in place.parent.glob("*.md") if other.name != place.name)
    except OSError:
        return ()
    documents: list[Document] = []
    for other in names if len(names) <= MAX_QUICK else ():
        try:
            document = load_text(read_text(other), str(other)) if not other.is_symlink() else None
        except InputError:
            continue
        if document is not None:
            documents.append(document)
    return tuple(documents)


def load_text(text: str, path: str = "document.md", kind: DocumentKind | None = None) -> Document | None:
    r"""Read a document from its text; None if it is none of the nine. `kind` says which where the name does not.

    >>> load_text("---\nwave: 1\n---\n# Plan\n", "PLAN-01.md").kind
    'plan'
    """
    source = read_source(text, path)
    kind = kind or kind_of(path, source)
    return REGISTRY[kind][0].read(source) if kind in REGISTRY else None


def read_text(place: Path) -> str:
    """Return the text of a file, with its byte order mark; InputError says what is wrong with it."""
    name = shown_path(place)
    try:
        if not stat.S_ISREG(place.stat().st_mode):  # a pipe would be waited for
            raise InputError(Problem(name, "is not a regular file", "name a document in Markdown"))
        with place.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except InputError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(Problem(name, f"cannot be read ({reason})", "name a file or folder that exists")) from None
    if len(data) > MAX_BYTES:
        raise InputError(Problem(name, f"is larger than {MAX_BYTES:,} bytes", "split it"))
    if b"\0" in data[:N_BINARY_BYTES]:
        raise InputError(Problem(name, "is binary", "name a document in Markdown"))
    text = decode(data, name)
    return BYTE_ORDER_MARK + text if data.startswith(BYTE_ORDER_MARK.encode()) else text


def _load_tree(folder: Path) -> Tree:
    inner = planning_folder(folder)
    if inner != folder and inner.is_symlink():
        fix = "name the folder itself that it leads to, if that is meant"
        raise InputError(Problem(shown_path(inner), "is a symbolic link, and links are not followed", fix))
    contents = walk(inner)
    places = [place for place in contents.files if place.suffix == ".md"]
    documents: list[Document] = []
    others: list[str] = []
    unread = list(contents.unread)
    with progress("reading documents", len(places), shown=shown_for(len(places))) as step:
        for place in places:
            try:
                document = load_text(read_text(place), str(place))
            except InputError as error:
                unread += [_unread(place, problem) for problem in error.problems]
            else:
                if document is None:
                    others.append(str(place))
                else:
                    documents.append(document)
            step()
    return Tree(str(folder), tuple(documents), tuple(others), tuple(sorted(unread)))


def _unread(place: Path, problem: Problem) -> Unread:
    """Return a file that could not be read; a place in it is part of the reason."""
    name = shown_path(place)
    inside = problem.place.removeprefix(name).removeprefix(": ")
    return Unread(name, f"{inside}: {problem.message}" if inside else problem.message, problem.fix, "unreadable")


def shown_for(count: int) -> bool | None:
    """Whether progress over so many documents is shown: False where it takes a moment, else None (on a terminal)."""
    return None if count > MAX_QUICK else False


def kind_of(path: str, source: Source) -> DocumentKind | None:
    """Return the kind of a file, by its name, its folder, then its content; None if it is none of the nine.

    The name of another known document (ROADMAP, STATE, CONTEXT ...) is never a kind, whatever the file holds.

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
