"""Panels part their items in fewer ways than they do elsewhere: most tests look at no figure of chosen judges."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.longer import LONG
from verifyplan.analysis.panels import selection

N_PARTITIONS = selection.N_PARTITIONS


@pytest.fixture(scope="module", autouse=True)
def _few_partitions() -> Iterator[None]:
    """Choose judges on 10 ways to part the items, not 200, where not everything is repeated."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "N_PARTITIONS", N_PARTITIONS if LONG else 10)
        yield


@pytest.fixture
def every_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Choose judges on all ways to part the items: for tests of figures that are a mean over these."""
    monkeypatch.setattr(selection, "N_PARTITIONS", N_PARTITIONS)
