"""The scripted server as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import anthropic
import pytest

from tests.live.asking import asked_once, asks, through
from tests.live.serve import ServedScript
from tests.processes import environment


def test_the_server_is_a_process_and_logs_what_it_saw(tmp_path):
    script, log = tmp_path / "script.py", tmp_path / "calls.jsonl"
    script.write_text(
        "from tests.live.scripted_replies import says\n"
        "OPTIONS = {'models': ('m',), 'polls': 0}\n"
        "def reply(asked):\n"
        "    return says(asked.last).using(input_tokens=5)\n"
    )
    requests = [{"custom_id": name, "params": asks()} for name in ("a", "b")]
    with ServedScript(script, log) as server:
        assert asked_once(server, model="m").usage.input_tokens == 5
        through(server, lambda client: client.messages.batches.create(requests=requests))
    first, second = server.requests
    assert (first["number"], first["method"], first["path"], first["custom_ids"]) == (1, "POST", "/v1/messages", [])
    assert second["custom_ids"] == ["a", "b"]
    assert len(first["sha256"]) == 64
    assert (server.count(), server.count("/v1/messages/batches")) == (1, 1)


def test_a_process_whose_script_failed_says_so_at_its_end(tmp_path):
    (tmp_path / "script.py").write_text("def reply(asked):\n    raise KeyError('no such role')\n")
    with (
        pytest.raises(AssertionError, match="the script of the server failed"),
        ServedScript(tmp_path / "script.py", tmp_path / "log") as server,
        pytest.raises(anthropic.InternalServerError, match="no such role"),
    ):
        asked_once(server)


def test_a_file_that_is_no_script_is_refused_in_words():
    script = Path(__file__).with_name("live_runs.py")
    done = subprocess.run(
        [sys.executable, "-m", "tests.live.serve", script], env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "live_runs.py defines no reply(asked); tests/live/anybody.py is an example" in done.stderr


def test_a_script_of_reply_alone_answers_any_model_with_ids_of_its_own_at_each_start(tmp_path):
    (tmp_path / "script.py").write_text(
        "from tests.live.scripted_replies import says\ndef reply(asked):\n    return says('OK.')\n"
    )
    ids = []
    for name in ("one", "two"):
        with ServedScript(tmp_path / "script.py", tmp_path / name) as server:
            ids.append(asked_once(server, model="qwen3").id)
    assert len(set(ids)) == 2
