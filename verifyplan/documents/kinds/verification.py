"""Verification: which must-haves of a phase hold, with evidence, and what to do about the gaps (rules D1-D3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import Field, InstanceOf

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import check_layout
from verifyplan.documents.reading.body import DocumentSection, MarkdownTable, NumberedLine, rows_of
from verifyplan.documents.reading.comparing import wording
from verifyplan.documents.reading.document import CONTRACT, Document, DocumentKind, Form, RequiredField, other_form
from verifyplan.documents.reading.front import Front, count_of, entries_of, entry_texts, text_of
from verifyplan.documents.reading.phrases import LocatedText, StatusMeaning, is_blank, labelled_texts, outcome
from verifyplan.documents.reading.source import Source
from verifyplan.documents.reading.writing import document_text, flat, list_item, table_lines
from verifyplan.errors import InputError, Problem, expect_lists
from verifyplan.text import counted

COLUMNS = ("#", "Must-Have", "Status", "Evidence")

_REASON_BEGINNINGS = (" (", ": ", " - ")
"""How a reason may begin behind the must-have that an override names."""
_SCORE = re.compile(r"\s*(?P<passed>\d{1,6})\s*/\s*(?P<total>\d{1,6})(?!\d)")
_GAP_LABELS = {"evidence": "evidence", "suggested fix": "fix", "fix": "fix", "status": "status"}
_INLINE_LABEL = re.compile(r"(?i)\b(evidence|suggested fix):")
_CLOSED = ("resolved", "closed", "fixed", "done")


class _ResultsLayout(NamedTuple):
    """Where some forms report artifacts or links: titles, the columns that name one, and how a plan writes it."""

    titles: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    template: str


_ARTIFACTS = _ResultsLayout(
    ("Required Artifacts", "Artifacts", "Artifact Verification"),
    (("Artifact", "File"), ("Expected", "Provides")),
    "{}: {}",
)
_LINKS = _ResultsLayout(("Key Link Verification", "Key Links"), (("From",), ("To",), ("Via",)), "{} -> {}: {}")


class MustHaveResult(NamedTuple):
    """A row of the table of must-haves; `status` is as it is written."""

    number: str
    text: str
    status: str
    evidence: str
    line: int = 0

    @property
    def outcome(self) -> StatusMeaning | None:
        """Whether the must-have holds, by its status; None where the status does not say."""
        return outcome(self.status)

    @property
    def unproven(self) -> bool:
        """Whether it passed or failed without evidence; a dash is none."""
        return self.outcome in ("passed", "failed") and is_blank(self.evidence)


class Gap(NamedTuple):
    """A gap in detail; evidence and fix are empty where the document does not state them."""

    title: str
    evidence: str
    fix: str
    line: int = 0


class VerificationDocument(Document):
    """A verification of a phase's must-haves.

    `must_haves_total` and `must_haves_passed` are those of the frontmatter, in an older form those of its score;
    `gaps` and `gap_details` are the open ones; `results` are the rows of all tables of must-haves, `table` is the
    first of these. `artifact_results` and `link_results` are the rows of the tables that some forms have besides.
    """

    FORMS = (
        Form("contract", CONTRACT.meaning, seen_by=("front:attempt", "front:overrides")),
        Form(
            "get-shit-done",
            "a verification with a score, observable truths, artifacts and key links under Goal Achievement",
            seen_by=("front:score", "front:re_verification", "part:Goal Achievement", "part:Observable Truths"),
            aliases={
                "Must-Have Verification": ("Observable Truths", "Goal Achievement"),
                "Must-Have": ("Truth", "Observable Truth"),
                "Status": ("Current Status", "Result"),
                "Evidence": ("Details", "Notes"),
                "Gaps": ("Gaps Summary",),
            },
        ),
        Form(
            "counted",
            "a verification that counts its must-haves, and states neither attempt nor overrides",
            seen_by=("front:must_haves_total", "front:must_haves_passed", "front:must_haves_verified"),
            aliases={"Status": ("Current Status", "Result"), "Evidence": ("Details", "Notes")},
        ),
        Form("short", "a verification with nothing but its phase and status", seen_by=("front:phase",)),
        other_form("part:Must-Have Verification"),
    )
    FIELDS = (
        RequiredField("status", "word", ("passed", "gaps_found", "human_needed")),
        RequiredField("attempt", "number"),
        RequiredField("must_haves_total", "number"),
        RequiredField("must_haves_passed", "number"),
        RequiredField("gaps", "texts"),
        RequiredField("overrides", "texts"),
    )
    SECTIONS = ("Must-Have Verification", "Gaps")

    kind: DocumentKind = "verification"
    status: str | None = None
    attempt: int | None = None
    must_haves_total: int | None = None
    must_haves_passed: int | None = None
    gaps: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    results: tuple[MustHaveResult, ...] = ()
    artifact_results: tuple[MustHaveResult, ...] = ()
    link_results: tuple[MustHaveResult, ...] = ()
    gap_details: tuple[Gap, ...] = ()
    table: InstanceOf[MarkdownTable] | None = Field(None, repr=False)

    @classmethod
    def fields(cls, source: Source, form: Form) -> dict[str, Any]:
        """Return the typed fields of a verification."""
        front = source.front
        tables = _results_tables(source, form)
        columns = [form.names(name) for name in COLUMNS]
        score = _SCORE.match(text_of(front, "score") or "")
        return {
            "attempt": 1 if front.values.get("re_verification") is False else count_of(front, "attempt"),
            "must_haves_total": int(score["total"]) if score else count_of(front, "must_haves_total"),
            "must_haves_passed": int(score["passed"]) if score else count_of(front, "must_haves_passed"),
            "gaps": tuple(gap.text for gap in open_gaps(front)),
            "overrides": entry_texts(front, "overrides"),
            "results": tuple(MustHaveResult._make(row) for table in tables for row in rows_of(table, *columns)),
            "artifact_results": tuple(_results_under(source, _ARTIFACTS)),
            "link_results": tuple(_results_under(source, _LINKS)),
            "table": next(iter(tables), None),
            "gap_details": gaps_in(source, source.section("Gaps")),
        }

    @cached_property
    def override_names(self) -> frozenset[str]:
        """The texts and numbers of must-haves that the overrides may name."""
        return override_names(self.overrides)

    def overridden(self, result: MustHaveResult) -> bool:
        """Whether a user let a must-have pass: its status says so, or an override names it."""
        return result.outcome == "override" or is_named(result, self.override_names)

    def counts_as_passed(self, result: MustHaveResult) -> bool:
        """Whether a must-have passed, or a user let it pass (rule D3)."""
        return result.outcome == "passed" or self.overridden(result)


def _results_tables(source: Source, form: Form) -> tuple[MarkdownTable, ...]:
    """Return the tables of must-haves of the first section that has their title; without any its first table.

    Where a form tells must-haves and observable truths apart, the table of must-haves counts.
    """
    section = (
        source.section("Must-Have Verification")
        or source.section_where(lambda title: title.startswith("must-have"))
        or form.section(source, "Must-Have Verification")
    )
    tables = source.tables(section) if section else ()
    names = form.names("Must-Have")
    return tuple(table for table in tables if any(table.column(name) is not None for name in names)) or tables[:1]


def _results_under(source: Source, layout: _ResultsLayout) -> Iterator[MustHaveResult]:
    """Yield the rows of the tables of a section, each as the must-have that a plan would state."""
    sections = (source.section(title, level=None) for title in layout.titles)
    section = next((section for section in sections if section), None)
    columns = (*layout.columns, ("Status",), ("Details", "Evidence", "Notes"))
    for table in source.tables(section) if section else ():
        if all(table.column(name) is None for name in layout.columns[0]):
            continue
        for *named, status, evidence, line in rows_of(table, *columns):
            text = layout.template.format(*(cell.strip("`* ") for cell in named))
            yield MustHaveResult("", text.removesuffix(": "), status, evidence, line)


def counts_as_passed(result: MustHaveResult, overrides: Iterable[str]) -> bool:
    """Whether a must-have passed, or a user let it pass: its status says so, or an override names it.

    >>> failed = MustHaveResult("2", "Logs are kept", "FAILED", "no file")
    >>> [counts_as_passed(failed, overrides) for overrides in ([], ["logs are kept (agreed)"], ["#2"])]
    [False, True, True]
    """
    return result.outcome in ("passed", "override") or is_named(result, override_names(overrides))


def override_names(overrides: Iterable[str]) -> frozenset[str]:
    """Return what overrides may name, as must-haves are compared: text or number, and the text before a reason."""
    names = list(overrides)
    names += [name.partition(end)[0] for name in names for end in _REASON_BEGINNINGS]
    return frozenset(map(wording, names)) - {""}


def is_named(result: MustHaveResult, names: frozenset[str]) -> bool:
    """Whether names hold the text of a must-have, or its number."""
    return wording(result.text) in names or wording(result.number) in names


def open_gaps(front: Front) -> tuple[LocatedText, ...]:
    """Return the gaps that frontmatter lists, without those whose own status is closed."""
    gaps = front.values.get("gaps")
    closed = {
        front.line("gaps", at)
        for at, gap in enumerate(gaps if isinstance(gaps, list) else ())
        if isinstance(gap, dict) and _is_closed(str(gap.get("status", "")))
    }
    return tuple(entry for entry in entries_of(front, "gaps") if entry.line not in closed)


def _is_closed(status: str) -> bool:
    return status.casefold().strip("*_` ").startswith(_CLOSED)


def gaps_in(source: Source, section: DocumentSection | None) -> tuple[Gap, ...]:
    """Return the open gaps of a section: one under each heading, without headings one in each list item.

    Evidence and fix are behind their labels, on lines of their own or within the item. A section that says None has
    no gap.
    """
    if section is None:
        return ()
    gaps = []
    for inner in source.subsections(section):
        lines = source.lines_of(inner)
        if not _is_closed(labelled_texts(lines, _GAP_LABELS).get("status", LocatedText("", 0)).text):
            gaps.append(_gap(inner.title, inner.first, lines))
    return tuple(gaps) if source.subsections(section) else tuple(_listed_gaps(source, section))


def _listed_gaps(source: Source, section: DocumentSection) -> Iterator[Gap]:
    bullets = source.top_bullets(section)
    for at, bullet in enumerate(bullets):
        end = bullets[at + 1].line - 1 if at + 1 < len(bullets) else section.last
        below = list(enumerate(source.lines[bullet.line : end], bullet.line + 1))
        title, *parts = _INLINE_LABEL.split(source.lines[bullet.line - 1].strip().lstrip("-*+ "))
        labels = [_GAP_LABELS[label.casefold()] for label in parts[::2]]
        inline = dict(zip(labels, (text.strip("*_ ;") for text in parts[1::2]), strict=True))
        yield _gap(title.strip("*_ .;"), bullet.line, below, inline)


def _gap(title: str, line: int, lines: Sequence[NumberedLine], inline: Mapping[str, str] = MappingProxyType({})) -> Gap:
    below = {name: labelled.text for name, labelled in labelled_texts(lines, _GAP_LABELS).items()}
    texts = {**inline, **below}
    return Gap(title, texts.get("evidence", ""), texts.get("fix", ""), line)


def write_verification(
    results: Sequence[MustHaveResult],
    gaps: Sequence[Gap] | None = None,
    *,
    attempt: int = 1,
    overrides: Sequence[str] = (),
    title: str = "Verification",
) -> str:
    """Write a new verification in the contract's form; its status and its counts follow from the results.

    Without `gaps`, each must-have that failed and was not overridden is one, with its evidence. The status is
    gaps_found with a gap, else passed if all passed, else human_needed. Texts are written on one line each; a result
    without a number is numbered by its place. Raises InputError for an attempt below 1, a status that does not say
    whether the must-have passed, an override that names no must-have, a gap without evidence or fix, a must-have that
    passed or failed without evidence, and a failed must-have with empty `gaps`.
    """
    expect_lists(overrides=overrides)
    rows = [result if result.number else result._replace(number=str(at)) for at, result in enumerate(results, 1)]
    failed = [row for row in rows if row.outcome == "failed" and not counts_as_passed(row, overrides)]
    if gaps is None:
        gaps = [Gap(row.text, row.evidence, f"make it hold: {row.text}") for row in failed]
    problems = [*_wrong_rows(rows, overrides), *_wrong_gaps(gaps, failed)]
    if attempt < 1:
        problems.append(Problem("attempt", f"is {attempt}", "give 1 for the first one, more for later ones"))
    if problems:
        raise InputError(problems)
    passed = sum(counts_as_passed(row, overrides) for row in rows)
    front = {
        "status": "gaps_found" if gaps else "passed" if passed == len(rows) else "human_needed",
        "attempt": attempt,
        "must_haves_total": len(rows),
        "must_haves_passed": passed,
        "gaps": [gap.title for gap in gaps],
        "overrides": list(overrides),
    }
    table = table_lines(COLUMNS, [row[:4] for row in rows])
    lines = [f"# {flat(title)}", "", "## Must-Have Verification", "", *table, "", "## Gaps", ""]
    for gap in gaps:
        evidence, fix = list_item(f"**Evidence:** {gap.evidence}"), list_item(f"**Suggested fix:** {gap.fix}")
        lines += [f"### {flat(gap.title)}", "", evidence, fix, ""]
    return document_text(front, lines if gaps else [*lines, "None"])


def _wrong_rows(rows: Sequence[MustHaveResult], overrides: Sequence[str]) -> Iterator[Problem]:
    for override in overrides:
        if not any(is_named(row, override_names([override])) for row in rows):
            yield Problem(f"override {override!r}", "names no must-have", "write a must-have's text or number")
    for row in rows:
        if row.outcome is None:
            message = "does not say whether the must-have passed"
            yield Problem(f"status {row.status!r}", message, "write PASSED, FAILED or HUMAN")
        if row.unproven and not is_named(row, override_names(overrides)):
            yield Problem(f"must-have {row.text!r}", f"is {row.status}, without evidence", "say what was seen where")


def _wrong_gaps(gaps: Sequence[Gap], failed: Sequence[MustHaveResult]) -> Iterator[Problem]:
    for gap in gaps:
        if not (flat(gap.title) and flat(gap.evidence) and flat(gap.fix)):
            yield Problem(f"gap {gap.title!r}", "lacks its title, evidence or fix", "give all three")
    if failed and not gaps:
        yield Problem("gaps", "is empty, though a must-have failed", "describe the gap, or leave `gaps` out")


def check_verification(document: VerificationDocument) -> Iterator[Violation]:
    """Yield the violations of a verification by itself (rules D2, D3)."""
    yield from check_layout(document, {"Must-Have Verification": (COLUMNS, document.table)})
    if document.attempt == 0:
        yield violation("verification/attempt", document.path, document.source.front.line("attempt"))
    yield from _check_counts(document)
    yield from _check_results(document)
    yield from _check_status(document)
    yield from _check_gaps(document)


def _check_counts(document: VerificationDocument) -> Iterator[Violation]:
    """Check the counts against each other and the table; in a form that has a score, they are in the score's line."""
    total, passed, rows = document.must_haves_total, document.must_haves_passed, len(document.results)
    front, keys = document.source.front, ("must_haves_total", "must_haves_passed")
    line_total, line_passed = (front.line(key if key in front.values else "score") for key in keys)
    if total is not None and passed is not None and passed > total:
        values = {"passed": counted(passed, "must-have"), "total": total}
        yield violation("verification/passed-above-total", document.path, line_passed, **values)
    elif total is not None and rows not in (0, total):
        values = {"total": counted(total, "must-have"), "rows": rows}
        yield violation("verification/total-wrong", document.path, line_total, **values)
    elif passed is not None and rows and all(result.outcome for result in document.results):
        n_passed = sum(map(document.counts_as_passed, document.results))
        if n_passed != passed:
            yield violation("verification/passed-wrong", document.path, line_passed, passed=passed, counted=n_passed)


