"""rule A11: what an agent's failure costs, row by row, and what it never costs."""

from __future__ import annotations

import asyncio
import sys

import pytest

from tests.runs.plan.acting import USAGE, Acting
from tests.runs.plan.planning import PLAN, answer, challenge, change, context, risk, run_of, scores, told, unknown
from verifyplan.cli.app import main
from verifyplan.engine.calls import REASON_LENGTH
from verifyplan.protocol.call import Reply, WorkerRequest

BLOCKING = challenge("locks", "BLOCKING")
GOES_ON = {
    "i1/challenger": {"challenges": [BLOCKING], "unknowns": [unknown("store"), unknown("table")]},
    "i1/resolver": {"answers": [answer("U1", "CONFIRMED"), answer("U2", "PARTIALLY_RESOLVED")]},
}
FAILURES = ["timeout", "error", {"raw": None}, {"raw": "sorry"}, {"raw": []}, {"raw": {"extra": 1}}, {"raw": {1: [2]}}]
SILENT = [{"raw": {}}, {"raw": {"unknowns": []}}]
"""A challenger that says neither what is wrong nor that nothing is."""


def failing(*calls, more=None, **settings):
    """A run of the base team in which these calls fail; nobody else says anything but what `more` adds."""
    answers = GOES_ON | (more or {}) | dict.fromkeys(calls, "error")
    return run_of(answers, silent=True, **{"panel": None, "team": "base", "max_iterations": 2} | settings)


def calls_of(run):
    return [event.call_id for event in told(run, "call-requested")]


@pytest.mark.parametrize("failure", FAILURES)
def test_whatever_is_no_answer_of_the_schema_is_a_failure(failure):
    run = run_of({"i1/challenger": failure}, silent=True, panel=None, team="base")
    [failed] = run.state.failures
    assert (failed.agent, failed.call_id, failed.iteration) == ("challenger", "i1/challenger", 1)
    assert failed.consequence == "no new challenges; the earlier ones are carried forward"
    assert (run.outcome.ended_by, run.verdict) == ("failures", None)


def test_the_reason_of_a_failure_is_told_in_words():
    reasons = [
        run_of({"i1/challenger": failure}, silent=True, panel=None, team="base").state.failures[0].reason
        for failure in ["timeout", "error", {"raw": {"challenges": [{"claim": 3}]}}]
    ]
    assert reasons[0] == "timeout: scripted timeout"
    assert reasons[1] == "error: AgentError: scripted error"
    assert reasons[2].startswith("answer outside its schema, 4 problems, the first at challenges/0/claim: ")


def test_without_the_challenger_the_earlier_challenges_are_carried():
    run = failing("i2/challenger")
    assert [one.status for one in run.state.pool] == ["OPEN"]
    assert (run.verdict, run.outcome.ended_by) == ("RETHINK", "ruling")


def test_without_the_resolver_what_was_asked_is_unresolvable():
    run = failing("i1/resolver", more={"i2/resolver": {"answers": [answer("U2", "REFUTED")]}})
    assert [one.resolution for one in told(run, "unknown-resolved")] == ["UNRESOLVABLE", "UNRESOLVABLE", "REFUTED"]
    assert [one.resolution for one in run.state.iterations[0].unknowns] == ["UNRESOLVABLE", "UNRESOLVABLE"]
    assert run.outcome.ended_by == "ruling"


def test_without_the_resolver_what_was_settled_stays():
    run = failing("i2/resolver")
    assert [one.resolution for one in run.state.unknowns.values()] == ["CONFIRMED", "UNRESOLVABLE"]


