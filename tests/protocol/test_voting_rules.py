"""Voting rules as a value: JSON, digests, presets, differences in words, and every error with what is allowed."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import verifyplan as vp
from verifyplan.errors import InputError, SettingsError
from verifyplan.protocol.rules_value import DIGEST_CHARACTERS, read_rules
from verifyplan.protocol.voting_rules import MarginStop, SequentialStop

SHARE = st.fractions(min_value=0, max_value=Fraction(49, 50), max_denominator=50)
NAMES = st.sampled_from(["ann", "bob", "cyd", "dé"])
FIELDS = {
    "mode": st.sampled_from([None, "adversarial", "collaborative"]),
    "max_rounds": st.none() | st.integers(1, 9),
    "majority": SHARE,
    "refutes": st.sampled_from(["round", "sticky"]),
    "lost_votes": st.sampled_from(["leave-out", "last-vote", "as-disagree", "as-agree"]),
    "quorum": st.integers(0, 5) | st.fractions(min_value=Fraction(1, 20), max_value=1, max_denominator=20),
    "missing_basis": st.sampled_from(["infer", "counter-evidence", "burden-not-met", "raise"]),
    "uncited": st.sampled_from(["keep", "as-burden"]),
    "caveats": st.sampled_from(["partial", "as-agree"]),
    "workers": st.none() | st.lists(NAMES, min_size=1, unique=True),
    "weights": st.none() | st.dictionaries(NAMES, st.fractions(min_value=0, max_value=9, max_denominator=20)),
    "pruning": st.sampled_from(["queue", "none"]),
    "aggregate": st.sampled_from(["rules", "majority", "unanimous", "any-refute", "first-round", "dawid-skene"]),
    "order": st.none() | st.lists(st.sampled_from("abcd"), min_size=1, unique=True).map(tuple),
    "stop": st.just("round")
    | st.builds(MarginStop, margin=st.integers(1, 5))
    | st.builds(SequentialStop, accuracy=st.sampled_from([Fraction(3, 5), Fraction(9, 10)])),
}
RULES = st.fixed_dictionaries({}, optional=FIELDS).map(lambda fields: vp.VotingRules(**fields))


def test_every_field_is_tried():
    assert set(FIELDS) == set(vp.VotingRules.model_fields)


@given(RULES)
def test_rules_come_back_from_json(rules):
    again = vp.VotingRules.from_json(rules.to_json())
    assert again == rules
    assert again.digest == rules.digest
    assert hash(again) == hash(rules)
    assert rules.diff(again) == ""
    assert vp.VotingRules(**json.loads(json.dumps(rules.changed))) == rules


@given(RULES, RULES)
def test_digests_tell_rules_apart_and_a_diff_names_what_differs(first, second):
    assert (first.digest == second.digest) == (first == second)
    assert len(first.digest) == DIGEST_CHARACTERS
    named = {line.split(":")[0] for line in first.diff(second).splitlines()}
    values = [rules.model_dump(mode="json") for rules in (first, second)]  # a quorum of 1 vote is not one of 1/1
    assert named == {name for name in FIELDS if values[0][name] != values[1][name]}


def test_what_says_the_same_is_the_same():
    assert vp.VotingRules(weights={"ann": 1}) == vp.VotingRules(weights={}) == vp.VotingRules()
    assert vp.VotingRules(workers=["b", "a"]).digest == vp.VotingRules(workers=("a", "b")).digest
    assert vp.VotingRules(majority=0.5) == vp.VotingRules(majority="1/2") == vp.VotingRules()
    assert vp.VotingRules(majority=1 / 3).majority == Fraction(1, 3)
    assert vp.VotingRules(quorum="2") == vp.VotingRules(quorum=2)
    assert vp.VotingRules(quorum=1.0) != vp.VotingRules(quorum=1), "all votes, and one vote"
    assert vp.VotingRules(stop={}).stop == SequentialStop(), "every field of the test has a default"
    assert vp.VotingRules(stop={"margin": 2}).stop == MarginStop(margin=2)
    assert vp.VotingRules(stop={"accuracy": 0.9}).stop == SequentialStop(accuracy=Fraction(9, 10))


def test_presets_are_rules_and_one_of_them_is_neutral():
    rules = [vp.VotingRules.preset(name) for name in vp.VotingRules.presets()]
    assert len({each.digest for each in rules}) == len(rules)
    assert vp.VotingRules.preset("as-recorded") == vp.VotingRules()
    assert vp.VotingRules.preset("sticky-refutes").changed == {"mode": "adversarial", "refutes": "sticky"}
    with pytest.raises(
        SettingsError, match=r"preset: 'stiky-refutes' is not a preset \(did you mean 'sticky-refutes'\?\)"
    ):
        vp.VotingRules.preset("stiky-refutes")


def test_differences_and_rules_read_well():
    first = vp.VotingRules(stop={"accuracy": "9/10"}, workers=["bob", "ann"])
    second = vp.VotingRules(stop={"margin": 2}, weights={"ann": "1/3"}, max_rounds=2)
    assert first.diff(second).splitlines() == [
        "max_rounds: as recorded -> 2",
        "workers: ann, bob -> all workers",
        "weights: equal weights -> ann 1/3",
        "stop: accuracy 9/10, false_accept 1/20, false_reject 1/20 -> margin 2",
    ]
    assert str(second) == f"VotingRules(max_rounds=2, weights=ann 1/3, stop=margin 2) [{second.digest}]"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"mode": "x"}, "mode: must be 'collaborative' or 'adversarial', got 'x'"),
        ({"max_rounds": 0}, "max_rounds: must be an integer of at least 1, got 0"),
        ({"max_rounds": 10**30}, "max_rounds: must be an integer of at most 1000000, got 1000"),
        ({"max_rounds": 1.5}, "max_rounds: must be an integer, got 1.5"),
        ({"majority": 1}, "majority: must be below 1, got 1"),
        ({"majority": "half"}, "majority: must be a number, or a text such as '2/3', got 'half'"),
        ({"majority": True}, "majority: must be a number, or a text such as '2/3', got True"),
        ({"majority": "1/100001"}, "majority: must have a denominator of at most 10,000; write it as a text such as"),
        ({"refutes": "no"}, "refutes: must be 'round' or 'sticky', got 'no'"),
        ({"quorum": "x"}, "quorum: must be a number of votes, or a share such as '2/3', got 'x'"),
        ({"quorum": True}, "quorum: must be a number of votes, or a share such as '2/3', got True"),
        ({"quorum": -1}, "quorum: must be a number of votes from 0, or a share above 0 and at most 1, got -1"),
        ({"quorum": 1.5}, "quorum: must be a number of votes from 0, or a share above 0 and at most 1, got 1.5"),
        ({"stop": "x"}, "stop: must be 'round', {'margin': 2} or {'accuracy': 0.8}, got 'x'"),
        ({"stop": {"x": 1}}, "stop: must be 'round', {'margin': 2} or {'accuracy': 0.8}, got {'x': 1}"),
        ({"stop": {"margin": 0}}, "stop.margin: must be an integer of at least 1, got 0"),
        ({"stop": {"margin": 2, "foo": 1}}, "stop.foo: is not a field of stop. Fix: leave it out"),
        ({"stop": {"accuracy": 0.4}}, "stop.accuracy: must be above 1/2, got 0.4"),
        ({"stop": {"accuracy": 0.9, "false_accept": 0.5}}, "stop.false_accept: must be below 1/2, got 0.5"),
        ({"workers": []}, "workers: must name at least one worker, each once; None counts all, got []"),
        ({"workers": ["a", "a"]}, "workers: must name at least one worker, each once; None counts all, got ['a', 'a']"),
        ({"workers": "ann"}, "workers: must be a list, got 'ann'"),
        ({"workers": [1]}, "workers.0: must be a text, got 1"),
        ({"weights": {"a": -1}}, "weights: must be at least 0 each, got {'a': -1}"),
        (
            {"weights": {"a": 2**40}},
            "weights: must be at most 68,719,476,736 each, in proportion as whole numbers; round",
        ),
        (
            {"weights": {"a": "1/9973", "b": "1/9967", "c": "1/9949"}},
            "weights: must be at most 68,719,476,736 each, in proportion as whole numbers; round",
        ),
        ({"weights": {"a": "x"}}, "weights.a: must be a number, or a text such as '2/3', got 'x'"),
        ({"weights": [1]}, "weights: must be a mapping, got [1]"),
        ({"weights": {"": 2}}, "weights: must not be empty, got ''"),
        ({"weights": {" ": 2}}, "weights. : must not be blank, got ' '"),
        ({"aggregate": "mean"}, "aggregate: must be 'rules', 'majority', 'unanimous', 'any-refute', 'first-round' or"),
        (
            {"majorty": 1},
            "majorty: is not a field of these rules (did you mean 'majority'?). Fix: use 'mode', 'max_rounds'",
        ),
    ],
    ids=str,
)
def test_one_plain_problem_says_what_a_field_may_be(fields, message):
    with pytest.raises(SettingsError) as raised:
        vp.VotingRules(**fields)
    assert len(raised.value.problems) == 1
    assert str(raised.value.problems[0]).startswith(message)


def test_numbers_of_arrays_are_numbers():
    given = {"max_rounds": 2, "quorum": 3, "weights": {"a": 2}, "stop": {"margin": 1}}
    arrays = {
        "max_rounds": np.int64(2), "quorum": np.int32(3), "weights": {"a": np.int64(2)}, "stop": {"margin": np.int8(1)},
    }  # fmt: skip
    assert vp.VotingRules(**arrays).to_json() == vp.VotingRules(**given).to_json()
    assert vp.PlanRules(max_active=np.int64(4)) == vp.PlanRules(max_active=4)


def test_all_problems_come_at_once():
    with pytest.raises(SettingsError) as raised:
        vp.VotingRules(mode="x", quorum="y", stop=3, workers=[])
    assert [problem.place for problem in raised.value.problems] == ["mode", "quorum", "workers", "stop"]


def test_rules_are_read_from_files_presets_and_mappings(tmp_path):
    rules = vp.VotingRules(refutes="sticky", quorum="2/3")
    path = rules.save(tmp_path / "rules.json")
    for source in (path, str(path), rules, {"refutes": "sticky", "quorum": "2/3"}):
        assert read_rules(vp.VotingRules, source) == rules
    assert vp.VotingRules.load(path) == rules
    assert read_rules(vp.VotingRules, "unanimous") == vp.VotingRules.preset("unanimous")
    with pytest.raises(
        SettingsError, match=r"rules: 'unanimos' is neither rules nor the name of a preset \(did you mean"
    ):
        read_rules(vp.VotingRules, "unanimos")
    with pytest.raises(
        SettingsError, match=r"rules: 3 is neither rules nor the name of a preset\. Fix: give a VotingRules"
    ):
        read_rules(vp.VotingRules, 3)


def test_a_file_that_holds_no_rules_is_named(tmp_path: Path):
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"quorum": -1, "foo": 2}')
    with pytest.raises(SettingsError) as raised:
        vp.VotingRules.load(wrong)
    assert [problem.place for problem in raised.value.problems] == [f"{wrong}: quorum", f"{wrong}: foo"]
    wrong.write_text("[1]")
    with pytest.raises(SettingsError, match=r"wrong.json: holds \[1\], not an object"):
        vp.VotingRules.load(wrong)
    with pytest.raises(InputError, match=r"none\.json"):
        vp.VotingRules.load(tmp_path / "none.json")
    with pytest.raises(InputError, match="cannot be written"):
        vp.VotingRules().save(tmp_path)
    with pytest.raises(SettingsError, match="rules: is not JSON"):
        vp.VotingRules.from_json("{")
