"""Define one look for every chart: sizes, fonts, and a colour for each class, kind of vote and condition.

Colours are Okabe and Ito's, which colour-blind readers can distinguish; every chart also labels directly or uses
shapes. Blues mean that a finding held, oranges that it did not, for votes and classes alike. Colours of text, lines
and ground follow the theme (`charts.adaptive`), those of classes stay. Altair's global state is not changed: the look
is applied to each chart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from types import TracebackType
from typing import Any, Literal, TypeAlias, get_args

import altair as alt

from verifyplan.errors import Problem, SettingsError, one_of
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
PALE = "#d3d7dc"
"""The fill of what is there and matters least."""
BLUE_TEXT, RED_TEXT = "#006cab", "#a34700"
"""The colours of text in place of blue and vermillion, in which letters would be too faint."""
BLACK, WHITE = "#000000", "#fefefe"
"""Colours of text within coloured marks, which no theme changes."""
FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"
SIZE = 12
"""Font size of labels in pixels."""

BLUE, SKY, ORANGE, VERMILLION = "#0072B2", "#56B4E9", "#E69F00", "#D55E00"
GREEN, PURPLE, GREY = "#009E73", "#CC79A7", "#999999"
DARK_GREY = "#6b7178"
TEXT_COLORS = {BLUE: BLUE_TEXT, VERMILLION: RED_TEXT, GREY: FAINT, INK: INK}
"""The colour of a text by that of the mark that it names."""

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
    "WITHDRAWN": DARK_GREY,
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


def config(font: str | None = None) -> alt.Config:
    """Return the look of every chart as Vega-Lite's configuration; a fresh object on each call.

    A font of the reader's own comes before the others, which replace it where it is not installed.
    """
    return alt.Config(
        background=PAPER,
        padding=14,
        font=FONT if font is None else f"{font}, {FONT}",
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
            labelFlush=False,
            titlePadding=8,
            labelPadding=5,
        ),
        header=alt.HeaderConfig(labelFontSize=SIZE, labelColor=INK, labelFontWeight="bold"),
        text=alt.MarkConfig(fontSize=SIZE, color=INK),
        rule=alt.MarkConfig(color=INK),
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


ThemeName: TypeAlias = Literal["auto", "light", "dark"]


class _Themes:
    """The theme that is set, one for all threads, as a notebook is one."""

    name: ThemeName = "auto"


class theme:  # noqa: N801  (a call that sets, as `warnings.catch_warnings` is)
    """Set whether charts are light, dark, or follow the page (auto); in a `with` block, for the block alone.

    Under `auto`, the default, a chart in a notebook or a widget has no ground of its own and takes its colours from
    the page, light or dark, even where the page changes them; files are light, as paper is. `light` and `dark` draw
    on a ground of that colour, in notebooks and in files of all formats. Figures made before are drawn in the new
    theme as well. Colours of classes and votes are the same in both. SettingsError for another name.

    Args:
        name: `auto`, `light` or `dark`.

    >>> import tempfile, verifyplan as vp
    >>> with vp.charts.theme("dark"):
    ...     path = vp.export(vp.charts.queue("contract"), tempfile.mkdtemp() + "/queue.svg")
    >>> "#111111" in path.read_text(), vp.charts.theme.chosen()
    (True, 'auto')
    """

    def __init__(self, name: ThemeName) -> None:
        if name not in get_args(ThemeName):
            message = f"must be one of {one_of(get_args(ThemeName))}, got {name!r}"
            raise SettingsError(Problem("theme", message, "use 'auto' for charts that follow the page"))
        self._before, _Themes.name = _Themes.name, name

    @staticmethod
    def chosen() -> ThemeName:
        """Return the theme that is set."""
        return _Themes.name

    def __enter__(self) -> None:
        """Begin a block in this theme."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Set the theme again that was set before."""
        _Themes.name = self._before

    def __repr__(self) -> str:
        """Return the theme that is set, in words."""
        return f"charts are {_Themes.name}" if _Themes.name != "auto" else "charts follow the page"
