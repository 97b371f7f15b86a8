"""One cluster and one dataset for all tests of analyses that go part by part."""

from __future__ import annotations

import gc
from functools import cache
from pathlib import Path

import pytest
from distributed import Client, LocalCluster

import verifyplan as vp
from tests.analysis.out_of_core.datasets import dataset_of
from verifyplan.frames.dataset.dataset import Dataset


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let Dask leave sockets to workers that died unclosed: when they are collected, and in which test, is chance."""
    unclosed = pytest.mark.filterwarnings("ignore:unclosed .*socket:ResourceWarning")
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(unclosed)


@pytest.fixture(scope="package")
def client():
    """Two processes of a Dask cluster, of 1 GB each."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, memory_limit="1GB", dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client
    gc.collect()  # what workers left open is collected here, and in no test of another folder


@pytest.fixture(scope="package")
def claims():
    """Return a function from a number of runs to the bundled claims with so many in a part, written once."""

    @cache
    def written(runs_a_part: int) -> str:
        folder = f"memory://claims/{runs_a_part}"
        dataset_of(vp.datasets.runs("stdlib-claims/adversarial"), folder, runs_a_part)
        return folder

    return lambda runs_a_part: Dataset.open(written(runs_a_part))
