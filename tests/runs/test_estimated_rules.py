"""Estimates heed the rules: scripted runs under them make as many calls as the low and the high case say (R2, R3)."""

from __future__ import annotations

from typing import Any

import pytest

import verifyplan as vp
from tests.runs.crossing import AGREE, BURDEN, COUNTER, finding
from tests.runs.plan.planning import PLAN, REPO, WORDS, challenge, script, unknown
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.plans.plan import parse_plan

MODEL = "claude-haiku-4-5"
ROSTER = ["ann", "bob", "cy", "dan", "eve"]
FOUND = [finding(f"F-{n}", "ann") for n in range(1, 5)]
VOTING: dict[str, Any] = {
    **{name: name for name in vp.VotingRules.presets()},
    "three workers": {"workers": ["bob", "cy", "dan"]},
    "one round": {"max_rounds": 1},
    "margin of 4": {"stop": {"margin": 4}},
    "margin of 9": {"stop": {"margin": 9}},
    "sequential test": {"stop": {"accuracy": 0.9}},
    "quorum of 9": {"quorum": 9},
    "any-refute of two": {"aggregate": "any-refute", "quorum": 2},
    "stop and no pruning": {"stop": {"margin": 1}, "pruning": "none"},
}


def estimated(source: Any, root: Any = REPO, **more: Any) -> list[int]:
    return [use.calls for use in vp.estimate(source, root, model=MODEL, progress=False, **more).cases.values()]


def calls_of(run: Any) -> int:
    """Return how many calls a run made, by its events: the tables of a run take ten times as long as the run."""
    return sum(event.type == "call-requested" for event in run.events)


def votes_of(first: dict[str, Any], others: dict[str, Any]) -> Any:
    """Return votes of three rounds on every finding: those of bob and dan, and those of the others."""
    said = {who: first if who in ("bob", "dan") else others for who in ROSTER[1:]}
    return {
        number: {who: {one["finding_id"]: vote for one in FOUND} for who, vote in said.items()} for number in (1, 2, 3)
    }


@pytest.mark.parametrize("rules", VOTING.values(), ids=VOTING)
@pytest.mark.parametrize("mode", ["adversarial", "collaborative"])
def test_cross_runs_make_as_many_calls_as_the_cases_say(rules, mode):
    chosen = vp.VotingRules(**rules) if isinstance(rules, dict) else vp.VotingRules.preset(rules)
    given: dict[str, Any] = {"rules": chosen.model_copy(update={"mode": mode, "max_rounds": chosen.max_rounds or 2})}
    low, expected, high = estimated(FOUND, workers=ROSTER, **given)
    assert low <= expected <= high
    made = [
        calls_of(vp.crossverify(FOUND, ROSTER, backend=ScriptedBackend(votes), log_dir=None, **given))
        for votes in (
            votes_of(AGREE, AGREE),
            votes_of(AGREE, BURDEN),
            votes_of(COUNTER, AGREE),
            votes_of(AGREE, COUNTER),
        )
    ]
    assert made[0] == low, "all agree"
    assert max(made) <= high
    if chosen.stop == "round" and chosen.quorum != 2:  # with a stop, or a quorum that lost votes may miss, it is less
        assert max(made) == high, "some split leaves everything open"


def raised(iteration: int) -> dict[str, Any]:
    words = [f"{word}{iteration}" for word in WORDS[:9]]
    return {"challenges": [challenge(word, "BLOCKING") for word in words], "unknowns": [unknown(words[0])]}


def relentless(iterations: int) -> dict[str, Any]:
    """Return a script in which nothing is settled, and everything is asked for again."""
    again = ["RE-SWEEP", "RE-PROBE"]
    directives: list[dict[str, Any]] = [
        {"kind": kind, "trigger": "unexplored-cascade", "items": ["C1"]} for kind in again
    ]
    directives += [{"kind": "CONSULT", "role": role} for role in ("domain-expert", "devils-advocate")]
    script: dict[str, Any] = {}
    for number in range(1, iterations + 1):
        script[f"i{number}/challenger"] = raised(number)
        script[f"i{number}/synthesizer"] = {
            "changes": [{"challenge_id": "C1", "new": "UNRESOLVED", "resolution": "", "reason": "open"}],
            "directives": directives,
        }
    return script


PLANS: dict[str, Any] = {
    **{name: name for name in vp.PlanRules.presets()},
    "no later research": {"later_research": "never"},
    "research always": {"later_research": "always"},
    "no later consults": {"later_consults": "never"},
    "consults always": {"later_consults": "always"},
    "five iterations": {"max_iterations": 5},
    "nobody is heard": {"max_active": 0},
    "two at once": {"max_active": 2},
    "scaled": {"threshold": 0},
}


@pytest.mark.parametrize("rules", PLANS.values(), ids=PLANS)
def test_plan_runs_make_as_many_calls_as_the_cases_say(rules):
    plan = parse_plan(PLAN)
    panel = {"items_per_call": 1, "max_rounds": 1}
    low, expected, high = estimated(plan, rules=rules, panel=panel)
    assert low <= expected <= high
    chosen = vp.PlanRules(**rules) if isinstance(rules, dict) else vp.PlanRules.preset(rules)
    made = []
    for answers in ({}, script(), relentless(chosen.max_iterations)):
        backend = ScriptedBackend(answers, silent=True)
        made.append(calls_of(vp.verify(plan, REPO, backend=backend, log_dir=None, rules=rules, panel=panel)))
    assert low <= made[0] <= low + 3, "a silent challenger has no verdict, and so no scores"
    assert max(made) <= high
