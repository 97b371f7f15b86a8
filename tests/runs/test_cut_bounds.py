"""A vote that a limit of the run held back was never cast: bounds cover whatever it would have been (rule R4)."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.longer import examples
from tests.runs.crossing import AGREE, BURDEN, COUNTER, SUPPLEMENT, Playing, finding
from tests.runs.plan.planning import PLAN, REPO, script
from tests.runs.test_reopened import Failing
from verifyplan import analysis
from verifyplan.analysis.treatments.rule_outcomes import rule_outcomes
from verifyplan.frames.cut_rounds import held_back
from verifyplan.protocol.call import Reply, Usage, WorkerRequest
from verifyplan.protocol.vote import CLASSIFICATIONS, MODES
from verifyplan.protocol.voting_rules import VotingRules

ROSTER = ["ann", "bob", "cy", "dan"]
FOUND = [finding(f"F-{n}", ROSTER[n % 2], truth=n % 2 == 0) for n in range(4)]
VOTES = (AGREE, SUPPLEMENT, BURDEN, COUNTER)


def casting(vote: Callable[[WorkerRequest, str], dict[str, Any]]) -> Playing:
    """A backend whose answers cost ten tokens each."""

    def answer(request: WorkerRequest) -> Reply:
        votes = {item.finding_id: vote(request, item.finding_id) for item in request.items}
        return Reply(value={"votes": votes}, usage=Usage(input_tokens=10))

    return Playing(answer)


def drawn(seed: int) -> Playing:
    """A backend that casts votes at random, but the same on the same finding in the same round."""

    def vote(request: WorkerRequest, name: str) -> dict[str, Any]:
        key = [seed, request.round, ROSTER.index(request.worker), int(name[2:])]
        return VOTES[int(np.random.default_rng(key).integers(len(VOTES)))]

    return casting(vote)


def cut_run(folder: Path, backend: Playing, max_tokens: int, **more: Any) -> Any:
    given: dict[str, Any] = {"mode": "adversarial", "max_rounds": 2, "items_per_call": 2, "matcher": None}
    return vp.crossverify(
        FOUND, ROSTER, backend=backend, max_tokens=max_tokens, log_dir=folder, progress=False, **given | more
    )


def finished(run: Any, folder: Path, backend: Playing) -> Any:
    """The run when its held-back calls were made, with other answers to them."""
    folder.mkdir()
    log = shutil.copy(run.log_path, folder)
    return vp.resume(log, backend=backend, retry_failed=True, max_tokens=10_000, progress=False)


def agreeing_until(refuting: str) -> Playing:
    return casting(lambda request, _: COUNTER if request.worker == refuting else AGREE)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run in which everybody agreed until a limit held back the votes of dan."""
    return cut_run(tmp_path_factory.mktemp("cut"), agreeing_until("dan"), 35)


def test_the_finished_run_lies_within_what_its_comparison_printed(run, tmp_path):
    cut = vp.compare(run, resamples=5)
    assert run.status == "aborted-non-result"
    done = finished(run, tmp_path / "done", agreeing_until("dan"))
    held = vp.replay(done)["classification"].isin(["full-consensus", "partial-consensus"]).mean()
    bounds = cut.bounds.set_index(["condition", "metric"]).loc[("adversarial", "held")]
    assert bounds["value"] == 1.0, "all votes that were cast agree"
    assert bounds["low_bound"] <= held == 0.0
    assert bounds["n_censored"] == 4
    assert "votes never cast under adversarial (on 4 findings) could give: held 0.0 to 100.0 %" in str(cut)
    assert "4 of 4 findings are censored" in str(cut)


def test_explain_says_that_a_limit_held_votes_back(run):
    words = str(vp.explain(run, "F-0"))
    assert (
        "Censored: votes that a limit of the run held back were never cast. "
        "They could make it anything from full-consensus to worker-unique."
    ) in words


