"""Define what every chart takes: a title, a size, a font, the names to draw, and how much to draw at most."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, ParamSpec, TypedDict, TypeVar

import pandas as pd

from verifyplan.analysis.failed_calls import failed_calls_of
from verifyplan.charts.encodings import require_columns
from verifyplan.charts.labels import count
from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.runset import RunSet
from verifyplan.text import did_you_mean, short_repr

P = ParamSpec("P")
R = TypeVar("R")

FAILED_CALLS = "failed_calls"
"""The attribute of a drawn table that says how many calls of its runs failed, and why; captions begin with it."""

MAX_SIDE_PX = 20_000
"""Pixels of a width or height at most: no renderer draws more."""
MIN_WIDTH_PX, MIN_ROW_PX = 120, 14
"""Pixels across of a plot, and from row to row, at least: with fewer, texts run into each other."""


SCALE, MIN_SCALE, MAX_SCALE = 2, 0.25, 10
"""How many dots of a PNG file make a pixel: by default (144 dots an inch), at least and at most."""
_FONT = re.compile(r"[\w .\-]+(, ?[\w .\-]+)*")


class Size(NamedTuple):
    """The size of a plot of rows: pixels across and from row to row, and the number of rows."""

    width: float
    row: float
    n: int

    @property
    def height(self) -> float:
        """Pixels of all rows together."""
        return self.row * self.n


class Options(TypedDict, total=False):
    """The keyword arguments that all charts share; see `ChartOptions`."""

    title: str | None
    width: int | None
    height: int | None
    labels: Mapping[str, str] | None
    limit: int | None
    font: str | None
    scale: float | None


@dataclass(frozen=True)
class ChartOptions:
    """The options that all charts share; None leaves the choice to the chart."""

    title: str | None = None
    """Replaces the title."""
    width: int | None = None
    """Pixels across of the plot: the area of the marks, without the names and numbers beside it."""
    height: int | None = None
    """Pixels of the plot from top to bottom, all its rows together, without titles, keys and axes."""
    labels: Mapping[str, str] | None = None
    """The names to draw, by the names in the data (of runs, workers, conditions, dimensions, plans)."""
    limit: int | None = None
    """How many rows, bars or columns are drawn at most; the caption says how many are left out."""
    font: str | None = None
    """The family of all letters, as "Georgia"; where it is not installed, the chart's own. A smaller `width` and a
    larger `scale` make larger letters."""
    scale: float | None = None
    """How many dots of a PNG file make a pixel across and down, from 0.25 to 10 (2)."""

    @classmethod
    def of(cls, options: Options) -> ChartOptions:
        """Return the options as checked values; SettingsError lists all that are unknown or of a wrong type.

        >>> ChartOptions.of({"width": 300}).width
        300
        """
        known = [field.name for field in fields(cls)]
        problems = [
            Problem(name, f"is not an option of this chart{did_you_mean(name, known)}", f"use {one_of(known)}")
            for name in options
            if name not in known
        ]
        problems += [problem for name in known if name in options for problem in _problems(name, options.get(name))]
        if problems:
            raise SettingsError(problems)
        return cls(**options)

    def rows(self, default: int) -> int:
        """Return how many rows, bars or columns are drawn at most."""
        return default if self.limit is None else self.limit

    def px(self, side: Literal["width", "height"], default: float, least: float, why: str = "") -> float:
        """Return the chosen width or height, else the default; SettingsError where it is less than `least`.

        `why` says what needs so many pixels.
        """
        chosen = self.width if side == "width" else self.height
        if chosen is not None and chosen < least:
            message = f"must be an integer of at least {math.ceil(least)}{f' for {why}' if why else ''}, got {chosen}"
            raise SettingsError(Problem(side, message, "give more pixels, draw fewer by limit, or leave it out"))
        return default if chosen is None else chosen

    def size(
        self,
        n: int,
        noun: str,
        default: tuple[float, float],
        least: tuple[float, float] = (MIN_WIDTH_PX, MIN_ROW_PX),
    ) -> Size:
        """Return the size of a plot of `n` rows; `default` and `least` are its width and the pixels of a row."""
        return Size(self.px("width", default[0], least[0]), self.row_px(n, default[1], noun, least[1]), n)

    def row_px(self, n: int, default: float, noun: str = "row", least: float = MIN_ROW_PX) -> float:
        """Return the pixels from row to row, of `n` rows that share the height."""
        return self.px("height", n * default, n * least, count(n, noun)) / n

    def refuse(self, name: Literal["width", "height", "labels", "limit"], why: str) -> None:
        """Raise SettingsError if this option is set: it has no meaning in the chart, and `why` says so."""
        if getattr(self, name) is not None:
            raise SettingsError(Problem(name, f"has no meaning here: {why}", "leave it out"))

    def check_labels(self, known: Iterable[object]) -> None:
        """Raise SettingsError unless each label is of a name in the data, and no two names are drawn as one."""
        names = list(dict.fromkeys(map(str, known)))
        chosen = self.labels or {}
        problems = [
            Problem(
                "labels", f"{name!r} is not a name in the data{did_you_mean(name, names)}", f"use {one_of(names[:10])}"
            )
            for name in chosen
            if names and name not in names
        ]
        drawn = [chosen.get(name, name) for name in names]
        twice = sorted({name for name in drawn if drawn.count(name) > 1})
        fix = "give each name its own label"
        problems += [Problem("labels", f"two names would be drawn as {name!r}", fix) for name in twice]
        if problems:
            raise SettingsError(problems)

    def label(self, names: pd.Series[Any]) -> pd.Series[Any]:
        """Return the column with the labels in the place of names; missing ones stay missing."""
        if not self.labels:
            return names
        return names.astype("object").map(lambda name: name if pd.isna(name) else self.labels.get(str(name), name))

    def labelled(self, table: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
        """Return the table with the labels in place of the names in these columns."""
        if not self.labels:
            return table
        columns = list(columns)
        self.check_labels(name for column in columns for name in table[column].dropna().unique())
        return table.assign(**{column: self.label(table[column]) for column in columns})

    def table(
        self,
        data: pd.DataFrame | Runs,
        analysis: Callable[[RunSet], pd.DataFrame],
        columns: Iterable[str],
        name: str,
        *,
        names: Iterable[str],
    ) -> pd.DataFrame:
        """Return the table to draw, rows numbered from 0: `data`, or what the analysis makes of runs.

        It has exactly these columns, and the labels in the place of the names in the columns `names`. TableError says
        which columns the table, called `name`, lacks.
        """
        if isinstance(data, pd.DataFrame):
            made, failed = data, {}
        else:
            runs = as_runs(data, "data")
            made, failed = analysis(runs), {FAILED_CALLS: failed_calls_of(runs)}
        kept = require_columns(made, columns, name)
        kept.attrs = dict(made.attrs) | failed
        return self.labelled(kept, names)


def _problems(name: str, value: object) -> list[Problem]:
    if value is None:
        return []
    if name == "scale":
        return scale_problems(value)
    if name == "title":
        good, wanted = isinstance(value, str), "must be a text"
    elif name == "font":
        good = isinstance(value, str) and bool(_FONT.fullmatch(value))
        wanted = "must be a font's name, or several with commas between them"
    elif name == "labels":
        good = isinstance(value, Mapping) and all(
            isinstance(text, str) and text for pair in value.items() for text in pair
        )
        wanted = "must map names in the data to the names to draw, as texts that are not empty"
    else:
        most = None if name == "limit" else MAX_SIDE_PX
        good = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= (most or value)
        wanted = f"must be an integer from 1 to {most:,}" if most else "must be an integer of at least 1"
    fix = "leave it out for the chart's own choice"
    return [] if good else [Problem(name, f"{wanted}, got {short_repr(value)}", fix)]


def scale_problems(value: object) -> list[Problem]:
    """Return what is wrong with a scale of PNG files; nothing where it is a number within its limits."""
    if isinstance(value, int | float) and not isinstance(value, bool) and MIN_SCALE <= value <= MAX_SCALE:
        return []
    message = f"must be a number from {MIN_SCALE:g} to {MAX_SCALE:g}, got {short_repr(value)}"
    return [Problem("scale", message, f"leave it out for {SCALE:g} dots a pixel")]


def chart(function: Callable[P, R]) -> Callable[P, R]:
    """Name the shared options in the signature of a chart, for `help` and for completion."""
    own = inspect.signature(function)
    shared = [
        inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=field.type)
        for field in fields(ChartOptions)
    ]
    named = [*list(own.parameters.values())[:-1], *shared]
    setattr(function, "__signature__", own.replace(parameters=named))  # noqa: B010  (mypy knows no such attribute)
    return function
