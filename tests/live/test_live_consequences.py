"""rules A11 and B8 over HTTP: what each agent's failure costs a run, whatever the endpoint did."""

from __future__ import annotations

import pytest

from tests.live.live_faults import SCORED, challenged, crossed, failed
from tests.live.live_runs import facts, times, turns
from tests.live.scripted_replies import cut, html, refuses, says, status, truncates
from tests.runs.crossing import AGREE, COUNTER
from tests.runs.plan.planning import answer, challenge, risk, unknown, votes

FAULTS = {
    "an error": status(500),
    "a bad gateway": html(),
    "a refusal": refuses(),
    "a cut answer": cut("{"),
    "a damaged body": truncates(),
    "no answer": says("no"),
}
ANSWERS = SCORED | {
    "i1/challenger": {
        "challenges": [challenge("locks", "BLOCKING")],
        "unknowns": [unknown("store"), unknown("table")],
    },
    "i1/resolver": {"answers": [answer("U1", "CONFIRMED"), answer("U2", "CONFIRMED")]},
    "i2/resolver": {"answers": [answer("U2", "CONFIRMED")]},
    "i2/score": SCORED["i1/score"],
    "i2/audit": SCORED["i1/audit"],
}
every_fault = pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)


def losing(*calls, fault=FAULTS["an error"], answers=None, **settings):
    """A run in which these calls hear a fault, each time."""
    first = {f"{call}/t{turn}": [fault] * 2 for call in calls for turn in (1, 2)}
    return challenged(first, ANSWERS | (answers or {}), **{"max_iterations": 2} | settings)


@every_fault
def test_without_the_resolver_what_was_asked_is_unresolvable(fault):
    run, _ = losing("i1/resolver", fault=fault)
    assert [one.resolution for one in run.state.iterations[0].unknowns] == ["UNRESOLVABLE", "UNRESOLVABLE"]
    assert run.outcome.ended_by == "ruling"


@every_fault
def test_without_the_challenger_earlier_challenges_are_carried(fault):
    run, _ = losing("i2/challenger", fault=fault)
    assert [one.status for one in run.state.pool] == ["OPEN"]
    assert (run.verdict, run.outcome.ended_by) == ("RETHINK", "ruling")


@pytest.mark.parametrize("lost", ["surface", "probe"])
def test_without_the_researcher_later_agents_hear_of_it(lost):
    run, server = losing(f"i1/{lost}")
    [synthesis] = [asked for asked in server.requests if "You are the synthesizer. This is iteration 1" in asked.prompt]
    assert "research unavailable" in synthesis.prompt
    assert ("i1/probe/t1" in turns(server)) == (lost == "probe")  # who failed is not called again
    assert run.outcome.ended_by == "ruling"


@every_fault
def test_without_the_synthesizer_the_run_ends_with_what_there_is(fault):
    run, server = losing("i1/synthesizer", fault=fault)
    assert (run.verdict, run.status, run.outcome.ended_by) == (None, "FORCED_EXIT", "failures")
    assert run.outcome.exit_reason.startswith("synthesizer failed (error: ")
    assert turns(server)[-1].startswith("i1/synthesizer/")
    assert [one.id for one in run.state.iterations[0].challenges] == ["C1"]


@every_fault
def test_two_failures_in_one_iteration_end_the_run(fault):
    run, server = losing("i1/resolver", "i1/probe", fault=fault)
    assert (run.verdict, run.status, run.outcome.ended_by) == (None, "FORCED_EXIT", "failures")
    assert run.outcome.exit_reason.count("failed") == 2
    assert turns(server)[-1].startswith("i1/probe/")


@pytest.mark.parametrize("agent", ["domain-expert", "devils-advocate"])
def test_expert_and_advocate_are_skipped(agent):
    run, _ = losing(f"i1/{agent}", team="scaled")
    assert (run.state.failures[0].consequence, run.outcome.ended_by) == ("skipped", "ruling")


@pytest.mark.parametrize("lost", [["score"], ["audit"], ["score", "audit"]])
def test_a_failed_score_takes_nothing_from_the_verdict(lost):
    run, _ = losing(*(f"i2/{one}" for one in lost))
    assert (run.verdict, run.outcome.ended_by) == ("RETHINK", "ruling")
    assert run.score == (None if "score" in lost else 7)


@every_fault
def test_panel_workers_that_fail_give_verification_errors_and_do_not_count(fault):
    panel = ["ann", "bob"]
    answers = {f"i{n}/panel/r1/bob": votes(AGREE) for n in (1, 2)} | {"i2/panel/r1/ann": votes(AGREE)}
    run, _ = losing("i1/panel/r1/ann", "i1/probe", fault=fault, answers=answers, panel=panel)
    assert [(vote.worker, vote.verdict) for vote in run.state.votes[1, "C1"]] == [
        ("ann", "verification-error"),
        ("bob", "agree"),
    ]
    assert len(run.state.failures) == 1
    assert run.verdict == "RETHINK"


@every_fault
def test_a_worker_of_a_cross_run_that_fails_gives_verification_errors(fault):
    run, server = crossed(
        {"r1/bob/t1": [fault], "r1/bob/t2": [fault]}, {1: {"cy": {"F-1": COUNTER}}}, ("ann", "bob", "cy")
    )
    [bob, cy] = facts(run, "vote-cast")
    assert (bob.worker, bob.verdict) == ("bob", "verification-error")
    assert bob.explanation.startswith("error: ")
    assert (cy.worker, cy.verdict) == ("cy", "disagree")
    [dispatch] = [one for one in run.artifact.roundHistory[0].skippedWorkers if one.worker == "bob"]
    assert dispatch.reason == "error"
    assert run.status == "converged"
    assert set(times(server).values()) == {1}


@every_fault
def test_a_round_without_any_result_ends_a_cross_run(fault):
    run, _ = crossed({f"r1/bob/t{turn}": [fault] for turn in (1, 2)}, settings={"maxRounds": 3})
    assert (run.status, run.artifact.findings[0].classification) == ("aborted-non-result", "worker-unique")
    assert failed(run, "r1/bob").status == "error"


def test_nothing_that_was_recorded_before_is_lost(tmp_path):
    more = {"i1/surface": {"contexts": []}, "i1/probe": {"risks": [risk("quota", "BLOCKING")]}}
    whole, _ = losing(answers=more)
    broken, _ = losing("i2/synthesizer", fault=cut("{").using(output_tokens=9), answers=more, log_dir=tmp_path)
    assert broken.state.iterations[0] == whole.state.iterations[0]
    told = [event.call_id for event in facts(broken, "turn-replied")]
    assert told == [event.call_id for event in facts(whole, "turn-replied")][: len(told)]
    assert failed(broken, "i2/synthesizer").usage.output_tokens == 9
    row = broken.frames.calls.set_index("call_id").loc["i2/synthesizer"]
    assert (row["status"], row["output_tokens"]) == ("error", 9)
