"""Define one look for every chart: sizes, fonts, and a colour for each class, kind of vote and condition.

Colours are Okabe and Ito's, which colour-blind readers can distinguish; every chart also labels directly or uses
shapes. Blues mean that a finding held, oranges that it did not, for votes and classes alike. Altair's global state
is not changed: the look is applied to each chart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from typing import Any, Literal

import altair as alt

from verifyplan.protocol.records import Severity
from verifyplan.protocol.vote import Classification

Mark = Literal[
    "agree",
    "supplement",
    "counter-evidence",
    "burden-not-met",
    "disagree",
    "verification-error",
    "discovered",
]
"""A kind of vote as charts show it: verdict, basis and error in one word, or that the worker discovered."""

WIDTH = 560
"""Pixels across of a chart's plot."""
INK, FAINT, LINE, PAPER = "#1f2328", "#5f6670", "#d8dce1", "#ffffff"
"""Colours of text, of lesser text, of grid lines and of the background."""
FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"
SIZE = 12
"""Font size of labels in pixels."""

BLUE, SKY, ORANGE, VERMILLION = "#0072B2", "#56B4E9", "#E69F00", "#D55E00"
GREEN, PURPLE, GREY = "#009E73", "#CC79A7", "#999999"

CLASS_COLORS: dict[Classification, str] = {
    "full-consensus": BLUE,
    "partial-consensus": SKY,
    "contested": ORANGE,
    "worker-unique": VERMILLION,
}
MARK_COLORS: dict[Mark, str] = {
    "agree": BLUE,
    "supplement": SKY,
    "counter-evidence": VERMILLION,
    "burden-not-met": ORANGE,
    "disagree": PURPLE,
    "verification-error": "#c4c8cd",
    "discovered": PAPER,
}
MARK_LETTERS: dict[Mark, str] = {
    "agree": "A",
    "supplement": "S",
    "counter-evidence": "C",
    "burden-not-met": "B",
    "disagree": "D",
    "verification-error": "E",
    "discovered": "•",
}
STATE_COLORS: dict[str, str] = {
    "OPEN": VERMILLION,
    "UNRESOLVED": ORANGE,
    "RESOLVED": BLUE,
    "DEFERRED": SKY,
    "WITHDRAWN": "#6b7178",
    "overflow": PAPER,
}
"""By status of a challenge: oranges for what is unsettled, blues and grey for what is settled."""
SEVERITY_COLORS: dict[Severity, str] = {"BLOCKING": VERMILLION, "SIGNIFICANT": ORANGE, "MINOR": SKY}
CONDITION_COLORS = (INK, GREEN, PURPLE, GREY)
CONDITION_SHAPES = ("circle", "diamond", "square", "triangle-up")
CONDITION_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])


def color_scale(colors: Mapping[Any, str]) -> alt.Scale:
    """Return the scale from names to their colours, as `CLASS_COLORS`."""
    return alt.Scale(domain=list(colors), range=list(colors.values()))


def condition_scale(labels: list[str], values: Sequence[Any]) -> alt.Scale:
    """Return the scale from conditions to `CONDITION_COLORS`, `_SHAPES` or `_DASHES`, repeated from the fifth on.

    Shapes and dashes are for readers who cannot distinguish the colours.
    """
    return alt.Scale(domain=labels, range=list(islice(cycle(values), len(labels))))


def config() -> alt.Config:
    """Return the look of every chart as Vega-Lite's configuration; a fresh object on each call."""
    return alt.Config(
        background=PAPER,
        padding=14,
        font=FONT,
        axis=alt.AxisConfig(
            labelFontSize=SIZE,
            titleFontSize=SIZE,
            titleFontWeight="normal",
            labelColor=INK,
            titleColor=FAINT,
            gridColor=LINE,
            domainColor=LINE,
            tickColor=LINE,
            labelLimit=260,
            titlePadding=8,
            labelPadding=5,
        ),
        header=alt.HeaderConfig(labelFontSize=SIZE, labelColor=INK, labelFontWeight="bold"),
        text=alt.MarkConfig(fontSize=SIZE, color=INK),
        title=alt.TitleConfig(
            anchor="start",
            fontSize=15,
            fontWeight="bold",
            color=INK,
            offset=14,
            subtitleColor=FAINT,
            subtitleFontSize=SIZE,
            subtitlePadding=5,
        ),
        view=alt.ViewConfig(stroke=None, continuousWidth=WIDTH, continuousHeight=280),
    )
