"""A run of older rules is shown as it was decided, checked by the verifyplan that wrote it, and never gone on with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic_core import from_json, to_json

from tests.runs.debate_scripts import CONVERGES
from tests.runs.plan.breaking import broken_off, small_cross
from tests.runs.plan.planning import run_of, script
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.errors import LogError
from verifyplan.frames.load import load
from verifyplan.reports.log import log_text
from verifyplan.runlog import chain
from verifyplan.runs.debate.debate import debate
from verifyplan.runs.replay import replay_run
from verifyplan.runs.resume import read_run, resume
from verifyplan.version import RULES_VERSION, VERSION

CHANGED = (
    f"the rules have changed: version 1 decided this run, and verifyplan {VERSION} has version {RULES_VERSION}; "
    "verifyplan 0.1.0 checks it as it was"
)


def aged(path: Path, **changes: Any) -> Path:
    """Rewrite a log as if older rules had decided the run, with changes of how it ended."""
    data, digest = b"", chain.START
    for line in path.read_bytes().splitlines():
        values = {key: value for key, value in from_json(line).items() if key != "digest"}
        if values["type"] == "run-started":
            values |= {"rules_version": 1, "versions": values["versions"] | {"verifyplan": "0.1.0"}}
        if values["type"] == "run-ended":
            values["outcome"] |= changes
        head = to_json(values)[:-1]
        digest = chain._digest(digest, head)
        data += head + b',"digest":"' + digest.encode() + b'"}\n'
    path.write_bytes(data)
    return path


def test_a_run_of_today_says_by_which_rules_it_was_decided(tmp_path):
    run = run_of(script(), log_dir=tmp_path)
    assert run.log_path is not None
    assert from_json(run.log_path.read_bytes().splitlines()[0])["rules_version"] == RULES_VERSION
    assert load(run.log_path).runs["rules_version"].tolist() == [RULES_VERSION]
    again = replay_run(run.log_path)
    assert (again.rules_changed, again.changes, again.same) == (None, (), True)


def test_a_plan_run_is_shown_as_it_was_decided_and_what_would_change_is_said(tmp_path):
    path = aged(run_of(script(), log_dir=tmp_path).log_path, verdict="PROCEED", score=None)
    run = read_run(path)
    assert (run.verdict, run.frames.runs["plan_verdict"].tolist()) == ("PROCEED", ["PROCEED"])
    assert "**PROCEED**" in run.report()
    assert str(run).splitlines()[0].startswith("2 of 26 calls failed")
    assert str(run).splitlines()[1] == "  PROCEED"
    again = replay_run(path)
    assert again.changes[0] == "verdict: PROCEED; now: RETHINK"
    assert again.changes[1].startswith("score: none; now: ")
    assert "today's rules would change:\n  verdict: PROCEED; now: RETHINK" in str(again)


def test_a_cross_run_is_shown_as_it_was_decided_and_what_would_change_is_said(tmp_path):
    path = aged(small_cross(tmp_path).log_path, final_state="aborted-non-result")
    assert read_run(path).status == "aborted-non-result"
    again = replay_run(path, matcher=None)
    assert [line.partition(":")[0] for line in again.changes] == ["final state"]
    assert again.rules_changed == CHANGED


def test_a_cross_run_of_a_matcher_that_is_no_more_is_driven_by_todays(tmp_path):
    path = small_cross(tmp_path).log_path
    path.write_bytes(path.read_bytes().replace(b'"matcher":""', b'"matcher":"Gone"'))
    again = replay_run(aged(path))
    assert (again.rules_changed, again.changes) == (CHANGED, ())


def test_a_debate_is_shown_as_it_was_decided_and_what_would_change_is_said(tmp_path):
    backend = ScriptedBackend(CONVERGES)
    run = debate("Greet.", architect=backend, builder=backend, log_dir=tmp_path, repo=tmp_path, progress=False)
    assert run.log_path is not None
    path = aged(run.log_path, status="FAILED", reason="MAX_TURNS")
    assert read_run(path).status == "FAILED"
    assert replay_run(path).changes == (
        "status: FAILED; now: CONVERGED",
        "reason: MAX_TURNS; now: VERIFIED",
    )


def test_what_a_censored_replay_did_not_reach_is_no_change(tmp_path):
    path = aged(run_of(script(), log_dir=tmp_path).log_path)
    again = replay_run(path, max_iterations=5)
    assert again.censored is not None
    assert not [line for line in again.changes if line.endswith("now: none")]


def test_resuming_an_older_run_is_refused_with_what_to_do_and_nothing_is_written(tmp_path):
    path = aged(broken_off(tmp_path, script(), "iteration-closed"))
    before = path.read_bytes()
    fix = r"Fix: resume it with verifyplan 0\.1\.0, or start the run again; this verifyplan reads and replays it"
    with pytest.raises(LogError, match=rf"cannot be resumed: {CHANGED}.*{fix}"):
        resume(path, backend=ScriptedBackend(script(), silent=True))
    assert path.read_bytes() == before


def test_an_older_run_without_the_version_of_its_writer_is_told_of_all_the_same(tmp_path):
    path = aged(run_of(script(), log_dir=tmp_path).log_path)
    run = read_run(path)
    nameless = run.records[0]._replace(event=run.started.model_copy(update={"versions": {}}))
    again = replay_run(type(run)((nameless, *run.records[1:])))
    assert "; the verifyplan that wrote it checks it as it was" in str(again)


def test_tables_and_the_log_in_words_say_by_which_rules_an_older_run_was_decided(tmp_path):
    path = aged(small_cross(tmp_path).log_path)
    assert load(path).runs["rules_version"].tolist() == [1]
    first = next(log_text(read_run(path).records))
    assert "decided by version 1 of the rules" in first


def test_the_shell_lists_what_todays_rules_would_change_and_exits_with_1(cli, tmp_path):
    path = aged(run_of(script(), log_dir=tmp_path).log_path, verdict="PROCEED")
    done = cli("replay", path, "--check")
    assert done.code == 1
    assert CHANGED in done.out
    assert "  verdict: PROCEED; now: RETHINK" in done.out