def _check_results(document: VerificationDocument) -> Iterator[Violation]:
    known = {wording(name) for result in document.results for name in (result.text, result.number)}
    has_evidence = document.table is not None and document.table.column("Evidence") is not None
    for result in document.results:
        if result.outcome is None:
            yield violation("verification/result-status", document.path, result.line, status=result.status)
        elif has_evidence and result.unproven and not document.overridden(result):
            values = {"must_have": result.text, "status": result.status}
            yield violation("verification/evidence-missing", document.path, result.line, **values)
    for override in entries_of(document.source.front, "overrides") if document.results else ():
        if not override_names([override.text]) & known:
            yield violation("verification/override-unknown", document.path, override.line, override=override.text)


def _check_status(document: VerificationDocument) -> Iterator[Violation]:
    line = document.source.front.line("status")
    gaps = max(len(document.gaps), len(document.gap_details))
    total, passed = document.must_haves_total, document.must_haves_passed
    if document.status == "passed" and gaps:
        yield violation("verification/passed-with-gaps", document.path, line, gaps=counted(gaps, "gap"))
    elif document.status == "passed" and total is not None and passed is not None and passed < total:
        values = {"failed": total - passed, "total": counted(total, "must-have")}
        yield violation("verification/passed-with-failures", document.path, line, **values)
    elif document.status == "gaps_found" and not gaps:
        yield violation("verification/gaps-found-without-gaps", document.path, line)


def _check_gaps(document: VerificationDocument) -> Iterator[Violation]:
    front, listed, described = document.source.front, len(document.gaps), len(document.gap_details)
    if "gaps" in front.values and document.source.section("Gaps") and listed != described:
        values = {"listed": counted(listed, "gap"), "described": described}
        yield violation("verification/gaps-count", document.path, front.line("gaps"), **values)
    for gap in document.gap_details:
        if not gap.evidence:
            yield violation("verification/gap-evidence-missing", document.path, gap.line, gap=gap.title)
        if not gap.fix:
            yield violation("verification/gap-fix-missing", document.path, gap.line, gap=gap.title)
