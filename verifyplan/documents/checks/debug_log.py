"""The check of a debug log: its form, focus, hypotheses, evidence and resolution (rule D2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path, PurePath

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import RequiredField, check_fields, check_form, check_sections, held_to_contract
from verifyplan.documents.kinds.debug_log import (
    DEBUG_STATUSES,
    FOCUS,
    RESOLUTION,
    DebugLog,
)
from verifyplan.documents.reading.labelled import says_nothing

FIELDS = (
    RequiredField("slug", "text"),
    RequiredField("status", "word", DEBUG_STATUSES),
    RequiredField("mode", "word", ("find_and_fix", "find_root_cause_only")),
)
SECTIONS = ("Current Focus", "Symptoms", "Hypotheses", "Evidence Log", "Resolution")

_COMMIT = re.compile(r"`?(?P<sha>[0-9a-fA-F]{7,40})`?(?![\w-])[ \t]*[-\u2013\u2014:(]?[ \t]*(?P<message>.*)")
_MESSAGE = re.compile(r"fix\([^()\s][^()]{0,99}\): \S")


def check_debug_log(log: DebugLog, root: Path | None = None) -> Iterator[Violation]:  # noqa: ARG001
    """The violations of a debug log by itself. Source: document 003, Debugger; rule D2."""
    yield from check_form(log)
    yield from check_fields(log, FIELDS)
    yield from check_sections(log, SECTIONS)
    yield from _check_dates(log)
    yield from _check_head(log)
    if not held_to_contract(log):
        return
    yield from _check_focus(log)
    yield from _check_symptoms(log)
    yield from _check_hypotheses(log)
    yield from _check_evidence(log)
    yield from _check_resolution(log)
    yield from _check_commit(log)


def _check_dates(log: DebugLog) -> Iterator[Violation]:
    """The two dates, which YAML may read as dates or as texts."""
    if not held_to_contract(log):
        return
    front = log.source.front
    for key, moment in (("created", log.created), ("updated", log.updated)):
        if key not in front.values:
            if front.values:
                fix = f"add {key}: and a time as 2026-03-02T09:29:18Z"
                yield violation("debug-log/field-missing", log.path, front.line(), f"the key {key} is missing", fix)
        elif moment is None:
            message = f"{key} is {(front.raw(key) or '')[:80]!r}, no date or time as ISO 8601 writes it"
            yield violation("debug-log/date", log.path, front.line(key), message, "write it as 2026-03-02T09:29:18Z")


def _check_head(log: DebugLog) -> Iterator[Violation]:
    name, front = PurePath(log.path).stem, log.source.front
    if log.slug and log.slug != name and held_to_contract(log):
        message = f"the slug is {log.slug[:80]!r}, the file's name {name[:80]!r}"
        yield violation("debug-log/slug", log.path, front.line("slug"), message, "give both the same name")
    if log.created and log.updated and log.updated < log.created:
        message = f"updated {front.raw('updated')} is before created {front.raw('created')}"
        fix = "write when the log was last changed"
        yield violation("debug-log/updated-before-created", log.path, front.line("updated"), message, fix)


def _check_focus(log: DebugLog) -> Iterator[Violation]:
    part = log.source.part("Current Focus")
    for name in FOCUS if part else ():
        told = log.focus.get(name)
        if part and (told is None or not told.text):
            message = f"the focus lacks {name!r}" if told is None else f"{name!r} of the focus is empty"
            line = told.line if told else part.first
            yield violation("debug-log/focus-missing", log.path, line, message, f"add **{name}:** and what it is now")


def _check_symptoms(log: DebugLog) -> Iterator[Violation]:
    """Symptoms that say nothing once they are gathered, when nothing may be added to them any more."""
    part = log.source.part("Symptoms")
    if part and log.status != "gathering" and says_nothing(" ".join(log.symptoms)):
        message = f"the section 'Symptoms' is empty, and the status is {log.status or 'not given'}"
        yield violation("debug-log/symptoms-empty", log.path, part.first, message, "say what was seen to be wrong")


def _check_hypotheses(log: DebugLog) -> Iterator[Violation]:
    for hypothesis in log.hypotheses:
        name = hypothesis.text[:80]
        if hypothesis.eliminated and not hypothesis.checked:
            message, fix = f"the eliminated hypothesis {name!r} is not checked", "begin it with - [x]"
            yield violation("debug-log/eliminated-unchecked", log.path, hypothesis.line, message, fix)
        if not hypothesis.eliminated and hypothesis.checked:
            message, fix = f"the active hypothesis {name!r} is checked", "move it to Eliminated, or begin it with - [ ]"
            yield violation("debug-log/active-checked", log.path, hypothesis.line, message, fix)


def _check_evidence(log: DebugLog) -> Iterator[Violation]:
    for entry in log.evidence:
        if entry.at is None:
            message = f"the entry {entry.text[:80]!r} does not begin with a time"
            fix = "begin it with one, as 2026-03-02T09:29:18Z"
            yield violation("debug-log/evidence-time", log.path, entry.line, message, fix)
    timed = [(entry.at, entry) for entry in log.evidence if entry.at]
    for (before, _), (at, entry) in pairwise(timed):
        if at < before:
            message = f"the entry of {at.isoformat()} stands behind one of {before.isoformat()}"
            fix = "add entries at the end, and change none"
            yield violation("debug-log/evidence-order", log.path, entry.line, message, fix)


def _check_resolution(log: DebugLog) -> Iterator[Violation]:
    """What a resolved log lacks; where the root cause alone was sought, there is no fix and no commit."""
    part = log.source.part("Resolution")
    if log.status != "resolved" or part is None:
        return
    wanted = RESOLUTION[:2] if log.mode == "find_root_cause_only" else RESOLUTION
    for name in wanted:
        told = log.resolution.get(name)
        if told is None or not told.text:
            wrong = f"lacks {name!r}" if told is None else f"has an empty {name!r}"
            message = f"the log is resolved, and its resolution {wrong}"
            line = told.line if told else part.first
            yield violation(
                "debug-log/resolution-incomplete", log.path, line, message, f"add **{name}:** and what it was"
            )


def _check_commit(log: DebugLog) -> Iterator[Violation]:
    """Whether the commit is a hash, and what stands behind it, if anything, the message of a fix."""
    told = log.resolution.get("Commit")
    if told is None or not told.text or log.status != "resolved":
        return
    found = _COMMIT.match(told.text)
    fix = "write its hash, and behind it its first line: fix(scope): description"
    if found is None:
        message = f"the commit {told.text[:80]!r} does not begin with a hash"
        yield violation("debug-log/fix-commit", log.path, told.line, message, fix)
    elif found["message"].strip("`\"' )") and not _MESSAGE.match(found["message"].strip("`\"' ")):
        message = f"the commit's message {found['message'][:80]!r} is not of the form fix(scope): description"
        yield violation("debug-log/fix-commit", log.path, told.line, message, fix)
