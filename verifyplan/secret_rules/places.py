"""Find secrets by the place where they are: addresses, headers, commands, lines of settings, blocks of a key."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from verifyplan.secret_rules.tokens import looks_random

Test = Callable[[str], bool]

_LINE = re.compile(r"[^\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")
_CODE, _LONG_CODE = re.compile(r"[A-Za-z0-9+/]{16}"), re.compile(r"[A-Za-z0-9+/]{48}")
_WORDS = re.compile(r"[a-z,.;] [a-z]+ [a-z]")
_EXAMPLE = re.compile(
    r"(?i)(?:[$%<{[(&*].*|.*[}>]|.*\.{3}.*|x+|\*+|pass(?:word|wd)?|pwd|pw|secret|token|api[_-]?key|your.*|my.*|changeme|"
    r"user(?:name)?|.*(?:password|passwd|redacted|placeholder|x{4})|host|hostname|name|foo|bar|baz)"
)
_STRONG = re.compile(r"(?=.*[A-Za-z])(?=.*[0-9!#$%^&*+?~])")
"""Letters, and digits or signs among them."""
_NAME = re.compile(
    r"[a-z]+(?:_[a-z]+)*_?[0-9]?|.*[/\\:].*|.*[({\[].*|[a-z_-]+\.[a-z]+|%\w|.*%[sd({].*|\W+\w+\W*"
    r"|(?i:utf)[-_]?(?:8|16|32)[\w-]*|(?i:iso[-_]?8859|cp|windows)[-_]?[0-9]+(?:[-_][0-9]+)?"  # encodings
)
_LINK = r"""\\{0,3}["']?[ \t]{0,4}[:=,][ \t]{0,4}b?\\{0,3}["']?"""
_VALUE = r"(?P<key>[A-Za-z0-9._~+/-]{8,}+=*)"
_WORD = r"[\"']?(?P<key>[^\s\"'`<>|;]{4,200})"
_KEY_KINDS = r"(?:(?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1|[A-Z]+ NKEY SEED)"
_BLOCK = re.compile(
    rf"(?P<begin>-----BEGIN {_KEY_KINDS}-----)"
    rf"(?:[^-]*+(?:-(?!----)[^-]*+)*+-{{5,6}}END {_KEY_KINDS}-{{5,6}}"
    r"|(?:(?:[\r\n]|\\[rn])++[ \t>|\"']*+[A-Za-z0-9+/=]{16,}+[ \t\"',]*+)*+)"  # cut off before its end
)
_PUTTY = re.compile(
    r"(?i)(?<=private-lines: )[0-9]{1,4}[\r\n]+(?:[A-Za-z0-9+/=]{4,}+(?:[\r\n]++|\Z))+"
    r"(?:private-(?:mac|hash): [0-9a-f]+)?"
)
_SSH2 = re.compile(
    r"---- BEGIN SSH2 (?:ENCRYPTED )?PRIVATE KEY ----[^-]*+(?:-(?!---)[^-]*+)*+(?:---- END SSH2.{1,30} ----)?"
)


class SecretPlace(NamedTuple):
    """A place: a literal in small letters on the line, where the group `key` is, and which of these are secrets."""

    hint: str
    pattern: re.Pattern[str]
    is_secret: Test


def _test(words: str) -> Test:
    """Return the test that a row names: any, no example, no community, strong, or random with its two lengths."""
    if words == "strong":
        return lambda value: bool(_STRONG.match(value)) and not _EXAMPLE.fullmatch(value) and not _NAME.fullmatch(value)
    if words.startswith("random"):
        mixed, plain = map(int, words.split()[1:])
        return lambda value: looks_random(value, mixed, plain)
    examples = {"any": re.compile(r"(?!)"), "no example": _EXAMPLE, "no community": re.compile("public|private")}[words]
    return lambda value: not examples.fullmatch(value)


@cache
def places() -> tuple[SecretPlace, ...]:
    """Return all places of the table.

    >>> places()[0].hint
    'sk-'
    """
    table = files("verifyplan.secret_rules").joinpath("places.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in table.splitlines() if not line.startswith("#"))
    made = ((hints, re.compile(_whole(expression), re.MULTILINE), _test(test)) for hints, test, expression in rows)
    return tuple(SecretPlace(hint, pattern, test) for hints, pattern, test in made for hint in hints.split("|"))


@cache
def _places_by_hint() -> dict[str, list[SecretPlace]]:
    """Return the places by their literals: each is looked for once."""
    by_hint: dict[str, list[SecretPlace]] = {}
    for place in places():
        by_hint.setdefault(place.hint, []).append(place)
    return by_hint


def _whole(expression: str) -> str:
    for name, part in (("{word}", _WORD), ("{value}", _VALUE), ("{link}", _LINK)):
        expression = expression.replace(name, part)
    return expression


def placed_spans(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield where secrets are by their place, line by line; `lower` is the text in small letters, as long."""
    tried: set[tuple[int, int]] = set()  # patterns and lines, of which several literals may be on one
    by_hint = _places_by_hint()
    for hint in [hint for hint in by_hint if hint in lower]:  # most are not, and `in` takes a sixth of `find`
        held, at = by_hint[hint], lower.find(hint)
        while at >= 0:
            end = lower.find("\n", at)
            start, end = lower.rfind("\n", 0, at) + 1, len(text) if end < 0 else end
            for _, pattern, is_secret in held:
                if (id(pattern), start) in tried:
                    continue
                tried.add((id(pattern), start))
                for match in pattern.finditer(text, start, end):
                    if is_secret(match["key"]):
                        yield match.span("key")
            at = lower.find(hint, end)


def without_key_blocks(text: str, lower: str, mark: str) -> str:
    """Return the text with blocks of private keys as marks, line by line; what only speaks of one stays."""

    def marked(match: re.Match[str]) -> str:
        body = match[0][len(match["begin"]) :]
        is_key = _LONG_CODE.search(body) or (_CODE.search(body) and not _WORDS.search(body))
        return _LINE.sub(mark, match[0]) if is_key else match[0]

    if "-----begin" in lower:
        text = _BLOCK.sub(marked, text)
    for hint, pattern in (("private-lines: ", _PUTTY), ("begin ssh2 ", _SSH2)):
        if hint in lower:
            text = pattern.sub(lambda match: _LINE.sub(mark, match[0]), text)
    return text
