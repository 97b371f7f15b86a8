"""Any text as Markdown that shows it as it is: no markup of the text's own takes effect (rule H3)."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

_SPECIAL = re.compile(r"([\\`*_\[\]|~>])")


def text(value: Any) -> str:
    r"""A value as inline Markdown: special characters escaped, tags as entities, newlines as spaces.

    >>> text("a|b <img src=x>")
    'a\\|b &lt;img src=x&gt;'
    """
    flat = " ".join(str(value).split())
    safe = flat.replace("&", "&amp;").replace("<", "&lt;")
    return _SPECIAL.sub(r"\\\1", safe).replace(r"\>", "&gt;")


def table(frame: pd.DataFrame, digits: int = 3) -> str:
    """A DataFrame as a Markdown table; numbers with so many digits, a dash where a value is missing."""
    head = [text(name) for name in frame.columns]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    rows = frame.itertuples(index=False)
    return "\n".join(lines + ["| " + " | ".join(_cell(value, digits) for value in row) + " |" for row in rows])


def _cell(value: Any, digits: int) -> str:
    if value is None or value is pd.NA or value != value:
        return "-"
    return f"{value:.{digits}f}" if isinstance(value, float) else text(value)
