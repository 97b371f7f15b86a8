"""Find values that are assigned to the name of a secret: in code, settings, JSON, XML, commands, connection strings."""

from __future__ import annotations

import base64
import binascii
import re
import string
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from verifyplan.secret_rules.tokens import entropy, looks_random

Kind = Literal["password", "secret", "key"]
"""What a name says of its value: that it is chosen by a person, made up by a program, or perhaps neither."""

MIN_PASSWORD_CHARACTERS, MIN_SECRET_CHARACTERS, MIN_KEY_CHARACTERS = 4, 8, 20
"""Characters of a value by the kind of its name."""
MIN_SECRET_ENTROPY, MIN_KEY_ENTROPY, MIN_HEX_ENTROPY = 2.5, 3.6, 3.0
"""Bits a character of a value; a person's password is measured by no entropy."""
MAX_NAME_CHARACTERS, MAX_LINE_CHARACTERS = 60, 200
"""Characters before a literal that are looked at: as its name, and as its line."""
MAX_VALUE_CHARACTERS, MAX_TESTED_CHARACTERS = 400, 100
"""Characters of a value that decide whether it is a secret, and whether it is a placeholder."""
MAX_SECRET_WORDS = 4
"""Words of a value in quotes that is a secret; what is longer is a sentence."""
MAX_DECISIONS = 1024
"""Names with their values that are remembered within a text, as most of a long one come again."""

HINTS: dict[str, Kind] = {
    **dict.fromkeys(("pass", "pwd", "psk", "pswd", "_pw", "bindpw", "rootpw", "masterauth", "authtok"), "password"),
    **dict.fromkeys(("kennwort", "contrase\u00f1a", "contrasena", "senha", "wachtwoord", "l\u00f6senord"), "password"),
    **dict.fromkeys(("secret", "token", "credential", "mnemonic", "recovery", "privkey", "jwt", "_pat"), "secret"),
    **dict.fromkeys(("key", "auth", "salt", "session", "cookie", "signature", "sig", "dsn", "webhook"), "key"),
}
"""Literals that are looked for, and the kind of a name that holds one."""

_STRONG_KEY = re.compile(
    r"(?i)(?:api|access|private|priv|secret|sign(?:ing)?|encrypt(?:ion)?|crypto?|master|auth|account|shared|client|app"
    r"|application|consumer|service|session|storage|subscription|deploy|license|admin|root|hmac|aes|rsa|jwt|cookie|ssh"
    r"|webhook|write|publish|integration|ingest|project|bot|secure|logged_in|server|functions?|host|nonce|stream|rest"
    r"|production|prod|live|sdk|azure|aws|gcp|google|openai|anthropic|stripe|github|datadog|dd|sendgrid|mailgun)"
    r"[_. -]?$"
)
_NO_SECRET_KEY = re.compile(
    r"(?i)(?:cache|primary|foreign|public|pub|sort|hash|partition|group|lookup|map|dict|translation|i18n|row|object|"
    r"shortcut|index|idempotency|registry|publishable|entity|item|hot|config|host|known|fingerprint)[_. -]?$"
)
_NO_PASS = re.compile(r"(?i)(?:com|by|tres|sur|im|over|under|tres|en|multi|single|one|two|first|last)$")
_NAME_CHARACTERS = f"{string.ascii_letters}{string.digits}_.$-"

