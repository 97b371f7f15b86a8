"""Draw how the scores of many plans spread, dimension by dimension."""

from __future__ import annotations

from typing import NamedTuple, Unpack

import altair as alt
import pandas as pd

from verifyplan.charts.encodings import hover, inline, text_of, with_hover, x2_at, x_at, y_of
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count, first_drawn, sentences
from verifyplan.charts.options import ChartOptions, Options, chart
from verifyplan.charts.score_table import (
    MAX_SCORE,
    MIN_SCORE,
    expect_author,
    read_scores,
    short_words,
)
from verifyplan.charts.theme import BLUE, FAINT, INK, LINE, SIZE
from verifyplan.frames.load import Runs
from verifyplan.rules.scoring import INFORMS

TITLE = "How the scores spread"
KEY = "How many plans got each score; diamond: the median"
MEDIAN_FIELDS = {"whole": "Dimension", "text": "Median", "n": "Scores"}
FIELDS = {"whole": "Dimension", "score": "Score", "n": "Plans", "share_text": "Share"}
STEP_PX, MIN_STEP_PX = 36, 18
"""Pixels from score to score, and at least."""
BAR_PX, OTHER_PX = 46, 36
"""Pixels of the highest bar of all, and of the rest of a row: the number above the bars, the median below."""
MIN_ROW_PX = OTHER_PX + 10
MAX_DIMENSIONS = 12
"""Dimensions drawn at most."""


@chart
def score_distributions(data: pd.DataFrame | Runs, *, by: str = "synthesizer", **options: Unpack[Options]) -> Figure:
    """Draw bars of how many plans got each score from 1 to 10, a row a dimension, with the median and n of each.

    Reads `run_id, by, dimension, score, evidence, refused, disputed`, the scores of a RunSet, or the RunSet. All bars
    have one scale, from 0; `limit` dimensions are drawn (12). Refused and missing scores are not counted, and the
    caption says how many. The score informs and never decides a verdict (rule A10). Raises TableError where a score is
    not a whole number from 1 to 10.

    >>> import verifyplan as vp
    >>> table = vp.datasets.example_scores(40).drop(columns="overall")
    >>> scores = table.melt(
    ...     var_name="dimension", value_name="score", ignore_index=False
    ... ).reset_index(names="run_id")
    >>> scores = scores.assign(by="synthesizer", evidence="made up", refused=None, disputed=False)
    >>> scores.attrs["synthetic"] = True
    >>> figure = score_distributions(scores)
    >>> figure.description[:82]
    'Bars of how many plans got each score. approach soundness (median 6, n = 40): 1 wi'
    """
    expect_author(by)
    chosen = ChartOptions.of(options)
    table, words = read_scores(data, chosen)
    own = table[table["by"] == by].reset_index(drop=True)
    every = own.dropna(subset="score")
    if every.empty:
        return empty(chosen, TITLE, f"There is no score by the {by} to draw.", own)
    known = [name for name in words if name in set(every["dimension"])]
    drawn = known[: chosen.rows(MAX_DIMENSIONS)]
    scored = every[every["dimension"].isin(drawn)]
    places = _DistributionPlaces(
        {name: words[name] for name in drawn},
        chosen.px("width", STEP_PX * MAX_SCORE, MIN_STEP_PX * MAX_SCORE),
        chosen.row_px(len(drawn), BAR_PX + OTHER_PX, "dimension", MIN_ROW_PX),
    )
    rows, sums, left_out = _rows(scored, places), _sums(scored, places), len(own) - len(every)
    each = (rows["text"] + " with " + rows["score"].astype(str)).groupby(rows["name"], sort=False).agg(", ".join)
    heads = sums["name"] + " (" + sums["median_text"] + ", " + sums["n_text"] + "): "
    lines = [head + each[name] for name, head in zip(sums["name"], heads, strict=True)]
    return figure(
        lambda: _drawing(rows, sums, places),
        chosen,
        title=TITLE,
        subtitle=KEY,
        caption=sentences(
            f"How many of {count(scored['run_id'].nunique(), 'plan')} got each score from 1 to 10, by the {by}, in"
            f" {count(len(drawn), 'dimension')} (n = {count(len(scored), 'score')}).",
            "All bars have one scale, from 0; diamond: the median.",
            first_drawn(len(drawn), len(known), "dimension"),
            f"Left out: {count(left_out, 'score')}, refused or missing." if left_out else "",
            "Counts, so without intervals.",
            INFORMS,
        ),
        data=own,
        description=f"Bars of how many plans got each score. {'. '.join(lines)}.",
    )


