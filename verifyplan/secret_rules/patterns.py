"""Find secrets by patterns that are data: published formats of tokens, places where secrets stand, blocks of keys."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.resources import files
from typing import Any

HELD = "…"
"""Begins a literal of the table that a token holds, wherever it begins."""
LONG, MIXED, PLAIN, VARIED = 16, 8, 20, 4
"""Characters of a token; of these in a row letters and digits, or letters alone; different ones: `xxxx` is none."""

_TABLES = files("verifyplan.secret_rules")
_BEGINS = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f][0-9A-Fa-f]))"  # no word goes on; \n, %3D are none
_CASES = re.compile(r"[a-z](?=[A-Z])|[A-Z](?=[a-z])")
_LINE = re.compile(r"[^\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")
_KEY_CODE = re.compile(r"(?=[A-Za-z+/]{0,19}[0-9])[A-Za-z0-9+/]{20}")


def rows(name: str) -> Iterator[list[str]]:
    """Yield the cells of a table's lines, without its comments."""
    lines = _TABLES.joinpath(name).read_text(encoding="utf-8").splitlines()
    return (line.split("\t") for line in lines if not line.startswith("#"))


@cache
def expressions() -> dict[str, dict[str, Any]]:
    """Return the sections of `expressions.toml`: texts, and lists of texts that are alternatives."""
    return tomllib.loads(_TABLES.joinpath("expressions.toml").read_text(encoding="utf-8"))


@cache
def expression(section: str, name: str) -> re.Pattern[str]:
    """Return an expression of `expressions.toml`, compiled."""
    found = expressions()[section][name]
    return re.compile("(?ix)" + (found if isinstance(found, str) else "\n|".join(found)))


def looks_random(text: str, mixed: int, plain: int) -> bool:
    """Return whether a part of the text looks like no word: `mixed` letters and digits or capitals, or `plain` letters.

    >>> looks_random("sk-ant-your-key-goes-here", 8, 20), looks_random("sk-ant-a1b2c3d4e5", 8, 20)
    (False, True)
    """
    return any(
        len(set(part)) >= VARIED
        and not part.isdigit()
        and (len(part) >= plain or not part.isalpha() or len(_CASES.findall(part)) * 3 >= len(part))
        for part in re.split(r"[^A-Za-z0-9]+", text)
        if len(part) >= mixed
    )


@cache
def _any_token() -> re.Pattern[str]:
    formats = [(prefix, body) for _, prefixes, body, _ in rows("token_formats.tsv") for prefix in prefixes.split()]
    begun = sorted((re.escape(prefix) + body for prefix, body in formats if prefix[0] != HELD), reverse=True)
    first = re.escape("".join({prefix[0] for prefix, _ in formats} - {HELD}))
    held = (body for prefix, body in formats if prefix[0] == HELD)
    return re.compile("|".join([f"{_BEGINS}(?=[{first}])(?:{'|'.join(begun)})", *held]))


def token_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where tokens are in a text, and every repetition of these; placeholders such as `ghp_xxxx` are none."""
    words = "\n".join(dict.fromkeys(word for word in text.split() if len(word) >= LONG))
    for token in {match[0] for match in _any_token().finditer(words)}:
        if looks_random(token, MIXED, PLAIN):
            yield from (match.span() for match in re.finditer(re.escape(token), text))


def _test(words: str) -> Callable[[str], bool]:
    """Return the test that a row names: of `expressions.toml`, or random with its two lengths."""
    if words.startswith("random"):
        mixed, plain = map(int, words.split()[1:])
        return partial(looks_random, mixed=mixed, plain=plain)
    none = [expression("places", name) for name in (["strong", "no example"] if words == "strong" else [words])]
    return lambda value: not any(pattern.fullmatch(value) for pattern in none)


@cache
def places() -> tuple[tuple[tuple[str, ...], re.Pattern[str], Callable[[str], bool]], ...]:
    """Return of each place: literals, of which one is on the line, where the secret is, and whether it is one."""
    made = []
    for hints, test, place in rows("places.tsv"):
        for name, part in expressions()["parts"].items():
            place = place.replace(f"{{{name}}}", part)
        made.append((tuple(hints.split("|")), re.compile(place, re.MULTILINE), _test(test)))
    return tuple(made)


def placed_spans(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield where secrets are by their place, line by line; `lower` is the text in small letters, as long."""
    for hints, pattern, is_secret in places():
        tried = set()
        for hint in (hint for hint in hints if hint in lower):
            end, at = 0, lower.find(hint)
            while at >= 0:
                start, end = lower.rfind("\n", end, at) + 1 or end, lower.find("\n", at)
                end = len(text) if end < 0 else end
                if start not in tried:
                    tried.add(start)
                    yield from (m.span("key") for m in pattern.finditer(text, start, end) if is_secret(m["key"]))
                at = lower.find(hint, end)


def key_block_spans(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield the lines of blocks of private keys; what only speaks of one is none."""
    if "private" in lower or "openvpn" in lower or "nkey seed" in lower:
        for block in expression("blocks", "block").finditer(text):
            if _KEY_CODE.search(block[0]):
                yield from (line.span() for line in _LINE.finditer(text, *block.span()))
