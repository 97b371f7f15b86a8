"""Research mode 3: what breaks where, when the plan goes wrong (SPEC A5, A12)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.agents.static.roles.issues import Place, cited, evidence, quoted
from verifyplan.agents.static.roles.lenses import demands, unmet
from verifyplan.agents.static.roles.rulebook import rulebook
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.agents.static.roles.touched import changed, touched
from verifyplan.protocol.plan_call import ProbeAnswer, RaisedRisk
from verifyplan.words import counted

MOST = 5
"""Risks in one iteration."""
MANY = 5
"""So many files that import a changed one are a risk to name."""

_MIGRATES = re.compile(r"\bmigrat(?:e|es|ion|ions)\b|\balter table\b", re.IGNORECASE)
_DEPLOYS = re.compile(r"\b(?:deploy|release|roll ?out|ship)\w*\b", re.IGNORECASE)
_OLD = r"(?i)\b(?:deprecated|obsolete|end of life|will be removed)\b"


def answer(scene: Scene) -> ProbeAnswer:
    """Risks by importers, by failure halfway, by a second run and by time; at most 5, none that was named before.

    What a second run does is asked where a job or a retry changes something; that one raises a challenge.
    """
    known = {risk.risk for risk in scene.request.risks}
    found = [*_twice(scene), *_importers(scene), *_halfway(scene), *_temporal(scene)]
    return ProbeAnswer(risks=tuple(one for one in found if one.risk not in known)[:MOST])


def _importers(scene: Scene) -> Iterator[RaisedRisk]:
    for path, line in changed(scene).items():
        users = [hit for hit in scene.repository.importers(path) if hit.path.rpartition("/")[2] not in scene.plan.text]
        if len(users) >= MANY:
            places = [scene.line(line), *(Place(hit.path, hit.line) for hit in users[:3])]
            yield RaisedRisk(
                risk=f"A change of {path} reaches {counted(len(users), 'file')} that the plan does not name.",
                trigger=f"{_at(scene, line)} changes what {users[0].path}:{users[0].line} imports.",
                cascade=f"{', '.join(hit.path for hit in users[:3])} fail with it.",
                probability="LOW",
                severity="MINOR",
                evidence=evidence(places, scene.reading, scene.name),
            )


def _halfway(scene: Scene) -> Iterator[RaisedRisk]:
    """A migration that went through before a release that does not."""
    lines = [(at, text) for at, text in scene.reading.to_do if scene.reading.block(at) is None]
    first = next((at for at, text in lines if _MIGRATES.search(text)), 0)
    later = next((at for at, text in lines if at > first and _DEPLOYS.search(text)), 0)
    if first and later:
        yield RaisedRisk(
            risk="The plan stops between its migration and its release.",
            trigger=f"{_at(scene, first)} has gone through, and {_at(scene, later)} fails.",
            cascade="The older release works on the newer tables until one of the two is taken back.",
            probability="LOW",
            severity="MINOR",
            evidence=evidence([scene.line(first), scene.line(later)], scene.reading, scene.name),
        )


def _twice(scene: Scene) -> Iterator[RaisedRisk]:
    """What happens twice when a job or a message is repeated, where the plan does not speak of it."""
    chosen = [demand for demand in demands() if demand.what == "what a second run does"]
    issues = scene.new(list(unmet(scene.reading, [rule.text for rule in rulebook(scene)], chosen))) if chosen else []
    for issue in issues[:1]:
        yield RaisedRisk(
            risk="A run is repeated and does its work twice.",
            trigger=f"What {_at(scene, issue.line)} starts fails halfway, or is started again.",
            cascade="People get a thing twice, or rows are there twice, and nothing tells which is right.",
            probability="MED",
            severity="SIGNIFICANT",
            evidence=evidence([scene.line(issue.line)], scene.reading, scene.name),
            challenge=scene.challenge(issue),
        )


def _temporal(scene: Scene) -> Iterator[RaisedRisk]:
    """Marks of age in files that the plan touches."""
    files = touched(scene)
    if not files or scene.known.empty or not scene.tools.left("Grep"):
        return
    hit = next((hit for hit in scene.tools.grep(_OLD).matches if hit.path in files), None)
    if hit is not None:
        yield RaisedRisk(
            risk=f"{hit.path} holds something that is marked as going away.",
            trigger=f"{_at(scene, files[hit.path])} builds on {hit.path}:{hit.line}: {quoted(hit.text)}",
            cascade="The change has to be made again when it goes.",
            probability="LOW",
            severity="MINOR",
            evidence=evidence(
                [scene.line(files[hit.path]), Place(hit.path, hit.line, hit.text)], scene.reading, scene.name
            ),
        )


def _at(scene: Scene, line: int) -> str:
    return cited(scene.line(line), scene.name)
