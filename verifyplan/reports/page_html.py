"""A page as one HTML file that stands alone, in light and dark, on a screen and on paper (rules A13, H3)."""

from __future__ import annotations

from functools import cache
from html import escape

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from verifyplan.reports.blocks import Page
from verifyplan.reports.visible import lines, one_line, shortened, visible

FOLDED_FROM = 420
"""Texts of so many characters or more are folded; their beginning is shown."""
SUMMARY = 160
"""How much of a folded text is shown."""


def page_html(page: Page) -> str:
    """The page as HTML; every text is escaped, nothing is loaded from anywhere, and there are no scripts."""
    return _template().render(page=page, summary=SUMMARY).rstrip() + "\n"


def framed(page: Page, height: int = 640) -> str:
    """The page in a frame of so many pixels, to be put into another page."""
    source, title = escape(page_html(page)), escape(one_line(page.title, 120))
    style = f"width: 100%; height: {height}px; border: 1px solid #8888"
    return f'<iframe sandbox title="{title}" style="{style}" srcdoc="{source}"></iframe>'


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("verifyplan.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "shown": visible,
        "brief": one_line,
        "shortened": shortened,
        "folds": _folds,
        "whole": _whole,
    }
    return environment.get_template("page.html.j2")


def _folds(text: str) -> bool:
    return len(text) >= FOLDED_FROM or text.count("\n") >= 12


def _whole(text: str) -> str:
    """A long text with its lines kept."""
    return "\n".join(lines(shortened(text)))
