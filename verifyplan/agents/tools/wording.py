"""Texts on their way into a model's context: short enough, on one line where they must be, without keys (rule H3)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from verifyplan.redaction import redact
from verifyplan.text import counted

MAX_ANSWER_CHARACTERS = 60_000
"""Characters of one tool's answer."""
MAX_LINE_CHARACTERS = 1_000
"""Characters of one line in it."""
MAX_NAME_CHARACTERS = 300
"""Characters of a path or pattern where it is repeated in an answer or in the log."""

_ROOM = 1_000
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def one_line(name: str, longest: int = MAX_NAME_CHARACTERS) -> str:
    r"""A name on one line whatever it holds: without keys, control characters escaped, cut if it is very long.

    >>> one_line("a\nb.py"), one_line("x" * 5000, longest=3)
    ('a\\nb.py', 'xxx... (5,000 characters)')
    """
    plain = redact(name)
    cut = plain if len(plain) <= longest else f"{plain[:longest]}... ({len(plain):,} characters)"
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], cut)


def is_one_line(name: str) -> bool:
    """Whether a name holds nothing that would break a line or hide in it."""
    return not _CONTROL.search(name)


def short_line(line: str) -> str:
    """A line of a file, with a mark where it was cut."""
    return (
        line if len(line) <= MAX_LINE_CHARACTERS else f"{line[:MAX_LINE_CHARACTERS]}... (cut: {len(line):,} characters)"
    )


def lines_that_fit(lines: Iterable[str], longest: int = MAX_ANSWER_CHARACTERS) -> list[str]:
    """As many of the lines as fit into one answer below its heading."""
    found: list[str] = []
    left = longest - _ROOM
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            break
        found.append(line)
    return found


def bounded_answer(text: str) -> str:
    """A whole answer: without keys, of at most 60,000 characters, and writable as UTF-8."""
    plain = redact(text).encode("utf-8", "backslashreplace").decode()
    if len(plain) <= MAX_ANSWER_CHARACTERS:
        return plain
    mark = f"\n... (cut: {counted(len(plain), 'character')})"
    return plain[: MAX_ANSWER_CHARACTERS - len(mark)] + mark
