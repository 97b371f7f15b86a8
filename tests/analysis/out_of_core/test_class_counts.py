"""Findings are classified part by part as they are in memory, one by one and counted (rules B6, R4, E5)."""

from __future__ import annotations

from itertools import count

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.analysis.ballot_tables import frame, tables
from tests.analysis.out_of_core.datasets import dataset_of, in_order
from tests.longer import examples, part
from verifyplan.analysis.out_of_core.class_counts import classify_dataset, replay_dataset
from verifyplan.errors import InputError, SettingsError
from verifyplan.frames.dataset.dataset import Dataset
from verifyplan.frames.vote_checks import FINDING

RULES = [
    {"mode": "collaborative"},
    {"mode": "adversarial"},
    {"mode": "adversarial", "missing_basis": "counter-evidence", "max_rounds": 2},
    {"mode": "adversarial", "refutes": "sticky"},
    {"mode": "adversarial", "uncited": "as-burden"},
    {"mode": "adversarial", "workers": ["a", "b"]},
    {"mode": "adversarial", "stop": {"margin": 1}},
    {"mode": "adversarial", "aggregate": "dawid-skene"},
]
FOLDERS = count()
CLAIMS = "stdlib-claims/adversarial"


@pytest.fixture(scope="module")
def runs():
    return vp.datasets.runs(CLAIMS)


def stored(runs) -> Dataset:
    return dataset_of(runs, f"memory://counted/{next(FOLDERS)}")


@settings(max_examples=examples(32), deadline=None)
@given(findings=tables, rules=st.sampled_from(RULES))
def test_a_dataset_is_classified_as_its_votes_in_memory(findings, rules):
    votes = frame(findings).drop(columns="is_origin").sort_values("run_id", kind="stable", ignore_index=True)
    runs = vp.from_votes(
        votes,
        item="finding_id",
        worker="worker",
        verdict="verdict",
        basis="disagree_basis",
        explanation="explanation",
        run="run_id",
        round="round",
    )
    dataset = stored(runs)
    pd.testing.assert_frame_equal(vp.replay(dataset, rules=rules), vp.replay(runs, rules=rules))
    done = replay_dataset(dataset, rules=rules, folder=f"memory://counted/{next(FOLDERS)}")
    expected = vp.replay(runs, rules=rules)
    assert done.classes.to_dict() == expected["classification"].value_counts().to_dict()
    assert int(done.counts["n"].sum()) == done.n_findings == len(expected)
    if "stop" not in rules:  # a table alone does not tell in which order workers are asked
        classified = classify_dataset(dataset, rules=rules)
        alone = vp.classify(runs.votes, rules=rules)
        assert classified.classes.to_dict() == alone["classification"].value_counts().to_dict()


@pytest.mark.parametrize("rules", part([{}, *RULES, {"uncited": "as-burden"}], 2), ids=str)
def test_real_runs_are_replayed_as_in_memory(rules, runs, claims):
    pd.testing.assert_frame_equal(vp.replay(claims(5), rules=rules), vp.replay(runs, rules=rules))


def test_tables_of_findings_are_written_a_file_a_part(tmp_path, runs, claims):
    done = replay_dataset(claims(1), "adversarial", folder=tmp_path / "classes")
    assert len(done.paths) == 12
    written = pd.concat(map(pd.read_parquet, done.paths), ignore_index=True)
    expected = vp.replay(runs, "adversarial")
    for name in ("run_id", "finding_id", "classification", "rule", "decided_round", "censored", "low", "high"):
        assert in_order(written)[name].tolist() == in_order(expected)[name].tolist()


