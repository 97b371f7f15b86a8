"""Scores and their audit: what was looked at, and what of it stands against the plan (rule A10)."""

from __future__ import annotations

from collections.abc import Sequence

from verifyplan.agents.static.roles.challenger import Findings, run_checks
from verifyplan.agents.static.roles.issues import Kind, Statement, place_of, read_statement
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.protocol.records import Challenge, Dimension, Severity
from verifyplan.protocol.role_call import GivenScore, ScoreAnswer
from verifyplan.text import counted

UNKNOWN_SCORE = 5
"""The score of a dimension about which nothing was looked at."""

_COST: dict[Severity, int] = {"BLOCKING": 5, "SIGNIFICANT": 2, "MINOR": 1}
_CHECKS: dict[Dimension, dict[str, Kind]] = {
    "approach_soundness": {},
    "risk_coverage": {"questions": "question", "dependents": "dependents"},
    "assumption_validity": {"files": "file-missing", "symbols": "symbol-missing"},
    "integration_feasibility": {"commands": "command-missing", "packages": "package-missing"},
    "constraint_alignment": {"rules": "rule-broken"},
}
"""The checks of a dimension, and the challenges that lower it; those in other words lower the approach."""


def score(scene: Scene) -> ScoreAnswer:
    """The synthesizer's scores: 10 where something was looked at and 5 where nothing was, less what still stands."""
    standing = [(_dimension(read_statement(one.claim)), one.severity, _named(scene, one)) for one in scene.unsettled]
    return _scores(scene, run_checks(scene), standing)


def audit(scene: Scene) -> ScoreAnswer:
    """The challenger's scores, by what the look-ups find in the plan as it is, settled or not."""
    findings = run_checks(scene)
    found = [(_dimension(one.statement), one.severity, scene.at(one.line)) for one in findings.issues]
    return _scores(scene, findings, found)


def _scores(scene: Scene, findings: Findings, against: Sequence[tuple[Dimension, Severity, str]]) -> ScoreAnswer:
    scores: dict[str, GivenScore] = {}
    for dimension, checks in _CHECKS.items():
        looked = list(dict.fromkeys(place.line for check in checks for place in findings.looked.get(check, [])))
        costs = [(_COST[severity], named) for of, severity, named in against if of == dimension]
        what = ", ".join(checks) or "the approach"
        said = f"Nothing was looked at for {what}; the plan begins at {_first(scene)}."
        if looked:
            said = f"Looked at {counted(len(looked), 'line')} for {what}: "
            said += f"{', '.join(scene.at(line) for line in looked[:3])}."
        stands = f" Against it: {', '.join(named for _, named in costs)}." if costs else ""
        value = (10 if looked else UNKNOWN_SCORE) - sum(cost for cost, _ in costs)
        scores[dimension] = GivenScore(score=max(1, value), evidence=f"{said}{stands}")
    scores["unknowns_coverage"] = _by_unknowns(scene)
    return ScoreAnswer(scores=scores)


def _by_unknowns(scene: Scene) -> GivenScore:
    asked = scene.request.unknowns
    if not asked:
        said = f"Nothing was looked at: the plan marks nothing as open from {_first(scene)} on."
        return GivenScore(score=UNKNOWN_SCORE, evidence=said)
    open_ = [one.id for one in asked if one.resolution in (None, "UNRESOLVABLE")]
    wrong = [one.id for one in asked if one.resolution == "REFUTED"]
    named = ", ".join([*open_, *wrong]) or "none"
    counts = f"Of {counted(len(asked), 'unknown')}, {len(open_)} are open and {len(wrong)} refuted: {named}"
    value = max(1, 10 - 2 * len(open_) - 3 * len(wrong))
    return GivenScore(score=value, evidence=f"{counts}; {_first(scene)}.")


def _dimension(stated: Statement | None) -> Dimension:
    lowered = (of for of, checks in _CHECKS.items() if stated and stated.kind in checks.values())
    return next(lowered, "approach_soundness")


def _named(scene: Scene, challenge: Challenge) -> str:
    place = place_of(scene.request.evidence.get(challenge.id, ""))
    return f"{challenge.id} ({place})" if place else challenge.id


def _first(scene: Scene) -> str:
    """The first line of the plan's body that says something, as a place."""
    lines = enumerate(scene.plan.lines, 1)
    at = next((at for at, line in lines if line.strip() and at >= scene.plan.body), 1)
    return scene.at(at)
