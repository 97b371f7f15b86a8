"""Draw what a panel of judges is worth: each judge, the panel, and how many independent votes the judges make."""

from __future__ import annotations

from typing import Unpack

import altair as alt
import numpy as np
import pandas as pd

from verifyplan.analysis.panels import panel as panels
from verifyplan.analysis.panels.effective_votes import says_nothing, votes_in_words
from verifyplan.analysis.panels.panel_result import PanelWorth
from verifyplan.charts.encodings import hover, inline, text_of, with_hover, x_at, x_of, y_at
from verifyplan.charts.figure import Figure, figure
from verifyplan.charts.interval_rows import PLOT_PX, STEP_PX, IntervalRows, whisker, with_texts
from verifyplan.charts.labels import count, first_drawn, percent, sentences
from verifyplan.charts.options import MIN_ROW_PX, MIN_WIDTH_PX, ChartOptions, Options, Size, chart
from verifyplan.charts.theme import BLUE, FAINT, GREEN, GREY, INK, ORANGE, PAPER
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.panel_votes import PanelVotes

TITLE = "What the panel is worth"
FIELDS = {"condition": "Whose votes", "share_text": "Share", "interval_text": "95 % interval", "n": "Of"}
PANEL_ROWS = {
    "majority": "majority",
    "independent": "if they erred independently",
    "best-judge": "best judge, on held-out items",
    "smaller-panel": "fewer judges, held-out items",
    "any-judge": "any judge is right",
}
"""The figures of the panel that are drawn, in order; `smaller-panel` where judges can be dropped and several kept."""
COLORS = {"judge": GREY, "majority": INK, "independent": BLUE, "best-judge": GREEN, "smaller-panel": ORANGE}
MAX_JUDGES = 12
"""Judges drawn at most."""
VOTES_PX, MAX_VOTE_PX, NOTE_PX = 44, 26, 18
"""Pixels from top to bottom of the row of votes, those of one vote across at most, and those of the words above it."""


@chart
def panel(data: PanelWorth | PanelVotes | pd.DataFrame | Runs, **options: Unpack[Options]) -> Figure:
    """Draw the votes that the judges are worth as a row of discs, and dots with 95 % intervals of their accuracy.

    Reads what `panel` returns, or makes it of runs, votes or a long table with columns of the names that `panel`
    looks for. The dots are of the majority, of independent judges of the same accuracies, of the best judge, of any
    judge that is right, and then of each judge, with a line for guessing among the labels; without truth, of each
    judge's agreement with the others. The first `limit` judges are drawn (12), the best first. `.data` is the
    table `judges`.

    >>> import verifyplan as vp
    >>> figure = panel(vp.datasets.votes("llmbar/plain"))
    >>> figure.description[:83]
    'Dot chart of accuracies. 6 judges are worth 2.2 independent votes [2.0, 2.3]; major'
    """
    chosen = ChartOptions.of(options)
    votes = data if isinstance(data, PanelWorth | PanelVotes | pd.DataFrame | str) else as_runs(data, "data")
    worth = votes if isinstance(votes, PanelWorth) else panels.panel(votes)
    judges = chosen.labelled(worth.judges, ["worker"])
    drawn = judges.head(chosen.rows(MAX_JUDGES))
    rows = with_hover(_rows(worth, drawn), FIELDS)
    height = chosen.px(
        "height", len(rows) * STEP_PX + VOTES_PX, len(rows) * MIN_ROW_PX + VOTES_PX, "its rows and discs"
    )
    size = Size(chosen.px("width", PLOT_PX, MIN_WIDTH_PX), (height - VOTES_PX) / len(rows), len(rows))
    measure = "Accuracy" if worth.has_truth else "Share of other votes on the same items that say the same"
    parts: list[alt.LayerChart | alt.FacetChart] = [_discs(worth, size.width)] if _is_worth(worth) else []
    for name in dict.fromkeys(rows["group"]):
        group = rows[rows["group"].eq(name)].reset_index(drop=True)
        parts.append(
            IntervalRows(group, "group", [name], measure, size).draw(
                [*_guessing(group, worth, size), whisker(), _dots()]
            )
        )
    each = rows["label"] + " " + rows["share_text"]
    kind = "accuracies" if worth.has_truth else "agreement"
    return figure(
        lambda: alt.VConcatChart(vconcat=parts, spacing=16),
        chosen,
        title=TITLE,
        subtitle="Votes as discs: filled, the independent votes that all of them are worth" if _is_worth(worth) else "",
        caption=sentences(_caption(worth), first_drawn(len(drawn), len(judges), "judge")),
        data=worth.judges,
        description=f"Dot chart of {kind}. {'; '.join([*_worth_words(worth), *each])}.",
        synthetic=worth.synthetic,
    )


def _rows(worth: PanelWorth, judges: pd.DataFrame) -> pd.DataFrame:
    """Return a row a figure of the panel, and below one a judge."""
    own = "accuracy" if worth.has_truth else "agreement"
    read = {f"{own}_{name}": name for name in ("low", "high", "n")}
    rows = judges.rename(columns={"worker": "condition", own: "share", **read}).assign(group="Each judge", kind="judge")
    figures = worth.summary[worth.summary["figure"].isin(_figures(worth))].rename(columns={"value": "share"})
    names = dict(PANEL_ROWS)
    if worth.chance is not None:  # any of many guesses is right almost always
        names["any-judge"] = f"any judge (guesses {percent(1 - (1 - worth.chance) ** worth.n_judges)})"
    figures = figures.assign(condition=figures["figure"].map(names), group="The panel", kind=figures["figure"])
    figures = figures.set_index("figure").reindex(_figures(worth)).reset_index(drop=True)
    columns = ["condition", "group", "kind", "share", "low", "high", "n"]
    return with_texts(pd.concat([figures[columns], rows[columns]], ignore_index=True))


