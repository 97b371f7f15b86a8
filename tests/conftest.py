"""What all tests share: no network, and the folder of independent cases, where it lies beside the repository."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import network_guard
import pytest
from hypothesis import settings

network_guard.forbid_network()

settings.register_profile("no deadline", deadline=None)  # no test here is about time
settings.load_profile("no deadline")

SHARED = Path(__file__).resolve().parents[2] / "shared"
NO_SHARED = "needs ../shared, the folder of independent cases and data; it does not lie beside this checkout"


@pytest.fixture(autouse=True)
def _no_network() -> Iterator[None]:
    yield
    network_guard.judge()


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
