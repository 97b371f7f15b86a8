"""What must hold inside an artifact that was made in memory, too (rules B7, B9)."""

from __future__ import annotations

from typing import Any

import pytest

from verifyplan.protocol.artifact import COUNT_KEY_OF_CLASS, FINAL_STATES, Artifact
from verifyplan.protocol.vote import CLASSIFICATIONS
from verifyplan.rules.invariants import violations
from verifyplan.strict_json import pointer_token


def made(**values: Any) -> Artifact:
    return Artifact.model_validate({"schemaVersion": "1.2", "findings": [], **values})


MODE = {True: "full-reanalysis", False: "lightweight"}


def voted(vote: dict[str, Any], adversarial: bool | None = True, worker: str = "bob", round: int = 1) -> Artifact:
    finding = {"findingId": "F", "rounds": [{"round": round, "votes": {worker: vote}}]}
    return made(
        config={"adversarial": adversarial, "verificationMode": None if adversarial is None else MODE[adversarial]},
        findings=[finding],
    )


def places(artifact: Artifact) -> list[str]:
    found = violations(artifact)
    assert all(problem.message and problem.fix for problem in found)
    return [problem.place for problem in found]


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"config": {"effectiveMaxRounds": 2}, "totalRounds": 2},
        {"config": {"effectiveMaxRounds": 1}},
        {"totalRounds": 9},
        {"config": {"adversarial": True, "verificationMode": "full-reanalysis"}},
        {"schemaVersion": "1.1", "config": {"adversarial": True}},
        {"config": {"adversarial": False, "verificationMode": "lightweight"}},
        {"roundHistory": [{"round": 1, "inputQueueSize": 5, "resolvedCount": 2, "carriedForwardCount": 3}]},
        {"roundHistory": [{"round": 1, "inputQueueSize": 5, "carriedForwardCount": 9}, {"round": 2}]},
        {"finalClassificationCounts": {"fullConsensus": 0, "contested": None}},
        {"findings": [{"findingId": "F"}], "finalClassificationCounts": {"contested": 1}},
    ],
)
def test_what_holds_or_cannot_be_told_is_no_violation(values):
    assert violations(made(**values)) == []


@pytest.mark.parametrize("basis", ["counter-evidence", "burden-not-met"])
def test_a_basis_belongs_to_an_adversarial_disagree_alone(basis):
    place = "/findings/0/rounds/0/votes/bob/disagreeBasis"
    assert places(voted({"verdict": "disagree", "disagreeBasis": basis})) == []
    assert places(voted({"verdict": "disagree", "disagreeBasis": basis}, adversarial=False)) == [place]
    assert places(voted({"verdict": "disagree", "disagreeBasis": basis}, adversarial=None)) == [place]
    for verdict in ("agree", "supplement", "verification-error"):
        assert places(voted({"verdict": verdict, "disagreeBasis": basis})) == [place]
        assert places(voted({"verdict": verdict, "disagreeBasis": basis}, adversarial=False)) == [place]


@pytest.mark.parametrize("vote", [{"verdict": "disagree"}, {"verdict": "disagree", "disagreeBasis": None}])
def test_an_adversarial_disagree_needs_a_basis_and_a_collaborative_one_has_none(vote):
    assert places(voted(vote)) == ["/findings/0/rounds/0/votes/bob/disagreeBasis"]
    assert places(voted(vote, adversarial=False)) == []


def test_a_place_is_a_json_pointer_also_for_workers_with_slashes():
    assert places(voted({"verdict": "disagree"}, worker="a/b~c")) == [
        "/findings/0/rounds/0/votes/a~1b~0c/disagreeBasis"
    ]
    assert pointer_token("~/x") == "~0~1x"


@pytest.mark.parametrize(("numbers", "bad"), [([2], [0]), ([1, 3], [1]), ([1, 1], [1]), ([2, 1], [0, 1])])
def test_rounds_are_numbered_from_one_without_gaps(numbers, bad):
    rounds = [{"round": number} for number in numbers]
    artifact = made(findings=[{"findingId": "F", "rounds": rounds}], roundHistory=rounds)
    assert places(artifact) == [
        *(f"/findings/0/rounds/{i}/round" for i in bad),
        *(f"/roundHistory/{i}/round" for i in bad),
    ]


@pytest.mark.parametrize("carried", [2, 4, 5])
def test_what_is_carried_forward_is_the_queue_less_the_resolved(carried):
    record = {"round": 1, "inputQueueSize": 5, "resolvedCount": 2, "carriedForwardCount": carried}
    (problem,) = violations(made(roundHistory=[record]))
    assert problem.place == "/roundHistory/0/carriedForwardCount"
    assert problem.fix.startswith("write 3")


@pytest.mark.parametrize("classification", CLASSIFICATIONS)
def test_each_class_count_is_the_number_of_its_findings(classification):
    findings = [{"findingId": "F", "classification": classification}]
    right = {key: int(name == classification) for name, key in COUNT_KEY_OF_CLASS.items()}
    key = COUNT_KEY_OF_CLASS[classification]
    assert places(made(findings=findings, finalClassificationCounts=right)) == []
    wrong = {**right, key: 2}
    assert places(made(findings=findings, finalClassificationCounts=wrong)) == [f"/finalClassificationCounts/{key}"]


