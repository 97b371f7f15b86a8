"""rules B8, H2: a run whose every call failed, or whose votes looked at nothing, says so before anything else."""

from __future__ import annotations

import pytest

import verifyplan as vp
from tests.runs.crossing import AGREE, Playing, finding, run_of
from verifyplan.cli.exit_codes import exit_code_of
from verifyplan.protocol.call import Reply
from verifyplan.protocol.vote import NOTHING_LOOKED_AT


def refusing(_request):
    raise ConnectionError("nobody listens on port 9")


@pytest.mark.parametrize("adversarial", [True, False])
def test_a_run_whose_every_call_failed_says_so_first_with_reason_and_next_step(adversarial):
    run = run_of({}, backend=Playing(refusing), settings={"adversarial": adversarial})
    first, second, *_ = str(run).split("\n")
    assert first == "no vote: every call failed (2 of 2), bob first: ConnectionError: nobody listens on port 9"
    assert second.startswith("next step: repair what the reason names, then run again")
    assert exit_code_of(run) == 3
    assert "every call failed" in run._repr_html_()


@pytest.mark.parametrize(
    "votes", [{}, {"F-1": {}, "F-9": "agree"}], ids=["nothing answered", "another finding answered"]
)
def test_a_run_whose_answers_hold_no_vote_says_so_first(votes):
    run = run_of({}, backend=Playing(lambda _request: Reply(value={"votes": votes})))
    first, second, *_ = str(run).split("\n")
    assert first.startswith("no vote: no answer held one that can be read (")
    assert second.startswith("next step: repair what the reason names, then run again")
    assert exit_code_of(run) == 3


def test_a_plan_body_whose_every_call_failed_ends_with_3_too():
    run = run_of({}, [], backend=Playing(refusing), task_type="implementation-planning",
                 plan_items=[{"finding_id": "P-001", "summary": "one"}])  # fmt: skip
    assert str(run).startswith("no vote: every call failed (3 of 3), ann first: ConnectionError")
    assert exit_code_of(run) == 3


def test_timeouts_are_given_the_next_step_of_timeouts():
    run = run_of({1: {"bob": "timeout", "cy": "timeout"}})
    assert "next step: give the calls a longer timeout" in str(run)


def test_one_call_that_answered_is_enough_to_say_nothing():
    run = run_of({1: {"bob": "timeout", "cy": {"F-1": AGREE}}})
    assert run.failure is None
    assert not str(run).startswith("no vote")
    assert run_of({}, []).failure is None


UNREADABLE = "This code smells, and somebody should look into it."


@pytest.mark.parametrize(
    ("adversarial", "verdict", "basis", "classification", "words"),
    [
        (True, "disagree", "burden-not-met", "worker-unique", "so the burden of proof is not met"),
        (False, "agree", None, "full-consensus", "so nothing speaks against the claim"),
    ],
)
def test_static_workers_that_looked_at_nothing_say_so_and_so_does_the_run(
    tmp_path, adversarial, verdict, basis, classification, words
):
    (tmp_path / "m.py").write_text("def f(x=1):\n    return g(x)\n")
    found = [finding("F-1", "ann", evidence="m.py:1") | {"summary": UNREADABLE}]
    workers = {"ann": "syntax-tree", "bob": "search", "cy": "window"}
    run = vp.crossverify(
        found, workers, repo=tmp_path, log_dir=None, settings={"adversarial": adversarial}, progress=False
    )
    votes = run.frames.votes
    assert set(votes["verdict"]) == {verdict}
    assert set(votes["disagree_basis"].dropna()) == ({basis} if basis else set())
    assert all(text.startswith(f"{NOTHING_LOOKED_AT}, {words}: ") for text in votes["explanation"])
    assert run.artifact.findings[0].classification == classification
    assert str(run).startswith("nothing looked at in 2 of 2 votes: the workers could not read the claims")
    notes = vp.compare(run.frames, resamples=10).notes
    assert "Most votes were cast without looking at any evidence: 2 of 2 votes say 'nothing looked at'." in notes


def test_a_run_that_looked_at_most_says_nothing_of_it(tmp_path):
    (tmp_path / "m.py").write_text("def f(x=1):\n    return g(x)\n")
    claim = "The function `f` calls `g`."
    found = [finding(f"F-{n}", "ann", evidence="m.py:1") | {"summary": text} for n, text in
             enumerate([claim, claim, UNREADABLE], start=1)]  # fmt: skip
    workers = {"ann": "syntax-tree", "bob": "search", "cy": "window"}
    run = vp.crossverify(found, workers, repo=tmp_path, log_dir=None, progress=False,
                         settings={"verificationMode": "full-reanalysis"})  # fmt: skip
    assert run.blindness is None
    assert not any("without a look" in note for note in vp.compare(run.frames, resamples=10).notes)
    assert sum(text.startswith(NOTHING_LOOKED_AT) for text in run.frames.votes["explanation"]) == 2


@pytest.mark.parametrize(
    ("evidence", "verification_mode"),
    [("", "full-reanalysis"), ("gone.py:3", "full-reanalysis"), ("m.py:1", "lightweight"), ("", "lightweight")],
    ids=["no place", "no such file", "nothing quoted", "nothing at all"],
)
def test_whatever_hides_the_evidence_nothing_was_looked_at(tmp_path, evidence, verification_mode):
    (tmp_path / "m.py").write_text("def f(x=1):\n    return g(x)\n")
    found = [finding("F-1", "ann", evidence=evidence) | {"summary": "The function `f` calls `g`."}]
    run = vp.crossverify(found, {"ann": "window", "bob": "search"}, repo=tmp_path, log_dir=None, progress=False,
                         settings={"verificationMode": verification_mode})  # fmt: skip
    assert all(text.startswith(NOTHING_LOOKED_AT) for text in run.frames.votes["explanation"])


def test_a_lone_worker_is_told_that_nobody_voted():
    run = run_of({}, [finding("F-1", "ann")], "ann")
    assert "fewer than two workers: nobody voted" in str(run)
    assert "fewer than two workers" not in str(run_of({1: {"bob": {"F-1": AGREE}, "cy": {"F-1": AGREE}}}))


def test_an_unknown_task_type_is_noted_where_it_made_the_run_collaborative():
    votes = {1: {"bob": {"F-1": AGREE}, "cy": {"F-1": AGREE}}}
    told = "task type 'eror' is none of the known ones, so collaborative (did you mean 'error-analysis'?)"
    assert told in str(run_of(votes, task_type="eror"))
    own = str(run_of(votes, task_type="mine"))
    assert own.endswith("task type 'mine' is none of the known ones, so collaborative")
    for plain in ({"task_type": "implementation"}, {}, {"task_type": "eror", "settings": {"adversarial": True}}):
        assert "none of the known ones" not in str(run_of(votes, **plain))


def test_a_finding_whose_votes_all_looked_at_nothing_is_named_among_others_that_were_looked_at():
    blind = AGREE | {"explanation": "nothing looked at, so nothing speaks against the claim: no place"}
    seen = AGREE | {"explanation": "m.py:3 has no check"}
    votes = {worker: {"F-1": blind, "F-2": seen, "F-3": seen} for worker in ("bob", "cy")}
    run = run_of({1: votes}, [finding(name) for name in ("F-1", "F-2", "F-3")])
    assert run.blindness is None
    assert "The class of 1 finding rests only on votes that looked at nothing: F-1." in str(run)
