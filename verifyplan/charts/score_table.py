"""Read scores of plans and lay them out: plans down, and for each dimension across a panel from 1 to 10."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import altair as alt
import pandas as pd

from verifyplan.charts.encodings import inline, names_of, text_of, x_of, y2_at, y_at
from verifyplan.charts.labels import count, distinct_labels, first_drawn, short
from verifyplan.charts.options import ChartOptions
from verifyplan.charts.theme import FAINT, LINE, SIZE
from verifyplan.errors import InputError, Problem, TableError, one_of
from verifyplan.frames.load import Runs
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.records import DIMENSIONS

COLUMNS = ("run_id", "by", "dimension", "score", "evidence", "refused", "disputed")
KEY = ["run_id", "by", "dimension"]
AUTHORS = ("synthesizer", "challenger")
"""Who gives scores; the challenger's are the audit."""
MIN_SCORE, MAX_SCORE = 1, 10
MAX_PLANS, MAX_DIMENSIONS = 40, 10
"""Plans and dimensions drawn at most: more would not fit on a screen."""
PANEL_PX, MIN_PANEL_PX, PANELS_PX = 81, 60, 860
"""Pixels across of a panel, at least, and of all of them before they get narrower."""
GAP_PX, ROW_PX, LINE_HEIGHT_PX = 26, 21, 15
"""Pixels from panel to panel, from plan to plan, and from line to line of a heading."""
TICKS = (1, 4, 7, 10)
ONE_LINE_CHARACTERS, MAX_LINE_CHARACTERS = 13, 15
"""A dimension's name of more characters than the first is broken into two lines, of at most the second each."""


class LabelledScores(NamedTuple):
    """A table of scores with the labels in the place of names, and the words for its dimensions."""

    table: pd.DataFrame
    """`run_id, by, dimension, score, evidence, refused, disputed`; refused scores without a number."""
    words: dict[str, str]
    """Each dimension in words, those of rule A10 first, others in the order they come."""

    def in_view(self) -> tuple[pd.DataFrame, str]:
        """Return the scores in the dimensions that are drawn beside each other, and a sentence on the others."""
        have = set(self.table["dimension"])
        known = [name for name in self.words if name in have]
        drawn = known[:MAX_DIMENSIONS]
        rows = self.table[self.table["dimension"].isin(drawn)].reset_index(drop=True)
        return rows, first_drawn(len(drawn), len(known), "dimension")


def read_scores(data: pd.DataFrame | Runs, options: ChartOptions) -> LabelledScores:
    """Return the scores to draw, of a table or of runs.

    Raises InputError for anything else, and TableError listing missing columns, scores that are not whole numbers from
    1 to 10, and rows that repeat another's key.
    """
    plain = options.table(data, _scores_of, COLUMNS, "scores", names=())
    numbers = pd.to_numeric(plain["score"], errors="coerce").astype("float64")
    if problems := _problems(plain, numbers):
        raise TableError(problems)
    texts = {name: plain[name].astype("object").map(str) for name in KEY}
    disputed = plain["disputed"].astype("boolean").fillna(False).astype(bool)
    table = plain.assign(**texts, score=numbers.where(plain["refused"].isna()), disputed=disputed)
    words = dimension_words(table["dimension"], options.labels)
    return LabelledScores(options.labelled(table, ["run_id", "dimension"]), words)


def _scores_of(runs: RunSet) -> pd.DataFrame:
    table = runs.scores.copy(deep=False)
    table.attrs["synthetic"] = bool(runs.runs["synthetic"].fillna(False).any())
    return table


def _problems(plain: pd.DataFrame, numbers: pd.Series[float]) -> list[Problem]:
    invalid = plain["score"].notna() & ~(numbers.between(MIN_SCORE, MAX_SCORE) & (numbers % 1 == 0))
    fix = "give whole numbers from 1 to 10, or leave it empty"
    problems = [
        Problem("scores: column score", f"{value!r} is not a score", fix)
        for value in dict.fromkeys(plain.loc[invalid, "score"])
    ]
    twice = plain.duplicated(KEY)
    if twice.any():
        first = ", ".join(f"{name} {plain.loc[twice, name].iloc[0]}" for name in KEY)
        message = f"{int(twice.sum())} rows repeat the key of another, the first at {first}"
        problems.append(Problem("scores", message, f"keep one row for each {', '.join(KEY)}"))
    return problems


def expect_author(by: object) -> None:
    """Raise InputError unless `by` is a role that gives scores."""
    if by not in AUTHORS:
        raise InputError(Problem("by", f"{by!r} gives no scores", f"use {one_of(AUTHORS)}"))


def dimension_words(dimensions: Iterable[str], labels: Mapping[str, str] | None = None) -> dict[str, str]:
    """Map each dimension that occurs, or its label, to its words: those of rule A10 first, others as they come.

    >>> dimension_words(["tone", "risk_coverage"])
    {'risk_coverage': 'risk coverage', 'tone': 'tone'}
    >>> dimension_words(["tone", "risk_coverage"], {"risk_coverage": "R"})
    {'R': 'R', 'tone': 'tone'}
    """
    have, chosen = list(dict.fromkeys(dimensions)), labels or {}
    order = [name for name in DIMENSIONS if name in have] + [name for name in have if name not in DIMENSIONS]
    return {chosen.get(name, name): chosen.get(name, name.replace("_", " ")) for name in order}


