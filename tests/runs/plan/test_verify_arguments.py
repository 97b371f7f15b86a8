"""The arguments of `verify`, all problems at once and in words; exit codes of plan runs in a shell (rules H1-H3)."""

from __future__ import annotations

import os
import subprocess
from decimal import Decimal
from inspect import signature, unwrap
from pathlib import Path
from typing import get_args

import pytest

import verifyplan as vp
from tests.processes import client
from tests.runs.plan.acting import TRIVIAL, USAGE, Acting
from tests.runs.plan.planning import PLAN, challenge, scores, script
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.errors import InputError, SettingsError
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.call import Reply
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.protocol.settings import BlockedWord, OnBlocked, PanelSettings
from verifyplan.protocol.weights_file import load, save


@pytest.fixture
def plan(tmp_path) -> Path:
    path = tmp_path / "plan.md"
    path.write_text(PLAN)
    return path


def problems(plan, **arguments):
    """What is wrong with the arguments, place by place."""
    backend = arguments.pop("backend", ScriptedBackend({}, silent=True))
    repo = arguments.pop("repo", ".")
    with pytest.raises(InputError, match="Fix: ") as raised:
        vp.verify(plan, repo, backend=backend, **{"log_dir": None} | arguments)
    return {problem.place: problem.message for problem in raised.value.problems}


NO_SUM = dict.fromkeys(DIMENSIONS, "0.15")


@pytest.mark.parametrize(
    ("arguments", "place", "message"),
    [
        ({"policy": "strict"}, "policy", "must be 'protocol' or 'deliberate', got 'strict'"),
        ({"team": "huge"}, "team", "must be 'base' or 'scaled', got 'huge'"),
        ({"on_blocked": "stop"}, "on_blocked", "a function that answers, got 'stop'"),
        ({"on_blocked": "ask"}, "on_blocked", "a function that answers, got 'ask'"),
        ({"on_blocked": None}, "on_blocked", "a function that answers, got None"),
        ({"on_blocked": ["pause"]}, "on_blocked", "a function that answers, got ['pause']"),
        ({"backend": "gpt"}, "backend", "'gpt' is unknown"),
        ({"backend": ScriptedBackend}, "backend", "<class"),
        ({"threshold": -1}, "threshold", "must be an integer of at least 0, got -1"),
        ({"threshold": "many"}, "threshold", "must be an integer, got 'many'"),
        ({"max_iterations": 0}, "max_iterations", "must be an integer of at least 1, got 0"),
        ({"repetition": None}, "repetition", "must be an integer of at least 1, got None"),
        ({"repetition": True}, "repetition", "must be an integer of at least 1, got True"),
        ({"synthetic": "maybe"}, "synthetic", "must be True or False, got 'maybe'"),
        ({"synthetic": None}, "synthetic", "must be True or False, got None"),
        ({"max_iterations": 2.5}, "max_iterations", "must be an integer, got 2.5"),
        ({"max_tokens": 0}, "max_tokens", "must be an integer of at least 1, got 0"),
        ({"timeout": 0}, "timeout", "must be a finite number above 0, got 0"),
        ({"timeout": -3.0}, "timeout", "must be a finite number above 0, got -3.0"),
        ({"timeout": float("nan")}, "timeout", "must be a finite number above 0, got nan"),
        ({"timeout": "soon"}, "timeout", "must be a number, got 'soon'"),
        ({"timeout": "-5"}, "timeout", "must be a finite number above 0, got -5.0"),
        ({"weights": NO_SUM}, "weights", "sum to 0.9"),
        ({"weights": {"beauty": "1"}}, "weights.beauty", "is not a dimension"),
        ({"weights": dict.fromkeys(DIMENSIONS, 0.25)}, "weights.risk_coverage", "0.25 is not an exact decimal"),
        (
            {"weights": dict.fromkeys(DIMENSIONS, Decimal("NaN"))},
            "weights.risk_coverage",
            "Decimal('NaN') is not an exact",
        ),
        ({"weights": ["0.25"]}, "weights", "must be a mapping, got a list"),
        ({"panel": []}, "panel", "must name workers, got []"),
        ({"panel": "ann"}, "panel", "must name workers, got 'ann'"),
        ({"panel": {"ann", "bob"}}, "panel", "must name workers, got {"),
        ({"panel": PanelSettings(workers=())}, "panel", "must name workers, got ()"),
        ({"panel": ["ann", "bob", "ann"]}, "panel", "'ann' is named twice"),
        ({"panel": ["ann", " "]}, "panel", "must be names, got ' '"),
        ({"panel": [3]}, "panel", "must be names, got 3"),
        ({"panel": ["\udcff"]}, "panel", "must be names, got '\\udcff'"),
        ({"panel": {"mode": "kind"}}, "panel.mode", "must be 'collaborative' or 'adversarial', got 'kind'"),
        ({"panel": 3}, "panel", "must name workers, got 3"),
        ({"panel": ["zoe"], "backend": Acting(None)}, "workers", "zoe is ill"),
        ({"repo": "no/such/folder"}, "repo", "'no/such/folder' is not a folder"),
        ({"repo": None}, "repo", "is a NoneType, not a path"),
        ({"repo": "a\0b"}, "repo", "is not a folder"),
        ({"log_dir": 3}, "log_dir", "is a int, not a path"),
        ({"log_dir": "a\0b"}, "log_dir", "cannot name a folder"),
        ({"log_dir": "\udcff"}, "log_dir", "cannot name a folder"),
        ({"log_dir": "a" * 300 + "/b"}, "log_dir", "cannot name a folder"),
    ],
)
def test_an_argument_that_does_not_fit_is_told_in_words(plan, arguments, place, message):
    found = problems(plan, **arguments)
    assert found[place].startswith(message) or message in found[place]
    assert set(found) <= {place, *(f"weights.{name}" for name in DIMENSIONS)}


