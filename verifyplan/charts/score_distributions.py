"""How the scores of many plans spread, dimension by dimension."""

from __future__ import annotations

import altair as alt
import pandas as pd

from verifyplan.charts.captions import INFORMS, sentences, subtitle, synthetic_is
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.hover import hover, with_hover
from verifyplan.charts.labels import count
from verifyplan.charts.pixels import x2_at, x_at, y_of
from verifyplan.charts.score_rows import LEAST, MOST, dimension_names, expect_author, in_words, read_scores
from verifyplan.charts.tables import inline, words
from verifyplan.charts.theme import BLUE, FAINT, INK, LINE, SIZE
from verifyplan.charts.unchecked import unchecked
from verifyplan.frames.runset import RunSet

TITLE = "How the scores spread"
KEY = "How many plans got each score; diamond: the median"
MIDDLE = {"whole": "Dimension", "told": "Median", "n": "Scores"}
FIELDS = {"whole": "Dimension", "score": "Score", "n": "Plans", "told_share": "Share"}
STEP, BAR, TALLEST = 36, 28, 46
"""Pixels from score to score, across of a bar, and of the highest bar of all."""
ROW = TALLEST + 36
"""Pixels from dimension to dimension: the bars, the number above them, the median below."""


def score_distributions(scores: pd.DataFrame | RunSet, *, by: str = "synthesizer") -> Figure:
    """Bars of how many plans got each score from 1 to 10, a row a dimension, with the median and n of each.

    Reads `run_id, by, dimension, score, evidence, refused, disputed`, the scores of a RunSet, or the RunSet. All bars
    have one scale, from 0. Scores that were refused or are missing count for nothing, and the caption says how many.
    The score informs and never decides a verdict (rule A10). `attrs["synthetic"]` marks generated data. Raises
    TableError where a column is missing or a score is no whole number from 1 to 10.

    >>> scores = pd.DataFrame({"run_id": ["p", "q", "r"], "by": "synthesizer", "dimension": "tone",
    ...     "score": [7, 8, 8], "evidence": "p.md:3", "refused": None, "disputed": False})
    >>> score_distributions(scores).description
    'Bars of how many plans got each score. tone (median 8, n = 3): 1 with 7, 2 with 8.'
    """
    expect_author(by)
    table, synthetic = read_scores(scores)
    own = table[table["by"] == by].reset_index(drop=True)
    given = own.dropna(subset="score")
    if given.empty:
        return empty(TITLE, f"There is no score by the {by} to draw.", own)
    known = set(given["dimension"])
    names = {key: name for key, name in dimension_names(own["dimension"]).items() if key in known}
    rows, sums = _rows(given, names), _sums(given, names)
    with unchecked():
        return figure(
            _drawn(rows, sums),
            title=TITLE,
            subtitle=subtitle(KEY, synthetic),
            caption=sentences(_caption(own, given, by), INFORMS, synthetic_is(synthetic)),
            data=own,
            description=_description(rows, sums),
        )


def _rows(given: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    """How often each score occurs in each dimension, where it does."""
    counts = given.groupby(["dimension", "score"], sort=True).size().rename("n").reset_index()
    whole = counts.groupby("dimension")["n"].transform("sum")
    order = counts["dimension"].map(list(names).index)
    rows = counts.assign(
        name=counts["dimension"].map(names),
        whole=counts["dimension"].map(in_words),
        score=counts["score"].astype("int64"),
        told=counts["n"].map("{:,}".format),
        told_share=[f"{n:,} of {of:,} plans" for n, of in zip(counts["n"], whole, strict=True)],
        base=order * ROW + TALLEST + 16,
    )
    rows = rows.assign(top=rows["base"] - rows["n"] * TALLEST / int(rows["n"].max()))
    return with_hover(rows.sort_values("base", kind="stable").reset_index(drop=True), FIELDS)


def _sums(given: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    """The median and the number of scores of each dimension."""
    groups = given.groupby("dimension")["score"].agg(["median", "count"]).reindex(list(names)).reset_index()
    sums = groups.assign(
        name=groups["dimension"].map(names),
        whole=groups["dimension"].map(in_words),
        told=groups["median"].map("{:g}".format),
        n=groups["count"].map("{:,}".format),
        base=[number * ROW + TALLEST + 16 for number in range(len(groups))],
    )
    sums = sums.assign(told_median="median " + sums["told"], told_n="n = " + sums["n"], mark=sums["base"] + 9)
    return with_hover(sums, MIDDLE)


def _drawn(rows: pd.DataFrame, sums: pd.DataFrame) -> alt.LayerChart:
    """Bars on their baselines, the numbers above them, the names at the left and the medians at the right."""
    bars = alt.Chart(inline(rows)).encode(x=_score("score"))
    ends = {"y": y_of("top"), "y2": alt.Y2(field="base")}
    told = bars.mark_text(dy=-8, fontSize=SIZE - 1, aria=False).encode(y=y_of("top"), text=words("told"))
    own = alt.Chart(inline(sums)).encode(y=y_of("base"))
    median = own.mark_point(shape="diamond", filled=True, size=70, color=INK, opacity=1).encode(
        x=_score("median"), y=y_of("mark"), **hover(MIDDLE)
    )
    width = STEP * MOST
    layers = [
        own.mark_rule(color=LINE, aria=False).encode(x=x_at(0), x2=x2_at(width)),
        bars.mark_bar(width=BAR, color=BLUE).encode(**ends, **hover(FIELDS)),
        told,
        median,
        own.mark_text(align="right", x=-14, dy=-10, fontWeight="bold", aria=False).encode(text=words("name")),
        own.mark_text(align="left", x=width + 14, dy=-18, aria=False).encode(text=words("told_median")),
        own.mark_text(align="left", x=width + 14, dy=-3, color=FAINT, aria=False).encode(text=words("told_n")),
    ]
    return alt.LayerChart(layer=layers, width=width, height=ROW * len(sums))


def _score(field: str) -> alt.X:
    ticks = alt.Axis(
        values=list(range(LEAST, MOST + 1)), domain=False, ticks=False, grid=False, format="d", labelOverlap=False
    )
    across = alt.Scale(domain=[LEAST - 0.5, MOST + 0.5], nice=False)
    return alt.X(field=field, type="quantitative", scale=across, axis=ticks, title="Score")


def _caption(own: pd.DataFrame, given: pd.DataFrame, by: str) -> str:
    left_out = len(own) - len(given)
    return sentences(
        f"How many of {count(given['run_id'].nunique(), 'plan')} got each score from 1 to 10, by the {by}, in"
        f" {count(given['dimension'].nunique(), 'dimension')} (n = {count(len(given), 'score')}).",
        "All bars have one scale, from 0; diamond: the median.",
        f"Left out: {count(left_out, 'score')}, refused or missing." if left_out else "",
        "Counts, so without intervals.",
    )


def _description(rows: pd.DataFrame, sums: pd.DataFrame) -> str:
    told = (rows["told"] + " with " + rows["score"].astype(str)).groupby(rows["name"], sort=False).agg(", ".join)
    heads = "(" + sums["told_median"] + ", " + sums["told_n"] + ")"
    lines = [f"{name} {head}: {told[name]}" for name, head in zip(sums["name"], heads, strict=True)]
    return f"Bars of how many plans got each score. {'. '.join(lines)}."
