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

    >>> columns = {"schema_ignored": [True, False], "json_fenced": [True, None], "tools_unused": [None, True]}
    >>> print(*notes_on_ignored(pd.DataFrame(columns, dtype="boolean")))  # doctest: +ELLIPSIS
    1 of 2 calls was answered by JSON in a code fence, though it asked for bare JSON by a schema: ...
    """
    asked = calls["schema_ignored"].dropna()
    if ignored := int(asked.sum()):
        fenced = int(calls["json_fenced"].fillna(False).sum())
        ways = (("in prose", ignored - fenced), ("by JSON in a code fence", fenced))
        were, they = ("was", "it") if ignored == 1 else ("were", "they")
        how = " and ".join(f"{way}{f' ({n:,})' if fenced < ignored and fenced else ''}" for way, n in ways if n)
        bare = "bare JSON" if fenced else "JSON"
        yield (
            f"{ignored:,} of {counted(len(asked), 'call')} {were} answered {how}, though {they} asked for {bare} by a "
            "schema: the endpoint does not enforce schemas (structured=False asks for none), and answers were read as "
            "far as they could be"
        )
    offered = calls["tools_unused"].dropna()
    if len(offered) >= MIN_CALLS_WITHOUT_TOOLS and offered.all():
        yield (
            f"tools were offered in {counted(len(offered), 'call')} and never called: the model had no use for them, "
            "or the endpoint does not pass them on; nothing was looked up"
        )
