"""Cited places opened at their lines, where a log holds them: the plan, texts under debate, results of tools."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from verifyplan.agents.evidence import CitedPlace, read_evidence
from verifyplan.charts.labels import plain
from verifyplan.protocol.event_run import DebateInputs, PlanInputs, RunStarted, TurnSent
from verifyplan.runlog.chain import Record
from verifyplan.widgets.html import Html, paragraph

AROUND = 4
"""Lines that are shown before and after a cited place."""
MAX_CITED_LINES = 60
"""Lines of one place that are shown."""
MAX_LINE_CHARACTERS = 400
"""Characters of one line that are shown."""

Lines = Mapping[str, Mapping[int, str]]
"""The recorded lines of each text, by their numbers."""

_READ = re.compile(r"(.+): lines? \d+(?:-\d+)? of \d")
_READ_LINE = re.compile(r"(\d{1,8}): (.*)")
_FOUND = re.compile(r"(?:The first )?\d+ hits? in \d+ file")
_HIT = re.compile(r"(\S+?):(\d{1,8}): (.*)")


def recorded_lines(records: Sequence[Record]) -> Lines:
    """Return the lines of plan, documents and files that a log holds; files as tools showed them to models.

    >>> from verifyplan.datasets import path
    >>> from verifyplan.runlog.reader import read_log
    >>> lines = recorded_lines(read_log(path("live-example/plan") / "purge-hour-001.jsonl").records)
    >>> lines["purge-hour.md"][1], lines["docs/runbook.md"][3]
    ('# Running the purge after the snapshot, not during it', '## Deploy')
    """
    lines: dict[str, dict[int, str]] = defaultdict(dict)
    for record in records:
        if isinstance(record.event, TurnSent):
            for name, number, line in _shown(record.event):
                lines[name].setdefault(number, line)
    for name, text in _own_texts(records).items():
        lines[name] = dict(enumerate(text.split("\n"), 1))
    return lines


def _own_texts(records: Sequence[Record]) -> Mapping[str, str]:
    started = records[0].event
    inputs = started.inputs if isinstance(started, RunStarted) else None
    if isinstance(inputs, PlanInputs):
        return {inputs.plan_name: inputs.plan_text}
    return inputs.documents if isinstance(inputs, DebateInputs) else {}


def _shown(turn: TurnSent) -> Iterator[tuple[str, int, str]]:
    """Yield the lines that tools returned to a model, with the name of their text."""
    for block in turn.added:
        content = block.get("content")
        if block.get("type") != "tool_result" or not isinstance(content, str):
            continue
        head, _, rest = content.partition("\n")
        read, is_search = _READ.match(head), _FOUND.match(head)
        for line in rest.split("\n"):
            if read and (found := _READ_LINE.match(line)):
                yield read[1], int(found[1]), found[2]
            elif is_search and (hit := _HIT.match(line)):
                yield hit[1], int(hit[2]), hit[3]


def opened(evidence: Any, lines: Lines | None) -> str:
    """Return each place that an evidence cites with its lines, the cited ones marked, or that the log lacks them."""
    places = read_evidence(str(evidence)).places if isinstance(evidence, str) else ()
    if not places:
        return ""
    if lines is None:
        return paragraph("The cited lines cannot be opened: this run was not read from a log that holds them.")
    return "".join(_opened(place, lines.get(place.path, {})) for place in dict.fromkeys(places))


def _opened(place: CitedPlace, lines: Mapping[int, str]) -> str:
    last = min(place.last, place.line + MAX_CITED_LINES - 1)
    numbers = [number for number in range(place.line - AROUND, last + AROUND + 1) if number in lines]
    if not any(place.line <= number <= last for number in numbers):
        return paragraph(f"{place}: the log does not hold this line; only the quotation above was recorded.")
    rows = "".join(_line(number, lines[number], place.line <= number <= last) for number in numbers)
    title = escape(plain(f"{place.path}, line {place.line}" + (f" to {place.last}" * (place.last > place.line))))
    return Html(
        f'<figure class="vp-source"><figcaption>{title}, as recorded</figcaption>'
        f'<div class="vp-lines" tabindex="0" role="region" aria-label="{title}">{rows}</div></figure>'
    )


def _line(number: int, line: str, cited: bool) -> str:
    words = escape(plain(line[:MAX_LINE_CHARACTERS])) or " "
    body = f'<mark class="vp-cited">{words}</mark>' if cited else f"<span>{words}</span>"
    return f'<div><span class="vp-line-number">{number}</span>{body}</div>'
