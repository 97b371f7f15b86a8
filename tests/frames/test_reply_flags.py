"""Flags of calls whose reply is not their own, against a loop over all pairs of calls (rule G5)."""

from __future__ import annotations

import re
from itertools import product

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.longer import examples
from verifyplan.frames.columns import empty, typed
from verifyplan.frames.reply_flags import is_other_model, with_flags

FLAGS = ["id_repeated", "words_repeated", "run_repeated", "other_model"]
LONG = "the loop in store.py line 12 takes each row once and never looks back at it"
TEXTS = (
    LONG,
    f"{LONG} again",
    "yes",
    "no",
    "the cited line says so in these few words",
    "another eight words that say that it holds",
    "and eight words more on what nobody doubts",
    'it says "a b c d e f g h i j k l m n o p"',
    "行は一度だけ読まれ、その後は決して見返されないことが確認できます",
)
FINDINGS = ("F-1", "F-2", "F-3")

vote = st.tuples(st.sampled_from(FINDINGS), st.sampled_from(["agree", "disagree"]), st.sampled_from(TEXTS))
call = st.fixed_dictionaries(
    {
        "run": st.sampled_from(["a", "b"]),
        "worker": st.sampled_from(["ann", "bob", "cy"]),
        "round": st.sampled_from([1, 2]),
        "digest": st.sampled_from(["d1", None]),
        "votes": st.lists(vote, max_size=3, unique_by=lambda vote: vote[0]),
        "ids": st.lists(st.sampled_from(["m1", "m2", "m3", "m4", None]), min_size=1, max_size=2),
        "said": st.sampled_from(["x", "y"]),
        "model": st.sampled_from(["claude-x", "claude-x-20260101", "other", None]),
        "source": st.sampled_from(["live", "live", "live", "replay"]),
    }
)
calls_of_runs = st.lists(call, max_size=7, unique_by=lambda call: (call["run"], call["worker"], call["round"]))


def tables(calls):
    """Return the tables calls, turns, votes of what was drawn."""
    rows, turns, votes = [], [], []
    for each in calls:
        name = f"r{each['round']}/{each['worker']}"
        of = {"run_id": each["run"], "call_id": name}
        items = [finding for finding, _, _ in each["votes"]]
        rows.append(
            of
            | {"iteration": 0, "role": "worker", "worker": each["worker"], "status": "completed", "items": items}
            | {"n_turns": len(each["ids"]), "request_sha256": each["digest"]}
        )
        for number, message in enumerate(each["ids"], 1):
            reply = {"message_id": message, "reply_sha256": each["said"], "source": each["source"]}
            model = {"model": "claude-x", "model_replied": each["model"]}
            turns.append(of | {"turn_id": f"{name}/t{number}"} | reply | model)
        for finding, verdict, text in each["votes"]:
            key = {"run_id": each["run"], "finding_id": finding, "round": each["round"], "worker": each["worker"]}
            votes.append(key | {"iteration": 0, "verdict": verdict, "explanation": text, "is_origin": False})
    return typed("calls", pd.DataFrame(rows)), typed("turns", pd.DataFrame(turns)), typed("votes", pd.DataFrame(votes))


def n_words(text):
    bare = re.sub(r'"[^"]*"', " ", text)
    kana = re.findall("[\u3040-\u30ff\u3400-\u9fff]", bare)
    return len(re.sub("[\u3040-\u30ff\u3400-\u9fff]", " ", bare).split()) + len(kana) // 2


def is_copy(one, other):
    """Whether the votes of two calls are copies of each other."""
    shared = {(finding, text) for finding, _, text in one["votes"]} & {(f, text) for f, _, text in other["votes"]}
    if any(n_words(text) >= 12 for _, text in shared):
        return True
    same = set(one["votes"]) == set(other["votes"])
    return same and sum(n_words(text) for text in {text for _, _, text in one["votes"]}) >= 24


