"""Write the data dictionary: every column of every table, from where `vp.documentation` has them."""

from __future__ import annotations

import re
from pathlib import Path

import verifyplan as vp
from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.frames.columns import TABLES
from verifyplan.frames.vote_tables import VOTE_TABLES

_PAGE = re.compile(r"\bdocs/[\w-]+\.md\b")
GROUPS = {
    "Tables of runs": (TABLES, "`vp.load(...)` and every run's `.frames` have these tables as attributes."),
    "Tables of results": (RESULT_TABLES, "What analyses return; a point stands between the result and its table."),
    "Bundled votes": (VOTE_TABLES, "`vp.datasets.votes(name)` returns them."),
}


def write_tables(folder: Path) -> None:
    """Write the page `tables.md`."""
    parts = [
        "# Columns of every table\n\nThis page says what each column means, of runs, results and bundled votes. "
        '`vp.documentation("votes")` shows the same in a notebook. No value of a key is missing. Of the '
        "types, `whole` is an integer, `yesno` a boolean, and `names` a list of texts.\n"
    ]
    for title, (tables, words) in GROUPS.items():
        parts.append(f"## {title}\n\n{words}\n")
        parts += [f"### {name}\n\n{rows(name)}\n" for name in tables]
    (folder / "tables.md").write_text("\n".join(parts), "utf-8")


def rows(table: str) -> str:
    """Return the columns of a table as a table of Markdown.

    >>> rows("rounds").splitlines()[2]
    "| `run_id` | text, key | the run: its file's path under the loaded folder, without suffix |"
    """
    columns = vp.documentation(table)
    lines = [
        f"| `{row.Index}` | {cell(row.type)}{', key' if row.key else ''} | {cell(row.meaning)} |"
        for row in columns.itertuples()
    ]
    return "\n".join(["| column | type | meaning |", "|---|---|---|", *lines])


def cell(text: object) -> str:
    r"""Return a text as it can stand in a cell, with links of the pages that it names.

    >>> print(cell("a|b, see docs/statistics.md"))
    a\|b, see [docs/statistics.md](../docs/statistics.md)
    """
    return _PAGE.sub(r"[\g<0>](../\g<0>)", str(text).replace("|", "\\|"))
