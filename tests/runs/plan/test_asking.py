"""rule A4: a shell with a terminal asks where a plan is blocked, and says beforehand what an override leads to."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import process, python
from verifyplan.cli.plan import on_blocked_of
from verifyplan.errors import SettingsError

RUN = """
import sys
from tests.runs.plan import planning
from verifyplan.cli.plan import on_blocked_of

two = {"i1/challenger": {"challenges": [planning.challenge(w, "BLOCKING") for w in ("locks", "rows")]}}
run = planning.run_of(two, silent=True, panel=None, on_blocked=on_blocked_of(None))
print("END", run.status, run.verdict, [c.status for c in run.state.pool], run.state.iteration, flush=True)
"""


def in_terminal(typed: str) -> str:
    """What a process says that runs in a terminal in which this is typed."""
    controller, terminal = pty.openpty()
    with process(
        python(RUN), stdin=terminal, stdout=subprocess.PIPE, stderr=terminal, start_new_session=True,
    ) as running:  # fmt: skip
        os.close(terminal)
        os.write(controller, typed.encode())
        out, _ = running.communicate(timeout=120)
    said = os.read(controller, 100_000).decode(errors="replace")
    os.close(controller)
    assert running.returncode == 0, said
    return said + out.decode()


def test_a_terminal_asks_by_default_and_judges_again_in_the_same_iteration():
    said = in_terminal("acknowledge:C1\nfine\noverride:C9\n\nacknowledge:C2\n\n")
    assert "An override ends the run: of C1 alone with RETHINK, of C2 alone with RETHINK." in said
    assert "An override ends the run: of C2 with PROCEED." in said  # asked again, of what is left
    assert "'C9' does not block this plan" in said
    assert "END CONVERGED PROCEED ['RESOLVED', 'RESOLVED'] 1" in said


def test_a_blank_line_leaves_the_run_waiting():
    assert "END BLOCKED None ['OPEN', 'OPEN'] 1" in in_terminal("\n")


def test_without_a_terminal_the_default_is_to_continue(monkeypatch):
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        assert on_blocked_of(None) == "continue"
        assert on_blocked_of("pause") == "pause"
        with pytest.raises(SettingsError, match="ask needs a terminal, and there is none"):
            on_blocked_of("ask")
