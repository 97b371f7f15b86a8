"""Tables have their declared columns and types wherever they come from, and say what artifacts say (rules E4, B9)."""

from __future__ import annotations

from html import escape

import numpy as np
import pandas as pd
import pytest

from tests.frames.artifacts import as_bytes, sound
from tests.frames.plan_events import records, whole
from verifyplan.analysis.documentation import documentation
from verifyplan.columns import MAX_SHOWN_WIDTH
from verifyplan.errors import TableError
from verifyplan.frames.artifact import parse_artifact
from verifyplan.frames.artifact_tables import artifact_columns
from verifyplan.frames.columns import KEYS, TABLES, typed
from verifyplan.frames.load import load
from verifyplan.frames.run_tables import tables_of
from verifyplan.frames.runset import TableLists, assemble
from verifyplan.frames.votes import from_votes
from verifyplan.protocol.artifact import Artifact, ArtifactFinding
from verifyplan.protocol.vote import VERDICTS


def a_run(**changes: object) -> TableLists:
    return artifact_columns(parse_artifact(as_bytes({**sound(), **changes}), "run.json"), "run", "folder/run.json")


def a_finding(**values: object) -> ArtifactFinding:
    return ArtifactFinding.model_validate(values)


PLAN_RUN = tables_of(records(whole()), "run")
SOURCES = {
    "artifacts": lambda _: assemble([a_run()]),
    "no artifact": lambda _: assemble([]),
    "the least artifact": lambda _: assemble([artifact_columns(Artifact(schemaVersion="1.0", findings=()), "run")]),
    "votes": lambda _: from_votes(
        pd.DataFrame({"i": [1], "w": [1], "v": ["agree"]}), item="i", worker="w", verdict="v"
    ),
    "no votes": lambda _: from_votes(pd.DataFrame(columns=["i", "w", "v"]), item="i", worker="w", verdict="v"),
    "saved": lambda folder: load(assemble([a_run()]).save(folder)),
    "saved empty": lambda folder: load(assemble([]).save(folder)),
    "a plan's log": lambda _: PLAN_RUN,
    "a saved plan's log": lambda folder: load(PLAN_RUN.save(folder)),
    "selected": lambda _: assemble([a_run()]).select([]),
}


@pytest.fixture(scope="module", params=SOURCES)
def made(request, tmp_path_factory):
    """All tables of one source."""
    return SOURCES[request.param](tmp_path_factory.mktemp("tables"))


@pytest.mark.parametrize("table", TABLES)
def test_every_declared_column_is_there_in_order_and_with_its_type(made, table):
    frame = getattr(made, table)
    assert list(frame.columns) == [column.name for column in TABLES[table]]
    assert frame.dtypes.tolist() == [pd.api.types.pandas_dtype(column.dtype) for column in TABLES[table]]
    assert isinstance(frame.index, pd.RangeIndex)
    for column in TABLES[table]:
        if isinstance(column.kind, tuple):
            assert frame[column.name].cat.categories.tolist() == list(column.kind)
            assert frame[column.name].cat.ordered


def test_an_ordered_set_of_verdicts_can_be_compared_and_counted_when_empty():
    votes = assemble([]).votes
    assert votes["verdict"].value_counts().to_dict() == dict.fromkeys(VERDICTS, 0)
    assert (assemble([a_run()]).votes["verdict"] > "agree").tolist() == [True, False]


