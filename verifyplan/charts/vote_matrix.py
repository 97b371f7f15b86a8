"""Draw who voted what on which finding, round by round."""

from __future__ import annotations

from typing import NamedTuple, Unpack

import altair as alt
import pandas as pd

from verifyplan.analysis import vote_tables
from verifyplan.charts.encodings import hover, inline, text_of, tooltip, with_hover, x_at
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count, distinct_labels, first_drawn, plain, sentences, short
from verifyplan.charts.options import ChartOptions, Options, chart
from verifyplan.charts.theme import (
    BLACK,
    CLASS_COLORS,
    FAINT,
    INK,
    MARK_COLORS,
    MARK_LETTERS,
    SIZE,
    WHITE,
    color_scale,
)
from verifyplan.errors import InputError, Problem, TableError, one_of
from verifyplan.frames.load import Runs
from verifyplan.protocol.vote import CLASSIFICATIONS

COLUMNS = ("finding_id", "summary", "round", "worker", "mark", "explanation", "classification")
TEXTS = {"finding_id": "", "summary": "", "worker": "", "explanation": "", "classification": "not classed"}
"""Columns of text, and what replaces a missing text."""
TITLE = "Who voted what"
ID_GAP = "\N{EN SPACE}"
"""Between a finding's id and its summary; labels hold no such space, so no two rows have one name."""
MAX_FINDINGS = 44
"""Findings drawn at most: more would not fit on a screen."""
MAX_COLUMNS, MAX_ROUNDS = 36, 8
"""Columns of tiles and rounds drawn at most; workers as many as then fit."""
STEP_PX, MIN_STEP_PX = 22, 14
"""Pixels from tile to tile, and at least."""
COLUMNS_PX = 480
"""Pixels across of all tiles before they get narrower."""
FIELDS = {
    "finding_id": "Finding",
    "summary": "Summary",
    "worker": "Worker",
    "round": "Round",
    "mark": "Vote",
    "explanation": "Explanation",
    "classification": "Class",
}
NAME_FIELDS = {"finding_id": "Finding", "summary": "Summary", "classification": "Class"}
NO_VOTE = ", no vote"
"""Behind the class of a finding that is not held and on which no vote came."""
PALE = 0.25
"""The opacity of a vote that no class reads, as an earlier round decided the finding."""
OUTLINE = alt.when("datum.mark === 'discovered'").then(alt.value(FAINT)).otherwise(alt.value("transparent"))
"""The edge of a tile or swatch: only that of a discovery, which is as white as the page, is seen."""


