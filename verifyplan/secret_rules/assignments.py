"""Find values that are assigned to the name of a secret: in code, settings, JSON, XML, commands, connection strings."""

from __future__ import annotations

import base64
import re
import string
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from math import log2

from verifyplan.secret_rules.patterns import expression, expressions

MIN_CHARACTERS = {"password": 4, "secret": 8, "key": 20}
MIN_ENTROPY = {"secret": 2.5, "key": 3.6}
"""Bits a character of a value (Shannon 1948); a person's password is measured by no entropy."""
MAX_TESTED, MAX_LINE, MAX_NAME = 100, 200, 40
"""Characters of a value that are compared with placeholders, of the line before a name, and of its end, that decide."""


def _is(name: str, value: str) -> bool:
    return expression("values", name).fullmatch(value) is not None


def assigned_spans(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield where secrets are in a text that gives them a name; `lower` is the text in small letters, as long.

    Placeholders, variables, calls, types, paths and plain words are none: `password=os.environ["P"]`, `token: str`.
    """
    for hint, kind in ((hint, kind) for kind, hints in expressions()["names"].items() for hint in hints.split()):
        at = lower.find(hint)
        while at >= 0:
            behind = at + len(hint)
            if match := expression("behind", "value").match(text, behind):
                group = next(name for name in ("bare", "quoted", "escaped", "inner") if match[name] is not None)
                if _is_assigned(text, at, hint, kind, match, group):
                    yield match.span(group)
                    behind = match.end()
                elif group == "bare" and len(match[group]) > MAX_TESTED:
                    behind = match.end()  # else texts of such names in a row would be read over and over
            at = lower.find(hint, behind)


def _is_assigned(text: str, at: int, hint: str, kind: str, match: re.Match[str], group: str) -> bool:
    """Return whether the name around a literal and the value behind it are those of a secret."""
    value, link = match[group], match["link"]
    line = text[max(text.rfind("\n", max(0, at - MAX_LINE), at) + 1, at - MAX_LINE) : at]
    name = text[at : match.start("link")]
    stem = line[len(line.rstrip(f"{string.ascii_letters}{string.digits}_.$-")) :]
    quoted = group != "bare" or (stem.startswith(("--", "-D")) and link in ("=", " "))
    whole = (link == "=" and name.isupper()) or text[match.end() : match.end() + 1] in ("", "\n", "\r")
    digits = any(map(str.isdigit, value))
    joint = link.strip(" \t\r\n\"'`)]*")
    if (joint in (",", "(") and not (quoted and digits)) or (joint == "|" and not digits):
        return False  # a list, a call, a table
    if hint in ("key", "salt") and expression("before", "strong").search(stem[-MAX_NAME:]):
        kind = "secret"
    if not _is_secret(value, kind, quoted=quoted, whole=whole):
        return False
    if not link.strip():
        before = expression("before", "spaced").fullmatch(line.removesuffix(stem))
        is_verb = name.lower() == "pass" and not stem
        if not before or is_verb or not (group != "bare" or digits or before["command"]):
            return False
    return not expression("before", "other").search((line + name)[-MAX_NAME:])


@lru_cache(1024)  # names and values of a long text come again
def _is_secret(value: str, kind: str, *, quoted: bool, whole: bool) -> bool:
    """Return whether a value is none of a program's names and paths, and as strong as those of its kind."""
    no_value = _is("placeholder", value[:MAX_TESTED]) or _is("pattern", value) or (not quoted and _is("code", value))
    if no_value or len(value) < MIN_CHARACTERS[kind]:
        return False
    changes = sum(a.isalpha() and b.isalpha() and a.isupper() != b.isupper() for a, b in pairwise(value))
    mixed, digits = changes * 4 >= sum(map(str.isalpha, value)) > 3, any(map(str.isdigit, value))
    sign = any(not letter.isalnum() and letter not in "_-./: ,()[]" for letter in value)
    about = expression("values", "about").search(value) is not None
    if kind == "password":
        if value.isalpha() or _is("passphrase", value):
            return (quoted or whole) and len(value) >= 6 and not about and (mixed or not value.istitle())
        named = _is("words", value) or _is("path", value) or (_is("numbered", value) and about) or " " in value
        return not named and (quoted or digits or sign) and (whole or quoted or not value.isdigit())
    decoded = base64.b64decode(value) if _is("base64", value) and len(value) % 4 == 0 else b""
    if kind == "key" and re.fullmatch(rb"[!-~]+:[!-~]{3,}", decoded):
        return True  # `user:password`, as Docker and HTTP write it
    entropy = -sum(n / len(value) * log2(n / len(value)) for n in Counter(value).values())
    if len(value.split()) > 1 or (_is("path", value) and entropy < 4):
        return False
    if kind == "key":
        return entropy >= 3 if _is("hex", value) else digits and mixed and entropy >= MIN_ENTROPY[kind]
    named = (_is("words", value) and not mixed) or (_is("numbered", value) and len(value) < 16)
    return not named and (digits or (quoted and (mixed or sign))) and entropy >= MIN_ENTROPY[kind]
