"""Files that the plan counts on and that are neither in the repository nor made by the plan."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rapidfuzz import fuzz

from verifyplan.agents.static.roles.issues import Issue
from verifyplan.agents.static.roles.known import plain
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.reading import denied
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.documents.values import Reference, normalised

_DOES = {"change": "changes", "delete": "deletes", "move": "moves", "use": "uses", "create": "creates"}
_TEST = re.compile(r"(?:^|[/_.-])(?:tests?|spec|specs|fixtures?|__tests__)(?:[/_.-]|$)", re.IGNORECASE)
_PRODUCT = re.compile(
    r"\.(?:log|dump|sqlite3?|db|zip|tar|gz|tgz|csv|xlsx?|png|jpe?g|svg|pdf|pyc|out|tmp|bak|env|pem|key|lock)$"
)
_RELIES = re.compile(
    r"\b(?:in|inside|from|of|to|into|via|through|with|by|run|runs|read|reads|reading|call|calls|import|imports"
    r"|reuse|reuses|use|uses|extend|"
    r"extends|see|follow|follows|like|under|against|after|edit|edits|existing)\s+(?:the |our |its |existing "
    r"|file |module |script |template )*`?$",
    re.IGNORECASE,
)
_HOLDS = re.compile(
    r"`?(?:,? which(?: \w+){0,2})? (?:already|holds?|keeps?|knows?|remembers?|lists?|has|contains?|stores?"
    r"|says|tells|defines?|documents?|describes?|exports?|provides?)\b",
    re.IGNORECASE,
)
_ALTERS = re.compile(
    r"`?(?::|,| -| —)\s+(?:`[^`]+`:?\s+(?:gets?|gains?|takes? [^.;]*\btoo\b|now|no longer|becomes?|stays)\b"
    r"|(?:add|extend|change|rename|drop|remove|replace|take out|update|fix|move|adjust|raise|lower)s?\b"
    r"|`[^`]+`: (?:add|extend|change|drop|remove|replace|take out|call|pass|use)\b|(?:[^.;]*\b)?(?:no longer"
    r"|also|existing)\b)|`?,? (?:gets?|gains?|also|now|no longer)\b",
    re.IGNORECASE,
)
_MOST = 4
NEAR = 85.0
"""Likeness, of 100, from which on another path is what was probably meant."""


def check(scene: Scene) -> Iterator[Issue]:
    """An issue for each file that the plan changes, deletes, moves or uses in a step, and that is not there.

    Silent in an empty repository, on patterns, placeholders and paths outside of it, on what the plan makes in any
    line or says is not there, and on output files. Where none of several named files is there, it is one issue.
    """
    if scene.known.empty:
        return
    candidates = [*_candidates(scene), *_stated(scene)]
    missing = list(dict.fromkeys(_name(one) for one in candidates))
    first = {_name(one): one for one in reversed(candidates)}
    there = sum(1 for one in scene.plan.references if one.kind == "file" and scene.known.exists(_name(one)))
    if len(missing) >= _MOST and not there:
        yield _wrong_place(first[missing[0]], len(missing))
        return
    for name in missing:
        yield _issue(scene, first[name])


def _name(reference: Reference) -> str:
    """The path alone: a command line's first word, without a line number."""
    word = reference.name.split()[0] if reference.name.split() else ""
    return normalised(re.sub(r":\d+(?:-\d+)?$", "", word))


def _candidates(scene: Scene) -> list[Reference]:
    return [
        one
        for one in scene.reading.actions("file")
        if one.intent != "create" and scene.reading.block(one.line) is None and _counts(scene, one)
    ]


def _stated(scene: Scene) -> list[Reference]:
    """Files that the plan says things are in today, outside of its steps."""
    lines = {at for at, _ in scene.reading.stated}
    named = [one for one in scene.plan.references if one.kind == "file" and one.line in lines and one.intent == "use"]
    return [one for one in named if _counts(scene, one)]


def _counts(scene: Scene, one: Reference) -> bool:
    name, reading = _name(one), scene.reading
    if not plain(name) or _PRODUCT.search(name) or scene.known.exists(name) or _made(scene, name):
        return False
    found = reading.mention(one.line, name)
    if found is None or denied(found[0].text, found[1]) or _next_number(scene, name):
        return False
    text, at = found[0].text, found[1]
    if one.intent != "use":
        return True
    return ("/" in name or "." in name) and (
        _relied_on(text, at, name) if not _TEST.search(name) else _extended(text, at, name)
    )


def _relied_on(text: str, start: int, name: str) -> bool:
    """Whether the words in front of a path, or behind one that heads a step, count on it being there."""
    return _RELIES.search(text[:start][-60:]) is not None or _extended(text, start, name)


def _extended(text: str, start: int, name: str) -> bool:
    """Whether what follows a path changes something that it already holds."""
    after = text[start + len(name) :]
    return _ALTERS.match(after[:160]) is not None or _HOLDS.match(after[:40]) is not None


def _next_number(scene: Scene, name: str) -> bool:
    """Whether a file is the next of a numbered row, such as of migrations: new by its number."""
    folder, _, base = name.rpartition("/")
    number = re.match(r"[A-Za-z]?(\d{2,})", base)
    if number is None:
        return False
    row = [
        re.match(r"[A-Za-z]?(\d{2,})", path.rpartition("/")[2])
        for path in scene.repository.files
        if path.rpartition("/")[0].endswith(folder)
    ]
    return any(row) and all(int(one[1]) < int(number[1]) for one in row if one)


def _made(scene: Scene, name: str) -> bool:
    """Whether the plan makes it, under this name or a longer or shorter path that ends alike."""
    created = scene.plan.created
    same = any(path == name or path.endswith(f"/{name}") or name.endswith(f"/{path}") for path in created)
    inside = any(path.startswith(f"{name}/") for path in created)
    return same or inside or scene.reading.makes(name) > 0


def _issue(scene: Scene, one: Reference) -> Issue:
    name, does = _name(one), _DOES[one.intent]
    like = scene.known.like(name)
    near = like if like and _alike(name, like) else None
    hint = f"The nearest path in the repository is `{near}`; name the file that is meant." if near else ""
    return Issue(
        statement("file-missing", name),
        one.line,
        f"The plan {does} it, but no such file is in the repository, and no step creates it.",
        "SIGNIFICANT" if near else "BLOCKING",
        "HIGH",
        scenario="Whoever carries out the step finds nothing to work on, and has to guess what was meant.",
        alternative=hint or "Add the step that creates it, or name the file that is meant.",
    )


def _alike(name: str, path: str) -> bool:
    same = name.rpartition("/")[2].lower() == path.rpartition("/")[2].lower()
    return same or fuzz.ratio(name.lower(), path.lower()) >= NEAR


def _wrong_place(one: Reference, count: int) -> Issue:
    return Issue(
        statement("file-missing", _name(one)),
        one.line,
        f"None of the {count} existing files that the plan speaks of is in the repository, so it may be another one.",
        "BLOCKING",
        "MED",
        scenario="No step finds what it works on.",
        alternative="Run the plan against the repository that it was written for, or add steps that create the files.",
    )
