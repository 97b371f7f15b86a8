"""Documents as tidy tables: declared columns, must-haves from plan to verification, empty tables, lazy imports."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pytest

from tests.sample_tree import FILES, PHASE, line_of, sample_tree
from verifyplan.columns import keys
from verifyplan.documents import DocumentTables, frame
from verifyplan.documents.document_tables import DOCUMENT_TABLES
from verifyplan.errors import InputError

SECOND = f"{PHASE}/PLAN-02.md"


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    files = {
        f"{PHASE}/SUMMARY-01-02.md": FILES[f"{PHASE}/SUMMARY-01-02.md"].replace(
            "can log in: DONE", "can log in: PARTIAL"
        ),
        f"{PHASE}/VERIFICATION.md": FILES[f"{PHASE}/VERIFICATION.md"]
        .replace("log in. | VERIFIED", "log in. | FAILED")
        .replace("checks tokens | VERIFIED | src/auth_2.py:1", "checks tokens | FAILED | src/auth_2.py:1")
        .replace("status: passed", "status: gaps_found")
        .replace("overrides: []", 'overrides: ["5"]')
        .replace("passed: 6", "passed: 5")
        .replace("gaps: []", 'gaps: ["No login page"]')
        .replace(
            "## Gaps\n\nNone", "## Gaps\n\n### No login page\n\n- Evidence: src/app_2.py:1\n- Suggested fix: add it"
        ),
        f"{PHASE}/SUMMARY-01-01.md": None,
    }
    return frame(sample_tree(tmp_path_factory.mktemp("tree"), files))


def test_every_table_has_its_declared_columns_types_and_keys(tables):
    for name, columns in DOCUMENT_TABLES.items():
        table = getattr(tables, name)
        assert list(table.columns) == [column.name for column in columns]
        assert [str(dtype) for dtype in table.dtypes] == [str(pd.Series(dtype=c.dtype).dtype) for c in columns]
        if keys(columns):
            assert not table.duplicated(keys(columns)).any(), name


def test_each_must_have_is_followed_from_plan_to_verification(tables):
    rows = tables.must_haves.set_index(["plan_id", "position"])
    assert list(rows["kind"]) == ["truth", "artifact", "key_link"] * 2
    assert list(rows.loc["01-02", "claimed"]) == ["PARTIAL", "DONE", "DONE"]
    assert list(rows.loc["01-02", "outcome"]) == ["failed", "override", "passed"]
    assert rows.loc["01-01", "claimed"].isna().all()
    assert rows.loc["01-01", "summary_path"].isna().all()
    assert list(rows.loc["01-01", "outcome"]) == ["passed"] * 3
    assert rows.loc[("01-02", 1), "evidence"] == "tests/test_auth_2.py:3"
    assert rows.loc[("01-02", 2), "line"] == line_of(FILES[SECOND], "artifacts")
    assert rows.loc[("01-02", 2), "file"] == "src/auth_2.py"


def test_tasks_findings_gaps_and_violations_are_rows(tables):
    task = tables.tasks.query("plan_id == '01-02' and position == 2").iloc[0]
    assert (task["type"], task["complexity"], task["model"], task["files"]) == (
        "checkpoint:decision",
        "simple",
        "haiku",
        ["src/auth_2.py"],
    )
    assert list(tables.findings["source_level"]) == ["S1"] * 4
    assert list(tables.findings["speculative"]) == [False, False, False, True]
    gap = tables.gaps.query("kind == 'verification'").iloc[0]
    assert (gap["text"], gap["fix"]) == ("No login page", "add it")
    assert tables.gaps["kind"].value_counts().to_dict() == {"research-note": 2, "verification": 1}
    assert len(tables.violations) == tables.documents[["n_errors", "n_warnings", "n_infos"]].sum().sum()


def test_documents_are_counted_and_joined_by_the_plans_id(tables):
    rows = tables.documents.set_index(["kind", "plan_id"])
    assert rows.loc[("plan", "01-02"), "n_must_haves"] == 3
    assert rows.loc[("summary", "01-02"), "status"] == "complete"
    assert tables.documents.query("kind == 'verification'")["attempt"].item() == 1
    assert tables.documents["confidence"].cat.categories.tolist() == ["low", "medium", "high"]


def test_a_summary_has_the_id_of_its_plan_however_it_writes_it(tmp_path):
    files = {f"{PHASE}/SUMMARY-01-01.md": FILES[f"{PHASE}/SUMMARY-01-01.md"].replace('plan: "01-01"', "plan: 1")}
    documents = frame(sample_tree(tmp_path, files)).documents
    assert set(documents.query("kind == 'summary'")["plan_id"]) == {"01-01", "01-02"}


def test_a_single_document_and_an_empty_folder_give_all_tables(tmp_path):
    root = sample_tree(tmp_path / "one")
    one = frame(root / PHASE / "PLAN-01.md")
    assert (len(one.documents), len(one.must_haves), len(one.tasks), len(one.gaps)) == (1, 3, 2, 0)
    (tmp_path / "none").mkdir()
    none = frame(tmp_path / "none")
    assert all(getattr(none, name).empty for name in DOCUMENT_TABLES)
    assert repr(none) == ("DocumentTables(0 documents, 0 must-haves, 0 tasks, 0 findings, 0 gaps, 0 violations)")


def test_columns_are_explained_and_a_table_that_is_not_there_is_told():
    for name, columns in DOCUMENT_TABLES.items():
        assert list(DocumentTables.columns(name).index) == [column.name for column in columns]
    with pytest.raises(InputError, match=r"there is no table 'must_have' .did you mean 'must_haves'"):
        DocumentTables.columns("must_have")


def test_reading_plans_and_checking_documents_loads_no_pandas():
    code = (
        "import sys, verifyplan.documents as d, verifyplan.plans as p;"
        " p.parse_plan, p.assess, d.load, d.check; print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "False"
