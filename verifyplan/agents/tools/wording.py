"""Texts on their way into a model's context: short enough, on one line where they must be, without keys (rule H3)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from verifyplan.redaction import redact
from verifyplan.text import counted

LONGEST_TEXT = 60_000
"""Characters of one tool's answer."""
LONGEST_LINE = 1_000
"""Characters of one line in it."""
LONGEST_NAME = 300
"""Characters of a path or pattern where it is repeated in an answer or in the log."""

_ROOM = 1_000
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def shown(name: str, longest: int = LONGEST_NAME) -> str:
    r"""A name on one line whatever it holds: without keys, control characters escaped, cut if it is very long.

    >>> shown("a\nb.py"), shown("x" * 5000, longest=3)
    ('a\\nb.py', 'xxx... (5,000 characters)')
    """
    plain = redact(name)
    cut = plain if len(plain) <= longest else f"{plain[:longest]}... ({len(plain):,} characters)"
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], cut)


def on_one_line(name: str) -> bool:
    """Whether a name holds nothing that would break a line or hide in it."""
    return not _CONTROL.search(name)


def cut(line: str) -> str:
    """A line of a file, with a mark where it was cut."""
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}... (cut: {len(line):,} characters)"


def fitting(lines: Iterable[str], longest: int = LONGEST_TEXT) -> list[str]:
    """As many of the lines as fit into one answer below its heading."""
    found: list[str] = []
    left = longest - _ROOM
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            break
        found.append(line)
    return found


def bounded(text: str) -> str:
    """A whole answer: without keys, of at most 60,000 characters, and writable as UTF-8."""
    plain = redact(text).encode("utf-8", "backslashreplace").decode()
    if len(plain) <= LONGEST_TEXT:
        return plain
    mark = f"\n... (cut: {counted(len(plain), 'character')})"
    return plain[: LONGEST_TEXT - len(mark)] + mark
