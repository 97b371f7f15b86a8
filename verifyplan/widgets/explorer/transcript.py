"""The log of a run: where it is, and the transcripts of its calls as HTML (rule E1)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from verifyplan.agents.anthropic.rendering import Rendered, prompt_versions, render
from verifyplan.agents.base import Request
from verifyplan.frames.log_calls import opened_for
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.call import ToolUse, Usage, WorkerRequest
from verifyplan.protocol.event_run import CallFailed, CallReplied, RunStarted, TurnReplied, TurnSent
from verifyplan.reports.usage import UNKNOWN_USAGE, dollars
from verifyplan.runlog.chain import Record
from verifyplan.runlog.reader import read_log
from verifyplan.runlog.recorder import Past, Result
from verifyplan.runs.requests import RecordedRequest, request_of
from verifyplan.text import counted
from verifyplan.widgets.explorer.recorded_lines import Lines, recorded_lines
from verifyplan.widgets.html import NOT_RECORDED, Html, long_text, paragraph, table, text


def file_state(source: Path) -> tuple[int, int] | None:
    """Return the time and size of a file, which show whether it changed; None where it cannot be read."""
    try:
        status = source.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def no_log(run: RunSet) -> str:
    """Return why the log of the only run of a set cannot be read; "" where it can."""
    row = run.runs.iloc[0]
    if pd.isna(row["log"]) or not row["log"]:
        return "this run has no log"
    if pd.isna(row["source"]):
        return "this run was not written to a file"
    if not Path(str(row["source"])).is_file():
        return "the log of this run is not where it was read from"
    return ""


MAX_TRANSCRIPT_CHARACTERS = 60_000
"""Characters of one part of a transcript that are shown."""
SAME = "Rebuilt from the log; its digest equals the recorded one, so this is what the call was given."
OTHER = "Rebuilt from the log by this version's rules; its digest differs from the recorded one, so it may differ."
UNMADE = "The prompt is not in the log, and this version's rules do not reach this call when they replay the run."
WORDS_OTHER = " The prompts of this version differ from those that were sent."
PLACES = " Cited places that were opened for the worker are not in the log."


class RunLog:
    """A log as it was read from a file in a known state."""

    def __init__(self, path: Path) -> None:
        self.path, self.state = path, file_state(path)
        self.records: Sequence[Record] = read_log(path).records
        self.past = Past(self.records)

    @cached_property
    def lines(self) -> Lines:
        """The lines of plan and files that it holds."""
        return recorded_lines(self.records)

    def transcript(self, call_id: str) -> str:
        """Return the transcript of one call."""
        result, turns = self.past.result(call_id), self.past.turns(call_id)
        parts = [_fold("What was asked", _prompt(self.records, call_id))]
        for turn in turns:
            name = f"Turn {turn.call_id.rpartition('/t')[2]}"
            if isinstance(turn, TurnSent):
                parts.append(_fold(f"{name}, what tools returned", _added(turn)))
            elif isinstance(turn, TurnReplied):
                parts.append(_fold(f"{name}, the reply ({_used(turn.usage)})", _reply(turn), is_open=True))
        n_opened = sum(len(opened_for(turn)) for turn in turns if isinstance(turn, TurnSent))
        return "".join([*parts, *_end(result, n_opened, is_open=not turns)])


def _end(result: Result | None, n_opened: int, is_open: bool) -> Iterator[str]:
    """Yield what was opened for a call beforehand, its tool calls, and how it ended."""
    if result is not None:
        opened, called = result.tools[:n_opened], result.tools[n_opened:]
        yield _tools(opened, f"{counted(len(opened), 'excerpt')} of cited places, opened beforehand")
        yield _tools(called, counted(len(called), "tool call"))
    if isinstance(result, CallReplied):
        yield _fold("The answer as the run read it", _value(result.value), is_open=is_open)
        yield from (paragraph(f"A part failed: {failure}") for failure in result.partial_failures)
    elif isinstance(result, CallFailed):
        yield paragraph(f"It failed ({result.status}): {result.reason}")
    else:
        yield paragraph("The log does not record how this call ended.")


def _fold(title: str, body: str, *, is_open: bool = False) -> str:
    return f"<details{' open' if is_open else ''}><summary>{text(title, 160)}</summary>{body}</details>" if body else ""


def _used(usage: Usage) -> str:
    if usage.uncounted:
        return UNKNOWN_USAGE
    cost = "" if usage.cost is None else f", {dollars(usage.cost)}"
    return f"{usage.total_input:,} tokens in, {usage.output_tokens:,} out{cost}"


def _prompt(records: Sequence[Record], call_id: str) -> str:
    """Return the request; where a model was asked, in the words that it was sent."""
    found = request_of(records, call_id)
    if found is None:
        return paragraph(UNMADE)
    started = records[0].event
    backend = started.backend if isinstance(started, RunStarted) else {}
    note, shown = SAME if found.is_same else OTHER, found.request.model_dump(mode="json", exclude_defaults=True)
    if not backend.get("prompts"):
        return paragraph(note) + _value(shown)
    return paragraph(note + _doubts(found, backend)) + "".join(_words(found, backend))


def _doubts(found: RecordedRequest, backend: dict[str, Any]) -> str:
    request, now, then = found.request, prompt_versions(), backend["prompts"]
    changed = any(
        then.get(name, {}).get("sha256") != now[name]["sha256"] for name in _rendered(request, backend).prompts
    )
    full = isinstance(request, WorkerRequest) and request.verification_mode == "full-reanalysis"
    return (WORDS_OTHER if changed else "") + (PLACES if full else "")


def _words(found: RecordedRequest, backend: dict[str, Any]) -> Iterator[str]:
    rendered = _rendered(found.request, backend)
    yield f"<h6>System prompt ({text(', '.join(rendered.prompts))})</h6>{_words_of(rendered.system)}"
    for number, block in enumerate(rendered.blocks, 1):
        yield f"<h6>Message, part {number}</h6>{_words_of(block)}"


def _rendered(request: Request, backend: dict[str, Any]) -> Rendered:
    """Return a request in words, under the settings of its model."""
    if not isinstance(request, WorkerRequest):
        return render(request)
    settings = backend | (backend.get("workers", {}).get(request.worker) or {})
    return render(request, style=settings.get("style"), short=settings.get("prompt") == "short")


def _added(turn: TurnSent) -> str:
    """Return the results of tools and the requests for repair that a turn adds."""
    parts = []
    for block in turn.added:
        content = block.get("content", block.get("text", ""))
        parts.append(_words_of(content) if isinstance(content, str) else _value(content))
    return "".join(parts)


def _reply(turn: TurnReplied) -> str:
    parts: list[str] = []
    for block in turn.message.get("content", ()):
        if block.get("type") == "text":
            parts.append(_json_or_words(str(block.get("text", ""))))
        elif block.get("type") == "tool_use":
            parts.append(paragraph(f"calls {block.get('name')}") + _value(block.get("input")))
        else:
            parts.append(_value(block))
    batch = paragraph(f"It came in the message batch {turn.batch}.") if turn.batch else ""
    stop = paragraph(f"Stopped: {turn.message.get('stop_reason')}; {turn.duration_ms:,} ms; source: {turn.source}.")
    return "".join(parts) + stop + batch


def _json_or_words(words: str) -> Html:
    try:
        return _value(json.loads(words))
    except ValueError:
        return _words_of(words)


def _words_of(words: str) -> Html:
    return long_text(words, MAX_TRANSCRIPT_CHARACTERS)


def _value(value: Any) -> Html:
    return _words_of(json.dumps(value, indent=1, ensure_ascii=False, default=str))


def _tools(tools: Sequence[ToolUse], title: str) -> str:
    if not tools:
        return ""
    rows = [(use.tool, use.argument or NOT_RECORDED, use.refused or f"{use.results:,}", use.serves) for use in tools]
    return _fold(title, table(title, ["Tool", "With", "Came back", "For"], rows))
