"""Texts of agents, plans and people as they can be shown safely: nothing in them can hide, jump or turn round."""

from __future__ import annotations

from functools import cache

_READ = 8  # times the limit: so much of a text is read, white space included

_JOINERS = "\u200c\u200d"  # scripts and emoji need them, and they turn nothing round


def visible(text: object) -> str:
    r"""A text with every character that shows nothing, or turns the direction of what follows, as its code.

    Spaces stay, all other white space is shown as its code, too; `one_line` and `lines` take it away before.

    >>> print(visible("a\u202eb\x1b[31m"))
    a\u202eb\x1b[31m
    """
    told = str(text)
    if told.isprintable():
        return told
    return "".join(one if one.isprintable() or one in _JOINERS else _code(one) for one in told)


@cache
def _code(one: str) -> str:
    return one.encode("unicode_escape").decode("ascii")


def one_line(text: object, limit: int | None = None) -> str:
    r"""A text on one line, white space run together; cut to so many characters, which is shown by dots.

    >>> one_line("first\nsecond"), one_line("a long text", 8)
    ('first second', 'a lon...')
    """
    whole = str(text).strip()
    read = whole if limit is None else whole[: _READ * limit]
    told = visible(" ".join(read.split()))
    cut = limit is not None and (len(told) > limit or len(read) < len(whole))
    return f"{told[: limit - 3]}..." if cut and limit is not None else told


def sentence(text: str, limit: int) -> str:
    """A text on one line, cut, that ends as a sentence does; blank stays blank.

    >>> sentence("it leaks", 20), sentence("Does it?", 20)
    ('it leaks.', 'Does it?')
    """
    told = one_line(text, limit)
    return told if not told or told[-1] in ".!?:" else f"{told}."


def lines(text: str) -> list[str]:
    r"""A text line by line, tabs as four spaces, blank lines at both ends left out.

    >>> lines("\nplan.md:3\n\tquoted\n\n")
    ['plan.md:3', '    quoted']
    """
    told = [visible(line.replace("\t", "    ")).rstrip() for line in text.splitlines()]
    filled = [number for number, line in enumerate(told) if line]
    return told[filled[0] : filled[-1] + 1] if filled else []


def shortened(text: str, limit: int = 8_000) -> str:
    """A text that is cut where it is longer than any reader reads; says how much is left out.

    >>> shortened("abcdef", 4)
    'abcd ... (2 more characters; the run log has them)'
    """
    left = len(text) - limit
    return text if left <= 0 else f"{text[:limit]} ... ({left:,} more characters; the run log has them)"
