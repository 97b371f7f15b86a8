"""Trees: which documents belong together, and what is never followed, opened or waited for."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tests.sample_tree import FILES, PHASE, sample_tree
from verifyplan.documents import Tree, check, load
from verifyplan.documents import walk as walking
from verifyplan.documents.reading.comparing import plan_key
from verifyplan.documents.walk import walk
from verifyplan.errors import InputError


def names(paths):
    return [str(path).rpartition(".planning/")[2] for path in paths]


def test_a_tree_is_found_from_its_folder_the_folder_above_and_a_phase(tmp_path):
    root = sample_tree(tmp_path)
    whole, above, phase = load(root), load(tmp_path), load(root / PHASE)
    assert [d.text for d in whole] == [d.text for d in above]
    assert len(phase) == 5
    assert [d.path for d in phase] == [d.path for d in whole if PHASE in d.path]
    assert (whole.whole, above.whole, phase.whole) == (True, True, False)
    assert whole.repository == above.repository == phase.repository == tmp_path
    assert names(whole.others) == ["REQUIREMENTS.md"]


def test_documents_come_in_the_order_of_their_paths(tmp_path):
    paths = names(document.path for document in load(sample_tree(tmp_path)))
    assert paths == sorted(paths)
    assert paths[0] == f"{PHASE}/PLAN-01.md"


def test_a_folder_outside_of_a_planning_folder_has_no_repository(tmp_path):
    (tmp_path / "PLAN-01.md").write_text(FILES[f"{PHASE}/PLAN-01.md"])
    tree = load(tmp_path)
    assert isinstance(tree, Tree)
    assert (len(tree), tree.repository, tree.whole) == (1, None, False)


PLAN_FILES = ["PLAN-01.md", "01-01-PLAN.md", "auth-02-PLAN.md", "1-1-PLAN.md"]
SUMMARY_FILES = ["SUMMARY-01-01.md", "01-01-SUMMARY.md", "SUMMARY-auth-02.md", "SUMMARY-1.md"]


@pytest.mark.parametrize(
    ("plan", "summary", "plan_id", "summary_id"),
    [
        *((plan, summary, '"01-01"', '"01-01"') for plan in PLAN_FILES for summary in SUMMARY_FILES),
        ("a-PLAN.md", "b-SUMMARY.md", "01", '"01-01"'),
        ("a-PLAN.md", "b-SUMMARY.md", "1", "01"),
        ("auth-02-PLAN.md", "SUMMARY-auth-02.md", None, None),
        ("01-01-PLAN.md", "SUMMARY-01.md", None, None),
    ],
)
def test_a_plan_and_its_summary_pair_whatever_their_files_are_called(tmp_path, plan, summary, plan_id, summary_id):
    folder = tmp_path / ".planning" / "phases" / "01-auth"
    folder.mkdir(parents=True)
    for name, written, rest in ((plan, plan_id, "wave: 1"), (summary, summary_id, "status: complete")):
        key = f"plan: {written}\n" if written else ""
        (folder / name).write_text(f"---\n{key}{rest}\n---\n# Document\n")
    (phase,) = load(tmp_path).phases
    assert phase.summary_of(phase.plans[0]) is phase.summaries[0]
    assert phase.plan_of(phase.summaries[0]) is phase.plans[0]


def test_plan_ids_of_other_phases_stay_apart():
    assert plan_key("01", "12.1-iac") == plan_key("12.1-01") != plan_key("01", "12-iam")
    assert plan_key("auth-02b", "02-auth") == "auth-02b"
    assert plan_key("") == ""


def test_research_is_paired_with_the_notes_of_its_folder(tmp_path):
    (pair,) = load(sample_tree(tmp_path)).research
    assert names(note.path for note in pair[1]) == ["research/auth.md", "research/storage.md"]


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """A tree with all that may lie in a folder and must not be read."""
    root = sample_tree(tmp_path / "project")
    outside = tmp_path / "outside-PLAN.md"
    outside.write_text("secret")
    (root / "loop").symlink_to(root)
    (root / "out-PLAN.md").symlink_to(outside)
    (root / "dangling-PLAN.md").symlink_to(tmp_path / "nowhere")
    os.mkfifo(root / "pipe-PLAN.md")
    (root / "line\nPLAN.md").write_text("x")
    (root / b"bytes-\xff-PLAN.md".decode(errors="surrogateescape")).write_text("x")
    (root / "latin-PLAN.md").write_bytes(b"# Pl\xe4n\n")
    (root / "binary-PLAN.md").write_bytes(b"\0\1\2")
    with (root / "sparse-PLAN.md").open("wb") as stream:
        stream.truncate(10_000_000_000)
    (root / ".git").mkdir()
    (root / ".git" / "PLAN.md").write_text("x")
    (root / "image.png").write_bytes(b"\x89PNG\0")
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(root)  # the path of a socket is short
        server.bind("socket-PLAN.md")
    monkeypatch.chdir("/")
    return root


def test_what_is_no_document_is_told_and_neither_followed_nor_opened(hostile):
    tree = load(hostile)
    assert len(tree) == 8
    assert not any("secret" in document.text for document in tree)
    told = {path.rpartition("/")[2]: (reason, obstacle) for path, reason, _, obstacle in tree.unread}
    assert {name: obstacle for name, (_, obstacle) in told.items()} == {
        "loop": "not followed",
        "out-PLAN.md": "not followed",
        "dangling-PLAN.md": "not followed",
        "pipe-PLAN.md": "not followed",
        "socket-PLAN.md": "not followed",
        "line\\nPLAN.md": "not followed",
        "bytes-\\xff-PLAN.md": "not followed",
        "latin-PLAN.md": "unreadable",
        "binary-PLAN.md": "unreadable",
        "sparse-PLAN.md": "unreadable",
    }
    assert told["loop"][0] == "is a symbolic link"
    assert "not UTF-8" in told["latin-PLAN.md"][0]
    report = check(hostile)
    assert report.tally == {"document/not-followed": 7, "document/unreadable": 3}
    assert "\n" not in "".join(one.path for one in report.violations)


def test_a_folder_that_cannot_be_opened_is_told(tmp_path, monkeypatch):
    root = sample_tree(tmp_path)
    scandir = os.scandir

    def refusing(folder):
        if Path(folder).name == "research":
            raise PermissionError(13, "Permission denied")
        return scandir(folder)

    monkeypatch.setattr(walking.os, "scandir", refusing)
    tree = load(root)
    assert [(names([one.path]), one.reason, one.obstacle) for one in tree.unread] == [
        (["research"], "cannot be opened (Permission denied)", "unreadable")
    ]
    assert len(tree) == 5


def test_a_single_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "PLAN.md")
    with pytest.raises(InputError, match="is not a regular file"):
        load(tmp_path / "PLAN.md")


def test_a_folder_of_very_many_files_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(walking, "MAX_ENTRIES", 5)
    with pytest.raises(InputError, match=r"more than 5 files and folders.*name its .planning folder"):
        load(sample_tree(tmp_path))


def test_deep_folders_are_walked(tmp_path):
    folder = tmp_path
    for _ in range(150):
        folder /= "deep"
    folder.mkdir(parents=True)
    (folder / "PLAN.md").write_text("# Plan\n")
    assert len(walk(tmp_path).files) == 1


@pytest.mark.parametrize("name", ["ferry", "fake-project"])
def test_every_document_of_a_real_tree_loads_and_is_written_back_unchanged(real_tree, name):
    tree = real_tree(name)
    assert len(tree) >= 10
    assert tree.unread == ()
    for document in tree:
        assert document.write().encode() == Path(document.path).read_bytes()
    files = [path for path in walk(tree.folder).files if path.suffix == ".md"]
    assert len(tree) + len(tree.others) == len(files)
    for phase in tree.phases:
        assert all(phase.plan_of(summary) is not None for summary in phase.summaries), phase.folder


def test_every_project_under_a_folder_is_read_and_its_paths_looked_up_in_it(tmp_path):
    for name in ("one", "two"):
        root = sample_tree(tmp_path / name)
        (root / "codebase").mkdir()
        (root / "codebase" / "STRUCTURE.md").write_text("## Folders\n\n- `src/one.py` is the program\n")
        (tmp_path / name / "src").mkdir()
        (tmp_path / name / "src" / f"{name}.py").write_text("")
    report = check(tmp_path)
    assert len(report.documents) == 18
    assert [(v.rule, "two" in v.path) for v in report.violations] == [("codebase-map/path-missing", True)]


def test_a_planning_folder_that_is_a_link_is_refused_unless_it_is_named_itself(tmp_path):
    real = sample_tree(tmp_path / "real")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".planning").symlink_to(real)
    with pytest.raises(InputError, match="is a symbolic link"):
        load(tmp_path / "project")
    assert len(load(tmp_path / "project" / ".planning")) == 8


def test_what_cannot_be_read_says_what_to_do(hostile):
    fixes = {found.path.rpartition("/")[2]: found.fix for found in check(hostile).violations}
    assert fixes["sparse-PLAN.md"] == "split it"
    assert fixes["binary-PLAN.md"] == "name a document in Markdown"
