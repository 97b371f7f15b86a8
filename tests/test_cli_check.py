"""`verifyplan check` as a user meets it: exit codes, forms, rules, paths, hostile texts."""

from __future__ import annotations

import json

import pytest

import verifyplan as vp
from tests.sample_tree import FILES, PHASE, line_of, sample_tree

PLAN = f"{PHASE}/PLAN-01.md"
BROKEN = FILES[PLAN].replace("<done>A request with a wrong token is refused</done>\n", "")


@pytest.fixture(autouse=True)
def _in_an_empty_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def test_a_tree_that_breaks_nothing_exits_with_0(cli, tmp_path):
    sample_tree(tmp_path)
    done = cli("check", ".planning")
    assert done == (0, "8 documents, 1 other file: 0 errors, 0 warnings, 0 infos\n", "")


def test_errors_are_told_file_by_file_with_a_tally_and_exit_with_1(cli, tmp_path):
    sample_tree(tmp_path, {PLAN: BROKEN})
    done = cli("check", tmp_path / ".planning")
    assert done.code == 1
    lines = done.out.splitlines()
    assert lines[0] == f".planning/{PLAN}"
    task = line_of(BROKEN, "<task ")
    assert lines[1].split(maxsplit=2)[:2] == [str(task), "error"]
    assert lines[1].endswith("[plan/task-element-missing]")
    assert lines[2].strip().startswith("fix: ")
    assert lines[4] == "By rule:"
    assert lines[5].split()[:3] == ["1", "error", "plan/task-element-missing"]
    assert lines[-1] == "8 documents, 1 other file: 1 error, 0 warnings, 0 infos"


def test_warnings_alone_exit_with_0(cli, tmp_path):
    sample_tree(tmp_path, {PLAN: FILES[PLAN].replace("AUTH-01", "X-1")})
    done = cli("check", ".planning")
    assert done.code == 0
    assert "warning  requirement 'X-1' is in no REQUIREMENTS file" in done.out


def test_only_the_rules_that_are_asked_for_count(cli, tmp_path):
    sample_tree(tmp_path, {PLAN: BROKEN})
    assert cli("check", ".planning", "--rule", "tree/*").code == 0
    assert cli("check", ".planning", "--rule", "tree/*", "--rule", "plan/task-element-missing").code == 1
    wrong = cli("check", ".planning", "--rule", "plan/task-element-mising")
    assert wrong.code == 2
    assert "did you mean 'plan/task-element-missing'" in wrong.err


def test_several_paths_are_one_report_and_what_is_named_twice_counts_once(cli, tmp_path):
    root = sample_tree(tmp_path, {PLAN: BROKEN})
    done = cli("check", root / PLAN, root / "research", root / PHASE)
    assert done.out.splitlines()[-1] == "8 documents, 0 other files: 1 error, 0 warnings, 0 infos"


def test_paths_that_cannot_be_checked_are_told_all_at_once(cli, tmp_path):
    (tmp_path / "binary.md").write_bytes(b"\0\1")
    (tmp_path / "letter.md").write_text("Dear reader\n")
    done = cli("check", "nowhere", "binary.md", "letter.md")
    assert (done.code, done.out) == (2, "")
    assert [line.partition(":")[0] for line in done.err.removeprefix("Error: ").splitlines()] == [
        "nowhere",
        "binary.md",
        "letter.md",
    ]


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_other_programs_get_json_and_sarif_and_the_same_exit_code(cli, tmp_path, form):
    sample_tree(tmp_path, {PLAN: BROKEN})
    printed = cli("check", ".planning", "--format", form)
    assert printed.code == 1
    told = json.loads(printed.out)
    found = told["violations"] if form == "json" else told["runs"][0]["results"]
    assert len(found) == 1
    written = cli("check", ".planning", "--format", form, "--out", "found/out.txt")
    assert (written.code, written.out) == (
        1,
        "8 documents, 1 other file: 1 error, 0 warnings, 0 infos: found/out.txt\n",
    )
    assert (tmp_path / "found" / "out.txt").read_text() == printed.out


