"""rule F1: the comparison's tables agree with each other, with truth, and with counts made by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.analysis.ballot_tables import frame, tables
from verifyplan.analysis.compare import Comparer
from verifyplan.analysis.intervals import interval, resample
from verifyplan.analysis.metrics import SHAPE
from verifyplan.analysis.replay import Setting, replay
from verifyplan.analysis.symmetry import symmetry_tests
from verifyplan.errors import InputError, SettingsError
from verifyplan.frames.columns import typed
from verifyplan.protocol.vote import HELD


def from_frame(votes: pd.DataFrame, truth=None) -> vp.RunSet:
    named = {"item": "finding_id", "worker": "worker", "verdict": "verdict", "basis": "disagree_basis"}
    return vp.from_votes(votes, **named, round="round", run="run_id", explanation="explanation", truth=truth)


@settings(max_examples=40)
@given(tables, st.data())
def test_tables_of_a_comparison_agree_with_each_other(findings, data):
    votes = frame(findings)
    truths = {key: data.draw(st.booleans()) for key in findings}
    votes["truth"] = [truths[key] for key in zip(votes["run_id"], votes["finding_id"], strict=True)]
    comparison = vp.compare(from_frame(votes, "truth"), resamples=50)
    table, n = comparison.findings, len(findings)
    assert comparison.n_findings == len(table) == comparison.transitions.to_numpy().sum() == n
    moved = comparison.transitions.to_numpy()
    summary = comparison.summary.set_index("metric")
    assert table["changed"].sum() == n - np.trace(moved) == round(summary.loc["changed", "difference"] * n)
    for side, reading in (("a", comparison.a), ("b", comparison.b)):
        held = table[f"classification_{side}"].isin(HELD)
        true = table["truth"].astype(bool)
        got = comparison.truth[comparison.truth["reading"] == reading].set_index("metric")
        assert got.loc["false-consensus-rate", "n"] == (~true).sum()
        assert got.loc["precision", "value"] == pytest.approx(_share(held & true, held), nan_ok=True)
        assert got.loc["recall", "value"] == pytest.approx(_share(held & true, true), nan_ok=True)
        assert got.loc["false-consensus-rate", "value"] == pytest.approx(_share(held & ~true, ~true), nan_ok=True)
        assert got.loc["false-demotion-rate", "value"] == pytest.approx(_share(~held & true, true), nan_ok=True)
        mix = comparison.mix[comparison.mix["reading"] == reading]
        assert mix["n"].sum() == n
        assert mix["share"].sum() == pytest.approx(1)


def _share(part: pd.Series, whole: pd.Series) -> float:
    return part.sum() / whole.sum() if whole.sum() else float("nan")


def many(runs: int, each: int = 4) -> pd.DataFrame:
    """Runs whose findings are all held in even runs, and all refuted by counter-evidence in odd ones."""
    rows = [
        {"run_id": f"r{i}", "finding_id": f"F{j}", "round": 1, "worker": worker, "explanation": "",
         "verdict": "disagree" if i % 2 and worker == "b" else "agree",
         "disagree_basis": "counter-evidence" if i % 2 and worker == "b" else None}
        for i in range(runs) for j in range(each) for worker in "abc"
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_ten_runs_are_resampled_whole_and_fewer_by_finding():
    ten, nine = vp.compare(from_frame(many(10))), vp.compare(from_frame(many(9)))
    assert (ten.resampled, nine.resampled) == ("runs", "findings")
    assert any("fewer than 10 runs" in note for note in nine.notes)
    width = {c.resampled: c.summary.set_index("metric").loc["contested"] for c in (ten, nine)}
    spread = {name: row["high"] - row["low"] for name, row in width.items()}
    assert spread["runs"] > 1.5 * spread["findings"], "findings of one run move together, so runs are the sample"


def test_the_same_seed_gives_the_same_intervals_and_another_seed_others():
    runs = from_frame(many(41))
    first, again, other = (vp.compare(runs, seed=seed, resamples=99).summary for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first, again)
    assert not first["high"].equals(other["high"])


def test_bootstrap_totals_keep_the_number_of_runs_and_findings():
    counts = np.zeros((12, *SHAPE), dtype=int)
    counts[:, 0, 0, 0] = 5
    drawn, what = resample(counts, 30, seed=0)
    assert what == "runs"
    assert (drawn.sum(axis=(1, 2, 3)) == 60).all()
    assert interval(np.array([np.nan, np.nan])) == pytest.approx((np.nan, np.nan), nan_ok=True)


def test_stuart_maxwell_and_mcnemar_by_hand():
    table = np.array([[10, 0, 8, 0], [0, 5, 0, 0], [2, 0, 7, 0], [0, 0, 0, 1]])
    tests = symmetry_tests(table).set_index("test")
    assert tests.loc["stuart-maxwell", "statistic"] == pytest.approx((8 - 2) ** 2 / (8 + 2))
    assert tests.loc["mcnemar", "p_value"] == pytest.approx(2 * sum([1, 10, 45]) / 2**10)  # binomial, 2 of 10
    assert symmetry_tests(np.diag([3, 3, 3, 3]))["p_value"].isna().all()


def real_runs():
    """The same two findings verified collaboratively and adversarially, by scripts."""
    rows = [{"finding_id": name, "summary": name, "evidence": "", "worker": "a", "truth": name == "F"} for name in "FG"]
    agree, refute = {"verdict": "agree"}, {"verdict": "refuted", "disagree_basis": "counter-evidence"}
    friendly = {1: {worker: {"F": agree, "G": agree} for worker in "bc"}}
    hostile = {1: {"b": {"F": agree, "G": refute}, "c": {"F": agree, "G": agree}}}
    return [
        vp.crossverify(
            rows, list("abc"), settings={"adversarial": mode, "maxRounds": 1},
            backend=vp.agents.ScriptedBackend(script), matcher=None, log_dir=None,
        ).frames
        for mode, script in ((False, friendly), (True, hostile))
    ]  # fmt: skip


def test_two_real_runs_are_paired_as_recorded():
    collaborative, adversarial = real_runs()
    comparison = vp.compare(collaborative, adversarial)
    assert (comparison.a, comparison.b) == ("collaborative", "adversarial")
    assert comparison.findings["changed"].tolist() == [False, True]
    truth = comparison.truth.set_index(["reading", "metric"])["value"]
    assert truth["collaborative", "false-consensus-rate"] == 1
    assert truth["adversarial", "false-consensus-rate"] == 0


def test_sets_that_cannot_be_paired_are_refused():
    collaborative, adversarial = real_runs()
    renamed = vp.RunSet(*(getattr(adversarial, t).assign(run_id="x") for t in ("runs", "findings", "votes")),
                        adversarial.rounds.assign(run_id="x"), adversarial.dispatches.assign(run_id="x"))  # fmt: skip
    assert vp.compare(collaborative, renamed).n_findings == 2, "no run id in common: by finding id"
    other = vp.RunSet(renamed.runs, renamed.findings.assign(finding_id=["X", "Y"]), renamed.votes.iloc[:0],
                      renamed.rounds, renamed.dispatches)  # fmt: skip
    with pytest.raises(InputError, match="the two sets share no finding"):
        vp.compare(collaborative, other)


def test_notes_tell_of_censoring_filled_bases_and_failed_calls():
    votes = many(2)
    votes.loc[votes["verdict"] == "disagree", "disagree_basis"] = None
    votes.loc[0, "verdict"] = "verification-error"
    notes = " ".join(vp.compare(from_frame(votes), max_rounds=2).notes)
    assert (
        "Under adversarial, 4 of 4 disagreements had no basis; 0 read as counter-evidence, 4 as burden-not-met."
        in notes
    )
    assert "1 of 24 recorded votes are verification errors" in notes
    assert "Runs of both modes" not in notes


def test_resamples_and_seed_are_checked():
    runs = from_frame(many(2))
    with pytest.raises(SettingsError, match="resamples: 0 is out of range"):
        vp.compare(runs, resamples=0)
    with pytest.raises(SettingsError, match="seed: -1 is out of range"):
        vp.compare(runs, seed=-1)


def test_notes_tell_of_pooled_modes_repeated_findings_and_small_samples():
    both = vp.compare(vp.datasets.runs(), resamples=20)
    notes = " ".join(both.notes)
    assert "Runs of both modes are pooled" in notes
    assert "720 findings stand again, by id and claim, in other runs of the set" in notes
    few = " ".join(vp.compare(from_frame(many(2)), resamples=20).notes)
    assert "Fewer than 20 findings stand behind full-consensus, partial-consensus" in few


def test_an_empty_second_set_is_not_taken_for_none():
    runs = from_frame(many(1))
    with pytest.raises(InputError, match="the two sets share no finding"):
        vp.compare(runs, runs.select([]))


@pytest.mark.parametrize("name", ["compare", "replay", "vote_matrix", "queue", "agreement", "cost"])
def test_what_is_no_set_of_runs_is_refused_in_words(name):
    words = {"replay": {"mode": "adversarial"}}.get(name, {})
    with pytest.raises(InputError, match=r"got a DataFrame\. Fix: give what load"):
        getattr(vp.analysis, name)(pd.DataFrame(), **words)


def test_other_claims_under_one_id_and_split_truths_are_refused():
    collaborative, adversarial = real_runs()
    findings = adversarial.findings
    other = dataclasses.replace(adversarial, findings=findings.assign(summary=["F", "another claim"]))
    with pytest.raises(InputError, match="1 finding of one id make another claim in each set, the first is 'G'"):
        vp.compare(collaborative, other)
    with pytest.raises(InputError, match="1 finding of one id are true in one set and false in the other"):
        vp.compare(collaborative, adversarial.with_truth({"F": False}))


def test_f1_and_the_difference_and_its_interval_by_hand():
    """Runs alike but for one: 20 true findings held under both, in the last run adversarially refuted."""
    votes = many(20, each=1)
    votes["truth"] = True
    comparison = vp.compare(from_frame(votes, "truth"))
    summary = comparison.summary.set_index("metric")
    assert summary.loc["f1", "b"] == pytest.approx(2 * 0.5 / 1.5)  # precision 1, recall 10 of 20
    held = summary.loc["held"]
    assert (held["a"], held["b"], held["difference"]) == (1.0, 0.5, -0.5)
    deviation = np.sqrt(0.25 / 20)  # of a share of one half among 20 runs
    assert held["high"] - held["low"] == pytest.approx(2 * 1.96 * deviation, rel=0.15)
    assert held["high"] < 0


def test_findings_that_nobody_judged_are_told():
    votes = many(2)
    votes.loc[votes["finding_id"] == "F0", ["verdict", "disagree_basis"]] = ["verification-error", None]
    notes = " ".join(vp.compare(from_frame(votes), resamples=10).notes)
    assert "Under adversarial, 2 findings got no vote that counts, and count as not held." in notes


def test_stuart_maxwell_of_two_separate_pairs_adds_up():
    table = np.array([[5, 8, 0, 0], [2, 5, 0, 0], [0, 0, 5, 9], [0, 0, 1, 5]])
    row = symmetry_tests(table).set_index("test").loc["stuart-maxwell"]
    assert row["statistic"] == pytest.approx(36 / 10 + 64 / 10)
    assert row["df"] == 2


def test_each_side_can_have_rounds_and_bases_of_its_own():
    votes = many(2)
    later = votes[(votes["run_id"] == "r1")].assign(round=2, verdict="agree", disagree_basis=None)
    runs = from_frame(pd.concat([votes, later], ignore_index=True))
    one, two = Setting("adversarial", 1), Setting("adversarial", 2)
    comparison = vp.compare(runs, a=one, b=two, max_rounds=7, resamples=20)  # 7 is for sides that are no Settings
    assert (comparison.a, comparison.b) == ("adversarial, 1 round", "adversarial, 2 rounds")
    for side, rounds in (("a", 1), ("b", 2)):
        alone = vp.replay(runs, "adversarial", max_rounds=rounds)
        columns = ["classification", "rule", "decided_round", "censored"]
        got = comparison.findings[[f"{name}_{side}" for name in columns]]
        assert got.to_numpy().tolist() == alone[columns].to_numpy().tolist()
    assert comparison.findings["changed"].any()


def test_a_side_reads_missing_bases_in_its_own_way_and_is_called_by_it():
    votes = many(2).assign(disagree_basis=None)
    settings = [Setting("adversarial", missing_basis=basis) for basis in ("counter-evidence", "burden-not-met")]
    comparison = vp.compare(from_frame(votes), a=settings[0], b=settings[1], resamples=20)
    named = [f"adversarial, missing bases: {one.missing_basis}" for one in settings]
    assert [comparison.a, comparison.b] == named
    rules = comparison.findings[comparison.findings["changed"]]
    assert set(zip(rules["rule_a"], rules["rule_b"], strict=True)) == {("hard-refute", "lone-doubt")}


def test_settings_that_are_the_same_are_still_told_apart():
    runs = from_frame(many(2))
    comparison = vp.compare(runs, a=Setting("adversarial"), b="adversarial", resamples=20)
    assert (comparison.a, comparison.b) == ("adversarial (a)", "adversarial (b)")
    assert not comparison.findings["changed"].any()


@pytest.mark.parametrize("wrong", [True, [1], 0, 1.5])
def test_a_wrong_number_of_rounds_is_refused_also_where_a_like_one_was_read_before(wrong):
    comparer = Comparer(from_frame(many(2)))
    comparer.compare(Setting("adversarial", 1), Setting("adversarial", 1), resamples=20)
    with pytest.raises(SettingsError, match=r"max_rounds: .* is out of range"):
        comparer.compare(Setting("adversarial", wrong), Setting("adversarial", 1), resamples=20)


def test_a_comparer_gives_what_compare_gives_and_reads_each_side_once(monkeypatch):
    read = []
    monkeypatch.setattr(Setting, "read", lambda self, runs: read.append(self) or replay(runs, self.mode))
    comparer = Comparer(from_frame(many(2)))
    a, b = Setting("collaborative"), Setting("adversarial")
    for _ in range(2):
        again = comparer.compare(a, b, resamples=20)
        back = comparer.compare(b, a, resamples=20)
    assert read == [a, b], "one set: a reading serves both sides"
    fresh = vp.compare(from_frame(many(2)), resamples=20)
    pd.testing.assert_frame_equal(again.findings, fresh.findings)
    pd.testing.assert_frame_equal(again.summary, fresh.summary)
    pd.testing.assert_frame_equal(again.agreement, fresh.agreement)
    assert again.notes == fresh.notes
    assert back.transitions.to_numpy().tolist() == again.transitions.to_numpy().T.tolist()


def test_notes_name_lost_votes_and_lost_refutations():
    rows = [(1, "a", "agree", None), (1, "b", "disagree", "counter-evidence"), (2, "a", "agree", None),
            (2, "b", "verification-error", None)]  # fmt: skip
    votes = pd.DataFrame(rows, columns=["round", "worker", "verdict", "disagree_basis"])
    comparison = vp.compare(from_frame(votes.assign(run_id="r", finding_id="F", explanation="")), resamples=20)
    notes = " ".join(comparison.notes)
    assert (
        "Under adversarial, the class of 1 finding rests on fewer votes than were asked for: 1 vote of the deciding "
        "rounds was lost." in notes
    )
    assert "Under adversarial, a counter-evidence of an earlier round was lost" in notes
    assert "in 1 finding, the first is F." in notes
    assert comparison.findings[["lost_votes_b", "lost_refutes_b"]].to_numpy().tolist() == [[1, 1]]
    assert comparison.findings["lost_refutes_a"].tolist() == [0], "no basis is read collaboratively"


def imported(mode: str | None, runs: int = 1, **columns: object) -> vp.RunSet:
    votes = many(runs).assign(**columns)
    named = {"item": "finding_id", "worker": "worker", "verdict": "verdict", "basis": "disagree_basis"}
    return vp.from_votes(votes, **named, run="run_id", mode=mode)


def test_two_imported_tables_one_of_each_mode_are_compared_as_what_they_are():
    comparison = vp.compare(imported("collaborative", 2), imported("adversarial", 2), resamples=20)
    assert (comparison.a, comparison.b) == ("collaborative", "adversarial")
    rules = comparison.findings.groupby("run_id")[["rule_a", "rule_b"]].first()
    assert rules.astype("str").to_numpy().tolist() == [["all-agree", "survived"], ["majority-agree", "hard-refute"]]
    assert not [note for note in comparison.notes if "is not recorded" in note or "Confound" in note]


def test_a_table_of_unknown_mode_is_told_where_it_is_read_as_recorded():
    notes = vp.compare(imported(None, 2), imported("adversarial", 2), resamples=20).notes
    (note,) = [note for note in notes if "is not recorded" in note]
    assert note.startswith("The mode of 2 runs of the first set is not recorded: read as collaborative")
    assert not [note for note in vp.compare(imported(None), resamples=20).notes if "is not recorded" in note]


def test_a_recorded_class_that_the_votes_do_not_give_is_a_note():
    runs = imported("adversarial", 2)
    given = replay(runs, "recorded")["classification"].astype("object")
    sound = dataclasses.replace(runs, findings=runs.findings.assign(classification=given))
    changed = dataclasses.replace(
        runs, findings=runs.findings.assign(classification=given.where(given.index != 1, "contested"))
    )
    for one in (sound, runs):
        assert not [note for note in vp.compare(one, resamples=20).notes if "recorded class" in note]
    (note,) = [note for note in vp.compare(changed, resamples=20).notes if "recorded class" in note]
    assert note == (
        "The votes do not give the recorded class of 1 finding, the first is F1 of run r0: contested, not "
        "full-consensus."
    )
    (note,) = [note for note in vp.compare(sound, changed, resamples=20).notes if "recorded class" in note]
    assert "The votes of the second set do not give" in note


def calls_to(model: str) -> pd.DataFrame:
    return typed("calls", {"run_id": ["r0"], "call_id": ["r1/b"], "model": [model]})


CONFOUNDS = {
    "workers": (lambda one: {"votes": one.votes.assign(worker=one.votes["worker"].replace("c", "z"))}, "c", "z"),
    "rounds allowed": (lambda one: {"runs": one.runs.assign(effective_max_rounds=3)}, "1", "3"),
    "evidence access": (
        lambda one: {"runs": one.runs.assign(verification_mode="full-reanalysis")}, "lightweight", "full-reanalysis"
    ),
    "backends": (lambda one: {"runs": one.runs.assign(backend="anthropic")}, "static", "anthropic"),
    "models": (lambda _: {"calls": calls_to("m-2")}, "m-1", "m-2"),
    "prompts": (lambda one: {"runs": one.runs.assign(prompts="base 1 aa; worker 2 cc")}, "worker 1 bb", "worker 2 cc"),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFOUNDS)
def test_what_differs_beside_the_mode_is_named_as_a_confound(name):
    one = imported("collaborative")
    runs = one.runs.assign(verification_mode="lightweight", backend="static", prompts="base 1 aa; worker 1 bb")
    one = dataclasses.replace(one, runs=runs, calls=calls_to("m-1"))
    change, first, second = CONFOUNDS[name]
    other = dataclasses.replace(one, **change(one))
    assert not [note for note in vp.compare(one, one, resamples=20).notes if "Confound" in note]
    found = [note for note in vp.compare(one, other, resamples=20).notes if "Confound" in note]
    assert found == [f"Confound, {name}: {first} only in the first set; {second} only in the second set."]


def test_what_was_not_recorded_is_no_confound_and_rounds_of_both_settings_are_none():
    one = imported("collaborative")
    logged = dataclasses.replace(one, runs=one.runs.assign(backend="static", effective_max_rounds=2))
    notes = vp.compare(one, logged, resamples=20).notes
    assert [note for note in notes if "Confound" in note] == [
        "Confound, rounds allowed: 1 only in the first set; 2 only in the second set."
    ]
    assert not [note for note in vp.compare(one, logged, max_rounds=1, resamples=20).notes if "Confound" in note]


def claiming(text: str, **columns: object) -> vp.RunSet:
    votes = many(1).assign(text=text, **columns)
    return vp.from_votes(votes, item="finding_id", worker="worker", verdict="verdict", summary="text")


def test_claims_are_the_same_whatever_their_case_and_spaces_and_others_are_refused():
    assert vp.compare(claiming("f has no check"), claiming(" F has\n no  check"), resamples=9).n_findings == 4
    with pytest.raises(InputError, match=r"4 findings of one id make another claim in each set, the first is 'F0'"):
        vp.compare(claiming("f has no check"), claiming("f has a check"))


def test_sets_that_share_no_finding_show_the_ids_of_both():
    with pytest.raises(InputError, match=r"share no finding: 'F0', 'F1', 'F2' in the first, 'X' in the second"):
        vp.compare(claiming("f"), claiming("f", finding_id="X", worker=[f"w{i}" for i in range(12)]))


def test_a_metric_that_there_is_not_is_told_with_those_that_there_are():
    votes = pd.DataFrame({"i": ["F", "G"], "w": "a", "v": "agree", "t": [True, False]})
    known = vp.compare(vp.from_votes(votes, item="i", worker="w", verdict="v", truth="t"), resamples=5)
    assert known.in_words("false-consensus") == known.in_words("false-consensus-rate")
    with pytest.raises(SettingsError, match=r"'precison' is no metric .*did you mean 'precision'.*'changed'"):
        known.in_words("precison")
    unknown = vp.compare(vp.from_votes(votes, item="i", worker="w", verdict="v"), resamples=5)
    with pytest.raises(SettingsError, match="others need findings whose truth is known"):
        unknown.in_words("false-consensus")


def test_a_mistyped_mode_or_reading_of_bases_is_told_with_the_one_that_was_meant():
    votes = pd.DataFrame({"i": ["F"], "w": "a", "v": "agree"})
    runs = vp.from_votes(votes, item="i", worker="w", verdict="v")
    with pytest.raises(SettingsError, match=r"'infre' is unknown \(did you mean 'infer'\?\)"):
        vp.replay(runs, "adversarial", missing_basis="infre")
