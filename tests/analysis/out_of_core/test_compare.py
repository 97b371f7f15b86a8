"""A comparison of a dataset has the figures that the same runs have in memory (rules F1, E5)."""

from __future__ import annotations

import pandas as pd
import pytest

import verifyplan as vp
from tests.analysis.out_of_core.datasets import dataset_of
from verifyplan.analysis.out_of_core.compare import LEFT_OUT, compare_dataset
from verifyplan.errors import InputError, SettingsError

TABLES = ("mix", "truth", "summary", "tests", "bounds", "cost", "transitions")
COLUMNS = ["run_id", "iteration", "finding_id", "truth", "changed"]


@pytest.fixture(scope="module", params=["stdlib-claims/adversarial", "contract"])
def runs(request):
    return vp.datasets.runs(request.param)


@pytest.fixture(scope="module")
def dataset(runs, tmp_path_factory):
    return dataset_of(runs, tmp_path_factory.mktemp("set"), runs_a_part=5)


def expect_equal(found, expected):
    for name in TABLES:
        if getattr(expected, name) is None:
            assert getattr(found, name) is None
        else:
            pd.testing.assert_frame_equal(getattr(found, name), getattr(expected, name))
    for name in [*COLUMNS, *(f"classification_{condition}" for condition in expected.conditions)]:
        assert found.findings[name].tolist() == expected.findings[name].tolist()
    facts = ("conditions", "n_findings", "n_runs", "resampled", "synthetic")
    assert [getattr(found, name) for name in facts] == [getattr(expected, name) for name in facts]


@pytest.mark.parametrize(
    "arguments",
    [{}, {"max_rounds": 3}, {"modes": ["recorded", vp.Setting("adversarial", missing_basis="counter-evidence")]}],
    ids=str,
)
def test_modes_are_compared_as_in_memory(dataset, runs, arguments):
    expect_equal(compare_dataset(dataset, resamples=50, **arguments), vp.compare(runs, resamples=50, **arguments))


def test_rules_are_compared_as_in_memory(dataset, runs):
    rules = {"as run": {}, "sticky": "sticky-refutes", "stopped": {"stop": {"margin": 1}}}
    found, expected = (compare(each, rules=rules, resamples=50) for compare, each in
                       ((compare_dataset, dataset), (vp.compare, runs)))  # fmt: skip
    for pair in (("as run", "sticky"), ("sticky", "stopped")):
        expect_equal(found.between(*pair), expected.between(*pair))


def test_it_says_what_it_leaves_out(dataset, runs):
    found, expected = compare_dataset(dataset, resamples=50), vp.compare(runs, resamples=50)
    assert found.notes[-1] == LEFT_OUT
    assert set(found.notes[:-1]) <= set(expected.notes)
    assert found.agreement.columns.tolist() == expected.agreement.columns.tolist()
    assert str(found).split("\n")[:4] == str(expected).split("\n")[:4]


def test_one_mode_is_no_comparison(dataset):
    with pytest.raises(SettingsError, match="must name at least two conditions"):
        compare_dataset(dataset, modes=["adversarial"])


@pytest.mark.parametrize("value", [3, None, {"a": "memory://a"}, vp.datasets.runs], ids=str)
def test_what_is_no_dataset_is_refused(value):
    with pytest.raises(
        InputError, match=r"^dataset: must be a dataset that is on disk, got .*\. Fix: compile the runs"
    ):
        compare_dataset(value)


def test_several_datasets_are_refused_with_what_compares_them(dataset):
    with pytest.raises(
        InputError, match=r"^dataset: must be one dataset, got 2 sets\. Fix: .* compare\(load\(a\), load"
    ):
        compare_dataset(dataset, dataset)


@pytest.mark.parametrize(("name", "value"), [("resamples", "many"), ("resamples", 0), ("seed", None)])
def test_draws_are_checked_as_in_memory(name, value, dataset):
    with pytest.raises(SettingsError, match=f"^{name}: must be an integer of at least [01], got {value!r}"):
        compare_dataset(dataset, **{name: value})
