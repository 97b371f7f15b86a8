"""A live run under any rules: its classes are those of its replay and of its table of votes (rules R1, R2)."""

from __future__ import annotations

from typing import Any

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.longer import examples
from tests.runs.crossing import finding, run_of
from tests.runs.test_same_votes import scripts
from verifyplan.analysis.classify import classify
from verifyplan.analysis.replay import replay
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.invariants import violations
from verifyplan.runs.replay import replay_run

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
    }
    chosen = draw(st.sets(st.sampled_from(sorted(fields)), min_size=1, max_size=5)) | {"mode", "max_rounds"}
    return VotingRules(**{name: draw(fields[name]) for name in sorted(chosen)})


def live_classes(run: Any) -> dict[str, str | None]:
    return {one.findingId: one.classification for one in run.artifact.findings}


def classes(table: pd.DataFrame) -> dict[str, str]:
    return dict(zip(table["finding_id"], table["classification"].astype(str), strict=True))


@settings(max_examples=examples(60), deadline=None)
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
