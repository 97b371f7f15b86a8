"""The repository of a live run is listed once, and nothing of its hidden folders is sent, tracked or not (rule G4)."""

from __future__ import annotations

from threading import Lock

import verifyplan as vp
from tests.agents.tools.conftest import git, write
from tests.live.live_faults import FIRST
from tests.live.live_runs import Played, speaking_to
from tests.live.scripted_replies import calls
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import AGREE, finding
from verifyplan.repository import repository
from verifyplan.runs.cross.crossverify import crossverify

WORKERS = ("bob", "cy", "dan")


def test_calls_at_once_share_one_list_of_files_which_no_later_file_joins(tmp_path, monkeypatch):
    listings: list[object] = []
    lock, list_files = Lock(), repository.list_files

    def listed(*arguments):
        with lock:
            found = list_files(*arguments)
            listings.append(found)
            (tmp_path / "late.py").write_text("late = 1\n")  # every later listing would have it
        return found

    monkeypatch.setattr(repository, "list_files", listed)
    (tmp_path / "m.py").write_text("one = 1\n")
    ids = [f"F-{number}" for number in range(6)]
    played = Played({1: {worker: dict.fromkeys(ids, AGREE) for worker in WORKERS}})
    with ScriptedServer(played, latency=0.02) as server:
        run = crossverify(
            [finding(one, evidence="m.py:1 and late.py:1") for one in ids],
            ["ann", *WORKERS],
            backend=speaking_to(server, max_concurrency=8),
            repo=tmp_path,
            items_per_call=1,
            settings={"maxRounds": 1, "verificationMode": "full-reanalysis"},
            matcher=None,
            log_dir=None,
            progress=False,
        )
        prompts = [asked.prompt for asked in server.requests]
    assert len(prompts) == len(ids) * len(WORKERS)
    assert len(listings) == 1
    assert all("one = 1" in prompt and "late = 1" not in prompt for prompt in prompts)
    assert run.frames.votes["verdict"].ne("verification-error").all()


def test_no_request_of_any_run_holds_a_tracked_hidden_folder(tmp_path):
    word = "CANARY of a hidden folder"
    files = {".vscode/settings.json": word, "docs/.notes/a.md": word, ".github/ci.yml": "on: push\n", "m.py": "x = 1\n"}
    root = write(tmp_path / "repo", files)
    (root / "linked.md").symlink_to("docs/.notes/a.md")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A", "-f")
    git(root, "commit", "-qm", "Import all")
    asked = [calls("Read", path=path) for path in (".vscode/settings.json", "linked.md", ".github/ci.yml")]
    asked += [calls("Grep", pattern="CANARY"), calls("Grep", pattern="CANARY", path=".vscode")]
    turns = {f"{FIRST.removesuffix('1')}{number}": answer for number, answer in enumerate(asked, 1)}
    evidence = ".vscode/settings.json:1, linked.md:1 and m.py:1"
    with ScriptedServer(Played({"r1/bob": {"F-1": AGREE}}, turns, silent=True)) as server:
        backend = speaking_to(server)
        settings = {"maxRounds": 1, "verificationMode": "full-reanalysis"}
        given = {"backend": backend, "repo": root, "settings": settings}
        shown = vp.preview(vp.crossverify, [finding(evidence=evidence)], ["ann", "bob"], **given)
        vp.crossverify([finding(evidence=evidence)], ["ann", "bob"], **given, log_dir=None, progress=False)
        plan = vp.plans.parse_plan("# A plan\n\n1. Change `m.py` and `.vscode/settings.json`.\n")
        vp.verify(plan, root, backend=backend, team="base", panel=None, log_dir=None, progress=False)
        sent = "\n".join(str(one.body) for one in server.requests)
    assert word not in sent
    assert word not in str(shown)
    assert "x = 1" in sent
    assert "on: push" in sent
    assert sent.count("it stands in a hidden folder") >= 2
    assert {path for path, _ in shown.withheld} == {".vscode/", "docs/.notes/"}
