"""Functions as workers and agents: what they are called with, what they may return, what a wrong answer costs."""

from __future__ import annotations

import asyncio
import threading

import pytest

import verifyplan as vp
from verifyplan.errors import InputError, SettingsError
from verifyplan.protocol.call import Reply, Usage

CLAIMS = [
    {"finding_id": "F-1", "summary": "rows are locked", "evidence": "store.py:1", "worker": "ann"},
    {"finding_id": "F-2", "summary": "rows are counted", "evidence": "store.py:2", "worker": "ann"},
]
ADVERSARIAL = {"adversarial": True, "maxRounds": 1}


def classes(run):
    return list(run.frames.findings["classification"])


def crossed(function, workers=("ann", "bob", "cy"), **settings):
    return vp.crossverify(CLAIMS, workers, backend=vp.agents.from_function(function), log_dir=None, **settings)


def test_a_function_is_called_with_each_finding_and_never_sees_its_truth():
    seen = []

    def judge(finding):
        seen.append((finding.finding_id, finding.summary, finding.evidence))
        assert not hasattr(finding, "truth")
        return "agree"

    run = crossed(judge, ["ann", "bob"])
    assert classes(run) == ["full-consensus", "full-consensus"]
    assert sorted(seen) == [("F-1", "rows are locked", "store.py:1"), ("F-2", "rows are counted", "store.py:2")]


def test_a_second_argument_is_the_request():
    def judge(_, request):
        assert request.mode == "adversarial"
        return {"verdict": "REFUTED", "basis": "counter-evidence", "explanation": f"{request.worker} saw store.py:9"}

    run = crossed(judge, settings=ADVERSARIAL)
    assert classes(run) == ["worker-unique", "worker-unique"]
    assert set(run.frames.votes["explanation"]) == {"bob saw store.py:9", "cy saw store.py:9"}


def test_each_worker_can_have_its_own_function():
    run = crossed(
        {"ann": lambda _: "agree", "bob": lambda _: "disagree", "cy": lambda _: "agree"}, settings={"maxRounds": 1}
    )
    assert classes(run) == ["contested", "contested"]


def test_a_worker_without_a_function_is_refused_before_any_call():
    with pytest.raises(InputError, match="no function plays 'bobb' \\(did you mean 'bob'\\?\\)"):
        crossed({"ann": lambda _: "agree", "bob": lambda _: "agree"}, ["ann", "bobb"])


def test_async_functions_are_asked_about_findings_at_once_within_the_limit():
    now, most = 0, 0

    async def judge(_):
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.02)
        now -= 1
        return "agree"

    claims = [{"finding_id": f"F-{i}", "summary": f"claim {i}", "worker": "ann"} for i in range(9)]
    backend = vp.agents.from_function(judge, max_concurrency=3)
    vp.crossverify(claims, ["ann", "bob"], backend=backend, log_dir=None)
    assert most == 3


def test_plain_functions_do_not_hold_up_other_workers():
    both = threading.Barrier(2, timeout=20)

    def judge(finding):
        if finding.finding_id == "F-1":
            both.wait()  # passes only if two workers are asked at once
        return "agree"

    assert classes(crossed(judge)) == ["full-consensus", "full-consensus"]


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, r"judge: returned None for F-1: its verdict None is no verdict. Fix: return a verdict \('agree'"),
        (True, "judge: returned True for F-1"),
        ("perhaps", "its verdict 'perhaps' is no verdict"),
        ({"explanation": "x"}, "its verdict is missing"),
    ],
)
def test_a_wrong_first_answer_ends_the_run_and_names_the_function(result, message):
    def judge(_):
        return result

    with pytest.raises(SettingsError, match=message):
        crossed(judge)


def test_a_later_wrong_answer_or_an_exception_costs_its_finding_alone():
    def judge(finding):
        if finding.finding_id == "F-2":
            raise ValueError("no such row")
        return "agree"

    def forgetful(finding):
        return "agree" if finding.finding_id == "F-1" else None

    run = crossed({"ann": judge, "bob": judge, "cy": forgetful})
    votes = run.frames.votes
    assert set(votes[votes["finding_id"] == "F-1"]["verdict"]) == {"agree"}
    assert set(votes[votes["finding_id"] == "F-2"]["verdict"]) == {"verification-error"}
    replies = [record.event for record in run.records if record.event.type == "call-replied"]
    told = " ".join(failure for reply in replies for failure in reply.partial_failures)
    assert "judge failed on F-2: ValueError: no such row" in told
    assert "forgetful failed on F-2" in told