def test_findings_without_votes_are_said_where_the_votes_alone_are_classified():
    runs = vp.load(vp.datasets.path("contract"))
    found, voted = (set(table[FINDING].itertuples(index=False, name=None)) for table in (runs.findings, runs.votes))
    unvoted = found - voted
    for dataset, n in ((stored(runs), len(unvoted)), (stored(runs).select([min(unvoted)[0]]), 1)):
        votes, replayed = classify_dataset(dataset, "adversarial"), replay_dataset(dataset, "adversarial")
        assert votes.n_findings == len(vp.classify(dataset.votes, mode="adversarial"))
        assert replayed.n_findings == len(dataset.findings) == votes.n_findings + n > votes.n_findings
        (note,) = [note for note in votes.notes if "without votes" in note]
        assert note.startswith(
            f"{n} finding{'s' if n > 1 else ''} without votes {'are' if n > 1 else 'is'} not counted"
        )
        assert not [note for note in replayed.notes if "without votes" in note]


def test_a_challenge_voted_on_in_several_iterations_is_one_finding_with_votes():
    plan = vp.datasets.runs("live-example/plan")
    found = classify_dataset(stored(plan), "adversarial")
    assert (found.n_findings, len(plan.findings)) == (3, 1)
    assert not [note for note in found.notes if "without votes" in note]


def test_a_folder_with_files_is_not_written_into(tmp_path, claims):
    (tmp_path / "mine.txt").touch()
    with pytest.raises(InputError, match="holds files already"):
        replay_dataset(claims(1), folder=tmp_path)


def test_words_say_the_classes_and_what_a_reader_must_know(claims):
    done = replay_dataset(claims(1), max_rounds=3)
    lines = str(done).split("\n")
    assert lines[0] == "720 findings"
    assert any("are censored" in line for line in lines)
    assert lines[-1] == "note: Findings or votes were generated, not observed."
    assert "<table" in done._repr_html_()


def test_runs_in_memory_are_no_dataset():
    with pytest.raises(InputError, match="must be a dataset that is on disk"):
        classify_dataset(vp.datasets.runs("contract"), mode="adversarial")


def test_rules_are_checked_as_ever(claims):
    with pytest.raises(SettingsError, match="'hostile' is unknown"):
        replay_dataset(claims(1), "hostile")


def test_both_modes_of_one_pass_are_those_of_two(claims):
    dataset = claims(5)
    for count_classes in (classify_dataset, replay_dataset):
        both = count_classes(dataset, ["adversarial", "collaborative"])
        assert list(both) == ["adversarial", "collaborative"]
        for mode, found in both.items():
            alone = count_classes(dataset, mode)
            assert (found.digest, str(found)) == (alone.digest, str(alone))


def test_several_rules_of_one_pass_are_those_of_many(claims):
    dataset, whole = claims(5), claims(100)
    rules = {"sticky": "sticky-refutes", "stopped": {"stop": {"margin": 1}}, "as run": {}}
    for name, found in replay_dataset(dataset, rules=rules, max_rounds=2).items():
        assert found.digest == replay_dataset(whole, rules=rules[name], max_rounds=2).digest
    assert list(classify_dataset(dataset, "adversarial", rules=["unanimous", {"refutes": "sticky"}])) == [
        "unanimous",
        "refutes sticky",
    ]


def test_findings_under_several_rules_are_not_written(tmp_path, claims):
    with pytest.raises(InputError, match="folder: takes the findings under one set of rules, got 2"):
        classify_dataset(claims(1), ["adversarial", "collaborative"], folder=tmp_path)


def test_columns_of_one_value_are_not_read_and_there(tmp_path):
    runs = vp.datasets.runs(CLAIMS)
    part = dataset_of(runs, tmp_path, runs_a_part=100).parts[0]
    columns = ["run_id", "iteration", "round", "worker", "verdict", "disagree_basis", "is_origin"]
    votes, expected = part.coded_votes(columns), part.votes[columns]
    for name in columns:
        assert votes[name].astype("object").fillna("").tolist() == expected[name].astype("object").fillna("").tolist()
    assert votes["verdict"].dtype == expected["verdict"].dtype
    assert not votes["iteration"].any()
