"""One column of a table, as data: its name, its type, what it means (SPEC E4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

Kind = Literal["text", "whole", "number", "yesno", "time", "names"]
_DTYPE: dict[Kind, str] = {
    "text": "str",
    "whole": "Int64",
    "number": "float64",
    "yesno": "boolean",
    "time": "datetime64[ms, UTC]",
    "names": "object",  # lists of texts: worker names, tickets, cited lines
}


@dataclass(frozen=True)
class Column:
    """One column: a kind of value or a closed, ordered set of them; missing values unless it is a `key`.

    A table that lacks the column has `default` in every row.
    """

    name: str
    kind: Kind | tuple[str, ...]
    meaning: str
    key: bool = False
    default: Any = pd.NA

    @property
    def dtype(self) -> Any:
        """The pandas dtype; a closed set is a categorical with all its categories, in order."""
        return pd.CategoricalDtype(list(self.kind), ordered=True) if isinstance(self.kind, tuple) else _DTYPE[self.kind]


Columns = tuple[Column, ...]

RUN = Column("run_id", "text", "the run: its file's path under the loaded folder, without suffix", key=True)
ITERATION = Column("iteration", "whole", "the iteration of a plan run; 0 in cross runs", key=True, default=0)
ROUND = Column("round", "whole", "the round, from 1", key=True)
WORKER = Column("worker", "text", "the worker, as the roster names it", key=True)
FINDING = Column("finding_id", "text", "the finding, unique in its run; of a plan run, the challenge", key=True)
CHALLENGE = Column("challenge_id", "text", "the challenge: C1, C2 ..., counted over all iterations", key=True)
