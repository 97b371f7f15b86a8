"""rules B2, B3, B6: what is queued, who is asked, and where each finding ends."""

from __future__ import annotations

import pytest

from tests.runs.crossing import AGREE, BURDEN, COUNTER, DISAGREE, SUPPLEMENT, Playing, class_of, finding, run_of, told
from verifyplan.rules.invariants import violations

ADVERSARIAL = {"adversarial": True}


@pytest.mark.parametrize(
    ("settings", "bob", "cy", "expected", "rule"),
    [
        ({}, AGREE, SUPPLEMENT, "full-consensus", "all-agree"),
        ({}, DISAGREE, DISAGREE, "worker-unique", "all-others-disagree"),
        ({"maxRounds": 1}, AGREE, DISAGREE, "contested", "no-majority"),
        (ADVERSARIAL, AGREE, AGREE, "full-consensus", "survived"),
        (ADVERSARIAL, AGREE, SUPPLEMENT, "partial-consensus", "survived-with-caveat"),
        (ADVERSARIAL, COUNTER, BURDEN, "worker-unique", "all-others-disagree"),
        (ADVERSARIAL | {"maxRounds": 1}, AGREE, COUNTER, "contested", "hard-refute"),
        (ADVERSARIAL, AGREE, BURDEN, "partial-consensus", "lone-doubt"),
    ],
)
def test_one_round_of_votes_gives_the_class_of_b6(settings, bob, cy, expected, rule):
    run = run_of({1: {"bob": {"F-1": bob}, "cy": {"F-1": cy}}}, settings=settings)
    assert (class_of(run), told(run, "finding-classified")[0].rule) == (expected, rule)
    assert not violations(run.artifact)


def test_majorities_among_three_voters():
    votes = {1: {"bob": {"F-1": AGREE}, "cy": {"F-1": SUPPLEMENT}, "di": {"F-1": DISAGREE}}}
    assert class_of(run_of(votes, roster="ann bob cy di")) == "partial-consensus"
    votes = {1: {"bob": {"F-1": AGREE}, "cy": {"F-1": BURDEN}, "di": {"F-1": BURDEN}}}
    run = run_of(votes, roster="ann bob cy di", settings={"adversarial": True, "maxRounds": 1})
    assert (class_of(run), told(run, "finding-classified")[0].rule) == ("contested", "burden-majority")


def test_found_by_all_is_full_consensus_before_any_call():
    backend = Playing()
    run = run_of({}, [finding("F-1", worker) for worker in ("cy", "ann", "bob")], backend=backend)
    [one] = run.artifact.findings
    assert (one.classification, one.originWorker, one.rounds) == ("full-consensus", "ann", ())
    assert (run.status, run.artifact.totalRounds, run.artifact.roundHistory) == ("converged", 0, ())
    assert told(run, "finding-queued") == []
    assert backend.requests == []
    assert run.artifact.round2SkippedReason == "queue-empty"


def test_convergence_off_counts_discoverers_alone():
    found = [finding("all", w) for w in ("ann", "bob", "cy")] + [finding("two", "bob"), finding("two", "cy")]
    backend = Playing()
    run = run_of({}, [*found, finding("one")], settings={"enabled": False}, backend=backend)
    assert [class_of(run, name) for name in ("all", "two", "one")] == [
        "full-consensus",
        "partial-consensus",
        "worker-unique",
    ]
    assert (run.artifact.config.enabled, run.artifact.config.autoDisabled) == (False, None)
    assert (run.status, run.artifact.totalRounds, backend.requests) == ("converged", 0, [])


@pytest.mark.parametrize("roster", ["ann", ""])
def test_fewer_than_two_analysers_run_no_round(roster):
    run = run_of({}, [finding()] if roster else [], roster=roster)
    config = run.artifact.config
    assert (config.enabled, config.autoDisabled) == (False, "fewer-than-two-analysers")
    assert (run.status, run.artifact.totalRounds) == ("converged", 0)
    assert [f.classification for f in run.artifact.findings] == ["worker-unique"][: len(roster)]


