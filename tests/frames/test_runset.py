"""A RunSet is selected from, told the truth, saved and joined; what went in is never changed (rule E4)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp
from tests.frames.artifacts import as_bytes, sound
from verifyplan.errors import InputError, TableError
from verifyplan.frames.artifact import parse_artifact
from verifyplan.frames.artifact_tables import artifact_columns
from verifyplan.frames.load import load
from verifyplan.frames.runset import TABLE_NAMES, RunSet, assemble, concat


def make(*run_ids: str) -> RunSet:
    sound_run = parse_artifact(as_bytes(sound()), "run.json")
    return assemble([artifact_columns(sound_run, run_id) for run_id in run_ids])


@pytest.fixture
def runs():
    """Three runs; whatever a test does with them, they are the same afterwards."""
    made = make("x", "y", "long name")
    before = {name: getattr(made, name).copy(deep=True) for name in TABLE_NAMES}
    yield made
    for name in TABLE_NAMES:
        pd.testing.assert_frame_equal(getattr(made, name), before[name])


def same(one: RunSet, other: RunSet) -> None:
    for name in TABLE_NAMES:
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize(
    "chosen",
    [
        ["long name", "x"],
        {"x", "long name"},
        pd.Series(["x", "long name"]),
        lambda r: r["run_id"] != "y",
        lambda r: [True, False, True],  # noqa: ARG005
        lambda r: np.array([1, 0, 1]),  # noqa: ARG005
        lambda r: pd.Series([True, pd.NA, True], r.index),
        lambda r: (r["run_id"] != "y").astype("boolean"),
    ],
)
def test_select_keeps_the_chosen_runs_in_every_table(runs, chosen):
    few = runs.select(chosen)
    same(few, make("x", "long name"))
    assert len(few) == 2


def test_one_run_is_selected_by_its_name(runs):
    same(runs.select("long name"), make("long name"))


def test_a_missing_value_in_a_column_selects_nothing(runs):
    assert len(runs.select(lambda r: r["task_key"].where(r["run_id"] == "x") == "task")) == 1
    assert len(runs.select([])) == 0


def test_all_runs_that_are_not_there_are_listed(runs):
    with pytest.raises(InputError, match=r"'nope' is not in this set\. Fix: use one of: x, y, long name") as caught:
        runs.select(["nope", "x", "zz"])
    assert [problem.message for problem in caught.value.problems] == [
        "'nope' is not in this set",
        "'zz' is not in this set",
    ]


@pytest.mark.parametrize(
    "answer",
    [
        lambda r: None,  # noqa: ARG005
        lambda r: [True],  # noqa: ARG005
        lambda r: r["run_id"],
        lambda r: r.set_index("run_id")["n_findings"] > 0,
        lambda r: (r["n_findings"] > 0).iloc[::-1],
    ],
)
def test_a_function_that_is_no_choice_of_runs_is_refused(runs, answer):
    with pytest.raises(InputError, match=r"the function does not say true or false of each run\. Fix: give a boolean"):
        runs.select(answer)


@pytest.mark.parametrize(
    "truth",
    [
        {"F-1": True, "F-2": False, "other": True},
        {"F-1": 1, "F-2": np.False_},
        {"F-1": "TRUE", "F-2": "false"},
        pd.DataFrame({"finding_id": ["F-1", "F-2", "F-1", "F-2"], "truth": [True, False, True, None], "x": 0}),
        pd.DataFrame({"finding_id": pd.Categorical(["F-1", "F-2"]), "truth": [1.0, 0.0]}),
        pd.Series({"F-1": True, "F-2": False}),
    ],
)
def test_truth_is_told_by_finding_id_in_every_run(runs, truth):
    findings = runs.with_truth(truth).findings
    assert findings["truth"].tolist() == [False, True] * 3
    assert findings["truth"].dtype == "boolean"


def test_findings_not_named_keep_their_truth(runs):
    told = runs.with_truth({"F-1": True}).with_truth({"F-2": False, "F-1": None})
    assert told.findings["truth"].tolist() == [False, True] * 3
    assert runs.with_truth({}).findings["truth"].isna().all()


def test_whole_numbers_name_findings_whose_ids_are_digits(runs):
    with pytest.raises(InputError, match="no id of its 1 finding is in these runs; the first is '1'"):
        make("x").with_truth({1: True})
    findings = runs.findings.assign(finding_id=["1", "2"] * 3)
    renamed = RunSet(runs.runs, findings, runs.votes, runs.rounds, runs.dispatches)
    assert renamed.with_truth({1: True, 2: False}).findings["truth"].tolist() == [True, False] * 3


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        (pd.DataFrame({"finding_id": ["F-1", "F-1"], "truth": [True, False]}), "'F-1' is both true and false"),
        (pd.DataFrame({"id": ["F-1"]}), "no column 'finding_id'.*\n.*no column 'truth'"),
        (
            {"F-1": "maybe"},
            "holds 'maybe'. Fix: say what your words mean, as truths={'maybe': <True or False>}, or use one of",
        ),
        ({"F-1": 2}, "holds '2'"),
    ],
)
def test_truth_that_contradicts_itself_or_is_none_is_refused(runs, truth, message):
    with pytest.raises(InputError, match=message):
        runs.with_truth(truth)


def test_saved_tables_load_equal_frame_by_frame(runs, tmp_path):
    told = runs.with_truth({"F-1": True})
    assert told.save(tmp_path / "new" / "saved") == tmp_path / "new" / "saved"
    same(load(tmp_path / "new" / "saved"), told)
    told.select(["x"]).save(tmp_path / "new" / "saved")
    same(load(tmp_path / "new" / "saved"), told.select(["x"]))
    names = {path.name for path in (tmp_path / "new" / "saved").iterdir()}
    assert names == {f"{name}.parquet" for name in TABLE_NAMES}


def test_columns_of_ones_own_are_saved_too(runs, tmp_path):
    mine = RunSet(runs.runs.assign(note="mine"), runs.findings, runs.votes, runs.rounds, runs.dispatches)
    assert load(mine.save(tmp_path)).runs["note"].tolist() == ["mine"] * 3


def test_csv_has_every_row_and_joins_lists(runs, tmp_path):
    runs.save_csv(tmp_path)
    for name in TABLE_NAMES:
        frame = pd.read_csv(tmp_path / f"{name}.csv")
        assert list(frame) == list(getattr(runs, name))
        assert len(frame) == len(getattr(runs, name))
    findings = pd.read_csv(tmp_path / "findings.csv")
    assert findings["ticket_ids"].tolist() == ["T-1; T-2"] * 6
    assert findings["summary"].tolist() == runs.findings["summary"].tolist()
    make().save_csv(tmp_path)
    assert len(pd.read_csv(tmp_path / "votes.csv")) == 0


def test_joined_sets_are_as_if_made_at_once(runs):
    same(concat([make("x"), make(), make("y", "long name")]), runs)
    same(concat(iter([runs])), runs)
    same(concat([make(), make()]), make())


def test_joined_sets_keep_the_errors_of_all(runs, tmp_path):
    (tmp_path / "bad.json").write_text("{")
    bad = load(tmp_path, strict=False)
    assert concat([runs, bad, bad]).errors["source"].tolist() == [str(tmp_path / "bad.json")] * 2


def test_sets_that_share_a_run_are_not_joined(runs):
    with pytest.raises(TableError, match="table runs: 1 rows repeat the key of another, the first at run_id y"):
        concat([runs, make("y")])
    with pytest.raises(InputError, match="concat: there is nothing to join"):
        concat([])


def test_a_set_shows_its_size_and_text_only_as_text():
    hostile = make("<script>alert(1)</script>")
    assert repr(hostile) == "RunSet(1 run, 2 findings, 2 votes, 1 round, 3 dispatches)"
    assert "<script>" not in hostile._repr_html_()
    assert "&lt;script&gt;" in hostile._repr_html_()


def test_of_a_table_the_rounds_are_those_of_its_votes():
    votes = pd.DataFrame({"item": ["F"] * 1200, "who": [f"w{n}" for n in range(600)] * 2, "says": "agree"})
    votes["step"] = [1] * 600 + [2] * 600
    runs = vp.from_votes(votes, item="item", worker="who", verdict="says", round="step")
    assert repr(runs) == "RunSet(1 run, 1 finding, 1,200 votes in 2 rounds)"
    assert repr(vp.RunSet()) == "RunSet(0 runs, 0 findings, 0 votes, 0 rounds, 0 dispatches)"


def test_an_overview_has_the_columns_of_the_kinds_there_are():
    cross = vp.datasets.runs("stdlib-claims/adversarial").overview()
    assert cross.columns.tolist() == [
        *("run_id", "kind", "mode", "verification_mode", "n_findings", "total_rounds", "final_state", "finished"),
        "synthetic",
    ]
    plan = vp.datasets.runs("live-example/plan").overview()
    assert {"plan_verdict", "plan_status", "score"} <= set(plan)
    assert "final_state" not in plan
    both = vp.concat([vp.datasets.runs("stdlib-claims/adversarial"), vp.datasets.runs("live-example/plan")]).overview()
    assert len(both) == len(cross) + len(plan)
    assert {"final_state", "plan_verdict"} <= set(both)
