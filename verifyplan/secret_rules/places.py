"""Find secrets by the place where they stand: addresses, headers, commands, lines of settings, blocks of a key."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from verifyplan.secret_rules.randomness import looks_random

Test = Callable[[str], bool]

_LINE = re.compile(r"[^\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")
_CODE, _LONG_CODE = re.compile(r"[A-Za-z0-9+/]{16}"), re.compile(r"[A-Za-z0-9+/]{48}")
_WORDS = re.compile(r"[a-z,.;] [a-z]+ [a-z]")
_EXAMPLE = re.compile(
    r"(?i)(?:[$%<{[(&*].*|.*[}>]|.*\.{3}.*|x+|\*+|pass(?:word|wd)?|pwd|pw|secret|token|api[_-]?key|your.*|my.*|changeme|"
    r"user(?:name)?|.*(?:password|passwd|redacted|placeholder|x{4})|host|hostname|name|foo|bar|baz)"
)
_LINK = r"""\\{0,3}["']?[ \t]{0,4}[:=,][ \t]{0,4}b?\\{0,3}["']?"""
_VALUE = r"(?P<key>[A-Za-z0-9._~+/-]{8,}+=*)"
_WORD = r"[\"']?(?P<key>[^\s\"'`<>|;]{4,200})"
_URL64 = r"[A-Za-z0-9_-]"
_KEY_KINDS = r"(?:(?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)"
_BLOCK = re.compile(
    rf"(?P<begin>-----BEGIN {_KEY_KINDS}-----)"
    rf"(?:[^-]*+(?:-(?!----)[^-]*+)*+-----END {_KEY_KINDS}-----"
    r"|(?:(?:[\r\n]|\\[rn])++[ \t>|\"']*+[A-Za-z0-9+/=]{16,}+[ \t\"',]*+)*+)"  # cut off before its end
)
_PUTTY = re.compile(r"(?i)(?<=private-lines: )[0-9]{1,4}[\r\n]+(?:[A-Za-z0-9+/=]{4,}+[\r\n]*)+")
_SSH2 = re.compile(r"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----[^-]*+(?:---- END SSH2 ENCRYPTED PRIVATE KEY ----)?")


class Place(NamedTuple):
    """A place: a literal in small letters that is near it, where the group `key` is, and which of these are secrets."""

    hint: str
    pattern: re.Pattern[str]
    is_secret: Test


def _random(mixed: int, plain: int) -> Test:
    return lambda value: looks_random(value, mixed, plain)


def _is_no_example(value: str) -> bool:
    return not _EXAMPLE.fullmatch(value)


def _always(_: str) -> bool:
    return True


_JWK = re.compile(r"\"(?:d|p|q|dp|dq|qi|k)\"\s{0,4}:\s{0,4}\"(?P<key>[A-Za-z0-9_-]{30,})\"")

PLACES: tuple[Place, ...] = (
    Place(
        "sk-", re.compile(rf"(?P<key>sk-(?:(?<![A-Za-z0-9_-]sk-)|(?<=\\[nrt]sk-)|(?<=%[0-9A-Fa-f]{{2}}sk-)){_URL64}{{16,}}+)"),
        _random(12, 20),
    ),
    Place(
        "eyj",
        re.compile(
            rf"(?P<key>eyJ(?:(?<![A-Za-z0-9_.-]eyJ)|(?<=\\[nrt]eyJ)|(?<=%[0-9A-Fa-f]{{2}}eyJ))"
            rf"{_URL64}{{8,}}+\.eyJ{_URL64}{{8,}}+\.{_URL64}{{16,}}+)"
        ),
        _always,
    ),
    Place("bearer", re.compile(rf"[Bb](?i:earer)(?:[ \t]|%20|\+){{1,4}}{_VALUE}"), _random(16, 24)),
    Place(
        "authorization",
        re.compile(rf"(?i)authorization{_LINK}[a-z0-9-]{{2,20}}[ \t]{_VALUE}"),
        _random(8, 24),
    ),
    Place("://", re.compile(r"://[^\s:/@\"'<>]{0,100}+:(?P<key>[^\s\"'<>/]{3,200})@(?=[A-Za-z0-9\[{$_])"), _is_no_example),
    Place("://", re.compile(rf"://(?P<key>{_URL64}{{20,}}+)(?::(?:x-oauth-basic)?)?@"), _random(16, 24)),
    Place("cookie", re.compile(r"(?i)(?<=[\s;:\"'])\w*(?:sess|sid|token|auth)\w*=(?P<key>[^\s;\"',]{16,200})"), _random(16, 24)),
    Place("curl", re.compile(rf"(?i)\bcurl\b[^\n]*?[ \t](?:-u|-U|--user|--proxy-user)[ =]?[\"']?[^\s:\"']+:{_WORD}"), _is_no_example),
    Place("mysql", re.compile(rf"\bmysql\w*\b[^\n|;]*?[ \t]-p(?=[^\s-])(?!ort\b){_WORD}"), _is_no_example),
    Place("sshpass", re.compile(rf"\bsshpass[ \t]+-p[ \t]*{_WORD}"), _is_no_example),
    Place("login", re.compile(rf"\b(?:docker|podman|helm|az|oc|cf|vault|redis-cli)\b[^\n]*?\blogin\b[^\n]*?[ \t]-p[ =]?{_WORD}"), _is_no_example),
    Place("redis-cli", re.compile(rf"\bredis-cli\b[^\n]*?[ \t]-a[ \t]+{_WORD}"), _is_no_example),
    Place("pass:", re.compile(rf"(?<=[ \t\"'=])pass:{_WORD}"), _is_no_example),
    Place("net user", re.compile(rf"(?i)\bnet user [^\s/]+ (?!/){_WORD}"), _is_no_example),
    Place("identified", re.compile(r"(?i)\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)\s+(?:password\s+)?[\"'](?P<key>[^\"'\n]{4,200})[\"']"), _is_no_example),
    Place("snmp", re.compile(rf"(?i)\bsnmp\S*[ \t]+(?:-server )?.{{0,20}}\bcommunity[ \t=:]+{_WORD}"), lambda v: v not in ("public", "private")),
    Place("password 7 ", re.compile(r"(?i)(?:password|key) 7 (?P<key>[0-9A-F]{6,})"), _always),
    Place(":5432:", re.compile(r"(?<![^\s])[^\s:]+:5432:[^\s:]+:[^\s:]+:(?P<key>[^\s:]{3,200})(?!\S)"), _is_no_example),
    Place(":::", re.compile(r"(?i):(?P<key>[0-9a-f]{32}:[0-9a-f]{32}):::"), _always),
    *(Place(f'"{name}"', _JWK, _always) for name in ("d", "p", "q", "dp", "dq", "qi", "k")),
    *(
        Place(hint, re.compile(
            r"(?i)(?:mnemonic|seed|recovery)\w{0,8}(?:[_ -]?(?:phrase|words))?[\"']?\s{0,4}[:=]\s{0,4}[\"'\[]{0,2}"
            r"(?P<key>(?:[a-z]{3,8}[\"']?,?[ \t]+[\"']?){11,23}[a-z]{3,8})"
        ), _always)
        for hint in ("mnemonic", "seed", "recovery")
    ),
)  # fmt: skip
"""All places, those with dear patterns behind literals that are rare."""


def placed_spans(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield where secrets are by their place, line by line; `lower` is the text in small letters, as long."""
    for hint, pattern, is_secret in PLACES:
        at = lower.find(hint)
        while at >= 0:
            end = lower.find("\n", at)
            end = len(text) if end < 0 else end
            for match in pattern.finditer(text, lower.rfind("\n", 0, at) + 1, end):
                if is_secret(match["key"]):
                    yield match.span("key")
            at = lower.find(hint, end)


def without_key_blocks(text: str, lower: str, mark: str) -> str:
    """Return the text with the blocks of private keys as marks, line by line; what only speaks of such a block stays."""

    def marked(match: re.Match[str]) -> str:
        body = match[0][len(match["begin"]) :]
        is_key = _LONG_CODE.search(body) or (_CODE.search(body) and not _WORDS.search(body))
        return _LINE.sub(mark, match[0]) if is_key else match[0]

    if "-----begin" in lower:
        text = _BLOCK.sub(marked, text)
    for hint, pattern in (("private-lines: ", _PUTTY), ("begin ssh2 encrypted", _SSH2)):
        if hint in lower:
            text = pattern.sub(lambda match: _LINE.sub(mark, match[0]), text)
    return text
