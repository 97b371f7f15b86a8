"""How many runs are driven at once, by the files that a process may have open."""

from __future__ import annotations

import sys

import pytest

from tests.processes import forked
from verifyplan.runs.batch.drive import MAX_RUNS, RUNS_WITHOUT_FILE_LIMIT, max_runs_at_once

CODE = """
import resource
from verifyplan.runs.batch.drive import max_runs_at_once
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, hard))
print(max_runs_at_once())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize(("files", "runs"), [(256, 78), (1024, 462), (60, 1)])
def test_each_run_has_two_files_and_the_rest_is_reserved(files, runs):
    done = forked("everything", "tests.fork_server", "python", CODE.format(files=files))
    assert int(done.stdout) == runs


def test_a_system_without_limits(monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)
    assert max_runs_at_once() == RUNS_WITHOUT_FILE_LIMIT


class Unlimited:
    RLIMIT_NOFILE, RLIM_INFINITY = 7, -1

    @staticmethod
    def getrlimit(_):
        return (-1, -1)


def test_a_system_that_sets_no_limit(monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", Unlimited)
    assert max_runs_at_once() == MAX_RUNS
