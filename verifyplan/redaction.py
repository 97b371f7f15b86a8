"""Secrets taken out of texts before they are written: those that were remembered, and what looks like a key.

Whatever goes into a log, a report, an error or a prompt passes through here (rule G3). A plan is cited by line, so a
text keeps its lines; a value of JSON keeps its shape.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Iterator
from datetime import date, time, timedelta
from decimal import Decimal
from functools import cache
from importlib import import_module
from threading import Lock
from typing import Any
from urllib.parse import quote, quote_plus

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

MARK = "[redacted]"
MAX_KNOWN_CHARACTERS, MAX_KNOWN_TEXTS = 50, 4096
"""Characters and number of texts that are known to hold no secret: most of JSON are keys and names that come again."""
SHORTEST = 8
"""Characters that a secret has at least: shorter ones would take words out of ordinary texts."""
DEEPEST = 100
"""Levels of nesting that are walked; what lies deeper is taken out whole."""

_NO_TEXT = (int, float, Decimal, date, time, timedelta, type(None))

_lock = Lock()
_forms: tuple[str, ...] = ()  # everything a remembered secret may be written as, the longest first
_known_clean: set[str] = set()  # short texts, such as keys and names, in which none of these and nothing else was found


def remember(secret: str) -> None:
    """Let a secret be taken out of every text from now on, as long as this process lives.

    It is found as it is, and escaped as in URLs, JSON, Python and HTML, and in base64. Ignored: what is shorter than 8
    characters, and what consists of letters of the mark alone. Of a secret of many lines, each line is a secret.
    May be called from any thread.
    """
    global _forms, _known_clean
    forms = {form for line in secret.strip().splitlines() for form in _written(line.strip())}
    with _lock:
        _forms = tuple(sorted({*_forms, *forms}, key=lambda form: (-len(form), form)))
        _known_clean = set()  # a new one: who redacts meanwhile by the old forms adds to the old one


def redact(text: str) -> str:
    """Return the text with `[redacted]` for remembered secrets and for what looks like a password, a key or a token.

    The number of lines stays, and redacting twice changes nothing. Keys that are only hinted at (`sk-ant-...`),
    hashes and encoded data stay as they are. Takes time linear in the text. What is found and what is not is measured
    in docs/security.md. Source: rule G3.

    >>> redact("Authorization: Bearer 0a1b2c3d4e5f6071, as in `sk-ant-...`")
    'Authorization: Bearer [redacted], as in `sk-ant-...`'
    """
    known_clean = _known_clean
    if len(text) < SHORTEST or text in known_clean:
        return text
    original = text
    while True:
        before = text
        for form in _forms:
            text = text.replace(form, MARK)
        text = _rules()(text, MARK)
        if text == before:
            break
    if text == original and len(text) <= MAX_KNOWN_CHARACTERS and len(known_clean) < MAX_KNOWN_TEXTS:
        known_clean.add(text)
    return text


def redacted(value: Any) -> Any:
    """A JSON value, or a model of the protocol, with every text in it redacted; keys of objects, too.

    What holds no secret is returned as the same object, not as a copy. Two keys that become equal are numbered.
    Of a path, a set, bytes and the like, what JSON makes of it is redacted. Numbers, dates and what no JSON can be made
    of stay; what is nested more than 100 levels deep is replaced whole.

    >>> redacted({"a": ["ghp_" + "a1B2" * 9, 7]})
    {'a': ['[redacted]', 7]}
    """
    return _redacted(value, 0)


@cache
def _rules() -> Callable[[str, str], str]:
    """Return `without_secrets`, whose patterns take time to compile, when a text is first redacted."""
    rules: Callable[[str, str], str] = import_module("verifyplan.secret_rules.find").without_secrets
    return rules


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


def _redacted(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        text = redact(value)
        return value if text == value else text
    if isinstance(value, _NO_TEXT):
        return value
    if not isinstance(value, dict | list | tuple | BaseModel):
        return _redacted_other(value, depth)
    if depth == DEEPEST:
        return MARK
    if isinstance(value, dict):
        return _redacted_object(value, depth + 1)
    if isinstance(value, BaseModel):
        return _redacted_model(value, depth + 1)
    items = [_redacted(item, depth + 1) for item in value]
    if all(new is old for new, old in zip(items, value, strict=True)):
        return value
    return items if isinstance(value, list) else tuple(items)


def _redacted_other(value: Any, depth: int) -> Any:
    try:
        plain = to_jsonable_python(value)
    except (ValueError, RecursionError):
        return value
    new = _redacted(plain, depth)
    return value if new is plain else new


def _redacted_object(value: dict[Any, Any], depth: int) -> dict[Any, Any]:
    new: dict[Any, Any] = {}
    changed = False
    for key, old in value.items():
        name, item = _redacted(key, depth), _redacted(old, depth)
        changed = changed or name is not key or item is not old
        new[name if name is key else _free(name, new, value)] = item
    return new if changed else value


def _free(name: str, *taken: dict[Any, Any]) -> str:
    """The name, numbered from 2 if it is taken."""
    free, number = name, 1
    while any(free in names for names in taken):
        number += 1
        free = f"{name} {number}"
    return free


def _redacted_model(value: BaseModel, depth: int) -> BaseModel:
    fields = {name: getattr(value, name) for name in type(value).model_fields} | (value.model_extra or {})
    new = {name: _redacted(old, depth) for name, old in fields.items()}
    changed = {name: item for name, item in new.items() if item is not fields[name]}
    return value.model_copy(update=changed) if changed else value
