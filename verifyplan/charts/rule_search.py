"""Draw what rules are worth against what they cost: every rule a dot, the frontier a line, its bounds as bars."""

from __future__ import annotations

from typing import Any, Unpack

import altair as alt
import numpy as np
import pandas as pd

from verifyplan.analysis.treatments.recommendation import Recommendation
from verifyplan.analysis.treatments.rule_search import RuleSearch
from verifyplan.analysis.treatments.rule_space import order_words
from verifyplan.analysis.treatments.search_rules import search_rules
from verifyplan.charts.encodings import hover, inline, text_of, unscaled, with_hover
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count, distinct_labels, first_drawn, interval_text, percent, plain, sentences
from verifyplan.charts.options import ChartOptions, Options, chart
from verifyplan.charts.point_labels import Plane, label_points, text_px
from verifyplan.charts.rule_names import rule_words
from verifyplan.charts.theme import BLUE, FAINT, GREY, INK, PAPER, TEXT_COLORS, VERMILLION, WIDTH
from verifyplan.frames.load import Runs, as_runs
from verifyplan.protocol.voting_rules import VotingRules

TITLE = "What rules are worth, and what they cost"
SUBTITLE = "Line: the frontier; bars: what votes never cast leave open; thin lines: 95 % intervals"
MAX_RULES = 400
"""Rules drawn at most."""
MAX_NAMED = 12
"""Rules of the frontier whose names are written at most."""
MAX_NAME_CHARACTERS = 56
MAX_NAMED_IN_WORDS = 5
"""More named rules are numbered in the plot, and named below the title."""
MAX_LINE_CHARACTERS = 90
"""A line of names below the title is about as long."""
MIN_SHARING = 3
"""What so many named rules have in common, or more, is said in the caption alone."""
MAX_LINEAR_RATIO = 10
"""Costs that differ by a larger factor are drawn on a logarithmic axis."""
PLOT_PX, HEIGHT_PX = WIDTH + 60, 400
"""Pixels of the plot across, and from top to bottom."""
MIN_PLOT_PX, MIN_HEIGHT_PX = 240, 180
COLORS = {"recommended": BLUE, "recorded": VERMILLION, "frontier": INK, "": GREY}
"""What a rule is, and its colour; of several, the first."""
FIELDS = {
    "name": "Rules",
    "is_text": "Are",
    "cost_text": "Cost",
    "value_text": "Quality",
    "interval_text": "95 % interval",
    "bounds_text": "By votes never cast",
    "n": "Of",
}


@chart
def rule_search(data: RuleSearch | Runs, **options: Unpack[Options]) -> Figure:
    """Draw rules by cost and quality: the frontier as a line, the recorded and the recommended rules by name.

    Reads what `search_rules` returns, or makes it of runs. Bars are the bounds that votes leave open which were never
    cast, thin lines 95 % intervals; both are drawn of the named rules alone. The axis of quality begins where these
    need it to, and costs that differ more than tenfold are on a logarithmic axis. At most `limit` rules are drawn
    (400): those of the frontier, the recorded and the recommended before the others, the best first.

    >>> import verifyplan as vp
    >>> figure = rule_search(vp.search_rules("stdlib-claims/adversarial", cost="votes"))
    >>> figure.description[:73]
    'Dot chart of f1 and cost of rules. recommended: majority above 2/3, stop '
    """
    chosen = ChartOptions.of(options)
    search = data if isinstance(data, RuleSearch) else search_rules(as_runs(data, "data"))
    known = search.table[search.cost].notna() & search.table["value"].notna()
    if not known.any():
        return empty(chosen, TITLE, f"No rule has both a {search.quality} and a cost in {search.cost}.", search.table)
    recommended = search.recommend()
    rows, left_out = _rows(search, recommended, chosen)
    plane = _plane(rows, chosen)
    below = int((rows["y"] < plane.y[0]).sum())
    rows = rows[rows["y"] >= plane.y[0]].reset_index(drop=True)
    named = rows[rows["kind"].ne("")]
    each = named["label"] + " " + named["value_text"] + " at " + named["cost_text"]
    return figure(
        lambda: _draw(rows, plane, search),
        chosen,
        title=TITLE,
        subtitle="\n".join([SUBTITLE, *_number_lines(rows)]),
        caption=sentences(_caption(search, recommended, rows, below, plane), left_out),
        data=search.table,
        description=f"Dot chart of {plain(search.quality)} and cost of rules. {'; '.join(each)}.",
        synthetic=search.synthetic,
    )


