"""Debug log: hypotheses, evidence and the resolution of one bug, kept by a debugger for itself (document 003)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, get_args

from verifyplan.documents.reading.base import Document, Kind
from verifyplan.documents.reading.body import Part
from verifyplan.documents.reading.entries import moment, moment_of
from verifyplan.documents.reading.form import Form, other_form
from verifyplan.documents.reading.labelled import Labelled, divided, labelled
from verifyplan.documents.reading.sections import items, subparts
from verifyplan.documents.reading.source import Source
from verifyplan.documents.reading.typed import text_of

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


DEBUG_LOG_FORMS = (
    Form(
        "get-shit-done",
        "a log that names what triggered it, with what was eliminated in a section of its own",
        seen_by=("front:trigger", "part:Evidence"),
        unless=("front:mode", "part:Evidence Log"),
        aliases={"Evidence Log": ("Evidence",)},
    ),
    other_form("front:slug", "front:mode", "part:Current Focus", "part:Evidence Log", "part:Hypotheses"),
)


class Hypothesis(NamedTuple):
    """A hypothesis, whether it is eliminated by its place or box, and whether its box is checked (None: no box)."""

    text: str
    eliminated: bool
    checked: bool | None
    line: int


class Entry(NamedTuple):
    """An entry of the evidence log; `at` is None where it does not begin with a time."""

    text: str
    at: datetime | None
    line: int


class DebugLog(Document):
    """The log of one bug.

    `focus` and `resolution` hold what stands behind each label of document 003 that is there; `symptoms` are the lines
    of that section that are not empty. Source: document 003, Debugger; rule D1.
    """

    FORMS: ClassVar[tuple[Form, ...]] = DEBUG_LOG_FORMS

    kind: Kind = "debug-log"
    slug: str | None = None
    status: str | None = None
    created: datetime | None = None
    updated: datetime | None = None
    mode: str | None = None
    focus: Mapping[str, Labelled] = MappingProxyType({})
    symptoms: tuple[str, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    evidence: tuple[Entry, ...] = ()
    resolution: Mapping[str, Labelled] = MappingProxyType({})

    @classmethod
    def fields(cls, source: Source, form: Form) -> dict[str, Any]:
        """The typed fields of a log."""
        front = source.front
        return {
            "slug": text_of(front, "slug"),
            "status": text_of(front, "status"),
            "created": moment_of(front, "created"),
            "updated": moment_of(front, "updated"),
            "mode": text_of(front, "mode"),
            "focus": _read_labels(source, "Current Focus", {name.casefold(): name for name in FOCUS}),
            "symptoms": tuple(_lines(source, source.part("Symptoms"))),
            "hypotheses": tuple(_read_hypotheses(source, source.part("Hypotheses"))),
            "evidence": tuple(_read_evidence(source, form.part(source, "Evidence Log"))),
            "resolution": _read_labels(source, "Resolution", _RESOLUTION_NAMES),
        }


def _read_labels(source: Source, title: str, names: dict[str, str]) -> dict[str, Labelled]:
    part = source.part(title)
    return labelled(source.lines_of(part), names) if part else {}


def _lines(source: Source, part: Part | None) -> Iterator[str]:
    """The lines of a part that hold something, with single spaces."""
    lines = source.lines_of(part) if part else []
    return (" ".join(line.split()) for _, line in lines if line.strip())


def _read_hypotheses(source: Source, part: Part | None) -> Iterator[Hypothesis]:
    """The items of a section, each eliminated or not by the last heading or label above it, else by its box."""
    if part is None:
        return
    states = [(number, state) for number, line in source.prose_of(part) if (state := _state(line)) is not None]
    at = -1
    for bullet in items(source, part):
        if _state(bullet.text) is not None:
            continue
        while at + 1 < len(states) and states[at + 1][0] < bullet.line:
            at += 1
        eliminated = states[at][1] if at >= 0 else bool(bullet.checked)
        yield Hypothesis(bullet.text, eliminated, bullet.checked, bullet.line)


def _state(line: str) -> bool | None:
    """Whether a line is the title of the eliminated hypotheses (True) or of the active ones (False)."""
    name, text = divided(line)
    word = name if not text else ""
    return {"eliminated": True, "active": False}.get(word.split(" ")[0]) if word else None


def _read_evidence(source: Source, part: Part | None) -> Iterator[Entry]:
    """The entries of a log: its headings, else its list items, else the rows of its table."""
    if part is None:
        return
    under = subparts(source, part)
    tops = [(bullet.text, bullet.line) for bullet in items(source, part)]
    rows = [(" | ".join(row.cells), row.line) for table in source.tables(part) for row in table.rows]
    for text, line in [(p.title, p.first) for p in under] or tops or rows:
        yield Entry(text, _moment(text), line)


def _moment(text: str) -> datetime | None:
    found = _MOMENT.match(text)
    return moment(found["moment"]) if found else None
