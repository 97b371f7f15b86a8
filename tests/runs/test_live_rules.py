"""A live run under any rules: its classes are those of its replay and of its table of votes (rules R1, R2)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.longer import examples
from tests.runs.crossing import AGREE, BURDEN, COUNTER, Playing, finding, run_of, told
from tests.runs.test_same_votes import scripts
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.analysis.classify import classify
from verifyplan.analysis.replay import replay
from verifyplan.errors import SettingsError
from verifyplan.frames.artifact import artifact_text, parse_artifact
from verifyplan.frames.artifact_tables import artifact_columns
from verifyplan.frames.load import load
from verifyplan.frames.runset import assemble
from verifyplan.protocol.settings import PanelSettings
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.invariants import violations
from verifyplan.rules.vote_codes import AGREE as AGREES
from verifyplan.rules.vote_codes import COUNTER as REFUTES
from verifyplan.rules.vote_codes import asked_until_stop
from verifyplan.runs.replay import replay_run
from verifyplan.runs.resume import resume

ROSTER = ("ann", "bob", "cy", "dan")


@st.composite
def rule_values(draw: st.DrawFn) -> VotingRules:
    """Rules of a live run, each field neutral or not."""
    fields = {
        "mode": st.sampled_from(["adversarial", "collaborative"]),
        "max_rounds": st.integers(1, 3),
        "majority": st.sampled_from(["1/2", "2/3", "0"]),
        "refutes": st.sampled_from(["round", "sticky"]),
        "lost_votes": st.sampled_from(["leave-out", "last-vote", "as-disagree", "as-agree"]),
        "quorum": st.sampled_from([0, 2, "2/3"]),
        "missing_basis": st.sampled_from(["infer", "counter-evidence", "burden-not-met"]),
        "uncited": st.sampled_from(["keep", "as-burden"]),
        "caveats": st.sampled_from(["partial", "as-agree"]),
        "workers": st.sampled_from([None, ("bob", "dan"), ("cy",), ("dan", "cy", "ann")]),
        "weights": st.sampled_from([None, {"cy": 2}, {"bob": 0, "dan": "1/3"}]),
        "pruning": st.sampled_from(["queue", "none"]),
        "aggregate": st.sampled_from(["rules", "majority", "unanimous", "any-refute", "first-round", "dawid-skene"]),
        "stop": st.sampled_from(["round", {"margin": 1}, {"margin": 2}, {"accuracy": 0.9}]),
        "order": st.sampled_from([None, ("dan",), ("cy", "ann", "dan", "bob")]),
    }
    chosen = draw(st.sets(st.sampled_from(sorted(fields)), min_size=1, max_size=5)) | {"mode", "max_rounds"}
    return VotingRules(**{name: draw(fields[name]) for name in sorted(chosen)})


def live_classes(run: Any) -> dict[str, str | None]:
    return {one.findingId: one.classification for one in run.artifact.findings}


def classes(table: pd.DataFrame) -> dict[str, str]:
    return dict(zip(table["finding_id"], table["classification"].astype(str), strict=True))


@settings(max_examples=examples(60, 8), deadline=None)
@given(scripts(), rule_values())
def test_live_replayed_and_tabled_votes_give_the_same_classes(script, rules):
    script = {number: {**voters, "ann": voters["bob"]} for number, voters in script.items()}
    run = run_of(script, [finding("F-1"), finding("F-2", "dan")], " ".join(ROSTER), rules=rules)
    live = live_classes(run)
    assert classes(replay(run.frames, rules=rules)) == live
    assert classes(replay(run.frames, "recorded")) == live
    voted = set(run.frames.votes["finding_id"])
    tabled = classes(classify(run.frames.votes, rules=rules))
    assert tabled == {name: live[name] for name in voted}
    assert violations(run.artifact) == []
    again = replay_run(run)
    assert (again.same, again.censored) == (True, None)


def calls(run: Any) -> list[tuple[str, tuple[str, ...]]]:
    return [(event.call_id, event.items) for event in told(run, "call-requested")]


def derived(run: Any) -> list[str]:
    """The events but for times, and for what says that the run was resumed."""
    return [str(event.model_dump(exclude={"duration_ms"})) for event in run.events if event.type != "run-resumed"]


@pytest.mark.parametrize(
    "rules", [None, VotingRules(), {}, "as-recorded", VotingRules(mode="adversarial", max_rounds=2)]
)
def test_neutral_rules_give_the_events_of_no_rules(rules):
    script = {1: {"bob": {"F-1": AGREE}, "cy": {"F-1": COUNTER}}, 2: {"bob": {"F-1": AGREE}, "cy": "timeout"}}
    plain = run_of(script, mode="adversarial", max_rounds=2)
    run = run_of(script, mode="adversarial", max_rounds=2, rules=rules)
    assert derived(run) == derived(plain)
    assert run.frames.runs["rules"].tolist() == ["{}"]
    assert "votingRules" not in run.artifact.to_json()["config"]


def test_the_resolved_rules_and_their_digest_are_in_the_log_the_tables_and_the_artifact(tmp_path):
    rules = VotingRules(refutes="sticky", missing_basis="burden-not-met")
    run = run_of({}, rules=rules, mode="adversarial", max_rounds=1, log_dir=tmp_path)
    resolved = rules.model_copy(update={"mode": "adversarial", "max_rounds": 1})
    assert run.started.cross.rules == resolved
    assert (run.started.rules_digest, run.started.cross.missing_basis) == (resolved.digest, "burden-not-met")
    first = json.loads(run.log_path.read_bytes().splitlines()[0])
    assert (first["version"], first["inputs"]["rules"]["refutes"]) == (5, "sticky")
    assert "decided by VotingRules(mode=adversarial, max_rounds=1, refutes=sticky" in str(run)
    artifact = parse_artifact(artifact_text(run.artifact).encode(), "run.json")
    for table in (run.frames.runs, load(run.path).runs, assemble([artifact_columns(artifact, "run")]).runs):
        assert json.loads(table["rules"].iloc[0]) == {"refutes": "sticky", "missing_basis": "burden-not-met"}
        assert table["rules_digest"].tolist() == [resolved.digest]


def test_an_artifact_whose_rules_cannot_be_read_says_so_and_has_none_in_its_table():
    values = {"schemaVersion": "1.2", "findings": [], "config": {"votingRules": {"quorun": 2}}}
    artifact = parse_artifact(json.dumps(values).encode(), "run.json", checked=False)
    [problem] = violations(artifact)
    assert (problem.place, "did you mean 'quorum'" in problem.message) == ("/config/votingRules/quorun", True)
    assert assemble([artifact_columns(artifact, "run")]).runs["rules"].isna().tolist() == [True]


def test_only_the_workers_of_the_rules_are_asked():
    backend = Playing()
    run = run_of({}, [finding("F-1"), finding("F-2", "cy")], rules={"workers": ["cy", "bob"]}, backend=backend)
    assert [(request.worker, len(request.items)) for request in backend.requests] == [("bob", 2), ("cy", 1)]
    assert run.status == "converged"


def test_a_finding_that_nobody_may_vote_on_ends_no_run():
    run = run_of({}, [finding("F-1")], rules={"workers": ["ann"]}, backend=Playing(), max_rounds=2)
    assert (calls(run), run.status, live_classes(run)) == ([], "max-rounds-reached", {"F-1": "worker-unique"})


def test_first_round_ends_a_finding_in_the_first_round_with_a_vote_whatever_it_gives():
    script = {1: {"bob": "timeout", "cy": {"F-2": AGREE}}, 2: {"bob": {"F-1": AGREE}, "cy": {"F-1": COUNTER}}}
    found = [finding("F-1"), finding("F-2")]
    run = run_of(script, found, rules={"aggregate": "first-round"}, mode="adversarial", max_rounds=3)
    ends = {event.finding_id: (event.round, event.classification) for event in told(run, "finding-classified")}
    assert ends == {"F-2": (1, "full-consensus"), "F-1": (2, "contested")}
    assert run.artifact.totalRounds == 2


def test_without_pruning_every_finding_is_voted_on_in_every_round_and_classified_at_the_end():
    agree, refute = {"F-1": AGREE}, {"F-1": COUNTER}
    script = {1: {"bob": agree, "cy": agree}, 2: {"bob": refute, "cy": refute}}
    run = run_of(script, rules="no-pruning", mode="adversarial", max_rounds=2)
    assert [name for name, _ in calls(run)] == ["r1/bob", "r1/cy", "r2/bob", "r2/cy"]
    assert live_classes(run) == {"F-1": "worker-unique"}
    assert [event.resolved_count for event in told(run, "round-closed")] == [0, 1]


VERDICTS = {"agree": (AGREE, AGREES), "refute": (COUNTER, REFUTES)}
STOPS = [{"margin": 1}, {"margin": 2}, {"accuracy": "9/10"}]


@pytest.mark.parametrize("stop", STOPS)
def test_a_stop_asks_whom_vote_codes_say_and_makes_no_empty_call(stop):
    random, roster = np.random.default_rng(7), "ann bob cy dan eve"
    words = random.choice(list(VERDICTS), size=(4, 6))
    voters, found = roster.split()[1:], [finding(f"F-{n}") for n in range(6)]
    script = {1: {v: {f"F-{n}": VERDICTS[words[w, n]][0] for n in range(6)} for w, v in enumerate(voters)}}
    rules = VotingRules(stop=stop)
    given = {"mode": "adversarial", "max_rounds": 1}
    run, whole = (run_of(script, found, roster, rules=one, **given) for one in (rules, None))
    codes = np.array([[VERDICTS[word][1] for word in row] for row in words], dtype=np.int8)
    asked = asked_until_stop(codes, rules, voters)
    expected = [
        (f"r1/{voter}", tuple(f"F-{n}" for n in np.flatnonzero(row)))
        for voter, row in zip(voters, asked, strict=True)
        if row.any()
    ]
    assert calls(run) == expected
    assert len(run.frames.votes) == asked.sum() < len(whole.frames.votes)


STOPPING = {
    1: {"bob": {"F-1": AGREE, "F-2": COUNTER}, "cy": {"F-1": AGREE, "F-2": AGREE}, "dan": {"F-2": BURDEN}},
    2: {"bob": {"F-2": AGREE}, "cy": "timeout", "dan": {"F-2": AGREE}},
}


@pytest.mark.parametrize("torn", [False, True])
def test_a_run_that_stops_within_rounds_resumes_to_the_same_events_wherever_it_was_broken_off(tmp_path, torn):
    backend = ScriptedBackend(STOPPING)
    given: dict[str, Any] = {"mode": "adversarial", "max_rounds": 2, "rules": "margin-2", "items_per_call": 1}
    run = run_of(STOPPING, [finding("F-1"), finding("F-2")], "ann bob cy dan", log_dir=tmp_path, **given)
    lines = Path(run.log_path).read_bytes().splitlines(keepends=True)
    assert len(told(run, "call-requested")) == 8
    for cut in range(1, len(lines)):
        log = tmp_path / f"cut-{cut}.jsonl"
        log.write_bytes(b"".join(lines[:cut]) + (lines[cut][: len(lines[cut]) // 2] if torn else b""))
        assert derived(resume(log, backend=backend, progress=False)) == derived(run)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rules": {"mode": "adversarial"}, "mode": "collaborative"}, "mode: is 'collaborative', but the rules have"),
        ({"rules": {"max_rounds": 1}, "max_rounds": 2}, "max_rounds: is 2, but the rules have 1"),
        (
            {"rules": {"max_rounds": 1}, "settings": {"maxRounds": 2}},
            "max_rounds: is 1, but settings has 'maxRounds': 2",
        ),
        ({"rules": {"max_rounds": 4}}, "max_rounds: must be an integer from 1 to 3, got 4"),
        (
            {"rules": {"missing_basis": "counter-evidence"}, "missing_basis": "burden-not-met"},
            "missing_basis: is 'burden-not-met', but the rules have 'counter-evidence'",
        ),
        (
            {"rules": {"missing_basis": "raise"}},
            "missing_basis: must be one of 'infer', 'counter-evidence', 'burden-not-met', got 'raise'",
        ),
        (
            {"rules": {"workers": ["bo"]}},
            "rules.workers: 'bo' is not a worker of this run. Fix: name workers of the roster: ann",
        ),
        ({"rules": {"weights": {"bo": 2}}}, "rules.weights: 'bo' is not a worker of this run"),
        ({"rules": "stiky-refutes"}, "did you mean 'sticky-refutes'"),
        ({"rules": {"quorun": 2}}, "rules.quorun: is not a field of these rules"),
    ],
)
def test_rules_that_a_run_cannot_follow_are_refused_before_any_call(given, message):
    backend = Playing()
    with pytest.raises(SettingsError) as caught:
        run_of({}, backend=backend, **given)
    assert message in str(caught.value)
    assert backend.requests == []


def test_a_rules_file_is_read(tmp_path):
    path = VotingRules(stop={"margin": 1}).save(tmp_path / "rules.json")
    assert len(calls(run_of({}, rules=path, backend=Playing()))) == 1


def test_a_panel_takes_mode_and_rounds_of_its_rules_and_refuses_two_of_them():
    panel = PanelSettings(workers=("a", "b"), rules={"mode": "collaborative", "quorum": 2})
    assert (panel.mode, panel.rules) == ("collaborative", VotingRules(quorum=2))
    assert panel.all_rules == VotingRules(mode="collaborative", max_rounds=1, quorum=2)
    assert PanelSettings.model_validate_json(panel.model_dump_json()) == panel
    with pytest.raises(
        SettingsError, match=r"^mode: is 'adversarial', but the rules have 'collaborative'\. Fix: say it"
    ):
        PanelSettings(mode="adversarial", rules={"mode": "collaborative"})


def test_a_run_that_can_stop_asks_in_the_order_of_its_rules():
    script = {1: {"bob": {"F-1": COUNTER}, "cy": {"F-1": AGREE}, "dan": {"F-1": AGREE}}}
    rules = VotingRules(stop={"margin": 1}, order=["dan", "cy"])
    run = run_of(script, [finding("F-1")], " ".join(ROSTER), rules=rules, mode="adversarial", max_rounds=1)
    assert calls(run) == [("r1/dan", ("F-1",))]
    assert live_classes(run) == classes(replay(run.frames, "recorded")) == {"F-1": "full-consensus"}
    first = VotingRules(stop={"margin": 1})
    assert calls(run_of(script, [finding("F-1")], " ".join(ROSTER), rules=first))[0] == ("r1/bob", ("F-1",))
    with pytest.raises(SettingsError, match=r"rules\.order: 'eve' is not a worker of this run"):
        run_of(script, [finding("F-1")], " ".join(ROSTER), rules={"stop": {"margin": 1}, "order": ["eve"]})


def test_a_finding_that_estimates_leave_undecided_is_judged_with_those_that_have_left_the_queue():
    script = {1: {"cy": {"F-2": COUNTER}, "dan": {"F-1": AGREE}}}
    rules = VotingRules(aggregate="dawid-skene")
    found = [finding("F-1"), finding("F-2", "dan")]
    run = run_of(script, found, " ".join(ROSTER), rules=rules, mode="adversarial", max_rounds=1)
    assert live_classes(run) == classes(replay(run.frames, "recorded"))
    assert live_classes(run) == {"F-1": "full-consensus", "F-2": "contested"}