_SUFFIX = (
    r"(?:(?<=[Pp]ass|PASS)(?i:words?|wd|[_-]?phrase|code|wort|e))?(?:(?<=credential)s)?"
    r"(?:[_.-]?(?i:values?|val|string|str|text|plain(?:text)?|prod(?:uction)?|staging|stage|dev|development|test|live"
    r"|main|admin|root|user|db|private|old|new|current|primary|secondary|base|key|base64|b64|hex|code|secret|data|hash"
    r"|(?<=secret[_-])id|[0-9]{1,3})){0,4}(?:[ ][0-9]{1,2}(?=:))?"
)
_ATTRIBUTE = re.compile(r"[\"'] {1,3}(?!value|content|default)[\w-]+=")
"""The next attribute of an element, as in `<input name="password" id="...">`."""
_TYPE = r"(?:(?:[ \t]?:[ \t]?|[ \t])&?(?:'?[A-Za-z_][\w.\[\]]{0,20}[ \t]?){1,2}(?=[ \t]*=[ \t]*(?:[\"'`]|[Ff]ield\()))?"
_LINK = (
    r"[\"'`]?[,:=]?[ \t]{0,3}\{?\s{0,20}"
    r"(?:(?:type|description|sensitive)[ \t]{0,9}=[^\n]{0,200}\n\s{0,20}){0,3}(?:-[ \t])?"
    r"[\"']?(?i:value|content|default)[\"']?\s{0,3}[:=]\s{0,3}"  # a name, then its value
    r"|:[ \t]?[|>][+-]?[ \t]?\n[ \t]{1,20}|[ \t]?\n:[ \t]{1,3}|::[ \t]{1,3}|:[ \t]?<(?:b|i|em|code|kbd|strong|tt)>"
    r"|\}\{|[ \t]?\|[ \t](?=[^|\n]{8,99}[ \t]\|)"  # a block of YAML, TeX, a table
    r"|(?:[ \t][\w:-]{1,20}=(?:\"[^\"<>\n]{0,99}\"|'[^'<>\n]{0,99}')){1,3}>"  # an element with attributes
    r"|\\{0,3}[\"'`]?(?:[\])]|\[\d{0,4}\]|\*\*)?"
    + _TYPE
    + r"[ \t]{0,12}(?:=>|:=|\?=|\|\|=?|\?\?=?|==|=|:-|:|,|->|<-|>|\()"
    r"(?:\*\*)?[ \t]{0,12}"
    r"(?:(?:(?:std::|new )?[Ss]tring(?:(?:::|\.)\w{1,12}|[ \t]?\([0-9]{1,3}\)[ \t](?=\"))?|\[\]byte"
    r"|[Ff]ield\([ \t]?default=|Some|Secret\w{0,10}(?:\.\w{1,24})?|[&!][\w!]{1,20}[ \t])?"
    r"\(?\s{0,20}(?=[\"'])|<[Vv]alue>)?"
    r"|[ \t]?\{(?=[\"'])|[ \t]or[ \t](?=[\"'])"
    r"|%3[AaDd](?:%20)?|</\w{1,20}>:?\s{0,20}(?:<\w{1,20}>){1,2}(?=[^<>\s])|[ \t]?<<<[ \t]?"
    r"|[ \t]is[ \t]?:?[ \t]|[ \t]{1,8}"
)
_ENDS = r"\r\n\v\f\x1c-\x1e\x85\u2028\u2029"
_QUOTED = (
    rf"[bBrRuUfFN@]{{0,2}}(?:(?P<quote>[\"'`])(?P<quoted>(?:[^\\{_ENDS}]|\\[^{_ENDS}]){{1,400}}?)(?P=quote)"
    rf"|(?P<mark>\\{{1,3}}[\"'])(?P<escaped>[^{_ENDS}]{{1,400}}?)(?P=mark))"
)
_CONTINUED = re.compile(r"[ \t]*(?:[+.][ \t]*)?\\?\r?\n[ \t]*(?:[+.][ \t]*)?([\"'])([^\"'\r\n\\]{4,400}+)\1")
"""A literal on the next line that is joined to the one before."""
_REST = re.compile(r"[^\s\"'`<>]*")
_XML = r"(?<=>)(?P<inner>[^<>\r\n]{1,400})(?=</)"
_BARE = (
    r"(?P<bare>[^\s\"'`<>](?:[^\s\"'`<>;&,)\]}\\]"
    r"|[;&,)\]}\\](?!(?<=[;&])[ \t]?[\w .-]{1,40}=|[;,)\]}\\]{0,9}(?:\s|$)|(?<=\\)[nrt\"'])){0,400})"
)
_VALUE = re.compile(rf"{_SUFFIX}(?P<link>{_LINK})(?:{_QUOTED}|{_XML}|{_BARE})")

