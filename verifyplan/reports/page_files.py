"""Write a page into a file of Markdown or HTML, or return its text."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from verifyplan.errors import InputError, Problem
from verifyplan.files import write_text
from verifyplan.reports.blocks import Page
from verifyplan.reports.pages import page_html, page_markdown

ReportForm = Literal["markdown", "html"]


def write_page(page: Page, path: str | Path | None = None, form: ReportForm | None = None) -> str | Path:
    """Write a page and return its path, whose suffix chooses Markdown or HTML; without a path return its text.

    Raises InputError for a path of another suffix, unless `form` says how it is written.
    """
    suffix = None if path is None else Path(path).suffix
    if form is None and suffix not in (None, ".md", ".html", ".htm"):
        fix = "name a .md or .html file, or say form="
        raise InputError(Problem("path", f"{str(path)!r} does not say the form of the report", fix))
    html = form == "html" or (form is None and suffix in (".html", ".htm"))
    text = (page_html if html else page_markdown)(page)
    return text if path is None else write_text(path, text)
