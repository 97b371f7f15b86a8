"""A chart with the words that belong to it, shown in a notebook as a picture that needs no network."""

from __future__ import annotations

import hashlib
import html
import re
from dataclasses import dataclass, field
from typing import Any

import altair as alt
import pandas as pd
import vl_convert

from verifyplan.charts.tables import inline
from verifyplan.charts.theme import FAINT, PAPER, WIDTH, config


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart, its caption, the rows it draws, and a description for those who cannot see it.

    In a notebook it shows itself as inline SVG on a light ground with the caption below: offline, and
    legible in light and dark themes. `.chart` is an ordinary Altair chart, to change or combine;
    `verifyplan.charts.export` writes files.
    """

    chart: alt.TopLevelMixin = field(repr=False)
    caption: str
    data: pd.DataFrame = field(repr=False)
    description: str = field(repr=False)

    def _repr_html_(self) -> str:
        """The figure as HTML: a named `<figure>` with the inline SVG and an escaped `<figcaption>`."""
        drawn = spec(self.chart)
        svg, name = svg_text(drawn, self.description), html.escape(title_of(drawn))
        caption = html.escape(self.caption)
        card = f"display:inline-block;max-width:100%;background:{PAPER};border-radius:6px;overflow:hidden"
        return (
            f'<figure aria-label="{name}" style="margin:0.5em 0"><div style="{card}">{svg}</div>'
            f'<figcaption style="max-width:52em;margin-top:0.4em">{caption}</figcaption></figure>'
        )


def figure(
    chart: alt.ChartType,
    *,
    title: str,
    subtitle: list[str],
    caption: str,
    data: pd.DataFrame,
    description: str,
) -> Figure:
    """A chart of this package with the common look, its title and its description, as a Figure."""
    heading = alt.Title(text=title, subtitle=subtitle)
    dressed = chart.properties(title=heading, description=description, config=config())
    return Figure(dressed, caption, data, description)


def empty(title: str, message: str, data: pd.DataFrame) -> Figure:
    """A figure that says in words why there is nothing to draw."""
    chart = alt.Chart(inline(pd.DataFrame({"message": [message]})), width=WIDTH, height=24)
    text = chart.mark_text(align="left", fontSize=13, color=FAINT, x=0).encode(text="message:N")
    description = f"{title}. {message}"
    return figure(text, title=title, subtitle=[], caption=message, data=data, description=description)


def spec(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """The chart as a Vega-Lite specification.

    It is not checked against the schema, which would cost as much again as drawing: the parts of a chart are checked
    when they are made, and the renderer refuses what it cannot read.
    """
    return dict(chart.to_dict(validate=False))


def title_of(drawn: dict[str, Any]) -> str:
    """The title that a specification has, on one line; "Chart" where it has none."""
    title = drawn.get("title", "")
    text = title.get("text", "") if isinstance(title, dict) else title
    return " ".join(text) if isinstance(text, list) else str(text) or "Chart"


def svg_text(chart: dict[str, Any], description: str) -> str:
    """The specification drawn as SVG: a named image whose marks say what they are when pointed at, without scripts.

    Each mark that has a description gets it as its `<title>`, which browsers show; marks without one let the pointer
    through to what is below them. The image stays one image to screen readers (role img): its name tells the whole,
    and hundreds of marks without an order would be in the way. Ids carry a hash of the picture, for the renderer
    counts its ids from 0 again in every process.
    """
    drawn: str = vl_convert.vegalite_to_svg(chart)
    mark = hashlib.sha256(drawn.encode()).hexdigest()[:10]
    own = re.sub(r"<[^>]*>", lambda tag: _titled(_own_ids(tag[0], mark)), drawn)
    label = html.escape(description)
    named = f'<svg role="img" aria-label="{label}" style="max-width:100%;height:auto;display:block"'
    return named + own.removeprefix("<svg")


def _own_ids(tag: str, mark: str) -> str:
    return re.sub(r'( id="|="url\(#|href="#)', rf"\g<1>v{mark}-", tag)


_SILENT = re.compile(r'<g class="mark-[^"]*\brole-mark\b[^"]*" aria-hidden="true"')
_NAMED = re.compile(r'<(?!g )(\w+) aria-label="([^"]*)" role="graphics-symbol"')


def _titled(tag: str) -> str:
    """The tag of a mark with its title behind it; the label is escaped already, and titles need no other escapes."""
    if silent := _SILENT.match(tag):
        return f'{silent[0]} pointer-events="none"{tag[silent.end() :]}'
    found = _NAMED.match(tag)
    if found is None:
        return tag
    title = f"<title>{found[2]}</title>"
    return f"{tag[:-2]}>{title}</{found[1]}>" if tag.endswith("/>") else tag + title
