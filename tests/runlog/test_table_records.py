"""Logs decoded by structs give the rows, and the words of every error, that the models give (rules E1, E4)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.longer import examples
from verifyplan.errors import LogError
from verifyplan.frames.run_tables import log_columns
from verifyplan.protocol.structs import struct_of
from verifyplan.runlog.chain import START, _digest, whole_lines
from verifyplan.runlog.reader import parse_log
from verifyplan.runlog.table_records import FREQUENT, table_records

ROOT = Path(__file__).parents[2]
LOGS = sorted([*(Path(__file__).parent / "logs").rglob("*.jsonl"), *(ROOT / "data").rglob("*.jsonl")])
CROSS = Path(__file__).parent / "logs" / "v3-cross-adversarial.jsonl"
PLAN = ROOT / "data" / "live-example" / "plan" / "purge-hour-001.jsonl"
DEBATE = CROSS.with_name("v2-debate.jsonl")
LIVE = ROOT / "data" / "live-example" / "adversarial" / "panel-001.jsonl"


def by_structs(data: bytes) -> object:
    return read(lambda: table_records(data, "run.jsonl"))


def by_models(data: bytes) -> object:
    return read(lambda: parse_log(data, "run.jsonl").records)


def read(records: Any) -> object:
    """The rows of a log, or the words of its error."""
    try:
        return log_columns(records(), "run")
    except LogError as error:
        return str(error)


def chained(texts: list[bytes]) -> bytes:
    """A log of JSON texts with the digests that they should have: what no digest tells is left to the decoders."""
    lines, before = [], START
    for text in texts:
        before = _digest(before, text[:-1])
        lines.append(text[:-1] + b',"digest":"' + before.encode() + b'"}\n')
    return b"".join(lines)


def texts_of(path: Path) -> list[bytes]:
    texts = whole_lines(path.read_bytes().splitlines())
    assert texts is not None
    return texts


@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_log_gives_the_rows_of_the_models(path):
    data = path.read_bytes()
    assert by_structs(data) == by_models(data)


@pytest.mark.parametrize(
    ("path", "kind", "ratio"),
    [(CROSS, "cross", 9), (LIVE, "cross", 9), (PLAN, "plan", 1), (DEBATE, "debate", 1)],
)
def test_frequent_events_are_structs_with_the_values_of_their_models(path, kind, ratio):
    data = path.read_bytes()
    counts: Counter[bool] = Counter()
    for record, model in zip(table_records(data, ""), parse_log(data, "").records, strict=True):
        event: Any = record.event
        counts[isinstance(event, msgspec.Struct)] += 1
        assert isinstance(event, msgspec.Struct) is isinstance(model.event, FREQUENT[kind])
        if isinstance(event, msgspec.Struct):
            assert (record.seq, record.at, event.type) == (model.seq, model.at, model.event.type)
            given = {name: getattr(event, name) for name in type(model.event).model_fields}
            assert type(model.event).model_validate_json(msgspec.json.encode(given)) == model.event
    assert counts[True] > ratio * counts[False]


def test_windows_line_ends_a_torn_end_and_an_odd_time_are_read_alike():
    data = CROSS.read_bytes()
    texts = texts_of(CROSS)
    texts[3] = json.dumps(json.loads(texts[3]) | {"at": "soon"}).encode()
    for other in (data.replace(b"\n", b"\r\n"), data[:-1], data[:-50], data + b'{"seq"', chained(texts)):
        assert by_structs(other) == by_models(other)
        assert not isinstance(by_structs(other), str)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_damaged_bytes_are_told_in_the_same_words(draw):
    data = CROSS.read_bytes()
    position = draw.draw(st.integers(0, len(data) - 1))
    removed = draw.draw(st.integers(0, 3))
    damaged = data[:position] + draw.draw(st.binary(max_size=3)) + data[position + removed :]
    assert by_structs(damaged) == by_models(damaged)


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_texts_that_are_damaged_before_they_are_chained_are_told_in_the_same_words(draw):
    texts = texts_of(draw.draw(st.sampled_from([CROSS, LIVE, PLAN, DEBATE])))
    number = draw.draw(st.integers(0, len(texts) - 1))
    text = texts[number]
    position = draw.draw(st.integers(0, len(text) - 1))
    inserted = draw.draw(st.binary(max_size=2) | st.sampled_from([b'"', b"\\u0061", b"NaN", b"1e400", b"{", b" "]))
    texts[number] = text[:position] + inserted + text[position + draw.draw(st.integers(0, 2)) :]
    damaged = chained([text or b"}" for text in texts])
    assert by_structs(damaged) == by_models(damaged)


ODD: list[Any] = [None, True, 0, -1, 1.0, 2.5, 2**53, 10**30, 1e300, "", "1", "x", "NaN", " 0.1 ", "1_0", "-1", [], {}]


@settings(max_examples=examples(250), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    path=st.sampled_from([CROSS, LIVE, PLAN, DEBATE]),
    number=st.integers(1, 10**6),
    key=st.integers(0, 10**6),
    value=st.sampled_from(ODD),
    what=st.sampled_from(["change", "remove", "add", "repeat"]),
)
@example(path=LIVE, number=1, key=0, value=7, what="change")
def test_events_with_odd_values_are_read_or_refused_alike(path, number, key, value, what):
    texts = texts_of(path)
    place = 1 + number % (len(texts) - 1)
    event = json.loads(texts[place])
    holders = [event, *(part for part in event.values() if isinstance(part, dict))]
    holders += [part for parts in event.values() if isinstance(parts, list) for part in parts if isinstance(part, dict)]
    keys = [(holder, name) for holder in holders for name in holder]
    holder, name = keys[key % len(keys)]
    if what == "change":
        holder[name] = value
    elif what == "remove":
        del holder[name]
    elif what == "add":
        holder["more"] = value
    texts[place] = json.dumps(event).encode()
    if what == "repeat":
        name, value = name if name in event else "type", value if value != "NaN" else "vote-cast"
        texts[place] = texts[place][:-1] + f', "{name}": {json.dumps(value)}}}'.encode()
    damaged = chained(texts)
    assert by_structs(damaged) == by_models(damaged)


@pytest.mark.parametrize(
    "damage",
    [
        lambda event: event | {"seq": 3},
        lambda event: event | {"type": "finding-classified"},
        lambda event: event | {"usage": event["usage"] | {"cost": "1e12"}},
        lambda event: event | {"usage": event["usage"] | {"cost": "-0.1"}},
        lambda event: event | {"usage": event["usage"] | {"input_tokens": 2**53}},
    ],
)
def test_an_event_that_the_model_refuses_is_refused_in_its_words(damage):
    texts = texts_of(LIVE)
    place = next(i for i, text in enumerate(texts) if b'"type":"call-replied"' in text)
    texts[place] = json.dumps(damage(json.loads(texts[place]))).encode()
    words = by_structs(chained(texts))
    assert isinstance(words, str)
    assert f"line {place + 1}" in words
    assert words == by_models(chained(texts))


def test_every_frequent_event_has_a_struct():
    models = [model for models in FREQUENT.values() for model in models]
    assert all(struct_of(model).__struct_fields__ == tuple(model.model_fields) for model in models)