def _rows(search: RuleSearch, recommended: Recommendation, options: ChartOptions) -> tuple[pd.DataFrame, str]:
    """Return the rules that are drawn, the named ones first, with their texts; and a sentence on those left out."""
    table, recorded = search.table, recommended.recorded
    is_recommended = [recommended.decided and rules == recommended.rules for rules in search.rules]
    kind = pd.Series("", index=table.index).mask(table["on_frontier"], "frontier")
    kind = kind.mask(table["is_recorded"], "recorded").mask(pd.Series(is_recommended, index=table.index), "recommended")
    names = _rule_names(search.rules, recorded, kind)
    every = table.assign(kind=kind, name=names, x=table[search.cost], y=table["value"])
    every = every[every["x"].notna() & every["y"].notna()]
    every = every.assign(plain=every["kind"].eq("")).sort_values(["plain", "y"], ascending=[True, False], kind="stable")
    rows = every.head(options.rows(MAX_RULES)).reset_index(drop=True)
    is_named = rows["kind"].ne("")
    options.check_labels(rows.loc[is_named, "name"])
    rows = rows.assign(name=options.label(rows["name"]).map(plain))
    return with_hover(_with_texts(rows, search), FIELDS), first_drawn(len(rows), len(every), "rule")


def _rule_names(every: tuple[VotingRules, ...], recorded: VotingRules, kind: pd.Series[Any]) -> list[str]:
    """Return each rule in words, by what differs from the recorded ones; what all others share is not repeated."""
    every = _without_order(every)
    workers = tuple(dict.fromkeys(name for rules in every for name in rules.workers or ()))
    shared = _shared(every, recorded, kind)
    base = recorded.model_copy(update=shared)
    return [rule_words(rules, recorded if rules == recorded else base, workers) for rules in every]


def _common_order(every: tuple[VotingRules, ...]) -> tuple[str, ...] | None:
    """Return the order of asking that the orders of all rules agree with; None where they contradict each other."""
    orders = [rules.order for rules in every if rules.order]
    longest = max(orders, key=len, default=None)
    agree = all(order == tuple(name for name in longest or () if name in order) for order in orders)
    return longest if agree else None


def _without_order(every: tuple[VotingRules, ...]) -> tuple[VotingRules, ...]:
    """Return rules without an order of asking that all have in common, which the caption says once."""
    if _common_order(every) is None:
        return every
    return tuple(rules.model_copy(update={"order": None}) if rules.order else rules for rules in every)


def _shared(every: tuple[VotingRules, ...], recorded: VotingRules, kind: pd.Series[Any]) -> dict[str, Any]:
    """Return the fields that all named rules but the recorded have in common, and these have not; none of few rules."""
    named = [rules for rules, is_named in zip(every, kind.ne(""), strict=True) if is_named and rules != recorded]
    if len(named) < MIN_SHARING:
        return {}
    return {
        name: getattr(named[0], name)
        for name in VotingRules.model_fields
        if len({str(getattr(rules, name)) for rules in named}) == 1
        and getattr(named[0], name) != getattr(recorded, name)
    }


def _with_texts(rows: pd.DataFrame, search: RuleSearch) -> pd.DataFrame:
    short = distinct_labels(rows["name"], MAX_NAME_CHARACTERS)
    prefix = rows["kind"].map({"recommended": "recommended: ", "recorded": "recorded: ", "frontier": "", "": ""})
    prefix = prefix.mask(rows["kind"].eq("recommended") & rows["is_recorded"], "recorded, and recommended: ")
    labels = (prefix + rows["name"].map(short)).str.replace(": as run", "")
    ends = rows[["low_bound", "high_bound"]].itertuples(index=False)
    intervals = zip(rows["low"], rows["high"], strict=True)
    return rows.assign(
        label=labels,
        mark=_marks(rows.assign(label=labels)),
        is_text=prefix.str.removesuffix(": ").mask(rows["kind"].eq("frontier"), "on the frontier"),
        cost_text=[f"{cost:,.4g} {search.cost}" if cost < 1000 else f"{cost:,.0f} {search.cost}" for cost in rows["x"]],
        value_text=[percent(value, 1) for value in rows["y"]],
        interval_text=[interval_text(low, high) for low, high in intervals],
        bounds_text=[interval_text(low, high) if low != high else "" for low, high in ends],
        color=rows["kind"].map(COLORS),
        y_low=rows["low"],
        y_high=rows["high"],
    )