def test_ids_are_unique_and_every_repetition_is_named():
    artifact = made(findings=[{"findingId": name} for name in ("F", "G", "F", "F")])
    assert places(artifact) == ["/findings/2/findingId", "/findings/3/findingId"]


def test_all_violations_are_listed_at_once():
    artifact = made(
        config={"adversarial": True, "verificationMode": "lightweight", "effectiveMaxRounds": 1},
        totalRounds=2,
        findings=[{"findingId": "F"}, {"findingId": "F"}],
    )
    assert places(artifact) == ["/config/verificationMode", "/totalRounds", "/findings/1/findingId"]


def test_a_worker_is_dispatched_once_a_round():
    calls = [{"worker": "bob", "status": "timeout"}, {"worker": "cy"}, {"worker": "bob", "status": "completed"}]
    assert places(made(roundHistory=[{"round": 1, "dispatches": calls}])) == ["/roundHistory/0/dispatches/2/worker"]
    assert places(made(roundHistory=[{"round": 1, "dispatches": calls[:2]}])) == []


def test_an_adversarial_artifact_of_1_2_says_how_it_was_verified():
    config = {"adversarial": True, "effectiveMaxRounds": 1}
    (problem,) = violations(made(config=config))
    assert problem.place == "/config/verificationMode"
    assert problem.message == "is missing in an adversarial run of schema 1.2"
    for version in ("1.0", "1.1"):
        assert places(made(schemaVersion=version, config=config)) == []
    assert places(made(config={**config, "adversarial": False})) == []


@pytest.mark.parametrize("state", FINAL_STATES)
@pytest.mark.parametrize("left", [0, 2])
def test_converged_means_that_no_finding_stayed_in_the_queue(state, left):
    history = [{"round": 1, "carriedForwardCount": 3}, {"round": 2, "carriedForwardCount": left}]
    expected = ["/finalState"] if state == "converged" and left else []
    assert places(made(finalState=state, roundHistory=history)) == expected


@pytest.mark.parametrize(("rounds", "bad"), [(0, True), (1, True), (2, False), (3, False)])
def test_round_2_was_not_skipped_only_where_it_ran(rounds, bad):
    history = [{"round": number} for number in range(1, rounds + 1)]
    expected = ["/round2SkippedReason"] if bad else []
    assert places(made(round2SkippedReason="not-skipped", roundHistory=history)) == expected
    assert places(made(round2SkippedReason="not-skipped", totalRounds=rounds)) == expected
    assert places(made(round2SkippedReason="queue-empty", roundHistory=history)) == []
    assert places(made(round2SkippedReason="not-skipped")) == [], "nothing says how many rounds ran"


def test_total_rounds_are_the_rounds_of_the_history():
    history = [{"round": 1}, {"round": 2}]
    assert places(made(totalRounds=2, roundHistory=history)) == []
    assert places(made(totalRounds=1, roundHistory=history)) == ["/totalRounds"]
    assert places(made(totalRounds=1, roundHistory=[])) == ["/totalRounds"]


def cast(classification: str | None, *rounds: dict[str, str], name: str = "F") -> dict[str, Any]:
    votes = [{worker: {"verdict": verdict} for worker, verdict in entry.items()} for entry in rounds]
    return {
        "findingId": name,
        "originWorker": "ann",
        "classification": classification,
        "rounds": [{"round": number, "votes": entry} for number, entry in enumerate(votes, 1)],
    }


@pytest.mark.parametrize(
    ("finding", "given"),
    [
        (cast("full-consensus", {"bob": "agree"}), [1, 0]),
        (cast("partial-consensus", {"bob": "disagree"}, {"bob": "agree"}), [0, 1]),
        (cast("worker-unique", {"bob": "disagree"}), [1, 0]),
        (cast("worker-unique", {"bob": "verification-error"}, {"bob": "verification-error"}), [0, 0]),
        (cast("worker-unique", {"ann": "disagree", "bob": "verification-error"}), [0, 0]),
        (cast("contested", {"bob": "agree", "cy": "disagree"}), [0, 0]),
        (cast("full-consensus"), [0, 0]),
    ],
)
def test_resolved_are_the_findings_that_got_a_class_in_that_round(finding, given):
    def recorded(*resolved: int) -> Artifact:
        history = [{"round": number, "resolvedCount": count} for number, count in enumerate(resolved, 1)]
        return made(findings=[finding], roundHistory=history)

    assert places(recorded(*given)) == []
    assert places(recorded(given[0] + 1, given[1])) == ["/roundHistory/0/resolvedCount"]
    assert places(recorded(given[0], given[1] + 1)) == ["/roundHistory/1/resolvedCount"]


def test_what_was_resolved_cannot_be_told_where_a_class_or_rounds_are_unknown():
    history = [{"round": 1, "resolvedCount": 7}]
    known = cast("full-consensus", {"bob": "agree"})
    for unknown in (cast(None, {"bob": "agree"}, name="G"), {"findingId": "G", "classification": "contested"}):
        assert places(made(findings=[known, unknown], roundHistory=history)) == []
    assert places(made(findings=[known], roundHistory=history)) == ["/roundHistory/0/resolvedCount"]
