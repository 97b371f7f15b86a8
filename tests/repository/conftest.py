"""Every test here parses what it parses: no outline is kept from the test before."""

from __future__ import annotations

import pytest

from verifyplan.repository import repository


@pytest.fixture(autouse=True)
def _nothing_is_parsed_yet() -> None:
    repository._OUTLINES.clear()
