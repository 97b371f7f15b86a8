"""rule B8: calls that raise, time out or are interrupted, and rounds without any result."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.runs.crossing import AGREE, DISAGREE, Playing, agreeing, class_of, run_of, told
from verifyplan.protocol.call import Reply
from verifyplan.rules.classification import LEFT_OUT
from verifyplan.runs.cross.crossverify import crossverify


@pytest.mark.parametrize("reply", [None, {"votes": {}}, "agree"])
def test_a_backend_that_gives_no_reply_object_failed(reply):
    run = run_of({}, backend=Playing(lambda _: reply))
    assert {e.reason for e in told(run, "call-failed")} == {
        f"TypeError: the backend gave a {type(reply).__name__} where a Reply was due"
    }


def test_a_reply_is_a_copy_that_the_backend_cannot_change_afterwards():
    answer = {"votes": {"F-1": {"verdict": "agree"}}}
    run = run_of({}, backend=Playing(lambda _: Reply(value=answer)))
    answer["votes"]["F-1"]["verdict"] = "disagree"
    assert told(run, "call-replied")[0].value == {"votes": {"F-1": {"verdict": "agree"}}}


def raising(error: BaseException) -> Any:
    def play(_: Any) -> Any:
        raise error

    return play


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (TimeoutError(), "timeout", "no answer within 600.0 s"),
        (TimeoutError("upstream"), "timeout", "upstream"),
        (ValueError("bad key \udcff"), "error", r"ValueError: bad key \udcff"),
        (ExceptionGroup("two", [ValueError("a"), TypeError("b")]), "error", "ExceptionGroup: two (2 sub-exceptions)"),
        (asyncio.CancelledError(), "error", "CancelledError: the backend gave up its own work"),
    ],
)
def test_whatever_a_backend_raises_is_a_failed_dispatch(error, status, reason):
    run = run_of({}, backend=Playing(raising(error)))
    assert {(e.status, e.reason) for e in told(run, "call-failed")} == {(status, reason)}
    assert run.status == "aborted-non-result"


def test_a_long_error_text_is_cut():
    run = run_of({}, backend=Playing(raising(ValueError("x" * 10_000))))
    assert {len(e.reason) for e in told(run, "call-failed")} == {500}


def test_a_call_that_takes_longer_than_the_timeout_is_given_up():
    async def slow(request):
        if request.worker == "bob":
            await asyncio.sleep(30)
        return agreeing(request)

    run = run_of({}, backend=Playing(slow), timeout=0.05)
    [failed] = told(run, "call-failed")
    assert (failed.status, failed.reason) == ("timeout", "no answer within 0.05 s")
    assert 40 <= failed.duration_ms < 5000
    [round_one] = run.artifact.roundHistory
    assert [(d.worker, d.status) for d in round_one.dispatches] == [("bob", "timeout"), ("cy", "completed")]
    skipped = [(s.worker, s.reason) for s in round_one.skippedWorkers]
    assert skipped == [("ann", "no items to verify"), ("bob", "timeout")]
    assert class_of(run) == "full-consensus"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), GeneratorExit("x")])
@pytest.mark.parametrize("inside_a_loop", [False, True])
def test_an_interrupt_comes_out_as_it_is(error, inside_a_loop):
    def play() -> None:
        run_of({}, backend=Playing(raising(error)))

    async def notebook() -> None:
        with pytest.raises(type(error)):
            play()

    if inside_a_loop:
        asyncio.run(notebook())
    else:
        with pytest.raises(type(error)):
            play()


def test_a_round_without_any_result_classifies_nothing_and_ends_the_run():
    split = {"bob": {"F-1": AGREE}, "cy": {"F-1": DISAGREE}}
    run = run_of({1: split, 2: {"bob": "timeout", "cy": "error"}}, settings={"maxRounds": 3})
    assert (run.status, run.artifact.totalRounds, class_of(run)) == ("aborted-non-result", 2, "contested")
    last = run.artifact.roundHistory[-1]
    assert (last.resolvedCount, last.carriedForwardCount) == (0, 1)
    assert [(s.worker, s.reason) for s in last.skippedWorkers][1:] == [("bob", "timeout"), ("cy", "error")]


def test_nobody_ever_voted_is_worker_unique():
    run = run_of({1: {"bob": {}, "cy": {}}, 2: {"bob": {}, "cy": {}}})
    assert (run.status, class_of(run)) == ("max-rounds-reached", "worker-unique")
    assert told(run, "finding-classified")[0].rule == "no-votes"
    assert {(v.verdict, v.explanation) for v in told(run, "vote-cast")} == {("verification-error", LEFT_OUT)}
    [one] = run.artifact.findings
    assert (one.consensusWorkers, one.dissentingWorkers) == (("ann",), ())


def test_a_script_without_an_answer_fails_and_says_so():
    run = run_of({1: {"cy": {"F-1": AGREE}}})
    assert told(run, "call-failed")[0].reason == "AgentError: the script has no answer for r1/bob"


def test_a_worker_that_the_backend_cannot_play_is_refused_before_any_call():
    backend = Playing()
    with pytest.raises(ValueError, match=r"workers: zoe is ill\. Fix: rename the worker"):
        crossverify([], ["ann", "zoe"], backend=backend, log_dir=None)
    assert backend.requests == []