def test_the_rows_of_an_artifact():
    tables = assemble([a_run()])
    run = tables.runs.iloc[0].to_dict()
    assert (run["run_id"], run["kind"], run["mode"], run["source"]) == (
        "run",
        "cross",
        "adversarial",
        "folder/run.json",
    )
    assert (run["n_findings"], run["effective_max_rounds"], run["total_rounds"]) == (2, 1, 1)
    assert tables.findings["finding_id"].tolist() == ["F-2", "F-1"]
    assert tables.findings["ticket_ids"].tolist() == [["T-1", "T-2"]] * 2
    assert tables.findings["n_rounds"].tolist() == [1, 0]
    assert tables.votes[["finding_id", "iteration", "round", "worker", "disagree_basis"]].astype(object).replace(
        np.nan, None
    ).to_numpy().tolist() == [["F-2", 0, 1, "cy", "counter-evidence"], ["F-2", 0, 1, "bob", None]]
    assert tables.rounds.iloc[0].tolist() == ["run", 0, 1, 1, 0, 1]
    assert tables.dispatches[["worker", "status", "duration_ms", "skipped_reason"]].astype(object).replace(
        np.nan, None
    ).to_numpy().tolist() == [
        ["cy", "completed", 1200, None],
        ["bob", "completed", 800.5, None],
        ["ann", None, None, "no items to verify"],
    ]


def test_a_call_without_result_is_one_row_with_status_and_reason():
    record = {
        "round": 1,
        "dispatches": [{"worker": "cy", "status": "timeout", "durationMs": 5}],
        "skippedWorkers": [{"worker": "cy", "reason": "timeout"}],
    }
    dispatches = assemble([a_run(roundHistory=[record])]).dispatches
    assert dispatches[["worker", "status", "skipped_reason"]].to_numpy().tolist() == [["cy", "timeout", "timeout"]]


@pytest.mark.parametrize(
    ("config", "total", "expected"),
    [
        ({"effectiveMaxRounds": 3, "maxRounds": 2}, 1, 3),
        ({"effectiveMaxRounds": 0, "maxRounds": 2}, 0, 0),
        ({"maxRounds": 2}, 1, 2),
        ({}, 1, 1),
        ({}, None, pd.NA),
    ],
)
def test_the_rounds_allowed_of_older_versions(config, total, expected):
    runs = assemble(
        [artifact_columns(Artifact(schemaVersion="1.0", config=config, findings=(), totalRounds=total), "r")]
    ).runs
    assert runs["effective_max_rounds"].tolist() == [expected]


def test_discoverers_are_the_origin_and_the_silent_part_of_the_consensus():
    votes = {"bob": {"verdict": "agree"}, "cy": {"verdict": "disagree"}}
    values = {"originWorker": "ann", "consensusWorkers": ["dan", "ann", "bob", "dan"], "dissentingWorkers": ["cy"]}
    findings = [
        a_finding(findingId="F-1", rounds=[{"round": 1, "votes": votes}], **values),
        a_finding(findingId="F-2", **values),
        a_finding(findingId="F-3", consensusWorkers=["bob"]),
        a_finding(findingId="F-4"),
    ]
    artifact = Artifact(schemaVersion="1.2", findings=tuple(findings))
    assert assemble([artifact_columns(artifact, "r")]).findings["discoverers"].tolist() == [
        ["ann", "dan"],
        ["ann", "dan", "bob"],
        ["bob"],
        [],
    ]


def test_a_vote_of_the_origin_is_marked_and_nobody_elses():
    votes = {name: {"verdict": "agree"} for name in ("ann", "bob")}
    finding = {"findingId": "F", "originWorker": "ann", "consensusWorkers": ["ann", "bob", "cy"], "rounds": [
        {"round": 1, "votes": votes}]}  # fmt: skip
    table = assemble([a_run(findings=[finding], finalClassificationCounts=None)])
    assert table.votes.set_index("worker")["is_origin"].to_dict() == {"ann": True, "bob": False}
    assert table.findings["discoverers"].tolist() == [["ann", "cy"]]


