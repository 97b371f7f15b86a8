"""rule B2: who is joined with whom, looked at before a vote, edited, and recorded; findings of nobody."""

from __future__ import annotations

import pandas as pd
import pytest

import verifyplan as vp
from tests.runs.crossing import AGREE, COUNTER, Playing, class_of, finding, run_of, told
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.errors import InputError, SettingsError
from verifyplan.runs.replay import replay_run

ROSTER = ["ann", "bob", "cy"]


def claim(finding_id: str, worker: str, summary: str) -> dict[str, str]:
    return {"finding_id": finding_id, "summary": summary, "evidence": "m.py:3", "worker": worker}


LIKE = [
    claim("F-1", "ann", "`f` lacks a check"),
    claim("F-2", "bob", "A check `f` lacks"),
    claim("F-3", "cy", "`g` lacks a check"),
]
OPPOSED = [
    claim("F-1", "ann", "The lock is released on error"),
    claim("F-2", "bob", "The lock is retained on error"),
    claim("F-3", "cy", "The lock is released on error"),
]


def pairs(table: pd.DataFrame) -> dict[str, str]:
    return dict(zip(table["finding_id"], table["merged_into"], strict=True))


@pytest.mark.parametrize("matcher", ["claim", "likeness"])
def test_claims_that_say_the_opposite_are_voted_on_and_never_joined(matcher):
    assert pairs(vp.group_findings(OPPOSED, ROSTER, matcher=matcher)) == {"F-1": "F-1", "F-2": "F-2", "F-3": "F-1"}
    backend = Playing()
    run = run_of({}, OPPOSED, backend=backend, matcher=matcher)
    assert {r.worker: [item.finding_id for item in r.items] for r in backend.requests} == {
        "ann": ["F-2"], "bob": ["F-1"], "cy": ["F-2"]
    }  # fmt: skip
    assert pairs(run.merges) == {"F-1": "F-1", "F-2": "F-2", "F-3": "F-1"}


def test_the_table_shows_each_finding_with_the_claim_that_it_is_merged_into():
    table = vp.group_findings(LIKE, ROSTER, matcher="likeness")
    assert table.to_dict("records")[1] == {
        "finding_id": "F-2",
        "worker": "bob",
        "merged_into": "F-1",
        "likeness": pytest.approx(100, abs=20),
        "summary": "A check `f` lacks",
        "merged_summary": "`f` lacks a check",
    }
    assert pairs(vp.group_findings(LIKE, ROSTER)) == {"F-1": "F-1", "F-2": "F-2", "F-3": "F-3"}
    assert vp.group_findings([], ROSTER).empty


def test_an_edited_table_is_followed_recorded_and_replayed():
    table = vp.group_findings(LIKE, ROSTER, matcher="likeness")
    table["merged_into"] = ["F-1", "F-2", "F-1"]  # what was joined is put apart, and another pair joined
    run = run_of({1: {"ann": {"F-2": AGREE}, "bob": {"F-1": AGREE}, "cy": {"F-2": AGREE}}}, LIKE, merges=table)
    assert {group.finding_id: group.merged_ids for group in told(run, "finding-grouped")} == {
        "F-1": ("F-3",),
        "F-2": (),
    }
    assert pairs(run.merges) == {"F-1": "F-1", "F-2": "F-2", "F-3": "F-1"}
    assert "joined, though the words differ (see .merges): 1 finding" in str(run)
    assert replay_run(run).same


ALIKE = [claim("F-1", "ann", "`f` lacks a check"), claim("F-2", "bob", "`f` lacks a check")]
APART = {"ann": {"F-2": AGREE}, "bob": {"F-1": AGREE}, "cy": {"F-1": AGREE, "F-2": AGREE}}


@pytest.mark.parametrize("rows", [[("F-1", "F-1"), ("F-2", "F-2")], [("F-2", "F-2")], []])
def test_a_table_that_leaves_each_finding_alone_is_followed_in_place_of_the_matcher(rows, tmp_path):
    table = pd.DataFrame(rows, columns=["finding_id", "merged_into"])
    assert pairs(vp.group_findings(ALIKE, ROSTER)) == {"F-1": "F-1", "F-2": "F-1"}
    run = run_of({1: APART}, ALIKE, matcher="claim", merges=table, log_dir=tmp_path)
    assert [found.findingId for found in run.artifact.findings] == ["F-1", "F-2"]
    assert pairs(run.merges) == {"F-1": "F-1", "F-2": "F-2"}
    assert replay_run(run).same
    broken_off = tmp_path / "broken-off.jsonl"
    broken_off.write_bytes(b"".join(run.log_path.read_bytes().splitlines(keepends=True)[:1]))
    resumed = vp.resume(broken_off, backend=ScriptedBackend({1: APART}))
    assert [found.findingId for found in resumed.artifact.findings] == ["F-1", "F-2"]


