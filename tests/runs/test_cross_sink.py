"""The sink is told everything, in order, as it happens; and every event survives a trip through JSON."""

from __future__ import annotations

import asyncio
import shlex
from types import ModuleType
from typing import Any

import pytest

from tests.runs.crossing import AGREE, COUNTER, Playing, agreeing, finding, run_of
from verifyplan.protocol import event_cross, event_run
from verifyplan.protocol.call import Reply, WorkerRequest
from verifyplan.protocol.event import EVENT, Event
from verifyplan.runlog.reader import read_log
from verifyplan.runs.cross.crossverify import crossverify

OF_OTHERS = {
    "run-resumed",
    "run-reopened",
    "answer-given",
    "checkpoint",
    "attempt",
    "turn-sent",
    "turn-replied",
    "message-published",
}
"""Of pauses, of models and of debates: this cross run has none."""


def everything(sink: Any = None) -> Any:
    """A run in which every type of event happens."""
    script = {
        1: {
            "ann": {"P-1": AGREE},
            "bob": {"raw": {"votes": {"F-1": COUNTER | {"explanation": "ä\u2028\x00<b>"}, "F-7": AGREE, "P-1": AGREE}}},
            "cy": "timeout",
        },
        2: {"bob": {"F-1": AGREE}, "cy": {"raw": [None, 1e300, -0.0, 10**30, {"": []}]}},
    }
    found = [
        finding(truth=True, ticket_ids=["T-1"], category="bug"),
        *(finding("all", w) for w in ("ann", "bob", "cy")),
    ]
    items = [{"finding_id": "P-1", "summary": "step", "truth": False}]
    more: dict[str, Any] = {"settings": {"adversarial": True}, "task_type": "implementation-planning"}
    return run_of(script, found, plan_items=items, sink=sink, synthetic=True, **more)


def types_of(module: ModuleType) -> set[str]:
    events = [m for m in vars(module).values() if getattr(m, "model_fields", {}).keys() >= {"type"}]
    return {kind for m in events if isinstance(kind := m.model_fields["type"].default, str)}


def test_the_sink_is_told_exactly_the_events_of_the_run():
    seen: list[Event] = []
    run = everything(seen.append)
    assert tuple(seen) == run.events
    assert {event.type for event in seen} == (types_of(event_run) | types_of(event_cross)) - OF_OTHERS


def test_every_event_survives_a_trip_through_json():
    for event in everything().events:
        assert EVENT.validate_json(EVENT.dump_json(event)) == event
        assert EVENT.dump_json(EVENT.validate_json(event.model_dump_json())) == EVENT.dump_json(event)


def test_the_sink_is_told_as_it_happens():
    seen: list[str] = []
    known_at_call: dict[str, list[str]] = {}

    def play(request: WorkerRequest) -> Reply:
        known_at_call[request.call_id] = list(seen)
        return agreeing(request) if request.worker == "bob" else Reply(value={"votes": {}})

    votes = {"F-1": "ann", "F-2": "bob"}
    run_of({}, [finding(f, w) for f, w in votes.items()], backend=Playing(play), sink=lambda e: seen.append(e.type))
    assert known_at_call["r1/ann"].count("call-requested") == 3
    assert "call-replied" not in known_at_call["r1/ann"]
    assert known_at_call["r2/cy"].count("round-closed") == 1
    assert known_at_call["r2/cy"].count("call-replied") >= 3


@pytest.mark.parametrize("kind", ["run-started", "finding-queued", "call-requested", "call-replied", "call-failed",
                                  "vote-cast", "round-closed", "run-ended"])  # fmt: skip
def test_what_the_sink_raises_ends_the_run_as_it_is_and_the_sink_is_left_alone(kind, tmp_path):
    seen: list[str] = []

    def sink(event: Event) -> None:
        seen.append(event.type)
        if event.type == kind:
            raise OSError("disk full")

    script = {1: {"bob": "error", "cy": {"F-1": AGREE}}}
    with pytest.raises(OSError, match=r"^disk full\nThe run goes on by: verifyplan resume .*-001\.jsonl'$") as caught:
        run_of(script, sink=sink, log_dir=tmp_path / "my runs")
    assert seen.count(kind) == 1
    assert seen[-1] == kind
    [log] = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert shlex.split(caught.value.__notes__[0])[-1] == str(log), "the command can be pasted"
    assert [record.event.type for record in read_log(log).records] == seen


def test_a_reply_is_told_before_anything_acts_on_it():
    seen: list[Any] = []
    everything(seen.append)
    for position, event in enumerate(seen):
        if event.type in ("dispatch-closed",) and event.status:
            call_id = f"{'p' if event.part == 'plan-body' else 'r'}{event.round}/{event.worker}"
            ended = [e for e in seen[:position] if e.type in ("call-replied", "call-failed") and e.call_id == call_id]
            assert len(ended) == 1


def test_a_fast_reply_is_told_before_a_slow_one_has_come():
    """Every reply reaches the sink as it arrives, not when its round is over."""
    told: list[str] = []
    seen: list[bool] = []

    async def answer(request):
        if request.worker == "cy":
            while "r1/bob" not in told:
                await asyncio.sleep(0.005)
            seen.append(True)
        return Reply(value={"votes": {item.finding_id: {"verdict": "agree"} for item in request.items}})

    def sink(event):
        if event.type == "call-replied":
            told.append(event.call_id)

    row = {"finding_id": "F-1", "summary": "claim", "worker": "ann"}
    crossverify([row], ["ann", "bob", "cy"], backend=Playing(answer), timeout=20, sink=sink, log_dir=None)
    assert (seen, told) == ([True], ["r1/bob", "r1/cy"])
