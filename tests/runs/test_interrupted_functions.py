"""Ctrl-C while plain functions run in threads: the run waits for them, says so, and keeps their answers."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

import verifyplan as vp
from tests.processes import process, python

PROGRAM = """
import sys, time
from pathlib import Path
import verifyplan as vp
def judge(finding):
    Path("begun-" + finding.finding_id).touch()
    time.sleep(float(sys.argv[1]))
    return "agree"
claims = [{"finding_id": f"F-{i}", "summary": f"claim {i}", "evidence": "m.py:1"} for i in range(int(sys.argv[2]))]
backend = vp.agents.from_function(judge)
vp.crossverify(claims, ["ann", "bob"], backend=backend, log_dir="runs", max_rounds=1, items_per_call=int(sys.argv[3]))
"""
LOG = Path("runs/ad-hoc/state/convergence-ad-hoc-001.jsonl")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as on POSIX")


def interrupted(folder: Path, seconds: float, claims: int, items_per_call: int, *, again: bool = False) -> str:
    """Interrupt a run once its first function runs; return what it writes to standard error."""
    words = python(PROGRAM, seconds, claims, items_per_call)
    with process(words, cwd=folder, stderr=subprocess.PIPE, text=True) as run:
        until = time.monotonic() + 60
        while not list(folder.glob("begun-*")):
            assert time.monotonic() < until
            time.sleep(0.02)
        time.sleep(0.3)  # so that the other functions begin, too
        run.send_signal(signal.SIGINT)
        if again:
            time.sleep(0.5)
            run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=20)
    assert run.returncode != 0
    return errors


def asked_again() -> list[str]:
    """Resume the run, and return what its functions are asked."""
    asked = []

    def judge(finding):
        asked.append(finding.finding_id)
        return "agree"

    assert vp.resume(LOG, backend=vp.agents.from_function(judge)).status == "converged"
    return asked


def test_the_answers_of_functions_that_run_at_ctrl_c_are_kept_and_not_requested_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    errors = interrupted(tmp_path, 1.5, 2, 1)
    said = "Waiting for 4 running functions; the answers are kept. Interrupt again (Ctrl-C) to stop at once.\n"
    assert errors.startswith(said)
    assert "asyncio/" not in errors  # the traceback has the user's line, without the frames of the event loop
    assert "CancelledError" not in errors
    assert "\nKeyboardInterrupt\nThe run goes on in Python" in errors
    assert [event.type for event in vp.read_run(LOG).events].count("call-replied") == 4
    assert asked_again() == []


def test_functions_that_have_not_begun_are_not_begun_after_ctrl_c(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    interrupted(tmp_path, 1.5, 40, 1)
    begun = len(list(tmp_path.glob("begun-*")))
    replied = [event.type for event in vp.read_run(LOG).events].count("call-replied")
    assert 0 < begun <= replied < 80
    assert len(asked_again()) == 80 - replied


def test_a_second_ctrl_c_does_not_wait(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    errors = interrupted(tmp_path, 600, 2, 1, again=True)
    assert errors.count("Waiting for 4 running functions") == 1
    assert "\nStopped; the answers of 4 running functions are lost. A resumption calls them again.\n" in errors
    assert "\nKeyboardInterrupt\nThe run goes on in Python" in errors
    assert len(asked_again()) == 4


def test_a_call_with_findings_left_to_ask_is_not_waited_for(tmp_path, monkeypatch):
    """Its reply would need more functions to be called; a resumption asks about all its findings."""
    monkeypatch.chdir(tmp_path)
    errors = interrupted(tmp_path, 600, 3, 3)
    assert "Waiting" not in errors
    assert sorted(asked_again()) == ["F-0", "F-0", "F-1", "F-1", "F-2", "F-2"]


@pytest.mark.parametrize("presses", [1, 2])
def test_a_notebooks_stop_button_keeps_the_answers_too(tmp_path, monkeypatch, capsys, presses):
    """The run is in another thread there; a second press ends the wait, and the functions go on alone."""
    monkeypatch.chdir(tmp_path)
    claims, may_end = [{"finding_id": "F-1", "summary": "claim", "evidence": "m.py:1"}], threading.Event()
    main, begun, interrupted = threading.main_thread().ident, threading.Barrier(3), []

    def judge(_):
        begun.wait(20)
        may_end.wait(20)
        return "agree"

    def press() -> None:
        begun.wait(20)
        for _ in range(presses):
            time.sleep(0.3)
            signal.pthread_kill(main, signal.SIGINT)
        time.sleep(0.3)
        if presses == 1:
            may_end.set()

    async def cell() -> None:
        backend = vp.agents.from_function(judge)
        try:
            vp.crossverify(claims, ["ann", "bob"], backend=backend, log_dir="runs", max_rounds=1)
        except KeyboardInterrupt:
            interrupted.append(True)

    pressing = threading.Thread(target=press)
    pressing.start()
    loop = asyncio.new_event_loop()  # not asyncio.run, which would take SIGINT for itself
    try:
        loop.run_until_complete(cell())
    finally:
        loop.close()
        pressing.join()
        may_end.set()
    assert interrupted == [True]
    said = capsys.readouterr().err
    assert "Waiting for 2 running functions" in said
    assert ("the answers of 2 running functions are lost" in said) == (presses == 2)
    assert len(asked_again()) == (0 if presses == 1 else 2)
