"""Read lines of code as text: which show a claimed fact or begin its definition, and what that definition says."""

from __future__ import annotations

import ast
import re

from verifyplan.agents.static.claims import Claim
from verifyplan.agents.static.outcome import Case, Look
from verifyplan.repository import definitions as read

Lines = list[tuple[int, str]]
"""Lines with their numbers."""

MENTIONS = frozenset({"raises", "calls", "imports"})
"""Kinds of claims that one line shows, whichever definition it belongs to."""

_MAX_LINE_CHARACTERS = 1000


def _shown(claim: Claim) -> re.Pattern[str]:
    name = re.escape(claim.detail)
    if claim.kind == "raises":
        return re.compile(rf"\braise\s+(?:\w+\.){{0,3}}{name}\b")
    if claim.kind == "calls":
        start = r"(?<![\w.])" if "." in claim.detail else r"\b"
        return re.compile(rf"(?<!def )(?<!class ){start}{name}\(")
    if claim.kind == "imports":
        return re.compile(rf"^\s*(?:import\s+(?:.*[\s,])?|from\s+){name}\b")
    if claim.kind == "default":
        value = rf"{re.escape(claim.value)}(?![\w.(\[])" if claim.value else ""
        return re.compile(rf"\b{name}\b(?::[^,=()]{{0,80}})?\s?=(?!=)\s?{value}")
    return re.compile(rf"\b{name}\b")


def showing(claim: Claim, lines: Lines) -> list[int]:
    """Return the numbers of the lines that show the claim's detail raised, called, imported, given or mentioned.

    >>> showing(Claim("raises", "f", "ValueError"), [(1, "def f():"), (2, "    raise ValueError(text)")])
    [2]
    """
    pattern = _shown(claim)
    return [number for number, line in lines if pattern.search(line[:_MAX_LINE_CHARACTERS])]


def defining(name: str, lines: Lines) -> list[int]:
    """Return the numbers of the lines that begin a definition of a name; of a dotted one, of its last part."""
    pattern = re.compile(rf"\s*(?:async\s+)?(?:def|class)\s+{re.escape(name.rpartition('.')[2])}\b")
    return [number for number, line in lines if pattern.match(line[:_MAX_LINE_CHARACTERS])]


def nearest(numbers: list[int], line: int) -> int:
    """Return the number closest to a line; of two as close, the smaller."""
    return min(numbers, key=lambda number: (abs(number - line), number))


def by_header(case: Case, number: int, lines: list[str]) -> Look:
    """Judge by the definition that begins on line `number`; unknown if `lines` end before its header does."""
    node = read.header(lines)
    if node is None and case.claim.kind != "location":
        begins = case.source.at(number)
        return Look("unknown", f"The definition that begins at {begins} is not shown to the end of its header.")
    return by_definition(case, node, number)


def by_definition(case: Case, node: read.Definition | None, number: int) -> Look:
    """Judge by the definition on line `number`; its place is judged without a node."""
    claim, place = case.claim, case.source.at(number)
    if claim.kind == "location":
        return _look(claim.detail in {"", str(number)}, f"{claim.subject} is defined at {place}.")
    if claim.kind == "base-class" and isinstance(node, ast.ClassDef):
        listed = read.bases(node)
        says = any(read.same(claim.detail, name) for name in listed)
        return _look(says, f"{place} lists as bases: {', '.join(listed) or 'none'}.")
    if claim.kind == "base-class" or node is None or isinstance(node, ast.ClassDef):
        return Look("unknown", f"What {place} defines has no such thing as the claim speaks of.")
    passed = read.parameters(node).get(claim.detail)
    if passed is None:
        return Look("no", f"{place} lists no parameter {claim.detail}.")
    if claim.kind == "default":
        value = read.defaults(node).get(claim.detail)
        text = "no default" if value is None else f"the default {read.written(value)}"
        says = value is not None and (not claim.value or read.equal(value, claim.value))
        return _look(says, f"{place} gives {claim.detail} {text}.")
    return Look("yes" if passed == "plain" else "partly", f"{place} lists {claim.detail}, {passed}.")


def _look(says: bool, why: str) -> Look:
    return Look("yes" if says else "no", why)
