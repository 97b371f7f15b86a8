"""Plan rules as a value: JSON, digest, presets, short forms, and what is wrong with them in words."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.errors import SettingsError
from verifyplan.protocol.plan_rules import AdvocateBar, Forbidden, PlanRules, stated_rules
from verifyplan.protocol.settings import PlanSettings


def values_of(name: str) -> st.SearchStrategy[Any]:
    """Values of one field: words from its schema, switches, small numbers."""
    schema = PlanRules.model_json_schema()["properties"][name]
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "array":
        return st.lists(st.sampled_from(get_args(AdvocateBar if name == "advocate_bars" else Forbidden)))
    return st.booleans() if schema["type"] == "boolean" else st.integers(schema["minimum"], 20)


any_rules = st.fixed_dictionaries({}, optional={name: values_of(name) for name in PlanRules.model_fields})


@given(any_rules)
def test_rules_are_the_same_by_json_and_settings(fields):
    rules = PlanRules(**fields)
    again = PlanRules.from_json(rules.to_json())
    assert (again, again.digest, PlanRules(**rules.changed)) == (rules, rules.digest, rules)
    settings = PlanSettings(rules=rules)
    assert PlanSettings.model_validate_json(settings.model_dump_json()).rules == rules
    assert {line.split(":")[0] for line in PlanRules().diff(rules).splitlines()} == set(rules.changed)


@given(any_rules, any_rules)
def test_digests_tell_rules_apart(left, right):
    one, other = PlanRules(**left), PlanRules(**right)
    assert (one.digest == other.digest) is (one == other)


def test_each_preset_but_the_first_changes_something_and_no_two_the_same():
    rules = [PlanRules.preset(name) for name in PlanRules.presets()]
    assert rules[0] == PlanRules()
    assert len({each.digest for each in rules}) == len(rules)


def test_what_is_forbidden_has_one_order_and_no_narrower_word():
    assert PlanRules(consensus_forbids=["uncited-blocking", "withdrawal"]) == PlanRules()
    assert PlanRules(consensus_forbids=["uncited", "uncited-blocking"]).consensus_forbids == ("uncited",)
    assert PlanRules(consensus_forbids=["settlement", "withdrawal"]).consensus_forbids == ("settlement",)
    assert PlanRules(advocate_bars=["LOW", "MINOR", "LOW"]) == PlanRules()


def test_short_forms_fill_what_the_rules_leave_neutral():
    assert stated_rules() == PlanRules()
    assert stated_rules({"revise_from": 2}, policy="deliberate") == PlanRules(revise_from=2, policy="deliberate")
    assert stated_rules("deliberate", policy="deliberate") == PlanRules.preset("deliberate")


def test_differing_statements_are_refused_all_at_once():
    with pytest.raises(SettingsError) as caught:
        stated_rules({"policy": "deliberate", "max_iterations": 2}, policy="protocol", max_iterations=3)
    assert [str(problem) for problem in caught.value.problems] == [
        "policy: is 'protocol', and the rules say 'deliberate'. Fix: state it once.",
        "max_iterations: is 3, and the rules say 2. Fix: state it once.",
    ]


def test_everything_that_is_wrong_is_said_at_once():
    with pytest.raises(SettingsError) as caught:
        PlanRules(policy="x", revise_from=0, displacement="yes", max_active=2.5, consensus_forbids="all", polcy="x")
    assert [f"{problem.place}: {problem.message}" for problem in caught.value.problems] == [
        "policy: must be 'protocol' or 'deliberate', got 'x'",
        "max_active: must be an integer, got 2.5",
        "displacement: must be true or false, got 'yes'",
        "consensus_forbids: must be a list, got 'all'",
        "revise_from: must be an integer of at least 1, got 0",
        "polcy: is not a field of these rules (did you mean 'policy'?)",
    ]
