"""Arguments that cannot be used are refused before any agent is paid, with what to do instead."""

from __future__ import annotations

import inspect
import math
import re
from pathlib import Path
from typing import Any

import pytest

from tests.runs.crossing import Playing, finding
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.errors import InputError, SettingsError
from verifyplan.frames.artifact import artifact_text
from verifyplan.runs.cross.crossverify import crossverify

PLAN = "implementation-planning"
ITEM = {"finding_id": "P-001", "summary": "a step"}


def refused(message: str, error: type[InputError] = SettingsError, workers: Any = ("ann", "bob"), **more: Any) -> None:
    backend = Playing()
    with pytest.raises(error, match=rf"{message}.*Fix: "):
        crossverify([finding()], workers, **({"backend": backend, "log_dir": None} | more))
    assert backend.requests == []


@pytest.mark.parametrize(
    ("workers", "message"),
    [
        ("ann", "workers: must be a list, which has an order, got 'ann'"),
        (None, "workers: must be a list, which has an order, got None"),
        (5, "workers: must be a list, which has an order, got 5"),
        ({"ann", }, r"workers: must be a list, which has an order, got \{'ann'\}"),
        (["ann", "ann"], "workers: 'ann' is named twice"),
        (["ann", ""], "workers: must be names, got ''"),
        (["ann", "  "], "workers: must be names, got '  '"),
        (["ann", 5], "workers: must be names, got 5"),
        (["ann", {}], r"workers: must be names, got \{\}"),
        (["ann", "half \ud83d"], r"workers: must be names, got 'half \\ud83d'"),
    ],
)  # fmt: skip
def test_rosters(workers, message):
    refused(message, workers=workers)


def test_functions_given_as_workers_are_told_where_they_go():
    for workers in (len, ["ann", len]):
        with pytest.raises(SettingsError, match=r"got <built-in.*and the function as backend=agents\.from_function\("):
            crossverify([finding()], workers, backend=Playing(), log_dir=None)


def test_all_problems_of_a_roster_are_told():
    with pytest.raises(SettingsError, match="'b' is named twice") as caught:
        crossverify([], ["a", "b", "b", 5, None, "a"], log_dir=None)  # type: ignore[list-item]
    assert [p.message for p in caught.value.problems] == [
        "'a' is named twice",
        "'b' is named twice",
        "must be names, got 5",
        "must be names, got None",
    ]


def test_a_mapping_of_workers_is_a_roster_of_its_keys():
    run = crossverify([finding()], {"ann": "search", "bob": "window"}, backend=Playing(), log_dir=None)
    assert run.artifact.findings[0].consensusWorkers == ("ann", "bob")


@pytest.mark.parametrize("backend", ["statik", "", None, 5, object(), ScriptedBackend])
def test_backends(backend):
    refused(f"backend: {re.escape(repr(backend))} is unknown", backend=backend)


@pytest.mark.parametrize("repo", ["gone", "file.txt"])
def test_a_repo_that_is_no_folder(tmp_path, repo):
    (tmp_path / "file.txt").write_text("x")
    message = f"repo: '{re.escape(str(tmp_path / repo))}' is not a folder"
    refused(message, InputError, backend="static", workers=["search", "window"], repo=tmp_path / repo)


@pytest.mark.parametrize("timeout", [0, -1, "5", True, math.nan, math.inf])
def test_timeouts(timeout):
    refused(f"timeout: must be a finite number above 0, got {re.escape(repr(timeout))}", timeout=timeout)


def test_no_timeout_waits_for_ever():
    run = crossverify([finding()], ["ann", "bob"], backend=Playing(), timeout=None, log_dir=None)
    assert run.status == "converged"


@pytest.mark.parametrize("task_type", ["../x", "", "a/b", "a\\b", ".", "..", ".x", "a b", "x\n", "x" * 101, "a\0b", 5])
@pytest.mark.parametrize("written", [True, False])
def test_task_types_that_cannot_name_a_folder(tmp_path, monkeypatch, task_type, written):
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out" if written else None
    refused(
        f"task_type: {re.escape(repr(task_type))} cannot name a folder", InputError, task_type=task_type, log_dir=out
    )
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize("task_key", ["", " ", 5, "half \ud83d"])
def test_task_keys(task_key):
    refused(
        f"task_key: must be a text that is not blank, got {re.escape(repr(task_key))}", InputError, task_key=task_key
    )


def test_a_log_dir_that_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    refused(
        f"log_dir: '{re.escape(str(tmp_path))}/file' is a file, not a folder", InputError, log_dir=tmp_path / "file"
    )


def test_settings_that_contradict_each_other():
    refused(
        "verificationMode: 'lightweight' cannot serve",
        settings={"adversarial": True, "verificationMode": "lightweight"},
    )
    refused("rounds: is not a setting", settings={"rounds": 2})


