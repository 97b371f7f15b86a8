"""Rule R3: each field of plan rules turns a scripted run as its sentence says, and replayed from its log, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from tests.runs.plan.planning import (
    AGREE,
    PLAN,
    WORDS,
    challenge,
    change,
    risk,
    run_of,
    script,
    told,
)
from verifyplan.protocol.plan_rules import PlanRules
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.replay import replay_run

TRIVIAL = "# Fix a typo\n\nCorrect the spelling in `README.md`."
UNSURE = PLAN + "\nIt is unclear how the store locks its rows.\n"
PANEL = ("ann", "bob", "cy")
CALLS = Callable[[PlanRun], Any]


def ending(run: PlanRun) -> Any:
    """The iteration that ended the run, and how."""
    outcome = run.outcome
    return run.state.iteration, outcome and (outcome.verdict or outcome.ended_by), bool(outcome and outcome.strong)


def admitted(run: PlanRun) -> Any:
    return [len([1 for at in run.state.admitted.values() if at == n]) for n in range(1, run.state.iteration + 1)]


def pool(run: PlanRun) -> Any:
    return sorted(run.state.admitted), sorted(run.state.overflow)


def statuses(run: PlanRun) -> Any:
    return " ".join(challenge.status for challenge in run.state.pool)


def team(run: PlanRun) -> Any:
    return run.state.assessed and run.state.assessed.team


def calls_of(*names: str) -> CALLS:
    return lambda run: [name for name in run.state.requested if name.split("/")[1] in names]


def raised(*severities: str, **more: Any) -> dict[str, Any]:
    """An answer with one challenge of each severity, all of other words."""
    return {"challenges": [challenge(word, sev, **more) for word, sev in zip(WORDS, severities, strict=False)]}


def later(*severities: str) -> dict[str, Any]:
    """As `raised`, of words that it does not use."""
    return {"challenges": [challenge(w, s) for w, s in zip(reversed(WORDS), severities, strict=False)]}


B, S, M = "BLOCKING", "SIGNIFICANT", "MINOR"
FIVE = [S] * 5
OVERFLOWED = {"i1/challenger": raised(B, B), "i1/synthesizer": {"changes": [change("C1", "RESOLVED")]}}
WORSE = {"i1/challenger": raised(B), "i2/challenger": later(S, S), "i3/challenger": later(M, M, M, M, M)}
RISKS = {"risks": [risk("quota", S), risk("disk", S)]}
HELD = {f"i1/panel/r1/{name}": {"C1": AGREE, "C2": AGREE, "C3": AGREE, "C4": AGREE} for name in PANEL}
HELD |= {
    "i1/challenger": raised(B, S, M, S),
    "i1/synthesizer": {
        "changes": [
            change("C1", "RESOLVED", "trust me"),
            change("C2", "WITHDRAWN", "see store.py:3"),
            change("C3", "DEFERRED", "later"),
            change("C4", "RESOLVED", "see store.py:3"),
        ]
    },
}
REPEATED = {
    "i1/challenger": raised(S, B),
    "i1/synthesizer": {"changes": [change("C1", "RESOLVED")]},
    "i2/challenger": {"challenges": [challenge("locks", evidence="other.py:3")]},
}
CASCADE = {
    "i1/challenger": raised(B),
    "i1/synthesizer": {
        "changes": [change("C1", "UNRESOLVED")],
        "directives": [{"kind": "RE-PROBE", "trigger": "unexplored-cascade", "items": ["C1"]}],
    },
}
CONSULTED = {
    "i1/challenger": raised(B),
    "i1/synthesizer": {"directives": [{"kind": "CONSULT", "role": "domain-expert"}]},
}


class Case(NamedTuple):
    """A scripted run: what is seen of it under neutral rules and under other values of one field."""

    field: str
    script: dict[str, Any]
    seen: CALLS
    neutral: Any
    others: dict[Any, Any]
    base: Mapping[str, Any] = MappingProxyType({})
    """Other rules of both runs."""
    settings: Mapping[str, Any] = MappingProxyType({})


CASES = [
    Case("policy", {"i1/challenger": raised(S)}, ending, (1, "REVISE", False), {"deliberate": (3, "REVISE", False)}),
    Case("max_iterations", {"i1/challenger": raised(B)}, ending, (3, "RETHINK", False), {1: (1, "RETHINK", False)}),
    # PLAN has a complexity below 7 and no unknown signal, UNSURE has one
    Case("threshold", {}, team, "base", {0: "scaled", 99: "base"}, settings={"team": None}),
    Case("many_unknowns", {}, team, "base", {0: "scaled", 1: "base"}, settings={"team": None, "plan": UNSURE}),
    Case("trivial", {}, team, None, {"never": "base"}, settings={"team": None, "plan": TRIVIAL}),
    Case("trivial_words", {}, team, None, {3: "base", 4: None}, settings={"team": None, "plan": TRIVIAL}),
    Case("trivial_actions", {}, team, None, {0: "base", 1: None}, settings={"team": None, "plan": TRIVIAL}),
    Case(
        "first_challenger_cap", {"i1/challenger": raised(*[M] * 7), "i2/challenger": later(M)},
        admitted, [5], {0: [0], 2: [2], 9: [7]},
    ),
    Case(
        "later_challenger_cap", {"i1/challenger": raised(B), "i2/challenger": later(*FIVE)},
        admitted, [1, 3, 0], {0: [1, 0, 0], 1: [1, 1, 0], 5: [1, 5, 0]}, {"degradation": "off"},
    ),
    Case("expert_cap", {"i1/domain-expert": raised(*FIVE)}, admitted, [3], {0: [0], 1: [1], 4: [4]}),
    Case("advocate_cap", {"i1/devils-advocate": raised(*FIVE)}, admitted, [2], {0: [0], 1: [1], 4: [4]}),
    Case("research_cap", {"i1/probe": RISKS}, admitted, [2], {0: [0], 1: [1]}),
    Case(
        "max_active", {"i1/challenger": raised(*FIVE), "i1/domain-expert": later(S, S, S, S)},
        admitted, [8], {0: [0], 6: [6]},
    ),
    Case(
        "admission", {"i1/challenger": raised(M, M, M, M, M, B)},
        pool, (["C1", "C2", "C3", "C4", "C6"], ["C5"]), {"arrival": (["C1", "C2", "C3", "C4", "C5"], ["C6"])},
        {"max_iterations": 1},
    ),
    Case(
        "displacement", {"i1/challenger": raised(B, M), "i1/domain-expert": later(B)},
        pool, (["C1", "C3"], ["C2"]), {False: (["C1", "C2"], ["C3"])}, {"max_active": 2, "max_iterations": 1},
    ),
    Case(
        "advocate_bars", {"i1/devils-advocate": {"challenges": [
            challenge("locks", M), challenge("rows", S, confidence="LOW"), challenge("order", M, confidence="LOW"),
            challenge("retries", S)]}},
        lambda run: [one.challenge.claim.split("`")[1] for one in told(run, "challenge-raised")],
        ["retries"],
        {(): ["locks", "rows", "order", "retries"], ("LOW",): ["locks", "retries"], ("MINOR",): ["rows", "retries"]},
    ),
    Case(
        "disputes", REPEATED,
        lambda run: (sorted(run.state.challenges), run.state.disputing, [one.into for one in told(run, "restated")]),
        (["C1", "C2", "C3"], {"C3": "C1"}, []), {"merge": (["C1", "C2"], {}, ["C1"])}, {"max_iterations": 2},
    ),
    Case(
        "consensus_forbids", HELD, statuses, "OPEN OPEN DEFERRED RESOLVED",
        {
            (): "RESOLVED WITHDRAWN DEFERRED RESOLVED",
            ("withdrawal",): "RESOLVED OPEN DEFERRED RESOLVED",
            ("uncited-blocking",): "OPEN WITHDRAWN DEFERRED RESOLVED",
            ("uncited",): "OPEN WITHDRAWN OPEN RESOLVED",
            ("settlement",): "OPEN OPEN OPEN OPEN",
        },
        {"max_iterations": 1}, {"panel": PANEL},
    ),
    Case(
        "uncited_settlement", HELD, statuses, "RESOLVED WITHDRAWN DEFERRED RESOLVED",
        {"refuse": "OPEN WITHDRAWN OPEN RESOLVED"}, {"max_iterations": 1}, {"panel": None},
    ),
    Case(
        "revise_from", {"i1/challenger": raised(S, S)}, ending, (1, "REVISE", False),
        {2: (1, "REVISE", False), 3: (1, "PROCEED", False)},
    ),
    Case(
        "strong_from", {"i1/challenger": raised(S, S, S)}, ending, (1, "REVISE", True),
        {1: (1, "REVISE", True), 4: (1, "REVISE", False)},
    ),
    Case(
        "needs_alternatives", {"i1/challenger": raised(S, S, S, alternative=" ")}, ending,
        (3, "REVISE", True), {False: (1, "REVISE", True)},
    ),
    Case(
        "degradation", WORSE,
        lambda run: (admitted(run), len([one for one in told(run, "checkpoint") if one.kind == "degradation"])),
        ([1, 2, 1], 2), {"flag": ([1, 2, 3], 2), "off": ([1, 2, 3], 0)},
    ),
    Case("tight_challenger_cap", WORSE, admitted, [1, 2, 1], {0: [1, 2, 0], 2: [1, 2, 2]}),
    Case(
        "tight_research_cap", {"i1/challenger": raised(B), "i2/challenger": later(S, S), "i3/probe": RISKS}, admitted,
        [1, 2, 0], {1: [1, 2, 1]}, {"later_research": "always"},
    ),
    Case(
        "promote_blocking", {"i1/challenger": raised(B, B)}, pool, (["C1", "C2"], []), {False: (["C1"], ["C2"])},
        {"first_challenger_cap": 1},
    ),
    Case(
        "overflow_continues", OVERFLOWED, ending, (3, "RETHINK", False), {False: (1, "REVISE", False)},
        {"first_challenger_cap": 1},
    ),
    Case(
        "overflow_verdict", OVERFLOWED, ending, (1, "REVISE", False),
        {"PROCEED": (1, "PROCEED", False), "RETHINK": (1, "RETHINK", False)},
        {"first_challenger_cap": 1, "max_iterations": 1},
    ),
    Case(
        "later_research", CASCADE, calls_of("surface", "probe"), ["i1/surface", "i1/probe", "i2/probe"],
        {"always": ["i1/surface", "i1/probe", "i2/surface", "i2/probe"], "never": ["i1/surface", "i1/probe"]},
        {"max_iterations": 2},
    ),
    Case(
        "later_consults", CONSULTED, calls_of("domain-expert", "devils-advocate"),
        ["i1/domain-expert", "i1/devils-advocate", "i2/domain-expert"],
        {
            "always": ["i1/domain-expert", "i1/devils-advocate", "i2/domain-expert", "i2/devils-advocate"],
            "never": ["i1/domain-expert", "i1/devils-advocate"],
        },
        {"max_iterations": 2},
    ),
    Case(
        "exit_failures", {"i1/domain-expert": "error", "i1/probe": "error", "i1/challenger": raised(S)}, ending,
        (1, "failures", False), {1: (1, "failures", False), 3: (1, "REVISE", False)},
    ),
    Case(
        "synthesizer_failure", {"i1/challenger": raised(B), "i1/synthesizer": "error"}, ending,
        (1, "failures", False), {"carry": (3, "RETHINK", False)},
    ),
    Case(
        "unchallenged", {"i1/challenger": "error"}, ending, (1, "failures", False),
        {"as-counted": (1, "PROCEED", False)},
    ),
]  # fmt: skip
BY_FIELD = {case.field: case for case in CASES}


def played(case: Case, **rules: Any) -> PlanRun:
    settings = {"panel": None, **case.settings}
    return run_of(case.script, silent=True, rules={**case.base, **rules}, **settings)


@pytest.mark.parametrize("field", PlanRules.model_fields)
def test_each_field_turns_a_run_as_its_sentence_says(field):
    case = BY_FIELD[field]
    neutral = played(case)
    assert case.seen(neutral) == case.neutral
    assert any(expected != case.neutral for expected in case.others.values())
    for key, expected in case.others.items():
        live = played(case, **{field: key})
        assert case.seen(live) == expected, (field, key)
        again = replay_run(neutral, rules={**case.base, field: key})
        assert again.run.started.plan.settings.rules == live.started.plan.settings.rules
        if again.censored is None:  # the recorded replies are those that the live run got
            assert case.seen(again.run) == expected, (field, key)
        else:
            assert again.censored in set(live.state.requested) - set(neutral.state.requested)


def test_neutral_rules_change_no_event_of_a_long_run():
    whole = PlanRules().model_dump(mode="json")
    assert events(run_of(script())) == events(run_of(script(), rules=whole))
    assert events(run_of(script(), policy="deliberate")) == events(run_of(script(), rules="deliberate"))


def events(run: PlanRun) -> list[dict[str, Any]]:
    """The events of a run without how long each call took."""
    return [event.model_dump(exclude={"duration_ms"}) for event in run.events]


def test_refused_settlements_say_what_to_cite():
    case = BY_FIELD["uncited_settlement"]
    refused = told(played(case, uncited_settlement="refuse"), "status-refused")
    assert [event.reason for event in refused] == [
        "to be RESOLVED, its resolution must cite a place, a finding or an id",
        "to be DEFERRED, its resolution must cite a place, a finding or an id",
    ]


def test_rules_that_let_nobody_speak_again_refuse_the_directives():
    refused = told(played(BY_FIELD["later_research"], later_research="never"), "directive-refused")
    refused += told(played(BY_FIELD["later_consults"], later_consults="never"), "directive-refused")
    assert [event.reason for event in refused] == [
        "by the rules of this run, research runs in iteration 1 alone",
        "by the rules of this run, domain expert and devil's advocate speak in iteration 1 alone",
    ]


def test_a_person_settles_without_a_citation_under_any_rules():
    def accept(pause):
        return f"acknowledge:{pause.challenges[0].id}"

    ended = run_of({"i1/challenger": raised(B)}, silent=True, panel=None, rules="strict-settlement", on_blocked=accept)
    assert (statuses(ended), ended.verdict) == ("RESOLVED", "PROCEED")