def within(judged: pd.DataFrame, classes: Any) -> bool:
    position = np.array([CLASSIFICATIONS.index(name) for name in classes])
    high, low = (judged[name].cat.codes.to_numpy() for name in ("high", "low"))
    return bool(((high <= position) & (position <= low)).all())


@settings(max_examples=examples(40, 8), deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 11).map(lambda calls: 10 * calls - 5),
    st.sampled_from(MODES),
    st.integers(1, 3),
    st.sampled_from([1, 2, None]),
)
def test_every_way_to_finish_a_run_lies_within_its_bounds(
    seed: int, max_tokens: int, mode: str, max_rounds: int, items_per_call: int | None
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        setting = {"mode": mode, "max_rounds": max_rounds, "items_per_call": items_per_call}
        run = cut_run(folder / "cut", drawn(seed), max_tokens, **setting)
        judged, bounds = vp.replay(run), vp.compare(run, resamples=1).bounds
        for place in range(2):
            done = finished(run, folder / str(place), drawn(seed + place))
            assert within(judged, done.frames.findings["classification"])
            values = vp.compare(done, resamples=1).summary.set_index("metric")
            for row in bounds.to_dict("records"):
                value = values.loc[row["metric"], row["condition"]]
                if not np.isnan(value):
                    assert row["low_bound"] - 1e-9 <= value <= row["high_bound"] + 1e-9, row


def completed(votes: pd.DataFrame, held: Any, finding_id: str) -> pd.DataFrame:
    """The votes on a finding with every way to cast those at some rows, which a limit held back, as runs by number."""
    columns = ["run_id", "finding_id", "round", "worker", "verdict", "disagree_basis", "is_origin"]
    own = votes.loc[votes["finding_id"].eq(finding_id), columns].astype("object")
    rows = [row for row in held if row in own.index]
    made = []
    for number, ways in enumerate(product([*VOTES, {"verdict": "verification-error"}], repeat=len(rows))):
        table = own.assign(run_id=str(number))
        for row, way in zip(rows, ways, strict=True):
            table.loc[row, "verdict"], table.loc[row, "disagree_basis"] = way["verdict"], way.get("disagree_basis")
        made.append(table)
    return pd.concat(made, ignore_index=True)


RULES = [
    VotingRules(),
    VotingRules(aggregate="any-refute"),
    VotingRules(quorum="2/3"),
    VotingRules(lost_votes="as-disagree"),
    VotingRules(refutes="sticky", lost_votes="last-vote"),
    VotingRules(workers=("ann", "cy", "dan")),
    VotingRules(stop={"margin": 1}),
]


@pytest.fixture(scope="module")
def completions(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, dict[str, pd.DataFrame]]]:
    """Three runs of one round that a limit cut off, and the votes on each finding with every way to complete them."""
    made = []
    for seed in range(3):
        run = cut_run(tmp_path_factory.mktemp("cut"), drawn(seed), 25, max_rounds=1)
        votes = run.frames.votes.reset_index(drop=True)
        rows = held_back(votes)
        assert len(rows)
        made.append((run, {name: completed(votes, rows, name) for name in map(str, run.frames.findings["finding_id"])}))
    return made


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("mode", MODES)
def test_bounds_cover_every_completion_under_any_rules(rules: VotingRules, mode: str, completions: Any) -> None:
    for run, tables in completions:
        chosen = rules.model_copy(update={"mode": mode, "max_rounds": 1})
        judged, outcomes = vp.replay(run, rules=chosen), rule_outcomes(run.frames, [chosen])
        assert judged["finding_id"].tolist() == list(tables)
        for place, (name, table) in enumerate(tables.items()):
            found = set(vp.classify(table, rules=chosen)["classification"].cat.codes)
            low, high = (judged[end].cat.codes.iloc[place] for end in ("low", "high"))
            assert high <= min(found), (name, found)
            assert max(found) <= low, (name, found)
            assert outcomes.high(0)[place] <= min(found)
            assert max(found) <= outcomes.low(0)[place]
            if rules == VotingRules():
                assert (high, low) == (min(found), max(found)), "no wider than need be"
            assert judged["censored"].iloc[place] or len(found) == 1


