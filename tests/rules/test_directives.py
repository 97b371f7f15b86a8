"""rule A7, document 000 section 7.5: which directives are carried out, trigger by trigger."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.protocol.records import (
    SEVERITIES,
    STATUSES,
    UNKNOWN_RESOLUTIONS,
    Challenge,
    Directive,
    DirectiveKind,
    Trigger,
    Unknown,
)
from verifyplan.protocol.role_call import ROLES
from verifyplan.rules.directives import TRIGGERS_OF, Circumstances, refusal


def challenge(name: str, severity: str = "BLOCKING", status: str = "OPEN", iteration: int = 1) -> Challenge:
    return Challenge(
        id=name, origin="challenger", claim="", concern="", failure_scenario="", alternative="", severity=severity,
        confidence="MED", status=status, iteration_introduced=iteration,
    )  # fmt: skip


def unknown(name: str, resolution: str | None) -> Unknown:
    return Unknown(
        id=name, description="", type="API_BEHAVIOR", affects_challenge=None, suggested_query="", resolution=resolution
    )


def now(*challenges: Challenge, **more: Any) -> Circumstances:
    """Iteration 2 of 3, in which nothing has moved but what is said."""
    given_challenges = challenges or (challenge("C1"), challenge("C2", status="UNRESOLVED"))
    return Circumstances(
        **{
            "iteration": 2,
            "max_iterations": 3,
            "challenges": {one.id: one for one in given_challenges},
            "unsettled_before": [one.id for one in given_challenges],
            "settled": frozenset(),
        }
        | more
    )


def told(kind: str, circumstances: Circumstances | None = None, **fields: Any) -> str:
    return refusal(Directive(kind=kind, **fields), circumstances or now())


SWEEP = {"kind": "RE-SWEEP", "trigger": "blocking-contradicts-context"}
NEW = challenge("C3", iteration=2)


@pytest.mark.parametrize(
    ("items", "challenges", "surfaced", "reason"),
    [
        (("C3", "S1"), (NEW,), {"S1"}, ""),
        (("S1", "C3", "C99"), (NEW,), {"S1"}, ""),
        (("C3",), (NEW,), {"S1"}, "it names no context that was surfaced in an earlier iteration"),
        (("C3", "S2"), (NEW,), {"S1"}, "it names no context that was surfaced in an earlier iteration"),
        (("C1", "S1"), (challenge("C1"),), {"S1"}, "it names no BLOCKING challenge that is new in this iteration"),
        (("C3", "S1"), (challenge("C3", "SIGNIFICANT", iteration=2),), {"S1"}, "it names no BLOCKING"),
        ((), (NEW,), {"S1"}, "it names no BLOCKING challenge that is new in this iteration"),
    ],
)  # fmt: skip
def test_a_new_blocking_challenge_against_an_old_context_allows_a_sweep(items, challenges, surfaced, reason):
    circumstances = now(*challenges, surfaced_before=frozenset(surfaced))
    assert told(**SWEEP, items=items, circumstances=circumstances).startswith(reason)
    assert bool(told(**SWEEP, items=items, circumstances=circumstances)) is bool(reason)


@pytest.mark.parametrize(("spoke", "reason"), [(True, ""), (False, "no person gave context in this iteration")])
def test_a_changed_scope_allows_a_sweep(spoke, reason):
    assert told("RE-SWEEP", now(user_spoke=spoke), trigger="user-changed-scope") == reason


@pytest.mark.parametrize(
    ("resolution", "worth"), [*((one, one != "UNRESOLVABLE") for one in UNKNOWN_RESOLUTIONS), (None, False)]
)
def test_an_unknown_that_was_answered_now_allows_a_probe(resolution, worth):
    circumstances = now(answered={"U1": unknown("U1", resolution)})
    reason = told("RE-PROBE", circumstances, trigger="new-dependency-chain", items=("U1",))
    assert reason == ("" if worth else "it names no unknown that was answered in this iteration")
    assert told("RE-PROBE", circumstances, trigger="new-dependency-chain", items=("U2",))


@pytest.mark.parametrize(
    ("items", "probed", "reason"),
    [
        (("C2",), (), ""),
        (("C1", "C2"), (), ""),
        (("C1",), (), "it names no UNRESOLVED challenge"),
        ((), (), "it names no UNRESOLVED challenge"),
        (("C2",), ("C2",), "the cascade of C2 was probed: a risk raised it"),
        (("C2",), ("C1",), ""),
    ],
)
def test_an_unresolved_challenge_whose_cascade_was_not_probed_allows_a_probe(items, probed, reason):
    circumstances = now(probed=frozenset(probed))
    assert told("RE-PROBE", circumstances, trigger="unexplored-cascade", items=items) == reason


@pytest.mark.parametrize("kind", TRIGGERS_OF)
@pytest.mark.parametrize("trigger", [*get_args(Trigger), None])
def test_a_sweep_and_a_probe_have_two_triggers_each(kind, trigger):
    wrong = f"{kind} needs the trigger {' or '.join(TRIGGERS_OF[kind])}, not {trigger}"
    assert (told(kind, trigger=trigger) == wrong) is (trigger not in TRIGGERS_OF[kind])


CASCADE = {"kind": "RE-PROBE", "trigger": "unexplored-cascade", "items": ("C2",)}


def test_the_should_nots_of_document_000_are_refusals():
    assert told(**CASCADE) == ""
    minor = (challenge("C1", "MINOR"), challenge("C2", "MINOR", "UNRESOLVED"), challenge("C3", status="RESOLVED"))
    assert told(**CASCADE, circumstances=now(*minor)) == "only MINOR items remain"
    assert told(**CASCADE, circumstances=now(settled=frozenset({"C1"}))) == ""
    everything = now(settled=frozenset({"C1", "C2"}))
    assert told(**CASCADE, circumstances=everything) == "every open challenge was settled in this iteration"
    last = now(max_iterations=2)
    assert told(**CASCADE, circumstances=last) == "no iteration follows: this is number 2 of 2"


@pytest.mark.parametrize("role", [*ROLES, "cook", None])
def test_a_consultation_names_the_expert_or_the_advocate(role):
    assert (told("CONSULT", role=role) == "") is (role in ("domain-expert", "devils-advocate"))


@pytest.mark.parametrize(
    ("role", "tools", "worth"),
    [("probe", {"Grep": 1}, True), ("cook", {"Grep": 1}, False), (None, {"Grep": 1}, False), ("probe", {}, False),
     ("probe", {"Grep": 0}, False), ("probe", {"Grep": 2, "Read": -1}, False)],
)  # fmt: skip
def test_a_grant_names_a_role_and_calls_from_1(role, tools, worth):
    assert (told("GRANT", role=role, tools=tools) == "") is worth


def test_a_focus_says_something():
    assert told("FOCUS", note="the locks") == ""
    assert told("FOCUS", note=" ") == "FOCUS says nothing"


names = st.sampled_from(["C1", "C2", "C3", "S1", "U1", "C99"])
directives = st.builds(
    Directive,
    kind=st.sampled_from(get_args(DirectiveKind)),
    trigger=st.sampled_from([*get_args(Trigger), None]),
    items=st.lists(names, max_size=3).map(tuple),
    role=st.sampled_from([*ROLES, None]),
    tools=st.dictionaries(st.sampled_from(["Read", "Grep"]), st.integers(-1, 2)),
    note=st.sampled_from(["", "x"]),
)
pools = st.lists(st.tuples(st.sampled_from(SEVERITIES), st.sampled_from(STATUSES), st.integers(1, 4)), max_size=3).map(
    lambda given: [challenge(f"C{n}", *one) for n, one in enumerate(given, start=1)]
)


@given(directives, pools, st.integers(1, 4), st.integers(1, 4), st.frozensets(names), st.booleans())
def test_a_refusal_is_words_and_none_outlives_the_last_iteration(directive, pool, iteration, last, some, spoke):
    circumstances = Circumstances(
        iteration, last, {one.id: one for one in pool}, [one.id for one in pool], some, some, {}, some, spoke
    )
    reason = refusal(directive, circumstances)
    assert isinstance(reason, str)
    if iteration >= last:
        assert reason == f"no iteration follows: this is number {iteration} of {last}"
    if not reason and directive.kind in TRIGGERS_OF:
        assert directive.trigger in TRIGGERS_OF[directive.kind]
        assert any(one.severity != "MINOR" and one.status in ("OPEN", "UNRESOLVED") for one in pool)
        assert any(one.id not in some for one in pool)
