"""Say what endpoints ignored of requests: the schema of an answer, the tools that were offered (rule G5)."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from verifyplan.text import counted

MIN_CALLS_WITHOUT_TOOLS = 3
"""With fewer calls that were offered tools, a model may just have had no use for them."""


def notes_on_ignored(calls: pd.DataFrame) -> Iterator[str]:
    """Yield what the endpoints of calls ignored, without a full stop; the researcher is told, the models are not.

    Tools count as ignored where none was called in any of three calls or more that were offered some.

    >>> calls = pd.DataFrame({"schema_ignored": [True, False], "tools_unused": [None, True]}, dtype="boolean")
    >>> print(*notes_on_ignored(calls))  # doctest: +ELLIPSIS
    1 of 2 calls was answered in prose, though it asked for JSON by a schema: ...
    """
    asked = calls["schema_ignored"].dropna()
    if prose := int(asked.sum()):
        were, they = ("was", "it") if prose == 1 else ("were", "they")
        yield (
            f"{prose:,} of {counted(len(asked), 'call')} {were} answered in prose, though {they} asked for JSON by a "
            "schema: the endpoint holds no schema (structured=False asks for none), and answers were read as far as "
            "they could be"
        )
    offered = calls["tools_unused"].dropna()
    if len(offered) >= MIN_CALLS_WITHOUT_TOOLS and offered.all():
        yield (
            f"tools were offered in {counted(len(offered), 'call')} and never called: the model had no use for them, "
            "or the endpoint does not pass them on; nothing was looked up"
        )