@pytest.mark.parametrize(("failed", "called"), [("surface", ["surface"]), ("probe", ["surface", "probe"])])
def test_without_the_researcher_later_agents_hear_that_research_is_unavailable(failed, called):
    heard = []

    def play(request):
        if request.call_id == f"i1/{failed}":
            raise ValueError("down")
        heard.append((request.call_id, request.unavailable))
        return Reply(value=GOES_ON.get(request.call_id, {}), usage=USAGE)

    run = run_of({}, backend=Acting(play), panel=None, team="base", max_iterations=2)
    assert [call[3:] for call in calls_of(run) if call[3:] in ("surface", "probe")] == called
    told_to = dict(heard)
    assert told_to["i1/synthesizer"] == ("research unavailable",)
    assert told_to["i1/challenger"] == told_to["i2/challenger"] == ()
    assert run.verdict == "RETHINK"


def test_a_synthesizer_that_fails_ends_the_run_with_what_there_is():
    run = failing("i2/synthesizer", more={"i2/challenger": {"challenges": [challenge("rows")]}})
    assert (run.verdict, run.status, run.score, run.outcome.ended_by) == (None, "FORCED_EXIT", None, "failures")
    assert run.outcome.exit_reason == "synthesizer failed (error: AgentError: scripted error)"
    assert [(one.id, one.status) for one in run.state.iterations[-1].challenges] == [("C1", "OPEN"), ("C2", "OPEN")]
    last = run.state.iterations[-1].convergence
    assert (last.blocking_open, last.significant_open, last.status) == (1, 1, "FORCED_EXIT")
    assert calls_of(run)[-1] == "i2/synthesizer"


@pytest.mark.parametrize(
    ("calls", "last"),
    [
        (("i1/challenger", "i1/surface"), "i1/surface"),
        (("i1/resolver", "i1/probe"), "i1/probe"),
        (("i1/domain-expert", "i1/devils-advocate"), "i1/devils-advocate"),
        (("i1/challenger", "i1/domain-expert"), "i1/devils-advocate"),
        (("i2/challenger", "i2/resolver"), "i2/resolver"),
        (("i2/challenger", "i2/synthesizer"), "i2/synthesizer"),
    ],
)
def test_two_failures_in_one_iteration_end_the_run(calls, last):
    run = failing(*calls, team="scaled")
    assert (run.verdict, run.status, run.outcome.ended_by) == (None, "FORCED_EXIT", "failures")
    assert run.outcome.exit_reason.count("failed") == 2
    assert calls_of(run)[-1] == last
    assert len(run.state.iterations) == run.state.iteration == int(last[1])


def test_one_failure_in_each_iteration_ends_nothing():
    more = {
        "i1/surface": {"contexts": [context("clock", "contradicts_plan", challenge=BLOCKING)]},
        "i2/challenger": "timeout",
        "i3/challenger": "error",
    }
    run = failing("i1/resolver", more=more, max_iterations=3)
    assert len(run.state.failures) == 3
    assert (run.verdict, run.outcome.ended_by) == ("RETHINK", "ruling")


def test_what_was_raised_before_the_second_failure_is_admitted_or_in_overflow():
    contexts = [context(word, "contradicts_plan") for word in ("clock", "quota", "cache")]
    run = failing("i1/domain-expert", "i1/probe", more={"i1/surface": {"contexts": contexts}}, team="scaled")
    assert run.outcome.ended_by == "failures"
    assert (list(run.state.admitted), list(run.state.overflow)) == (["C1", "C2", "C3"], ["C4"])
    assert [one.id for one in run.state.iterations[0].surfaced_contexts] == ["S1", "S2", "S3"]


@pytest.mark.parametrize("agent", ["domain-expert", "devils-advocate"])
def test_expert_and_advocate_are_skipped_and_count(agent):
    run = failing(f"i1/{agent}", team="scaled")
    assert (run.state.failures[0].consequence, run.outcome.ended_by) == ("skipped", "ruling")
    assert failing(f"i1/{agent}", "i1/surface", team="scaled").outcome.ended_by == "failures"


def test_panel_workers_fail_by_b8_and_do_not_count():
    panel = ["ann", "bob", "cy"]
    more = {"i1/probe": {"risks": [risk("quota", "BLOCKING")]}}
    run = failing("i1/resolver", *(f"i1/panel/r1/{worker}" for worker in panel), more=more, panel=panel)
    assert len(run.state.failures) == 1
    assert {vote.verdict for vote in run.state.votes[1, "C1"]} == {"verification-error"}
    assert run.verdict == "RETHINK"


