"""Every command and every example of the README runs, as it stands there, in a real shell and a real Python.

Where an example asks a model, a server on loopback answers in its place.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.live.anybody import anybody
from tests.live.scripted_server import ScriptedServer

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
BIN = Path(sys.executable).parent


def blocks(language: str) -> list[str]:
    found = re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert found
    return found


@pytest.fixture
def checkout(tmp_path) -> Path:
    """A folder that looks like a checkout, in which a test may write."""
    for name in ("data", "notebooks", "README.md"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "activate").write_text(f'PATH="{BIN}:$PATH"\n')
    return tmp_path


@pytest.fixture
def endpoint() -> Iterator[ScriptedServer]:
    """Where the examples find their models, and how often they were asked."""
    with ScriptedServer(anybody, polls=0) as server:  # a batch has ended when it is first looked at
        yield server
    assert server.refused == []


def environment(endpoint: ScriptedServer) -> dict[str, str]:
    return os.environ | {"ANTHROPIC_BASE_URL": endpoint.url, "ANTHROPIC_API_KEY": "the-key-of-these-examples"}


@pytest.mark.parametrize("block", blocks("python"), ids=range(len(blocks("python"))))
def test_python_example(block, checkout, endpoint):
    command = [sys.executable, "-W", "error", "-c", block]
    done = subprocess.run(command, cwd=checkout, env=environment(endpoint), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert bool(endpoint.requests) == ("agents.Anthropic" in block)


def test_shell_commands(checkout, endpoint):
    """All blocks in one shell, stopping at the first failure; `make` is tested below."""
    script = "\n".join(line for block in blocks("sh") for line in block.splitlines() if not line.startswith("make "))
    assert script.count("verifyplan ") >= 7
    done = subprocess.run(
        ["bash", "-euc", script], cwd=checkout, env=environment(endpoint), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(endpoint.requests) > 5, "the commands that name a model have asked one"
    assert endpoint.count("/v1/messages/batches") > 5
    assert (checkout / "out" / "shell" / "report" / "report.html").exists()
    assert (checkout / "out" / "shell" / "tables" / "votes.parquet").exists()


def test_make_targets_that_the_readme_names_exist():
    """`make demo` itself is run by .ci/run, right after the tests."""
    named = set(re.findall(r"\bmake ([a-z]+)\b", "\n".join(blocks("sh"))))
    assert named >= {"demo", "lab"}
    for target in named:
        subprocess.run(["make", "-n", target], cwd=ROOT, check=True, capture_output=True)
    assert "make demo" in (ROOT / ".ci" / "run").read_text()


def test_make_lab_serves_the_notebooks(tmp_path):
    """A real server on loopback, started as the README says, asked for its list of notebooks, and ended."""
    folders = {name: str(tmp_path / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    flags = f"LAB_FLAGS=--no-browser --ServerApp.port={port} --IdentityProvider.token=test"
    with subprocess.Popen(
        ["make", "lab", flags], cwd=ROOT, env=os.environ | folders, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    ) as server:  # fmt: skip
        try:
            assert server.stderr is not None
            assert any(f":{port}/lab" in line for line in server.stderr), "it never said where it serves"
            listed = json.loads(_get("/api/contents?token=test", port))["content"]
        finally:
            os.killpg(server.pid, signal.SIGKILL)
    assert {"00_quickstart.ipynb", "10_compare_modes.ipynb"} <= {entry["name"] for entry in listed}


def _get(path: str, port: int) -> bytes:
    """The answer of a server on loopback that may need a moment more to listen."""
    for _ in range(100):
        with closing(http.client.HTTPConnection("localhost", port, timeout=30)) as connection:
            try:
                connection.request("GET", path)
                return connection.getresponse().read()
            except ConnectionRefusedError:
                time.sleep(0.2)
    raise AssertionError("the server said where it serves, but never listened")


def test_links_and_pictures_of_all_documents_lead_somewhere():
    for document in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / document).read_text()):
            assert target.startswith("http") or (ROOT / target).exists(), f"{document}: {target}"