def test_all_problems_are_told_at_once(plan, tmp_path):
    found = problems(
        tmp_path / "none.md",
        repo=str(plan),
        backend="gpt",
        panel=["ann", "ann"],
        policy="strict",
        on_blocked="stop",
        team="huge",
        threshold=-1,
        max_iterations=0,
        weights=NO_SUM,
        timeout=0,
        max_tokens=0,
        repetition=None,
        synthetic="maybe",
        log_dir=plan,
    )
    assert sorted(place for place in found if "none.md" not in place) == [
        "backend", "log_dir", "max_iterations", "max_tokens", "on_blocked", "panel", "policy", "repetition", "repo",
        "synthetic", "team", "threshold", "timeout", "weights",
    ]  # fmt: skip
    assert found[str(tmp_path / "none.md")] == "cannot be read (No such file or directory)"


def test_settings_that_do_not_fit_are_a_settings_error(plan):
    with pytest.raises(SettingsError, match="policy: must be 'protocol' or 'deliberate', got 'strict'"):
        vp.verify(plan, backend="static", policy="strict", log_dir=None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read"),
        (b"\x00\x01plan", "is binary"),
        (b"# Gr\xfc\xdfe\n", "UTF-8"),
        ("folder", "is a folder"),
    ],
)
def test_a_plan_that_is_none_is_told_in_words(tmp_path, content, message):
    path = tmp_path / "p.md"
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    [(place, told)] = problems(path).items()
    assert place.startswith(str(path))
    assert message in told


@pytest.mark.parametrize("given", [None, 3, b"plan.md", ["plan.md"]])
def test_a_plan_must_be_a_path_or_a_plan(given):
    assert problems(given)["plan"] == f"is a {type(given).__name__}, not a path"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (parse_plan("# \udcff\n"), "holds halves of surrogate pairs"),
        (parse_plan("# a\n", "\udcff.md"), "is a name that no log can hold"),
    ],
)
def test_what_no_log_could_hold_is_refused_before_the_run(given, message):
    assert message in problems(given)["plan"]


def test_a_folder_that_takes_no_log_is_told_before_any_call(plan, tmp_path):
    backend = Acting(lambda _: {})
    assert problems(plan, backend=backend, log_dir=plan)["log_dir"] == f"{str(plan)!r} is a file, not a folder"
    assert "is a file, not a folder" in problems(plan, backend=backend, log_dir=plan / "runs")["log_dir"]
    assert backend.requests == []
    assert sorted(tmp_path.iterdir()) == [plan]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="nothing is read-only for the superuser")
