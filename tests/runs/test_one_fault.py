"""rule B8, metamorphic: a call that fails, or one entry that cannot be read, never changes another item's votes."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.runs.crossing import AGREE, BURDEN, COUNTER, DISAGREE, SUPPLEMENT, finding, run_of, told

FOUND = ["F-1", "F-2", "F-3"]
VOTERS = ["bob", "cy", "dan"]
VOTES = st.sampled_from([AGREE, SUPPLEMENT, COUNTER, BURDEN, DISAGREE, DISAGREE | {"explanation": "m.py:4"}])
SCRIPTS = st.fixed_dictionaries({1: st.fixed_dictionaries({v: st.fixed_dictionaries(dict.fromkeys(FOUND, VOTES))
                                                          for v in VOTERS})})  # fmt: skip
BAD = st.sampled_from([{}, None, 7, [], "perhaps", {"verdict": "refutted"}, {"verdict": ["agree"]}])


def votes_of(script: dict[int, Any], *, adversarial: bool, items_per_call: int | None = None) -> dict[Any, Any]:
    run = run_of(script, [finding(name) for name in FOUND], "ann bob cy dan", items_per_call=items_per_call,
                 settings={"adversarial": adversarial, "maxRounds": 1})  # fmt: skip
    return {(v.worker, v.finding_id): (v.verdict, v.disagree_basis, v.basis_filled, v.explanation)
            for v in told(run, "vote-cast")}  # fmt: skip


@given(SCRIPTS, st.sampled_from(VOTERS), st.sampled_from(FOUND), BAD, st.booleans())
def test_one_bad_entry_never_changes_another_vote(script, worker, name, bad, adversarial):
    whole = votes_of(script, adversarial=adversarial)
    faulty = copy.deepcopy(script)
    faulty[1][worker][name] = bad
    got = votes_of(faulty, adversarial=adversarial)
    assert got.pop((worker, name))[0] == "verification-error"
    whole.pop((worker, name))
    assert got == whole


@given(SCRIPTS, st.sampled_from(VOTERS), st.sampled_from(["timeout", "error"]), st.booleans())
def test_one_call_that_fails_never_changes_a_vote_of_another_worker(script, worker, failure, adversarial):
    whole = votes_of(script, adversarial=adversarial)
    got = votes_of({1: script[1] | {worker: failure}}, adversarial=adversarial)
    assert {vote[0] for (who, _), vote in got.items() if who == worker} == {"verification-error"}
    assert {key: vote for key, vote in got.items() if key[0] != worker} == {
        key: vote for key, vote in whole.items() if key[0] != worker
    }


@given(SCRIPTS, st.sampled_from(VOTERS), st.integers(1, 3), st.booleans())
def test_one_of_several_calls_that_fails_costs_the_items_of_the_others_nothing(script, worker, part, adversarial):
    whole = votes_of(script, adversarial=adversarial, items_per_call=1)
    faulty = {1: script[1], f"r1/{worker}/p{part}": "error"}
    got = votes_of(faulty, adversarial=adversarial, items_per_call=1)
    lost = (worker, FOUND[part - 1])
    assert got.pop(lost)[0] == "verification-error"
    whole.pop(lost)
    assert got == whole
