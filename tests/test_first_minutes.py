"""The first minutes of a new user: the demo, and a study of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from html import escape
from pathlib import Path

import pytest

import verifyplan as vp
from tests.processes import forked, write_command
from verifyplan.cli import new
from verifyplan.files import write_text

BROWSER = '#!/bin/sh\necho "$1" > "$(dirname "$0")/opened"\n'
"""A browser that writes down what it was to open."""


@pytest.fixture(scope="module")
def shown():
    return vp.demo()


def test_the_demo_shows_words_a_chart_and_next_steps(shown):
    words, page = str(shown), shown._repr_html_()
    assert words.startswith(f"{shown.headline}\n")
    assert shown.table.to_string(index=False) in words
    assert len(shown.notes) == 3
    assert all(f"note: {note}" in words for note in shown.notes)
    assert page.count("<svg") == 2
    for step in shown.next_steps:
        assert f"{step.code}  # {step.question}" in words
        assert f"<code>{escape(step.code)}</code>" in page
    assert repr(shown) == words


@pytest.mark.parametrize("number", range(4))
def test_the_next_steps_of_the_demo_run(shown, number):
    assert eval(shown.next_steps[number].code, {"vp": vp}) is not None


def test_the_last_step_of_the_demo_is_a_command(shown, cli, tmp_path):
    program, *words = shown.next_steps[-1].code.split()
    assert program == "!verifyplan"  # as a notebook runs a shell command
    assert cli(*words, cwd=tmp_path).code == 0


@pytest.mark.parametrize("has_browser", [True, False])
def test_a_report_is_opened_in_the_browser_or_its_address_is_said(tmp_path, has_browser):
    (tmp_path / "browser").write_text(BROWSER)
    (tmp_path / "browser").chmod(0o755)
    code = "from pathlib import Path; from verifyplan.cli.demo import open_page; open_page(Path('out/report.html'))"
    variables = {"PATH": os.environ["PATH"], "BROWSER": f"{tmp_path}/browser %s"} if has_browser else {"PATH": ""}
    done = forked("everything", "tests.fork_server", "python", code, folder=tmp_path, variables=variables)
    assert (done.returncode, done.stderr) == (0, "")
    address = (tmp_path / "out" / "report.html").as_uri()
    if has_browser:
        assert done.stdout == "Opened in the browser: out/report.html\n"
        assert (tmp_path / "opened").read_text().strip() == address
    else:
        assert done.stdout == f"There is no browser here; the report is {address}\n"


@pytest.fixture
def study(cli, tmp_path) -> Path:
    done = cli("new", "study", tmp_path / "mine")
    assert done.code == 0, done.err
    names = "Makefile, README.md, labels.csv, study.ipynb, votes.csv, votes.csv.columns.json"
    assert done.out.startswith(f"Written: {tmp_path / 'mine'} with {names}\n")
    return tmp_path / "mine"


def make(folder: Path, *targets: str) -> subprocess.CompletedProcess[str]:
    command = ["make", f"VERIFYPLAN={write_command(folder.parent / 'verifyplan')}", *targets]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_a_new_study_runs_from_its_makefile(study):
    done = make(study)
    assert done.returncode == 0, done.stderr
    assert "collaborative against adversarial: 6 findings (synthetic) of 1 run" in done.stdout
    assert {"report.html", "truth-metrics.png"} <= {path.name for path in (study / "out" / "report").iterdir()}
    assert (study / "out" / "tables" / "votes.csv").exists()
    assert "Nothing to be done" in make(study).stdout
    (study / "votes.csv.columns.json").unlink()
    (study / "votes.csv").write_text("q,who,says\n1,a,agree\n1,b,agree\n")
    undone = make(study)
    assert undone.returncode != 0
    assert "nothing says which column is the item" in undone.stderr
    (study / "labels.csv").write_text("q,gold\n1,sound\n")
    columns = "VOTE_COLUMNS=item=q,worker=who,verdict=says"
    unread = make(study, columns, "compare")
    assert (unread.returncode != 0, "truth: holds 'sound'" in unread.stderr) == (True, True)
    named = make(study, columns, "TRUTH_WORDS=sound=true,flawed=false", "compare")
    assert named.returncode == 0, named.stderr


def test_the_notebook_of_a_new_study_runs(study, monkeypatch):
    monkeypatch.chdir(study)
    cells = json.loads((study / "study.ipynb").read_text())["cells"]
    space: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert not cell["outputs"]
            exec("".join(cell["source"]), space)
    assert space["runs"].runs["synthetic"].all()
    assert Path("out/report/report.html").exists()


def test_a_study_is_written_into_a_new_or_an_empty_folder_alone(cli, tmp_path):
    (tmp_path / "empty").mkdir()
    assert cli("new", "study", "empty", cwd=tmp_path).code == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    (tmp_path / "file").write_text("mine")
    for taken in ("empty", "file"):
        done = cli("new", "study", taken, cwd=tmp_path)
        fix = "Fix: name a folder that does not exist, or an empty one."
        assert (done.code, done.err) == (2, f"Error: {taken}: already exists; nothing was changed in it. {fix}\n")
    assert {path: path.read_bytes() for path in (tmp_path / "empty").rglob("*")} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "file"]


def test_a_study_that_cannot_be_written_leaves_nothing(monkeypatch, tmp_path):
    def full(path, text):
        if path.suffix == ".ipynb":
            raise OSError(28, "No space left on device")
        return write_text(path, text)

    monkeypatch.setattr(new, "write_text", full)
    (tmp_path / "empty").mkdir()
    for folder in ("empty", "not/there"):
        with pytest.raises(OSError, match="No space left"):
            new.write_study(tmp_path / folder)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["empty", "not"]


def test_no_folder_takes_the_place_of_another_which_windows_refuses(monkeypatch, tmp_path):
    rename = os.replace

    def as_on_windows(source, target):
        assert not Path(target).is_dir(), "PermissionError on Windows"
        return rename(source, target)

    for name in ("rename", "replace"):
        monkeypatch.setattr(os, name, as_on_windows)
    new.write_study(tmp_path)
    assert (tmp_path / "votes.csv").read_text() == (new.TEMPLATE / "votes.csv").read_text()


def test_the_next_command_can_be_pasted_where_the_folder_has_spaces(cli, tmp_path):
    done = cli("new", "study", "my study", cwd=tmp_path)
    assert "Next: cd 'my study', run `make`" in done.out
