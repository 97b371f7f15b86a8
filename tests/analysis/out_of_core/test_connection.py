"""A connection sends analyses to other processes, with the results that they have here (rule E5)."""

from __future__ import annotations

import os
from functools import partial

import pandas as pd
import pytest

import verifyplan as vp
from tests.analysis.out_of_core.datasets import dataset_of
from tests.analysis.out_of_core.dying import dies_once, where
from verifyplan.analysis.out_of_core.connection import connected
from verifyplan.analysis.out_of_core.map_parts import map_parts
from verifyplan.errors import InputError

CLAIMS = "stdlib-claims/adversarial"
SPACE = {"majority": ["1/2", "2/3"], "refutes": ["round", "sticky"]}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Twelve runs in four parts."""
    return dataset_of(vp.datasets.runs(CLAIMS), tmp_path_factory.mktemp("set"), runs_a_part=3)


def test_a_function_goes_where_one_is_connected_and_not_further(client):
    with vp.connect(client):
        found = set(map_parts(where, range(6)))
        assert connected() is client
    assert os.getpid() not in {process for process, _ in found}
    assert {inner for _, inner in found} == {None}
    assert connected() is None
    assert set(map_parts(where, range(3))) == {(os.getpid(), None)}


def test_results_are_those_of_here(dataset, client):
    runs = vp.datasets.runs(CLAIMS)
    here = vp.replay(dataset), vp.analysis.classify_dataset(dataset, ["adversarial", "collaborative"])
    search, compared = vp.search_rules(runs, SPACE), vp.compare(runs, resamples=20)
    with vp.connect(client):
        on_cluster = vp.compare(dataset, resamples=20)
        pd.testing.assert_frame_equal(vp.replay(dataset), here[0])
        there = vp.analysis.classify_dataset(dataset, ["adversarial", "collaborative"])
        for found in (vp.search_rules(runs, SPACE), vp.search_rules(dataset, SPACE)):
            pd.testing.assert_frame_equal(found.table, search.table)
            assert found.notes == search.notes
    assert {mode: each.digest for mode, each in there.items()} == {mode: each.digest for mode, each in here[1].items()}
    for name in ("findings", "summary", "tests", "agreement"):
        pd.testing.assert_frame_equal(getattr(on_cluster, name), getattr(compared, name))


def test_a_worker_that_dies_under_a_connection_costs_its_parts_alone(dataset, client, tmp_path):
    with vp.connect(client):
        found = list(map_parts(partial(dies_once, folder=tmp_path), dataset.parts))
    assert (tmp_path / "died").exists()
    assert [run_id for ids in found for run_id in ids] == list(dataset.runs["run_id"])


def test_the_last_open_connection_counts():
    outer = vp.connect(1)
    with vp.connect(3):
        assert connected() == 3
    assert connected() == 1
    outer.close()
    outer.close()
    assert connected() is None


@pytest.mark.parametrize("client", [None, 0, True, "scheduler:8786"])
def test_what_is_no_cluster_is_not_connected(client):
    with pytest.raises(InputError, match=r"client: .* cannot be given parts"):
        vp.connect(client)
    assert connected() is None
