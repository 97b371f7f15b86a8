"""Analyses of votes give the same of a dataset, read part by part, as of the same runs in memory (rule E5)."""

from __future__ import annotations

from dataclasses import fields
from itertools import count

import pandas as pd
import pytest
from hypothesis import given, settings

import verifyplan as vp
from tests.analysis.ballot_tables import frame, tables
from tests.analysis.out_of_core.datasets import dataset_of
from tests.longer import examples, part

FOLDERS = count()
SPACE = [
    {},
    {"mode": "adversarial"},
    {"mode": "adversarial", "refutes": "sticky"},
    {"mode": "adversarial", "uncited": "as-burden"},
    {"workers": ["syntax-tree"]},
    {"aggregate": "majority", "stop": {"margin": 1}},
    {"aggregate": "first-round", "mode": "collaborative"},
]
ESTIMATES = {"aggregate": "dawid-skene"}
"""Rules that estimate the workers of whole runs, which read all votes at once."""
ANALYSES = {
    "workers": vp.workers,
    "panel": vp.panel,
    "flips": vp.flips,
    "agreement": vp.agreement,
    "influence": vp.influence,
    "dawid-skene": lambda runs: vp.aggregate(runs, method="dawid-skene"),
    "search": lambda runs: vp.search_rules(runs, SPACE),
    "search with estimates": lambda runs: vp.search_rules(runs, [*SPACE, ESTIMATES]),
    "search by default": vp.search_rules,
}


@pytest.fixture(scope="module", params=part(["stdlib-claims/adversarial", "stdlib-claims/collaborative"], 2))
def runs(request):
    return vp.datasets.runs(request.param)


@pytest.fixture(scope="module")
def dataset(runs):
    return dataset_of(runs, f"memory://same/{next(FOLDERS)}", runs_a_part=5)


def expect_equal(found, expected):
    assert str(found) == str(expected)
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(found, expected, rtol=1e-9)
        return
    for name in (each.name for each in fields(expected) if not each.name.startswith("_")):
        mine, theirs = getattr(found, name), getattr(expected, name)
        if isinstance(theirs, pd.DataFrame):
            pd.testing.assert_frame_equal(mine, theirs, rtol=1e-9)
        elif name not in ("votes", "clusters"):
            assert str(mine) == str(theirs), name


@pytest.mark.parametrize("name", ANALYSES)
def test_real_runs_give_the_same(dataset, runs, name):
    expect_equal(ANALYSES[name](dataset), ANALYSES[name](runs))
    if name != "search with estimates":
        assert "votes" not in dataset.__dict__, "the whole table of votes was read"
    dataset.__dict__.pop("votes", None)


def imported(findings) -> vp.RunSet:
    votes = frame(findings).drop(columns="is_origin").sort_values("run_id", kind="stable", ignore_index=True)
    votes["truth"] = votes["finding_id"].map(lambda name: len(name) % 2 == 0 or name.endswith("1"))
    names = {"item": "finding_id", "run": "run_id", "basis": "disagree_basis", "truth": "truth"}
    same = {name: name for name in ("worker", "verdict", "round", "explanation")}
    return vp.from_votes(votes, **names, **same)


def outcome(analysis, runs):
    """Return what an analysis returns, or the words with which it refuses the votes."""
    try:
        return analysis(runs)
    except vp.errors.VerifyplanError as error:
        return str(error)


@settings(max_examples=examples(12), deadline=None)
@given(findings=tables)
def test_any_votes_give_the_same(findings):
    runs = imported(findings)
    dataset = dataset_of(runs, f"memory://same/{next(FOLDERS)}")
    for name in ("workers", "panel", "flips", "agreement", "dawid-skene", "search with estimates"):
        found, expected = (outcome(ANALYSES[name], each) for each in (dataset, runs))
        if isinstance(expected, str):
            assert found == expected, name
        else:
            expect_equal(found, expected)


def test_runs_that_are_left_out_are_not_counted(dataset, runs):
    ids = list(runs.runs["run_id"])[1:8]
    expect_equal(vp.workers(dataset.select(ids)), vp.workers(runs.select(ids)))


def test_words_are_those_of_the_runs(dataset):
    assert dataset.explanations().tolist() == dataset.in_memory().explanations().tolist()
