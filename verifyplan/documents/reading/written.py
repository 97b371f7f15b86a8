"""New documents as text: frontmatter, tables and lists with values that read back as they were given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from verifyplan.documents.reading.writing import entry

_BACKTICKS = re.compile(r"`+")

Value = str | int | None | Sequence[str]


def flat(text: str) -> str:
    r"""A text as one line that opens no comment, so that it can stand in a list, a table or a heading.

    >>> flat(" two\n lines <!-- "), flat("")
    ('two lines <! --', '')
    """
    visible = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(visible.replace("<!--", "<! --").split())


def cell(text: str) -> str:
    r"""A text as a table's cell: one line, its pipes escaped; inline code that never closes becomes plain text.

    >>> cell("a | b"), cell("`a | b`"), cell("a ` b")
    ('a \\| b', '`a \\| b`', "a ' b")
    """
    line = flat(text).replace("\\|", "|").replace("|", "\\|")
    return line if _closes(line) else line.replace("`", "'")


def _closes(line: str) -> bool:
    """Whether each run of backticks has its like behind it."""
    opened = ""
    for run in _BACKTICKS.findall(line):
        opened = "" if run == opened else opened or run
    return not opened


def item(text: str) -> str:
    """A text as a list item, which opens no code and has no box."""
    line = flat(text).replace("```", "'''").replace("~~~", "~~")
    return f"- {line}" if not line.startswith("[") else f"- \\{line}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table's lines."""
    lines = [header, ["---"] * len(header), *rows]
    return [
        f"| {' | '.join(map(cell, line))} |" if at != 1 else "|---" * len(header) + "|" for at, line in enumerate(lines)
    ]


def document(front: Mapping[str, Value], body: Iterable[str]) -> str:
    """A document of frontmatter and lines; texts are quoted, so that YAML reads none of them as anything else."""
    head = [line for name, value in front.items() for line in entry(name, _flat(value))]
    return "\n".join(["---", *head, "---", "", *body, ""])


def _flat(value: Value) -> Value:
    if value is None or isinstance(value, int):
        return value
    return flat(value) if isinstance(value, str) else [flat(text) for text in value]
