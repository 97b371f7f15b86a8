"""Make figures: charts with the words that belong to them, shown in a notebook without a network."""

from __future__ import annotations

import functools
import hashlib
import html
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import altair as alt
import pandas as pd
import vl_convert
from altair.utils.schemapi import debug_mode

from verifyplan.charts.adaptive import CLASS, DARK, STYLE, on_dark
from verifyplan.charts.encodings import inline, text_of
from verifyplan.charts.labels import sentences
from verifyplan.charts.options import FAILED_CALLS, SCALE, ChartOptions
from verifyplan.charts.theme import FAINT, PAPER, WIDTH, config, theme
from verifyplan.field_docs import with_field_docs

MAX_KEPT_DRAWINGS = 4
MIN_SCALE = 0.7
"""How far a picture shrinks in a narrow place at most: letters of 12 pixels keep 8.4, and stay readable."""
SYNTHETIC = "Synthetic data: findings, votes or scores were generated, not observed."


@with_field_docs
@dataclass(frozen=True, eq=False)
class Figure:
    """A chart, its caption, the rows it draws, and a description for those who cannot see it.

    In a notebook it shows itself as inline SVG with the caption below: offline, and in the colours of the page, light
    or dark, unless `charts.theme` says otherwise. `.chart` is an ordinary Altair chart, to change or combine;
    `verifyplan.export` writes files.
    """

    chart: alt.TopLevelMixin = field(repr=False)
    """An ordinary Altair chart, to change or combine."""
    caption: str
    """The caption: the thing drawn, of how many, and what to know of it."""
    data: pd.DataFrame = field(repr=False)
    """The rows that are drawn."""
    description: str = field(repr=False)
    """The picture in words, for those who cannot see it."""
    scale: float = field(default=SCALE, repr=False)
    """How many dots of a PNG file make a pixel across and down."""

    def _repr_html_(self) -> str:
        """Return the figure as HTML: a named `<figure>` with the inline SVG and an escaped `<figcaption>`."""
        specification, chosen = spec(self.chart), theme.chosen()
        drawn = on_dark(specification) if chosen == "dark" else specification
        svg = svg_text(drawn, self.description, adaptive=chosen == "auto")
        name, ground = html.escape(title_of(specification)), {"light": PAPER, "dark": DARK[PAPER]}.get(chosen)
        card = "display:inline-block;max-width:100%;overflow-x:auto;overflow-y:hidden"
        card += f";background:{ground};border-radius:6px" if ground else ""
        return (
            f'<figure aria-label="{name}" style="margin:0.5em 0"><div style="{card}">{svg}</div>'
            f'<figcaption style="max-width:52em;margin-top:0.4em">{html.escape(self.caption)}</figcaption></figure>'
        )


def figure(
    draw: Callable[[], alt.ChartType],
    options: ChartOptions,
    *,
    title: str,
    caption: str,
    data: pd.DataFrame,
    description: str,
    subtitle: str = "",
    synthetic: str | bool | None = None,
) -> Figure:
    """Return what `draw` draws, with the common look, its title and its description, as a Figure.

    Of synthetic data the caption says so, in the words of `synthetic` if it is a text, and the subtitle, too: pictures
    lose their captions. By default, `data.attrs["synthetic"]` says whether the data is. The caption begins with how
    many calls failed and why, where `data.attrs["failed_calls"]` says so, and names the reading of judges' ties, where
    `data.attrs["ties"]` does.
    """
    made = data.attrs.get("synthetic") if synthetic is None else synthetic
    lines = [*subtitle.splitlines(), *(["Synthetic data"] if made else [])]
    warning = made if isinstance(made, str) else SYNTHETIC if made else ""
    heading = alt.Title(text=title if options.title is None else options.title, subtitle=lines)
    with schema_checks_off():
        dressed = draw()
        dressed.title, dressed.description, dressed.config = heading, description, config(options.font)
    failed = data.attrs.get(FAILED_CALLS)
    words = sentences(f"{failed}." if failed else "", caption, data.attrs.get("ties", ""), warning)
    return Figure(dressed, words, data, description, SCALE if options.scale is None else options.scale)


def empty(options: ChartOptions, title: str, message: str, data: pd.DataFrame) -> Figure:
    """Return a figure that says in words why there is nothing to draw."""
    chart = alt.Chart(inline(pd.DataFrame({"message": [message]})), width=WIDTH, height=24)
    text = chart.mark_text(align="left", fontSize=13, color=FAINT, x=0).encode(text=text_of("message"))
    words = f"{title}. {message}"
    return figure(lambda: text, options, title=title, caption=message, data=data, description=words, synthetic=False)