def test_plain_parameters_give_the_run_that_settings_give():
    settings = {"adversarial": True, "maxRounds": 1}
    plain, keys, both = (
        crossverify([finding()], ["ann", "bob"], backend=Playing(), log_dir=None, **arguments)
        for arguments in (
            {"mode": "adversarial", "max_rounds": 1},
            {"settings": settings},
            {"mode": "adversarial", "max_rounds": 1, "settings": settings},
        )
    )
    assert plain.started == keys.started == both.started
    texts = {re.sub(r'"durationMs": \d+', "", artifact_text(run.artifact)) for run in (plain, keys, both)}
    assert len(texts) == 1


def test_parameters_that_cannot_be_settings():
    refused(r"mode: must be one of 'collaborative', 'adversarial', got 'fair'", mode="fair")
    refused("max_rounds: is 2, but settings has 'maxRounds': 1", max_rounds=2, settings={"maxRounds": 1})
    refused("verification: 'lightweight' cannot serve", mode="adversarial", verification="lightweight")
    refused("gating: needs a plan body, and there are no plan_items", gating=False, task_type=PLAN)
    refused(
        "missing_basis: must be one of 'infer', 'counter-evidence', 'burden-not-met', got 'raise'",
        missing_basis="raise",
    )


def test_help_shows_the_parameters_and_what_comes_back():
    shown = inspect.signature(crossverify)
    assert list(shown.parameters)[:6] == ["findings", "workers", "mode", "max_rounds", "verification", "gating"]
    assert shown.return_annotation == "CrossRun"


@pytest.mark.parametrize("task_type", [None, "error-analysis"])
def test_plan_items_in_a_run_of_another_type(task_type):
    message = f"plan_items: need task_type 'implementation-planning', got {task_type!r}"
    refused(message, task_type=task_type, plan_items=[ITEM])


def test_a_plan_item_with_the_id_of_a_finding():
    message = r"plan_items\[1\].finding_id: 'F-1' is also the id of a finding"
    refused(message, InputError, task_type=PLAN, plan_items=[ITEM, ITEM | {"finding_id": "F-1"}])


def test_findings_that_cannot_be_used(tmp_path):
    refused("cannot be read", InputError, task_type=PLAN, plan_items=str(tmp_path / "gone.csv"))
    with pytest.raises(InputError, match=r"'ann' is not a worker of this run; .* Fix: .*\(there are none\)"):
        crossverify([finding()], [], backend=Playing(), log_dir=None)


def test_a_single_path_may_be_a_text(tmp_path):
    path = Path(tmp_path) / "found.csv"
    path.write_text("finding_id,summary,worker\nF-1,claim,ann\n")
    for given in (path, str(path)):
        run = crossverify(given, ["ann", "bob"], backend=Playing(), log_dir=None)
        assert [f.findingId for f in run.artifact.findings] == ["F-1"]


def test_every_argument_that_cannot_be_used_is_said_at_once(tmp_path):
    (tmp_path / "file").write_text("x")
    rows = [finding(worker="zoe"), finding(finding_id="")]
    with pytest.raises(InputError) as caught:
        crossverify(
            rows,
            ["ann", "bob"],
            mode="adverserial",  # type: ignore[arg-type]
            backend="statik",
            matcher="clam",
            missing_basis="raise",
            task_type="a/b",
            max_tokens=0,
            timeout=-1,
            repetition=0,
            items_per_call=0,
            synthetic="maybe",  # type: ignore[arg-type]
            log_dir=tmp_path / "file",
        )
    places = {problem.place.partition("[")[0] for problem in caught.value.problems}
    scalars = {
        "mode",
        "backend",
        "matcher",
        "missing_basis",
        "task_type",
        "max_tokens",
        "timeout",
        "repetition",
        "items_per_call",
        "synthetic",
        "log_dir",
    }
    assert scalars <= places
    assert any("zoe" in problem.message for problem in caught.value.problems)
    with pytest.raises(SettingsError):  # settings alone are wrong
        crossverify([], ["ann", "bob"], backend=Playing(), timeout=-1, repetition=0, log_dir=None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"repetition": None}, "repetition: must be an integer of at least 1, got None. Fix: give a whole number"),
        ({"items_per_call": 0}, "items_per_call: must be an integer of at least 1, got 0. Fix: give a whole number"),
        ({"synthetic": "maybe"}, "synthetic: must be True or False, got 'maybe'. Fix: give True or False"),
    ],
)
def test_a_count_or_a_boolean_of_another_kind_is_refused_in_words(given, message):
    with pytest.raises(SettingsError, match=message):
        crossverify([], ["ann", "bob"], backend=Playing(), log_dir=None, **given)
