"""Hold a run that has a report: a page as Markdown or HTML (rule A13)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import overload

from verifyplan.field_docs import with_field_docs
from verifyplan.reports.blocks import Page
from verifyplan.reports.page_files import ReportForm, write_page
from verifyplan.runs.run import Run


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
        return write_page(self._page, path, form)
