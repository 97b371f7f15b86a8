"""`add_votes`: votes of supplementary runs beside the recorded ones, each where it belongs (rules R4, R5)."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import verifyplan as vp
from tests.runs.crossing import AGREE, BURDEN, COUNTER, finding, run_of
from verifyplan.errors import InputError

FOUND = [finding("F-1"), finding("F-2")]
SCRIPT = {
    1: {"bob": {"F-1": AGREE, "F-2": AGREE}, "cy": {"F-1": COUNTER, "F-2": AGREE}, "dan": "timeout"},
    2: {"bob": {"F-1": AGREE}, "cy": {"F-1": AGREE}, "dan": {"F-1": AGREE}},
}


def run(script: Any = None, found: Any = FOUND, **more: Any) -> Any:
    given = {"mode": "adversarial", "max_rounds": 1} | more
    return run_of(SCRIPT if script is None else script, found, "ann bob cy dan", **given)


def calls(*rows: tuple[str, int, str], run_id: str | None = None) -> list[dict[str, Any]]:
    named = {} if run_id is None else {"run_id": run_id}
    return [{"finding_id": name, "round": number, "worker": worker, **named} for name, number, worker in rows]


SECOND = calls(("F-1", 2, "bob"), ("F-1", 2, "cy"), ("F-1", 2, "dan"))


def test_a_round_that_was_never_held_is_added_and_replayed():
    recorded = run()
    more = run(max_rounds=2, only=SECOND)
    both = vp.add_votes(recorded, more)
    assert len(both.votes) == len(recorded.frames.votes) + 3
    assert both.runs["added_votes"].tolist() == [3]
    assert "note: 3 votes of supplementary runs were added to 1 run." in str(both)
    notes = vp.compare(both, rules=["majority", {"max_rounds": 2}], resamples=10).notes
    assert any(
        "3 votes of supplementary runs were added to 1 run. The findings that got them" in note for note in notes
    )
    rules = {"max_rounds": 2}
    before, after = (vp.replay(runs, rules=rules).set_index("finding_id") for runs in (recorded.frames, both))
    assert (before.loc["F-1", "censored"], after.loc["F-1", "censored"]) == (True, False)
    assert after.loc["F-1", "classification"] == "full-consensus"
    assert both.findings["n_rounds"].tolist() == [2, 1]
    assert both.findings["classification"].tolist() == recorded.frames.findings["classification"].tolist()
    whole = vp.replay(run(max_rounds=2).frames, rules=rules)
    assert after["classification"].tolist() == whole["classification"].tolist()


def test_the_tables_that_were_given_are_not_changed_and_the_result_is_saved_and_loaded(tmp_path):
    recorded = run().frames
    votes, runs = recorded.votes.copy(), recorded.runs.copy()
    both = vp.add_votes(recorded, run(max_rounds=2, only=SECOND))
    pd.testing.assert_frame_equal(recorded.votes, votes)
    pd.testing.assert_frame_equal(recorded.runs, runs)
    both.save(tmp_path)
    again = vp.load(tmp_path)
    assert (len(again.votes), again.runs["added_votes"].tolist()) == (len(both.votes), [3])


def test_a_vote_takes_the_place_of_a_lost_one_and_a_lost_one_of_none():
    again = {1: {"dan": {"F-1": BURDEN}, "bob": "timeout"}}
    both = vp.add_votes(run(), run(again, only=calls(("F-1", 1, "dan"), ("F-1", 1, "bob"))))
    cast = both.votes.set_index(["finding_id", "round", "worker"])["verdict"]
    assert (cast["F-1", 1, "dan"], cast["F-1", 1, "bob"], cast["F-2", 1, "dan"]) == (
        "disagree", "agree", "verification-error",
    )  # fmt: skip
    assert both.runs["added_votes"].tolist() == [1]
    assert both.findings["lost_votes"].tolist() == [0, 1]


def test_the_same_vote_is_not_added_again():
    recorded, more = run(), run(only=calls(("F-1", 1, "cy")))
    assert vp.add_votes(recorded, more).runs["added_votes"].tolist() == [0]
    twice = run(max_rounds=2, only=SECOND)
    once = vp.add_votes(recorded, twice)
    assert vp.add_votes(once, twice).runs["added_votes"].tolist() == [3]


def test_each_run_of_many_has_its_own_supplement(tmp_path):
    for number in (1, 2):
        run(repetition=number, log_dir=tmp_path / "first")
    recorded = vp.load(tmp_path / "first")
    named = {
        run_id: run(max_rounds=2, only=calls(("F-1", 2, "bob"), run_id=run_id), log_dir=tmp_path / "more")
        for run_id in recorded.runs["run_id"]
    }
    by_column = vp.add_votes(recorded, tmp_path / "more")
    by_name = vp.add_votes(recorded, named)
    for both in (by_column, by_name):
        assert both.runs["added_votes"].tolist() == [1, 1]
        assert both.votes["run_id"].tolist() == sorted(both.votes["run_id"])
    unsaved = {run_id: run(max_rounds=2, only=calls(("F-1", 2, "bob"))) for run_id in named}
    assert vp.add_votes(recorded, unsaved).runs["added_votes"].tolist() == [1, 1]
    with pytest.raises(InputError, match=r"names no run\. Fix: give a mapping"):
        vp.add_votes(recorded, unsaved[recorded.runs["run_id"].iloc[0]])
    with pytest.raises(InputError, match="supplements run 'gone', which is not here"):
        vp.add_votes(recorded, {"gone": run(only=calls(("F-1", 1, "cy")))})


def test_votes_that_belong_nowhere_are_refused_all_at_once():
    words = [finding("F-1", summary="another claim"), finding("F-2"), finding("F-3")]
    script = {1: {"cy": {"F-1": AGREE, "F-3": AGREE}, "bob": {"F-2": COUNTER}}}
    more = run(script, words, only=calls(("F-1", 1, "cy"), ("F-3", 1, "cy"), ("F-2", 1, "bob")))
    with pytest.raises(InputError) as caught:
        vp.add_votes(run(), more)
    assert [problem.message for problem in caught.value.problems] == [
        "'F-3' is not a finding of run 'run'",
        "'F-1' has another summary in run 'run'",
        "'cy' says agree on 'F-1' of run 'run' in round 1, where disagree is recorded",
        "'bob' says disagree on 'F-2' of run 'run' in round 1, where agree is recorded",
    ]


def test_another_mode_another_basis_and_the_finder_are_refused():
    with pytest.raises(InputError, match="was asked in collaborative mode, and run 'run' in adversarial"):
        vp.add_votes(run(), run(mode="collaborative", only=calls(("F-1", 1, "cy"))))
    doubt = {1: {"cy": {"F-1": BURDEN}}}
    with pytest.raises(InputError, match="'cy' says disagree on 'F-1'"):
        vp.add_votes(run(), run(doubt, only=calls(("F-1", 1, "cy"))))
    others = run(found=[finding("F-1", "bob")], script={1: {"ann": {"F-1": AGREE}}}, only=calls(("F-1", 1, "ann")))
    with pytest.raises(InputError, match="'ann' found 'F-1' in run 'run', and so does not vote on it"):
        vp.add_votes(run(), others)


def test_two_supplements_that_disagree_are_refused(tmp_path):
    for vote in (AGREE, COUNTER):
        run({2: {"bob": {"F-1": vote}}}, max_rounds=2, only=calls(("F-1", 2, "bob")), log_dir=tmp_path)
    first, second = sorted(tmp_path.rglob("*.jsonl"))
    both = vp.add_votes(run(), first)
    with pytest.raises(
        InputError, match="'bob' says disagree on 'F-1' of run 'run' in round 2, where agree is recorded"
    ):
        vp.add_votes(both, second)
    with pytest.raises(InputError, match="in round 2, where another run of `more` says something else"):
        vp.add_votes(run(), tmp_path)
