"""Statements on Python code, held against its syntax tree by the checker of cross-verification (SPEC G2)."""

from __future__ import annotations

from collections.abc import Iterator

from verifyplan.agents.sources import Source
from verifyplan.agents.static import syntax_tree
from verifyplan.agents.static.claims import Claim, read_claim
from verifyplan.agents.static.outcome import Case, judge
from verifyplan.agents.static.roles.issues import Issue, Place
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.rules.citations import places

_KINDS = ("parameter", "default", "raises", "calls", "base-class")
_LONGEST = 300


def check(scene: Scene) -> Iterator[Issue]:
    """An issue for each sentence that states one fact about a definition, where the syntax tree refutes it.

    Only sentences that plan nothing count, and definitions that the repository has once.
    """
    for at, line in scene.reading.stated:
        claim = read_claim(line) if len(line) <= _LONGEST and not scene.reading.planned(at) else None
        if claim is None or claim.kind not in _KINDS or claim.unread or not claim.subject:
            continue
        issue = _refuted(scene, at, line, claim)
        if issue is not None:
            yield issue


def _refuted(scene: Scene, at: int, line: str, claim: Claim) -> Issue | None:
    symbols = [one for one in scene.known.symbols(claim.subject) if one.path.endswith(".py") and "test" not in one.path]
    if len(symbols) != 1:
        return None
    path, first = symbols[0].path, symbols[0].line
    lines = scene.tools.read(path).lines
    outcome = judge(claim, syntax_tree.check(Case(claim, Source(path, lines), first, first))) if lines else None
    if outcome is None or outcome.kind != "refuted":
        return None
    place = next((one for one in places(outcome.why) if one.path == path and one.first <= len(lines)), None)
    number = place.first if place else first
    return Issue(
        statement("stale-claim", line),
        at,
        outcome.why,
        "SIGNIFICANT",
        "HIGH",
        scenario="What the plan builds on it does not hold.",
        alternative="Correct the statement, and what the plan concludes from it.",
        beside=(Place(path, number, lines[number - 1]),),
    )
