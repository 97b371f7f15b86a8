"""Research modes 2 and 3: rules and tests that stand near what the plan changes, and who imports it (rules A5, A12)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from verifyplan.agents.static.roles.checks.rules import rules
from verifyplan.agents.static.roles.issues import Place, evidence, quoted
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.protocol.role_call import (
    ProbeAnswer,
    RaisedContext,
    RaisedRisk,
    SurfaceAnswer,
)
from verifyplan.text import counted

MAX_CONTEXTS, MAX_RISKS = 5, 3
"""Contexts and risks in one iteration."""
MANY_IMPORTERS = 5
"""So many files that import a changed one, and that the plan does not name, are a risk to name."""


def surface(scene: Scene) -> SurfaceAnswer:
    """Rules that name what the plan touches, and tests of it that the plan does not name; none told before."""
    told = {context.location for context in scene.request.contexts}
    found = [*scene.isolated("rules", lambda: _rules(scene)), *scene.isolated("tests", lambda: _tests(scene))]
    return SurfaceAnswer(contexts=tuple(one for one in found if one.location not in told)[:MAX_CONTEXTS])


def probe(scene: Scene) -> ProbeAnswer:
    """Files that many others import, where the plan names none of those; MINOR, as an import alone breaks nothing."""
    told = {risk.risk for risk in scene.request.risks}
    found = scene.isolated("importers", lambda: _importers(scene))
    return ProbeAnswer(risks=tuple(one for one in found if one.risk not in told)[:MAX_RISKS])


def _touched(scene: Scene) -> dict[str, int]:
    """The files that the plan says it changes and that are there, each with the first line that says so."""
    found: dict[str, int] = {}
    for order in scene.text.file_orders():
        paths = scene.known.files(order.name)
        if order.verb in ("edit", "delete", "rename") and len(paths) == 1:
            found.setdefault(paths[0], order.line)
    return found


def _rules(scene: Scene) -> Iterator[RaisedContext]:
    touched = _touched(scene)
    for rule in rules(scene.known):
        path = next((one for one in touched if rule.name and one.startswith(rule.name.rstrip("/"))), None)
        if path is not None:
            why = f"{rule.name} speaks of what {scene.at(touched[path])} touches: {quoted(rule.text)}"
            place = f"{rule.path}:{rule.line}"
            yield RaisedContext(source="claude_md", location=place, relevance=why, impact="changes_needed")


def _tests(scene: Scene) -> Iterator[RaisedContext]:
    for path, line in _touched(scene).items():
        stem, _, ending = posixpath.basename(path).partition(".")
        names = (f"test_{stem}.{ending}", f"{stem}_test.{ending}", f"{stem}.test.{ending}", f"{stem}.spec.{ending}")
        test = next((one for name in names for one in scene.known.same_name(name)), None)
        if test and posixpath.basename(test) not in scene.plan.text:
            why = f"It tests {path}, which {scene.at(line)} touches; the plan does not name it"
            yield RaisedContext(source="codebase", location=f"{test}:1", relevance=why, impact="changes_needed")


def _importers(scene: Scene) -> Iterator[RaisedRisk]:
    for path, line in _touched(scene).items():
        stem = posixpath.basename(path).partition(".")[0]
        ends = re.compile(rf"(?:^|[./]){re.escape(stem)}$")
        users = [
            Place(other, one.line)
            for other, outline in scene.known.outlines(stem)
            for one in outline.imports[:200]
            if other != path and (ends.search(one.module) or stem in one.names)
        ]
        unnamed = [place for place in users if posixpath.basename(place.path) not in scene.plan.text]
        if len({place.path for place in unnamed}) >= MANY_IMPORTERS:
            files = list(dict.fromkeys(place.path for place in unnamed))
            yield RaisedRisk(
                risk=f"A change of {path} reaches {counted(len(files), 'file')} that the plan does not name.",
                trigger=f"{scene.at(line)} changes what {unnamed[0].path}:{unnamed[0].line} imports.",
                cascade=f"{', '.join(files[:3])} fail with it.",
                probability="LOW",
                severity="MINOR",
                evidence=evidence([Place("", line), *unnamed[:3]], scene.text, scene.name),
            )