def test_a_folder_that_may_not_be_written_is_told_before_any_call(plan, tmp_path):
    (tmp_path / "runs").mkdir(mode=0o500)
    assert "cannot be written to" in problems(plan, log_dir=tmp_path / "runs")["log_dir"]


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff"])
def test_an_empty_plan_is_refused(tmp_path, text):
    path = tmp_path / "empty.md"
    path.write_text(text)
    with pytest.raises(InputError, match=r"empty\.md' holds no text\. Fix: write the plan down"):
        vp.verify(path, tmp_path, backend=Acting(None), log_dir=None)


def test_a_heading_alone_is_trivial(tmp_path):
    path = tmp_path / "heading.md"
    path.write_text("# Only a heading\n")
    run = vp.verify(path, tmp_path, backend=Acting(None), log_dir=None)
    assert (run.verdict, run.outcome.ended_by) == ("PROCEED", "sizing")


def test_a_panel_is_named_in_several_ways(plan):
    for panel in (["ann", "bob"], ("ann", "bob"), {"workers": ["ann", "bob"]}, PanelSettings(workers=("ann", "bob"))):
        run = vp.verify(plan, backend=ScriptedBackend({}, silent=True), panel=panel, log_dir=None)
        assert run.started.plan.settings.panel.workers == ("ann", "bob")


def test_weights_may_be_decimals_or_their_texts(plan):
    weights = dict.fromkeys(DIMENSIONS, Decimal(0)) | {"risk_coverage": "0.5", "unknowns_coverage": Decimal("0.5")}
    run = vp.verify(plan, backend=ScriptedBackend({}, silent=True), weights=weights, log_dir=None)
    assert run.started.plan.settings.weights["unknowns_coverage"] == "0.5"


def test_weights_may_be_a_weights_file(plan, tmp_path):
    given = dict.fromkeys(DIMENSIONS, "0") | {"risk_coverage": "0.50", "unknowns_coverage": "0.5"}
    path = save(given, tmp_path / "weights.json")
    for named in (path, str(path)):
        run = vp.verify(plan, backend=ScriptedBackend({}, silent=True), weights=named, log_dir=None)
        assert run.started.plan.settings.weights == given
    scored = {"i1/score": scores(7, risk_coverage=3)}
    run = vp.verify(plan, backend=ScriptedBackend(scored, silent=True), weights=path, log_dir=None)
    assert run.score == 5
    assert vp.verify(plan, backend=ScriptedBackend(scored, silent=True), log_dir=None).verdict == run.verdict


def test_weights_of_dimensions_rescaled_by_different_ranges_are_refused(plan, tmp_path):
    given = dict.fromkeys(DIMENSIONS, "0") | {"risk_coverage": "0.5", "unknowns_coverage": "0.5"}
    ranges = dict.fromkeys(DIMENSIONS, (1, 10)) | {"risk_coverage": (0, 100)}
    path = save(given, tmp_path / "weights.json", ranges)
    expected = {"weights": "are of dimensions rescaled by different ranges"}
    assert problems(plan, weights=path) == problems(plan, weights=load(path)) == expected


def test_what_is_wrong_with_a_weights_file_is_told_beside_all_else(plan, tmp_path):
    path = tmp_path / "weights.json"
    path.write_text('{"version": 2, "weights": {"risk_coverage": 0.5}}')
    found = problems(plan, weights=path, policy="strict")
    assert found["policy"].startswith("must be 'protocol' or 'deliberate', got 'strict'")
    assert found[f"{path}: version"] == "2 is unknown"
    assert found[f"{path}: weights.risk_coverage"] == "0.5 must be text"
    assert found[f"{path}: weights.unknowns_coverage"] == "is missing"
    assert problems(plan, weights=tmp_path / "none.json") == {str(tmp_path / "none.json"): "does not exist"}
    assert problems(plan, weights=tmp_path) == {str(tmp_path): "is a folder"}


# ---- in a shell

BLOCKED = """# Change the store

Goal: change `store.py`.

1. Change `store.py`
2. Run `pytest -q`
3. Read the log
4. Tell the team
"""


@pytest.fixture
def blocked(tmp_path) -> Path:
    """A plan that changes a file that does not exist: it blocks."""
    (tmp_path / "blocked.md").write_text(BLOCKED)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.md"], "Error: none.md: cannot be read"),
        (["."], "Error: .: is a folder"),
        (["blocked.md", "--repo", "none", "--log-dir", "blocked.md"], "Error: repo: 'none' is not a folder"),
        (["blocked.md", "--threshold", "-1"], "--threshold"),
        (["blocked.md", "--max-iterations", "0"], "--max-iterations"),
        (["blocked.md", "--policy", "strict"], "--policy"),
    ],
)
def test_bad_arguments_exit_with_2_and_words(cli, blocked, words, message):
    done = cli("verify", *words, cwd=blocked)
    assert done.code == 2
    assert message in done.err
    assert not (blocked / "runs").exists()


