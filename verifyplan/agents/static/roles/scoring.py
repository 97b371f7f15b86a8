"""Scores and their audit, by two sets of signs: how the run went, and what the plan itself shows (SPEC A10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from verifyplan.agents.static.roles.challenges import place_of
from verifyplan.agents.static.roles.checks import contradictions, missing_files, step_order
from verifyplan.agents.static.roles.checks.missing_checks import LOOKS
from verifyplan.agents.static.roles.issues import Issue, cited
from verifyplan.agents.static.roles.lenses import demands, unmet
from verifyplan.agents.static.roles.phrases import Kind, read_statement
from verifyplan.agents.static.roles.rulebook import rulebook
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.documents import assess
from verifyplan.protocol.challenge import Challenge, Severity
from verifyplan.protocol.plan_call import GivenScore, ScoreAnswer
from verifyplan.protocol.score import Dimension
from verifyplan.words import counted

_COST: dict[Severity, int] = {"BLOCKING": 5, "SIGNIFICANT": 2, "MINOR": 1}
_KINDS: dict[Dimension, tuple[Kind, ...]] = {
    "approach_soundness": (
        "used-before-created",
        "used-after-deleted",
        "kept-and-changed",
        "two-values",
        "denied-and-done",
        "combined",
        "reverted-before",
        "exists-already",
        "similar-exists",
    ),
    "risk_coverage": ("demand", "unchecked", "dependents", "combined"),
    "assumption_validity": ("stale-claim", "file-missing", "symbol-missing", "symbol-elsewhere", "wrong-call"),
    "integration_feasibility": ("package-missing", "command-missing", "dependents", "symbol-elsewhere"),
    "constraint_alignment": ("rule-broken", "rule-left-out", "denied-and-done"),
}
"""What kinds of challenge lower which dimension; a challenge in other words lowers the approach."""


def score(scene: Scene) -> ScoreAnswer:
    """The synthesizer's scores: 10, less what the unsettled challenges of each kind cost, and each open unknown.

    Never below 1. The evidence counts the challenges and names those that stand, or the first line of the plan.
    """
    scores = {name: _by_challenges(scene, name, kinds) for name, kinds in _KINDS.items()}
    scores["unknowns_coverage"] = _by_unknowns(scene)
    return ScoreAnswer(scores=scores)


def _by_challenges(scene: Scene, name: Dimension, kinds: Sequence[Kind]) -> GivenScore:
    raised = [one for one in scene.request.challenges if _belongs(one, name, kinds)]
    standing = [one for one in raised if one in scene.unsettled]
    value = max(1, 10 - sum(_COST[one.severity] for one in standing))
    places = (place_of(scene.request.evidence.get(one.id, "")) for one in standing)
    named = ", ".join(f"{one.id} ({place})" if place else one.id for one, place in zip(standing, places, strict=True))
    if not raised:
        return _given(value, f"No challenge of this kind was raised against {_first(scene)}.")
    return _given(
        value,
        f"Of {counted(len(raised), 'challenge')} of this kind, {len(standing)} stand: {named or 'none'};"
        f" {_first(scene)}.",
    )


def _belongs(challenge: Challenge, name: Dimension, kinds: Sequence[Kind]) -> bool:
    statement = read_statement(challenge.claim)
    return statement.kind in kinds if statement else name == "approach_soundness"


def _by_unknowns(scene: Scene) -> GivenScore:
    asked = scene.request.unknowns
    open_ = [one.id for one in asked if one.resolution in (None, "UNRESOLVABLE")]
    wrong = [one.id for one in asked if one.resolution == "REFUTED"]
    value = max(1, 10 - 2 * len(open_) - 3 * len(wrong))
    if not asked:
        return _given(value, f"The plan marks nothing as open; read from {_first(scene)} on.")
    named = ", ".join([*open_, *wrong]) or "none"
    return _given(
        value,
        f"Of {counted(len(asked), 'unknown')}, {len(open_)} are open and {len(wrong)} refuted: {named};"
        f" {_first(scene)}.",
    )


def _given(value: int, text: str) -> GivenScore:
    return GivenScore(score=value, evidence=text)


def _first(scene: Scene) -> str:
    """The first line of the plan's body that says something, as a place."""
    lines = enumerate(scene.plan.lines, 1)
    return cited(scene.line(next((at for at, line in lines if line.strip() and at >= scene.plan.body), 1)), scene.name)


