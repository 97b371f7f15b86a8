"""Hold a run that has a report: a page as Markdown or HTML (rule A13)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, overload

from verifyplan.errors import InputError, Problem
from verifyplan.field_docs import with_field_docs
from verifyplan.files import write_text
from verifyplan.reports.blocks import Page
from verifyplan.reports.pages import page_html, page_markdown
from verifyplan.runs.run import Run

ReportForm = Literal["markdown", "html"]


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