def test_a_table_of_its_votes_has_the_same_bounds(run):
    ends = ["classification", "censored", "low", "high"]
    by_table = vp.classify(run.frames.votes, mode="adversarial", max_rounds=2)
    assert by_table[ends].equals(vp.replay(run, "adversarial")[ends])


def test_a_dataset_has_the_same_bounds_and_the_same_note(run, tmp_path):
    other = cut_run(tmp_path / "other", agreeing_until("dan"), 10_000)
    folder = tmp_path / "runs"
    for number, each in enumerate((run, other)):  # each compilation adds a part
        (folder / str(number)).mkdir(parents=True)
        shutil.copy(each.path, folder / str(number))
        vp.compile_dataset(folder, tmp_path / "dataset", part_votes=1)
    dataset, runs = vp.load(tmp_path / "dataset"), vp.load(folder)
    assert len(dataset.parts) == 2
    here, there = vp.replay(runs, "adversarial"), vp.replay(dataset, "adversarial")
    pd.testing.assert_frame_equal(here, there)
    assert here["censored"].sum() == 4
    in_memory, in_parts = vp.compare(runs, resamples=5), analysis.compare_dataset(tmp_path / "dataset", resamples=5)
    pd.testing.assert_frame_equal(in_memory.bounds, in_parts.bounds)
    note = next(note for note in in_memory.notes if "cut off the last round" in note)
    assert in_parts.notes[0] == note
    counted = analysis.classify_dataset(tmp_path / "dataset", "adversarial", max_rounds=2)
    assert counted.n_open == 4
    assert counted.notes[0] == note
    replayed = analysis.replay_dataset(tmp_path / "dataset", "adversarial")
    assert replayed.n_open == 4
    assert replayed.notes[0] == note


def test_a_vote_that_failed_for_another_reason_is_lost_as_before(tmp_path):
    def vote(request: WorkerRequest, _: str) -> dict[str, Any]:
        if request.worker == "dan":
            raise RuntimeError("max_tokens: the endpoint is down")
        return AGREE

    run = cut_run(tmp_path, casting(vote), 10_000)
    judged = vp.replay(run)
    assert (judged["lost_votes"] == 1).all()
    assert not judged["censored"].any()


def test_a_panel_of_a_plan_run_that_a_limit_cut_off_tells_the_same_everywhere(tmp_path):
    run = vp.verify(
        vp.plans.parse_plan(PLAN),
        REPO,
        backend=Failing(script(), None, 10),
        log_dir=tmp_path,
        progress=False,
        max_tokens=55,
    )
    why = "max_tokens cut off the last round, so "
    finish = "To finish the round, resume the run with retry_failed=True and a higher max_tokens."
    unjudged = "7 findings are worker-unique only because nothing classed them. To finish the round"
    assert f"{why}it was not judged: {unjudged}: verifyplan resume {run.log_path} " in str(run)
    assert f"{why}it was not judged: {unjudged}, resume the run" in str(run.frames)
    assert f"{why}the run did not judge it, and recorded worker-unique only" in str(vp.explain(run, "C1"))
    compared = vp.compare(run, resamples=5)
    assert any(note.startswith(f"{why}the run did not judge it. Here its 7 findings") for note in compared.notes)
    assert all("other than the recorded" not in note for note in compared.notes)
    judged = vp.replay(run).set_index("finding_id")
    assert judged["censored"].all()
    assert judged.loc["C1", ["high", "low"]].tolist() == ["full-consensus", "contested"]
    assert finish in str(vp.explain(run, "C1"))


def test_the_command_says_so_and_does_not_call_unjudged_classes_different(run, cli: Callable[..., Any]) -> None:
    result = cli("replay", str(run.path))
    note = next(note for note in vp.compare(run, resamples=5).notes if "cut off" in note)
    assert f"note: {note}" in result.out.splitlines()
    assert result.code == 0
    assert "votes never cast could change the class of 4 findings: see low and high" in result.out