def short_words(words: Mapping[str, str]) -> dict[str, str]:
    """Return the words for dimensions as labels: short, no two equal."""
    labels = distinct_labels(words.values(), 28)
    return {name: labels[text] for name, text in words.items()}


def every_cell(scores: pd.DataFrame, plans: Iterable[str], words: Mapping[str, str]) -> pd.DataFrame:
    """Return a row for each of these plans and each dimension of the table, in this order, with or without a score.

    Adds `plan` and `name`, the labels of the plan and of the dimension, and `whole`, the dimension's words.
    """
    have = set(scores["dimension"])
    chosen, names = list(plans), short_words({name: text for name, text in words.items() if name in have})
    labels = distinct_labels(chosen, 26)
    grid = pd.MultiIndex.from_product([chosen, names], names=["run_id", "dimension"]).to_frame(index=False)
    cells = grid.merge(scores, on=["run_id", "dimension"], how="left")
    return cells.assign(
        plan=cells["run_id"].map(labels),
        name=cells["dimension"].map(names),
        whole=cells["dimension"].map(dict(words)),
    )


@dataclass(frozen=True)
class Panels:
    """The places of panels beside each other, one a dimension, each with scores from 1 to 10 across."""

    names: tuple[str, ...]
    """The dimensions' labels from left to right."""
    panel: float
    """Pixels across of one panel."""
    row: float
    """Pixels from plan to plan."""

    @classmethod
    def of(cls, cells: pd.DataFrame, options: ChartOptions) -> Panels:
        """Return the panels of cells, in the size that the options say."""
        names, n = tuple(dict.fromkeys(cells["name"])), cells["run_id"].nunique()
        gaps = GAP_PX * (len(names) - 1)
        least = MIN_PANEL_PX * len(names) + gaps
        width = options.px(
            "width", min(PANEL_PX * len(names) + gaps, max(PANELS_PX, least)), least, count(len(names), "dimension")
        )
        return cls(names, (width - gaps) / len(names), options.row_px(n, ROW_PX, "plan"))

    @property
    def width(self) -> float:
        """Pixels across of all panels."""
        return len(self.names) * (self.panel + GAP_PX) - GAP_PX

    def place(self, rows: pd.DataFrame, score: str = "score") -> pd.Series[float]:
        """Return the places of a column's scores in pixels from the left edge of the first panel."""
        left = {name: number * (self.panel + GAP_PX) for number, name in enumerate(self.names)}
        unit = self.panel / (MAX_SCORE - MIN_SCORE)
        return rows["name"].map(left).astype("float64") + (rows[score] - MIN_SCORE) * unit

    def draw(
        self, rows: pd.DataFrame, marks: list[alt.Chart], notes: Mapping[str, str] | None = None
    ) -> alt.LayerChart:
        """Draw the marks over their frame: lines at scores, the dimensions' names above, those of plans at the left.

        Reads `plan`, and the rows are the data of the marks, which are charts without any, placed by `place` at `x:Q`.
        `notes` maps dimensions to a text under their name.
        """
        height = self.row * rows["plan"].nunique()
        y = names_of(rows, "plan", 14)
        layers = [*self._frame(notes or {}, height), *(mark.encode(y=y) for mark in marks)]
        return alt.LayerChart(data=inline(rows), layer=layers, width=self.width, height=height)

    def _frame(self, notes: Mapping[str, str], height: float) -> list[alt.Chart]:
        corners = pd.DataFrame([(name, score) for name in self.names for score in TICKS], columns=["name", "score"])
        ticks = alt.Chart(inline(corners.assign(x=self.place(corners)))).encode(x=x_of("x"))
        texts = [_heading_lines(name, notes.get(name, "")) for name in self.names]
        deepest = max(map(len, texts))  # headings have as many lines each, so that they end at one height
        padded = ["\n".join([""] * (deepest - len(lines)) + lines) for lines in texts]
        heads = pd.DataFrame({"name": self.names, "score": MIN_SCORE, "text": padded})
        return [
            ticks.mark_rule(color=LINE, aria=False).encode(y=y_at(0), y2=y2_at(height)),
            ticks.mark_text(fontSize=SIZE - 1, color=FAINT, aria=False).encode(y=y_at(-10), text=text_of("score")),
            alt.Chart(inline(heads.assign(x=self.place(heads))))
            .mark_text(align="left", lineBreak="\n", lineHeight=LINE_HEIGHT_PX, fontWeight="bold", aria=False)
            .encode(x=x_of("x"), y=y_at(-28 - LINE_HEIGHT_PX * (deepest - 1)), text=text_of("text")),
        ]


def _heading_lines(name: str, note: str) -> list[str]:
    """Return the name on two lines, broken at the space that makes the longer one shortest, and the note below."""
    words = name.split()
    splits = [(" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words))]
    long = splits and len(name) > ONE_LINE_CHARACTERS
    lines = min(splits, key=lambda two: max(map(len, two))) if long else (name,)
    return [*(short(line, MAX_LINE_CHARACTERS) for line in lines), *([note] if note else [])]