def test_a_run_says_how_many_findings_it_joined_for_the_same_words():
    words = "joined with a finding of the same words and place (see .merges): 1 finding"
    assert words in str(run_of({1: APART}, ALIKE, matcher="claim"))
    assert "joined" not in str(run_of({1: APART}, ALIKE, matcher=None))


def test_a_table_in_a_file_is_read_too(tmp_path):
    path = tmp_path / "merges.csv"
    vp.group_findings(LIKE, ROSTER, matcher="likeness").to_csv(path, index=False)
    assert pairs(run_of({}, LIKE, backend=Playing(), merges=path).merges)["F-2"] == "F-1"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("F-9", "F-1")], r"merges\[0\]: 'F-9' is not a finding of this run"),
        ([("F-1", "F-9")], r"merges\[0\]: 'F-9' is not a finding of this run"),
        ([("F-1", "F-2"), ("F-1", "F-3")], r"merges\[1\]: 'F-1' is merged into two findings"),
        ([("F-1", "F-2"), ("F-2", "F-3")], "'F-1' is merged into 'F-2', which is itself merged into 'F-3'"),
        ([("F-4", "F-1")], "'F-4' and 'F-1' were both found by 'ann'"),
        ([("F-2", "F-1"), ("F-5", "F-1")], "'F-5' and 'F-1' were both found by 'bob'"),
    ],
)
def test_a_table_that_cannot_be_followed_is_refused_before_any_call(rows, message):
    found = [*LIKE, claim("F-4", "ann", "another"), claim("F-5", "bob", "one more")]
    table = pd.DataFrame(rows, columns=["finding_id", "merged_into"])
    with pytest.raises(InputError, match=message):
        run_of({}, found, merges=table)


def test_a_matcher_that_there_is_not_is_refused():
    with pytest.raises(SettingsError, match=r"matcher: 'likenes' is unknown .did you mean 'likeness'"):
        run_of({}, matcher="likenes")


def test_one_id_for_two_claims_is_refused_whatever_the_matcher():
    two = [claim("F-1", "ann", "The lock is held"), claim("F-1", "bob", "The lock is free")]
    for matcher in (None, "claim", "likeness"):
        message = "'F-1' claims 'The lock is free' here and 'The lock is held' in an earlier row"
        with pytest.raises(InputError, match=message):
            run_of({}, two, matcher=matcher)
    same = [two[0], two[0] | {"worker": "bob", "summary": " the lock  is HELD"}]
    assert run_of({1: {"cy": {"F-1": AGREE}}}, same).artifact.findings[0].classification == "full-consensus"


def test_findings_without_a_worker_are_voted_on_by_everybody_and_found_by_nobody():
    rows = [{"finding_id": name, "summary": f"claim {name}"} for name in ("F-1", "F-2")]
    votes = {worker: {"F-1": AGREE, "F-2": AGREE} for worker in ROSTER}
    votes["cy"]["F-2"] = COUNTER
    run = run_of({1: votes, 2: votes}, rows, settings={"adversarial": True})
    assert (class_of(run), class_of(run, "F-2")) == ("full-consensus", "contested")
    found = run.artifact.findings[0]
    assert (found.originWorker, found.consensusWorkers) == (None, ("ann", "bob", "cy"))
    assert run.frames.findings["discoverers"].tolist() == [[], []]
    assert not run.frames.votes["is_origin"].any()
    assert replay_run(run).same


def test_a_worker_that_is_missing_in_one_row_alone_is_a_mistake():
    with pytest.raises(InputError, match=r"findings\[1\].worker: is missing. Fix: name who found it"):
        run_of({}, [finding(), {"finding_id": "F-2", "summary": "x"}])


def test_findings_without_a_worker_are_joined_where_they_claim_the_same_and_the_table_can_be_given_back():
    rows = [
        {"finding_id": "F-1", "summary": "claim a"},
        {"finding_id": "F-2", "summary": "the lock is held"},
        {"finding_id": "F-3", "summary": "the lock  is held"},
    ]
    table = vp.group_findings(rows, ROSTER)
    assert dict(zip(table["finding_id"], table["merged_into"], strict=True)) == {
        "F-1": "F-1",
        "F-2": "F-2",
        "F-3": "F-2",
    }
    votes = {worker: {"F-1": AGREE, "F-2": AGREE} for worker in ROSTER}
    run = run_of({1: votes}, rows, matcher="claim")
    assert [found.findingId for found in run.artifact.findings] == ["F-1", "F-2"]
    pd.testing.assert_frame_equal(run.merges, table)
    assert replay_run(run).same
    again = run_of({1: votes}, rows, merges=table)
    assert [found.findingId for found in again.artifact.findings] == ["F-1", "F-2"]


def test_likeness_is_empty_for_a_claim_beside_itself():
    table = vp.group_findings(LIKE, ROSTER, matcher="likeness")
    likeness, own = table["likeness"], table["finding_id"] == table["merged_into"]
    assert own.any()
    assert not own.all()
    assert likeness[own].isna().all()
    assert (likeness[~own] > 80).all()
