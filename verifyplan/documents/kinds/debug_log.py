"""Debug log: hypotheses, evidence and the resolution of one bug, which a debugger keeps for itself (rules D1, D2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import check_layout
from verifyplan.documents.reading.body import DocumentSection
from verifyplan.documents.reading.document import Document, DocumentKind, Form, RequiredField, other_form
from verifyplan.documents.reading.front import moment, moment_of
from verifyplan.documents.reading.phrases import LocatedText, labelled_texts, says_nothing, split_label
from verifyplan.documents.reading.source import Source

DebugStatus = Literal["gathering", "investigating", "fixing", "verifying", "resolved"]
DEBUG_STATUSES: tuple[DebugStatus, ...] = get_args(DebugStatus)
"""In the order in which a log goes through them."""

FOCUS = ("Hypothesis", "Test", "Expecting", "Disconfirm", "Next action")
RESOLUTION = ("Root cause", "Mechanism", "Fix", "Commit")

_RESOLUTION_NAMES = {
    **{name.casefold(): name for name in RESOLUTION},
    **dict.fromkeys(("commit hash", "fix commit", "commits"), "Commit"),
}
_MOMENT = re.compile(
    r"[\[(*_`]{0,4}(?P<moment>\d{4}-\d{2}-\d{2}"
    r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?)(?!\d)"
)
_COMMIT = re.compile(r"`?(?P<sha>[0-9a-fA-F]{7,40})`?(?![\w-])[ \t]*[-\u2013\u2014:(]?[ \t]*(?P<message>.*)")
_FIX_MESSAGE = re.compile(r"fix\([^()\s][^()]{0,99}\): \S")


class Hypothesis(NamedTuple):
    """A hypothesis, whether its place or box eliminates it, and whether its box is checked (None without a box)."""

    text: str
    eliminated: bool
    checked: bool | None
    line: int


class EvidenceEntry(NamedTuple):
    """An entry of the evidence log; `at` is None where it does not begin with a time."""

    text: str
    at: datetime | None
    line: int


class DebugLog(Document):
    """The log of one bug.

    `focus` and `resolution` are the texts behind the labels of the contract that are there; `symptoms` are the lines of
    that section that are not empty.
    """

    FORMS = (
        Form(
            "get-shit-done",
            "a log that names what triggered it, with what was eliminated in a section of its own",
            seen_by=("front:trigger", "part:Evidence"),
            unless=("front:mode", "part:Evidence Log"),
            aliases={"Evidence Log": ("Evidence",)},
        ),
        other_form("front:slug", "front:mode", "part:Current Focus", "part:Evidence Log", "part:Hypotheses"),
    )
    FIELDS = (
        RequiredField("slug", "text"),
        RequiredField("status", "word", DEBUG_STATUSES),
        RequiredField("mode", "word", ("find_and_fix", "find_root_cause_only")),
    )
    SECTIONS = ("Current Focus", "Symptoms", "Hypotheses", "Evidence Log", "Resolution")

    kind: DocumentKind = "debug-log"
    slug: str | None = None
    status: str | None = None
    created: datetime | None = None
    updated: datetime | None = None
    mode: str | None = None
    focus: Mapping[str, LocatedText] = MappingProxyType({})
    symptoms: tuple[str, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    evidence: tuple[EvidenceEntry, ...] = ()
    resolution: Mapping[str, LocatedText] = MappingProxyType({})

    @classmethod
    def fields(cls, source: Source, form: Form) -> dict[str, Any]:
        """Return the typed fields of a log."""
        front = source.front
        focus, symptoms, resolution = map(source.section, ("Current Focus", "Symptoms", "Resolution"))
        symptom_lines = source.lines_of(symptoms) if symptoms else []
        focus_names = {name.casefold(): name for name in FOCUS}
        return {
            "created": moment_of(front, "created"),
            "updated": moment_of(front, "updated"),
            "focus": labelled_texts(source.lines_of(focus), focus_names) if focus else {},
            "symptoms": tuple(" ".join(line.split()) for _, line in symptom_lines if line.strip()),
            "hypotheses": tuple(_read_hypotheses(source, source.section("Hypotheses"))),
            "evidence": tuple(_read_evidence(source, form.section(source, "Evidence Log"))),
            "resolution": labelled_texts(source.lines_of(resolution), _RESOLUTION_NAMES) if resolution else {},
        }


def _read_hypotheses(source: Source, section: DocumentSection | None) -> Iterator[Hypothesis]:
    """Yield the items of a section, each eliminated or not by the last heading or label above it, else by its box."""
    if section is None:
        return
    states = [(number, state) for number, line in source.prose_of(section) if (state := _state(line)) is not None]
    at = -1
    for bullet in source.top_bullets(section):
        if _state(bullet.text) is not None:
            continue
        while at + 1 < len(states) and states[at + 1][0] < bullet.line:
            at += 1
        eliminated = states[at][1] if at >= 0 else bool(bullet.checked)
        yield Hypothesis(bullet.text, eliminated, bullet.checked, bullet.line)


def _state(line: str) -> bool | None:
    """Whether a line is the title of the eliminated hypotheses (True) or of the active ones (False)."""
    label, text = split_label(line)
    return None if text else {"eliminated": True, "active": False}.get(label.split(" ")[0])


def _read_evidence(source: Source, section: DocumentSection | None) -> Iterator[EvidenceEntry]:
    """Yield the entries of a log: its headings, else its list items, else the rows of its table."""
    if section is None:
        return
    headings = [(inner.title, inner.first) for inner in source.subsections(section)]
    bullets = [(bullet.text, bullet.line) for bullet in source.top_bullets(section)]
    rows = [(" | ".join(row.cells), row.line) for table in source.tables(section) for row in table.rows]
    for text, line in headings or bullets or rows:
        time = _MOMENT.match(text)
        yield EvidenceEntry(text, moment(time["moment"]) if time else None, line)


def check_debug_log(log: DebugLog) -> Iterator[Violation]:
    """Yield the violations of a debug log by itself (rule D2)."""
    yield from check_layout(log)
    yield from _check_dates(log)
    if not log.held_to_contract:
        return
    name = PurePath(log.path).stem
    if log.slug and log.slug != name:
        yield violation("debug-log/slug", log.path, log.source.front.line("slug"), slug=log.slug, name=name)
    yield from _check_focus(log)
    yield from _check_hypotheses(log)
    yield from _check_evidence(log)
    yield from _check_resolution(log)


def _check_dates(log: DebugLog) -> Iterator[Violation]:
    """Check the two dates, which YAML may read as dates or as texts."""
    front = log.source.front
    for key, date in (("created", log.created), ("updated", log.updated)) if log.held_to_contract else ():
        if key not in front.values:
            if front.values:
                example = "and a time as 2026-03-02T09:29:18Z"
                yield violation("debug-log/field-missing", log.path, front.line(), key=key, example=example)
        elif date is None:
            yield violation("debug-log/date", log.path, front.line(key), key=key, written=front.raw(key) or "")
    if log.created and log.updated and log.updated < log.created:
        dates = {key: front.raw(key) for key in ("created", "updated")}
        yield violation("debug-log/updated-before-created", log.path, front.line("updated"), **dates)


def _check_focus(log: DebugLog) -> Iterator[Violation]:
    """Check the focus; and that symptoms say something once they are gathered, when nothing may be added any more."""
    focus, symptoms = map(log.source.section, ("Current Focus", "Symptoms"))
    for name in FOCUS if focus else ():
        text = log.focus.get(name)
        if focus and (text is None or not text.text):
            message = f"the focus lacks {name!r}" if text is None else f"{name!r} of the focus is empty"
            line = text.line if text else focus.first
            yield violation("debug-log/focus-missing", log.path, line, message=message, label=name)
    if symptoms and log.status != "gathering" and says_nothing(" ".join(log.symptoms)):
        yield violation("debug-log/symptoms-empty", log.path, symptoms.first, status=log.status or "not given")


def _check_hypotheses(log: DebugLog) -> Iterator[Violation]:
    for text, eliminated, checked, line in log.hypotheses:
        if eliminated and not checked:
            yield violation("debug-log/eliminated-unchecked", log.path, line, hypothesis=text)
        if not eliminated and checked:
            yield violation("debug-log/active-checked", log.path, line, hypothesis=text)


def _check_evidence(log: DebugLog) -> Iterator[Violation]:
    for entry in log.evidence:
        if entry.at is None:
            yield violation("debug-log/evidence-time", log.path, entry.line, entry=entry.text)
    timed = [(entry.at, entry.line) for entry in log.evidence if entry.at]
    for (before, _), (at, line) in pairwise(timed):
        if at < before:
            times = {"at": at.isoformat(), "before": before.isoformat()}
            yield violation("debug-log/evidence-order", log.path, line, **times)


def _check_resolution(log: DebugLog) -> Iterator[Violation]:
    """Check that a resolved log is complete; where the root cause alone was sought, there is no fix and no commit.

    The commit is a hash, and a text behind it the message of a fix.
    """
    section = log.source.section("Resolution")
    if log.status != "resolved":
        return
    for name in RESOLUTION[:2] if log.mode == "find_root_cause_only" else RESOLUTION:
        text = log.resolution.get(name)
        if section and (text is None or not text.text):
            problem = f"lacks {name!r}" if text is None else f"has an empty {name!r}"
            line = text.line if text else section.first
            yield violation("debug-log/resolution-incomplete", log.path, line, problem=problem, label=name)
    text = log.resolution.get("Commit")
    if text is None or not text.text:
        return
    commit = _COMMIT.match(text.text)
    if commit is None:
        message = f"the commit {text.text[:80]!r} does not begin with a hash"
        yield violation("debug-log/fix-commit", log.path, text.line, message=message)
    elif commit["message"].strip("`\"' )") and not _FIX_MESSAGE.match(commit["message"].strip("`\"' ")):
        message = f"the commit's message {commit['message'][:80]!r} is not of the form fix(scope): description"
        yield violation("debug-log/fix-commit", log.path, text.line, message=message)
