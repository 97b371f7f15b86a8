"""An outage is said where people look: exit code, last line, print, report, table of runs (rules B8, H2)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import verifyplan as vp
from tests.live.live_runs import Played, turn_of
from tests.live.scripted_replies import status
from tests.live.scripted_server import ScriptedServer
from tests.processes import forked
from tests.runs.crossing import AGREE
from verifyplan.errors import InputError

MODEL = "claude-haiku-5-5"
WORKERS = ("ann", "bob", "cy")
IDS = ("F-1", "F-2", "F-3", "F-4")
VOTES = {1: {name: {key: AGREE | {"explanation": f"{name} looked"} for key in IDS} for name in WORKERS}}
HALF = "The classes of 4 findings rest on half or fewer of the votes asked for (4 of 12): F-1, F-2, F-3, F-4"


class Outage(ScriptedServer):
    """Answers 503 to some workers while `down`."""

    def __init__(self, down, models=(MODEL,)):
        super().__init__(self.answered, models=models)
        self.down, self.played = set(down), Played(VOTES)

    def answered(self, asked):
        return status(503) if turn_of(asked).split("/")[1] in self.down else self.played(asked)


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    found = [{"finding_id": key, "summary": f"claim {key} <b>| `x`", "evidence": f"m.py:{key[2:]}"} for key in IDS]
    Path("findings.json").write_text(json.dumps(found))
    Path("agents.json").write_text(json.dumps({"model": MODEL, "max_retries": 0}))


def crossed(server, *more):
    """What the command does, in its own process."""
    words = ["crossverify", "findings.json", "--workers", ",".join(WORKERS), "--agents", "agents.json"]
    return process(*words, "--max-rounds", "1", "--mode", "collaborative", "--base-url", server.url, *more)


def process(*words):
    return forked("everything", "tests.fork_server", "command", *words, folder=Path.cwd())


def test_classes_that_rest_on_one_vote_of_three_exit_with_3_and_are_said_until_they_are_asked_again():
    with Outage({"bob", "cy"}) as server:
        done = crossed(server, "--report", "page.md")
        log = Path("runs/ad-hoc/state/convergence-ad-hoc-001.jsonl")
        again = f"to ask them again: verifyplan resume {log} --retry-failed --base-url {server.url}"
        first, *_, last = done.stdout.splitlines()
        assert (done.returncode, done.stderr) == (3, "")
        assert first == f"2 of 3 calls failed: 2 server error; {again}"
        assert f"{HALF}.\n" in done.stdout
        assert last == f"exit code 3: 2 of 3 calls failed: 2 server error; {HALF}; {again}"
        assert ("full-consensus 4 (4 on one vote), " in done.stdout) == ("full-consensus 4" in done.stdout)
        page = Path("page.md").read_text().replace("\\", "")
        assert "**2 of 3 calls failed: 2 server error; to ask them again: " in page
        assert "**4 findings, 3 workers, collaborative: converged after 1 round, on too few votes**" in page
        assert f"**{HALF}.**" in page
        assert f"note: 2 of 3 calls failed: 2 server error.\nnote: {HALF}." in str(vp.load("runs"))
        server.down.clear()
        mended = process("resume", log, "--retry-failed", "--base-url", server.url, "--report", "page.html")
    assert (mended.returncode, mended.stderr) == (0, "")
    assert mended.stdout.splitlines()[-1] == "report: page.html"
    assert "failed" not in mended.stdout
    assert "note" not in str(vp.load("runs"))


@pytest.mark.parametrize(("rules", "code"), [(None, 0), ('{"quorum": 3}', 3), ('{"quorum": 2}', 0)])
def test_one_lost_vote_of_three_is_said_and_ends_with_3_only_below_a_quorum(rules, code):
    with Outage({"cy"}) as server:
        done = crossed(server, *(("--rules", rules) if rules else ()))
    assert done.returncode == code
    failed = "1 of 3 calls failed: 1 server error"
    last = done.stdout.splitlines()[-1]
    if code:
        below = "The classes of 4 findings rest on fewer valid votes than the quorum (8 of 12 votes asked for)"
        assert last.startswith(f"exit code 3: {failed}; {below}: F-1, F-2, F-3, F-4; to ask them again: ")
    else:
        enough = "but each class rests on enough of the votes that were asked for"
        assert last.startswith(f"exit code 0: {failed}, {enough}; to ask them again: ")


def test_where_every_call_failed_calls_are_counted_and_one_next_step_is_named():
    with Outage(WORKERS) as server:
        done = crossed(server, "--items-per-call", 2)
    first, second, third, *_ = done.stdout.splitlines()
    assert done.returncode == 3
    assert first.startswith("no vote: every call failed (6 of 6), ann first: ")
    assert second.startswith("next step: repair what the reason names (`verifyplan doctor` looks at key and endpoint)")
    assert ", then ask the calls again: verifyplan resume runs/" in second
    assert third == "the classes below rest on no vote"
    assert "worker-unique 4 (4 without a vote)" in done.stdout
    assert "run again" not in done.stdout
    assert done.stdout.splitlines()[-1].startswith("exit code 3: no vote: every call failed (6 of 6), ann first: ")
    assert "cost: $0 booked, in US dollars, for 0 in + 0 out tokens" in done.stdout


def test_the_cost_is_booked_dollars_or_the_model_without_a_price():
    with Outage(()) as server:
        priced = crossed(server).stdout
    [line] = [line for line in priced.splitlines() if line.startswith("cost: ")]
    cost = vp.load("runs").runs.loc[0, "cost"]
    assert line.startswith(f"cost: ${cost:.4f} booked, in US dollars, for ")
    Path("agents.json").write_text('{"model": "tiny-1b", "max_retries": 0}')
    with Outage((), models=()) as server:
        unpriced = crossed(server).stdout
    assert "cost: no price is known for tiny-1b (prices= or --prices gives one); " in unpriced


def test_the_report_of_a_cross_run_has_all_that_its_classes_rest_on(tmp_path):
    with Outage({"bob", "cy"}) as server:
        crossed(server, "--rules", '{"quorum": 2}')
    run = vp.read_run("runs/ad-hoc/state/convergence-ad-hoc-001.jsonl")
    text = run.report()
    titles = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert titles == ["Findings", "Workers", "Calls that failed", "Findings vote by vote", "Rules", "The run"]
    plain = text.replace("\\", "")
    assert f"| F-1 | {run.artifact.findings[0].classification} | " in plain
    assert "| 1 of 3 | claim F-1" in plain
    assert "| bob | 0 | 0 | 0 | 4 | 1 of 1 |" in plain
    assert "| r1/bob | bob | server error | " in plain
    assert "ann looked" in plain
    assert "quorum=2" in plain
    assert "cost: $" in plain
    assert "<b>" not in text
    page = run.report(tmp_path / "page.html").read_text()
    assert "claim F-1 &lt;b&gt;" in page
    assert "<b>" not in page
    with pytest.raises(InputError, match=r"page\.txt' does not say the form of the report"):
        run.report("page.txt")


def test_a_run_without_faults_ends_as_before_and_says_nothing_of_failures():
    with Outage(()) as server:
        done = crossed(server)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("log: ")
    assert "failed" not in done.stdout
