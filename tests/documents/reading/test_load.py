"""Files and folders become documents of the kind that their names, folders and content say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.documents.checks.check import check, check_document
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.loading import MAX_BYTES, NAMES, kind_of, load, load_text
from verifyplan.documents.reading.document import Document
from verifyplan.documents.reading.source import MAX_CHARACTERS, MAX_LINES, read_source
from verifyplan.documents.tree import Tree
from verifyplan.errors import InputError


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("PLAN-01.md", "plan"),
        ("phases/01-setup/01-01-PLAN.md", "plan"),
        ("auth-02b-PLAN.md", "plan"),
        ("PLAN.md", "plan"),
        ("plan.md", None),
        ("PLANNING.md", None),
        ("SUMMARY-auth-02.md", "summary"),
        ("phases\\01\\01-01-SUMMARY.md", "summary"),
        ("research/SUMMARY.md", "research-summary"),
        ("research/STACK.md", "research-note"),
        ("codebase/STACK.md", "codebase-map"),
        ("13-RESEARCH.md", "research-note"),
        ("VERIFICATION.md", "verification"),
        ("13-VERIFICATION.md", "verification"),
        ("PLAN-CHECK.md", "plan-check"),
        ("01-PLAN-CHECK-2.md", "plan-check"),
        ("INTEGRATION-REPORT.md", "integration"),
        ("debug/race.md", "debug-log"),
        ("debug/resolved/race.md", "debug-log"),
        ("debug/PLAN-01.md", "plan"),
        ("codebase/README.md", None),
        ("ROADMAP.md", None),
        ("13-CONTEXT.md", None),
        ("21-VALIDATION-REPORT.md", None),
        ("notes.md", None),
    ],
)
def test_a_kind_is_told_by_name_and_folder(path, kind):
    assert kind_of(path, read_source("", path)) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("---\nmust_haves: {}\nwave: 1\n---\n", "plan"),
        ("<task>\n<action>\nx\n</action>\n</task>\n", "plan"),
        ("---\nconfidence: high\nsources_checked: 1\n---\n", "research-note"),
        ("---\nconfidence: high\nsources: 1\nconflicts: 0\n---\n", "research-summary"),
        ("---\nmust_haves_total: 1\n---\n", "verification"),
        ("---\nchecks_total: 1\n---\n", "integration"),
        ("---\nslug: a\nmode: b\nstatus: c\n---\n", "debug-log"),
        ("---\nplan: a\nstatus: b\ncommits: []\n---\n", "summary"),
        ("# Report\n\n**VERIFICATION PASSED**\nPlans: 1 | Tasks: 2 | Blockers: 0\n", "plan-check"),
        ("Plans: 1 | Tasks: 2\n", None),
        ("# Notes\n", None),
    ],
)
def test_a_name_that_says_nothing_leaves_it_to_the_content(text, kind):
    assert kind_of("notes.md", read_source(text, "notes.md")) == kind


def test_a_kind_can_be_given():
    assert load_text("# x\n", "x.md") is None
    assert isinstance(load_text("# x\n", "x.md", "plan"), PlanDocument)


@pytest.fixture
def tree(tmp_path):
    planning = tmp_path / ".planning"
    (planning / "phases" / "01-a").mkdir(parents=True)
    (planning / "phases" / "01-a" / "01-01-PLAN.md").write_text("---\nwave: 1\n---\n")
    (planning / "phases" / "01-a" / "PLAN-02.md").write_bytes(b"\xff\xfe")
    (planning / "STATE.md").write_text("x")
    (planning / "config.json").write_text("{}")
    return tmp_path


def test_a_folder_is_a_tree_of_documents_others_and_what_was_not_read(tree):
    (tree / ".planning" / "loop").symlink_to(tree, target_is_directory=True)
    loaded = load(tree)
    assert isinstance(loaded, Tree)
    assert [os.path.relpath(d.path, tree) for d in loaded] == [".planning/phases/01-a/01-01-PLAN.md"]
    assert [Path(path).name for path in loaded.others] == ["STATE.md"]
    assert {Path(file.path).name.partition(":")[0] for file in loaded.unread} == {"loop", "PLAN-02.md"}
    assert load(tree / ".planning" / "phases").documents[0].text == loaded.documents[0].text


def test_what_a_tree_cannot_read_is_a_violation(tree):
    (tree / ".planning" / "loop").symlink_to(tree, target_is_directory=True)
    report = check(tree)
    told = {(v.rule, Path(v.path).name.partition(":")[0], v.severity) for v in report.violations}
    assert {("document/unreadable", "PLAN-02.md", "error"), ("document/not-followed", "loop", "info")} <= told
    assert not report.ok
    assert len(report.documents) == 1
    assert [Path(path).name for path in report.others] == ["STATE.md"]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"a\0b", "is binary"),
        (b"a\n\xff", "line 2: byte 0xff is not UTF-8"),
        (b"x" * (MAX_BYTES + 1), "is larger than 20,000,000 bytes"),
        (b"# notes", "is not one of the nine documents"),
    ],
)
def test_a_file_that_is_no_document_is_an_error(tmp_path, data, problem):
    place = tmp_path / "x.md"
    place.write_bytes(data)
    with pytest.raises(InputError, match=problem):
        load(place)


@pytest.mark.parametrize("path", ["missing.md", "a\0b", "x" * 5000])
def test_a_path_that_leads_nowhere_is_an_error(tmp_path, path):
    with pytest.raises(InputError, match="cannot be read"):
        load(f"{tmp_path}/{path}")


def test_a_report_counts_by_rule_and_says_what_it_found(tree):
    report = check(tree / ".planning" / "phases" / "01-a" / "01-01-PLAN.md")
    assert report.tally["plan/field-missing"] == 8
    assert list(report.tally.values()) == sorted(report.tally.values(), reverse=True)
    assert list(report.violations) == sorted(report.violations)
    assert str(report).endswith("1 document, 0 other files: 10 errors, 0 warnings, 0 infos")
    assert [str(v) for v in report.violations] == str(report).split("\n")[:-1]


def test_strict_holds_a_known_form_to_the_contract(tmp_path):
    place = tmp_path / "01-01-PLAN.md"
    place.write_text("---\nphase: 1\nplan: 01\nautonomous: true\n---\n")
    loose, strict = check(place), check(place, strict=True)
    assert "plan/form" in loose.tally
    assert "plan/form" not in strict.tally
    assert strict.tally["plan/field-type"] == 2
    assert "plan/field-type" not in loose.tally


def test_a_document_is_read_as_far_as_anyone_writes():
    text = "# Plan\n" * (MAX_LINES + 5) + "<task>\n"
    document = load_text(text, "01-01-PLAN.md")
    assert document.write() == text
    assert (len(document.source.sections), document.tasks) == (MAX_LINES, ())
    found = [(v.rule, v.line) for v in check_document(document) if v.rule.startswith("document/")]
    assert found == [("document/too-long", MAX_LINES + 1)]
    long = load_text("a" * (MAX_CHARACTERS + 1), "01-01-PLAN.md")
    assert [v.line for v in check_document(long) if v.rule == "document/too-long"] == [1]


@given(st.text(), st.sampled_from(["01-01-PLAN.md", "RESEARCH.md", "research/SUMMARY.md", "codebase/STACK.md"]))
def test_any_text_is_checked_without_error_at_lines_that_are_there(text, path):
    document = load_text(text, path)
    assert isinstance(document, Document)
    for held in (document, document.as_contract()):
        for violation in check_document(held):
            assert 1 <= violation.line <= max(len(document.source.lines), 1)
            assert len(violation.message) < 510


def test_the_names_that_an_error_lists_are_those_of_the_nine_kinds():
    kinds = [kind_of(name, read_source("", name)) for name in NAMES.split(", ")]
    assert None not in kinds
    assert len(set(kinds)) == len(kinds) == 9
