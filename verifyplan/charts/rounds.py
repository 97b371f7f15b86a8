"""How the queue of findings shrinks from round to round."""

from __future__ import annotations

import pandas as pd

from verifyplan.charts.captions import sentences, subtitle, synthetic_is
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.labels import count, plain, shortened
from verifyplan.charts.queue_lines import queue_lines
from verifyplan.charts.tables import checked
from verifyplan.charts.unchecked import unchecked
from verifyplan.errors import expect

COLUMNS = ("reading", "round", "waiting", "resolved", "n_runs")
TITLE = "How the queue shrinks"
KEY = "Below: findings waiting, and in brackets how many the round classed"


def rounds(queue: pd.DataFrame) -> Figure:
    """Lines of the findings that wait after each round, one a reading, with the numbers in a table below.

    Reads `reading, round` (0: as queued), `waiting, resolved, n_runs`; rows whose `waiting` is missing are
    left out and the caption says so. `attrs["synthetic"]` marks generated data. Raises TableError where a column
    is missing.

    >>> queue = pd.DataFrame(
    ...     {"reading": "adversarial", "round": [0, 1], "waiting": [9, 4], "resolved": [0, 5], "n_runs": 2}
    ... )
    >>> rounds(queue).description
    'Line chart of findings waiting in the queue. adversarial: 9 as queued, 4 after round 1.'
    """
    expect(queue, pd.DataFrame, "queue", "give what queue(runs) returns")
    whole, synthetic = checked(queue, COLUMNS, "queue"), bool(queue.attrs.get("synthetic"))
    kept = whole[whole["waiting"].notna()]
    if kept.empty:
        return empty(TITLE, "There is no round to draw.", whole)
    rows = _rows(kept)
    with unchecked():
        return figure(
            queue_lines(rows),
            title=TITLE,
            subtitle=subtitle(KEY, synthetic),
            caption=_caption(rows, left_out=len(whole) - len(kept), synthetic=synthetic),
            data=whole,
            description=_description(rows),
        )


def _rows(kept: pd.DataFrame) -> pd.DataFrame:
    """The rows in the order of rounds, with the reading's label, the stage's name and the table's text."""
    names = shortened(kept["reading"], 30)
    rows = kept.astype({"round": int, "waiting": int}).sort_values("round", kind="stable")
    resolved = pd.to_numeric(rows["resolved"]).map(_taken)
    return rows.assign(
        label=rows["reading"].astype(str).map(names),
        reading=rows["reading"].map(plain),
        stage=rows["round"].map(lambda number: f"after round {number}" if number else "as queued"),
        told=rows["waiting"].map("{:,}".format),
        told_resolved=resolved.where((rows["round"] > 0) & rows["resolved"].notna(), ""),
    )


def _taken(resolved: float) -> str:
    return f"(\N{MINUS SIGN}{resolved:,.0f})" if resolved else "(0)"


def _caption(rows: pd.DataFrame, left_out: int, synthetic: bool) -> str:
    fewest, most = int(rows["n_runs"].min()), int(rows["n_runs"].max())
    runs = count(most, "run") if fewest == most else f"{fewest:,} to {count(most, 'run')}"
    first = rows.drop_duplicates("label").sort_index()
    sizes = ", ".join(first["waiting"].map("{:,}".format) + " under " + first["label"])
    return sentences(
        "Findings that wait to be classed, as queued and after each round, summed over each reading's runs"
        f" ({runs}); n at first: {sizes}.",
        "Counts, so without intervals.",
        f"Left out: {count(left_out, 'row')} without a number." if left_out else "",
        synthetic_is(synthetic),
    )


def _description(rows: pd.DataFrame) -> str:
    told = (rows["told"] + " " + rows["stage"]).groupby(rows["label"], sort=False)
    lines = [f"{label}: {', '.join(stages)}" for label, stages in told]
    return f"Line chart of findings waiting in the queue. {'; '.join(lines)}."
