"""What the header of one definition says of a claim, for checkers that come by the header as text."""

from __future__ import annotations

import ast

from verifyplan.agents.static import definitions as read
from verifyplan.agents.static.outcome import Case, Look


def by_header(case: Case, number: int, lines: list[str]) -> Look:
    """What the definition that begins on line `number` says of its parameters, defaults, bases or place.

    `lines` are those from there on; unknown if they end before the header does.
    """
    place, claim = case.source.at(number), case.claim
    if claim.kind == "location":
        says = not claim.detail or int(claim.detail) == number
        return Look("yes" if says else "no", f"{claim.subject} is defined at {place}.")
    node = read.header(lines)
    if node is None:
        return Look("unknown", f"The definition that begins at {place} is not shown to the end of its header.")
    if isinstance(node, ast.ClassDef) != (claim.kind == "base-class"):
        return Look("unknown", f"What {place} defines has no such thing as the claim speaks of.")
    return _bases(case, node, place) if isinstance(node, ast.ClassDef) else _parameter(case, node, place)


def _bases(case: Case, node: ast.ClassDef, place: str) -> Look:
    listed = read.bases(node)
    says = any(read.same(case.claim.detail, name) for name in listed)
    return Look("yes" if says else "no", f"{place} lists as bases: {', '.join(listed) or 'none'}.")


def _parameter(case: Case, node: read.Function, place: str) -> Look:
    claim = case.claim
    kind = read.parameters(node).get(claim.detail)
    if kind is None:
        return Look("no", f"{place} lists no parameter {claim.detail}.")
    if claim.kind == "default":
        return _default(case, node, place)
    return Look("yes" if kind == "plain" else "partly", f"{place} lists {claim.detail}, {kind}.")


def _default(case: Case, node: read.Function, place: str) -> Look:
    value = read.defaults(node).get(case.claim.detail)
    text = "no default" if value is None else f"the default {read.written(value)}"
    says = value is not None and (not case.claim.value or read.equal(value, case.claim.value))
    return Look("yes" if says else "no", f"{place} gives {case.claim.detail} {text}.")
