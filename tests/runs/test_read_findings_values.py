"""Findings from Python values and DataFrames, with every problem told at once (rule H3)."""

from __future__ import annotations

import re
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

from tests.runs.crossing import Playing, finding, run_of
from verifyplan.errors import InputError
from verifyplan.protocol.vote import Finding, PlanItem
from verifyplan.runs.read_findings import read_findings, read_plan_items

ROSTER = ["ann", "bob"]


def problems(rows: object) -> list[str]:
    with pytest.raises(InputError, match=r"Fix: ") as caught:
        read_findings(rows, ROSTER)
    return [str(problem) for problem in caught.value.problems]


def test_dictionaries_models_and_generators_say_the_same():
    rows = [finding("F-1"), finding("F-2", "bob")]
    expected = [Finding(**row) for row in rows]
    for given in (
        rows,
        expected,
        tuple(rows),
        (row for row in rows),
        map(MappingProxyType, rows),
        [rows[0], expected[1]],
    ):
        assert read_findings(given, ROSTER) == expected


def test_a_table_with_every_kind_of_missing_value():
    table = pd.DataFrame(
        {
            "finding_id": pd.array(["F-1", "F-2", "F-3", "F-4"], dtype="string"),
            "summary": "claim",
            "evidence": [None, np.nan, pd.NA, "m.py:1"],
            "worker": pd.Categorical(["ann", "bob", "ann", "bob"]),
            "category": pd.array(["bug", pd.NA, None, "bug"], dtype="string"),
            "truth": pd.array([True, False, pd.NA, True], dtype="boolean"),
            "ticket_ids": [np.array(["T-1", "T-2"]), None, [], ["T"]],
        }
    )
    found = read_findings(table, ROSTER)
    assert [f.truth for f in found] == [True, False, None, True]
    assert [f.evidence for f in found] == ["", "", "", "m.py:1"]
    assert [f.category for f in found] == ["bug", None, None, "bug"]
    assert [f.ticket_ids for f in found] == [("T-1", "T-2"), (), (), ("T",)]


@pytest.mark.parametrize(
    ("spellings", "truth"),
    [
        (["true", "TRUE", " True ", "1", 1, 1.0, "yes", True, np.True_, np.int64(1), np.float64(1)], True),
        (["false", "False", "0", 0, 0.0, "NO", False, np.False_, np.int8(0), np.float32(0)], False),
        (["", "null", "None", "nan", "<NA>", None, float("nan"), np.float64("nan"), pd.NA], None),
    ],
)
def test_spellings_of_truth(spellings, truth):
    for spelling in spellings:
        [one] = read_findings([finding(truth=spelling)], ROSTER)
        assert one.truth is truth, repr(spelling)


@pytest.mark.parametrize("truth", ["maybe", 2, np.int64(7), 0.5, [], [True], {}, np.array([1, 0]), "truee"])
def test_what_is_no_truth_is_a_problem_and_never_a_guess(truth):
    [told] = problems([finding(truth=truth)])
    assert told.startswith("findings[0].truth: Input should be a valid boolean, received ")


def test_every_problem_is_told_at_once_with_its_row():
    rows = [
        finding("F-1"),
        "not a row",
        finding("F-2", "zoe"),
        finding("F-1"),
        {"finding_id": " ", "worker": 5},
        finding("F-3", category="plan-body"),
        finding("F-4", notes="x"),
        finding("F-5", summary="half \ud83d"),
        None,
    ]
    told = problems(rows)
    start = [re.split(r": ", line)[0] for line in told]
    assert sorted(start) == sorted(
        [
            "findings[1]",
            "findings[2].worker",
            "findings[3]",
            "findings[4].finding_id",
            "findings[4].summary",
            "findings[4].worker",
            "findings[5].category",
            "findings[6].notes",
            "findings[7].summary",
            "findings[8]",
        ]
    )
    assert (
        "findings[2].worker: 'zoe' is not a worker of this run; the column worker says who found a claim, and whoever "
        "found it does not vote on it. Fix: name one of the run's workers (ann, bob), add 'zoe' to workers=, or drop "
        "the column: then everybody votes on every finding."
    ) in told
    assert any("'ann' brings 'F-1' twice" in line for line in told)
    assert any("'plan-body' is reserved for the items of a plan body" in line for line in told)


