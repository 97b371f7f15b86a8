"""One line of a log: what goes in comes out, and nothing of it can be changed unseen (rule E1)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.runs.debate_scripts import STAGNATES, debate_of
from tests.runs.plan import planning
from tests.runs.plan.breaking import small_cross
from verifyplan.protocol.call import ToolUse, Usage
from verifyplan.protocol.event import EVENT, Event
from verifyplan.protocol.event_plan import CeilingPassed
from verifyplan.protocol.event_run import Attempt, CallFailed, RunReopened, RunResumed, TurnReplied, TurnSent
from verifyplan.runlog import chain
from verifyplan.runlog.chain import START, Record, decode, encode
from verifyplan.runlog.reader import parse_log

AT = "2026-01-02T03:04:05.678Z"
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=10,
)
USED = Usage(input_tokens=7, cache_read_tokens=2**50, output_tokens=1, web_searches=1, cost=Decimal("0.000012300"))
LOOK = ToolUse(tool="Grep", argument="lock", results=3)
SENT = TurnSent(
    call_id="i1/challenger/t2", model="m", request_sha256="0", added=({"type": "text", "text": "again"},), tools=(LOOK,)
)
REPLIED = TurnReplied(
    call_id="i1/challenger/t2", message={"id": "msg", "content": [{"n": 1.5}]}, usage=USED, duration_ms=3, batch="b"
)
ATTEMPT = Attempt(
    call_id="i1/challenger/t2", number=1, started="2026-01-01T00:00:00Z", duration_ms=3, sent_bytes=9, received_bytes=9
)
FAILED = CallFailed(
    call_id="i1/challenger", status="budget", reason="max_cost", duration_ms=4, usage=USED, tools=(LOOK,)
)


@pytest.fixture(scope="module")
def pool(tmp_path_factory) -> list[Event]:
    """At least one event of every type."""
    plan = planning.run_of(planning.script(), on_blocked=lambda pause: f"acknowledge:{pause.challenges[0].id}")
    cross = small_cross(tmp_path_factory.mktemp("cross"))
    resumed = RunResumed(dropped_bytes=3, repeated=("i1/challenger",), versions={"verifyplan": "1"})
    reopened = RunReopened(retried=("i1/challenger",), superseded_from=3, versions={"verifyplan": "1"})
    debate = debate_of(STAGNATES, tokens=3, documents={"PLAN.md": "# Greet"})
    passed = CeilingPassed(iteration=1, call_id="i1/probe", role="probe", tool="Grep", used=9, ceiling=4)
    events = [*plan.events, *cross.events, *debate.events, resumed, reopened, passed]
    events += [SENT, REPLIED, ATTEMPT, FAILED]
    started = [event for event in events if event.type == "run-started"]
    return started + list({event.type: event for event in events}.values())


def test_the_pool_has_every_type_of_event(pool):
    assert {type(event) for event in pool} == set(get_args(Event))


def places(values: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where texts stand in JSON values."""
    if isinstance(values, str):
        return [path]
    items = values.items() if isinstance(values, dict) else enumerate(values) if isinstance(values, list) else ()
    return [place for key, value in items for place in places(value, (*path, key))]


def changed(event: Event, text: str, which: int, value: Any) -> Event:
    """The event with another text in one place, and another value where any is allowed; itself if that is no event."""
    values = event.model_dump(mode="json")
    found = places(values)
    *path, last = found[which % len(found)]
    inner = values
    for key in path:
        inner = inner[key]
    inner[last] = text
    if "value" in values:
        values["value"] = value
    if isinstance(event, TurnReplied):
        values["message"] = {"content": value}
    try:
        return EVENT.validate_python(values, strict=False)
    except ValueError:
        return event


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_any_events_that_are_written_are_read_as_they_were(pool, data):
    drawn = st.builds(changed, st.sampled_from(pool), TEXTS, st.integers(0, 99), JSON)
    events = [pool[data.draw(st.integers(0, 1))], *data.draw(st.lists(drawn, max_size=8))]
    digest, lines = START, b""
    for number, event in enumerate(events, start=1):
        line, digest = encode(Record(number, AT, event), digest)
        lines += line
    log = parse_log(lines, "log")
    assert [record.event for record in log.records] == events
    assert [(record.seq, record.at) for record in log.records] == [(n, AT) for n in range(1, len(events) + 1)]
    assert (log.digest, log.whole_bytes, log.torn_bytes, log.ends_in_line_feed) == (digest, len(lines), 0, True)


def test_a_line_is_json_that_can_be_read_and_compared(pool):
    line, digest = encode(Record(7, AT, pool[0]), START)
    assert line.startswith(b'{"seq":7,"at":"2026-01-02T03:04:05.678Z","type":"run-started",')
    assert line.endswith(f'"digest":"{digest}"}}\n'.encode())
    assert line.count(b"\n") == 1


def test_line_ends_within_a_text_do_not_end_the_line():
    event = RunResumed(dropped_bytes=0, repeated=("a\nb\r\u2028\x85\x00",), versions={})
    line, _ = encode(Record(1, AT, event), START)
    assert line.index(b"\n") == len(line) - 1
    told = decode(line[:-1], START)
    assert told is not None
    assert told[0]["repeated"] == ["a\nb\r\u2028\x85\x00"]


def test_a_line_holds_only_behind_the_line_it_was_written_behind(pool):
    line, digest = encode(Record(1, AT, pool[0]), START)
    assert decode(line[:-1], START) is not None
    assert decode(line[:-1], digest) is None
    assert decode(line[:-1], "") is None


def test_every_changed_byte_of_a_line_is_seen():
    event = RunResumed(dropped_bytes=0, repeated=("r1/bob",), versions={"python": "3"})
    line = encode(Record(1, AT, event), START)[0][:-1]
    for position in range(len(line)):
        for bit in (1, 0x20, 0x80):
            flipped = bytearray(line)
            flipped[position] ^= bit
            assert decode(bytes(flipped), START) is None, position
        assert decode(line[:position] + line[position + 1 :], START) is None


@given(st.binary(max_size=200))
def test_any_bytes_are_a_line_or_none(line):
    assert decode(line, START) is None


@pytest.mark.parametrize("head", [b"[1", b"{", b'{"a":NaN', b"\xff\xfe", b"{" * 500, b'{"a":' * 500, b"3"])
def test_a_line_whose_digest_holds_but_that_is_no_object_is_none(head):
    body = head[:-1] if head.endswith(b"}") else head
    line = digested(body)
    told = decode(line, START)
    assert told is None or isinstance(told[0], dict)


def digested(head: bytes) -> bytes:
    """A line with a digest that is right, by somebody who can compute it."""
    return head + b',"digest":"' + chain._digest(START, head).encode() + b'"}'
