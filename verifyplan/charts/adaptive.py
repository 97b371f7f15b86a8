"""Draw one chart on light and on dark ground: colours that a page sets, and the dark ones for files.

Charts are drawn in light colours. In a notebook a style sheet in the picture replaces them by CSS variables, which
follow the page while it is shown; in files of the dark theme the specification has the dark colours. A reader of SVG
that knows no style sheets shows the light picture.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from verifyplan.charts.theme import BLUE_TEXT, FAINT, INK, LINE, PALE, PAPER, RED_TEXT


class _Shade(NamedTuple):
    """A colour that follows the theme: its name, on light and on dark ground, and the page's variables for it."""

    name: str
    light: str
    dark: str
    page: tuple[str, ...] = ()


SHADES = (
    _Shade("ink", INK, "#e6e8eb", ("--vp-ink",)),
    _Shade("faint", FAINT, "#a6adb6", ("--vp-faint",)),
    _Shade("line", LINE, "#3a4048", ("--vp-line",)),
    _Shade("paper", PAPER, "#111111", ("--vp-paper", "--jp-layout-color0")),
    _Shade("pale", PALE, "#626870"),
    _Shade("blue", BLUE_TEXT, "#5eb0ea"),
    _Shade("red", RED_TEXT, "#ff9d5c"),
)
DARK = {shade.light: shade.dark for shade in SHADES}
"""The colours on dark ground by those on light ground; all others stay."""

DARK_PAGES = (
    '[data-jp-theme-light="false"]',
    '[data-theme="dark"]',
    '[theme="dark"]',
    ".vscode-dark",
    ".vscode-high-contrast:not(.vscode-high-contrast-light)",
)
"""Attributes and classes of pages with their own dark theme: JupyterLab, documentation and marimo, Colab, VS Code."""
LIGHT_PAGES = (
    '[data-jp-theme-light="true"]',
    '[data-theme="light"]',
    ".theme-light",
    ".vscode-light",
    ".vscode-high-contrast-light",
)
"""The same of pages with their own light theme; other pages follow the reader's system."""

CLASS = "vp-chart"
"""The class of a picture that follows the page."""


def _sheet() -> str:
    """Return the style sheet: the variables, light and dark, and the light colours' replacement by them."""
    light, dark = (
        ";".join(f"--vpc-{shade.name}:{_on_page(shade, getattr(shade, ground))}" for shade in SHADES)
        for ground in ("light", "dark")
    )
    light_pages, dark_pages = ",".join(LIGHT_PAGES), ",".join(DARK_PAGES)
    colors = "".join(
        f'.{CLASS} [{side}="{shade.light}"]{{{side}:var(--vpc-{shade.name})}}'
        for shade in SHADES
        for side in ("fill", "stroke")
    )
    return (
        f".{CLASS}{{{light}}}"
        f"@media(prefers-color-scheme:dark){{.{CLASS}:not(:is({light_pages}) *){{{dark}}}}}"
        f".{CLASS}:is(:is({dark_pages}) *){{{dark}}}"
        f"{colors}.{CLASS}>rect:first-of-type{{fill:none}}"
    )


def _on_page(shade: _Shade, color: str) -> str:
    """Return the colour, unless the page has one for it."""
    for name in reversed(shade.page):
        color = f"var({name},{color})"
    return color


STYLE = f"<style>{_sheet()}</style>"
"""The style sheet of a picture that follows the page; it applies to such pictures alone."""

_COLOR_KEYS = frozenset({"background", "color", "fill", "stroke", "line", "range", "ring", "value"})
"""Where a specification has colours: in marks, scales and values, and in columns of rows that are drawn as they are."""


def on_dark(part: Any, key: str = "") -> Any:
    """Return a specification, or a part of one below a key, with the dark colours; texts stay as they are.

    >>> on_dark({"mark": {"type": "text", "color": "#1f2328"}, "title": "#1f2328"})
    {'mark': {'type': 'text', 'color': '#e6e8eb'}, 'title': '#1f2328'}
    """
    if isinstance(part, dict):
        return {name: on_dark(value, name) for name, value in part.items()}
    if isinstance(part, list):
        return [on_dark(value, key) for value in part]
    is_color = key in _COLOR_KEYS or key.endswith("Color")
    return DARK.get(part, part) if is_color and isinstance(part, str) else part
