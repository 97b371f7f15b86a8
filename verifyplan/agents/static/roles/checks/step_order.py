"""Steps that use what only a later step makes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.agents.static.roles.issues import Issue, Place
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.reading import denied
from verifyplan.agents.static.roles.scene import Scene

_NEEDS = (
    r"\b(?:run|runs|execute|call|calls|import|imports|use|uses|using|source|apply|applies|deploy|start|invoke"
    r"|through|with|via) (?:the |new |script |file |module |function )*`(?:python3? |bash |sh |node |\./)*{}"
)
_MOST_NAMES = 200
_MIGRATES = re.compile(r"`[^`]*\b(?:migrate|dbmate up|alembic upgrade|flyway migrate)(?![\w-])[^`]*`", re.IGNORECASE)
_TEST = re.compile(r"(?:^|[/_.-])tests?(?:[/_.-]|$)|\.spec\.", re.IGNORECASE)


def check(scene: Scene) -> Iterator[Issue]:
    """An issue for each file or function that a step runs, calls or imports, and that the plan makes in a later one.

    Tests written first are no such use. Silent where it is in the repository already; needs a repository only to
    see that.
    """
    yield from _migrated(scene)
    reading = scene.reading
    created = [
        one for one in reading.actions("file", "symbol") if one.intent == "create" and reading.block(one.line) is None
    ]
    for one in created[:_MOST_NAMES]:
        name = one.name.removesuffix("()")
        first, _ = reading.part(one.line)
        if _TEST.search(name) or reading.makes(name) < one.line or _there(scene, one.kind, name):
            continue
        needs = re.compile(_NEEDS.format(re.escape(name)), re.IGNORECASE)
        for at, line in reading.to_do:
            found = needs.search(line) if name in line else None
            if (
                found is None
                or reading.part(at)[1] >= first
                or reading.step(at) is None
                or denied(line, found.start())
                or _TEST.search(line)
            ):
                continue
            yield _issue(name, at, one.line)
            break


def _migrated(scene: Scene) -> Iterator[Issue]:
    """A program of the plan that is run in an environment before the plan's own migration is."""
    if not any("migration" in path for path in scene.plan.created) and not scene.reading.makes("migrations"):
        return
    new = [
        path.removesuffix(".py").replace("/", ".")
        for path in scene.plan.created
        if path.endswith(".py") and "test" not in path
    ]
    lines = [(at, line) for at, line in scene.reading.to_do if scene.reading.block(at) is None]
    for place in ("production", "staging"):
        there = [(at, line) for at, line in lines if place in line.lower()]
        migrates = next((at for at, line in there if _MIGRATES.search(line)), 0)
        runs = next(
            ((at, name) for at, line in there for name in new if re.search(rf"-m {re.escape(name)}\b", line)), None
        )
        if migrates and runs and scene.reading.part(runs[0])[1] < migrates:
            yield _issue(runs[1], runs[0], migrates)
            return


def _there(scene: Scene, kind: str, name: str) -> bool:
    return scene.known.exists(name) if kind == "file" else bool(scene.known.symbols(name))


def _issue(name: str, line: int, later: int) -> Issue:
    return Issue(
        statement("used-before-created", name),
        line,
        "Only a later step creates it, so this step fails when the plan is carried out in order.",
        "SIGNIFICANT",
        "HIGH",
        scenario="The step stops with an error, or works on something that is not there yet.",
        alternative="Move the step that creates it in front of this one.",
        beside=(Place("", later),),
    )