@pytest.mark.parametrize(
    ("verdict", "basis", "explanation", "uncited"),
    [
        ("disagree", "counter-evidence", "see auth.py:12", False),
        ("disagree", "counter-evidence", "on line 12", False),
        ("disagree", "counter-evidence", "it is wrong", True),
        ("disagree", "counter-evidence", None, True),
        ("disagree", "burden-not-met", "it is wrong", False),
        ("agree", None, "it is right", False),
    ],
)
def test_a_counter_evidence_that_cites_nothing_is_flagged_wherever_it_comes_from(verdict, basis, explanation, uncited):
    vote = {"verdict": verdict, "disagreeBasis": basis, "explanation": explanation}
    finding = {"findingId": "F", "rounds": [{"round": 1, "votes": {"bob": vote}}]}
    told = assemble([a_run(findings=[finding], finalClassificationCounts=None)])
    frame = pd.DataFrame({"i": [1], "w": ["bob"], "v": [verdict], "b": [basis], "e": [explanation]})
    imported = from_votes(frame, item="i", worker="w", verdict="v", basis="b", explanation="e")
    assert told.votes["uncited"].tolist() == imported.votes["uncited"].tolist() == [uncited]


def test_two_runs_of_one_id_are_refused():
    with pytest.raises(TableError, match="table runs: 1 rows repeat the key of another, the first at run_id run"):
        assemble([a_run(), a_run()])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "column run_id: is missing in 1 of 1 rows. Fix: fill it: the run"),
        ({"run_id": ["r"], "round": ["x"]}, "column round: does not fit its type .* Fix: give whole numbers"),
        ({"run_id": ["r"], "round": [1.5]}, "column round: does not fit its type"),
        ({"run_id": ["r"], "round": [10**30]}, "column round: does not fit its type"),
        ({"run_id": ["r"], "round": [1], "worker": ["w"], "duration_ms": ["x"]}, "duration_ms: .* Fix: give numbers"),
        ({"run_id": ["r"], "round": [1], "worker": ["w"], "status": [["x"]]}, r"column status: holds \"\['x'\]\""),
        ({"run_id": ["r"], "round": [1], "worker": ["w"], "status": ["done"]}, "column status: holds 'done'. Fix: use"),
    ],
)
def test_values_that_do_not_fit_a_column_are_named(values, message):
    with pytest.raises(TableError, match=message):
        typed("dispatches", values or {"x": [1]})


def test_a_text_where_a_list_of_names_belongs_is_refused():
    with pytest.raises(
        TableError, match=r"column discoverers: does not fit its type .'ann' is a text.* lists of names"
    ):
        typed("findings", {"run_id": ["r"], "finding_id": ["F"], "discoverers": ["ann"]})


def test_two_columns_of_one_name_are_refused():
    twice = pd.DataFrame([["r", 1, 2]], columns=["run_id", "round", "round"])
    with pytest.raises(TableError, match="table rounds: has two columns 'round'"):
        typed("rounds", twice)


def test_other_columns_stay_behind_the_declared_ones_and_the_input_is_unchanged():
    given = pd.DataFrame({"note": ["n"], "round": [1], "run_id": ["r"]}, index=[7])
    before = given.copy(deep=True)
    frame = typed("rounds", given)
    assert list(frame)[:3] == ["run_id", "iteration", "round"]
    assert frame["iteration"].tolist() == [0]  # as tables were before there were plan runs
    assert list(frame)[-1] == "note"
    pd.testing.assert_frame_equal(given, before)


def test_the_documentation_lists_every_column_and_key():
    for table, columns in TABLES.items():
        told = documentation(table)
        assert told.index.tolist() == [column.name for column in columns]
        assert told.index[told["key"]].tolist() == KEYS[table]
        assert told["meaning"].str.len().gt(0).all()


def test_the_documentation_shows_meanings_whole_in_print_and_html():
    told = documentation("calls")
    for meaning in told["meaning"]:
        assert meaning in " ".join(str(told).split())
        assert escape(meaning, quote=False) in told._repr_html_()
    assert max(map(len, str(told).splitlines())) <= MAX_SHOWN_WIDTH
    assert str(told.tail(1)) in str(told)
    assert told["meaning"].max() in str(told[["meaning"]])