def test_paths_are_printed_from_the_root_that_is_given(cli, tmp_path):
    root = sample_tree(tmp_path, {PLAN: BROKEN})
    assert cli("check", root, "--relative-to", root).out.startswith(f"{PLAN}\n")
    assert cli("check", root, "--relative-to", tmp_path / "elsewhere").out.startswith(f"{root / PLAN}\n")


def test_strict_holds_known_forms_to_the_contract(cli, tmp_path):
    form = "---\nphase: 1\nstatus: passed\n---\n# Verification\n\nAll checks passed.\n"
    sample_tree(tmp_path, {f"{PHASE}/VERIFICATION.md": form})
    lenient, strict = cli("check", ".planning"), cli("check", ".planning", "--strict")
    assert (lenient.code, strict.code) == (0, 1)
    assert "[verification/form]" in lenient.out
    assert "[verification/field-missing]" in strict.out


def test_an_info_that_many_documents_share_is_told_once(cli, tmp_path):
    form = "---\nphase: 1\nstatus: passed\n---\n# Verification\n\nAll checks passed.\n"
    sample_tree(tmp_path, {f"phases/0{n}/VERIFICATION.md": form for n in range(3, 9)})
    done = cli("check", ".planning")
    assert done.out.count("a known form") == 1
    assert "In 6 documents  [verification/form]" in done.out


def test_texts_of_documents_cannot_move_the_cursor(cli, tmp_path):
    sample_tree(tmp_path, {PLAN: BROKEN.replace("Write the check of tokens", "Write \x1b[2J\u202e it")})
    done = cli("check", ".planning")
    assert done.code == 1
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out


def test_a_folder_without_documents_does_not_pass(cli, tmp_path):
    (tmp_path / "empty").mkdir()
    done = cli("check", "empty")
    assert (done.code, done.out) == (2, "")
    assert "empty: contains no document that agents hand over" in done.err


def test_each_file_that_is_not_followed_is_named(cli, tmp_path):
    root = sample_tree(tmp_path)
    for number in (1, 2):
        (root / f"link-{number}-PLAN.md").symlink_to(tmp_path)
    done = cli("check", ".planning")
    told = [line for line in done.out.splitlines() if "link-" in line]
    assert told == [".planning/link-1-PLAN.md", ".planning/link-2-PLAN.md"]


def test_a_name_on_the_command_line_cannot_move_the_cursor(cli, tmp_path):
    (tmp_path / "PLAN\x1b[31m.md").write_text("x")
    done = cli("check", "PLAN\x1b[31m.md", "nowhere\x1b[2J")
    assert "\x1b" not in done.err + done.out


def test_what_is_no_document_is_told_the_names_that_documents_have(cli, tmp_path):
    (tmp_path / "empty.md").write_text("")
    told = cli("check", "empty.md").err
    assert "the kind follows from name and folder: PLAN-01.md, " in told
    assert "load_text" not in told
    assert "Fix: name a file or folder that exists" in cli("check", "nowhere").err


def test_fixes_show_what_is_to_be_written(cli, tmp_path):
    (tmp_path / "PLAN-01.md").write_text('---\nphase: 01-a\nplan: "01-01"\n---\n')
    (tmp_path / "SUMMARY-01.md").write_text('---\nplan: "01-01"\ncommits: []\n---\n')
    told = cli("check", "PLAN-01.md", "SUMMARY-01.md").out
    assert "fix: add must_haves: truths, artifacts and key_links, indented, each a list" in told
    assert 'fix: add depends_on: [], or the ids of plans: ["01-01"]' in told
    assert 'fix: add must_haves: ["the must-have: DONE", ...], each of DONE, PARTIAL or SKIPPED' in told
    assert "fix: add ## Task Results with a table of the columns Task, Status, Notes" in told
    assert "fix: add ## Deviations; where there is nothing to say, write None" in told


def test_an_empty_folder_is_told_in_python_too(tmp_path):
    (tmp_path / "empty").mkdir()
    report = vp.documents.check(tmp_path / "empty")
    assert str(report) == "no document was found: 0 other files, nothing was checked"
    assert not report.ok, "silence is no verdict"
