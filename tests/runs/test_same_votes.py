"""The same votes give the same classes live, from a log, an artifact, a CSV and replayed (rules B4, B7, B8, B9)."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.longer import examples
from tests.runs.crossing import finding, run_of
from verifyplan.analysis.compare import compare
from verifyplan.analysis.explain import explain
from verifyplan.analysis.replay import replay
from verifyplan.frames.artifact import artifact_text, parse_artifact
from verifyplan.frames.artifact_tables import artifact_columns
from verifyplan.frames.runset import RunSet, assemble
from verifyplan.frames.votes import from_votes
from verifyplan.runs.cross.run import CrossRun
from verifyplan.runs.replay import replay_run

VOTERS = ("bob", "cy", "dan")
WORDS = {
    "agree": ["agree", "AGREE", "Survives", " survives "],
    "supplement": ["supplement", "SURVIVES-WITH-CAVEAT", "survives with caveat", "Survives_With_Caveat"],
    "disagree": ["disagree", "Disagree", "REFUTED", "refuted "],
}
BASES = {
    "counter-evidence": ["counter-evidence", "COUNTER EVIDENCE", "Counter_Evidence"],
    "burden-not-met": ["burden-not-met", "Burden Not Met", "BURDEN_NOT_MET"],
    None: [None, ""],
}
LOST = [None, {"verdict": "perhaps"}, {"explanation": "no verdict"}]
"""What a worker may give in place of a vote on one item: nothing, or what cannot be read."""


@st.composite
def spelled(draw: st.DrawFn) -> dict[str, Any]:
    """A vote in any spelling; a refutation with a basis, or without one and with or without a place."""
    verdict = draw(st.sampled_from(list(WORDS)))
    vote = {"verdict": draw(st.sampled_from(WORDS[verdict])), "explanation": draw(st.sampled_from(["", "m.py:4"]))}
    if verdict != "disagree":
        return vote
    key = draw(st.sampled_from(["disagree_basis", "disagreeBasis", "disagree basis"]))
    basis = draw(st.sampled_from(list(BASES)))
    return {**vote, key: draw(st.sampled_from(BASES[basis]))}


@st.composite
def scripts(draw: st.DrawFn) -> dict[int, dict[str, Any]]:
    """What each voter answers in each of three rounds: votes on two findings, some lost, or a failed call."""
    one = spelled() | st.sampled_from(LOST)
    answers = st.fixed_dictionaries({"F-1": one, "F-2": one}) | st.sampled_from(["timeout", "error"])
    return {
        number: {
            voter: cast if isinstance(cast, str) else {name: vote for name, vote in cast.items() if vote is not None}
            for voter, cast in draw(st.fixed_dictionaries(dict.fromkeys(VOTERS, answers))).items()
        }
        for number in (1, 2, 3)
    }


def csv_of(script: dict[int, dict[str, Any]], run: CrossRun) -> pd.DataFrame:
    """The answers to what the run asked, as they were spelled, in a CSV that was written and read; losses as errors."""
    rows = []
    for item in run.artifact.findings:
        for entry in item.rounds or ():
            for voter in entry.votes:
                cast = script[entry.round][voter]
                vote = {} if isinstance(cast, str) else cast.get(item.findingId, {})
                said = vote.get("verdict", "perhaps")
                basis = next((vote[key] for key in vote if key.startswith("disagree")), None)
                rows.append(
                    {
                        "item": item.findingId,
                        "turn": entry.round,
                        "who": voter,
                        "says": "verification error" if said == "perhaps" else said,
                        "why": basis,
                        "words": vote.get("explanation"),
                        "claim": item.summary,
                        "found": "ann",
                    }
                )
    return pd.read_csv(io.StringIO(pd.DataFrame(rows).to_csv(index=False)))


def imported(table: pd.DataFrame, run: CrossRun) -> RunSet:
    mode = "Adversarial" if run.artifact.adversarial else "Collaborative"
    return from_votes(
        table, item="item", worker="who", verdict="says", basis="why", round="turn", explanation="words", mode=mode,
        summary="claim", discoverers="found", max_rounds=run.artifact.config.effectiveMaxRounds,
    )  # fmt: skip


def without_losses(table: pd.DataFrame) -> pd.DataFrame:
    """The table without the rows of lost votes, but for rounds of a finding that would be empty without them."""
    lost = table["says"].eq("verification error")
    return table[~lost | lost.groupby([table["item"], table["turn"]]).transform("all")]


def classes(runs: RunSet) -> dict[str, tuple[str, str]]:
    """Class and rule of each finding, read as recorded."""
    table = replay(runs, "recorded")
    told = zip(table["finding_id"], table["classification"], table["rule"], strict=True)
    return {finding_id: (str(classification), str(rule)) for finding_id, classification, rule in told}


@settings(max_examples=examples(40, 8), deadline=None)
@given(scripts(), st.booleans(), st.integers(1, 3), st.randoms())
def test_the_same_votes_give_the_same_classes_however_they_come(script, adversarial, max_rounds, random):
    found = [finding("F-1"), finding("F-2")]
    run = run_of(script, found, "ann bob cy dan", settings={"adversarial": adversarial, "maxRounds": max_rounds})
    live = {one.findingId: one.classification for one in run.artifact.findings}
    artifact = assemble([artifact_columns(parse_artifact(artifact_text(run.artifact).encode(), "run.json"), "run")])
    table = csv_of(script, run)
    shuffled = table.iloc[random.sample(range(len(table)), len(table))]
    told = {
        "log": classes(run.frames),
        "artifact": classes(artifact),
        "csv": classes(imported(table, run)),
        "csv, other order": classes(imported(shuffled, run)),
        "csv, lost votes left out": classes(imported(without_losses(table), run)),
    }
    assert {name: classification for name, (classification, _) in told["log"].items()} == live
    assert [how for how, given in told.items() if given != told["log"]] == []
    again = replay_run(run)
    assert again.same
    assert classes(again.run.frames) == told["log"]
    notes = compare(run.frames, artifact, resamples=9).notes
    assert not [note for note in notes if "other than the recorded" in note]


@settings(max_examples=examples(20), deadline=None)
@given(scripts(), st.integers(2, 3))
def test_what_was_lost_is_counted_alike_and_said(script, max_rounds):
    found = [finding("F-1"), finding("F-2")]
    run = run_of(script, found, "ann bob cy dan", settings={"adversarial": True, "maxRounds": max_rounds})
    other = imported(csv_of(script, run), run)
    columns = ["finding_id", "lost_votes", "lost_refutes"]
    lost = replay(run.frames, "recorded")[columns]
    assert lost.to_numpy().tolist() == replay(other, "recorded")[columns].to_numpy().tolist()
    for row in lost.itertuples():
        text = explain(run.frames, row.finding_id).text
        assert ("This class rests on" in text) == (row.lost_votes > 0)
        assert text.count("The counter-evidence of ") == row.lost_refutes
        assert "every attempt" not in text
