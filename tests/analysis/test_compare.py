"""rule F1: the comparison's tables agree with each other, with truth, and with counts made by hand."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.analysis.ballot_tables import frame, joined_tables
from tests.longer import examples
from verifyplan.analysis.cluster_intervals import interval
from verifyplan.analysis.compare import compare_conditions
from verifyplan.analysis.conditions import Condition, ReplayedSet, setting_names
from verifyplan.analysis.replay import Setting, replay_under
from verifyplan.errors import InputError, SettingsError
from verifyplan.frames.columns import typed
from verifyplan.protocol.vote import HELD


def from_frame(votes: pd.DataFrame, truth=None) -> vp.RunSet:
    named = {"item": "finding_id", "worker": "worker", "verdict": "verdict", "basis": "disagree_basis"}
    return vp.from_votes(votes, **named, round="round", run="run_id", explanation="explanation", truth=truth)


@settings(max_examples=examples(16))
@given(joined_tables, st.data())
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
    for name in comparison.conditions:
        held = table[f"classification_{name}"].isin(HELD)
        true = table["truth"].astype(bool)
        got = comparison.truth[comparison.truth["condition"] == name].set_index("metric")
        assert got.loc["false-consensus-rate", "n"] == (~true).sum()
        assert got.loc["precision", "value"] == pytest.approx(_share(held & true, held), nan_ok=True)
        assert got.loc["recall", "value"] == pytest.approx(_share(held & true, true), nan_ok=True)
        assert got.loc["false-consensus-rate", "value"] == pytest.approx(_share(held & ~true, ~true), nan_ok=True)
        assert got.loc["false-demotion-rate", "value"] == pytest.approx(_share(~held & true, true), nan_ok=True)
        mix = comparison.mix[comparison.mix["condition"] == name]
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


def one_claim_each(runs: int) -> pd.DataFrame:
    """The runs of `many`, each with claims of its own."""
    return many(runs).assign(finding_id=lambda votes: votes["run_id"] + votes["finding_id"])


def width(comparison: vp.results.Comparison, metric: str = "contested") -> float:
    """The width of the interval of a metric's difference."""
    row = comparison.summary.set_index("metric").loc[metric]
    return row["difference_high"] - row["difference_low"]


def test_runs_are_the_sample_and_so_are_claims_that_repeat_over_runs():
    alike, apart, alone = (vp.compare(from_frame(votes)) for votes in (many(10), one_claim_each(10), many(1)))
    assert (alike.resampled, apart.resampled, alone.resampled) == ("runs and claims", "runs", "claims")
    independent = 2 * 1.96 * np.sqrt(0.25 / 40)
    assert width(apart) > 1.5 * independent, "findings of one run move together, so runs are the sample"
    assert "There is only one run: how much a result changes from run to run is not known" in " ".join(alone.notes)


def test_no_number_of_runs_changes_the_method():
    widths = [width(vp.compare(from_frame(one_claim_each(2 * n)))) for n in range(2, 8)]
    assert all(0.75 < later / earlier < 1 for earlier, later in pairwise(widths))
    notes = " ".join(vp.compare(from_frame(one_claim_each(3))).notes)
    assert "With 3 runs, little is known about how much these differ, so the intervals are wide." in notes
    assert "little is known" not in " ".join(vp.compare(from_frame(one_claim_each(9))).notes)


def test_intervals_need_no_random_draws():
    runs = from_frame(many(41))
    first, other = (vp.compare(runs, seed=seed, resamples=n).summary for seed, n in ((1, 99), (2, 5)))
    pd.testing.assert_frame_equal(first, other)
    assert interval(np.array([np.nan, np.nan])) == pytest.approx((np.nan, np.nan), nan_ok=True)


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
    assert comparison.conditions == ("collaborative", "adversarial")
    assert comparison.findings["changed"].tolist() == [False, True]
    truth = comparison.truth.set_index(["condition", "metric"])["value"]
    assert truth["collaborative", "false-consensus-rate"] == 1
    assert truth["adversarial", "false-consensus-rate"] == 0


def test_sets_that_cannot_be_paired_are_refused():
    collaborative, adversarial = real_runs()
    renamed = vp.RunSet(*(getattr(adversarial, t).assign(run_id="x") for t in ("runs", "findings", "votes")),
                        adversarial.rounds.assign(run_id="x"), adversarial.dispatches.assign(run_id="x"))  # fmt: skip
    assert vp.compare(collaborative, renamed).n_findings == 2, "no run id in common: by finding id"


def test_notes_tell_of_censoring_filled_bases_and_failed_calls():
    votes = many(2)
    votes.loc[votes["verdict"] == "disagree", "disagree_basis"] = None
    votes.loc[0, "verdict"] = "verification-error"
    notes = " ".join(vp.compare(from_frame(votes), max_rounds=2).notes)
    assert "1 of 24 recorded votes is lost (verification-error): the call failed" in notes
    assert "of both modes" not in notes
    assert notes.startswith(
        "Under adversarial, none of the disagreements (4) has a basis, and each is read as burden-not-met (not "
        "proven): adversarial rules then differ from collaborative ones only where "
    )
    counter = vp.compare(from_frame(votes), missing_basis="counter-evidence").notes[0]
    assert counter.endswith("each is read as counter-evidence: one is enough to keep a finding from consensus.")