def test_a_name_that_is_no_text_is_told_by_the_process(blocked):
    done = subprocess.run([*client("command", "verify"), b"\xff.md"], capture_output=True, text=True, cwd=blocked)
    assert done.returncode == 2
    assert "is a name that no log can hold" in done.stderr
    assert not (blocked / "runs").exists()


def test_verdicts_and_pauses_have_their_exit_codes(cli, blocked):
    (blocked / "trivial.md").write_text(TRIVIAL)
    assert cli("verify", "trivial.md", "--exit-code", cwd=blocked).code == 0
    assert cli("verify", "blocked.md", cwd=blocked).code == 0
    assert cli("verify", "blocked.md", "--exit-code", cwd=blocked).code == 20
    waiting = cli("verify", "blocked.md", "--on-blocked", "pause", "--exit-code", cwd=blocked)
    assert waiting.code == 30, waiting.out
    log = blocked / "runs" / "blocked-003.jsonl"
    assert vp.read_run(log).waiting is not None
    assert cli("resume", log, "--answer", "acknowledge:C99", cwd=blocked).code == 2
    assert cli("resume", log, "--answer", "context", cwd=blocked).code == 2
    assert vp.read_run(log).waiting is not None


def ended(folder, answers, **settings):
    """The log of a run with scripted agents, as a shell finds it."""
    backend = settings.pop("backend", ScriptedBackend(answers, silent=True))
    given = {"log_dir": folder, "panel": None, "team": "base"} | settings
    return vp.verify(parse_plan(PLAN), folder, backend=backend, **given).log_path


def costly(_):
    return Reply(value={}, usage=USAGE)


@pytest.mark.parametrize(
    ("answers", "settings", "code"),
    [
        ({}, {}, 0),
        ({"i1/challenger": {"challenges": [challenge()]}}, {}, 10),
        ({"i1/challenger": {"challenges": [challenge(severity="BLOCKING")]}}, {}, 20),
        ({"i1/challenger": {"challenges": [challenge(severity="BLOCKING")]}}, {"on_blocked": "pause"}, 30),
        ({"i1/challenger": {"challenges": [challenge(severity="BLOCKING")]}}, {"on_blocked": lambda _: "abort"}, 1),
        ({"i1/synthesizer": "error"}, {}, 3),
        ({}, {"backend": Acting(costly), "max_tokens": 1}, 4),
    ],
)
def test_a_run_that_has_ended_exits_as_it_ended(cli, tmp_path, answers, settings, code):
    done = cli("resume", ended(tmp_path, answers, **settings), "--exit-code", cwd=tmp_path)
    assert done.code == code, done.out + done.err


def test_without_exit_code_a_verdict_is_no_failure(cli, tmp_path):
    assert cli("resume", ended(tmp_path, script()), cwd=tmp_path).code == 0


def test_a_prepared_run_writes_nothing_and_asks_nobody_until_it_is_driven(plan, tmp_path):
    logs, backend = tmp_path / "logs", ScriptedBackend({}, silent=True)
    prepared = unwrap(vp.verify)(plan, tmp_path, backend=backend, log_dir=logs, team="base")
    assert not logs.exists()
    assert prepared.started.plan.plan_text == plan.read_text()
    run = prepared.drive()
    assert run.log_path == logs / f"{prepared.log_stem}-001.jsonl"
    assert run.started == prepared.started


def test_the_hint_of_on_blocked_offers_the_words_that_verify_takes(plan, tmp_path):
    backend = ScriptedBackend({}, silent=True)
    for word in get_args(BlockedWord):
        run = vp.verify(plan, tmp_path, backend=backend, on_blocked=word, log_dir=None)
        assert run.started.plan.settings.on_blocked == word
    assert set(get_args(OnBlocked)) - set(get_args(BlockedWord)) == {"ask"}
    assert signature(vp.verify).parameters["on_blocked"].annotation == "BlockedWord | PauseHandler"
    assert signature(vp.verify).return_annotation == "PlanRun"
