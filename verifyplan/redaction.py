"""Secrets taken out of texts before they are written: those that were remembered, and what looks like a key.

Whatever goes into a log, a report, an error or a prompt passes through here (rule G3). A plan is cited by line, so a
text keeps its lines; a value of JSON keeps its shape.
"""

from __future__ import annotations

import base64
import html
import itertools
import json
import re
from collections.abc import Iterator
from datetime import date, time, timedelta
from decimal import Decimal
from functools import lru_cache
from threading import Lock
from typing import Any
from urllib.parse import quote, quote_plus

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from verifyplan.secret_rules.assignments import assigned_spans
from verifyplan.secret_rules.patterns import key_block_spans, placed_spans, token_spans

MARK = "[redacted]"
MAX_SHORT, MAX_KEPT = 50, 4096
"""Characters and number of texts whose answer is kept: most of JSON are keys and names that come again."""
SHORTEST = 8
"""Characters that a secret has at least: shorter ones would take words out of ordinary texts."""
DEEPEST = 100
"""Levels of nesting that are walked; what lies deeper is taken out whole."""

_NO_TEXT = (int, float, Decimal, date, time, timedelta, type(None))

_lock = Lock()
_forms: tuple[str, ...] = ()  # everything a remembered secret may be written as, the longest first


def remember(secret: str) -> None:
    """Let a secret be taken out of every text from now on, as long as this process lives.

    It is found as it is, and escaped as in URLs, JSON, Python and HTML, and in base64. Ignored: what is shorter than 8
    characters, and what consists of letters of the mark alone. Of a secret of many lines, each line is a secret.
    May be called from any thread.
    """
    global _forms
    forms = {form for line in secret.strip().splitlines() for form in _written(line.strip())}
    with _lock:
        _forms = tuple(sorted({*_forms, *forms}, key=lambda form: (-len(form), form)))


def redact(text: str) -> str:
    """Return the text with `[redacted]` for remembered secrets and for what looks like a password, a key or a token.

    The number of lines stays, and redacting twice changes nothing. Keys that are only hinted at (`sk-ant-...`),
    hashes and encoded data stay as they are. Takes time linear in the text. What is found and what is not is measured
    in docs/security.md. Source: rule G3.

    >>> redact("Authorization: Bearer 0a1b2c3d4e5f6071, as in `sk-ant-...`")
    'Authorization: Bearer [redacted], as in `sk-ant-...`'
    """
    if len(text) < SHORTEST:
        return text
    return (_short_without_secrets if len(text) <= MAX_SHORT else _without_secrets)(text, _forms)


def redacted(value: Any, _depth: int = 0) -> Any:
    """A JSON value, or a model of the protocol, with every text in it redacted; keys of objects, too.

    What holds no secret is returned as the same object, not as a copy. Two keys that become equal are numbered.
    Of a path, a set, bytes and the like, what JSON makes of it is redacted. Numbers, dates and what no JSON can be made
    of stay; what is nested more than 100 levels deep is replaced whole.

    >>> redacted({"a": ["ghp_" + "a1B2" * 9, 7]})
    {'a': ['[redacted]', 7]}
    """
    if isinstance(value, str):
        text = redact(value)
        return value if text == value else text
    if isinstance(value, _NO_TEXT):
        return value
    if not isinstance(value, dict | list | tuple | BaseModel):
        try:
            plain = to_jsonable_python(value)
        except (ValueError, RecursionError):
            return value
        new = redacted(plain, _depth)
        return value if new is plain else new
    if _depth == DEEPEST:
        return MARK
    if isinstance(value, dict):
        return _redacted_object(value, _depth + 1)
    if isinstance(value, BaseModel):
        fields = {name: getattr(value, name) for name in type(value).model_fields} | (value.model_extra or {})
        changed = {name: new for name, old in fields.items() if (new := redacted(old, _depth + 1)) is not old}
        return value.model_copy(update=changed) if changed else value
    items = [redacted(item, _depth + 1) for item in value]
    if all(new is old for new, old in zip(items, value, strict=True)):
        return value
    return items if isinstance(value, list) else tuple(items)


def _redacted_object(value: dict[Any, Any], depth: int) -> dict[Any, Any]:
    """Return an object with keys and items redacted; a key that becomes one of another is numbered from 2."""
    new: dict[Any, Any] = {}
    changed = False
    for key, old in value.items():
        free, item = redacted(key, depth), redacted(old, depth)
        changed = changed or free is not key or item is not old
        if free is not key:
            names = itertools.chain([free], (f"{free} {number}" for number in itertools.count(2)))
            free = next(name for name in names if name not in new and name not in value)
        new[free] = item
    return new if changed else value


def _without_secrets(text: str, forms: tuple[str, ...]) -> str:
    """Return the text with the mark for each secret, until none is found: what is left may be one with a mark."""
    before = ""
    while text != before:
        before = text
        for form in forms:
            text = text.replace(form, MARK)
        lower = text.replace("\u0130", "I").lower()  # the one capital that would become two characters
        finds = (key_block_spans, placed_spans, assigned_spans)
        parts, end = [], 0
        for start, last in sorted({*token_spans(text), *(span for find in finds for span in find(text, lower))}):
            if start >= end:
                parts += [text[end:start], MARK]
            end = max(end, last)
        text = "".join([*parts, text[end:]])
    return text


_short_without_secrets = lru_cache(MAX_KEPT)(_without_secrets)


def _written(secret: str) -> Iterator[str]:
    """All forms in which a text may hold the secret."""
    if len(secret) < SHORTEST or set(secret) <= set(MARK):
        return
    data = secret.encode("utf-8", "surrogatepass")
    escaped = (quote(data, safe=""), quote(data), quote_plus(data))
    forms = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1]}
    forms.update([html.escape(form) for form in forms])
    forms.update(escaped, (re.sub("%..", lambda code: code[0].lower(), form) for form in escaped), _in_base64(data))
    yield from (form for form in forms if len(form) >= SHORTEST and not set(form) <= set(MARK))


def _in_base64(data: bytes) -> Iterator[str]:
    """Return the base64 that every longer text with the data in it has in common, whatever is before and behind it."""
    for before in range(3):
        whole = bytes(before) + data
        coded = base64.b64encode(whole).decode()
        inner = coded[-(-before * 8 // 6) : len(whole) * 8 // 6]
        yield from (inner, inner.translate(str.maketrans("+/", "-_")))
