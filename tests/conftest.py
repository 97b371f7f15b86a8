"""What all tests share: no network, the command within this process, and the folder of independent cases, where it lies
beside the repository."""

from __future__ import annotations

import contextlib
import gc
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import settings

from tests import network_guard
from tests.longer import examples
from tests.processes import restore_signals

network_guard.forbid_network()

restore_signals()

gc.disable()  # until all is collected: a third of that time went to looking through it for garbage

YOUNG_OBJECTS = 10_000
"""Python looks for garbage after this many new objects, not after 700: looking took 2 to 4 % of the time of tests."""

settings.register_profile("no deadline", deadline=None, max_examples=examples(100))  # no test here is about time
settings.load_profile("no deadline")

SHARED = Path(__file__).resolve().parents[2] / "shared"
NO_SHARED = "needs ../shared, the folder of independent cases and data; it does not lie beside this checkout"


def pytest_collection_finish() -> None:
    """Look for garbage again, but never among what was imported and collected."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)
    gc.enable()


@pytest.fixture(autouse=True)
def _no_network() -> Iterator[None]:
    yield
    network_guard.judge()


class Done(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Runs `verifyplan` with these words within this process, as to start one takes seconds; it shows no traceback."""
    from verifyplan.cli.app import main  # here, so that only tests of commands wait for it

    def run(*words: object, cwd: Path | None = None) -> Done:
        monkeypatch.setattr(sys, "argv", ["verifyplan", *map(str, words)])
        code = 0
        with contextlib.chdir(cwd or Path.cwd()):
            try:
                main()
            except SystemExit as ended:
                code = int(ended.code or 0)
        done = Done(code, *capsys.readouterr())
        assert "Traceback" not in done.err, done.err
        return done

    return run


@pytest.fixture(scope="session")
def static_bench() -> tuple[Any, list[Any]]:
    """What the static agents find in all labelled plans, and every event of these runs; it takes half a minute."""
    from verifyplan import bench_plans

    events: list[Any] = []
    return bench_plans(progress=False, sink=events.append), events


@pytest.fixture(scope="session")
def shared() -> Path:
    if not SHARED.is_dir():
        pytest.skip(NO_SHARED)
    return SHARED


@pytest.fixture(scope="session")
def cases(shared: Path):
    def read(name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads((shared / "conformance" / f"{name}.json").read_text())["cases"]
        assert found, f"no cases in {name}"
        return found

    return read