def test_ties_without_a_basis_are_counted_with_where_they_hold():
    patterns = {"T1": "aadd", "T2": "aadd", "T3": "adda", "M1": "aaad", "M2": "addd"}
    words = {"a": "agree", "d": "disagree"}
    rows = [(claim, str(k), words[each]) for claim, votes in patterns.items() for k, each in enumerate(votes)]
    table = pd.DataFrame(rows, columns=["claim", "judge", "says"])
    runs = vp.from_votes(table, item="claim", worker="judge", verdict="says", mode="collaborative")
    both = vp.compare(runs)
    assert both.changed["why"].tolist() == ["no-majority -> lone-doubt"] * 3
    assert both.notes[1] == (
        "3 of 5 findings are tied: held under adversarial (lone-doubt: the doubters, one or several, are no majority "
        "and cite no counter-evidence), contested under collaborative (no-majority), which is 3 of the 3 that change. "
        "If a tie should not hold, record a basis, or set `majority` below 1/2."
    )
    below = vp.replay(runs, rules={"mode": "adversarial", "majority": "49/100"}).set_index("finding_id")
    assert below.loc[["T1", "T2", "T3"], "classification"].eq("contested").all(), "what the note advises"
    assert "tied" not in " ".join(vp.compare(runs, missing_basis="counter-evidence").notes)


def test_resamples_and_seed_are_checked():
    runs = from_frame(many(2))
    with pytest.raises(SettingsError, match="resamples: must be an integer of at least 1, got 0"):
        vp.compare(runs, resamples=0)
    with pytest.raises(SettingsError, match="seed: must be an integer of at least 0, got -1"):
        vp.compare(runs, seed=-1)


def test_notes_tell_of_pooled_modes_repeated_findings_and_small_samples():
    both = vp.compare(vp.datasets.runs(), resamples=20)
    notes = " ".join(both.notes)
    assert "The runs are of both modes and are judged together." in notes
    assert "720 findings repeat the id and claim of a finding in another run; each is counted, and the" in notes
    few = " ".join(vp.compare(from_frame(many(2)), resamples=20).notes)
    assert few.startswith("Fewer than 20 findings are behind every figure: the intervals say little. ")


def test_an_empty_second_set_is_not_taken_for_none():
    runs = from_frame(many(1))
    with pytest.raises(InputError, match=r"runs: recorded \(2\) has no finding. Fix: give runs with findings"):
        vp.compare(runs, runs.select([]))


@pytest.mark.parametrize("name", ["compare", "replay", "vote_matrix", "queue", "cost"])
def test_what_is_no_set_of_runs_is_refused_in_words(name):
    words = {"replay": {"mode": "adversarial"}}.get(name, {})
    with pytest.raises(InputError, match=r"got a DataFrame\. Fix: give what load"):
        getattr(vp.analysis, name)(pd.DataFrame(), **words)


def test_other_claims_under_one_id_and_split_truths_are_refused():
    collaborative, adversarial = real_runs()
    findings = adversarial.findings
    other = dataclasses.replace(adversarial, findings=findings.assign(summary=["F", "another claim"]))
    with pytest.raises(
        InputError,
        match="1 finding of one id make another claim in adversarial than",
    ):
        vp.compare(collaborative, other)
    with pytest.raises(InputError, match="1 finding of one id are true in adversarial and false in a set before"):
        vp.compare(collaborative, adversarial.with_truth({"F": False}))


def test_f1_and_the_difference_and_its_interval_by_hand():
    """Runs alike but for one: 20 true findings held under both, in the last run adversarially refuted."""
    votes = many(20, each=1)
    votes["truth"] = True
    comparison = vp.compare(from_frame(votes, "truth"))
    summary = comparison.summary.set_index("metric")
    assert summary.loc["f1", "adversarial"] == pytest.approx(2 * 0.5 / 1.5)  # precision 1, recall 10 of 20
    held = summary.loc["held"]
    assert (held["collaborative"], held["adversarial"], held["difference"]) == (1.0, 0.5, -0.5)
    deviation = np.sqrt(0.25 / 20)  # of a share of one half among 20 runs
    assert held["difference_high"] - held["difference_low"] == pytest.approx(2 * 1.96 * deviation, rel=0.15)
    assert held["difference_high"] < 0


def test_findings_that_nobody_judged_are_told():
    votes = many(2)
    votes.loc[votes["finding_id"] == "F0", ["verdict", "disagree_basis"]] = ["verification-error", None]
    notes = " ".join(vp.compare(from_frame(votes), resamples=10).notes)
    assert "Under collaborative and adversarial, 2 findings have no vote that counts, and count as not held." in notes


def test_each_condition_can_have_rounds_and_bases_of_its_own():
    votes = many(2)
    later = votes[(votes["run_id"] == "r1")].assign(round=2, verdict="agree", disagree_basis=None)
    runs = from_frame(pd.concat([votes, later], ignore_index=True))
    one, two = Setting("adversarial", 1), Setting("adversarial", 2)
    comparison = vp.compare(runs, modes=[one, two], max_rounds=7, resamples=20)  # 7 is for modes that are no Settings
    assert comparison.conditions == ("adversarial, 1 round", "adversarial, 2 rounds")
    for name, rounds in zip(comparison.conditions, (1, 2), strict=True):
        alone = vp.replay(runs, "adversarial", max_rounds=rounds)
        columns = ["classification", "rule", "decided_round", "censored"]
        got = comparison.findings[[f"{column}_{name}" for column in columns]]
        assert got.to_numpy().tolist() == alone[columns].to_numpy().tolist()
    assert comparison.findings["changed"].any()


