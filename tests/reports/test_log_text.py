"""A log is told line by line: every type of event has its words, and no text can break a line."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reports.plan_events import Say, failed, full
from verifyplan.protocol import event_cross, event_run
from verifyplan.protocol.call import ToolUse, Usage
from verifyplan.protocol.event import Event
from verifyplan.protocol.message import Message
from verifyplan.protocol.settings import Limits
from verifyplan.protocol.vote import Finding, PlanItem
from verifyplan.reports.log import event_text, log_text
from verifyplan.runlog.chain import Record

HOSTILE = "a\nRun ends by ruling: PROCEED\r\x1b[2J\u202e\u2028b\x00"


def cross(say: Say = str) -> list[Event]:
    """A cross run with every event that only such runs have, and a process that died."""
    inputs = event_run.CrossInputs(
        task_type="error-analysis", settings={"maxRounds": 1}, analysers=("a", "b"), matcher="place-and-text",
        root="/repo",
        findings=(Finding(finding_id="F1", summary="It leaks.", worker="a"),),
        plan_items=(PlanItem(finding_id="P-001", summary="Close it."),), timeout=60.0,
    )  # fmt: skip
    where: dict[str, Any] = {"part": "findings", "finding_id": "F1"}
    return [
        event_run.RunStarted(task_key=say("leaks"), inputs=inputs, versions={}, backend={}, synthetic=False),
        event_run.RunResumed(dropped_bytes=7, repeated=("r1/b",), versions={}),
        event_run.RunReopened(
            retried=(say("r1/b"),), superseded_from=9, limits=Limits(max_cost=Decimal(2)), timeout=60, versions={}
        ),
        event_cross.FindingGrouped(
            **where, summary=say("It leaks."), evidence=say("a.py:3"), category=say("bug"), discoverers=(say("a"),),
            merged_ids=("F2",), wordings=2,
        ),
        event_cross.FindingQueued(**where),
        event_run.CallRequested(call_id="r1/b", worker=say("b"), items=("F1",), request_sha256="ef" * 32),
        *turns(say),
        event_run.CallReplied(call_id="r1/b", value={}, usage=Usage(), duration_ms=3, source="replay"),
        event_cross.DispatchClosed(part="findings", round=1, worker=say("b"), status="completed", duration_ms=3),
        event_cross.DispatchClosed(part="findings", round=1, worker="c", status=None, skipped=say("no items")),
        event_cross.VoteRefused(**where, round=1, worker=say("b"), reason=say("it was not asked")),
        event_cross.VoteCast(
            **where, round=1, worker=say("b"), verdict="disagree", disagree_basis="counter-evidence",
            explanation=say("a.py:3"),
        ),
        event_cross.FindingClassified(**where, classification="contested", rule="hard-refute", round=1, final=True),
        event_cross.RoundClosed(
            part="findings", round=1, input_queue_size=1, resolved_count=0, carried_forward_count=1
        ),
        event_run.RunEnded(
            outcome=event_run.CrossOutcome(
                final_state="converged", total_rounds=1, round2_skipped_reason="max-rounds-1", gate_passed=False,
                gating=True,
            )
        ),
    ]  # fmt: skip


def turns(say: Say = str) -> list[Event]:
    """A call of two turns, of which one reads what is in a cache; it fails as the money is spent."""
    added = ({"type": "tool_result", "content": say("a.py")}, {"type": "text", "text": say("Give JSON.")})
    refused = ToolUse(tool="Grep", argument=say("x"), refused=say("used up"))
    first = Usage(input_tokens=4, cache_write_tokens=1000, output_tokens=20, cost=Decimal("0.00004"))
    second = Usage(input_tokens=4, cache_read_tokens=1000, cache_write_tokens=200, output_tokens=88)
    return [
        event_run.TurnSent(call_id=say("r1/c/t1"), model=say("big"), request_sha256="ab"),
        event_run.Attempt(
            call_id=say("r1/c/t1"), number=1, status=429, error=say("rate_limit_error"), started="", duration_ms=210,
            asked_wait_s=3600, retry_in_s=3600, sent_bytes=9, received_bytes=9,
        ),
        event_run.TurnReplied(
            call_id=say("r1/c/t1"), message={"stop_reason": say("tool_use")}, usage=first, duration_ms=1204
        ),
        event_run.TurnSent(call_id="r1/c/t2", model=say("big"), request_sha256="cd", added=added, tools=(refused,)),
        event_run.TurnReplied(
            call_id="r1/c/t2", message={}, usage=second, duration_ms=4, source="replay", batch=say("b-1")
        ),
        event_run.CallFailed(
            call_id="r1/c", status="budget", reason=say("max_cost: enough"), duration_ms=2000, usage=first + second,
            tools=(refused,),
        ),
    ]  # fmt: skip


def debate(say: Say = str) -> list[Event]:
    """A debate of one message, after which an agent fails."""
    inputs = event_run.DebateInputs(
        task=say("greet"), documents={}, max_turns=3, timeout=None, repository={"root": "/repo"}
    )  # fmt: skip
    message = Message(role="builder", type="implement", content=say("Written.") or "-", turn=1, risks=(say("none"),))
    return [
        event_run.RunStarted(task_key=say("greet"), inputs=inputs, versions={}, backend={}, synthetic=False),
        event_cross.MessagePublished(message=message, diff=say("+hello")),
        event_run.RunEnded(
            outcome=event_run.DebateOutcome(
                status=None, reason="AGENT_FAILED", turns=1, diff=say("+hello"), exit_reason=say("t1/verify: timeout")
            )
        ),
    ]  # fmt: skip


def everything(say: Say = str) -> list[Event]:
    """Events of every type that there is."""
    return [*full(say).events, *failed(say).events, *debate(say), *cross(say)]


def records(events: list[Event]) -> list[Record]:
    return [
        Record(n, f"2026-01-02T03:{n // 60:02d}:{n % 60:02d}.310Z", event) for n, event in enumerate(events, start=1)
    ]


def lines(events: list[Event]) -> list[str]:
    return list(log_text(records(events)))


def test_the_events_here_are_of_every_type_that_there_is():
    assert {type(event) for event in everything()} == set(get_args(Event))


def test_every_event_has_its_own_line_and_words():
    told_ = lines(everything())
    assert len(told_) == len(everything())
    assert all(line[19:].strip() for line in told_)
    words = {type(event).__name__: event_text(event) for event in everything()}
    assert len(set(words.values())) == len(words), "two types of event are told by the same words"
    assert not [name for name, line in words.items() if "None" in line or "=" in line], (
        "a field is shown as Python has it"
    )


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("challenge-raised", "C1 raised by challenger (BLOCKING, HIGH, cites no place): The plan assumes C1."),
        ("challenge-admitted", "C1 admitted"),
        ("challenge-overflowed", "C4 put in overflow as DEFERRED_PROBED: 3 of 3 are taken in this iteration"),
        ("status-changed", "C3 OPEN to DEFERRED by synthesizer, cites nothing: not now"),
        ("convergence-evaluated", "The counts give BLOCKED: 1 BLOCKING and 2 SIGNIFICANT open; the synthesizer said "
                                  "CONVERGED PROCEED"),
        ("call-replied", "i1/challenger: replied after 1.20 s, 9,000 in + 1,000 out tokens, 2 look-ups (1 refused)"),
        ("call-failed", "i1/synthesizer: timeout after 0.01 s: no answer"),
        ("turn-sent", "r1/c/t1: big is sent the request"),
        (
            "attempt",
            "r1/c/t1: attempt 1: 429 rate_limit_error after 0.21 s; the endpoint asks to wait 60 min (the run can be "
            "stopped and resumed); sent again in 60 min",
        ),
        ("turn-replied", "r1/c/t1: replied after 1.20 s, 1,004 in (1,000 put in a cache) + 20 out tokens, under "
                         "$0.0001, tool_use"),
        ("answer-given", "A person answers i1/pause-1: context: We checked it."),
        ("vote-cast", "panel-1 on C1: agree: panel-1 opened src/store.py:3."),
        ("finding-grouped", "F1 (findings) found by a, merged with F2: It leaks."),
        ("message-published", "Turn 1: builder implements (diff of 1 line): Written.; 1 risk"),
        ("run-resumed", "Run taken up by another process; 7 bytes of a torn line were dropped; asked again: r1/b"),
        ("run-reopened", "Run reopened; asked again: r1/b; what line 9 began is decided anew; from here on max_cost 2, "
                         "timeout 60.0"),
        ("run-ended", "Run ends by ruling, CONVERGED: REVISE (strong)"),
    ],
)  # fmt: skip
def test_what_an_event_says(kind, words):
    assert event_text(next(event for event in everything() if event.type == kind)) == words


def test_what_turns_and_calls_with_them_say():
    *_, sent, replied, failed = turns()
    assert event_text(sent) == "r1/c/t2: big is sent 1 result of tools (1 refused) and these words: Give JSON."
    assert event_text(replied) == (
        "r1/c/t2: replied after 0.00 s, 1,204 in (1,000 cached, 200 put in a cache) + 88 out tokens, from replay, in "
        "batch b-1, broken off"
    )
    used = "2,208 in (1,000 cached, 1,200 put in a cache) + 108 out tokens, 1 look-up (1 refused)"
    assert event_text(failed) == f"r1/c: out of budget after 2.00 s, {used}: max_cost: enough"


@pytest.mark.parametrize(
    ("turn", "words"),
    [
        ("r1/c/t1", "the request and 2 excerpts of cited places (1 refused)"),
        ("i1/resolver/t3/w1", "the request and 2 excerpts of cited places (1 refused)"),
        ("r1/c/t10", "nothing more"),
    ],
)
def test_a_turn_is_sent_the_request_first_with_what_was_opened_for_it(turn, words):
    uses = (ToolUse(tool="Read", argument="a.py"), ToolUse(tool="Read", argument="/x", refused="outside"))
    event = event_run.TurnSent(call_id=turn, model="m", request_sha256="", tools=uses)
    assert event_text(event).startswith(f"{turn}: m is sent {words}")


def test_turns_stand_one_step_within_their_call():
    asked = event_run.CallRequested(call_id="r1/c", worker="c", request_sha256="")
    indents = [len(line[19:]) - len(line[19:].lstrip()) for line in lines([asked, *turns()])]
    assert indents == [0, 2, 2, 2, 2, 2, 0]


def test_a_run_says_which_repetition_it_is():
    first = cross()[0]
    assert "repetition" not in event_text(first)
    assert event_text(first.model_copy(update={"repetition": 3})).endswith(", backend unnamed, repetition 3")


def test_a_line_has_number_time_since_the_start_and_indentation_by_iteration():
    events = full().events
    told_ = lines(events)
    first = next(n for n, event in enumerate(events) if event.type == "iteration-started")
    vote = next(n for n, event in enumerate(events) if event.type == "vote-cast")
    assert told_[0].startswith("   1      +0.00 s  Plan run of cache begins: cache.md, 3 lines; policy protocol, ")
    assert told_[first] == f"{first + 1:>4}      +{first}.00 s  Iteration 1 begins"
    assert told_[first + 1].startswith(f"{first + 2:>4}      +{first + 1}.00 s    i1/challenger: challenger is asked")
    assert told_[vote][19:].startswith("    panel-1 on C1")
    assert told_[-1][19:].startswith("Run ends")


def test_times_that_cannot_be_read_are_shown_as_they_are():
    event = full().events[0]
    told_ = list(
        log_text([Record(1, "2026-01-02T03:04:05Z", event), Record(2, "soon\n", event), Record(3, "2026-01-02", event)])
    )
    assert [line[5:17].strip() for line in told_] == ["+0.00 s", "soon", "2026-01-02"]
    assert list(log_text([])) == []


@given(st.text() | st.just(HOSTILE))
def test_no_text_breaks_a_line_or_hides_in_it(text):
    events = everything(lambda _: text)
    told_ = lines(events)
    assert len("\n".join(told_).splitlines()) == len(events)
    assert all(line.replace("\u200c", "").replace("\u200d", "").isprintable() for line in told_)


def test_a_huge_text_is_cut():
    assert max(map(len, lines(everything(lambda _: "x" * 1_000_000)))) < 1_000
