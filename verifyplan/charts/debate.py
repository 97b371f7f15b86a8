"""Debates turn by turn: how the builder's diff grew, where it stayed the same, and how each debate ended."""

from __future__ import annotations

from typing import Any

import pandas as pd

from verifyplan.analysis.debates import COLUMNS, debates
from verifyplan.charts.captions import sentences, subtitle
from verifyplan.charts.debate_rows import FIELDS, debate_rows
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.hover import with_hover
from verifyplan.charts.labels import count, short, shortened
from verifyplan.charts.tables import checked
from verifyplan.charts.unchecked import unchecked
from verifyplan.errors import Problem, TableError, expect
from verifyplan.frames.runset import RunSet

TITLE = "How the debates went"
KEY = "Lines of the builder's diff in each turn; in brackets, how many more or fewer than in the turn before"
DEBATES, TURNS = 20, 30
"""Debates and turns of each drawn at most: more would not fit on a screen."""
LETTERS = 34
"""Letters of a task at most."""
SYNTHETIC = "Synthetic data: tasks or answers were made up, not observed."


def debate(runs: RunSet | pd.DataFrame) -> Figure:
    """A row of bars for each debate: the lines of the diff turn by turn, and the end beside them.

    Reads a RunSet, or what `analysis.debates` makes of it, in its order; 20 debates and 30 turns of each are drawn at
    most. All bars have one scale, which begins at 0. A diff that is the one of the turn before is hollow, dashed and
    named so; a turn that brought no diff says that. `.data` is the whole table. `attrs["synthetic"]` marks generated
    data. Raises TableError where a column or the number of a turn is missing.

    >>> turn = {"run_id": "r", "task": "greet", "opening": "Say hello.", "built": "Done.", "n_messages": 3}
    >>> one = turn | {"turn": 1, "diff_lines": 4, "verified": "Verified.", "last": True, "max_turns": 3}
    >>> one |= {"lines_more": None, "same_diff": None, "end": "CONVERGED VERIFIED"}
    >>> debate(pd.DataFrame([one])).description
    'Bars of the lines of diffs by turn, 1 debate. greet: turn 1: 4 lines; CONVERGED VERIFIED.'
    """
    table = debates(runs) if isinstance(runs, RunSet) else runs
    expect(table, pd.DataFrame, "runs", "give a RunSet, as the .frames of a debate, or what analysis.debates returns")
    whole, synthetic = checked(table, COLUMNS, "debates"), bool(table.attrs.get("synthetic"))
    if whole.empty:
        return empty(TITLE, "There is no debate to draw.", whole)
    if whole["turn"].isna().any():
        raise TableError(Problem("debates: column turn", "lacks a number", "give what analysis.debates returns"))
    rows = _rows(whole)
    with unchecked():
        return figure(
            debate_rows(rows),
            title=TITLE if whole["run_id"].nunique() > 1 else "How the debate went",
            subtitle=subtitle(KEY, synthetic),
            caption=sentences(_caption(whole, rows), SYNTHETIC if synthetic else ""),
            data=whole,
            description=_description(rows),
        )


def _rows(whole: pd.DataFrame) -> pd.DataFrame:
    """The turns that are drawn, with their words."""
    chosen = list(dict.fromkeys(whole["run_id"]))[:DEBATES]
    rows = whole[whole["run_id"].isin(chosen) & (whole["turn"] <= TURNS)].astype({"turn": "int64"})
    rows = rows.assign(order=rows["run_id"].map(chosen.index)).sort_values(["order", "turn"], kind="stable")
    ends = whole.dropna(subset="end").drop_duplicates("run_id", keep="last").set_index("run_id")
    runs = shortened(chosen, LETTERS)
    same = rows["same_diff"].astype("boolean").fillna(False).astype(bool)
    return with_hover(
        rows.reset_index(drop=True).assign(
            named=[short(task, LETTERS, keep_end=False) for task in rows["task"]],
            run=rows["run_id"].astype(str).map(runs).array,
            stage=rows["turn"].map("turn {:,}".format).array,
            same=same.array,
            told=[_told(*row) for row in zip(rows["diff_lines"], rows["lines_more"], same, strict=True)],
            ended=rows["run_id"].map(ends["end"]).fillna("broken off").array,
            where=[
                _where(*row)
                for row in zip(rows["run_id"].map(ends["turn"]), rows["max_turns"], rows["turn"], strict=True)
            ],
        ),
        FIELDS,
    )


def _told(lines: Any, more: Any, same: bool) -> str:
    """What stands above a bar: its lines, and how they changed."""
    if pd.isna(lines):
        return "no diff"
    if same:
        return f"{int(lines):,} (same diff)"
    if pd.isna(more):
        return f"{int(lines):,}"
    change = f"{int(more):+,}".replace("-", "\N{MINUS SIGN}") if more else "changed"
    return f"{int(lines):,} ({change})"


def _where(last: Any, most: Any, turn: Any) -> str:
    """In which turn a debate ended, of how many."""
    number = turn if pd.isna(last) else last
    return f"turn {int(number):,}" if pd.isna(most) else f"turn {int(number):,} of at most {int(most):,}"


def _caption(whole: pd.DataFrame, rows: pd.DataFrame) -> str:
    n, drawn = whole["run_id"].nunique(), rows["run_id"].nunique()
    ends = ", ".join(f"{number:,} {end}" for end, number in whole["end"].dropna().value_counts(sort=False).items())
    late = int((whole["turn"] > TURNS).sum())
    changed = rows["told"].str.endswith("(changed)").any()
    return sentences(
        f"Lines of the diff that the builder gave in each turn of {count(n, 'debate')}"
        f" (n = {count(len(whole), 'turn')}), on one scale from 0. Ends: {ends or 'none'}.",
        "(same diff): the one of the turn before, character by character, which ends a debate."
        if rows["same"].any()
        else "",
        "(changed): as many lines, and not the same." if changed else "",
        "How many lines were exchanged is not told: the tables hold a diff's length and digest.",
        f"The first {drawn} debates are drawn; {n - drawn:,} are left out." if n > drawn else "",
        f"{count(late, 'turn')} after turn {TURNS} left out." if late else "",
        "Counts, so without intervals.",
    )


def _description(rows: pd.DataFrame) -> str:
    lines = []
    for _, part in rows.groupby("order", sort=False):
        told = part["told"].where(
            part["diff_lines"].isna(), part["told"].str.replace(r"^([\d,]+)", r"\1 lines", regex=True)
        )
        turns = "; ".join(part["stage"] + ": " + told)
        lines.append(f"{part['named'].iloc[0]}: {turns}; {part['ended'].iloc[0]}")
    return f"Bars of the lines of diffs by turn, {count(len(lines), 'debate')}. {'. '.join(lines)}."
