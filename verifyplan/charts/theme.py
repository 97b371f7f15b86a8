"""One look for every chart: sizes, fonts, and a colour for each class, each kind of vote and each reading.

Colours are Okabe and Ito's, told apart by colour-blind readers; every chart also labels directly or uses
shapes. Blues mean that a finding held, oranges that it did not, for votes and classes alike. Nothing here
changes Altair's global state: the look is applied to each chart.
"""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import altair as alt

from verifyplan.protocol.records import Severity
from verifyplan.protocol.vote import CLASSIFICATIONS, Classification

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

T = TypeVar("T")

WIDTH = 560
"""Pixels across of a chart's plot."""
INK, FAINT, LINE, PAPER = "#1f2328", "#5f6670", "#d8dce1", "#ffffff"
"""Colours of text, of lesser text, of grid lines and of the ground."""
FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"
SIZE = 12
"""Pixels of the labels' letters."""

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
"""Where a challenge stands: oranges for what is unsettled, blues and grey for what is settled."""
SEVERITY_COLORS: dict[Severity, str] = {"BLOCKING": VERMILLION, "SIGNIFICANT": ORANGE, "MINOR": SKY}
READING_COLORS = (INK, GREEN, PURPLE, GREY)
READING_SHAPES = ("circle", "diamond", "square", "triangle-up")
READING_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])


def class_colors() -> alt.Scale:
    """The scale from classes to their colours."""
    return alt.Scale(domain=list(CLASSIFICATIONS), range=list(CLASS_COLORS.values()))


def mark_colors() -> alt.Scale:
    """The scale from kinds of vote to their colours."""
    return alt.Scale(domain=list(MARK_COLORS), range=list(MARK_COLORS.values()))


def state_colors() -> alt.Scale:
    """The scale from a challenge's states to their colours."""
    return alt.Scale(domain=list(STATE_COLORS), range=list(STATE_COLORS.values()))


def reading_colors(labels: list[str]) -> alt.Scale:
    """The scale from readings to colours: the first is ink, the second green, and so on in a circle."""
    return alt.Scale(domain=labels, range=_around(READING_COLORS, len(labels)))


def reading_shapes(labels: list[str]) -> alt.Scale:
    """The scale from readings to shapes, so that no reading is told by its colour alone."""
    return alt.Scale(domain=labels, range=_around(READING_SHAPES, len(labels)))


def reading_dashes(labels: list[str]) -> alt.Scale:
    """The scale from readings to dashes of lines."""
    return alt.Scale(domain=labels, range=_around(READING_DASHES, len(labels)))


def _around(values: tuple[T, ...], number: int) -> list[T]:
    return [values[i % len(values)] for i in range(number)]


def config() -> alt.Config:
    """The look of every chart, as Vega-Lite's configuration; a fresh object on each call."""
    return alt.Config(
        background=PAPER,
        padding=14,
        font=FONT,
        axis=alt.AxisConfig(**_AXIS),
        header=alt.HeaderConfig(labelFontSize=SIZE, labelColor=INK, labelFontWeight="bold"),
        text=alt.MarkConfig(fontSize=SIZE, color=INK),
        title=alt.TitleConfig(**_TITLE),
        view=alt.ViewConfig(stroke=None, continuousWidth=WIDTH, continuousHeight=280),
    )


_AXIS: dict[str, Any] = {
    "labelFontSize": SIZE,
    "titleFontSize": SIZE,
    "titleFontWeight": "normal",
    "labelColor": INK,
    "titleColor": FAINT,
    "gridColor": LINE,
    "domainColor": LINE,
    "tickColor": LINE,
    "labelLimit": 260,
    "titlePadding": 8,
    "labelPadding": 5,
}
_TITLE: dict[str, Any] = {
    "anchor": "start",
    "fontSize": 15,
    "fontWeight": "bold",
    "color": INK,
    "offset": 14,
    "subtitleColor": FAINT,
    "subtitleFontSize": SIZE,
    "subtitlePadding": 5,
}