def test_a_condition_fills_in_missing_bases_in_its_own_way_and_is_called_by_it():
    votes = many(2).assign(disagree_basis=None)
    settings = [Setting("adversarial", missing_basis=basis) for basis in ("counter-evidence", "burden-not-met")]
    comparison = vp.compare(from_frame(votes), modes=settings, resamples=20)
    named = [f"adversarial, missing bases: {one.missing_basis}" for one in settings]
    assert list(comparison.conditions) == named
    rules = comparison.findings[comparison.findings["changed"]]
    assert set(zip(*(rules[f"rule_{name}"] for name in named), strict=True)) == {("hard-refute", "lone-doubt")}


def test_settings_that_are_the_same_are_still_told_apart():
    runs = from_frame(many(2))
    comparison = vp.compare(runs, modes=[Setting("adversarial"), "adversarial"], resamples=20)
    assert comparison.conditions == ("adversarial (1)", "adversarial (2)")
    assert not comparison.findings["changed"].any()


def conditions(source: ReplayedSet, *settings: Setting) -> list[Condition]:
    """Conditions of one set, as the widget makes them."""
    names = setting_names(settings, [source.frames] * len(settings))
    return [Condition(name, source, setting.rules) for name, setting in zip(names, settings, strict=True)]


@pytest.mark.parametrize("wrong", [True, [1], 0, 1.5])
def test_a_wrong_number_of_rounds_is_refused_also_where_a_like_one_was_replayed_before(wrong):
    source, one = ReplayedSet(from_frame(many(2))), Setting("adversarial", 1)
    compare_conditions(conditions(source, one, one), several_sets=False)
    with pytest.raises(SettingsError, match=r"max_rounds: .* is out of range"):
        compare_conditions(
            [Condition("wrong", source, Setting("adversarial", wrong).rules), *conditions(source, one)],
            several_sets=False,
        )
    with pytest.raises(SettingsError, match=r"max_rounds: .* is out of range"):
        vp.compare(source.frames, modes=[one, Setting("adversarial", wrong)])


def test_conditions_of_one_set_share_its_replays(monkeypatch):
    replayed = []
    monkeypatch.setattr(
        "verifyplan.analysis.conditions.replay_under",
        lambda runs, rules, code: replayed.append(rules) or replay_under(runs, rules, code),
    )
    source = ReplayedSet(from_frame(many(2)))
    a, b = Setting("collaborative"), Setting("adversarial")
    for _ in range(2):
        again = compare_conditions(conditions(source, a, b), several_sets=False)
        back = compare_conditions(conditions(source, b, a), several_sets=False)
    assert replayed == [a.rules, b.rules]
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
        "Under collaborative and adversarial, the class of 1 finding rests on fewer votes than were asked for: 1 vote "
        "in the deciding rounds was lost." in notes
    )
    assert "Under adversarial, 1 finding lost counter-evidence: a worker cited it in an earlier round" in notes
    assert "The first is F." in notes
    assert comparison.findings[["lost_votes_adversarial", "lost_refutes_adversarial"]].to_numpy().tolist() == [[1, 1]]
    assert comparison.findings["lost_refutes_collaborative"].tolist() == [0], "no basis matters collaboratively"


def imported(mode: str | None, runs: int = 1, **columns: object) -> vp.RunSet:
    votes = many(runs).assign(**columns)
    named = {"item": "finding_id", "worker": "worker", "verdict": "verdict", "basis": "disagree_basis"}
    return vp.from_votes(votes, **named, run="run_id", mode=mode)


def test_two_imported_tables_one_of_each_mode_are_compared_as_what_they_are():
    comparison = vp.compare(imported("collaborative", 2), imported("adversarial", 2), resamples=20)
    assert comparison.conditions == ("collaborative", "adversarial")
    rules = comparison.findings.groupby("run_id")[["rule_collaborative", "rule_adversarial"]].first()
    assert rules.astype("str").to_numpy().tolist() == [["all-agree", "survived"], ["majority-agree", "hard-refute"]]
    assert not [note for note in comparison.notes if "names no mode" in note or "The sets differ" in note]


def test_a_table_of_unknown_mode_is_told_where_it_is_read_as_recorded():
    notes = vp.compare(imported(None, 2), imported("adversarial", 2), resamples=20).notes
    (note,) = [note for note in notes if "names no mode" in note]
    assert note.startswith("The table of recorded names no mode, so it is read as collaborative.")
    assert not [note for note in vp.compare(imported(None), resamples=20).notes if "names no mode" in note]
    one_set = vp.compare(imported(None), rules=["majority", "two-thirds", "unanimous"], resamples=20).notes
    assert len([note for note in one_set if "names no mode" in note]) == 1, "said once of one set"