def naive(calls):
    """Return the flags of each call: the rule in a loop over pairs."""
    flags = []
    live = [each for each in calls if each["source"] == "live"]
    for each in calls:
        others = [other for other in live if other is not each]
        here = [other for other in others if other["run"] == each["run"]]
        there = [other for other in others if other["run"] != each["run"]]
        own = {message for message in each["ids"] if message}
        same_call = [o for o in there if all(o[n] == each[n] for n in ("worker", "round")) and each["digest"]]
        same_call = [other for other in same_call if other["digest"] == each["digest"]]
        ids = any(own & set(other["ids"]) for other in here)
        words = any(is_copy(each, other) for other in here if other["round"] == each["round"])
        by_id = any(own & set(other["ids"]) and other["said"] == each["said"] for other in there)
        by_words = any(is_copy(each, other) for other in same_call)
        row = {
            "id_repeated": ids if own else None,
            "words_repeated": words if each["votes"] else None,
            "run_repeated": True if by_id or by_words else False if same_call else None,
            "other_model": each["model"] == "other" if each["model"] else None,
        }
        flags.append(row if each["source"] == "live" else dict.fromkeys(FLAGS))
    return flags


@settings(max_examples=examples(160), deadline=None)
@given(calls_of_runs)
def test_flags_are_those_of_a_loop_over_all_pairs_of_calls(drawn):
    if not drawn:
        return
    flagged = with_flags(*tables(drawn))
    rows = flagged[FLAGS].to_dict("records")
    found = [{name: None if pd.isna(value) else bool(value) for name, value in row.items()} for row in rows]
    assert found == naive(drawn)


@pytest.mark.parametrize(
    ("asked", "replied", "other"),
    [
        ("claude-x", "claude-x", False),
        ("claude-x", "claude-x-20260101", False),
        ("claude-x-20260101", "claude-x", False),
        ("claude-x-latest", "claude-x-20260101", False),
        ("claude-x-20250101", "claude-x-20260101", True),
        ("anthropic/claude-x", "claude-x", False),
        ("claude-x", "us.anthropic.claude-x-20260101-v1:0", False),
        ("claude-x@20260101", "claude-x-20260101", False),
        ("gpt-x", "gpt-x-2026-01-01", False),
        ("claude-opus-x", "claude-haiku-x", True),
        ("claude-x", "claude-x-mini", True),
        ("claude-x", "/models/tiny.gguf", True),
        ("Claude-X", "claude-x", False),
    ],
)
def test_an_alias_and_its_dated_snapshot_are_one_model_and_two_dates_are_two(asked, replied, other):
    assert is_other_model(asked, replied) is other


def one_call(**changes):
    plain = {"run": "a", "worker": "ann", "round": 1, "digest": "d1", "votes": [("F-1", "agree", LONG)]}
    return plain | {"ids": ["m1"], "said": "x", "model": "claude-x", "source": "live"} | changes


def test_agents_that_are_no_models_have_no_flags():
    calls, _, votes = tables([one_call(), one_call(worker="bob")])
    flagged = with_flags(calls, empty("turns"), votes)
    assert flagged[FLAGS].isna().all(axis=None)


def test_lost_votes_which_all_have_the_reason_of_the_failure_are_no_copies():
    calls, turns, votes = tables([one_call(), one_call(worker="bob", ids=["m2"])])
    votes["verdict"] = votes["verdict"].mask([True, True], "verification-error")
    assert with_flags(calls, turns, votes)["words_repeated"].isna().all()


def test_copied_words_of_two_rounds_or_findings_are_none():
    for change in ({"round": 2}, {"votes": [("F-2", "agree", LONG)]}):
        flagged = with_flags(*tables([one_call(), one_call(worker="bob", ids=["m2"], **change)]))
        assert not flagged["words_repeated"].any(), change


def test_votes_of_a_panel_and_of_parts_of_a_round_are_found_by_their_calls():
    drawn = [one_call(), one_call(worker="bob", ids=["m2"])]
    for name in ("i2/panel/r1/{}", "r1/{}/p3", "p1/{}"):
        calls, turns, votes = tables(drawn)
        for table, (number, each) in product((calls, turns), enumerate(drawn)):
            table.loc[number, "call_id"] = name.format(each["worker"])
        iteration = 2 if name.startswith("i2") else 0
        calls["iteration"] = votes["iteration"] = iteration
        assert with_flags(calls, turns, votes)["words_repeated"].all(), name