def test_a_finding_is_carried_until_a_round_settles_it_on_its_own_votes():
    split, agreed = {"bob": {"F-1": AGREE}, "cy": {"F-1": DISAGREE}}, {"bob": {"F-1": AGREE}, "cy": {"F-1": AGREE}}
    run = run_of({1: split, 2: split, 3: agreed}, settings={"maxRounds": 3})
    assert class_of(run) == "full-consensus"
    history = [(r.inputQueueSize, r.resolvedCount, r.carriedForwardCount) for r in run.artifact.roundHistory]
    assert history == [(1, 0, 1), (1, 0, 1), (1, 1, 0)]
    assert (run.status, run.artifact.round2SkippedReason) == ("converged", "not-skipped")
    [classified] = told(run, "finding-classified")
    assert (classified.round, classified.final) == (3, False)


def test_the_queue_only_shrinks_and_each_worker_is_asked_once_a_round():
    found = [finding("F-1", "ann"), finding("F-2", "ann"), finding("F-3", "bob")]
    script = {
        1: {
            "ann": {"F-3": AGREE},
            "bob": {"F-1": AGREE, "F-2": AGREE},
            "cy": {"F-1": AGREE, "F-2": DISAGREE, "F-3": AGREE},
        },
        2: {"bob": {"F-2": AGREE}, "cy": {"F-2": DISAGREE}},
    }
    run = run_of(script, found)
    asked = [(c.call_id, c.items) for c in told(run, "call-requested")]
    assert asked == [
        ("r1/ann", ("F-3",)),
        ("r1/bob", ("F-1", "F-2")),
        ("r1/cy", ("F-1", "F-2", "F-3")),
        ("r2/bob", ("F-2",)),
        ("r2/cy", ("F-2",)),
    ]
    first, second = run.artifact.roundHistory
    assert [(s.worker, s.reason) for s in second.skippedWorkers] == [("ann", "no items to verify")]
    assert first.skippedWorkers == ()
    assert [d.worker for d in second.dispatches] == ["bob", "cy"]
    assert [class_of(run, f) for f in ("F-1", "F-2", "F-3")] == ["full-consensus", "contested", "full-consensus"]
    assert run.status == "max-rounds-reached"


def test_contested_at_the_last_round_is_told_as_final():
    split = {"bob": {"F-1": AGREE}, "cy": {"F-1": DISAGREE}}
    run = run_of({1: split, 2: split})
    [classified] = told(run, "finding-classified")
    assert (classified.classification, classified.rule, classified.round, classified.final) == (
        "contested",
        "no-majority",
        2,
        True,
    )
    assert run.artifact.roundHistory[-1].resolvedCount == 0


@pytest.mark.parametrize(
    ("settings", "votes", "expected"),
    [
        ({"maxRounds": 2}, {1: "split", 2: "split"}, "not-skipped"),
        ({"maxRounds": 1}, {1: "split"}, "max-rounds-1"),
        ({"maxRounds": 1}, {1: "agreed"}, "max-rounds-1"),
        ({"maxRounds": 2}, {1: "agreed"}, "queue-empty"),
        ({"maxRounds": 1}, {1: "lost"}, "all-reverify-non-result"),
        ({"maxRounds": 2}, {1: "lost"}, "all-reverify-non-result"),
        ({"maxRounds": 3}, {1: "split", 2: "lost"}, "not-skipped"),
    ],
)
def test_why_round_two_did_not_run(settings, votes, expected):
    rounds = {
        "split": {"bob": {"F-1": AGREE}, "cy": {"F-1": DISAGREE}},
        "agreed": {"bob": {"F-1": AGREE}, "cy": {"F-1": AGREE}},
        "lost": {"bob": "timeout", "cy": "error"},
    }
    run = run_of({number: rounds[kind] for number, kind in votes.items()}, settings=settings)
    assert run.artifact.round2SkippedReason == expected
    assert run.artifact.totalRounds == len(votes)
    assert not violations(run.artifact)


def test_sides_are_taken_by_the_last_vote_that_is_no_error():
    script = {
        1: {"bob": {"F-1": AGREE}, "cy": {"F-1": DISAGREE}, "di": {"F-1": AGREE}, "ed": {"F-1": DISAGREE}},
        2: {"bob": {"F-1": DISAGREE}, "cy": {"F-1": SUPPLEMENT}, "di": "timeout", "ed": "timeout"},
    }
    [one] = run_of(script, roster="ed di cy bob ann").artifact.findings
    assert one.classification == "contested"
    assert (one.consensusWorkers, one.dissentingWorkers) == (("di", "cy", "ann"), ("ed", "bob"))