def test_a_function_that_fails_on_everything_fails_its_calls():
    def judge(_):
        raise ConnectionError("no route")

    run = crossed(judge)
    assert set(run.frames.votes["verdict"]) == {"verification-error"}
    assert "no route" in str(run)


def test_roles_of_a_plan_run_are_functions_too(tmp_path):
    challenge = {
        "claim": "It keeps the rows.", "concern": "It drops them.", "failure_scenario": "All rows are gone.",
        "alternative": "Copy them first.", "severity": "SIGNIFICANT", "confidence": "HIGH", "evidence": "plan.md:3",
    }  # fmt: skip

    async def challenger(request):
        return Reply(value={"challenges": [challenge] if request.iteration == 1 else []}, usage=Usage(input_tokens=7))

    agents = {"challenger": challenger, "synthesizer": lambda _: {}, "surface": lambda _: {}, "probe": lambda _: {}}
    plan = "# Move the rows\n\nGoal: keep them.\n\n1. Change `store.py`.\n2. Delete `old.py`.\n3. Call `run()`.\n"
    run = vp.verify(
        vp.plans.parse_plan(plan), tmp_path, backend=vp.agents.from_function(agents), panel=None, log_dir=None
    )
    assert list(run.frames.challenges["claim"]) == ["It keeps the rows."]
    assert run.frames.calls["input_tokens"].max() == 7


def test_the_log_names_the_functions_and_tells_versions_apart():
    def judge(_):
        return "agree"

    backend = crossed(judge).started.backend
    assert backend["name"] == "function"
    worker = backend["functions"]["worker"]
    assert worker["name"].endswith("test_the_log_names_the_functions_and_tells_versions_apart.<locals>.judge")
    assert len(worker["source_sha256"]) == 64


def test_a_resumption_warns_of_a_function_whose_source_was_edited(tmp_path, capsys):
    def judge(_):
        return "agree"

    def edited(_):
        return "disagree"

    backend = vp.agents.from_function(judge)
    path = vp.crossverify(CLAIMS, ["ann", "bob", "cy"], backend=backend, log_dir=tmp_path).log_path
    without_end = b"".join(path.read_bytes().splitlines(keepends=True)[:-1])

    def said(functions):
        path.write_bytes(without_end)
        assert vp.resume(path, backend=vp.agents.from_function(functions)).has_ended
        return capsys.readouterr().err

    for same in (judge, dict.fromkeys(("ann", "bob", "cy"), judge), lambda _: "agree"):
        assert "Warning" not in said(same)
    assert "source of the function of bob is not the source that the log" in said(
        {"ann": judge, "bob": edited, "cy": judge}
    )


@pytest.mark.parametrize("wrong", [3, {"ann": "agree"}, None])
def test_what_is_no_function_is_refused(wrong):
    with pytest.raises(InputError, match="must be a function, got a"):
        vp.agents.from_function(wrong)


def test_a_function_as_the_backend_is_refused_with_the_call_that_wraps_it():
    with pytest.raises(SettingsError, match=r"pass the function as backend=agents\.from_function\("):
        vp.crossverify(CLAIMS, ["ann", "bob"], backend=lambda _: "agree", log_dir=None)


def test_a_limit_below_one_is_refused():
    with pytest.raises(InputError, match="max_concurrency: must be at least 1, got 0"):
        vp.agents.from_function(lambda _: "agree", max_concurrency=0)
    message = r"items_per_call: is not an argument of from_function. Fix: give it to the run: crossverify\("
    with pytest.raises(SettingsError, match=message):
        vp.agents.from_function(lambda _: "agree", items_per_call=3)  # type: ignore[arg-type]


def test_an_argument_of_models_or_a_typing_error_is_refused_with_what_to_write():
    with pytest.raises(SettingsError, match=r"model: is not an argument of crossverify.*Anthropic\(MODEL\)"):
        vp.crossverify(CLAIMS, ["ann", "bob"], model="claude-haiku-5-5")
    with pytest.raises(SettingsError, match=r"base_url: .*backend=vp\.agents\.Anthropic\(MODEL, base_url=\.\.\.\)"):
        vp.verify("PLAN.md", ".", base_url="http://localhost:8080")
    with pytest.raises(SettingsError, match=r"max_round: is not an argument of crossverify \(did you mean"):
        crossed(lambda _: "agree", max_round=1)
