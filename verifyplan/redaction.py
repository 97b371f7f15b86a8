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
from threading import Lock
from typing import Any
from urllib.parse import quote, quote_plus

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

MARK = "[redacted]"
SHORTEST = 8
"""Characters that a secret has at least: shorter ones would take words out of ordinary texts."""
VARIED = 4
"""Different characters that a key has at least: `xxxxxxxxxxxx` is a placeholder."""
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
    """The text with `[redacted]` for remembered secrets and for what looks like a key, a token or a private key.

    The number of lines stays, and redacting twice changes nothing. Keys that are only hinted at (`sk-ant-...`),
    hashes and encoded data stay as they are. Takes time linear in the text. Source: rule G3.

    >>> redact("Authorization: Bearer 0a1b2c3d4e5f6071, as in `sk-ant-...`")
    'Authorization: Bearer [redacted], as in `sk-ant-...`'
    """
    while True:
        before = text
        for form in _forms:
            text = text.replace(form, MARK)
        lower = text.lower()
        for hint, pattern, replacement in _KEYS:
            if hint in lower:
                text = pattern.sub(replacement, text)
        if text == before:
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


def _random(text: str, mixed: int, plain: int) -> bool:
    """Whether a part of the text looks like no word: `mixed` letters and digits or capitals, or `plain` letters."""
    parts = (part for part in re.split(r"[^A-Za-z0-9]+", text) if len(part) >= mixed)
    return any(
        len(set(part)) >= VARIED and not part.isdigit() and (_mixed(part) or len(part) >= plain) for part in parts
    )


def _mixed(part: str) -> bool:
    """Whether letters and digits, or small letters and capitals, are mixed as in no name: AbCdE, not aCamelCaseName."""
    return not part.isalpha() or len(_CASES.findall(part)) * 3 >= len(part)


def _if_random(mixed: int, plain: int) -> Callable[[re.Match[str]], str]:
    """Replaces the group `key` of a match if it looks random, else leaves the match as it is."""

    def replacement(match: re.Match[str]) -> str:
        if not _random(match["key"], mixed, plain):
            return match[0]
        start, end = match.span("key")
        return match.string[match.start() : start] + MARK + match.string[end : match.end()]

    return replacement


def _whole(_: re.Match[str]) -> str:
    return MARK


def _block(match: re.Match[str]) -> str:
    """A private key as marks, line by line; a text that only speaks of such a block has words in it."""
    body = match[0][len(match["begin"]) :]
    is_key = _LONG_CODE.search(body) or (_CODE.search(body) and not _WORDS.search(body))
    return _LINE.sub(MARK, match[0]) if is_key else match[0]


def _after(literal: str, word: str) -> str:
    r"""The literal where no word goes on; an escape such as \n or %3D before it is no word.

    The literal comes first and what stands before it is looked at behind it: Python then searches it fast.
    """
    return rf"{literal}(?:(?<![{word}]{literal})|(?<=\\[nrt]{literal})|(?<=%[0-9A-Fa-f]{{2}}{literal}))"


_CASES = re.compile(r"[a-z](?=[A-Z])|[A-Z](?=[a-z])")
_LINE = re.compile(r"[^\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")
_CODE, _LONG_CODE = re.compile(r"[A-Za-z0-9+/]{16}"), re.compile(r"[A-Za-z0-9+/]{48}")
_WORDS = re.compile(r"[a-z,.;] [a-z]+ [a-z]")
_HEADERS = "x-api-key|x-goog-api-key|anthropic_api_key|anthropic_auth_token|aws_secret_access_key"
_GIVEN = r"""\\{0,3}["']?[ \t]{0,4}[:=,][ \t]{0,4}b?\\{0,3}["']?"""
_VALUE = r"(?P<key>[A-Za-z0-9._~+/-]{8,}+=*)"
_URL64 = r"[A-Za-z0-9_-]"

_SETTING = re.compile(rf"(?i)(?:{_HEADERS}){_GIVEN}{_VALUE}")

_KEYS: tuple[tuple[str, re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (
        "private key",
        re.compile(
            r"(?P<begin>-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----)"
            r"(?:[^-]*+(?:-(?!----)[^-]*+)*+-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
            r"|(?:(?:[\r\n]|\\[rn])++[ \t>|\"']*+[A-Za-z0-9+/=]{16,}+[ \t\"',]*+)*+)"  # cut off before its end
        ),
        _block,
    ),
    ("sk-", re.compile(rf"(?P<key>{_after('sk-', 'A-Za-z0-9_-')}{_URL64}{{16,}}+)"), _if_random(12, 20)),
    (
        "eyj",
        re.compile(rf"{_after('eyJ', 'A-Za-z0-9_.-')}{_URL64}{{8,}}+\.eyJ{_URL64}{{8,}}+\.{_URL64}{{16,}}+"),
        _whole,
    ),
    ("akia", re.compile(rf"{_after('AKIA', 'A-Za-z0-9+/')}[A-Z2-7]{{16}}(?![A-Za-z0-9])"), _whole),
    ("asia", re.compile(rf"{_after('ASIA', 'A-Za-z0-9+/')}[A-Z2-7]{{16}}(?![A-Za-z0-9])"), _whole),
    ("aiza", re.compile(rf"{_after('AIza', 'A-Za-z0-9+/')}{_URL64}{{35}}(?!{_URL64})"), _whole),
    ("gh", re.compile(r"gh[opsur]_[A-Za-z0-9]{36,}+"), _whole),
    ("github_pat_", re.compile(r"github_pat_[A-Za-z0-9_]{40,}+"), _whole),
    ("xox", re.compile(r"(?P<key>xox[a-z]-[A-Za-z0-9-]{16,}+)"), _if_random(8, 24)),
    ("bearer", re.compile(rf"[Bb](?i:earer)(?:[ \t]|%20|\+){{1,4}}{_VALUE}"), _if_random(16, 24)),
    ("authorization", re.compile(rf"(?i)authorization{_GIVEN}(?:bearer|basic|token)[ \t]{_VALUE}"), _if_random(8, 24)),
    ("key", _SETTING, _if_random(8, 24)),
    ("auth_token", _SETTING, _if_random(8, 24)),
)
