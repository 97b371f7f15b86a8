"""Find keys and tokens by their published formats, `token_formats.tsv`, and tell random text from words (rule G3)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from math import log2
from typing import NamedTuple

MIN_TOKEN_CHARACTERS = 16
"""Characters that a token has at least: no shorter word of a text is looked at."""

HELD = "…"
"""Begins a literal of the table that a token holds, wherever it begins."""
MIXED, PLAIN = 8, 20
"""Letters and digits in a row, or letters alone, from which on a token looks random; what does not is a placeholder."""

_BEGINS = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f][0-9A-Fa-f]))"
"""No word goes on here; an escape such as \\n or %3D is none."""


class TokenFormat(NamedTuple):
    """A published format: the literals it begins with, or one that it holds, and the expression of the rest."""

    name: str
    prefixes: tuple[str, ...]
    body: str
    source: str

    @property
    def held(self) -> str:
        """The literal that a token without a fixed beginning holds; blank for others."""
        first = self.prefixes[0]
        return first[len(HELD) :] if first.startswith(HELD) else ""

    def pattern(self) -> re.Pattern[str]:
        """Return the regular expression of a whole token."""
        begins = "" if self.held else f"{_BEGINS}(?:{'|'.join(map(re.escape, self.prefixes))})"
        return re.compile(f"{begins}{self.body}")


VARIED = 4
"""Different characters that a key has at least: `xxxxxxxxxxxx` is a placeholder."""

_CASES = re.compile(r"[a-z](?=[A-Z])|[A-Z](?=[a-z])")
_NOT_ALNUM = re.compile(r"[^A-Za-z0-9]+")


def looks_random(text: str, mixed: int, plain: int) -> bool:
    """Return whether a part of the text looks like no word: `mixed` letters and digits or capitals, or `plain` letters.

    >>> looks_random("sk-ant-your-key-goes-here", 8, 20), looks_random("sk-ant-a1b2c3d4e5", 8, 20)
    (False, True)
    """
    parts = (part for part in _NOT_ALNUM.split(text) if len(part) >= mixed)
    return any(
        len(set(part)) >= VARIED and not part.isdigit() and (_is_mixed(part) or len(part) >= plain) for part in parts
    )


def entropy(text: str) -> float:
    """Return Shannon's entropy of the characters of a text, in bits a character (Shannon 1948); 0.0 for none.

    >>> entropy("aabb"), entropy("")
    (1.0, 0.0)
    """
    counts = Counter(text).values()
    return sum((-count / len(text) * log2(count / len(text)) for count in counts), 0.0)


def _is_mixed(part: str) -> bool:
    """Return whether letters and digits, or small letters and capitals, mix as in no name: AbCdE, not aCamelCase."""
    return not part.isalpha() or len(_CASES.findall(part)) * 3 >= len(part)


@cache
def token_formats() -> tuple[TokenFormat, ...]:
    """Return all formats of the table.

    >>> token_formats()[0].prefixes[0]
    'AKIA'
    """
    table = files("verifyplan.secret_rules").joinpath("token_formats.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in table.splitlines() if not line.startswith("#"))
    next(rows)
    return tuple(TokenFormat(name, tuple(prefixes.split()), body, source) for name, prefixes, body, source in rows)


def token_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where tokens are in a text, and every repetition of these; placeholders such as `ghp_xxxx` are none."""
    words = dict.fromkeys(word for word in text.split() if len(word) >= MIN_TOKEN_CHARACTERS)
    long_words = "\n".join(words)
    if not long_words:
        return
    tokens = {
        match[0]
        for held, pattern in _patterns_by_held()
        if held in long_words
        for match in pattern.finditer(long_words)
    }
    for begins in _any_prefix().finditer(long_words):
        matches = (pattern.match(long_words, begins.start()) for pattern in _patterns_by_prefix()[begins[1]])
        tokens.update(match[0] for match in matches if match is not None)
    for token in tokens:
        if looks_random(token, MIXED, PLAIN):
            yield from ((at, at + len(token)) for at in _places(text, token))


def _places(text: str, token: str) -> Iterator[int]:
    at = text.find(token)
    while at >= 0:
        yield at
        at = text.find(token, at + len(token))


@cache
def _patterns_by_prefix() -> dict[str, list[re.Pattern[str]]]:
    """Return the patterns that a text may match where a prefix is found, those of shorter prefixes among them."""
    own: dict[str, list[re.Pattern[str]]] = {}
    for each in token_formats():
        pattern = each.pattern()
        for prefix in () if each.held else each.prefixes:
            own.setdefault(prefix, []).append(pattern)
    return {
        prefix: [pattern for other, held in own.items() if prefix.startswith(other) for pattern in held]
        for prefix in own
    }


@cache
def _patterns_by_held() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((each.held, each.pattern()) for each in token_formats() if each.held)


@cache
def _any_prefix() -> re.Pattern[str]:
    """Return the pattern of all prefixes, longest first; grouped by their first character, as that is tried fast."""
    by_first: dict[str, list[str]] = {}
    for prefix in sorted(_patterns_by_prefix(), key=lambda prefix: (-len(prefix), prefix)):
        by_first.setdefault(prefix[0], []).append(re.escape(prefix[1:]))
    groups = (f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in by_first.items())
    return re.compile(f"{_BEGINS}(?=({'|'.join(groups)}))")