_SWITCH = threading.RLock()
"""Altair's switch is global: the thread that turned it off must turn it on again before another turns it."""


@contextmanager
def schema_checks_off() -> Iterator[None]:
    """Within the block, do not check parts of charts against Vega-Lite's schema, which takes most of their time.

    For charts of this package alone, which redraw at every step of a slider and whose specifications tests check as
    a whole. Later changes by a user are checked as ever.
    """
    with _SWITCH, debug_mode(False):
        yield


def spec(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """Return the chart as a Vega-Lite specification; what it does not set itself has the common look.

    So a chart that a user drew follows the theme, too: Vega's own black letters would vanish on dark pages. The
    specification is not checked against the schema, which would cost as much again as drawing: the renderer refuses
    what it cannot read.
    """
    made = dict(chart.to_dict(validate=False))
    return made | {"config": _completed(made.get("config", {}), _common_look())}


@functools.cache
def _common_look() -> dict[str, Any]:
    """Return the configuration of every chart as Vega-Lite reads it."""
    return dict(config().to_dict(validate=False))


def _completed(own: dict[str, Any], look: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration with what it leaves open as in `look`, part by part.

    >>> _completed({"axis": {"grid": False}}, {"axis": {"grid": True, "titleColor": "#5f6670"}, "padding": 14})
    {'axis': {'grid': False, 'titleColor': '#5f6670'}, 'padding': 14}
    """
    parts = {
        name: look[name] | part
        for name, part in own.items()
        if isinstance(part, dict) and isinstance(look.get(name), dict)
    }
    return look | own | parts


def title_of(specification: dict[str, Any]) -> str:
    """Return the title of a specification on one line; "Chart" where it has none."""
    title = specification.get("title", "")
    text = title.get("text", "") if isinstance(title, dict) else title
    return " ".join(text) if isinstance(text, list) else str(text) or "Chart"


@functools.lru_cache(maxsize=MAX_KEPT_DRAWINGS)
def drawn_svg(specification: str) -> str:
    """Draw a specification, as JSON; the last few are kept, since a figure is written in several formats in a row."""
    svg: str = vl_convert.vegalite_to_svg(specification)
    return svg


def svg_text(specification: dict[str, Any], description: str, *, adaptive: bool = False) -> str:
    """Draw the specification as SVG: a named image whose marks show their texts on hover, without scripts.

    An adaptive one has no ground, and takes the colours of text and lines from the page that shows it.

    Each mark that has a description gets it as its `<title>`, which browsers show; marks without one let the pointer
    through to what is below them. The image is one image to screen readers (role img): its name says everything,
    and hundreds of marks without an order would be in the way. In a narrow place it shrinks to `MIN_SCALE` and no
    further, so that its box scrolls. Ids carry a hash of the picture, for the renderer counts its ids from 0 again in
    every process.
    """
    svg = drawn_svg(json.dumps(specification))
    prefix = f"v{hashlib.sha256(svg.encode()).hexdigest()[:10]}-"
    own = re.sub(r"<[^>]*>", lambda tag: _with_title(_IDS.sub(rf"\g<1>{prefix}", tag[0])), svg)
    width = _WIDTH.search(svg)
    widest = f"max(100%,{round(MIN_SCALE * float(width[1]))}px)" if width else "100%"
    style = f"max-width:{widest};height:auto;display:block"
    named = f'<svg role="img" aria-label="{html.escape(description)}" style="{style}"'
    if not adaptive:
        return named + own.removeprefix("<svg")
    head, end, rest = own.removeprefix("<svg").partition(">")
    return named + head.replace('class="', f'class="{CLASS} ', 1) + end + STYLE + rest


_WIDTH = re.compile(r'^<svg\b[^>]*? width="([\d.]+)"')
_IDS = re.compile(r'( id="|="url\(#|href="#)')
_SILENT = re.compile(r'<g class="mark-[^"]*\brole-mark\b[^"]*" aria-hidden="true"')
_NAMED = re.compile(r'<(?!g )(\w+) aria-label="([^"]*)" role="graphics-symbol"')


def _with_title(tag: str) -> str:
    """Return the tag of a mark with its title behind it; the label is escaped already, as titles need."""
    if silent := _SILENT.match(tag):
        return f'{silent[0]} pointer-events="none"{tag[silent.end() :]}'
    named = _NAMED.match(tag)
    if named is None:
        return tag
    title = f"<title>{named[2]}</title>"
    return f"{tag[:-2]}>{title}</{named[1]}>" if tag.endswith("/>") else tag + title
