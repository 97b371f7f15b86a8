"""Which names in inline code are functions, classes and methods."""

from __future__ import annotations

import re

from verifyplan.plans.wordlists import words

_NAME = r"[A-Za-z_$][\w$]*"
_DOTTED = rf"{_NAME}(?:(?:\.|::|\#){_NAME})*"
_CALL = re.compile(rf"\.?({_DOTTED})\(.*\)(?:\s*(?:->|:).*)?", re.DOTALL | re.ASCII)
_DECLARED = re.compile(
    rf"(?:(?:async|export|default|pub|public|private|static|abstract)\s+){{0,4}}"
    rf"(?:def|class|func|function|fn|interface|struct|enum|trait)\s+({_NAME})\b.*",
    re.DOTALL | re.ASCII,
)
_QUALIFIED = re.compile(rf"{_NAME}(?:(?:\.|::|\#){_NAME})+", re.ASCII)
_SNAKE = re.compile(r"_*[a-z][a-z0-9]*(?:_[a-z0-9]+)+_*", re.ASCII)
_PASCAL = re.compile(r"_?[A-Z][A-Z0-9]*[a-z][A-Za-z0-9]*", re.ASCII)
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_CAMEL = re.compile(r"[a-z]+[a-z0-9]*(?:[A-Z][A-Za-z0-9]*)+", re.ASCII)


def symbol_name(code: str) -> str:
    """The name of the function, class or method that a piece of inline code is; empty if it is none.

    Arguments and keywords of a declaration are dropped. Constants in capitals, plain words, names of products
    and the best-known functions of standard libraries are none.

    >>> [symbol_name(code) for code in ("parse()", "Plan.read(path)", "class Foo(Bar):", "snake_case", "CamelCase")]
    ['parse', 'Plan.read', 'Foo', 'snake_case', 'CamelCase']
    >>> [symbol_name(code) for code in ("PATH", "MAX_SIZE", "true", "GitHub", "name", "print()", "COUNT(*)")]
    ['', '', '', '', '', '', '']
    """
    if len(code) > 500:
        return ""
    matched = _CALL.fullmatch(code) or _DECLARED.fullmatch(code)
    name = matched[1] if matched else code if _is_name(code) else ""
    if not name or name in words("symbols", "not_symbols") or name in words("symbols", "builtins"):
        return ""
    return "" if _is_constant(name) or "$" in name else name


def is_certain(code: str) -> bool:
    """Whether a symbol is written as code: called, declared or qualified by a class, not a bare name."""
    return bool(_CALL.fullmatch(code) or _DECLARED.fullmatch(code))


def _is_name(code: str) -> bool:
    if _QUALIFIED.fullmatch(code):
        return _is_qualified(code)
    return bool(_SNAKE.fullmatch(code) or _CAMEL.fullmatch(code) or (_PASCAL.fullmatch(code) and _HUMP.search(code)))


def _is_qualified(code: str) -> bool:
    """Whether a name with dots belongs to code: not a host, nor a name of one's own instance."""
    parts = re.split(r"\.|::|#", code)
    if parts[-1].lower() in words("paths", "top_level_domains") and "::" not in code:
        return False
    return parts[0] not in words("symbols", "not_qualifiers") and not any(map(_is_constant, parts))


def _is_constant(name: str) -> bool:
    letters = name.rpartition(".")[2].replace("_", "")
    return letters.isupper() and len(letters) > 1