@chart
def vote_matrix(data: pd.DataFrame | Runs, *, run_id: str | None = None, **options: Unpack[Options]) -> Figure:
    """Draw tiles of votes: findings down, workers across, one panel a round, the class named at the right.

    Reads what `analysis.vote_matrix` returns, or makes it of runs, of which `run_id` names one: `finding_id, summary,
    round, worker, mark, explanation, classification`. A mark is one of agree, supplement, counter-evidence,
    burden-not-met, disagree, verification-error, discovered; round 0 is drawn as "found by". Findings are in the order
    of their classes. Of more than `limit` (44), those on which most votes differ are drawn, ties as in the table; of
    more than 36 columns, the first workers and rounds. The caption says how many are left out. `width` and `height` are
    of all tiles, without gaps. Raises TableError where a mark is unknown.

    >>> import verifyplan as vp
    >>> runs = vp.datasets.runs("stdlib-claims/adversarial")
    >>> figure = vote_matrix(runs, run_id=runs.runs["run_id"].iloc[0], limit=20)
    >>> figure.description[:53]
    'Table of votes on 20 findings by 4 workers in 2 round'
    """
    chosen = ChartOptions.of(options)
    if run_id is not None and isinstance(data, pd.DataFrame):
        raise InputError(Problem("run_id", "is of runs, and a table of votes is of one", "leave it out, or give runs"))
    whole = chosen.table(
        data, lambda runs: vote_tables.vote_matrix(runs, run_id), COLUMNS, "votes", names=["worker", "finding_id"]
    )
    unknown = sorted(set(map(str, whole["mark"])) - set(MARK_COLORS))
    if unknown:
        received = one_of(short(mark, 40) for mark in unknown)
        raise TableError(Problem("votes: column mark", f"unknown: {received}", f"write one of {one_of(MARK_COLORS)}"))
    if whole.empty:
        return empty(chosen, TITLE, "There are no votes to draw.", whole)
    in_view, not_in_view = _columns_in_view(whole)
    ids, n_findings = _disputed_first(in_view), whole["finding_id"].nunique()
    drawn = ids[: chosen.rows(MAX_FINDINGS)]
    by, later = whole.attrs.get("classes_by"), whole.attrs.get("later_votes", 0)
    less = "on which fewer votes differ" if len(drawn) < len(ids) else "on which none of the drawn workers voted"
    rows = _rows(in_view[in_view["finding_id"].astype(str).isin(drawn)])
    rounds = whole.attrs.get("decided_rounds", {})
    decided = rows["finding_id"].map({plain((chosen.labels or {}).get(name, name)): at for name, at in rounds.items()})
    pale = decided.gt(0) & rows["round"].gt(decided)
    lettered = with_hover(rows.assign(letter=rows["mark"].map(MARK_LETTERS.__getitem__), pale=pale), FIELDS)
    tile = _tile(rows, chosen)
    unvoted = rows.loc[rows["class_text"].str.endswith(NO_VOTE), "finding"].nunique()
    return figure(
        lambda: _drawing(lettered, tile),
        chosen,
        title=TITLE,
        subtitle="Blank: not asked in that round",
        caption=sentences(
            f"Votes on {_size(rows)} (n), lettered as the key says; findings are in the order of their classes,"
            " which are named at the right.",
            f"The table records no class: {by} rules give the classes." if by else "",
            f"A finding's class is that of the round that decides it: {count(later, 'vote')} of later rounds, which "
            f"{'is' if later == 1 else 'are'} pale, {'does' if later == 1 else 'do'} not count."
            if later
            else "",
            f"No vote came on {count(unvoted, 'finding')} (so named beside the class): nobody rejected these."
            if unvoted
            else "",
            first_drawn(len(drawn), n_findings, "finding", less),
            not_in_view,
        ),
        data=whole,
        description=_description(rows),
    )


def _disputed_first(whole: pd.DataFrame) -> list[str]:
    """Return the findings by how many of their votes differ from the most frequent one, the most first."""
    ids = whole["finding_id"].astype(str)
    votes = whole["mark"].astype(str)[whole["mark"].ne("discovered")]
    counts = votes.groupby([ids[votes.index], votes], sort=False).size().groupby(level=0, sort=False)
    differ = (counts.sum() - counts.max()).reindex(list(dict.fromkeys(ids)), fill_value=0)
    return list(map(str, differ.sort_values(ascending=False, kind="stable").index))