def audit(scene: Scene) -> ScoreAnswer:
    """The challenger's scores, by what the plan and the repository show, without a look at how the run went."""
    ways: dict[Dimension, Callable[[Scene], GivenScore]] = {
        "approach_soundness": _approach,
        "risk_coverage": _risks,
        "assumption_validity": _assumptions,
        "integration_feasibility": _integration,
        "unknowns_coverage": _unknowns,
        "constraint_alignment": _constraints,
    }
    return ScoreAnswer(scores={name: way(scene) for name, way in ways.items()})


def _lines(scene: Scene, lines: Sequence[int]) -> str:
    return ", ".join(cited(scene.line(line), scene.name) for line in lines[:3]) or _first(scene)


def _less(issues: Sequence[Issue]) -> int:
    return max(1, 10 - sum(_COST[issue.severity] for issue in issues))


def _approach(scene: Scene) -> GivenScore:
    found = [*contradictions.check(scene), *step_order.check(scene)]
    steps = len(scene.plan.steps)
    value = min(_less(found), 10 if scene.plan.goal or steps else 7)
    goal = "a goal is stated" if scene.plan.goal else "no goal is stated"
    lines = _lines(scene, [one.line for one in found])
    return _given(value, f"{counted(steps, 'step')}, {goal}; {len(found)} that cannot hold beside others: {lines}.")


def _risks(scene: Scene) -> GivenScore:
    eyes = {domain.lower() for domain in scene.request.domains}
    chosen = [demand for demand in demands() if demand.challenger or demand.lens.lower() in eyes]
    found = list(unmet(scene.reading, [rule.text for rule in rulebook(scene)], chosen))
    looks = [at for at, text in scene.reading.to_do if LOOKS.search(text)]
    value = min(_less(found), 10 if looks else 7)
    lines = _lines(scene, [one.line for one in found] or looks)
    tests = f"{counted(len(looks), 'line')} that test or look"
    return _given(value, f"{tests}, {counted(len(found), 'demand')} of its domains unmet: {lines}.")


def _assumptions(scene: Scene) -> GivenScore:
    named = sorted({one.name for one in scene.plan.references if one.kind == "file"} - scene.plan.created)
    there = [name for name in named if scene.known.exists(name)]
    if scene.known.empty or not named:
        return _given(8, f"{counted(len(named), 'named file')} to hold against the repository; {_first(scene)}.")
    missing = list(missing_files.check(scene))
    lines = _lines(scene, [one.line for one in missing])
    exist = f"{len(there)} of {counted(len(named), 'named file')} exist"
    return _given(_less(missing), f"{exist}, {len(missing)} are counted on and missing: {lines}.")


def _integration(scene: Scene) -> GivenScore:
    named = [one for one in scene.plan.references if one.kind in ("command", "package")]
    runs = {command.name for command in scene.known.commands} | scene.known.packages
    known = [one for one in named if any(word in runs for word in one.name.split())]
    value = 10 if scene.known.empty or 2 * len(known) >= len(named) else 8
    lines = _lines(scene, [one.line for one in known])
    return _given(value, f"Manifests know {len(known)} of {counted(len(named), 'named command or package')}: {lines}.")


def _unknowns(scene: Scene) -> GivenScore:
    signs = assess(scene.plan).found.get("unknown", ())
    lines = _lines(scene, [sign.line for sign in signs])
    value = max(1, 10 - 2 * len(signs))
    return _given(value, f"{counted(len(signs), 'line')} left open by the plan's own words: {lines}.")


def _constraints(scene: Scene) -> GivenScore:
    own, rules = len(scene.plan.constraints), rulebook(scene)
    named = [rule for rule in rules if any(scene.reading.naming(name) for name in rule.names)]
    value = 10 if own or not rules else 8
    place = f"{named[0].path}:{named[0].line}" if named else _lines(scene, list(scene.plan.constraints))
    spoken = f"it names what {len(named)} of {counted(len(rules), 'rule')} speak of"
    return _given(value, f"{counted(own, 'constraint')} of its own; {spoken}: {place}.")
