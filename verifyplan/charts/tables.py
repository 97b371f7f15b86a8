"""Tables on their way into a chart: checked for their columns, and carried inside the chart."""

from __future__ import annotations

import json
from collections.abc import Iterable

import altair as alt
import pandas as pd

from verifyplan.errors import Problem, TableError, one_of


def checked(table: pd.DataFrame, columns: Iterable[str], name: str) -> pd.DataFrame:
    """The table with exactly these columns, rows numbered from 0; TableError names those it lacks."""
    wanted = list(columns)
    lacking = [column for column in wanted if column not in table.columns]
    if lacking:
        fix = f"give a table with the columns {one_of(wanted)}"
        raise TableError([Problem(f"{name}: column {column}", "is not there", fix) for column in lacking])
    return table[wanted].reset_index(drop=True)


def inline(table: pd.DataFrame) -> alt.InlineData:
    """The rows as a chart's own data; missing numbers become null. Any number of rows may be drawn."""
    return alt.InlineData(values=json.loads(table.to_json(orient="records")))


def words(column: str) -> alt.Text:
    """The encoding that writes a column's texts as they are."""
    return alt.Text(field=column, type="nominal")
