"""Whatever a log with right digests says, it becomes tables or is refused in words (rules E1, E4, H3)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.longer import examples
from verifyplan.errors import InputError, LogError
from verifyplan.frames.run_tables import log_columns
from verifyplan.frames.runset import assemble
from verifyplan.runlog.chain import START, _digest
from verifyplan.runlog.reader import parse_log

EXAMPLE = vp.datasets.path("live-example")
LOGS = [EXAMPLE / "plan" / "purge-hour-001.jsonl", EXAMPLE / "adversarial" / "panel-001.jsonl"]
ODD: list[Any] = [None, True, 0, -1, 1.0, 2.5, 2**53, 10**30, 1e300, "", "1", "x", "NaN", " 0.1 ", "1_0", "-1", [], {}]


def events_of(path: Path) -> list[dict[str, Any]]:
    """The events of a log, without their digests."""
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [{key: value for key, value in line.items() if key != "digest"} for line in lines]


def chained(events: list[dict[str, Any]]) -> bytes:
    """A log with the digests that it should have."""
    lines, before = [], START
    for event in events:
        head = json.dumps(event).encode()[:-1]
        before = _digest(before, head)
        lines.append(head + b',"digest":"' + before.encode() + b'"}\n')
    return b"".join(lines)


def read(data: bytes) -> str:
    """The words of the error that refuses a log; empty where it becomes tables."""
    try:
        assemble([log_columns(parse_log(data, "run.jsonl").records, "run")])
    except InputError as error:
        return str(error)
    return ""


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_events_with_odd_values_become_tables_or_are_refused_in_words(draw):
    events = events_of(draw.draw(st.sampled_from(LOGS)))
    event = events[draw.draw(st.integers(1, len(events) - 1))]
    holders = [event, *(part for part in event.values() if isinstance(part, dict))]
    holders += [part for parts in event.values() if isinstance(parts, list) for part in parts if isinstance(part, dict)]
    holder, name = draw.draw(st.sampled_from([(holder, name) for holder in holders for name in holder]))
    how = draw.draw(st.sampled_from(["change", "remove", "add"]))
    if how == "remove":
        del holder[name]
    else:
        holder[name if how == "change" else "more"] = draw.draw(st.sampled_from(ODD))
    words = read(chained(events))
    assert not words or "Fix: " in words


def test_windows_line_ends_a_torn_end_and_an_odd_time_lose_no_run():
    events = events_of(LOGS[1])
    data = chained(events)
    events[3]["at"] = "soon"
    for other in (data.replace(b"\n", b"\r\n"), data[:-1], data[:-50], data + b'{"seq"', chained(events)):
        assert read(other) == ""


@pytest.mark.parametrize(
    "usage", [{"cost": "1e12"}, {"cost": "-0.1"}, {"input_tokens": 2**53}, {"input_tokens": -1}, {"input_tokens": "x"}]
)
def test_a_use_that_no_table_holds_is_refused_with_its_line(usage):
    events = events_of(LOGS[1])
    place = next(number for number, event in enumerate(events, 1) if event["type"] == "call-replied")
    events[place - 1]["usage"] |= usage
    with pytest.raises(LogError, match=rf"line {place}: is not an event of this version \(call-replied/usage"):
        parse_log(chained(events), "run.jsonl")
