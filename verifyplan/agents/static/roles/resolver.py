"""The resolver: answers unknowns from the repository, each answer with its source (SPEC A1, A12)."""

from __future__ import annotations

import re
from typing import NamedTuple

from verifyplan.agents.repository.records import Match
from verifyplan.agents.static.roles.challenges import names_in
from verifyplan.agents.static.roles.known import plain
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.protocol.plan_call import ResolverAnswer, UnknownAnswer
from verifyplan.protocol.research import Unknown, UnknownResolution

_LONGEST_PART = 200
_COMMON = 40


class _Found(NamedTuple):
    resolution: UnknownResolution
    source: str
    finding: str
    impact: str


def answer(scene: Scene) -> ResolverAnswer:
    """One answer to each unknown that has none yet, in order of their ids.

    A path is looked up and read, anything else searched for. What the repository does not show, and what the
    budget no longer allows to look at, is UNRESOLVABLE; the refused call stands among the tool uses.
    """
    return ResolverAnswer(
        answers=tuple(_answer(scene, one) for one in scene.request.unknowns if one.resolution is None)
    )


def _answer(scene: Scene, unknown: Unknown) -> UnknownAnswer:
    found = _look(scene, unknown)
    if found is None:
        return UnknownAnswer(id=unknown.id, resolution="UNRESOLVABLE")
    parts = (found.source, found.finding, found.impact)
    return UnknownAnswer(
        id=unknown.id, resolution=found.resolution, finding=f"[VERIFIED: {' | '.join(map(part, parts))}]"
    )


def part(text: str) -> str:
    """A text as a part of a finding: on one line, without the marks that end a part, not long and not blank.

    >>> part("a | b] c")
    'a / b) c'
    """
    plain_text = " ".join(text.replace("|", "/").replace("]", ")").replace("[", "(").split())
    cut = plain_text if len(plain_text) <= _LONGEST_PART else f"{plain_text[:_LONGEST_PART].rstrip()} ..."
    return cut or "-"


def _look(scene: Scene, unknown: Unknown) -> _Found | None:
    if scene.known.empty:
        return None
    path = _path(unknown)
    if path:
        return _file(scene, unknown, path)
    return _search(scene, unknown) if unknown.suggested_query.strip() else None


def _path(unknown: Unknown) -> str:
    names = (unknown.suggested_query, *names_in(unknown.description))
    return next((name for name in names if "/" in name and " " not in name and plain(name)), "")


def _file(scene: Scene, unknown: Unknown, path: str) -> _Found | None:
    found = scene.known.file(path)
    if found is None and scene.known.exists(path):
        return _Found("CONFIRMED", path, "the folder is there", "the plan can count on it")
    if found is None:
        near = scene.known.like(path)
        hint = f"; the nearest path is {near}" if near else ""
        return _Found(
            "REFUTED", "list of files", f"no {path} is there{hint}", "the plan must create it or name another"
        )
    read = scene.tools.read(found, serves=unknown.id)
    if read.refused:
        return None
    first = next((at for at, line in enumerate(read.lines, 1) if line.strip()), 1)
    text = read.lines[first - 1].strip() if read.lines else "it is empty"
    return _Found("CONFIRMED", f"{found}:{first}", f"the file is there and begins: {text}", "the plan can count on it")


def _search(scene: Scene, unknown: Unknown) -> _Found | None:
    hits = scene.tools.grep(_pattern(unknown.suggested_query), serves=unknown.id)
    if hits.refused:
        return None
    if not hits.matches or len(hits.matches) > _COMMON:
        return None
    best = min(hits.matches, key=lambda hit: (_prose(hit), hit.path, hit.line))
    where = f"{len(hits.matches)} lines speak of it; {best.path}:{best.line} reads: {best.text.strip()}"
    return _Found("PARTIALLY_RESOLVED", f"{best.path}:{best.line}", where, "whoever wrote the plan can decide by it")


def _prose(hit: Match) -> bool:
    """Whether a hit is in a document; of several, those in code are better."""
    return hit.path.endswith((".md", ".rst", ".txt"))


def _pattern(query: str) -> str:
    """The query as a pattern; as plain text where it is none."""
    try:
        re.compile(query)
    except (re.error, RecursionError, OverflowError):
        return re.escape(query)
    return query