def test_an_agent_that_failed_is_not_called_again_in_that_iteration():
    run = failing("i2/challenger")
    assert "i2/score" in calls_of(run)
    assert "i2/audit" not in calls_of(run)  # the audit is the challenger's
    assert "i3/challenger" in calls_of(failing("i2/challenger", max_iterations=3))


@pytest.mark.parametrize("calls", [["i1/score"], ["i1/audit"], ["i1/score", "i1/audit"]])
def test_a_failure_after_the_verdict_takes_nothing_from_it(calls):
    answers = {"i1/score": scores(7), "i1/audit": scores(7)} | dict.fromkeys(calls, "timeout")
    run = run_of(answers | {"i1/resolver": "error"}, silent=True, panel=None)
    assert (run.verdict, run.outcome.ended_by) == ("PROCEED", "ruling")
    assert run.score == (None if "i1/score" in calls else 7)
    assert len(run.state.failures) == len(calls)


def test_a_part_of_an_agent_that_failed_is_recorded_and_costs_the_rest_nothing():
    def play(request):
        if request.call_id != "i1/challenger":
            return Reply(value={"votes": {}} if isinstance(request, WorkerRequest) else {})
        return Reply(value={"challenges": [BLOCKING]}, partial_failures=("check paths failed: ValueError: x" * 40,))

    run = run_of({}, backend=Acting(play), panel=None, team="base", max_iterations=1)
    [reason] = run.state.partial_failures["i1/challenger"]
    assert reason.startswith("check paths failed: ValueError")
    assert len(reason) == REASON_LENGTH
    assert (len(run.state.pool), run.state.failures, run.verdict) == (1, [], "RETHINK")
    assert run.frames.calls.set_index("call_id").loc["i1/challenger", "reason"] == reason


def test_nothing_recorded_before_is_lost():
    whole = failing(max_iterations=3)
    broken = failing("i2/synthesizer", max_iterations=3)
    calls = ("call-requested", "call-replied", "call-failed", "run-started")
    kept, until = ([event for event in run.events if event.type not in calls] for run in (whole, broken))
    common = next(n for n, (a, b) in enumerate(zip(kept, until, strict=False)) if a != b)
    assert [event.type for event in until[common:]] == ["agent-failed", "iteration-closed", "run-ended"]
    assert broken.state.iterations[0] == whole.state.iterations[0]


def test_a_call_that_takes_longer_than_the_timeout_has_failed():
    async def slow(request):
        await asyncio.sleep(30 if request.call_id == "i1/challenger" else 0)
        return Reply(value={"votes": {}} if isinstance(request, WorkerRequest) else {})

    class Slow(Acting):
        async def answer(self, request):
            return await slow(request)

    run = run_of({}, backend=Slow(None), timeout=0.05, team="base")
    assert run.state.failures[0].reason == "timeout: no answer within 0.05 s"
    assert run.verdict is None


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_an_interrupt_comes_out_as_it_is(error):
    def play(_):
        raise error

    with pytest.raises(type(error)):
        run_of({}, backend=Acting(play))


def test_what_a_sink_raises_ends_the_run():
    def sink(event):
        if event.type == "challenge-admitted":
            raise RuntimeError("full")

    with pytest.raises(RuntimeError, match="full"):
        run_of({"i1/challenger": {"challenges": [BLOCKING]}}, silent=True, sink=sink)


