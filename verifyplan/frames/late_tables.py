"""Tables that are read when they are first asked for (rule E4)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import pandas as pd


class LateTable:
    """A table that is read when it is first asked for, and then kept; how many rows it has is known before.

    >>> late = LateTable(lambda: pd.DataFrame({"run_id": ["r"]}), 1)
    >>> late.rows, late.table["run_id"].tolist()
    (1, ['r'])
    """

    def __init__(self, read: Callable[[], pd.DataFrame], rows: int) -> None:
        self._read, self.rows = read, rows

    @cached_property
    def table(self) -> pd.DataFrame:
        """The table; the error of reading it, each time, where it cannot be read."""
        return self._read()