def test_a_recorded_class_that_the_votes_do_not_give_is_a_note():
    runs = imported("adversarial", 2)
    given = vp.replay(runs, "recorded")["classification"].astype("object")
    sound = dataclasses.replace(runs, findings=runs.findings.assign(classification=given))
    changed = dataclasses.replace(
        runs, findings=runs.findings.assign(classification=given.where(given.index != 1, "contested"))
    )
    for one in (sound, runs):
        assert not [note for note in vp.compare(one, resamples=20).notes if "other than the recorded" in note]
    (note,) = [note for note in vp.compare(changed, resamples=20).notes if "other than the recorded" in note]
    assert note == (
        "The votes of 1 finding give a class other than the recorded one. The first is F1 of run r0: recorded as "
        "contested, but its votes give full-consensus."
    )
    (note,) = [note for note in vp.compare(sound, changed, resamples=20).notes if "other than the recorded" in note]
    assert note.startswith("The votes of 1 finding of adversarial (2) give a class other")


def calls_to(model: str) -> pd.DataFrame:
    return typed("calls", {"run_id": ["r0"], "call_id": ["r1/b"], "model": [model]})


CONFOUNDS = {
    "workers": (lambda one: {"votes": one.votes.assign(worker=one.votes["worker"].replace("c", "z"))}, "c", "z"),
    "allowed rounds": (lambda one: {"runs": one.runs.assign(effective_max_rounds=3)}, "1", "3"),
    "access to evidence": (
        lambda one: {"runs": one.runs.assign(verification_mode="full-reanalysis")}, "lightweight", "full-reanalysis"
    ),
    "backends": (lambda one: {"runs": one.runs.assign(backend="anthropic")}, "static", "anthropic"),
    "models": (lambda _: {"calls": calls_to("m-2")}, "m-1", "m-2"),
    "prompts": (lambda one: {"runs": one.runs.assign(prompts="base 1 aa; worker 2 cc")}, "worker 1 bb", "worker 2 cc"),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFOUNDS)
def test_what_differs_beside_the_mode_is_named(name):
    one = imported("collaborative")
    runs = one.runs.assign(verification_mode="lightweight", backend="static", prompts="base 1 aa; worker 1 bb")
    one = dataclasses.replace(one, runs=runs, calls=calls_to("m-1"))
    change, first, second = CONFOUNDS[name]
    other = dataclasses.replace(one, **change(one))
    assert not [note for note in vp.compare(one, one, resamples=20).notes if "The sets differ" in note]
    found = [note for note in vp.compare({"x": one, "y": other}, resamples=20).notes if "The sets differ" in note]
    assert found == [
        f"The sets differ in their {name}: {first} in x; {second} in y. This alone may explain a "
        "difference between the conditions."
    ]


def test_sets_whose_votes_are_counted_by_different_rules_say_so_whatever_their_names():
    one, other = imported("collaborative"), imported("adversarial")

    def rules_notes(*runs, **more):
        return [note for note in vp.compare(*runs, resamples=20, **more).notes if "different rules" in note]

    assert rules_notes({"x": one, "y": other}) == [
        "The votes are counted by different rules: x by the collaborative rules; y by the adversarial rules. This "
        "alone may explain a part of the difference. To count all by the same rules, give "
        "modes=['collaborative', 'collaborative']."
    ]
    assert rules_notes({"x": one, "y": other}, modes=["adversarial"] * 2) == []
    assert len(rules_notes(one, other)) == 1  # named by their modes, the sets may be taken to differ in prompts alone
    assert rules_notes(one) == []


def test_what_was_not_recorded_is_no_difference_nor_are_rounds_that_both_settings_say():
    one = imported("collaborative")
    logged = dataclasses.replace(one, runs=one.runs.assign(backend="static", effective_max_rounds=2))
    notes = vp.compare(one, logged, resamples=20).notes
    (note,) = [note for note in notes if "The sets differ" in note]
    assert note.startswith("The sets differ in their allowed rounds: 1 in collaborative (1); 2 in collaborative (2).")
    assert not [note for note in vp.compare(one, logged, max_rounds=1, resamples=20).notes if "The sets differ" in note]


def claiming(text: str, **columns: object) -> vp.RunSet:
    votes = many(1).assign(text=text, **columns)
    return vp.from_votes(votes, item="finding_id", worker="worker", verdict="verdict", summary="text")


def test_claims_are_the_same_whatever_their_case_and_spaces_and_others_are_refused():
    assert vp.compare(claiming("f has no check"), claiming(" F has\n no  check"), resamples=9).n_findings == 4
    with pytest.raises(InputError, match=r"4 findings of one id make another claim in .*, the first is 'F0'"):
        vp.compare(claiming("f has no check"), claiming("f has a check"))


def test_sets_that_share_no_finding_show_the_ids_of_both():
    both = vp.compare(claiming("f"), claiming("f", finding_id="X", worker=[f"w{i}" for i in range(12)]))
    assert both.notes[0] == (
        "No finding is in all sets, so that they are compared unpaired: 'F0', 'F1', 'F2' in recorded (1); 'X' in "
        "recorded (2)."
    )
    assert both.paired_by is None


def test_a_metric_that_there_is_not_is_told_with_those_that_there_are():
    votes = pd.DataFrame({"i": ["F", "G"], "w": "a", "v": "agree", "t": [True, False]})
    known = vp.compare(vp.from_votes(votes, item="i", worker="w", verdict="v", truth="t"), resamples=5)
    assert known.in_words("false-consensus") == known.in_words("false-consensus-rate")
    with pytest.raises(SettingsError, match=r"'precison' is not a metric of .*did you mean 'precision'.*'changed'"):
        known.in_words("precison")
    unknown = vp.compare(vp.from_votes(votes, item="i", worker="w", verdict="v"), resamples=5)
    with pytest.raises(SettingsError, match="others need findings whose truth is known"):
        unknown.in_words("false-consensus")


