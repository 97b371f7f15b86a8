"""Calls and their turns as tables: what each used, live, failed or in flight, and what it cost (rules A12, E4)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pandas as pd
import pytest
from pydantic import ValidationError

import verifyplan as vp
from tests.frames.plan_events import assessed, log_bytes, records, started
from tests.runlog.conversing import TalkingBackend
from tests.runs.crossing import finding
from tests.runs.plan.planning import run_of, script
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.frames.load import load
from verifyplan.frames.run_tables import tables_of
from verifyplan.frames.runset import TABLE_NAMES, RunSet
from verifyplan.protocol.call import ToolUse, Usage
from verifyplan.protocol.event import Event
from verifyplan.protocol.event_plan import AgentFailed, IterationStarted
from verifyplan.protocol.event_run import CallFailed, CallReplied, CallRequested, TurnReplied, TurnSent

READ = ToolUse(tool="Read", argument="a.py", results=9)
REFUSED = ToolUse(tool="Grep", argument="x", refused="used up")
RESULT = {"type": "tool_result", "content": "..."}
USED = Usage(
    input_tokens=10, cache_read_tokens=200, cache_write_tokens=30, output_tokens=4, web_searches=1, cost=Decimal("0.25")
)
TOKENS = ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "web_searches"]


def asked(name: str) -> CallRequested:
    return CallRequested(call_id=name, worker=name.split("/")[1], request_sha256="ab")


def sent(name: str, model: str = "big", *tools: ToolUse) -> TurnSent:
    return TurnSent(call_id=name, model=model, request_sha256="cd", added=(RESULT,) * len(tools), tools=tools)


def came(name: str, usage: Usage = USED, **message: Any) -> TurnReplied:
    told = {"id": f"msg {name}", "stop_reason": "end_turn"} | message
    return TurnReplied(call_id=name, message=told, usage=usage, duration_ms=7, batch="batch-1")


def plan_run() -> list[Event]:
    """A call that replied, one that was not afforded, one that timed out in its first turn, one without turns that
    timed out, and one that is in flight."""
    look_up = Usage(input_tokens=5, output_tokens=1)  # its model has no price
    return [
        started(),
        assessed(),
        IterationStarted(iteration=1, tightened=False),
        *(asked(f"i1/{name}") for name in ("challenger", "resolver", "surface", "probe", "synthesizer")),
        sent("i1/challenger/t1"),
        sent("i1/surface/t1"),
        came("i1/challenger/t1", stop_reason="tool_use"),
        sent("i1/challenger/t1/w1", "small"),
        came("i1/challenger/t1/w1", look_up),
        sent("i1/challenger/t2", "big", READ, REFUSED),
        came("i1/challenger/t2"),
        CallReplied(
            call_id="i1/challenger", value={}, usage=USED + look_up + USED, duration_ms=30, source="live",
            tools=(READ, REFUSED),
        ),
        sent("i1/resolver/t1"),
        came("i1/resolver/t1"),
        CallFailed(call_id="i1/resolver", status="budget", reason="max_cost", duration_ms=9, usage=USED, tools=(READ,)),
        CallFailed(call_id="i1/surface", status="timeout", reason="no answer", duration_ms=600),
        CallFailed(call_id="i1/probe", status="timeout", reason="no answer", duration_ms=600),
        sent("i1/synthesizer/t1"),
        came("i1/synthesizer/t1"),
        sent("i1/synthesizer/t2", "big", REFUSED),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def tables() -> RunSet:
    return tables_of(records(plan_run()), "r")


def told(frame: pd.DataFrame, *columns: str) -> dict[str, Any]:
    """Some columns by turn or call id, missing values as None; one column alone without a list around each value."""
    key = "turn_id" if "turn_id" in frame else "call_id"
    shown = frame.set_index(key)[list(columns)].astype(object)
    rows = shown.where(shown.notna(), None).to_numpy().tolist()
    return dict(zip(shown.index, [row[0] if len(columns) == 1 else row for row in rows], strict=True))


def test_a_call_has_the_tokens_of_its_turns_whether_it_replied_failed_or_is_in_flight(tables):
    assert told(tables.calls, "status", *TOKENS) == {
        "i1/challenger": ["completed", 25, 9, 400, 60, 2],
        "i1/resolver": ["budget", 10, 4, 200, 30, 1],
        "i1/surface": ["timeout", 0, 0, 0, 0, 0],
        "i1/probe": ["timeout", None, None, None, None, None],  # nobody counted
        "i1/synthesizer": ["in-flight", 10, 4, 200, 30, 1],
    }


def test_a_call_without_a_price_for_all_of_its_tokens_has_no_cost(tables):
    assert told(tables.calls, "cost", "model", "n_turns") == {
        "i1/challenger": [None, "big, small", 3],
        "i1/resolver": [0.25, "big", 1],
        "i1/surface": [None, "big", 1],
        "i1/probe": [None, None, 0],
        "i1/synthesizer": [0.25, "big", 2],
    }


def test_tools_of_failed_calls_and_of_those_in_flight_are_told(tables):
    assert told(tables.calls, "n_tools") == {
        "i1/challenger": 2, "i1/resolver": 1, "i1/surface": 0, "i1/probe": None, "i1/synthesizer": 1
    }  # fmt: skip
    assert tables.tools[["call_id", "step", "tool", "refused"]].to_numpy().tolist() == [
        ["i1/challenger", 1, "Read", ""],
        ["i1/challenger", 2, "Grep", "used up"],
        ["i1/resolver", 1, "Read", ""],
        ["i1/synthesizer", 1, "Grep", "used up"],
    ]


def test_turns_stand_by_call_with_their_number_and_how_they_ended(tables):
    assert told(tables.turns, "call_id", "turn", "model", "status", "stop_reason", "n_added", "n_tools") == {
        "i1/challenger/t1": ["i1/challenger", 1, "big", "completed", "tool_use", 0, 0],
        "i1/challenger/t1/w1": ["i1/challenger", 1, "small", "completed", "end_turn", 0, 0],
        "i1/challenger/t2": ["i1/challenger", 2, "big", "completed", "end_turn", 2, 2],
        "i1/surface/t1": ["i1/surface", 1, "big", "failed", None, 0, 0],
        "i1/resolver/t1": ["i1/resolver", 1, "big", "completed", "end_turn", 0, 0],
        "i1/synthesizer/t1": ["i1/synthesizer", 1, "big", "completed", "end_turn", 0, 0],
        "i1/synthesizer/t2": ["i1/synthesizer", 2, "big", "in-flight", None, 1, 1],
    }
    one = tables.turns.set_index("turn_id").loc["i1/resolver/t1"]
    assert [one[name] for name in TOKENS] == [10, 4, 200, 30, 1]
    assert (one["cost"], one["duration_ms"], one["source"], one["batch"]) == (0.25, 7, "live", "batch-1")
    assert (one["request_sha256"], one["message_id"]) == ("cd", "msg i1/resolver/t1")
    assert one["replied_at"] - one["requested_at"] == pd.Timedelta(seconds=1)


def test_a_turn_without_reply_that_its_call_went_on_from_has_failed():
    look_up = [asked("i1/probe"), sent("i1/probe/t1"), came("i1/probe/t1"), sent("i1/probe/t1/w1"), sent("i1/probe/t2")]
    turns = tables_of(records([started(), *look_up]), "r").turns
    assert turns["status"].tolist() == ["completed", "failed", "in-flight"]


def test_odd_turns_of_a_log_are_told_as_far_as_they_go():
    odd = [
        came("i1/probe/t1", stop_reason={"why": [1]}, id=7),
        sent("nowhere"),
        sent(f"i1/probe/t{10**20}"),
        TurnReplied(call_id="i1/probe/t2", message={}, usage=Usage(), duration_ms=0),
    ]
    tables = tables_of(records([started(), *odd, *odd]), "r")
    assert told(tables.turns, "turn", "status", "model", "stop_reason", "message_id") == {
        f"i1/probe/t{10**20}": [None, "failed", "big", None, None],
        "i1/probe/t1": [1, "completed", None, None, None],
        "i1/probe/t2": [2, "completed", None, None, None],
        "nowhere": [None, "in-flight", "big", None, None],
    }
    assert len(tables.calls) == 0


@pytest.mark.parametrize("kind", ["plan", "cross"])
def test_turns_add_up_to_their_calls_in_a_run_of_agents_that_speak_in_turns(kind, tmp_path):
    given: dict[str, Any] = {"repetition": 2, "log_dir": tmp_path, "progress": False}
    if kind == "plan":
        run: Any = run_of({}, backend=TalkingBackend(script(), silent=True), **given)
    else:
        backend = TalkingBackend({}, silent=True)
        run = vp.crossverify([finding()], ["ann", "bob"], backend=backend, matcher=None, **given)
    tables = load(run.log_path)
    sums = tables.turns.groupby("call_id")[[*TOKENS, "cost"]].sum()
    calls = tables.calls.set_index("call_id")[[*TOKENS, "cost"]]
    pd.testing.assert_frame_equal(sums.loc[calls.index], calls, check_names=False)
    assert (tables.calls["n_turns"] == 2).all()
    assert tables.runs["repetition"].tolist() == [2]


def test_turns_are_saved_loaded_selected_and_written_as_csv(tables, tmp_path):
    loaded = load(tables.save(tmp_path / "saved"))
    for name in TABLE_NAMES:
        pd.testing.assert_frame_equal(getattr(loaded, name), getattr(tables, name))
    assert pd.read_csv(tables.save_csv(tmp_path / "csv") / "turns.csv")["turn_id"].tolist() == (
        tables.turns["turn_id"].tolist()
    )
    assert len(tables.select([]).turns) == 0
    assert "7 turns" in repr(tables)


def test_a_log_that_counts_more_tokens_than_a_table_holds_is_told_by_its_line(tmp_path):
    whole = log_bytes([*plan_run()[:-3], came("i1/synthesizer/t1", Usage(output_tokens=2**53 - 1))])
    (tmp_path / "huge.jsonl").write_bytes(whole)
    assert load(tmp_path).turns["output_tokens"].max() == 2**53 - 1
    with pytest.raises(ValidationError, match="less than"):
        Usage(output_tokens=2**53)


# What was wrong with an answer


def cross(answers: dict[str, Any], **more: Any) -> pd.DataFrame:
    """The calls of a cross run of four findings, with what was wrong with each, by call id."""
    rows = [{"finding_id": f"F-{n}", "summary": f"claim {n}", "evidence": "m.py:3", "worker": "ann"} for n in range(4)]
    given = {"matcher": None, "log_dir": None, "progress": False, "settings": {"maxRounds": 1}} | more
    backend = ScriptedBackend(answers, silent=True)
    return vp.crossverify(rows, ["ann", "bob"], backend=backend, **given).frames.calls


def test_a_worker_s_answer_outside_its_schema_is_told_with_its_call():
    calls = told(cross({"r1/bob": {"raw": {"votes": 3}}}), "status", "reason")
    assert calls["r1/bob"][0] == "completed"
    assert "answer outside its schema" in calls["r1/bob"][1]
    assert told(cross({}), "reason") == {"r1/bob": None}


def test_of_a_dispatch_of_several_calls_those_that_failed_are_told_and_no_others():
    answers = {"r1/bob/p1": {"raw": 3}, "r1/bob/p2": {"F-1": {"verdict": "agree"}}, "r1/bob/p3": "timeout"}
    calls = told(cross(answers, items_per_call=1), "status", "reason")
    assert {name: (status, bool(reason)) for name, (status, reason) in calls.items()} == {
        "r1/bob/p1": ("completed", True),
        "r1/bob/p2": ("completed", False),
        "r1/bob/p3": ("timeout", True),
        "r1/bob/p4": ("completed", False),
    }
    assert told(cross({"r1/bob/p1": {"raw": 3}, "r1/bob/p2": {"raw": 4}}, items_per_call=2), "reason").keys() == {
        "r1/bob/p1", "r1/bob/p2"
    }  # fmt: skip


def test_an_agent_s_fault_is_told_with_its_call(tables):
    fault = AgentFailed(
        iteration=1, call_id="i1/challenger", agent="challenger", reason="no schema", consequence="skipped"
    )
    calls = tables_of(records([*plan_run(), fault]), "r").calls
    assert told(calls, "reason")["i1/challenger"] == "no schema"
    assert told(tables.calls, "reason")["i1/challenger"] is None
