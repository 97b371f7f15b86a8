"""Every command and every example of the README and of `docs/` runs, page by page, in a real shell and a real Python.

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
from typing import Any

import pytest

from docs.site.build import pages
from tests.live.anybody import OPTIONS, anybody
from tests.live.scripted_server import ScriptedServer
from tests.processes import forked, write_command

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
PAGES = [
    "README.md",
    *sorted(
        page.relative_to(ROOT).as_posix()
        for folder in ("docs", "docs/questions")
        for page in (ROOT / folder).glob("*.md")
    ),
]


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


PYTHON_PAGES = [page for page in PAGES if blocks(page, "python")]
SHELL_PAGES = [page for page in PAGES if any("verifyplan " in block for block in blocks(page, "sh"))]


@pytest.fixture
def checkout(tmp_path) -> Path:
    """A folder that looks like a checkout, in which a test may write."""
    for name in ("data", "notebooks", "tests", "README.md"):
        (tmp_path / name).symlink_to(ROOT / name)
    scripts = tmp_path / ".venv" / "bin"
    scripts.mkdir(parents=True)
    (scripts / "activate").write_text(f'PATH="{scripts}:{BIN}:$PATH"\n')
    write_command(scripts / "verifyplan")
    return tmp_path


@pytest.fixture
def endpoint() -> Iterator[ScriptedServer]:
    """Where the examples find their models, and how often they were asked."""
    with ScriptedServer(anybody, **OPTIONS) as server:
        yield server
    assert server.refused == []


KEYLESS_PAGES = ("docs/own-material.md", "docs/endpoints.md")
"""Pages that say that their endpoint is on this machine and needs no key: their examples run without one."""


def environment(endpoint: ScriptedServer, page: str) -> dict[str, str]:
    if page in KEYLESS_PAGES:
        return {name: value for name, value in os.environ.items() if "ANTHROPIC" not in name} | {
            "LOCAL_URL": endpoint.url
        }
    addresses = dict.fromkeys(("ANTHROPIC_BASE_URL", "GATEWAY_URL", "LOCAL_URL"), endpoint.url)
    return os.environ | addresses | dict.fromkeys(("ANTHROPIC_API_KEY", "GATEWAY_KEY"), "the-key-of-these-examples")


@pytest.mark.parametrize("page", PYTHON_PAGES)
def test_python_blocks_run_in_order_in_one_session(page, checkout, endpoint):
    code = "\n".join(blocks(page, "python"))
    given: Any = {"folder": checkout, "variables": environment(endpoint, page)}
    done = forked("everything", "tests.fork_server", "python", code, **given)
    assert done.returncode == 0, done.stderr
    has_own_server = "HTTPServer(" in code
    assert bool(endpoint.requests) == ("agents.Anthropic" in code and not has_own_server)
    shown = [line for block in blocks(page, "text") for line in block.splitlines()]
    assert set(shown) <= set(done.stdout.splitlines()), "what the page says is printed"


@pytest.mark.parametrize("page", SHELL_PAGES)
def test_shell_commands_run_in_order_in_one_shell(page, checkout, endpoint):
    script = "\n".join(line for block in blocks(page, "sh") for line in block.splitlines())
    done = subprocess.run(
        ["bash", "-euc", script], cwd=checkout, env=environment(endpoint, page), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert bool(endpoint.requests) == ("--model" in script or "--agents" in script)
    assert bool(endpoint.count("/v1/messages/batches")) == ("verifyplan batch" in script)


def test_pages_with_examples_are_found():
    pages = {"README.md", "docs/votes.md", "docs/plans.md", "docs/documents.md", "docs/endpoints.md"}
    assert pages <= set(PYTHON_PAGES)
    assert {"docs/command-line.md", "docs/live-agents.md"} <= set(SHELL_PAGES)


def test_no_line_of_a_page_begins_with_a_percent_sign():
    """The site takes such a line for a comment and leaves it out."""
    pages = [path for path in ROOT.rglob("*.md") if not {".venv", "out", "node_modules"} & set(path.parts)]
    begun = {str(path.relative_to(ROOT)) for path in pages if re.search(r"^%", path.read_text("utf-8"), re.MULTILINE)}
    assert begun == set()


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().split()) < 1500


def test_make_targets_that_the_readme_names_exist():
    """`make demo` itself is run by .ci/run, right after the tests."""
    named = set(re.findall(r"\bmake ([a-z]+)\b", "\n".join(blocks("README.md", "sh"))))
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
    installed = [f"VENV={BIN.parent}", f"--old-file={BIN.parent / '.installed'}"]  # where these tests run, as it is
    with subprocess.Popen(
        ["make", *installed, "lab", flags], cwd=ROOT, env=os.environ | folders, start_new_session=True,
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


@pytest.mark.parametrize("page", [*PAGES, "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_and_pictures_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text()):
        assert target.startswith("http") or (ROOT / page).parent.joinpath(target).exists(), target


@pytest.mark.parametrize("page", [path.relative_to(ROOT) for path in pages() if path.suffix == ".md"], ids=str)
def test_no_line_is_taken_for_a_comment(page):
    """The site leaves out lines of Markdown that begin with a percent sign."""
    prose = re.sub(r"^```.*?^```", "", (ROOT / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    assert not re.findall(r"^ *%.*", prose, re.MULTILINE)


def test_every_page_can_be_reached_from_the_readme():
    linked = set(re.findall(r"\]\((docs/[\w-]+\.md)\)", (ROOT / "README.md").read_text()))
    for page in sorted(linked):
        linked |= {
            f"docs/{name}" for name in re.findall(r"\]\(((?:questions/)?[\w-]+\.md)\)", (ROOT / page).read_text())
        }
    assert set(PAGES) - {"README.md"} <= linked
