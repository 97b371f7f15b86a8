"""The journal of what is sent in batches: whole or not there, held by one process, damage told."""

from __future__ import annotations

import json
import os

import pytest

from tests.processes import forked
from verifyplan.errors import LogError
from verifyplan.redaction import remember
from verifyplan.runs.batch.journal import NAME, BatchedExchange, Collected, Dropped, Journal, Submitted, open_journal

ENTRIES = [BatchedExchange(run="a-001 of now", turn=f"i1/challenger/t{n}", sha256=f"{n}" * 64) for n in (1, 2)]


def written(folder, *lines):
    """A journal with one intent, and lines about it made by functions of its nonce."""
    with open_journal(folder) as journal:
        intent = journal.intend("http://here", "msgbatch_1", ENTRIES)
        for line in lines:
            journal.note(line(intent.nonce))
    return intent


def submitted(nonce):
    return Submitted(nonce=nonce, batch="msgbatch_2")


def test_what_was_noted_is_known_to_the_next_process(tmp_path):
    intent = written(tmp_path, submitted, lambda nonce: Collected(nonce=nonce))
    with open_journal(tmp_path) as journal:
        assert journal.intents == {intent.nonce: intent}
        assert journal.batches == {intent.nonce: "msgbatch_2"}
        place = journal.place("a-001 of now", "i1/challenger/t2")
        assert (place.nonce, place.custom_id, place.sha256) == (intent.nonce, f"{intent.nonce}-1", "2" * 64)
        assert journal.times("a-001 of now", "i1/challenger/t2") == 1
        assert journal.place("a-001 of then", "i1/challenger/t2") is None
    kinds = [json.loads(line)["type"] for line in (tmp_path / NAME).read_text().splitlines()]
    assert kinds == ["begun", "intent", "submitted", "collected"]


def test_an_exchange_is_looked_for_where_it_was_sent_last(tmp_path):
    first = written(tmp_path, submitted)
    second = written(tmp_path)
    journal = Journal(tmp_path / NAME)
    turn = ("a-001 of now", "i1/challenger/t1")
    assert journal.place(*turn).nonce == second.nonce
    assert journal.times(*turn) == 1
    with open_journal(tmp_path) as journal:
        journal.note(Dropped(nonce=second.nonce))
        assert journal.place(*turn).nonce == first.nonce
    assert Journal(tmp_path / NAME).place(*turn).nonce == first.nonce


def test_no_secret_of_an_address_is_written(tmp_path):
    remember("a-password-of-mine")
    with open_journal(tmp_path) as journal:
        journal.intend("http://me:a-password-of-mine@127.0.0.1", None, ENTRIES)
    assert "a-password" not in (tmp_path / NAME).read_text()


def test_custom_ids_are_such_as_the_api_takes_and_never_the_same(tmp_path):
    ids = [name for _ in range(3) for name in written(tmp_path).requests]
    assert len(set(ids)) == 6
    assert all(name.replace("-", "").isalnum() and name.isascii() and len(name) <= 64 for name in ids)


@pytest.mark.parametrize("kept", [1, 30, -2, -1])
def test_a_torn_last_line_is_no_line_and_is_cut_off(tmp_path, kept):
    written(tmp_path)
    whole = (tmp_path / NAME).read_bytes()
    head, last = whole[: whole.index(b"\n") + 1], whole[whole.index(b"\n") + 1 :]
    (tmp_path / NAME).write_bytes(head + last[:kept])
    with open_journal(tmp_path) as journal:
        assert journal.intents == {}
        assert (tmp_path / NAME).read_bytes() == head
        journal.intend(None, None, ENTRIES)
    assert len(Journal(tmp_path / NAME).intents) == 1


def test_a_journal_whose_first_line_is_torn_is_begun_anew(tmp_path):
    (tmp_path / NAME).write_bytes(b'{"type":"be')
    written(tmp_path)
    assert (tmp_path / NAME).read_text().startswith('{"type":"begun","version":1}\n{"type":"intent"')


@pytest.mark.parametrize(
    "line", [b"{}", b"\xff\xfe", b'{"type":"submitted"}', b"", b'{"type":"begun","version":1,"x":2}']
)
def test_damage_is_told_with_its_line_and_nothing_is_sent(tmp_path, line):
    written(tmp_path)
    whole = (tmp_path / NAME).read_bytes()
    (tmp_path / NAME).write_bytes(whole + line + b"\n")
    with (
        pytest.raises(LogError, match=r"batches\.journal: is damaged in line 3.*would be sent again"),
        open_journal(tmp_path),
    ):
        pass
    assert (tmp_path / NAME).read_bytes() == whole + line + b"\n"


def test_a_journal_of_another_version_is_refused(tmp_path):
    (tmp_path / NAME).write_text('{"type":"begun","version":2}\n')
    with pytest.raises(LogError, match="has version 2, and 1 is known"), open_journal(tmp_path):
        pass


def test_two_commands_do_not_write_one_journal(tmp_path):
    code = "import sys, pathlib; from verifyplan.runs.batch.journal import open_journal\n"
    code += "with open_journal(pathlib.Path(sys.argv[1])): pass"
    with open_journal(tmp_path):
        done = forked("everything", "tests.fork_server", "python", code, tmp_path)
    assert "is being written by another command" in done.stderr
    assert forked("everything", "tests.fork_server", "python", code, tmp_path).returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_half_a_line_is_taken_back_where_the_disk_is_full(tmp_path, monkeypatch):
    with open_journal(tmp_path) as journal:
        journal.intend(None, None, ENTRIES)
        whole = journal.path.read_bytes()

        def full(_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            journal.intend(None, None, ENTRIES)
        assert journal.path.read_bytes() == whole
        assert len(journal.intents) == 1


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(LogError, match="cannot be written"), open_journal(tmp_path / "file" / "runs"):
        pass
