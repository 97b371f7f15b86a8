"""Notebook 60 where a model is named: all its cells, against a server on loopback, as if that were the model."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat

from tests.live.anybody import anybody
from tests.live.scripted_server import ScriptedServer
from tests.processes import forked

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "60_live_agents.ipynb"
KEY = "sk-the-key-of-this-notebook"


def test_the_notebook_asks_the_model_that_is_named(tmp_path):
    """Each cell as IPython would run it; the recorded example is what `make notebooks` runs."""
    cells = [cell.source for cell in nbformat.read(NOTEBOOK, 4).cells if cell.cell_type == "code"]
    with ScriptedServer(anybody, key=KEY) as server:
        named = {"VERIFYPLAN_MODEL": "claude-haiku-5-5", "ANTHROPIC_BASE_URL": server.url}
        variables = os.environ | named | {"ANTHROPIC_API_KEY": KEY, "TMPDIR": str(tmp_path)}
        code = "\n".join(cells)
        done = forked("libraries", "tests.fork_server", "python", code, folder=tmp_path, variables=variables)
    assert done.returncode == 0, done.stderr
    assert "asking claude-haiku-5-5" in done.stdout
    assert "PROCEED" in done.stdout
    assert {asked.model for asked in server.requests} == {"claude-haiku-5-5"}
    assert server.refused == []
    assert KEY not in done.stdout + done.stderr
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len([path for path in written if path.suffix == ".jsonl"]) == 4
    assert not any(KEY.encode() in path.read_bytes() for path in written)
