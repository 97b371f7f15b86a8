"""Present a recorded run of any kind: records, events, tables, and the report (rules A13, E1, E4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, overload

import pandas as pd

from verifyplan.agents.anthropic.key import address_of
from verifyplan.analysis.failed_calls import failed_calls_of
from verifyplan.analysis.ignored_requests import notes_on_ignored
from verifyplan.analysis.independence import notes_on_independence
from verifyplan.errors import InputError, Problem
from verifyplan.field_docs import with_field_docs
from verifyplan.files import write_text
from verifyplan.frames.cut_notes import note_cut_rounds
from verifyplan.frames.cut_rounds import cut_findings
from verifyplan.frames.few_votes import notes_on_few_votes
from verifyplan.frames.run_notes import counted_calls, failure_counts, note_not_opened
from verifyplan.frames.run_tables import tables_of
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.event import Event
from verifyplan.protocol.event_run import RunEnded, RunStarted
from verifyplan.reports.blocks import Page
from verifyplan.reports.pages import page_html, page_markdown
from verifyplan.reports.usage import cost_words
from verifyplan.rules.going_on import NO_LOG, LogPlace, how_to_go_on, if_moved
from verifyplan.runlog.chain import Record
from verifyplan.runlog.current import current
from verifyplan.text import counted

ReportForm = Literal["markdown", "html"]


@with_field_docs
@dataclass(frozen=True, repr=False)
class Run:
    """A recorded run; everything except the paths of its files is derived from its records."""

    records: Sequence[Record]
    """Every event, numbered and stamped: a tuple, or, of a long run, read from its log as they are gone through."""
    log_path: Path | None = None
    """The run log; None if none was written."""
    run_id: str = "run"
    """Names the run: its log's path without suffix, under `log_dir` as it ends, its name alone where it was read."""

    def __repr__(self) -> str:
        """Its kind, its id, how it ended, and how long it is; the records themselves would fill screens."""
        counts = [*self._counts, counted(len(self.records), "event")]
        return f"<{type(self).__name__} {self.run_id}: {', '.join([self.ending, *counts])}>"

    @property
    def has_ended(self) -> bool:
        """Whether nothing is left to be done; False if it waits for a person, or was broken off."""
        return isinstance(self.records[-1].event, RunEnded)

    @property
    def ending(self) -> str:
        """How the run ended, in a word or two: its verdict or status, or that it was broken off."""
        raise NotImplementedError

    @property
    def _counts(self) -> list[str]:
        """Return the counts of a run of this kind, for its repr."""
        raise NotImplementedError

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The events that count, all in memory: of a run that was reopened, those of its present decision."""
        return tuple(self._events)

    @property
    def _events(self) -> Iterator[Event]:
        """Yield the events that count one by one, as they are needed once."""
        return (record.event for record in current(self.records))

    @property
    def started(self) -> RunStarted:
        """The first event: settings, inputs, versions."""
        first = self.records[0].event
        assert isinstance(first, RunStarted)  # noqa: S101  (a Run is made from logs, which begin so)
        return first

    @property
    def failed_calls(self) -> str:
        """How many calls failed, why, and how they are asked again; blank where none did.

        That a run is taken up again is said of one with a log alone.
        """
        failed = failed_calls_of(self.frames)
        if not failed or not self.retry_command:
            return failed
        moved = if_moved(failure_counts(self.frames.calls)[0], self.started.backend)
        return f"{failed}; to ask them again: {self.retry_command}{moved}"

    @property
    def retry_command(self) -> str:
        """The command that asks failed calls again; blank without a log, which holds what was answered."""
        if self.log_path is None:
            return ""
        calls = self.frames.calls
        kept_back = calls.loc[counted_calls(calls) & calls["failure"].eq("budget"), "reason"]
        return how_to_go_on(self._log_place, self.started.backend, retry_failed=True, kept_back=kept_back)

    @property
    def _log_place(self) -> LogPlace:
        return LogPlace(str(self.log_path), address_of()) if self.log_path else NO_LOG

    @property
    def _broken_off(self) -> str:
        """After which event a run was broken off, and how it goes on."""
        words = f"broken off after {counted(len(self.records), 'event')} (the last: {self.records[-1].event.type})"
        if self.log_path is None:
            return f"{words}; there is no log that it could go on from"
        return f"{words}; to get an outcome: {how_to_go_on(self._log_place, self.started.backend)}"

    @property
    def few_votes(self) -> tuple[str, ...]:
        """How many classes rest on too few votes, and which: fewer than the quorum, without one on half or fewer.

        A round that a limit cut off was not judged: the classes of its findings rest on no votes.
        """
        return tuple(notes_on_few_votes(self.frames.runs, self.frames.findings[self._cut_findings.isna()]))

    @property
    def _cut_round(self) -> str | None:
        """That a limit cut off the last round of votes, and how to go on; None where none did."""
        return note_cut_rounds(self.frames.findings, self._cut_findings, self.retry_command)

    @cached_property
    def _cut_findings(self) -> pd.Series:
        """The findings whose last round a limit cut off."""
        return cut_findings(self.frames.runs, self.frames.findings, self.frames.votes)

    @property
    def call_notes(self) -> tuple[str, ...]:
        """The notes on calls: replies not a call's own, what was ignored or not opened, few votes."""
        frames = self.frames
        counting = frames.calls[counted_calls(frames.calls)]
        notes = (*notes_on_independence(frames), *notes_on_ignored(counting))
        closed = note_not_opened(frames.tools)
        return (*(f"{note}." for note in notes), *self.few_votes, *filter(None, (closed,)))

    @property
    def cost_words(self) -> str:
        """The cost of the run's models: booked, perhaps billed beside it, tokens; blank where none was asked."""
        return cost_words(self.frames)

    @cached_property
    def frames(self) -> RunSet:
        """The run as tables (rule E4)."""
        return tables_of(tuple(self.records), self.run_id, str(self.log_path or ""))


@with_field_docs
@dataclass(frozen=True, repr=False)
class ReportedRun(Run):
    """A run that has a report."""

    @property
    def _page(self) -> Page:
        """Return the report as blocks."""
        raise NotImplementedError

    @overload
    def report(self, path: None = None, *, form: ReportForm | None = None) -> str: ...
    @overload
    def report(self, path: str | Path, *, form: ReportForm | None = None) -> Path: ...
    def report(self, path: str | Path | None = None, *, form: ReportForm | None = None) -> str | Path:
        """Write the report and return its path, whose suffix chooses Markdown or HTML; without a path return its text.

        Raises InputError for a path of another suffix, unless `form` says how it is written.
        """
        suffix = None if path is None else Path(path).suffix
        if form is None and suffix not in (None, ".md", ".html", ".htm"):
            fix = "name a .md or .html file, or say form="
            raise InputError(Problem("path", f"{str(path)!r} does not say the form of the report", fix))
        html = form == "html" or (form is None and suffix in (".html", ".htm"))
        text = (page_html if html else page_markdown)(self._page)
        return text if path is None else write_text(path, text)