def _figures(worth: PanelWorth) -> list[str]:
    known = set(worth.summary["figure"]) if worth.has_truth else set()
    if not 0 < len(worth.dropped) < worth.n_judges - 1:
        known -= {"smaller-panel"}
    return [name for name in PANEL_ROWS if name in known]


def _guessing(group: pd.DataFrame, worth: PanelWorth, size: Size) -> list[alt.Chart]:
    """Draw how often a guess is right as a line through all rows of a group, with its name above the first."""
    if worth.chance is None:
        return []
    line = alt.Chart().mark_tick(orient="vertical", size=size.row, thickness=1, color=GREY, opacity=1, aria=False)
    name = alt.Chart(inline(group.head(1).assign(text=f"guessing {percent(worth.chance)}")))
    words = name.mark_text(dy=-size.row / 2 - 5, baseline="bottom", color=FAINT, aria=False).encode(
        text=text_of("text")
    )
    return [each.encode(x=alt.X(datum=worth.chance)) for each in (line, words)]


def _dots() -> alt.Chart:
    scale = alt.Scale(domain=[*COLORS, "any-judge"], range=[*COLORS.values(), PAPER])
    dots: alt.Chart = alt.Chart().mark_point(filled=True, size=110, opacity=1, stroke=INK, strokeWidth=1)
    return dots.encode(x=alt.X("share:Q"), fill=alt.Fill("kind:N", scale=scale, legend=None), **hover(FIELDS))


def _is_worth(worth: PanelWorth) -> bool:
    """Whether a number of independent votes can be said."""
    if not worth.has_truth:
        return False
    votes = worth.figure("effective-votes")
    return bool(np.isfinite(votes.value)) and not says_nothing(votes, worth.votes_per_item)


def _discs(worth: PanelWorth, width: float) -> alt.LayerChart:
    """Draw one disc a vote, of which as many are filled, the last in part, as the judges are worth votes."""
    value = worth.figure("effective-votes").value
    number = np.arange(int(np.ceil(worth.votes_per_item)))
    step = min(MAX_VOTE_PX, width / len(number))
    votes = pd.DataFrame({"place": (number + 0.5) * step, "filled": np.clip(value - number, 0, 1)})
    votes["opacity"] = votes["filled"]
    base = alt.Chart(inline(votes)).encode(x=x_of("place"), y=y_at(NOTE_PX + MAX_VOTE_PX / 2))
    area = float((step * 0.8) ** 2)
    outline = base.mark_circle(size=area, fill=PAPER, stroke=FAINT, strokeWidth=1.2, opacity=1, aria=False)
    inside = base.mark_circle(size=area, fill=INK, aria=False)
    words = alt.Chart(inline(pd.DataFrame({"text": _worth_words(worth)})))
    note = words.mark_text(align="left", baseline="top", fontSize=14, fontWeight="bold", aria=False)
    layers = [
        outline,
        inside.encode(opacity=alt.Opacity("opacity:Q", scale=None, legend=None)),
        note.encode(x=x_at(0), y=y_at(-4), text=text_of("text")),
    ]
    return alt.LayerChart(layer=layers, width=width, height=VOTES_PX)


def _worth_words(worth: PanelWorth) -> list[str]:
    if not _is_worth(worth):
        return []
    votes = votes_in_words(worth.figure("effective-votes"), worth.votes_per_item, noun=" independent votes")
    whole = worth.votes_per_item == worth.n_judges
    who = f"{count(worth.n_judges, 'judge')} are" if whole else f"The {worth.votes_per_item:.1f} votes on an item are"
    return [f"{who} worth {votes}"]


def _caption(worth: PanelWorth) -> str:
    if not worth.has_truth:
        return f"{worth.in_short()}."
    answer = worth.in_short()
    alone = worth.figure("independent").value
    r = worth.figure("error-correlation").value
    where = "within each class of truth" if worth.correlation == "within-truth" else "over all items"
    errors = f" (mean correlation of errors {where}: {r:.2f})" if np.isfinite(r) else ""
    guess = "" if worth.chance is None else f"; grey line: guessing among {count(round(1 / worth.chance), 'label')}"
    return sentences(
        f"{answer}.",
        f"Judges who erred independently with the same accuracies would reach {percent(alone, 1)}: "
        f"{_gap_words(worth)}{errors}.",
        f"{count(worth.n_items, 'item')}; lines: 95 % intervals{guess}.",
        "Held-out items are not those used for the choice.",
    )


def _gap_words(worth: PanelWorth) -> str:
    """Return what it costs that judges err together, or gains that they do not, if it is shown to do either."""
    value, low, high = (100 * each for each in worth.figure("independent-minus-majority")[:3])
    if low <= 0 <= high:
        return f"{value:+.1f} points [{low:+.1f}, {high:+.1f}] against the majority, so no effect is shown"
    if low > 0:
        return f"erring together costs {value:.1f} points [{low:.1f}, {high:.1f}]"
    return f"not erring together gains {-value:.1f} points [{-high:.1f}, {-low:.1f}]"
