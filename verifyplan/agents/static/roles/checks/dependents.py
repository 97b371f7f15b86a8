"""What a plan renames, moves or deletes although other code still uses it, of which the plan says nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.agents.static.roles.issues import Issue, Place
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.reading import denied
from verifyplan.agents.static.roles.scene import Scene

_BREAKS = (
    r"\b(?:delete|remove|drop|rename|move)s? (?:the |file |function |method |class |helper |module |unused |old "
    r"|dead )*`{}(?:\(\))?`(?! (?:from|in) (?:the )?(?:list|call|import|loop|query|answer|response|output)\b)"
)
_CODE = re.compile(r"\.(?:py|js|jsx|ts|tsx|go|rs|java|rb|php|cs|c|cc|cpp|h|kt|swift|sh|sql)$")
_MOST, _MOST_NAMES = 3, 200


def check(scene: Scene) -> Iterator[Issue]:
    """An issue for each file or definition that a step deletes, renames or moves and that files use which the plan
    does not name.

    Silent where the plan speaks of all users ("every caller", "all imports"), and on what a new file replaces.
    """
    if scene.known.empty:
        return
    names = {one.name.removesuffix("()"): one for one in scene.reading.actions("file", "symbol")}
    for name, one in list(names.items())[:_MOST_NAMES]:
        breaks = re.compile(_BREAKS.format(re.escape(name)), re.IGNORECASE)
        for at, line in scene.reading.to_do:
            found = breaks.search(line) if name in line else None
            if found is None or denied(line, found.start()) or scene.reading.block(at) is not None:
                continue
            users = [use for use in _users(scene, one.kind, name) if not _named(scene, use.path)]
            if users and not _all(scene):
                yield _issue(name, at, users)
            break


def _users(scene: Scene, kind: str, name: str) -> list[Place]:
    if kind == "file":
        path = scene.known.file(name)
        return [Place(hit.path, hit.line) for hit in scene.repository.importers(path)] if path else []
    defined = {symbol.path for symbol in scene.known.symbols(name)}
    if not defined or not re.search(r"[_A-Z]|\w{8}", name):
        return []
    hits = scene.known.mentions(name.rpartition(".")[2])
    first = {hit.path: Place(hit.path, hit.line) for hit in reversed(hits) if _CODE.search(hit.path)}
    return [first[path] for path in sorted(first) if path not in defined]


def _named(scene: Scene, path: str) -> bool:
    base = path.rpartition("/")[2]
    return any(base in line for line in scene.plan.lines)


def _all(scene: Scene) -> bool:
    """Whether the plan deals with whoever uses it, in whatever place."""
    everywhere = re.compile(
        r"\b(?:all|every|each|its|the|other) (?:\w+ )?(?:callers?|imports?|uses?|usages?|references?|call "
        r"sites?|importers?|users)\b|\beverywhere\b|\bre-?export\w*|\balias\b",
        re.IGNORECASE,
    )
    return any(everywhere.search(line) for _, line in scene.reading.prose)


def _issue(name: str, line: int, users: list[Place]) -> Issue:
    more = f" and {len(users) - 1} more" if len(users) > 1 else ""
    return Issue(
        statement("dependents", name),
        line,
        f"{users[0].path}:{users[0].line}{more} still uses it, and the plan names none of these places.",
        "SIGNIFICANT",
        "HIGH",
        scenario="What uses it fails when it is imported or called.",
        alternative=f"Add a step that changes what uses it: {', '.join(use.path for use in users[:_MOST])}.",
        beside=tuple(users[:_MOST]),
    )
