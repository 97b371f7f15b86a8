"""Verification: which must-haves of a phase hold, with evidence, and what to do about the gaps (document 003)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from pydantic import Field, InstanceOf

from verifyplan.documents.reading.body import DocumentSection, MarkdownTable, NumberedLine, rows_of
from verifyplan.documents.reading.comparing import wording
from verifyplan.documents.reading.document import CONTRACT, Document, Form, Kind, other_form
from verifyplan.documents.reading.front import Front, count_of, entries_of, entry_texts, text_of
from verifyplan.documents.reading.phrases import LocatedText, Outcome, is_blank, labelled_texts, outcome
from verifyplan.documents.reading.source import Source
from verifyplan.documents.reading.writing import (
    document_text,
    flat,
    list_item,
    table_lines,
)
from verifyplan.errors import InputError, Problem, expect_lists

_REASONS = (" (", ": ", " - ")
"""What a reason may begin with behind the must-have that an override names."""


class MustHaveResult(NamedTuple):
    """A row of the table of must-haves; `status` is as written, `outcome` what it says."""

    number: str
    text: str
    status: str
    evidence: str
    line: int = 0

    @property
    def unproven(self) -> bool:
        """Whether it is said to hold, or not to, without evidence; a dash is none."""
        return self.outcome in ("passed", "failed") and is_blank(self.evidence)

    @property
    def outcome(self) -> Outcome | None:
        """Whether the must-have holds, by its status; None where the status is no word for that."""
        return outcome(self.status)


def counts_as_passed(result: MustHaveResult, overrides: Iterable[str]) -> bool:
    """Whether a must-have passed, or a user let it: its status says so, or an override names it.

    >>> failed = MustHaveResult("2", "Logs are kept", "FAILED", "no file")
    >>> [counts_as_passed(failed, given) for given in ([], ["logs are kept (agreed)"], ["#2"])]
    [False, True, True]
    """
    return result.outcome in ("passed", "override") or is_named(result, override_names(overrides))


def override_names(overrides: Iterable[str]) -> frozenset[str]:
    """What overrides may name, as must-haves are compared: their whole text, a number, or the text before a reason."""
    names = list(overrides)
    names += [name.partition(end)[0] for name in names for end in _REASONS]
    return frozenset(map(wording, names)) - {""}


def is_named(result: MustHaveResult, names: frozenset[str]) -> bool:
    """Whether names hold the text of a must-have, or its number."""
    return wording(result.text) in names or wording(result.number) in names


_NAMES = {"evidence": "evidence", "suggested fix": "fix", "fix": "fix", "status": "status"}
_CLOSED = ("resolved", "closed", "fixed", "done")
_LABEL = re.compile(r"(?i)\b(evidence|suggested fix):")


class Gap(NamedTuple):
    """A gap in detail; evidence and fix are empty where the document does not tell them."""

    title: str
    evidence: str
    fix: str
    line: int = 0


def open_gaps(front: Front) -> tuple[LocatedText, ...]:
    """The gaps that frontmatter lists, with their lines, but those whose own status says that they are closed."""
    value = front.values.get("gaps")
    closed = {
        front.line("gaps", at)
        for at, item in enumerate(value if isinstance(value, list) else ())
        if isinstance(item, dict) and _is_closed(str(item.get("status", "")))
    }
    return tuple(entry for entry in entries_of(front, "gaps") if entry.line not in closed)


def _is_closed(status: str) -> bool:
    return status.casefold().strip("*_` ").startswith(_CLOSED)


def gaps_in(source: Source, part: DocumentSection | None) -> tuple[Gap, ...]:
    """The gaps that a section tells: one under each heading, or without headings one in each list item.

    Evidence and fix stand behind their labels, on lines of their own or within the item. A section that says None has
    none, and a gap whose status says that it is closed is none. Source: document 003, Verifier -> Planner.
    """
    if part is None:
        return ()
    under = source.subsections(part)
    if under:
        lines = [source.lines_of(inner) for inner in under]
        return tuple(
            _gap(inner.title, inner.first, told)
            for inner, told in zip(under, lines, strict=True)
            if not _is_closed(labelled_texts(told, _NAMES).get("status", LocatedText("", 0)).text)
        )
    return tuple(_listed(source, part))


def _listed(source: Source, part: DocumentSection) -> Iterator[Gap]:
    tops = source.top_bullets(part)
    for at, bullet in enumerate(tops):
        end = tops[at + 1].line - 1 if at + 1 < len(tops) else part.last
        below = list(enumerate(source.lines[bullet.line : end], bullet.line + 1))
        title, *told = _LABEL.split(source.lines[bullet.line - 1].strip().lstrip("-*+ "))
        inline = {
            _NAMES[label.casefold()]: text.strip("*_ ;") for label, text in zip(told[::2], told[1::2], strict=True)
        }
        yield _gap(title.strip("*_ .;"), bullet.line, below, inline)


def _gap(title: str, line: int, lines: Sequence[NumberedLine], inline: Mapping[str, str] = MappingProxyType({})) -> Gap:
    found = {**inline, **{name: told.text for name, told in labelled_texts(lines, _NAMES).items()}}
    return Gap(title, found.get("evidence", ""), found.get("fix", ""), line)


VERIFICATION_FORMS = (
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
        "a verification that counts its must-haves, and tells neither attempt nor overrides",
        seen_by=("front:must_haves_total", "front:must_haves_passed", "front:must_haves_verified"),
        aliases={"Status": ("Current Status", "Result"), "Evidence": ("Details", "Notes")},
    ),
    Form(
        "short",
        "a verification with nothing but its phase and status",
        seen_by=("front:phase",),
    ),
    other_form("part:Must-Have Verification"),
)


class _Section(NamedTuple):
    """A section of must-haves of one kind: its titles, the columns that name one, and how a plan writes it."""

    titles: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    form: str


ARTIFACTS = _Section(
    ("Required Artifacts", "Artifacts", "Artifact Verification"),
    (("Artifact", "File"), ("Expected", "Provides")),
    "{}: {}",
)
LINKS = _Section(("Key Link Verification", "Key Links"), (("From",), ("To",), ("Via",)), "{} -> {}: {}")
_STATUS, _EVIDENCE = ("Status",), ("Details", "Evidence", "Notes")

_SCORE = re.compile(r"\s*(?P<passed>\d{1,6})\s*/\s*(?P<total>\d{1,6})(?!\d)")


class VerificationDocument(Document):
    """What a verifier found of a phase's must-haves.

    `must_haves_total` and `must_haves_passed` are those of the frontmatter, in an older form those of its score;
    `gaps` and `gap_details` are those that are open; `results` are the rows of all tables of must-haves, `table` the
    first of these. `artifact_results` and `link_results` are the rows of the tables that some forms have beside it.
    Source: document 003, Verifier -> Planner; rule D1.
    """

    FORMS: ClassVar[tuple[Form, ...]] = VERIFICATION_FORMS

    kind: Kind = "verification"
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
        """The typed fields of a verification."""
        front = source.front
        tables = _results_tables(source, form)
        score = _SCORE.match(text_of(front, "score") or "")
        total = int(score["total"]) if score else count_of(front, "must_haves_total")
        passed = int(score["passed"]) if score else count_of(front, "must_haves_passed")
        return {
            "status": text_of(front, "status"),
            "attempt": 1 if front.values.get("re_verification") is False else count_of(front, "attempt"),
            "must_haves_total": total,
            "must_haves_passed": passed,
            "gaps": tuple(gap.text for gap in open_gaps(front)),
            "overrides": entry_texts(front, "overrides"),
            "results": tuple(result for found in tables for result in _results(found, form)),
            "artifact_results": tuple(_rows_under(source, ARTIFACTS)),
            "link_results": tuple(_rows_under(source, LINKS)),
            "table": next(iter(tables), None),
            "gap_details": gaps_in(source, source.section("Gaps")),
        }

    @cached_property
    def override_names(self) -> frozenset[str]:
        """What the overrides may name: texts and numbers of must-haves."""
        return override_names(self.overrides)

    def overridden(self, result: MustHaveResult) -> bool:
        """Whether a user let a must-have pass: its status says so, or an override names it."""
        return result.outcome == "override" or is_named(result, self.override_names)

    def counts_as_passed(self, result: MustHaveResult) -> bool:
        """Whether a must-have passed, or a user let it (rule D3)."""
        return result.outcome == "passed" or self.overridden(result)

    @property
    def counted_as_passed(self) -> int:
        """How many must-haves of the table passed, those that a user let pass included (rule D3)."""
        return sum(map(self.counts_as_passed, self.results))


def _results(table: MarkdownTable | None, form: Form) -> Iterator[MustHaveResult]:
    names = [form.names(name) for name in ("#", "Must-Have", "Status", "Evidence")]
    for (number, text, status, evidence), line in rows_of(table, *names):
        yield MustHaveResult(number, text, status, evidence, line)


def _results_tables(source: Source, form: Form) -> tuple[MarkdownTable, ...]:
    """The tables of must-haves: under their own heading, else under the one of the form; else the first table there.

    Where a form tells must-haves and observable truths apart, the table of must-haves is the one that is counted.
    """
    part = (
        source.section("Must-Have Verification")
        or _must_haves(source)
        or form.section(source, "Must-Have Verification")
    )
    tables = source.tables(part) if part else ()
    wanted = form.names("Must-Have")
    named = tuple(found for found in tables if any(found.column(name) is not None for name in wanted))
    return named or tables[:1]


def _rows_under(source: Source, section: _Section) -> Iterator[MustHaveResult]:
    """The rows of the tables of a section, each as the must-have that a plan would state."""
    parts = (source.section(title, level=None) for title in section.titles)
    part = next((part for part in parts if part), None)
    for held in source.tables(part) if part else ():
        if all(held.column(name) is None for name in section.columns[0]):
            continue
        for (*named, status, evidence), line in rows_of(held, *section.columns, _STATUS, _EVIDENCE):
            text = section.form.format(*(cell.strip("`* ") for cell in named))
            yield MustHaveResult("", text.removesuffix(": "), status, evidence, line)


def _must_haves(source: Source) -> DocumentSection | None:
    return source.section_where(lambda title: title.startswith("must-have"))


def write_verification(
    results: Sequence[MustHaveResult],
    gaps: Sequence[Gap] | None = None,
    *,
    attempt: int = 1,
    overrides: Sequence[str] = (),
    title: str = "Verification",
) -> str:
    """A new verification in document 003's form; its status and its counts follow from the results.

    Without `gaps`, each must-have that failed and was not overridden is one, with its evidence. The status is
    gaps_found if there is a gap, else passed if all passed, else human_needed. Texts are written on one line each; a
    result without a number is numbered by its place. Raises InputError for an attempt below 1, a status that does not
    say whether the must-have passed, an override that names no must-have, a gap without evidence or fix, a must-have
    that passed or failed without evidence, and a failed
    must-have where `gaps` is given and empty.
    """
    expect_lists(overrides=overrides)
    rows = [result if result.number else result._replace(number=str(at)) for at, result in enumerate(results, 1)]
    failed = [row for row in rows if row.outcome == "failed" and not counts_as_passed(row, overrides)]
    gaps = [_gap_of(row) for row in failed] if gaps is None else gaps
    _check(rows, gaps, overrides, attempt, failed)
    passed = sum(counts_as_passed(row, overrides) for row in rows)
    front = {
        "status": "gaps_found" if gaps else "passed" if passed == len(rows) else "human_needed",
        "attempt": attempt,
        "must_haves_total": len(rows),
        "must_haves_passed": passed,
        "gaps": [gap.title for gap in gaps],
        "overrides": list(overrides),
    }
    found = table_lines(("#", "Must-Have", "Status", "Evidence"), [row[:4] for row in rows])
    told = [line for gap in gaps for line in _gap_lines(gap)] or ["None"]
    lines = [f"# {flat(title)}", "", "## Must-Have Verification", "", *found, "", "## Gaps", "", *told]
    return document_text(front, lines)


def _gap_of(result: MustHaveResult) -> Gap:
    return Gap(result.text, result.evidence, f"make it hold: {result.text}")


def _gap_lines(gap: Gap) -> list[str]:
    return [
        f"### {flat(gap.title)}",
        "",
        list_item(f"**Evidence:** {gap.evidence}"),
        list_item(f"**Suggested fix:** {gap.fix}"),
        "",
    ]


def _check(
    rows: Sequence[MustHaveResult],
    gaps: Sequence[Gap],
    overrides: Sequence[str],
    attempt: int,
    failed: Sequence[object],
) -> None:
    """Raise InputError for what no verification may hold."""
    problems = [
        Problem(f"override {override!r}", "names no must-have", "write a must-have's text or number")
        for override in overrides
        if not any(is_named(row, override_names([override])) for row in rows)
    ]
    problems += [
        Problem(f"status {row.status!r}", "does not say whether the must-have passed", "write PASSED, FAILED or HUMAN")
        for row in rows
        if row.outcome is None
    ]
    problems += [
        Problem(f"gap {gap.title!r}", "lacks its title, evidence or fix", "give all three")
        for gap in gaps
        if not (flat(gap.title) and flat(gap.evidence) and flat(gap.fix))
    ]
    problems += [
        Problem(f"must-have {row.text!r}", f"is {row.status}, without evidence", "say what was seen where")
        for row in rows
        if row.unproven and not is_named(row, override_names(overrides))
    ]
    if attempt < 1:
        problems.append(Problem("attempt", f"is {attempt}", "give 1 for the first one, more for later ones"))
    if failed and not gaps:
        problems.append(Problem("gaps", "is empty, though a must-have failed", "tell the gap, or leave `gaps` out"))
    if problems:
        raise InputError(problems)