class _DistributionPlaces(NamedTuple):
    """The dimensions in their order, and their places in pixels."""

    words: dict[str, str]
    width: float
    row: float

    def base(self, number: float) -> float:
        """Return the foot of a dimension's bars; a row ends below it with the median."""
        return (number + 1) * self.row - (OTHER_PX - 16)


def _rows(scored: pd.DataFrame, places: _DistributionPlaces) -> pd.DataFrame:
    """Count each score that occurs in each dimension."""
    counts = scored.groupby(["dimension", "score"], sort=True).size().rename("n").reset_index()
    whole = counts.groupby("dimension")["n"].transform("sum")
    order = counts["dimension"].map(list(places.words).index)
    rows = counts.assign(
        name=counts["dimension"].map(short_words(places.words)),
        whole=counts["dimension"].map(places.words),
        score=counts["score"].astype("int64"),
        text=counts["n"].map("{:,}".format),
        share_text=[f"{n:,} of {of:,} plans" for n, of in zip(counts["n"], whole, strict=True)],
        base=order.map(places.base),
    )
    rows = rows.assign(top=rows["base"] - rows["n"] * (places.row - OTHER_PX) / int(rows["n"].max()))
    return with_hover(rows.sort_values("base", kind="stable").reset_index(drop=True), FIELDS)


def _sums(scored: pd.DataFrame, places: _DistributionPlaces) -> pd.DataFrame:
    """Return the median and the number of scores of each dimension."""
    groups = scored.groupby("dimension")["score"].agg(["median", "count"]).reindex(list(places.words)).reset_index()
    sums = groups.assign(
        name=groups["dimension"].map(short_words(places.words)),
        whole=groups["dimension"].map(places.words),
        text=groups["median"].map("{:g}".format),
        n=groups["count"].map("{:,}".format),
        base=[places.base(number) for number in range(len(groups))],
    )
    sums = sums.assign(median_text="median " + sums["text"], n_text="n = " + sums["n"], mark=sums["base"] + 9)
    return with_hover(sums, MEDIAN_FIELDS)


def _drawing(rows: pd.DataFrame, sums: pd.DataFrame, places: _DistributionPlaces) -> alt.LayerChart:
    """Draw bars on their baselines, the numbers above them, the names at the left and the medians at the right."""
    bars = alt.Chart(inline(rows)).encode(x=_score("score"))
    own = alt.Chart(inline(sums)).encode(y=y_of("base"))
    median = own.mark_point(shape="diamond", filled=True, size=70, color=INK, opacity=1)
    width, height = places.width, places.row * len(sums)
    bar = 0.78 * width / MAX_SCORE
    layers = [
        own.mark_rule(color=LINE, aria=False).encode(x=x_at(0), x2=x2_at(width)),
        bars.mark_bar(width=bar, color=BLUE).encode(y=y_of("top"), y2=alt.Y2(field="base"), **hover(FIELDS)),
        bars.mark_text(dy=-8, fontSize=SIZE - 1, aria=False).encode(y=y_of("top"), text=text_of("text")),
        median.encode(x=_score("median"), y=y_of("mark"), **hover(MEDIAN_FIELDS)),
        own.mark_text(align="right", x=-14, dy=-10, fontWeight="bold", aria=False).encode(text=text_of("name")),
        own.mark_text(align="left", x=width + 14, dy=-18, aria=False).encode(text=text_of("median_text")),
        own.mark_text(align="left", x=width + 14, dy=-3, color=FAINT, aria=False).encode(text=text_of("n_text")),
    ]
    return alt.LayerChart(layer=layers, width=width, height=height)


def _score(field: str) -> alt.X:
    values = list(range(MIN_SCORE, MAX_SCORE + 1))
    ticks = alt.Axis(values=values, domain=False, ticks=False, grid=False, format="d", labelOverlap=False)
    across = alt.Scale(domain=[MIN_SCORE - 0.5, MAX_SCORE + 0.5], nice=False)
    return alt.X(field=field, type="quantitative", scale=across, axis=ticks, title="Score")
