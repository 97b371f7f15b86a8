"""Functions of parts give the same here, in other processes and on a cluster, whoever dies (rule E5)."""

from __future__ import annotations

from functools import partial

import pytest

import verifyplan as vp
from tests.analysis.out_of_core.datasets import dataset_of
from tests.analysis.out_of_core.dying import dies, dies_once
from verifyplan.analysis.out_of_core.class_counts import classify_dataset, replay_dataset
from verifyplan.analysis.out_of_core.map_parts import map_parts
from verifyplan.errors import InputError


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Twelve runs in four parts."""
    return dataset_of(vp.datasets.runs("stdlib-claims/adversarial"), tmp_path_factory.mktemp("set"), runs_a_part=3)


def test_a_process_that_dies_costs_its_parts_alone(dataset, tmp_path):
    found = list(map_parts(partial(dies_once, folder=tmp_path), dataset.parts, 2))
    assert (tmp_path / "died").exists()
    assert [run_id for ids in found for run_id in ids] == list(dataset.runs["run_id"])


def test_a_worker_of_a_cluster_that_dies_costs_its_parts_alone(dataset, client, tmp_path):
    found = list(map_parts(partial(dies_once, folder=tmp_path), dataset.parts, client))
    assert (tmp_path / "died").exists()
    assert [run_id for ids in found for run_id in ids] == list(dataset.runs["run_id"])


def test_a_part_that_always_ends_its_process_is_named():
    with pytest.raises(InputError, match=r"'the part': ended its process 3 times .*use fewer processes"):
        list(map_parts(dies, ["the part"], 2))


def test_counts_are_the_same_on_a_cluster(dataset, client):
    assert replay_dataset(dataset, client=client).digest == replay_dataset(dataset).digest
    here, there = (classify_dataset(dataset, mode="adversarial", client=each) for each in (None, client))
    assert (here.digest, str(here)) == (there.digest, str(there))


@pytest.mark.parametrize("client", [0, -1, "two", 2.0])
def test_a_client_that_is_none_is_refused(dataset, client):
    with pytest.raises(InputError, match=r"client: .* cannot be given parts"):
        list(map_parts(len, dataset.parts, client))


def test_notes_say_with_how_many_rounds_findings_are_censored(dataset):
    allowed = ("3 rounds, whatever its run allowed; `replay_dataset` takes each run's own number", "4 rounds, whatever")
    for found, words in zip(
        (classify_dataset(dataset, "adversarial"), replay_dataset(dataset, "adversarial", max_rounds=4)),
        allowed,
        strict=True,
    ):
        n = int(found.counts.loc[found.counts["censored"], "n"].sum())
        assert f"note: {n:,} of {found.n_findings:,} findings are censored: each is judged with {words}" in str(found)
