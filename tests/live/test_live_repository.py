"""The repository of a live run is listed once, whoever asks first, and all workers see the same files (rule G4)."""

from __future__ import annotations

from threading import Lock

from tests.live.live_runs import Played, speaking_to
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
