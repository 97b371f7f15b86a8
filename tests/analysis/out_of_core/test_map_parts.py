"""Functions of parts give the same here, in other processes, of an executor and on a cluster (rule E5)."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest

import verifyplan as vp
from tests.analysis.out_of_core.called import dies, refuses, where
from tests.analysis.out_of_core.datasets import dataset_of
from verifyplan.analysis.out_of_core.class_counts import classify_dataset, replay_dataset
from verifyplan.analysis.out_of_core.compare import compare_dataset
from verifyplan.analysis.out_of_core.map_parts import map_parts
from verifyplan.errors import InputError


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Twelve runs in four parts."""
    return dataset_of(vp.datasets.runs("stdlib-claims/adversarial"), tmp_path_factory.mktemp("set"), runs_a_part=3)


@pytest.fixture(params=[None, 2, "cluster", "threads"])
def anywhere(request):
    """Return each client that can be given parts."""
    match request.param:
        case "cluster":
            yield request.getfixturevalue("client")
        case "threads":
            with ThreadPoolExecutor(2) as pool:
                yield pool
        case other:
            yield other


def test_results_come_in_the_order_of_the_parts(anywhere):
    assert list(map_parts(abs, range(-9, 9), anywhere)) == [abs(number) for number in range(-9, 9)]


def test_errors_of_a_function_are_raised_at_its_part(anywhere):
    found = map_parts(refuses, range(4), anywhere)
    assert next(found) == 0
    with pytest.raises(ValueError, match="no second part"):
        next(found)


def test_functions_are_called_where_they_are_sent(client):
    here = os.getpid()
    assert set(map_parts(where, range(3))) == {here}
    for processes in (2, client):
        assert here not in set(map_parts(where, range(4), processes))


def test_a_process_that_dies_is_an_error_that_says_what_to_do():
    with pytest.raises(InputError, match=r"client: a process ended before its part was done.*use fewer processes"):
        list(map_parts(dies, ["the part"], 2))


def test_counts_and_figures_are_those_of_here(dataset, anywhere):
    assert replay_dataset(dataset, client=anywhere).digest == replay_dataset(dataset).digest
    modes = ["adversarial", "collaborative"]
    here, there = (classify_dataset(dataset, modes, client=each) for each in (None, anywhere))
    assert {mode: (each.digest, str(each)) for mode, each in there.items()} == {
        mode: (each.digest, str(each)) for mode, each in here.items()
    }
    found, expected = (compare_dataset(dataset, resamples=20, client=each) for each in (anywhere, None))
    for name in ("findings", "summary", "tests"):
        pd.testing.assert_frame_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize("client", [0, -1, True, "scheduler:8786", 2.0])
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