def test_accuracy_is_a_metric_with_an_interval_and_a_paired_difference():
    both = vp.compare("stdlib-claims/adversarial", resamples=10)
    row = both.summary.set_index("metric").loc["accuracy"]
    truth = both.findings["truth"].astype(bool)
    right = {name: both.findings[f"classification_{name}"].isin(HELD).eq(truth) for name in both.conditions}
    first, second = both.conditions
    assert (row[first], row[second]) == pytest.approx((right[first].mean(), right[second].mean()))
    assert row["difference"] == pytest.approx(right[second].mean() - right[first].mean())
    assert row["difference_low"] < row["difference"] < row["difference_high"]
    assert row[f"{first}_low"] < row[first] < row[f"{first}_high"]
    assert row[f"{first}_n"] == truth.size
    swapped = vp.compare("stdlib-claims/adversarial", modes=[second, first], resamples=10).summary.set_index("metric")
    ends = swapped.loc["accuracy", ["difference", "difference_high", "difference_low"]].to_numpy(dtype=float)
    np.testing.assert_allclose(-ends, row[["difference", "difference_low", "difference_high"]].to_numpy(dtype=float))
    words = both.in_words("accuracy")
    assert words.startswith(f"accuracy, {' against '.join(both.conditions)}: ")
    assert f"(n = 720), difference {100 * row['difference']:+.1f} points [" in words


def test_accuracy_is_not_a_metric_where_truth_is_not_known():
    votes = pd.DataFrame({"i": ["F"], "w": "a", "v": "agree"})
    unknown = vp.compare(vp.from_votes(votes, item="i", worker="w", verdict="v"), resamples=5)
    assert "accuracy" not in set(unknown.summary["metric"])
    with pytest.raises(SettingsError, match=r"'accuracy' is not a metric .*whose truth is known"):
        unknown.in_words("accuracy")


def test_a_mistyped_mode_or_reading_of_bases_is_told_with_the_one_that_was_meant():
    votes = pd.DataFrame({"i": ["F"], "w": "a", "v": "agree"})
    runs = vp.from_votes(votes, item="i", worker="w", verdict="v")
    with pytest.raises(SettingsError, match=r"'infre' is unknown \(did you mean 'infer'\?\)"):
        vp.replay(runs, "adversarial", missing_basis="infre")


def judged_by(name: str, runs: int = 2, refuted: int = 0) -> vp.RunSet:
    """Runs of one judge's name, in which the first findings are refuted by counter-evidence, and the others are not."""
    votes = many(runs)
    bad = votes["finding_id"].isin([f"F{number}" for number in range(refuted)]) & votes["worker"].eq("b")
    votes = votes.assign(
        worker=name + votes["worker"],
        verdict=np.where(bad, "disagree", "agree"),
        disagree_basis=np.where(bad, "counter-evidence", None),
        truth=True,
    )
    named = {"item": "finding_id", "worker": "worker", "verdict": "verdict", "basis": "disagree_basis"}
    return vp.from_votes(votes, **named, run="run_id", truth="truth", mode="adversarial")


def test_many_sets_are_compared_with_the_first_and_two_of_them_with_each_other():
    sets = {name: judged_by(name, 12, refuted) for refuted, name in enumerate(("gpt", "claude", "gemini"))}
    comparison = vp.compare(sets, resamples=50)
    assert comparison.conditions == ("gpt", "claude", "gemini")
    summary = comparison.summary.set_index("metric")
    assert summary.loc["recall", ["gpt", "claude", "gemini"]].tolist() == [1, 0.75, 0.5]
    assert summary.loc["recall", ["difference_claude", "difference_gemini"]].tolist() == [-0.25, -0.5]
    assert summary.loc["changed", "difference_gemini"] == 0.5
    assert comparison.findings["changed"].sum() == 24, "F0 and F1 in each of twelve runs"
    assert comparison.truth["condition"].unique().tolist() == list(comparison.conditions)
    assert comparison.tests["condition"].unique().tolist() == ["claude", "gemini"]
    concluding = comparison.tests[comparison.tests["role"].eq("concluding")]
    assert concluding[["condition", "of"]].values.tolist() == [["claude", "accuracy"], ["gemini", "accuracy"]]
    words = comparison.in_words("accuracy")
    assert "claude 75.0 % [16.3, 97.9] (n = 48), difference -25.0 points [-100.0, +" in words
    assert (
        f"p = {concluding['p_value'].iloc[0]:.4f} (adjusted for 2 conditions): no difference is shown; gemini 50."
        in words
    )
    assert "difference -25.0 points [-100.0, +73.6], exploratory (p = " in comparison.in_words("held")
    assert ", adjusted for 18 tests by Holm = 1.0000); gemini" in comparison.in_words("held")
    assert "findings whose class differs: claude 25.0 % [2.1, 83.7] (n = 48); gemini 50.0 %" in str(comparison)
    (note,) = [note for note in comparison.notes if "The sets differ" in note]
    assert "claudea, claudeb, claudec in claude; geminia, geminib, geminic in gemini" in note
    pair = comparison.between("claude", "gemini")
    pd.testing.assert_frame_equal(
        pair.summary, vp.compare({"claude": sets["claude"], "gemini": sets["gemini"]}, resamples=50).summary
    )
    assert pair.transitions.loc["full-consensus", "contested"] == 12
    assert list(comparison.pairs) == ["claude", "gemini"]
    assert comparison.between("gpt", "claude").summary["difference"].tolist()[:3] == pytest.approx(
        comparison.summary["difference_claude"].tolist()[:3]
    )