def test_huge_answers_are_taken_in_without_delay():
    many = [challenge(f"word{n}", "MINOR") for n in range(1000)]
    alike = [challenge(evidence="") | {"claim": f"it stays {'x' * (n % 50)} {'y' * (n // 50)}"} for n in range(500)]
    deep = challenge("deep") | {"claim": "x" * 1_000_000}
    ids = [f"C{n}" for n in range(2000)]
    answers = {
        "i1/challenger": {"challenges": [*many, *alike, deep]},
        "i1/synthesizer": {"changes": [change(name, "RESOLVED") for name in ids], "promotions": ids},
    }
    run = run_of(answers, silent=True, panel=None, team="base", max_iterations=1)
    assert run.state.active == 5
    assert len(run.state.raised) > 1000
    assert run.outcome is not None


def nested(depth):
    value: object = "deep"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "raw",
    [nested(50), nested(5000), {"challenges": nested(3)}, "\ud800", {"\ud800": 1}, float("nan"), {1, 2}, object(),
     b"\xff", {"challenges": 10**999}],
    ids=range(10),
)  # fmt: skip
def test_no_value_that_a_backend_gives_breaks_the_run(raw):
    run = run_of({"i1/challenger": {"raw": raw}}, silent=True, panel=None, team="base", plan=PLAN)
    assert [failure.agent for failure in run.state.failures] == ["challenger"]
    assert run.verdict is None


@pytest.mark.parametrize("failure", [*FAILURES, *SILENT])
def test_a_run_in_which_nobody_challenged_has_no_verdict(failure):
    """rule A3: silence is never PROCEED, whatever the counts say."""
    run = run_of({"i1/challenger": failure}, silent=True, panel=None, team="base")
    assert (run.verdict, run.status, run.score, run.outcome.ended_by) == (None, "FORCED_EXIT", None, "failures")
    assert run.outcome.exit_reason.startswith("nobody challenged the plan: the challenger gave no usable answer (")
    assert "i1/score" not in calls_of(run)
    assert run.state.iterations[-1].convergence.status == "FORCED_EXIT"


def test_a_challenger_that_finds_nothing_says_so_by_an_empty_list():
    run = run_of({"i1/challenger": {"challenges": []}}, silent=True, panel=None, team="base")
    assert (run.verdict, run.state.failures) == ("PROCEED", [])
    asked = {"i1/challenger": {"unknowns": [unknown("store")]}}
    assert run_of(asked, silent=True, panel=None, team="base").state.challenged


def test_a_shell_exits_with_3_where_nobody_challenged(tmp_path, monkeypatch, capsys):
    run = run_of({"i1/challenger": "error"}, silent=True, panel=None, team="base", log_dir=tmp_path)
    script = tmp_path / "script.json"
    script.write_text("{}")
    monkeypatch.setattr(sys, "argv", ["verifyplan", "resume", str(run.log_path), "--script", str(script)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 3
    assert "nobody challenged the plan" in capsys.readouterr().out


def test_what_others_raised_is_no_verdict_where_nobody_challenged():
    more = {f"i{number}/challenger": "error" for number in (1, 2, 3)}
    more["i1/probe"] = {"risks": [risk("quota", "BLOCKING")]}
    run = run_of(more, silent=True, panel=None, team="base")
    assert (run.verdict, run.status, run.state.iteration) == (None, "FORCED_EXIT", 3)
    assert run.outcome.exit_reason.count("iteration ") == 3
    assert [one.id for one in run.state.pool] == ["C1"]


def test_one_usable_answer_of_the_challenger_is_enough():
    more = {"i1/challenger": "error", "i1/probe": {"risks": [risk("quota", "BLOCKING")]}}
    more |= {"i2/synthesizer": {"changes": [change("C1", "RESOLVED")]}}
    run = run_of(more, silent=True, panel=None, team="base", max_iterations=2)
    assert (run.verdict, run.outcome.ended_by) == ("PROCEED", "ruling")


def test_a_panel_worker_named_challenger_is_no_challenger():
    more = {"i1/challenger": "error", "i1/probe": {"risks": [risk("quota")]}}
    run = run_of(more, silent=True, panel=["challenger"], team="base", max_iterations=1)
    assert "i1/panel/r1/challenger" not in [one.call_id for one in run.state.failures]
    assert run.verdict is None
