"""Charts as files: PNG, SVG, PDF, HTML that needs no network, and the Vega-Lite specification."""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from verifyplan.charts.figure import Figure, spec, svg_text, title_of
from verifyplan.charts.theme import FONT, INK, PAPER
from verifyplan.errors import InputError, Problem, one_of
from verifyplan.files import replacing

PPI = 144
"""Dots per inch of PNG files: sharp in print at one column's width."""


def export(figure_or_chart: Figure | alt.TopLevelMixin, path: str | Path) -> Path:
    """Write a figure, or any Altair chart, to `path` in the format of its suffix; return the path.

    Suffixes: `.png` (144 dots an inch), `.svg`, `.pdf`, `.html` (interactive, with caption, works without
    network) and `.json` (the Vega-Lite specification). Missing folders are made, and a file that is there
    is replaced only when the new one is whole. An unknown suffix is an InputError. Texts of the data stay
    text in every format.
    """
    if not isinstance(figure_or_chart, Figure | alt.TopLevelMixin):
        message = f"a {type(figure_or_chart).__name__} is no figure"
        raise InputError(
            Problem("export", message, "give what a function of verifyplan.charts returns, or an Altair chart")
        )
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in _RENDERERS:
        message = f"there is no format for the suffix {target.suffix!r}"
        raise InputError(Problem(f"export to {target}", message, f"end the name in one of {one_of(_RENDERERS)}"))
    data = rendered(figure_or_chart, suffix.removeprefix("."))
    with replacing(target) as temporary:
        temporary.write_bytes(data)
    return target


def rendered(figure_or_chart: Figure | alt.TopLevelMixin, name: str) -> bytes:
    """A figure or chart as the content of a file in one of `FORMATS`."""
    return _RENDERERS[f".{name}"](_drawing(figure_or_chart))


class _Drawing:
    """What a format needs of a figure or of a bare chart."""

    def __init__(self, drawn: dict[str, Any], caption: str, description: str | None) -> None:
        self.spec = drawn
        self.caption = caption
        self.title = title_of(self.spec)
        self.description = description or str(self.spec.get("description", self.title))


def _drawing(shown: Figure | alt.TopLevelMixin) -> _Drawing:
    if isinstance(shown, Figure):
        return _Drawing(spec(shown.chart), shown.caption, shown.description)
    return _Drawing(dict(shown.to_dict()), "", None)


def _png(drawing: _Drawing) -> bytes:
    return vl_convert.vegalite_to_png(drawing.spec, ppi=PPI)


def _svg(drawing: _Drawing) -> bytes:
    return svg_text(drawing.spec, drawing.description).encode()


def _pdf(drawing: _Drawing) -> bytes:
    return vl_convert.vegalite_to_pdf(drawing.spec)


def _json(drawing: _Drawing) -> bytes:
    return (json.dumps(drawing.spec, indent=2, ensure_ascii=False) + "\n").encode()


def _html(drawing: _Drawing) -> bytes:
    """A page that names the two scripts it runs by their hashes, so that no other can run or be loaded."""
    draw = f'vegaEmbed("#chart", {_in_script(drawing.spec)}, {_OPTIONS}).catch(console.error);'
    page = _PAGE.format(
        scripts=" ".join(_hash(script) for script in (_library(), draw)),
        title=html.escape(drawing.title),
        description=html.escape(drawing.description),
        caption=html.escape(drawing.caption),
        svg=svg_text(drawing.spec, drawing.description),
        library=_library(),
        draw=draw,
    )
    return page.encode()


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@functools.cache
def _library() -> str:
    """Vega-Embed, Vega-Lite and Vega as one script, as installed: nothing is loaded from elsewhere."""
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


def _in_script(value: object) -> str:
    """JSON that may stand inside `<script>`: no text in it can end the script or begin a comment."""
    text = json.dumps(value)  # ASCII, so the line separators that scripts mind are escaped as well
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


_RENDERERS: dict[str, Callable[[_Drawing], bytes]] = {
    ".png": _png,
    ".svg": _svg,
    ".pdf": _pdf,
    ".html": _html,
    ".json": _json,
}

FORMATS = tuple(suffix.removeprefix(".") for suffix in _RENDERERS)
"""What figures can be written as."""

_OPTIONS = '{actions: false, renderer: "svg", ast: true}'
"""No menu; and expressions are interpreted, which needs no right to make code out of text."""

_PAGE = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; script-src {{scripts}}; style-src 'unsafe-inline'; img-src data:">
<title>{{title}}</title>
<style>
body {{{{ margin: 2em; background: {PAPER}; color: {INK}; font: 15px/1.5 {FONT}; }}}}
figure {{{{ margin: 0; }}}}
figcaption {{{{ max-width: 52em; padding: 0 14px; }}}}
</style>
<script>{{library}}</script>
</head>
<body>
<figure aria-label="{{title}}">
<div id="chart" role="img" aria-label="{{description}}">{{svg}}</div>
<figcaption>{{caption}}</figcaption>
</figure>
<script>{{draw}}</script>
</body>
</html>
"""
