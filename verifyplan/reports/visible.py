"""Make texts of agents, plans and people safe to show: nothing in them can hide, jump or turn round."""

from __future__ import annotations

from verifyplan.text import visible

MAX_LINE_CHARACTERS = 200
"""Longest text of an agent, a plan or a person in a line of a log or a debate."""

_READ_FACTOR = 8
"""`one_line` reads so many times its limit of a text, white space included."""


def one_line(text: object, limit: int | None = None) -> str:
    r"""Return a text on one line, white space run together; cut to so many characters, ending in dots.

    >>> one_line("first\nsecond"), one_line("a long text", 8)
    ('first second', 'a lon...')
    """
    whole = str(text).strip()
    read = whole if limit is None else whole[: _READ_FACTOR * limit]
    line = visible(" ".join(read.split()))
    cut = limit is not None and (len(line) > limit or len(read) < len(whole))
    return f"{line[: limit - 3]}..." if cut and limit is not None else line


def sentence(text: str, limit: int) -> str:
    """Return a text on one line, cut, that ends as a sentence does; blank stays blank.

    >>> sentence("it leaks", 20), sentence("Does it?", 20)
    ('it leaks.', 'Does it?')
    """
    line = one_line(text, limit)
    return line if not line or line[-1] in ".!?:" else f"{line}."


def lines(text: str) -> list[str]:
    r"""Return a text line by line, tabs as four spaces, without blank lines at both ends.

    >>> lines("\nplan.md:3\n\tquoted\n\n")
    ['plan.md:3', '    quoted']
    """
    every = [visible(line.replace("\t", "    ")).rstrip() for line in text.splitlines()]
    filled = [number for number, line in enumerate(every) if line]
    return every[filled[0] : filled[-1] + 1] if filled else []


def truncated(text: str, limit: int = 8_000) -> str:
    """Return a text, cut where it is longer than any reader reads; says how much is left out.

    >>> truncated("abcdef", 4)
    'abcd ... (2 more characters; the run log has them)'
    """
    left = len(text) - limit
    return text if left <= 0 else f"{text[:limit]} ... ({left:,} more characters; the run log has them)"
