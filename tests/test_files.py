"""Files are whole or not there, whoever writes them and however the writing ends (rule H3)."""

from __future__ import annotations

import errno
import os
import subprocess
import threading
from pathlib import Path

import pytest

from tests.fork_client import KILLED
from tests.processes import python
from verifyplan.errors import InputError
from verifyplan.files import decode, disk_error, replacing, write_new_text, write_text

NUMBERING = """
import sys
from pathlib import Path
from verifyplan.files import write_new_text
folder, own = Path(sys.argv[1]), sys.argv[2]
for _ in range(20):
    number = 1
    while not write_new_text(folder / f"{number}.txt", own * 50_000):
        number += 1
"""
REPLACING = """
import sys
from verifyplan.files import write_text
for _ in range(100):
    write_text(sys.argv[1], sys.argv[2] * 50_000)
"""
DYING = """
import os, sys
from verifyplan.files import replacing
with replacing(sys.argv[1]) as temporary:
    temporary.write_text("half")
    os._exit(9)
"""


@pytest.fixture(params=[0o022, 0o077, 0o002], ids=oct)
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def started(script: str, *arguments: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(python(script, *arguments))


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_a_block_that_ends_well_puts_the_new_file_in_place(tmp_path):
    target = tmp_path / "new" / "folder" / "a.txt"
    with replacing(target) as temporary:
        assert temporary.parent == target.parent
        assert temporary.suffix == ".txt"
        assert not target.exists()
        temporary.write_text("whole")
    assert target.read_text() == "whole"
    assert names(target.parent) == ["a.txt"]


def test_a_full_disk_is_said_with_the_file_and_what_is_free(tmp_path):
    path = tmp_path / "new" / "table.csv"
    with (
        pytest.raises(
            OSError, match=r"No space left on device \([0-9,]+ bytes are free there\): nothing more"
        ) as caught,
        replacing(path),
        replacing(tmp_path / "new" / "inner"),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.filename == str(tmp_path / "new" / "inner")
    assert list(path.parent.iterdir()) == []
    other = OSError(errno.EIO, "Input/output error")
    with pytest.raises(OSError, match="Input/output error") as caught, replacing(path):
        raise other
    assert caught.value is other


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no file that is always full")
def test_what_the_system_says_of_a_full_disk_is_understood():
    with pytest.raises(OSError, match="No space left") as caught, open("/dev/full", "wb", buffering=0) as full:  # noqa: PTH123
        full.write(b"x")
    assert "bytes are free" in str(disk_error(caught.value, "missing/folder/file"))


@pytest.mark.parametrize("failure", [ValueError("boom"), KeyboardInterrupt()])
def test_a_block_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, failure):
    target = write_text(tmp_path / "a.txt", "old")
    with pytest.raises(type(failure)), replacing(target) as temporary:  # noqa: PT012
        temporary.write_text("half")
        raise failure
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_a_process_that_dies_while_writing_leaves_the_old_file(tmp_path):
    target = write_text(tmp_path / "a.txt", "old")
    assert started(DYING, target).wait(60) == KILLED
    assert target.read_text() == "old"
    assert [name for name in names(tmp_path) if not name.startswith(".")] == ["a.txt"]


def test_a_new_file_has_the_permissions_of_the_umask(tmp_path, umask):
    write_text(tmp_path / "a.txt", "a")
    assert write_new_text(tmp_path / "b.txt", "b")
    modes = {(tmp_path / name).stat().st_mode & 0o777 for name in ("a.txt", "b.txt")}
    assert modes == {0o666 & ~umask}


def test_the_umask_is_never_touched_since_all_threads_share_it(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("the umask was set"))
    write_text(tmp_path / "a.txt", "a")
    assert write_new_text(tmp_path / "b.txt", "b")


def test_text_is_written_as_utf8_with_its_line_ends(tmp_path):
    path = write_text(tmp_path / "a.txt", "ü\r\n🙂\n")
    assert path.read_bytes() == "ü\r\n🙂\n".encode()


def test_writing_over_a_folder_fails_and_leaves_it(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_text(tmp_path / "a", "text")
    assert not write_new_text(tmp_path / "a", "text")
    assert names(tmp_path) == ["a"]


def test_a_new_text_never_takes_the_place_of_a_file(tmp_path):
    assert write_new_text(tmp_path / "new" / "1.txt", "first")
    assert not write_new_text(tmp_path / "new" / "1.txt", "second")
    assert (tmp_path / "new" / "1.txt").read_text() == "first"
    assert names(tmp_path / "new") == ["1.txt"]


def test_several_processes_each_get_numbers_of_their_own(tmp_path):
    writers = [started(NUMBERING, tmp_path, own) for own in "abcd"]
    assert [writer.wait(60) for writer in writers] == [0] * 4
    assert names(tmp_path) == sorted(f"{number}.txt" for number in range(1, 81))
    texts = [entry.read_text() for entry in tmp_path.iterdir()]
    assert sorted(texts) == sorted(own * 50_000 for own in "abcd" for _ in range(20))


def test_a_reader_never_sees_half_a_file_while_others_replace_it(tmp_path):
    target = write_text(tmp_path / "a.txt", "a" * 50_000)
    writers = [started(REPLACING, target, own) for own in "abc"]
    whole = {own * 50_000 for own in "abc"}
    while any(writer.poll() is None for writer in writers):
        assert target.read_text() in whole
    assert [writer.wait(60) for writer in writers] == [0] * 3
    assert names(tmp_path) == ["a.txt"]


def test_threads_may_write_the_same_name_at_once(tmp_path):
    won: list[bool] = []
    threads = [threading.Thread(target=lambda: won.append(write_new_text(tmp_path / "a", "x"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(won) == [False] * 7 + [True]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xffabc", r"a\.csv: line 1: byte 0xff is not UTF-8\. Fix: save the file as UTF-8"),
        (b"one\ntwo\nth\xe9ree", r"line 3: byte 0xe9"),
        ("ü\r\n".encode() + b"\xc3", "line 2: byte 0xc3"),
        (b"\xed\xa0\x80", "line 1: byte 0xed"),
    ],
)
def test_reading_text_names_the_line_of_a_bad_byte(data, message):
    with pytest.raises(InputError, match=message):
        decode(data, "a.csv")


def test_a_byte_order_mark_is_dropped():
    assert decode(b"\xef\xbb\xbf\xc3\xbc", "a.csv") == "ü"
