"""A log is read whole, or refused with the line that is damaged; only a torn end is dropped (rules E1, H3)."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic_core import from_json, to_json

from tests.longer import examples
from tests.runs.plan import planning
from tests.runs.plan.breaking import rewritten, small_cross
from verifyplan.errors import LogError
from verifyplan.runlog import chain
from verifyplan.runlog.chain import START, encode
from verifyplan.runlog.reader import Log, parse_log, read_log
from verifyplan.runlog.writer import LogWriter


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> bytes:
    """A small log."""
    run = small_cross(tmp_path_factory.mktemp("small"))
    assert run.log_path is not None
    return run.log_path.read_bytes()


def line_of(data: bytes, position: int) -> int:
    """The number of the line that a byte stands in; a line feed ends its line."""
    return data.count(b"\n", 0, position) + 1


def read(data: bytes) -> Log:
    return parse_log(data, "run.jsonl")


def test_a_whole_log_is_read_whole(small):
    log = read(small)
    assert [record.seq for record in log.records] == list(range(1, small.count(b"\n") + 1))
    assert (log.lines, log.whole_bytes, log.torn_bytes) == (small.count(b"\n"), len(small), 0)
    assert log.ends_in_line_feed


def test_cut_at_any_byte_the_whole_lines_are_read_and_the_rest_is_told(small):
    whole = read(small).records
    for length in range(small.index(b"\n"), len(small)):
        cut = small[:length]
        log = read(cut)
        lacks_only_its_line_feed = small[length : length + 1] == b"\n"
        lines = cut.count(b"\n") + lacks_only_its_line_feed
        torn = 0 if lacks_only_its_line_feed else length - cut.rfind(b"\n") - 1
        assert log.records == whole[:lines]
        assert (log.torn_bytes, log.whole_bytes, log.lines) == (torn, length - torn, lines)
        assert log.ends_in_line_feed is not lacks_only_its_line_feed


def test_cut_within_its_first_line_a_log_holds_no_run(small):
    for length in range(small.index(b"\n")):
        with pytest.raises(LogError, match=r"contains no run: it has no complete run-started line.*started again"):
            read(small[:length])


@pytest.mark.parametrize("change", [lambda byte: byte ^ 1, lambda byte: byte ^ 0x80, lambda _: 10, lambda _: 0])
def test_a_changed_byte_anywhere_is_refused_with_its_line(small, change):
    unseen = []
    for position, byte in enumerate(small):
        if change(byte) == byte:
            continue
        damaged = small[:position] + bytes([change(byte)]) + small[position + 1 :]
        with pytest.raises(LogError) as caught:
            unseen += [read(damaged)]
        assert f"run.jsonl: line {line_of(small, position)}: is damaged" in str(caught.value), position
    assert not unseen


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(300))
@given(data=st.data())
def test_a_changed_span_anywhere_but_at_the_torn_end_is_refused(small, data):
    start = data.draw(st.integers(0, len(small) - 1))
    end = data.draw(st.integers(start, min(len(small), start + 400)))
    damaged = small[:start] + data.draw(st.binary(max_size=40)) + small[end:]
    try:
        log = read(damaged)
    except LogError:
        return
    assert log.records == read(small).records[: log.lines]
    whole = damaged[: log.whole_bytes].replace(b"\r\n", b"\n")
    assert damaged == small or whole == small[: len(whole)]


def test_a_log_with_the_line_ends_of_windows_is_read_and_gone_on_with(tmp_path, small):
    windows = small.replace(b"\n", b"\r\n")
    assert read(windows).records == read(small).records
    assert (read(windows).torn_bytes, read(windows).whole_bytes) == (0, len(windows))
    path = tmp_path / "run.jsonl"
    lines = windows.splitlines(keepends=True)
    for ending in (b"", b"\r", b"\r\n"):
        path.write_bytes(b"".join(lines[:-2]) + lines[-2].rstrip() + ending)
        writer, log = LogWriter.resume(path)
        with writer:
            writer.append(read(small).records[-1].event)
        assert len(log.records) == len(lines) - 1
        assert [record.event for record in read_log(path).records] == [record.event for record in read(small).records]


def test_a_log_with_the_line_ends_of_windows_is_still_refused_where_it_was_changed(small):
    windows = small.replace(b"\n", b"\r\n")
    for position in range(0, len(windows), 7):
        damaged = windows[:position] + bytes([windows[position] ^ 1]) + windows[position + 1 :]
        with pytest.raises(LogError, match=r"run\.jsonl: line \d+: is damaged"):
            read(damaged)


def test_lines_that_were_left_out_doubled_or_put_elsewhere_are_refused(small):
    lines = small.splitlines(keepends=True)
    for number in range(1, len(lines) - 1):
        others = lines[:number] + lines[number + 1 :]
        for damaged in (others, [*lines[:number], lines[number - 1], *lines[number:]], [*others, lines[number]]):
            with pytest.raises(LogError, match=rf"line {number + 1}: is damaged"):
                read(b"".join(damaged))


def test_bytes_behind_the_end_are_torn_unless_they_end_a_line(small):
    for torn in (b"{", b"\0" * 4096, b'{"seq":99,"at":"', b"\xff"):
        log = read(small + torn)
        assert (log.torn_bytes, len(log.records)) == (len(torn), small.count(b"\n"))
        with pytest.raises(LogError, match=rf"line {small.count(10) + 1}: is damaged"):
            read(small + torn + b"\n")


def test_a_destroyed_last_line_feed_is_no_torn_line(small):
    for byte in (b"\x0b", b" ", b"\0", b"}"):
        with pytest.raises(LogError, match=rf"line {small.count(10)}: is damaged"):
            read(small[:-1] + byte)


@settings(deadline=500)
@given(st.binary(max_size=2000))
@example(b"\n" * 2000)
@example(b"{" * 2000)
@example(b'{"seq":1,"at":"x","type":"run-started","version":1,"digest":"' + b"0" * 32 + b'"}\n')
def test_any_bytes_are_no_log_in_words(data):
    with pytest.raises(LogError, match=r"run\.jsonl"):
        read(data)


HEADS = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=40).map(lambda text: text.encode(errors="replace")),
    st.sampled_from(
        [
            b'{"seq":1,"at":"x","type":"run-started","version":1',
            b'{"seq":2,"at":3,"type":"round-closed"',
            b'{"seq":2,"at":"x","type":"call-requested","call_id":"a","worker":"b","request_sha256":"c"',
            b'{"seq":true,"at":"x","type":["run-started"]',
            b'{"type":{}',
            b'{"a":' * 300 + b"1" + b"}" * 299,
            b'{"a":1e999',
            b'{"a":' + b"9" * 5000,
            b'{"seq":2,"seq":2,"type":"run-resumed"',
            b"[",
            b"{",
        ]
    ),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=1000)
@given(heads=st.lists(HEADS, max_size=5), behind=st.booleans(), end=st.sampled_from([b"\n", b""]))
def test_lines_with_right_digests_are_a_log_or_refused_in_words(small, heads, behind, end):
    data, digest = (small, read(small).digest) if behind else (b"", START)
    for head in heads:
        line, digest = signed(head, digest)
        data += line + b"\n"
    data = data[:-1] + end
    told = outcome(data)
    if isinstance(told, Log):
        assert len(told.records) >= small.count(b"\n")
    else:
        assert "run.jsonl" in told
        assert len(told) < 2000


def outcome(data: bytes) -> Log | str:
    """The log, or what it is refused with."""
    try:
        return read(data)
    except LogError as error:
        return str(error)


def signed(head: bytes, before: str) -> tuple[bytes, str]:
    """A line with a digest that is right, by somebody who can compute it, and its digest."""
    digest = chain._digest(before, head)
    return head + b',"digest":"' + digest.encode() + b'"}', digest


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seq": 9}, "it is numbered 9"),
        ({"seq": None}, "it is numbered None"),
        ({"at": 3}, "it is numbered 2"),
        ({"type": "round-opened"}, "round-opened"),
        ({"type": None}, "type"),
        ({"surplus": 1}, "surplus"),
        ({"part": "elsewhere"}, "part"),
    ],
)
def test_a_line_that_is_no_event_is_refused_with_its_number(tmp_path, small, change, words):
    path = tmp_path / "run.jsonl"
    first, second = small.splitlines(keepends=True)[:2]
    digest = re.findall(rb'"digest":"(\w+)"', first)[-1].decode()
    values = from_json(second)
    del values["digest"]
    values = {key: value for key, value in (values | change).items() if value is not None or key == "category"}
    path.write_bytes(first + signed(to_json(values)[:-1], digest)[0] + b"\n")
    with pytest.raises(LogError, match=r"run\.jsonl: line 2: is not an event of this version") as caught:
        read_log(path)
    assert words in str(caught.value)


def test_a_log_that_does_not_begin_with_its_run_is_no_run(tmp_path, small):
    path = tmp_path / "run.jsonl"
    path.write_bytes(small)
    records = read(small).records
    data, digest = b"", START
    for number, record in enumerate(records[1:], start=1):
        line, digest = encode(record._replace(seq=number), digest)
        data += line
    with pytest.raises(LogError, match="contains no run"):
        read(data)
    rewritten(path, lambda record: record)
    assert path.read_bytes() == small


@pytest.mark.parametrize("path", ["none.jsonl", "a\0b", "x" * 5000])
def test_a_path_that_cannot_be_read_is_refused_in_words(tmp_path, path):
    with pytest.raises(LogError, match=r"cannot be read \(.*name a run log"):
        read_log(tmp_path / path)


def test_a_folder_is_refused_and_names_the_logs_in_it(tmp_path):
    for number in range(5):
        (tmp_path / f"part-{number}.jsonl").touch()
    with pytest.raises(LogError, match=r"is a folder.*name one of its 5 run logs: '.*part-0\.jsonl', .* \.\.\.\.$"):
        read_log(tmp_path)


def test_a_log_is_read_while_it_is_written(tmp_path):
    lengths: list[int] = []

    def sink(_) -> None:
        [path] = Path(tmp_path).glob("*.jsonl")
        lengths.append(len(read_log(path).records))

    run = planning.run_of(planning.script(), log_dir=tmp_path, sink=sink)
    assert lengths == list(range(1, len(run.records) + 1))


def test_hostile_logs_are_refused_quickly(small):
    began = time.process_time()
    for data in (b"\n" * 5_000_000, b"{" * 5_000_000, b'{"a":' * 1_000_000, small + b"x" * 5_000_000 + b"\n"):
        with pytest.raises(LogError):
            read(data)
    assert read(small + b"x" * 5_000_000).torn_bytes == 5_000_000
    assert time.process_time() - began < 5


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "log.jsonl")
    with pytest.raises(LogError, match=r"log\.jsonl: cannot be read \(it is not an ordinary file\)"):
        read_log(tmp_path / "log.jsonl")
