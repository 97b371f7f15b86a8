"""The columns of what scores under weights give (rule F4)."""

from __future__ import annotations

from verifyplan.columns import Column, Columns

_RANKING: Columns = (
    Column("plan", "text", "the plan", key=True),
    Column("score", "number", "the weighted sum of its scores; missing where a score is"),
    Column("final", "whole", "`score` rounded half up, in exact arithmetic (rule A10)"),
    Column("rank", "whole", "its rank, 1 for the highest score; tied plans share the best; missing where a score is"),
    Column("was", "whole", "its rank under the weights that the tuner started at"),
    Column("missing", "text", "the dimensions whose score is missing; blank where none is"),
)
WEIGHT_TABLES: dict[str, Columns] = {"ranking": _RANKING}