def test_what_two_of_many_conditions_are_is_checked():
    comparison = vp.compare({name: judged_by(name) for name in ("gpt", "claude", "gemini")}, resamples=5)
    with pytest.raises(SettingsError, match=r"transitions: are those between two conditions, .* has 3\. .*\.between\("):
        comparison.transitions  # noqa: B018  (looking it up is the test)
    with pytest.raises(SettingsError, match=r"'gemni' is not a condition \(did you mean 'gemini'\?\)"):
        comparison.between("gpt", "gemni")
    with pytest.raises(SettingsError, match=r"must name two conditions, got 'gpt' twice\. Fix: use two of"):
        comparison.between("gpt", "gpt")


def test_findings_that_are_not_in_all_sets_are_left_out_and_counted():
    sets = {"gpt": judged_by("gpt"), "claude": judged_by("claude", 1), "gemini": judged_by("gemini")}
    comparison = vp.compare(sets, resamples=5)
    assert comparison.n_findings == 4
    assert comparison.notes[0] == "4 findings are left out, as they are not in all sets."
    assert comparison.between("gpt", "gemini").n_findings == 4, "over the findings of the whole comparison"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (lambda one: ({"gpt": one},), r"runs: must name at least two conditions, got 'gpt'\. Fix: add a set"),
        (lambda _: ({},), "must name at least two conditions, got none"),
        (lambda one: ({3: one, "": one},), "a condition must have a printable text as its name, got 3"),
        (lambda one: ({"x": one, chr(0xD800): one},), r"a printable text as its name, got '\\ud800'"),
        (lambda one: ({"metric": one, "b": one},), r"the names 'metric', 'b' make two columns 'metric' of \.summary"),
        (lambda one: ({"x": one, "x_low": one},), r"make two columns 'x_low' of \.summary"),
        (lambda one: ({"x": one, "difference": one},), r"make two columns 'difference'"),
        (lambda one: ({"x": one, "y": one}, one), r"other: does not go with a mapping of sets\. Fix: put it into"),
        (lambda one: ({"x": one, "y": 3},), r"runs\['y'\]: must be a RunSet, a run, a path .*, got a int"),
    ],
)
def test_sets_that_make_no_conditions_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        vp.compare(*arguments(judged_by("a")))


@pytest.mark.parametrize(
    ("modes", "n_sets", "message"),
    [
        ("adversarial", 1, r"modes: must be a list of modes and Settings, got 'adversarial'\. Fix: write a list"),
        (Setting("adversarial"), 1, r"must be a list of modes and Settings, got Setting\("),
        (["adversarial"], 1, r"modes: must name at least two conditions, got 1\. Fix: name another"),
        (["adversarial"] * 3, 2, "modes: must have an entry for each of 2 sets, got 3"),
        (["adverserial", "collaborative"], 1, r"mode: 'adverserial' is unknown \(did you mean 'adversarial'\?\)"),
    ],
)
def test_modes_that_make_no_conditions_are_refused(modes, n_sets, message):
    with pytest.raises(SettingsError, match=message):
        vp.compare(*[judged_by("a")] * n_sets, modes=modes)


def test_the_numbers_of_two_conditions_are_those_of_before():
    """Values were recorded before more than two conditions could be compared, intervals with those of clusters."""
    sets = [vp.datasets.runs(f"stdlib-claims/{mode}") for mode in ("collaborative", "adversarial")]
    row = vp.compare(*sets, resamples=200, seed=3).summary.set_index("metric").loc["false-consensus-rate"]
    shares = [57.5, 52.924848, 61.950179, 5.555556, 3.334533, 9.116411, -51.944444, -56.450331, -47.07434]
    assert list(100 * row.drop(["collaborative_n", "adversarial_n"])) == pytest.approx(shares, abs=1e-5)


def every_round(*cast: tuple[str, int, str, str]) -> vp.RunSet:
    """Votes of one run without discoverers, as (finding, round, worker, verdict)."""
    table = pd.DataFrame(cast, columns=["item", "round", "who", "says"])
    return vp.from_votes(table, item="item", worker="who", verdict="says", round="round")


def test_votes_after_the_deciding_round_are_counted_in_a_note():
    settled = [("F", number, who, "agree") for number in (1, 2) for who in "ab"]
    open_ = [("G", number, who, says) for number in (1, 2) for who, says in (("a", "agree"), ("b", "disagree"))]
    comparison = vp.compare(every_round(*settled, *open_), modes=["collaborative"] * 2, resamples=5)
    (note,) = [note for note in comparison.notes if "not read" in note]
    assert note == (
        "Under collaborative (1) and collaborative (2), 1 of 2 findings was decided before the last round that has "
        "votes for it; its later votes are not read (rule B6; see explain)."
    )
    undecided = vp.compare(every_round(*open_), modes=["collaborative"] * 2, resamples=5)
    assert not [note for note in undecided.notes if "not read" in note]
    both_late = vp.compare(every_round(*settled, *(("H", *row[1:]) for row in settled)), resamples=5)
    assert "2 of 2 findings were decided before the last round that has votes for them; their" in str(both_late)