def _columns_in_view(whole: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return the votes of the first workers and rounds, as many as there is room for, and a sentence on the others."""
    rounds, workers = sorted(set(whole["round"])), list(dict.fromkeys(whole["worker"].astype(str)))
    drawn_rounds = rounds[:MAX_ROUNDS]
    drawn_workers = workers[: max(MAX_COLUMNS // len(drawn_rounds), 1)]
    n_rounds, n_workers = len(drawn_rounds), len(drawn_workers)
    if n_rounds == len(rounds) and n_workers == len(workers):
        return whole, ""
    in_view = whole["round"].isin(drawn_rounds) & whole["worker"].astype(str).isin(drawn_workers)
    left_out = sentences(
        first_drawn(n_workers, len(workers), "worker"),
        first_drawn(sum(map(bool, drawn_rounds)), sum(map(bool, rounds)), "round"),
    )
    return whole[in_view], left_out


class _Tile(NamedTuple):
    """Pixels of a tile and its gap, across and from top to bottom."""

    width: float
    height: float


def _tile(rows: pd.DataFrame, options: ChartOptions) -> _Tile:
    columns = rows["round"].nunique() * rows["voter"].nunique()
    width = options.px(
        "width",
        min(STEP_PX * columns, max(COLUMNS_PX, MIN_STEP_PX * columns)),
        MIN_STEP_PX * columns,
        count(columns, "column"),
    )
    return _Tile(width / columns, options.row_px(rows["finding"].nunique(), STEP_PX, "finding", MIN_STEP_PX))


def _drawing(lettered: pd.DataFrame, tile: _Tile) -> alt.VConcatChart:
    panels = [_panel(lettered, number, tile) for number in sorted(set(lettered["round"]))]
    findings = with_hover(lettered.drop_duplicates("finding")[["finding", *NAME_FIELDS]], NAME_FIELDS)
    names = alt.Chart(inline(findings), width=1, height=tile.height * len(findings)).mark_text(align="left", x=0)
    names = names.encode(y=_finding(lettered), text=text_of("finding"), **hover(NAME_FIELDS))
    row = alt.HConcatChart(hconcat=[names, *panels, _classes(lettered, tile)], spacing=18)
    own = alt.Resolve(scale={"color": "independent", "fill": "independent"})  # votes and classes differ in colours
    return alt.VConcatChart(vconcat=[_key(lettered), row.properties(resolve=own)], spacing=14, resolve=own)


def _rows(grid: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in the order drawn, with short labels of findings and workers."""
    rank = grid["classification"].astype(str).map({name: i for i, name in enumerate(CLASSIFICATIONS)})
    texts = {
        column: grid[column].astype(object).where(grid[column].notna(), missing).map(plain)
        for column, missing in TEXTS.items()
    }
    rows = grid.assign(**texts).loc[rank.sort_values(kind="stable", na_position="last").index]
    ids = distinct_labels(rows["finding_id"].sort_index(), 16)
    workers = distinct_labels(rows["worker"].sort_index(), 18)
    summaries = rows.groupby("finding_id")["summary"].first()
    summaries = summaries.map(lambda text: f"{ID_GAP}{short(text, 46, keep_end=False)}" if text else "")
    return rows.assign(
        finding=rows["finding_id"].map(ids) + rows["finding_id"].map(summaries),
        voter=rows["worker"].map(workers),
        mark=rows["mark"].astype(str),
        class_text=rows["classification"] + _no_vote(rows),
    )


def _no_vote(rows: pd.DataFrame) -> pd.Series[str]:
    """Return a note for findings without a vote other than errors, whose class alone looks like a rejection."""
    voted = ~rows["mark"].isin(["discovered", "verification-error"])
    is_unvoted = ~voted.groupby(rows["finding_id"]).transform("any") & rows["classification"].isin(CLASSIFICATIONS[2:])
    return pd.Series("", rows.index).mask(is_unvoted, NO_VOTE)


def _size(rows: pd.DataFrame) -> str:
    findings, workers = rows["finding"].nunique(), rows["voter"].nunique()
    rounds = rows.loc[rows["round"] > 0, "round"].nunique()
    return f"{count(findings, 'finding')} by {count(workers, 'worker')} in {count(rounds, 'round')}"


def _description(rows: pd.DataFrame) -> str:
    classes = rows.drop_duplicates("finding")["classification"]
    listed = []
    for names, order in ((rows["mark"], list(MARK_COLORS)), (classes, list(CLASS_COLORS))):
        counts = names.value_counts()
        listed.append(", ".join(f"{counts[name]:,} {name}" for name in order if name in counts))
    return f"Table of votes on {_size(rows)}. Marks: {listed[0]}. Classes: {listed[1]}."


def _finding(rows: pd.DataFrame) -> alt.Y:
    scale = alt.Scale(domain=list(dict.fromkeys(rows["finding"])), type="band", paddingInner=0.1)
    return alt.Y("finding:N", scale=scale, axis=None)


def _panel(rows: pd.DataFrame, number: int, tile: _Tile) -> alt.LayerChart:
    """Draw one round's votes; round 0 has the discoverers."""
    workers = list(dict.fromkeys(rows.sort_index()["voter"]))
    axis = alt.Axis(orient="top", labelAngle=-45, domain=False, ticks=False, grid=False, labelLimit=160)
    scale = alt.Scale(domain=workers, type="band", paddingInner=0.1)
    base = alt.Chart(inline(rows[rows["round"] == number])).encode(
        x=alt.X("voter:N", scale=scale, axis=axis, title=None), y=_finding(rows)
    )
    tiles = base.mark_rect(strokeWidth=1).encode(
        color=alt.Color("mark:N", scale=color_scale(MARK_COLORS), legend=None),
        opacity=alt.when("datum.pale").then(alt.value(PALE)).otherwise(alt.value(1)),
        stroke=OUTLINE,
        **hover(FIELDS),
    )
    layers = alt.LayerChart(layer=[tiles, _letters(base).encode(**tooltip(FIELDS))])
    title = alt.Title(f"Round {number}" if number else "Found by", fontSize=SIZE, offset=6)
    height = tile.height * rows["finding"].nunique()
    return layers.properties(title=title, width=tile.width * len(workers), height=height)


def _letters(base: alt.Chart, right: int = 0) -> alt.Chart:
    """Write the marks' letters, in the colour that contrasts with the tile."""
    white = alt.when("datum.pale").then(alt.value(FAINT)).when("datum.mark === 'agree'").then(alt.value(WHITE))
    ink = white.when("datum.mark === 'discovered'").then(alt.value(INK)).otherwise(alt.value(BLACK))
    text = base.mark_text(fontSize=SIZE - 1, fontWeight="bold", xOffset=right, aria=False)
    letters: alt.Chart = text.encode(text=text_of("letter"), color=ink)
    return letters


def _classes(rows: pd.DataFrame, tile: _Tile) -> alt.LayerChart:
    """Draw the class of each finding, as a colour and in words."""
    findings = rows.drop_duplicates("finding")[["finding", "classification", "class_text"]]
    base = alt.Chart(inline(findings)).encode(y=_finding(rows))
    swatch = base.mark_square(size=110, opacity=1, aria=False).encode(
        x=x_at(6), color=alt.Color("classification:N", scale=color_scale(CLASS_COLORS), legend=None)
    )
    name = base.mark_text(align="left", aria=False).encode(x=x_at(18), text=text_of("class_text"))
    title = alt.Title("Class", fontSize=SIZE, offset=6)
    layers = alt.LayerChart(layer=[swatch, name])
    return layers.properties(title=title, width=1, height=tile.height * len(findings))


def _key(rows: pd.DataFrame) -> alt.LayerChart:
    """Draw a tile and a name for each kind of vote that occurs."""
    kinds = [mark for mark in MARK_COLORS if mark in set(rows["mark"])]
    places = [sum(40 + _width(before) for before in kinds[:i]) for i in range(len(kinds))]
    key = pd.DataFrame({"mark": kinds, "letter": [MARK_LETTERS[kind] for kind in kinds], "place": places})
    base = alt.Chart(inline(key)).encode(x=alt.X("place:Q", scale=None, axis=None))
    tile = base.mark_square(size=280, opacity=1, strokeWidth=1, xOffset=9, aria=False).encode(
        fill=alt.Fill("mark:N", scale=color_scale(MARK_COLORS), legend=None), stroke=OUTLINE
    )
    name = base.mark_text(align="left", xOffset=24, aria=False).encode(text=text_of("mark"))
    return alt.LayerChart(layer=[tile, _letters(base, right=9), name]).properties(height=18)


def _width(word: str) -> float:
    """Return about how many pixels the word takes, in letters of the theme's size."""
    widths = dict.fromkeys("fijlt", 3.0) | dict.fromkeys("r-", 4.0) | dict.fromkeys("mw", 9.0)
    return sum(widths.get(letter, 6.6) for letter in word)