@pytest.mark.parametrize("source", [None, 5, b"finding_id"])
def test_what_holds_no_rows_is_told(source):
    assert problems(source) == [
        f"findings: must be rows, got a {type(source).__name__}. "
        "Fix: give a CSV or JSON file, a DataFrame, or a list of dictionaries."
    ]


def test_a_worker_who_is_not_on_the_roster_is_named_once_for_all_its_findings():
    [told] = problems([finding(f"F-{n}", "gpt") for n in range(12)])
    assert told.startswith("findings[0].worker: 'gpt' is not a worker of this run, and so in 11 rows more; the column ")


def test_a_column_that_is_none_or_missing_is_said_once_for_all_rows():
    table = pd.DataFrame([{"id": f"F-{n}", "text": "claim", "evidence": "m.py:1"} for n in range(12)])
    told = problems(table)
    assert [line.split(": ")[0] for line in told] == [
        f"findings[0].{column}" for column in ("finding_id", "summary", "id", "text")
    ]
    assert "findings[0].finding_id: Field required, and so in 11 rows more. Fix: give finding_id, summary" in told[0]
    rename = "; rename yours, of 'id', 'text': table.rename(columns={'...': 'finding_id', '...': 'summary'})."
    assert all(line.endswith(rename) for line in told)
    assert problems(table.rename(columns={"text": "summary"}))[0].endswith(".rename(columns={'id': 'finding_id'}).")
    of_rows = problems([{"id": "F-1", "summary": "x"}, {"finding_id": "F-2", "summary": "x"}, {"summary": "x"}])
    assert of_rows[0].startswith("findings[0].finding_id: Field required, and so in 1 row more. Fix: give")


def test_a_finding_of_two_workers_stands_in_two_rows():
    found = read_findings([finding("F-1", "ann"), finding("F-1", "bob")], ROSTER)
    assert [f.worker for f in found] == ["ann", "bob"]


def test_plan_items_tell_all_problems_too():
    items = [{"finding_id": "P-1", "summary": "a"}, PlanItem(finding_id="P-1", summary="b"), {"finding_id": "P-2"}]
    with pytest.raises(InputError, match="'P-1' is the id of two items") as caught:
        read_plan_items(items)
    assert [p.place for p in caught.value.problems] == ["plan_items[2].summary", "plan_items[1].finding_id"]


def test_truth_never_reaches_a_backend_and_neither_does_who_found_it():
    backend = Playing(lambda _: None)
    found = [finding("F-1", truth=True, evidence="m.py:3", category="bug", ticket_ids=["T-1"])]
    run_of({}, found, backend=backend, settings={"maxRounds": 3})
    assert len(backend.requests) == 2
    for request in backend.requests:
        text = request.model_dump_json()
        assert '"items":[{"finding_id":"F-1","summary":"claim F-1","evidence":"m.py:3"}]' in text
        assert not re.search("truth|ann|category|ticket", text)


def test_a_synthetic_table_marks_the_run():
    table = pd.DataFrame([finding("F-1")])
    table.attrs["synthetic"] = True
    marked = run_of({}, table)  # type: ignore[arg-type]
    assert marked.events[0].synthetic is True
    assert marked.artifact.to_json()["config"]["synthetic"] is True
    assert bool(marked.frames.runs["synthetic"].all())
    assert run_of({}, table, synthetic=False).events[0].synthetic is False  # type: ignore[arg-type]
    assert "synthetic" not in run_of({}).artifact.to_json()["config"]