def test_without_discoverers_a_note_says_what_worker_unique_means():
    def meaning(runs):
        return [note for note in vp.compare(runs, resamples=5).notes if "worker-unique means" in note]

    broken = [("F", 1, who, "disagree") for who in "ab"]
    words = "The findings have no discoverers: worker-unique means that everybody whose vote counts disagreed"
    assert meaning(every_round(*broken)) == [f"{words}."]
    assert meaning(every_round(*broken, ("G", 1, "a", "verification-error"))) == [f"{words}, or that no vote counts."]
    assert meaning(every_round(("F", 1, "a", "agree"))) == []
    assert meaning("contract") == []


def test_what_worker_unique_means_follows_from_the_rules():
    def note_under(runs, *rules):
        [note] = [note for note in vp.compare(runs, rules=list(rules), resamples=5).notes if "discoverers" in note]
        return note.removeprefix("The findings have no discoverers: ")

    split = [("F", 1, "a", "agree"), ("F", 1, "b", "disagree"), ("F", 1, "c", "disagree")]
    most = "worker-unique means that more than half, but not all, disagreed"
    assert note_under(every_round(*split), "majority", "collaborative") == f"{most}."
    everybody = "worker-unique means that everybody whose vote counts disagreed"
    assert note_under(every_round(*split, ("G", 1, "a", "disagree")), "collaborative", "majority") == (
        f"under collaborative {everybody}; under majority {everybody}, or that more than half, but not all, disagreed."
    )
    three_of_four = every_round(*split, ("F", 1, "d", "disagree"))
    assert note_under(three_of_four, "two-thirds", "any-refute") == (
        "under two-thirds worker-unique means that more than 2/3, but not all, disagreed; "
        "under any-refute worker-unique means that somebody disagreed."
    )


def test_what_is_the_same_under_all_conditions_is_one_note():
    runs = every_round(("F", 1, "a", "agree"), ("G", 1, "a", "agree"))
    single = "the classes of 2 findings rest on a single vote."
    assert f"Under collaborative and adversarial, {single}" in vp.compare(runs, resamples=5).notes
    three = vp.compare({"x": runs, "y": runs, "z": runs}, resamples=5)
    assert f"Under every condition, {single}" in three.notes
    assert len([note for note in three.notes if "one run" in note]) == 1


def concluding(comparison: vp.results.Comparison) -> pd.Series:
    return comparison.tests[comparison.tests["role"].eq("concluding")].iloc[0]


def test_the_conclusion_is_that_of_the_interval_and_of_its_test():
    own = vp.compare(from_frame(one_claim_each(24)), resamples=200)
    test = concluding(own)
    assert (test["of"], test["test"], test["clusters"]) == ("held", "clustered-t", 24)
    (line,) = own.conclusions
    assert line in str(own).splitlines()
    assert line.startswith("held: 100.0 % against 50.0 % (n = 96), difference -50.0 points [-")
    assert line.endswith(f"], p = {test['p_value']:.4f}: a difference is shown")
    (few,) = vp.compare(from_frame(one_claim_each(2)), resamples=5).conclusions
    assert few.endswith(
        f"], p = {concluding(vp.compare(from_frame(one_claim_each(2))))['p_value']:.4f}: no difference is shown"
    )
    (same,) = vp.compare(from_frame(one_claim_each(9)), modes=["adversarial"] * 2, resamples=5).conclusions
    assert same.endswith("], p = 1.0000: no difference is shown")


def test_a_metric_is_named_beforehand_and_the_others_are_exploratory():
    both = vp.compare("stdlib-claims/collaborative", "stdlib-claims/adversarial", metric="false-consensus")
    assert both.metric == "false-consensus-rate"
    assert concluding(both)["of"] == "false-consensus-rate"
    exploratory = both.tests[both.tests["role"].eq("exploratory")]
    assert set(exploratory["of"]) == {*both.summary["metric"], "classes"} - {"changed", "false-consensus-rate"}
    assert exploratory["p_holm"].notna().all()
    assert both.tests.loc[~both.tests["role"].eq("exploratory"), "p_holm"].isna().all()
    (line,) = both.conclusions
    assert line.startswith("false-consensus-rate: ")
    assert line.endswith(": a difference is shown")
    assert "\nfalse-consensus-rate (exploratory)" not in str(both)
    assert "\nprecision (exploratory): " in str(both)
    assert ", exploratory (p < 0.0001, adjusted for 11 tests by Holm " in both.in_words("accuracy")
    with pytest.raises(SettingsError, match=r"'presicion' is not a metric .*did you mean 'precision'"):
        vp.compare("stdlib-claims/adversarial", metric="presicion", resamples=5)
    with pytest.raises(SettingsError, match="'changed' is not a metric"):
        vp.compare("stdlib-claims/adversarial", metric="changed", resamples=5)


def test_a_named_metric_that_no_finding_counts_for_is_not_passed_over_in_silence():
    sets = {"long": with_wrong(0, "a"), "short": with_wrong(6, "a")}  # of true claims
    both = vp.compare(sets, metric="false-consensus-rate", resamples=5)
    words = "no finding counts under long and short (n = 0): whether they differ is not known"
    assert both.conclusions == [f"false-consensus-rate: {words}"]
    assert np.isnan(concluding(both)["p_value"])


