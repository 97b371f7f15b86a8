"""What the plan itself marks as open: asked as questions, and answered from the repository (rules A1, A12)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from verifyplan.agents.static.roles.issues import Issue, Place, cited, names_in, quoted
from verifyplan.agents.static.roles.known import plain
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.plans import assess
from verifyplan.protocol.records import Unknown, UnknownResolution, UnknownType
from verifyplan.protocol.role_call import RaisedUnknown, ResolverAnswer, UnknownAnswer

MOST = 5
"""Questions in one iteration."""

_DECISION = re.compile(r"\b(?:decid|decision|agree|chose|approv|policy|convention)\w*", re.IGNORECASE)
_OUTSIDE = re.compile(r"\b(?:api|endpoint|webhook|sdk|rate limit|service|provider|third[- ]party)\b", re.IGNORECASE)
_OLD = re.compile(r"\b(?:version|deprecat\w+|still|latest|up to date|supports?|since)\b", re.IGNORECASE)


def unknowns(scene: Scene, raised: Sequence[Issue]) -> list[RaisedUnknown]:
    """The lines that the plan marks as open, one question each, in the order of the plan; at most 5.

    What was asked before is not asked again. `affects` names a challenge of the same answer by its position.
    """
    asked = {unknown.description for unknown in scene.request.unknowns}
    found = (question for question in _questions(scene, raised) if question.description not in asked)
    return list(found)[:MOST]


def _questions(scene: Scene, raised: Sequence[Issue]) -> Iterator[RaisedUnknown]:
    for sign in assess(scene.plan).found.get("unknown", ()):
        line = _sentence(scene, sign.line, sign.word)
        at = next((n for n, issue in enumerate(raised, 1) if issue.line == sign.line), None)
        yield RaisedUnknown(
            description=f"Does it hold what {cited(Place('', sign.line), scene.name)} leaves open: {quoted(line)}",
            type=_type(line),
            affects=f"#{at}" if at else None,
            suggested_query=_query(line),
        )


def _type(line: str) -> UnknownType:
    if any("/" in name and plain(name) for name in names_in(line)):
        return "FILE_MISSING"
    if _DECISION.search(line):
        return "PRIOR_DECISION"
    if _OUTSIDE.search(line):
        return "API_BEHAVIOR"
    return "STALE_KNOWLEDGE" if _OLD.search(line) else "INTEGRATION_UNKNOWN"


def _query(line: str) -> str:
    """The first name in backticks, else the rarest-looking word: what the resolver reads or searches."""
    names = names_in(line)
    if names:
        return names[0] if "/" in names[0] else re.escape(names[0])
    words = sorted(re.findall(r"[A-Za-z][\w-]{4,}", line), key=lambda word: (-_rare(word), -len(word)))
    return re.escape(words[0]) if words else ""


def _rare(word: str) -> int:
    return int("_" in word) + int(any(letter.isupper() for letter in word[1:]))


def _sentence(scene: Scene, line: int, word: str) -> str:
    """The sentence on a line that holds a word, else the line itself."""
    there = (one.text for one in scene.text.sentences if one.line <= line <= one.last and word in one.text)
    return next(there, scene.plan.line(line))


_LONGEST_PART = 200
_COMMON = 40
_PROSE = (".md", ".rst", ".txt")
"""Hits in documents; of several hits, those in code are better."""


def answer(scene: Scene) -> ResolverAnswer:
    """One answer to each unknown that has none yet, in order of their ids.

    A path is looked up and read, anything else searched for. What the repository does not show, and what the
    budget no longer allows to look at, is UNRESOLVABLE; the refused call stands among the tool uses.
    """
    return ResolverAnswer(
        answers=tuple(_answer(scene, one) for one in scene.request.unknowns if one.resolution is None)
    )


def _answer(scene: Scene, unknown: Unknown) -> UnknownAnswer:
    path, query = _path(unknown), unknown.suggested_query
    if scene.known.empty or not (path or query.strip()):
        return UnknownAnswer(id=unknown.id, resolution="UNRESOLVABLE")
    return _file(scene, unknown, path) if path else _search(scene, unknown)


def _found(unknown: Unknown, resolution: UnknownResolution, *parts: str) -> UnknownAnswer:
    """An answer with its finding: the source, what stands there, and what that means for the plan."""
    finding = f"[VERIFIED: {' | '.join(map(part, parts))}]"
    return UnknownAnswer(id=unknown.id, resolution=resolution, finding=finding)


def part(text: str) -> str:
    """A text as a part of a finding: on one line, without the marks that end a part, not long and not blank.

    >>> part("a | b] c")
    'a / b) c'
    """
    plain_text = " ".join(text.replace("|", "/").replace("]", ")").replace("[", "(").split())
    cut = plain_text if len(plain_text) <= _LONGEST_PART else f"{plain_text[:_LONGEST_PART].rstrip()} ..."
    return cut or "-"


def _path(unknown: Unknown) -> str:
    names = (unknown.suggested_query, *names_in(unknown.description))
    return next((name for name in names if "/" in name and " " not in name and plain(name)), "")


def _file(scene: Scene, unknown: Unknown, path: str) -> UnknownAnswer:
    found, counts_on = scene.known.files(path), "the plan can count on it"
    if not found and scene.known.exists(path):
        return _found(unknown, "CONFIRMED", path, "the folder is there", counts_on)
    if not found:
        same = scene.known.same_name(path)
        said = f"no {path} is there" + (f"; a file of that name is {same[0]}" if same else "")
        return _found(unknown, "REFUTED", "list of files", said, "the plan must create it or name another")
    read = scene.tools.read(found[0], serves=unknown.id)
    if read.refused:
        return UnknownAnswer(id=unknown.id, resolution="UNRESOLVABLE")
    at, text = next(((at, line) for at, line in enumerate(read.lines, 1) if line.strip()), (1, "it is empty"))
    return _found(unknown, "CONFIRMED", f"{found[0]}:{at}", f"the file is there and begins: {text.strip()}", counts_on)


def _search(scene: Scene, unknown: Unknown) -> UnknownAnswer:
    hits = scene.tools.grep(_pattern(unknown.suggested_query), serves=unknown.id).matches
    if not 0 < len(hits) <= _COMMON:
        return UnknownAnswer(id=unknown.id, resolution="UNRESOLVABLE")
    best = min(hits, key=lambda hit: (hit.path.endswith(_PROSE), hit.path, hit.line))
    place = f"{best.path}:{best.line}"
    said = f"{len(hits)} lines speak of it; {place} reads: {best.text.strip()}"
    return _found(unknown, "PARTIALLY_RESOLVED", place, said, "whoever wrote the plan can decide by it")


def _pattern(query: str) -> str:
    """The query as a pattern; as plain text where it is none."""
    try:
        re.compile(query)
    except (re.error, RecursionError, OverflowError):
        return re.escape(query)
    return query
