"""The recorded example of live runs: what it shows, what it must not hold, and that it can be recorded again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import verifyplan as vp
from tests.live.live_runs import derived
from tests.processes import forked
from verifyplan.protocol.event_run import CallFailed, CallReplied, TurnReplied, TurnSent
from verifyplan.runs.run import Run

FOLDER = vp.datasets.path("live-example")
LOGS = sorted(FOLDER.rglob("*.jsonl"))
RECORD = Path(__file__).resolve().parents[2] / "data" / "record.py"


@pytest.fixture(scope="module")
def runs():
    return vp.datasets.runs("live-example")


@pytest.fixture(scope="module")
def plan():
    return vp.read_run(FOLDER / "plan" / "purge-hour-001.jsonl")


def test_it_is_small_and_holds_a_plan_run_and_panels_of_both_modes():
    assert [path.relative_to(FOLDER).as_posix() for path in LOGS] == [
        "adversarial/panel-001.jsonl",
        "adversarial/panel-002.jsonl",
        "adversarial/panel-003.jsonl",
        "collaborative/panel-001.jsonl",
        "plan/purge-hour-001.jsonl",
    ]
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 350_000
    assert not list(FOLDER.rglob("*.lock"))


def test_every_run_is_marked_and_was_spoken_by_the_real_backend(runs):
    assert runs.runs["synthetic"].all()
    assert runs.runs["finished"].all()
    assert set(runs.runs["backend"]) == {"anthropic"}
    assert set(runs.calls["source"]) == {"live"}
    assert set(runs.turns["model"]) == {"example-large", "example-small"}, "no real model is named: none was asked"


def test_the_prices_are_said_to_be_made_up():
    for path in LOGS:
        prices = vp.read_run(path).started.backend["prices"]
        assert {price["source"] for price in prices.values()} == {"made up for this example"}


@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_no_place_of_the_machine_that_recorded_it_is_in_it(path):
    text = path.read_text("utf-8")
    started = json.loads(text.splitlines()[0])
    assert started["backend"]["base_url"] == "http://127.0.0.1:8000"
    inputs = started["inputs"]
    assert (inputs.get("root") or inputs["repository"]["root"]) == "/example/waybill"
    assert inputs.get("plan_path") in (None, "/example/purge-hour.md")
    assert not re.search(r"(?<![\w.])/(?:tmp|home|root|work|Users|var|private)/", text)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_rules_come_to_the_same_again(path):
    assert vp.replay_run(path).same


def test_the_plan_run_ends_as_that_of_the_agents_who_spoke(plan, tmp_path):
    repository = vp.datasets.sample_repository(tmp_path / "waybill")
    static = vp.verify(vp.datasets.plan_path("purge-hour"), repository, log_dir=None, synthetic=True)
    assert (plan.verdict, plan.score) == (static.verdict, static.score) == ("RETHINK", 6)
    assert [_placeless(line) for line in derived(plan)] == [_placeless(line) for line in derived(static)]


def _placeless(line: str) -> str:
    """A derived event without the plan's path, which the last of each iteration repeats."""
    return re.sub(r"'plan_path': '[^']*'", "", line)


def test_tool_loops_refusals_a_repair_and_the_cache_are_seen(plan):
    turns, tools = plan.frames.turns, plan.frames.tools
    assert turns["turn"].max() == 4
    assert {"tool_use", "end_turn"} == set(turns["stop_reason"])
    refused = tools[tools["refused"].ne("")]
    assert refused["argument"].tolist() == ["../.ssh/id_ed25519", ".env"]
    assert {"Read", "Grep", "git_log"} == set(tools["tool"])
    repaired = turns[turns["call_id"].eq("i1/synthesizer")]
    assert repaired["stop_reason"].tolist() == ["end_turn", "end_turn"]
    assert turns["cache_read_tokens"].sum() > turns["cache_write_tokens"].sum() > 0
    assert turns["cost"].sum() == pytest.approx(plan.frames.calls["cost"].sum())


def test_the_panel_has_several_models_and_stances_and_its_repetitions_differ(runs):
    panel = runs.select(lambda table: table["mode"].eq("adversarial") & table["kind"].eq("cross"))
    assert panel.runs["repetition"].tolist() == [1, 2, 3]
    assert panel.calls.groupby("worker")["model"].unique().map(list).to_dict() == {
        "ann": ["example-large"],
        "bob": ["example-small"],
        "cy": ["example-small"],
        "dee": ["example-small"],
    }
    classes = panel.findings.pivot(index="finding_id", columns="run_id", values="classification")
    assert 0 < classes.nunique(axis=1).gt(1).sum() < len(classes)
    workers = vp.read_run(LOGS[0]).started.backend["workers"]
    assert {own.get("style") for own in workers.values()} == {None, "adversarial", "collaborative"}


def test_its_claims_are_about_lines_that_stand_there(runs):
    claims = vp.datasets.claims("live-example")
    repository = vp.datasets.path("contract").parent / "plans" / "repository"
    assert claims["truth"].value_counts().to_dict() == {True: 4, False: 3}
    for place, quoted in claims["evidence"].str.split("\n> ", n=1):
        path, line = place.split(":")
        assert (repository / path).read_text("utf-8").splitlines()[int(line) - 1] == quoted
    told = runs.findings.dropna(subset="truth").groupby("finding_id")["truth"].unique().map(list)
    assert told.to_dict() == {name: [truth] for name, truth in zip(claims["finding_id"], claims["truth"], strict=True)}


def test_sets_without_claims_say_which_have_some():
    with pytest.raises(vp.errors.InputError, match="'contract' was not made from claims"):
        vp.datasets.claims("contract")


def test_recording_it_again_gives_the_same_words_tools_and_results(tmp_path):
    """Times differ, and what prompts cost does when they are reworded."""
    again = tmp_path / "again"
    code = f"import sys; sys.path.insert(0, {str(RECORD.parent)!r}); from record_live import *\n"
    code += f"from pathlib import Path; record_live_example(Path({str(again)!r}))"
    done = forked("everything", "tests.fork_server", "python", code, folder=RECORD.parent)
    assert done.returncode == 0, done.stderr
    assert (again / "claims.csv").read_text() == (FOLDER / "claims.csv").read_text()
    assert [path.relative_to(again) for path in sorted(again.rglob("*.jsonl"))] == [
        path.relative_to(FOLDER) for path in LOGS
    ]
    for path in LOGS:
        old, new = vp.read_run(path), vp.read_run(again / path.relative_to(FOLDER))
        assert derived(new) == derived(old)
        assert said(new) == said(old)


def said(run: Run) -> list[tuple[str, str, str]]:
    """What came from outside, in order: the words of each turn and answer, and the tools behind them."""
    facts = [event for event in run.events if isinstance(event, TurnSent | TurnReplied | CallReplied | CallFailed)]
    return [(event.type, event.call_id, _words(event)) for event in facts]


def _words(event: Any) -> str:
    told = event.message["content"] if isinstance(event, TurnReplied) else getattr(event, "value", "")
    return f"{told} {getattr(event, 'tools', ())}"
