"""What the models used, role by role and turn by turn."""

from __future__ import annotations

import altair as alt
import pandas as pd

from verifyplan.analysis.cost import usage as usage_of
from verifyplan.charts.captions import sentences, subtitle, synthetic_is
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count, percent, shortened
from verifyplan.charts.tables import checked
from verifyplan.charts.unchecked import unchecked
from verifyplan.charts.usage_bars import PARTS, usage_bars
from verifyplan.errors import expect
from verifyplan.frames.runset import RunSet

COLUMNS = ("role", "turn", "n_turns", *PARTS, "cost")
TITLE = "What the models used"
KEY = "Tokens of each role, by its turns: 1 is the first of a call"
TURNS = 6
"""Turns that have a row of their own; later ones of a role are added up in the last."""
LETTERS = 24
"""Letters of a role's name at most."""


def usage(usage: pd.DataFrame | RunSet) -> Figure:
    """Stacked bars of the tokens of each role's turns, those of the cache apart, with numbers and dollars beside them.

    Reads what `analysis.usage` makes of runs, `role, turn, n_turns, cost` and the tokens, or the RunSet itself; its
    `.data` is that table. From the sixth turn on a role's turns are added up. Costs that are not known are left blank
    and the caption says so. `attrs["synthetic"]` marks generated data. Raises TableError where a column is missing.

    >>> table = pd.DataFrame({"role": "challenger", "turn": [1, 2], "n_turns": 1, "input_tokens": [900, 50],
    ...     "cache_write_tokens": [0, 100], "cache_read_tokens": [0, 800], "output_tokens": [40, 60], "cost": None})
    >>> print(usage(table).description)
    Stacked bars of tokens. challenger: turn 1: 900 fresh, 40 out; turn 2: 50 fresh, 100 put in the cache, 800 read
    from the cache, 60 out.
    """
    table = usage_of(usage) if isinstance(usage, RunSet) else usage
    expect(table, pd.DataFrame, "usage", "give a RunSet, as the .frames of a run")
    whole, synthetic = checked(table, COLUMNS, "usage"), bool(table.attrs.get("synthetic"))
    rows = _rows(whole)
    if rows.empty:
        return empty(TITLE, "No model was asked in turns: there is nothing to draw.", whole)
    with unchecked():
        return figure(
            _drawn(rows),
            title=TITLE,
            subtitle=subtitle(KEY, synthetic),
            caption=_caption(rows, synthetic=synthetic),
            data=whole,
            description=_description(rows),
        )


def _rows(whole: pd.DataFrame) -> pd.DataFrame:
    """A row for each role and turn that used anything, roles as they come; late turns of a role as one."""
    plain = whole.astype({"role": "object", "turn": "int64", "cost": "float64"} | dict.fromkeys(PARTS, "int64"))
    plain = plain.assign(turn=plain["turn"].clip(upper=TURNS), later=plain["turn"] > TURNS)
    groups = plain.groupby(["role", "turn"], sort=False)
    rows = groups[[*PARTS, "n_turns", "cost"]].sum(skipna=False).assign(later=groups["later"].any()).reset_index()
    rows = rows.assign(role=rows["role"].map(shortened(rows["role"], LETTERS)))
    return pd.DataFrame(rows[rows[list(PARTS)].sum(axis=1) > 0].reset_index(drop=True))


def _drawn(rows: pd.DataFrame) -> alt.VConcatChart:
    number = rows["turn"].astype(str).mask(rows["later"], f"{TURNS} on")
    return usage_bars(rows.assign(stage=number))


def _caption(rows: pd.DataFrame, *, synthetic: bool) -> str:
    n, taken = int(rows["n_turns"].sum()), int(rows[list(PARTS)].sum().sum())
    fed = taken - int(rows["output_tokens"].sum())
    known, unpriced = rows["cost"].sum(), int(rows.loc[rows["cost"].isna(), "n_turns"].sum())
    share = f"; of those in, {percent(rows['cache_read_tokens'].sum() / fed)} were read from the cache" if fed else ""
    return sentences(
        f"Tokens of {count(n, 'exchange')} with models, {taken:,} in all, added up by role and by the turn of its"
        f" calls{share}.",
        f"Dollars by the table of prices: {known:,.4f} in all." if known else "",
        f"No price is known for {count(unpriced, 'exchange')}." if unpriced else "",
        "Counts, so without intervals.",
        synthetic_is(synthetic),
    )


def _description(rows: pd.DataFrame) -> str:
    lines = []
    for role, part in rows.groupby("role", sort=False):
        each = [
            f"turn {row['turn']}: "
            + ", ".join(f"{row[column]:,} {name}" for column, name in PARTS.items() if row[column])
            for row in part.to_dict("records")
        ]
        lines.append(f"{role}: {'; '.join(each)}")
    return f"Stacked bars of tokens. {'. '.join(lines)}."
