"""Steps that use what only a later step makes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.agents.static.roles.issues import Issue, Place
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.reading import denied
from verifyplan.agents.static.roles.scene import Scene

_NEEDS = r"\b(?:run|runs|execute|call|calls|import|imports|use|uses|using|source|apply|applies|deploy|start|invoke|through|with|via) (?:the |new |script |file |module |function )*`(?:python3? |bash |sh |node |\./)*{}"
_TEST = re.compile(r"(?:^|[/_.-])tests?(?:[/_.-]|$)|\.spec\.", re.IGNORECASE)


def check(scene: Scene) -> Iterator[Issue]:
    """An issue for each file or function that a step runs, calls or imports, and that the plan makes in a later one.

    Tests written first are no such use. Silent where it is in the repository already; needs a repository only to
    see that.
    """
    reading = scene.reading
    created = [one for one in reading.actions("file", "symbol") if one.intent == "create" and reading.block(one.line) is None]
    for one in created:
        name = one.name.removesuffix("()")
        first, _ = reading.part(one.line)
        if _TEST.search(name) or reading.makes(name) < one.line or _there(scene, one.kind, name):
            continue
        needs = re.compile(_NEEDS.format(re.escape(name)), re.IGNORECASE)
        for at, line in reading.to_do:
            found = needs.search(line)
            if found is None or reading.part(at)[1] >= first or not reading.plan.steps or denied(line, found.start()) or _TEST.search(line):
                continue
            yield _issue(name, at, one.line)
            break


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