def _marks(rows: pd.DataFrame) -> pd.Series[Any]:
    """Return what is written at each rule: its name, or numbers from cheap to dear where more are named than fit."""
    marks = rows["label"].copy()
    named = rows[rows["kind"].ne("")].sort_values("x", kind="stable")
    if len(named) > MAX_NAMED_IN_WORDS:
        marks[named.index] = [str(number) for number in range(1, len(named) + 1)]
    return marks


def _number_lines(rows: pd.DataFrame) -> list[str]:
    """Return which rule each number in the plot is, in lines below the title; none where names are written there."""
    numbered = rows[rows["mark"].ne(rows["label"])].sort_values("x", kind="stable").head(MAX_NAMED)
    lines = [""]
    for mark, label in zip(numbered["mark"], numbered["label"], strict=True):
        entry = f"({mark}) {label}"
        if lines[-1] and len(lines[-1]) + len(entry) > MAX_LINE_CHARACTERS:
            lines.append("")
        lines[-1] += f"; {entry}" if lines[-1] else entry
    return [line for line in lines if line]


def _plane(rows: pd.DataFrame, options: ChartOptions) -> Plane:
    """Return the plot: quality as far as intervals and bounds of the named rules go, cost from 0 or on a log axis."""
    named = rows[rows["kind"].ne("")] if rows["kind"].ne("").any() else rows
    ends = named[["y", "low", "high", "low_bound", "high_bound"]]
    y = max(0.0, float(ends.min().min()) - 0.02), min(1.0, float(ends.max().max()) + 0.02)
    least, most = float(rows["x"].min()), float(rows["x"].max())
    log = least > 0 and most / least > MAX_LINEAR_RATIO
    x = (least / 1.3, most * 1.3) if log else (0.0, max(most, 1e-9) * 1.08)
    width = options.px("width", PLOT_PX, MIN_PLOT_PX)
    return Plane(width, options.px("height", HEIGHT_PX, MIN_HEIGHT_PX), x, y, log)


def _draw(rows: pd.DataFrame, plane: Plane, search: RuleSearch) -> alt.LayerChart:
    named, others = rows[rows["kind"].ne("")].reset_index(drop=True), rows[rows["kind"].eq("")]
    frontier = rows[rows["on_frontier"]].sort_values("x")
    base = alt.Chart(inline(named))
    color = unscaled(alt.Color, "color")
    x, at = _x("x", plane, search), {"x": _x("x", plane, search), "y": _y("y", plane, search)}
    bars = base.mark_rule(strokeWidth=9, opacity=0.28, aria=False)
    whiskers = base.mark_rule(strokeWidth=1.2, opacity=0.45, aria=False)
    dots = base.mark_point(filled=True, opacity=1, size=80, stroke=PAPER, strokeWidth=1)
    small = alt.Chart(inline(others)).mark_point(filled=True, size=22, opacity=0.45, color=GREY)
    layers = [
        *([small.encode(**at, **hover(FIELDS))] if len(others) else []),  # an empty layer is a picture without a name
        bars.encode(x=x, y=_y("low_bound", plane, search), y2=alt.Y2(field="high_bound"), color=color),
        whiskers.encode(x=x, y=_y("low", plane, search), y2=alt.Y2(field="high"), color=color),
        alt.Chart(inline(frontier))
        .mark_line(interpolate="step-after", color=INK, strokeWidth=1.6, aria=False)
        .encode(**at, order=alt.Order("x:Q")),
        dots.encode(**at, color=color, **hover(FIELDS)),
        *_names(named, plane, search),
    ]
    return alt.LayerChart(layer=layers, width=plane.width, height=plane.height)


