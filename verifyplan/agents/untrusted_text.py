"""Make texts safe for a model's context: delimited as data, without keys, on one line or cut where needed (rule H3)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Literal

from verifyplan.redaction import redact
from verifyplan.text import counted, truncate

Element = Literal["data", "user"]
"""The origin of a text: material of any kind, or the words of the person who runs the check."""

MAX_ANSWER_CHARACTERS = 60_000
"""Characters of one tool's answer."""
MAX_LINE_CHARACTERS = 1_000
"""Characters of one line in it."""
MAX_NAME_CHARACTERS = 300
"""Characters of a path or pattern where it is repeated in an answer or in the log."""

_HEADING_CHARACTERS = 1_000
_HASH_DIGITS = 8
_BRACKETS = re.compile(r"[<>\x7f-\x9f\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def delimited(content: str, kind: str, name: str = "", element: Element = "data") -> str:
    """Return a text between delimiters that carry a part of its own hash, so that it cannot hold its closing one.

    Secrets in it are redacted first. Should it hold the hash nevertheless, in whatever case, the hash is hashed again
    until it does not. The same text has the same delimiters always, as prompt caches and replays need.

    >>> print(delimited("1: # Plan", "plan", "plan.md"))
    <data-1ad2ee04 kind="plan" name="plan.md">
    1: # Plan
    </data-1ad2ee04>
    """
    content = redact(content)
    lower = content.lower()
    digest = _digest(content)
    while f"{element}-{digest[:_HASH_DIGITS]}" in lower:
        digest = _digest(digest)
    tag = f"{element}-{digest[:_HASH_DIGITS]}"
    attribute = f" name={quoted(name)}" if name else ""
    return f'<{tag} kind="{kind}"{attribute}>\n{content}\n</{tag}>'


def quoted(text: str) -> str:
    r"""Return a short text in quotes on one line, escaped as in JSON, with angle brackets and control characters.

    >>> print(quoted('a"> <b>'))
    "a\"\u003e \u003cb\u003e"
    """
    escaped = json.dumps(redact(text), ensure_ascii=False)
    return _BRACKETS.sub(lambda match: f"\\u{ord(match[0]):04x}", escaped)


def numbered_lines(text: str, first: int = 1) -> str:
    r"""Return the lines of a text with their numbers, from `first` on, split at any of the three kinds of line end.

    A line end at the end of the text begins no line.

    >>> print(numbered_lines("# Plan\r\n1. Do it\n"))
    1: # Plan
    2: 1. Do it
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    return "\n".join(f"{number}: {line}" for number, line in enumerate(lines, first))


def one_line(name: str, limit: int = MAX_NAME_CHARACTERS) -> str:
    r"""Return a name on one line whatever it holds: without keys, control characters escaped, cut at the limit.

    >>> one_line("a\nb.py"), one_line("x" * 5000, limit=3)
    ('a\\nb.py', 'xxx... (5,000 characters)')
    """
    plain = redact(name)
    short = truncate(plain, limit, f"... ({len(plain):,} characters)")
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], short)


def is_one_line(name: str) -> bool:
    """Return whether a name holds nothing that would break a line or hide in it."""
    return not _CONTROL.search(name)


def short_line(line: str) -> str:
    """Return a line of a file, cut at 1,000 characters."""
    return truncate(line, MAX_LINE_CHARACTERS, f"... (cut: {len(line):,} characters)")


def lines_that_fit(lines: Iterable[str]) -> list[str]:
    """Return as many of the lines as fit into one answer below its heading."""
    kept: list[str] = []
    left = MAX_ANSWER_CHARACTERS - _HEADING_CHARACTERS
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    return kept


def bounded_answer(text: str) -> str:
    """Return a whole answer without keys, of at most 60,000 characters, and writable as UTF-8."""
    plain = redact(text).encode("utf-8", "backslashreplace").decode()
    mark = f"\n... (cut: {counted(len(plain), 'character')})"
    return truncate(plain, MAX_ANSWER_CHARACTERS, mark, mark_included=True)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()
