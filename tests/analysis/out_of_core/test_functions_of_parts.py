"""Functions of a notebook, a prompt and a guarded script go to other processes, or the error says why not (rule E5)."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.analysis.out_of_core.dying import where
from verifyplan.analysis.out_of_core.map_parts import map_parts

CALL = "from verifyplan.analysis.out_of_core.map_parts import map_parts"
GUARDED = f"""
{CALL}
if __name__ == "__main__":
    def twice(n):
        return 2 * n
    print(list(map_parts(twice, [1, 2, 3], 2)))
"""
PROMPT = f"{CALL}\ndef twice(n):\n    return 2 * n\nprint(list(map_parts(twice, [1, 2, 3], 2)))"
WITHOUT = "import importlib.util, sys; sys.modules['cloudpickle'] = None; importlib.util.find_spec = lambda _: None\n"


def run(tmp_path, text, *, as_file):
    """Return what Python prints and complains of, for a script or for what it is given at a prompt."""
    script = tmp_path / "script.py"
    script.write_text(text)
    command = [sys.executable, str(script)] if as_file else [sys.executable, "-c", text]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ, check=False)


@pytest.mark.parametrize(("text", "as_file"), [(GUARDED, True), (PROMPT, False)])
def test_functions_that_no_module_has_go_to_other_processes(tmp_path, text, as_file):
    pytest.importorskip("cloudpickle")
    done = run(tmp_path, text, as_file=as_file)
    assert (done.stdout, done.stderr) == ("[2, 4, 6]\n", "")


@pytest.mark.parametrize(("text", "as_file"), [(GUARDED, True), (PROMPT, False)])
def test_without_cloudpickle_one_error_says_what_to_do(tmp_path, text, as_file):
    done = run(tmp_path, WITHOUT + text, as_file=as_file)
    assert "must be importable by another process (" in done.stderr
    assert "put it into a .py file and import it" in done.stderr
    assert "Process Spawn" not in done.stderr
    assert "out of memory" not in done.stderr


def test_a_script_without_a_guard_is_said_to_need_it(tmp_path):
    done = run(tmp_path, PROMPT, as_file=True)
    assert "client: no process could be started; what it printed says why" in done.stderr
    assert 'if __name__ == "__main__":' in done.stderr
    assert "out of memory" not in done.stderr


def test_a_lambda_and_parts_of_any_kind_go():
    pytest.importorskip("cloudpickle")
    factor = 3
    assert list(map_parts(lambda n: factor * n(1), [lambda n: n, lambda n: n + 1], 2)) == [3, 6]
    assert os.getpid() not in {process for process, _ in map_parts(where, range(2), 2)}