def _names(named: pd.DataFrame, plane: Plane, search: RuleSearch) -> list[alt.Chart]:
    """Write the names of the recommended and recorded rules and of those of the frontier, as far as there is room."""
    order = sorted(range(len(named)), key=lambda row: list(COLORS).index(named["kind"].iloc[row]))[:MAX_NAMED]
    labels = label_points(plane, _with_steps(named), order, named["mark"].iloc[order].tolist())
    labels = labels.assign(color=named["color"].map(TEXT_COLORS).to_numpy()[labels["row"]])
    ends: dict[str, Any] = {"x": _x("from_x", plane, search), "y": _y("from_y", plane, search)}
    ends |= {"x2": alt.X2(field="to_x"), "y2": alt.Y2(field="to_y")}
    lines = alt.Chart(inline(labels[labels["far"]])).mark_rule(color=FAINT, strokeWidth=0.7, aria=False)
    at = {"x": _x("x", plane, search), "y": _y("y", plane, search)}
    layers = [lines.encode(**ends)]
    by_align: Any = _beside(labels, plane).groupby("align", sort=True)
    for align, side in by_align:
        texts = alt.Chart(inline(side)).encode(**at, text=text_of("text"))
        layers += [
            texts.mark_text(align=align, stroke=PAPER, strokeWidth=3, strokeOpacity=0.9, aria=False),
            texts.mark_text(align=align, aria=False).encode(color=unscaled(alt.Color, "color")),
        ]
    return layers


def _beside(labels: pd.DataFrame, plane: Plane) -> pd.DataFrame:
    """Return the labels with `align`, and `x` at the edge of the text that is next to its point."""
    middle, point = (plane.pixels(labels[ends].to_numpy(dtype=float)) for ends in (["x", "y"], ["from_x", "from_y"]))
    half = labels["text"].map(text_px).to_numpy(dtype=float) / 2
    right, left = middle[:, 0] - half >= point[:, 0], middle[:, 0] + half <= point[:, 0]
    middle[:, 0] += np.where(left, half, 0) - np.where(right, half, 0)
    align = np.select([right, left], ["left", "right"], "center")
    return labels.assign(x=plane.values(middle)[:, 0], align=align)


def _with_steps(named: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with all that is drawn at each as intervals, which names keep away from.

    Across, the level part of the frontier's line; up, the step that leads to it, the bounds and the interval.
    """
    steps = named[named["on_frontier"]].sort_values("x")
    before, after = steps["y"].shift(1).reindex(named.index), steps["x"].shift(-1).reindex(named.index)
    ends = pd.concat([named[["y_low", "y_high", "low_bound", "high_bound"]], before], axis=1)
    return named.assign(
        x_low=named["x"], x_high=after.fillna(named["x"]), y_low=ends.min(axis=1), y_high=ends.max(axis=1)
    )


def _x(field: str, plane: Plane, search: RuleSearch) -> Any:
    scale = alt.Scale(type="log" if plane.log else "linear", domain=list(plane.x), nice=False)
    axis = alt.Axis(domain=False, ticks=False, grid=False, format=",~f", tickCount=6)
    title = f"Cost of all findings in {search.cost}{', on a logarithmic axis' if plane.log else ''}"
    return alt.X(field=field, type="quantitative", scale=scale, axis=axis, title=title)


def _y(field: str, plane: Plane, search: RuleSearch) -> Any:
    words = "format(datum.value * 100, '.0f') + ' %'"
    axis = alt.Axis(labelExpr=words, domain=False, ticks=False, tickCount=6)
    scale = alt.Scale(domain=list(plane.y), nice=False, zero=False)
    return alt.Y(field=field, type="quantitative", scale=scale, axis=axis, title=_title(search.quality))


def _shared_words(search: RuleSearch, recommended: Recommendation, rows: pd.DataFrame) -> str:
    recorded = recommended.recorded
    kinds = rows.set_index("digest")["kind"].reindex(search.table["digest"], fill_value="")
    shared = _shared(_without_order(search.rules), recorded, kinds)
    words = rule_words(recorded.model_copy(update=shared), recorded)
    return f"All named rules but the recorded: {words}." if shared else ""


def _title(quality: str) -> str:
    return plain(quality[:1].upper() + quality[1:].replace("-", " "))


def _caption(search: RuleSearch, recommended: Recommendation, rows: pd.DataFrame, below: int, plane: Plane) -> str:
    n = count(search.n_findings, "finding")
    return plain(
        sentences(
            f"Dots: {count(len(search.rules), 'rule')} judged on the same recorded votes (n = {n}).",
            "The frontier is of rules that no other beats at the same cost or less; it is chosen on these findings, so"
            " that its height is flattered.",
            _shared_words(search, recommended, rows),
            f"A round that can stop {order_words(order)}." if (order := _common_order(search.rules)) else "",
            f"The axis begins at {percent(plane.y[0])}." if plane.y[0] > 0 else "",
            f"{count(below, 'rule')} below it {'is' if below == 1 else 'are'} not drawn." if below else "",
            f"{recommended.in_short()}.",
        )
    )