_PLACEHOLDER = re.compile(
    r"(?i)(?:process\.env\b.*|import\.meta\.env\b.*|[x*.#_•?-]+|![a-z]+|<.*>|[$%@&!#]?[({\[<].*|\$\w+.*|%[\w%].*|.*\$\{.*|.*\{\{.*|.*\}\}|.*%\(?\w*\)?s|"
    r"0x[0-9a-f]{1,8}|-[0-9]+|[~^v]?[0-9]+(?:\.[0-9]+){2,3}(?:-[\w.-]+)?|"  # a version, as of the package fs-minipass
    r".*(?:your|change|replace|insert|(?<![a-z])enter|redacted|placeholder|x{4}|\*{3}|\.{3}).*|"
    r"(?:the|my|a|an|some|fake|dummy|test|example|sample)[_ -]?(?:pass(?:word|wd)?|pwd|secret|token|key|cred).*)"
)
_DEFAULT = re.compile(r"[ \t]=[ \t]")
"""Follows a type, as in `token: TokenOpt = None`."""
_ABOUT = re.compile(
    r"(?i)pass|pwd|secret|token|cred|user|name|field|input|type|login|word|hash|bytes|none|null|true|false|required|reset|"
    r"optional|invalid|empty|plain|default|hidden|basic|bearer|string|button|label|error|missing|self|this|undefined|"
    r"never|always|auth|private|public|prompt|config|param|object|value|format|(?<!mon)(?<!don)key(?!board)|attr|header|cookie|"
    r"disabled|enabled|base|sha|utf"
)
_PART = "[A-Za-z_]+[0-9]{0,5}(?:[A-Za-z_]{4,})?"
_CODE = re.compile(
    r"[*&\w.$:>-]*[A-Za-z_\])][(\[{].*|[a-z]*(?:[A-Z][A-Z0-9]{0,8}[a-z]{2,})+\??|[a-z]\w+(?:_[a-z0-9]+){2,}|"
    rf"{_PART}(?:(?:\.|::|->){_PART})+|[\w.]*\.\w+\(.*|.*=>.*|[A-Z_]+"
)
_WORDS = re.compile(r"[A-Za-z]+(?:[_\-. /:][A-Za-z]+)*")
_PASSPHRASE = re.compile(r"[a-z]{3,}(?:-[a-z]{3,}){2,5}")
_COMMAND = re.compile(r"(?i)[ \t]*(?:#[ \t]*define|set(?:env|x)?|export|env|arg|\(setq|\(def\w*)(?:[ \t]+-\w+)*[ \t]+")
"""Begins a line on which a name and its value follow, with a space between."""
_DIRECTIVES = ("bindpw", "rootpw", "masterauth", "requirepass")
_NUMBERED = re.compile(r"[A-Za-z]+(?:[_-][A-Za-z]+)*[_-]?[0-9]{1,3}")
_PATH = re.compile(
    r"(?:\.{0,2}/|~/|[A-Za-z]:\\|(?:https?|file|ftp|arn|urn|s3|gs)://|arn:|urn:).*|.*\.[a-z]{2,5}|[\w.-]+(?:/[\w.-]+)+"
)
_NO_FILE = re.compile(r"(?=.*[A-Z].*[0-9]{2}|.*[0-9]{2}.*[A-Z])[^/\\\s.]+\.[a-z]{2,4}")
"""Looks like the name of a file, but with a capital and a number: `Harbor1042.fox`."""
_PATTERN = re.compile(r"\\[wdsSWbB]|\(\?|\[\^|\.\*|\{\d|\|")
_IS_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")


class Value(NamedTuple):
    """A value behind a name: whether it is in quotes or an element, the rest of its line, or in a list."""

    text: str
    quoted: bool
    whole: bool
    listed: bool


