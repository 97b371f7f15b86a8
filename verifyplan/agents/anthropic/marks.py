"""Marks around texts that a model is shown: what stands between them is data and cannot end them (rules G3, H3)."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Literal

from verifyplan.redaction import redact

Element = Literal["data", "user"]
"""Where a text comes from: material of any origin, or the words of the person who runs the check."""

_LENGTH = 8
_ODD = re.compile(r"[<>\x7f-\x9f\u2028\u2029]")


def delimited(content: str, kind: str, name: str = "", element: Element = "data") -> str:
    """A text between marks that carry a part of its own hash, so that it cannot hold its own closing mark.

    Secrets in it are redacted first. Should it hold the hash nevertheless, in whatever case, the hash is hashed again
    until it does not. The same text has the same marks always, as prompt caches and replays need.

    >>> print(delimited("1: # Plan", "plan", "plan.md"))
    <data-1ad2ee04 kind="plan" name="plan.md">
    1: # Plan
    </data-1ad2ee04>
    """
    content = redact(content)
    lower = content.lower()
    digest = _digest(content)
    while f"{element}-{digest[:_LENGTH]}" in lower:
        digest = _digest(digest)
    tag = f"{element}-{digest[:_LENGTH]}"
    named = f" name={quoted(name)}" if name else ""
    return f'<{tag} kind="{kind}"{named}>\n{content}\n</{tag}>'


def quoted(text: str) -> str:
    r"""A short text in quotes on one line, escaped as in JSON, angle brackets and control characters, too.

    >>> print(quoted('a"> <b>'))
    "a\"\u003e \u003cb\u003e"
    """
    escaped = json.dumps(redact(text), ensure_ascii=False)
    return _ODD.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped)


def numbered_lines(text: str, first: int = 1) -> str:
    r"""The lines of a text with their numbers, from `first` on, split at any of the three kinds of line end.

    A line end at the end of the text begins no line.

    >>> print(numbered_lines("# Plan\r\n1. Do it\n"))
    1: # Plan
    2: 1. Do it
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    return "\n".join(f"{number}: {line}" for number, line in enumerate(lines, first))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()
