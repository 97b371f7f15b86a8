"""Whether the last diff of a debate fits the files of its folder is told when it is printed, and not recorded."""

from __future__ import annotations

import json
import shutil

import pytest

import verifyplan as vp
from tests.runs.debate_scripts import says
from verifyplan.agents.scripted import ScriptedBackend

FILE = "one\ntwo\n"


def patch(path: str, old: str = "two") -> str:
    return f"--- a/{path}\n+++ b/{path}\n@@ -2 +2 @@\n-{old}\n+three\n"


def script(diff: str) -> dict[str, object]:
    made = {"t1/propose": says("Change it."), "t1/implement": says("Done.", diff=diff)}
    return made | {"t1/verify": says("Verified: it is.")}


@pytest.fixture
def root(tmp_path):
    (tmp_path / "repo" / "app").mkdir(parents=True)
    (tmp_path / "repo" / "app" / "a.py").write_text(FILE)
    (tmp_path / "repo" / "crlf.py").write_bytes(b"one\r\ntwo\r\n")
    return tmp_path / "repo"


@pytest.mark.parametrize(
    ("diff", "told"),
    [
        (patch("app/none.py"), "the diff does not apply: app/none.py is not there"),
        (patch("app/a.py", "zwei"), "the diff does not apply: the hunk does not fit app/a.py"),
        ("--- /dev/null\n+++ b/app/a.py\n@@ -0,0 +1 @@\n+x\n", "the diff does not apply: app/a.py is there already"),
        (patch("../a.py"), "the diff does not apply: '../a.py' is not a file that may be changed"),
        ("change a.py", "the diff does not apply: this is not a unified diff"),
        (patch("app"), "whether the diff applies was not checked: "),
        (patch("app/a.py"), ""),
        (patch("crlf.py"), ""),
        (patch("PLAN.md"), ""),
        (" ", ""),
    ],
)
def test_a_diff_that_does_not_apply_is_told(root, diff, told):
    backend = ScriptedBackend(script(diff))
    run = vp.debate("change", backend, repo=root, documents={"PLAN.md": FILE}, log_dir=None, max_turns=1)
    assert [note[: len(told)] for note in run.notes] == ([told] if told else [])
    assert (run.status, "  ".join(run.notes) in str(run)) == ("CONVERGED", True)
    assert (str(run).splitlines()[1].startswith(f"  {told}")) if told else ("apply" not in str(run))
    assert ("apply" in run._repr_html_() or "applies" in run._repr_html_()) == bool(told)
    assert "apply" not in "".join(record.event.model_dump_json() for record in run.records)


def test_a_folder_that_is_gone_is_not_checked(root):
    run = vp.debate("change", ScriptedBackend(script(patch("app/a.py"))), repo=root, log_dir=root.parent / "runs")
    assert run.notes == ()
    shutil.rmtree(root)
    [told] = vp.read_run(run.log_path).notes
    assert told == f"whether the diff applies was not checked: the folder '{root}' is not there any more"


@pytest.mark.usefixtures("root")
def test_a_shell_tells_it_too(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.json").write_text(json.dumps(script(patch("app/none.py"))))
    words = ("debate", "change", "--repo", "repo", "--script", "script.json")
    done = cli(*words)
    assert (done.code, done.out.splitlines()[1]) == (0, "  the diff does not apply: app/none.py is not there")
    assert json.loads(cli(*words, "--json").out)["notes"] == ["the diff does not apply: app/none.py is not there"]


def test_the_bundled_debate_applies_to_its_repository(tmp_path):
    repository = vp.datasets.sample_repository(tmp_path / "waybill")
    roles = ScriptedBackend(vp.datasets.debate_script("readme-section"))
    assert vp.debate("add a README section", roles, repo=repository, log_dir=None).notes == ()
