"""New columns and constraints that rows which are already there do not meet."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.agents.static.roles.issues import Issue, Place
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.protocol.challenge import Severity

_COLUMN = re.compile(r"\badd column (?:if not exists )?[\"`]?(?P<name>[a-z_]\w*)", re.IGNORECASE)
_FILLED = re.compile(
    r"\b(?:back-?fill\w*|fill(?:s|ed|ing)?|populat\w+|existing (?:rows|parcels|customers|users|records|data)"
    r"|old (?:rows|parcels|customers|users|records)|so far|empty table|no rows|historic\w*|keeps? null|stays? "
    r"(?:null|empty)|remains? (?:null|empty))\b",
    re.IGNORECASE,
)
_CONSTRAINT = re.compile(
    r"\badd constraint \S+ (?P<what>check|foreign key|unique)\b|\bset not null\b|\bcreate unique index\b", re.IGNORECASE
)
_LOOKED = re.compile(
    r"\b(?:not valid|validate constraint|back-?fill\w*|clean(?:s|ed|ing)? up|duplicat\w+|dedup\w*|de-dup\w*"
    r"|twice|existing rows|count(?:s|ed)?|no row|violat\w+|correct(?:s|ed)? the|fill(?:s|ed)?|empty table"
    r"|first (?:that|which|look)|select\b)",
    re.IGNORECASE,
)
_RESPELT = re.compile(r"\b\w+\.(?:upper|lower|casefold|strip|title|toLowerCase|toUpperCase|trim)\(\)")
_LOOKS_UP = re.compile(r"\b(?:compar\w+|find\w*|found|look(?:s|ed)? up|lookup|search\w*|where)\b", re.IGNORECASE)
_CONVERTED = re.compile(r"\bupdate \w+ set\b|\b(?:rows|values|those) (?:that are there|stored before)\b", re.IGNORECASE)
_NULL = (
    r"(?<!\w){0}\s+is\s+null\b|\b{0}` is (?:empty|null|not set|missing)"
    r"|\b(?:where|whose|and|having) `?(?:\w+\.)?{0}`? (?:=|<|>|is|equals|lies|falls)"
)


def check(scene: Scene) -> Iterator[Issue]:
    """An issue for a new column whose emptiness decides what is done, and for a constraint nobody looked ahead of.

    In the first case every row that is already there counts as not done; in the second the statement fails on the
    first row that does not meet it. Silent where the plan fills the rows, or looks at them first.
    """
    todo = [(at, line) for at, line in scene.reading.to_do if not scene.reading.downward(at)]
    every = scene.plan.lines[scene.plan.body - 1 :]
    yield from _undone(scene, todo, every)
    yield from _respelt(todo, every)
    if any(_LOOKED.search(line) for line in every):
        return
    for at, line in todo:
        match = _CONSTRAINT.search(line)
        if match is not None and not re.search(r"\b(?:down|back)\b[^.;]*$", line[: match.start()], re.IGNORECASE):
            why = "Rows that are already there may not meet it, and no step looks at them before."
            yield _issue(match.group(), at, why, "SIGNIFICANT", ())
            return


def _undone(scene: Scene, todo: list[tuple[int, str]], every: tuple[str, ...]) -> Iterator[Issue]:
    for at, line in todo:
        match = _COLUMN.search(line)
        if match is None or re.search(r"\bdefault\b", line, re.IGNORECASE):
            continue
        name = re.escape(match["name"])
        null = re.compile(_NULL.format(name), re.IGNORECASE)
        sets = re.compile(rf"\bset\b[^.;]{{0,20}}\b{name}\b\s*=\s*(?!now|null|current)\w", re.IGNORECASE)
        used = next(
            ((n, text) for n, text in enumerate(scene.plan.lines, 1) if null.search(text) and n >= scene.plan.body),
            None,
        )
        if used is not None and not any(_FILLED.search(text) or sets.search(text) for text in every):
            why = f"Line {used[0]} chooses rows by it, and it is empty in every row that was there before."
            yield _issue(match.group(), at, why, "SIGNIFICANT", (Place("", used[0]),))
            return


def _respelt(todo: list[tuple[int, str]], every: tuple[str, ...]) -> Iterator[Issue]:
    """Values that are spelt anew where they are stored and looked up, while those stored before keep their spelling."""
    if any(_FILLED.search(text) or _CONVERTED.search(text) for text in every):
        return
    found = next(
        ((at, match.group()) for at, line in todo if _LOOKS_UP.search(line) and (match := _RESPELT.search(line))), None
    )
    if found is not None:
        why = "What was stored before in another spelling is no longer found, and no step spells it anew."
        yield _issue(found[1], found[0], why, "SIGNIFICANT", ())


def _issue(words: str, line: int, why: str, severity: Severity, beside: tuple[Place, ...]) -> Issue:
    return Issue(
        statement("demand", " ".join(words.lower().split()), "the rows that are already there"),
        line,
        why,
        severity,
        "MED",
        scenario="The step fails on them, or does to all of them what is meant for new ones.",
        alternative=(
            "Say what happens to the rows that are there: fill or correct them first, in batches, and count "
            "those that are left."
        ),
        beside=beside,
    )
