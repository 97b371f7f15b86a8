"""What a mark says when it is pointed at: one text for tooltips, for native titles and for readers who hear it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd
from pandas.api.types import is_numeric_dtype

from verifyplan.charts.labels import short

HOVER = "hover"
"""The column that holds the whole text of a mark."""
MOST = 400
"""Letters of one value: evidence may be as long as a file, a tooltip may not."""


def with_hover(rows: pd.DataFrame, fields: Mapping[str, str]) -> pd.DataFrame:
    r"""The rows with `hover`: a line for each field that has a value, as "title: value".

    `fields` maps columns to titles. Values are cut to 400 letters on one line each, and columns of text with them;
    missing and blank values have no line.

    >>> rows = pd.DataFrame({"plan": ["a", "b"], "score": [7, 12000], "evidence": ["a.py:1", None]})
    >>> list(with_hover(rows, {"plan": "Plan", "score": "Score", "evidence": "Evidence"})["hover"])
    ['Plan: a\nScore: 7\nEvidence: a.py:1', 'Plan: b\nScore: 12,000']
    """
    told = {column: [_told(value) for value in rows[column]] for column in fields}
    lines = [
        "\n".join(f"{title}: {text}" for title, text in zip(fields.values(), texts, strict=True) if text)
        for texts in zip(*told.values(), strict=True)
    ]
    cut = {column: texts for column, texts in told.items() if not is_numeric_dtype(rows[column])}
    return rows.assign(**cut, **{HOVER: lines})


def hover(fields: Mapping[str, str]) -> dict[str, Any]:
    """The encodings of a mark whose rows come from `with_hover`: its description, and its tooltip in a live chart.

    A description of its own also keeps Vega-Lite from making one of the axes' titles, which can hold any text.
    """
    return {"description": alt.Description(field=HOVER, type="nominal"), **tooltip(fields)}


def tooltip(fields: Mapping[str, str]) -> dict[str, Any]:
    """The tooltip alone: for what is written over a mark, which would keep the pointer from it in a live chart."""
    lines = [alt.Tooltip(field=column, type="nominal", title=title) for column, title in fields.items()]
    return {"tooltip": lines}


def _told(value: object) -> str:
    if value is None or value is pd.NA or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return short(value, MOST, keep_end=False) if str(value).strip() else ""