def assigned_spans(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield where secrets are in a text that gives them a name; `lower` is the text in small letters, as long.

    Placeholders, variables, calls, types, paths and plain words are none: `password=os.environ["P"]`, `token: str`.
    """
    kind_of_secret = None
    for hint, kind in HINTS.items():
        at = lower.find(hint)
        while at >= 0:
            behind = at + len(hint)
            match = _VALUE.match(text, behind)
            if match is not None:
                kind_of_secret = kind_of_secret or lru_cache(MAX_DECISIONS)(_kind_of_secret)
                span = _secret_span(text, at, hint, kind, match, kind_of_secret)
                if span is not None:
                    yield span
                    behind = match.end()
                    while match["quoted"] and (more := _CONTINUED.match(text, behind)):
                        yield more.span(2)
                        behind = more.end()
                elif len(match["bare"] or "") > MAX_TESTED_CHARACTERS:
                    behind = match.end()  # else texts of such names in a row would be read over and over
            at = lower.find(hint, behind)


def _secret_span(
    text: str, at: int, hint: str, kind: Kind, match: re.Match[str], kind_of_secret: Callable[..., Kind | None]
) -> tuple[int, int] | None:
    """Return where the value is, if name and value are those of a secret."""
    group = next(name for name in ("bare", "quoted", "escaped", "inner") if match[name] is not None)
    value, link = match[group], match["link"]
    is_type = group == "bare" and link.strip() == ":" and value.isidentifier() and _DEFAULT.match(text, match.end())
    if len(value) < MIN_PASSWORD_CHARACTERS or is_type or _ATTRIBUTE.fullmatch(link):
        return None
    before = text[max(0, at - MAX_NAME_CHARACTERS) : at].removesuffix("\n")
    stem = before[len(before.rstrip(_NAME_CHARACTERS)) :]
    words = stem, hint, kind, text[at : match.start("link")], link.strip("\"'`)]*([ \t\r\n") or link.strip()[-1:]
    quoted = group != "bare" or (stem.startswith(("--", "-D")) and link in ("=", " "))  # no code as an option's value
    whole = _is_whole_line(text, match) or (link == "=" and (words[3].isupper() or text[match.end()] in "\"'"))
    named = kind_of_secret(*words, value, quoted=quoted, whole=whole)
    if named is None:
        return None
    spaced = not link.strip()
    if spaced and not _may_be_spaced(text, at, stem, named, value, quoted=group in ("quoted", "escaped")):
        return None
    start, end = match.span(group)
    rest = _REST.match(text, end) if end - start > MAX_VALUE_CHARACTERS else None
    return start, rest.end() if rest else end


def _kind_of_secret(
    stem: str, hint: str, kind: Kind, rest: str, link: str, value: str, *, quoted: bool, whole: bool
) -> Kind | None:
    """Return the kind of a name, `stem` and `rest`, if the value that the link leads to is a secret of this kind."""
    if _PLACEHOLDER.fullmatch(value[:MAX_TESTED_CHARACTERS]) or (not quoted and link in (",", "(")):
        return None
    digits = sum(map(str.isdigit, value))
    if (link == "|" and (not digits or value.isdigit())) or (link == "(" and digits < 2 and _NUMBERED.fullmatch(value)):
        return None
    named = _kind_of_name(stem, hint, kind, rest)
    if named is None:
        return None
    listed = link == ","
    is_secret = {"password": _is_password, "secret": _is_secret, "key": _is_key}[named]
    return named if is_secret(Value(value, quoted, whole and not listed, listed)) else None


def _kind_of_name(stem: str, hint: str, kind: Kind, rest: str) -> Kind | None:
    """Return the kind of a name: the letters before the literal that was found, it, and what follows of the name."""
    letter = stem[-1:].isalpha()
    if hint == "pass":
        if (rest[:5].lower() in ("pass", "passe") and _NO_PASS.search(stem)) or (
            letter and rest == "pass" and len(stem.rpartition(".")[2]) > 12
        ):
            return None
        return kind
    if hint == "key" and _NO_SECRET_KEY.search(stem):
        return None
    if hint in ("key", "salt") and _STRONG_KEY.search(stem):
        return "secret"
    if hint in ("sig", "salt", "auth", "session", "dsn") and letter and not rest[:1].isupper():
        return None
    return kind


def _may_be_spaced(text: str, at: int, stem: str, kind: Kind, value: str, *, quoted: bool) -> bool:
    """Return whether a space alone may be between name and value: options, SQL, `.netrc`, `ENV` of Docker."""
    start = max(0, at - MAX_LINE_CHARACTERS)
    line = text[max(start, text.rfind("\n", start, at) + 1) : at]
    name = line[: len(line) - len(stem)]
    if not stem and text[at : at + 5].lower() == "pass ":
        return False  # a verb
    if stem.startswith("--") or (stem.startswith("-") and not name[-1:].isalnum()):
        return True
    begins = not name.strip() or bool(_COMMAND.fullmatch(name))
    if quoted:
        sql = kind == "password" and re.search(r"(?i)\b(?:with|role|user|alter|create|set|encrypted|by)\b", line)
        return begins or name.endswith((":", "@")) or bool(sql)
    if (name.strip() and begins) or text.startswith(_DIRECTIVES, at - len(stem)):
        return True
    if kind == "key" or not any(letter.isdigit() for letter in value):
        return False
    return begins or bool(
        re.search(r"(?i)\b(?:machine|login|user(?:name)?|default|ENV|ARG|enable|set|config|connect|d-i|7|5|0)\b", name)
    )


def is_secret_value(value: str, kind: Kind, *, listed: bool) -> bool:
    """Return whether a literal of a column, whose name is of the kind, is a secret; `listed` ones are no plain words.

    >>> is_secret_value("Harbor1042!", "password", listed=True), is_secret_value("required", "password", listed=False)
    (True, False)
    """
    if len(value) < MIN_PASSWORD_CHARACTERS or _PLACEHOLDER.fullmatch(value[:MAX_TESTED_CHARACTERS]):
        return False
    if kind == "password":
        return _is_password(Value(value, quoted=True, whole=True, listed=listed))
    return looks_random(value, 12, 30) and _is_secret(Value(value, quoted=True, whole=True, listed=listed))


def _is_whole_line(text: str, match: re.Match[str]) -> bool:
    """Return whether nothing is behind an unquoted value on its line, as in files of settings, not in code."""
    end = match.end()
    return text[end : end + 1] in ("", "\n", "\r") or text[end : end + 2] == " #"


def _is_password(candidate: Value) -> bool:
    """Return whether a person may have chosen the value: digits or signs in it, or one word of 6 letters."""
    value, quoted, whole, listed = candidate
    if _PATTERN.search(value) or (not quoted and _CODE.fullmatch(value)):
        return False
    if value.isalpha():
        plain = len(value) >= 6 and not _ABOUT.search(value) and (value.islower() or value.isupper())
        return (plain or (len(value) >= 8 and _mixes_cases(value))) and not listed and (quoted or whole)
    if len(value.split()) >= 4 and value.islower() and value.replace(" ", "").isalpha():
        return quoted and not listed and not _ABOUT.search(value)  # a passphrase of words
    if _PASSPHRASE.fullmatch(value):
        return (quoted or whole) and not _ABOUT.search(value)
    if _WORDS.fullmatch(value) or (
        _PATH.fullmatch(value) and "@" not in value and not value[-1:].isdigit() and not _NO_FILE.fullmatch(value)
    ):
        return False
    if " " in value or "\t" in value:
        return len(value.split()) <= 3 and any(letter.isdigit() for letter in value) and not value.endswith(".")
    digits = sum(map(str.isdigit, value))
    if _NUMBERED.fullmatch(value) and _ABOUT.search(value) and (listed or digits < 2 or not (quoted or whole)):
        return False
    if value.isdigit():
        return len(value) >= 6 and (quoted or whole)
    return quoted or any(letter.isdigit() for letter in value) or _has_sign(value)


def _is_secret(candidate: Value) -> bool:
    """Return whether the value is one that a program may have made up: digits among letters, and not too regular."""
    value, quoted, _, listed = candidate
    if " " in value and quoted:
        return len(value.split()) <= MAX_SECRET_WORDS and looks_random(value, 10, 20)
    if _looks_like_code(value, quoted=quoted) or len(value) < MIN_SECRET_CHARACTERS - 2 * (quoted and not listed):
        return False
    if _NUMBERED.fullmatch(value) and (len(value) < 16 or _ABOUT.search(value)):
        return False
    letters, digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    if not (letters and (digits or _mixes_cases(value) or (quoted and not listed and _has_sign(value)))):
        return False
    return entropy(value) >= MIN_SECRET_ENTROPY


def _is_key(candidate: Value) -> bool:
    """Return whether the value looks random, whatever its name: long, in mixed letters and digits or in hexadecimal."""
    value, quoted, _, listed = candidate
    if _decodes_to_password(value):
        return True
    if _looks_like_code(value, quoted=quoted) or len(value) < MIN_KEY_CHARACTERS or listed:
        return False
    if _IS_HEX.fullmatch(value):
        return len(value) >= 32 and entropy(value) >= MIN_HEX_ENTROPY
    digits = sum(map(str.isdigit, value))
    return bool(digits) and _mixes_cases(value) and entropy(value) >= MIN_KEY_ENTROPY


def _looks_like_code(value: str, *, quoted: bool) -> bool:
    if any(map(str.isspace, value)) or _PATTERN.search(value) or (_WORDS.fullmatch(value) and not _mixes_cases(value)):
        return True
    if _PATH.fullmatch(value) and not (len(value) >= 32 and entropy(value) >= 4):
        return True
    return not quoted and bool(_CODE.fullmatch(value))


def _has_sign(value: str) -> bool:
    return any(not letter.isalnum() and letter not in "_-./: ,()[]" for letter in value)


def _mixes_cases(value: str) -> bool:
    """Return whether small letters and capitals change so often as in no name."""
    changes = sum(a.isalpha() and b.isalpha() and a.isupper() != b.isupper() for a, b in pairwise(value))
    return changes * 4 >= sum(map(str.isalpha, value)) > 3


def _decodes_to_password(value: str) -> bool:
    """Return whether the value is base64 of `user:password`, as Docker and HTTP write it."""
    if not _BASE64.fullmatch(value) or len(value) % 4:
        return False
    try:
        plain = base64.b64decode(value, validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return False
    return plain.isprintable() and 0 < plain.find(":") < len(plain) - 3