def test_the_conclusion_is_of_accuracy_where_truth_is_known():
    sets = {name: judged_by(name, 1, refuted) for refuted, name in enumerate(("gpt", "claude", "gemini"))}
    claude, gemini = vp.compare(sets, resamples=5).conclusions
    assert claude.startswith("accuracy: gpt 100.0 % against claude 75.0 % (n = 4; held and true, or not held and ")
    assert claude.endswith(" (adjusted for 2 conditions, of one run: others may differ): no difference is shown")
    assert gemini.startswith("accuracy: gpt 100.0 % against gemini 50.0 % (n = 4), ")
    (line,) = vp.compare({"long": with_wrong(0, "a"), "short": with_wrong(20, "a")}).conclusions
    assert line.endswith(", p < 0.0001 (of one run: others may differ): a difference is shown")


def with_wrong(n_wrong: int, name: str) -> vp.RunSet:
    """One judge of 40 true claims in one run, the first of which it rejects."""
    labels = pd.DataFrame({"item": [f"F{i:02}" for i in range(40)], "worker": name, "truth": True})
    labels = labels.assign(vote=np.where(np.arange(40) < n_wrong, "disagree", "agree"))
    return vp.from_votes(labels, item="item", worker="worker", verdict="vote", truth="truth")


@pytest.mark.parametrize("n_wrong", range(12))
@pytest.mark.parametrize("n_conditions", [2, 3])
def test_an_interval_and_a_conclusion_never_disagree(n_wrong, n_conditions):
    sets = {"long": with_wrong(0, "a"), "short": with_wrong(n_wrong, "a"), "none": with_wrong(1, "a")}
    both = vp.compare(dict(list(sets.items())[:n_conditions]), resamples=50)
    row = both.summary.set_index("metric").loc["accuracy"]
    column = "difference" if n_conditions == 2 else "difference_short"
    leaves_0_out = row[f"{column}_high"] < 0
    assert leaves_0_out == (concluding(both)["p_value"] < 0.05)
    shown = "a difference is shown" if leaves_0_out else "no difference is shown"
    assert both.conclusions[0].endswith(f": {shown}")
    assert shown in both.in_words("accuracy")
    assert leaves_0_out == (n_wrong >= (5 if n_conditions == 2 else 6)), "of 40 pairs, by Bonett and Price"


def test_several_conclusions_hold_together():
    sets = {"long": with_wrong(0, "a"), "short": with_wrong(7, "a"), "none": with_wrong(1, "a")}
    three = vp.compare(sets, resamples=5)
    two = three.between("long", "short")
    ends = ["difference_short_low", "difference_short_high"]
    wide, plain = (three.summary.set_index("metric")[ends].loc[name] for name in ("accuracy", "held"))
    of_two = two.summary.set_index("metric").loc["accuracy", ["difference_low", "difference_high"]]
    assert plain.to_numpy() == pytest.approx(of_two.to_numpy(dtype=float)), "an exploratory one is of 95 %"
    assert wide.iloc[0] < plain.iloc[0] < plain.iloc[1] < wide.iloc[1]
    assert concluding(three)["p_value"] == pytest.approx(2 * concluding(two)["p_value"])


def test_the_head_line_says_which_condition_is_subtracted_from_which():
    sets = {name: with_wrong(wrong, "a") for wrong, name in enumerate(("long", "short", "none"))}
    head, *_ = str(vp.compare({name: sets[name] for name in ("long", "short")}, resamples=5)).splitlines()
    assert head == "long against short: 40 findings of 1 run each (difference = short - long)"
    head, *_ = str(vp.compare(sets, resamples=5)).splitlines()
    assert head.endswith(" of 1 run each (each difference = the condition named before it - long)")


def test_notes_that_differ_in_their_numbers_are_one_and_those_that_change_the_reading_come_first():
    rows = [(f"F-{item}", who) for item in range(30) for who in "abc"]
    votes = pd.DataFrame(rows, columns=["item", "who"]).assign(says="agree")
    sets = {}
    for name, lost in (("x", [0, 3]), ("y", [0, 3, 6])):  # one vote of a finding each
        table = votes.assign(says=votes["says"].mask(votes.index.isin(lost), "verification-error"))
        sets[name] = vp.from_votes(table, item="item", worker="who", verdict="says")
    notes = vp.compare(sets, resamples=5).notes
    assert notes[0].startswith("No finding changes class between x and y.")
    assert notes[1].startswith("There is only one run")
    assert (
        "Under x and y, the classes of 2 (x) and 3 (y) findings rest on fewer votes than were asked for: 2 (x) and "
        "3 (y) votes in the deciding rounds were lost." in notes
    )
    assert notes[-1].startswith("The tables of x and y name no mode, so they are read as collaborative. If their")


def test_sets_of_different_numbers_of_runs_name_both():
    votes = many(1)
    own_runs = vp.from_votes(votes.assign(run=votes["finding_id"]), item="finding_id", worker="worker", run="run",
                             verdict="verdict")  # fmt: skip
    one_run = vp.from_votes(votes, item="finding_id", worker="worker", verdict="verdict")
    head = str(vp.compare({"one": one_run, "own": own_runs}, resamples=5)).splitlines()[0]
    assert head == "one against own: 4 findings of 1 and 4 runs (difference = own - one)"
