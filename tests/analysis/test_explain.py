"""rule F2: the words name the rule, the tally and the votes; and which finding is meant is never guessed."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.analysis.explain import RULE_MEANINGS, meaning_of
from verifyplan.errors import InputError, SettingsError
from verifyplan.rules.classification import RULES, RULES_OF_MODE, Tally, rule_index

VOTES = pd.DataFrame(
    [
        ("r1", "F", 1, "ann", "agree", "fine"),
        ("r1", "F", 1, "bob", "disagree", "m.py:7 says otherwise <b>"),
        ("r1", "G", 1, "ann", "agree", ""),
        ("r2", "F", 1, "ann", "disagree", "not proven"),
        ("r2", "F", 1, "bob", "verification-error", "timeout"),
    ],
    columns=["run", "item", "round", "who", "says", "why"],
)
RUNS = vp.from_votes(VOTES, item="item", worker="who", verdict="says", round="round", run="run", explanation="why")


def test_every_rule_has_words():
    assert set(RULE_MEANINGS) == set(RULES)


IS_TRUE = {
    "no vote counts besides those of its discoverers": lambda t: t.n == 0,
    "nobody whose vote counts disagreed": lambda t: t.disagree == 0,
    "no vote that counts refutes it": lambda t: t.disagree == 0,
    "but somebody found a limit": lambda t: t.supplement > 0,
    "somebody disagreed": lambda t: t.disagree > 0,
    "one or several disagreed": lambda t: t.disagree > 0,
    "but more than half agreed": lambda t: 2 * (t.agree + t.supplement) > t.n,
    "but no more than half agreed": lambda t: 2 * (t.agree + t.supplement) <= t.n,
    "with a supplement or without": lambda t: t.n > 0,  # says what agreeing is
    "but without counter-evidence": lambda t: (t.counter_evidence == 0) & (t.disagree > 0),
    "and no more than half did": lambda t: 2 * t.disagree <= t.n,
    "more than half": lambda t: 2 * t.burden_not_met > t.n,
    "but not all": lambda t: t.burden_not_met < t.n,
    "found that the claim was not proved": lambda t: t.burden_not_met > 0,
    "somebody cited counter-evidence": lambda t: t.counter_evidence > 0,
    "and not everybody disagreed": lambda t: t.disagree < t.n,
    "not everybody disagreed": lambda t: t.disagree < t.n,
    "everybody whose vote counts disagreed": lambda t: (t.disagree == t.n) & (t.n > 0),
    "so at most its discoverers hold it": lambda t: t.agree + t.supplement == 0,
    "disagreed": lambda t: t.disagree > 0,
    "and these rules need no more to reject a claim": lambda t: t.disagree > 0,
    "votes that count were given for the claim and against it": lambda t: (t.disagree > 0) & (t.disagree < t.n),
    "and these rules need all on one side": lambda t: (t.disagree > 0) & (t.disagree < t.n),
}
"""Each clause of the words of the rules, as what it says of a tally."""


@pytest.mark.parametrize("mode", ["adversarial", "collaborative"])
def test_the_words_of_a_rule_are_true_of_every_tally_that_leads_to_it(mode):
    tally = Tally(*np.array(list(product(range(7), repeat=4))).T)
    decides = rule_index(tally, mode)
    for index, rule in enumerate(RULES_OF_MODE[mode]):
        assert (decides == index).any()
        for clause in RULE_MEANINGS[rule].split(", "):
            assert IS_TRUE[clause](tally)[decides == index].all(), (rule, clause)


@pytest.mark.parametrize("share", ["1/2", "2/3", "1/3", "0"])
@pytest.mark.parametrize("judged_by", ["adversarial", "collaborative", "majority", "unanimous", "any-refute"])
def test_the_words_of_a_rule_are_true_under_every_share_and_aggregate(judged_by, share):
    tally = Tally(*np.array(list(product(range(5), repeat=4))).T)
    rules = vp.VotingRules(majority=share)
    decides = rule_index(tally, judged_by, rules.majority)
    needed = float(rules.majority) * tally.n + 1e-9
    shares = {
        "but more than SHARE agreed": tally.agree + tally.supplement > needed,
        "but no more than SHARE agreed": tally.agree + tally.supplement <= needed,
        "and no more than SHARE did": tally.disagree <= needed,
        "more than SHARE": (tally.disagree if judged_by == "majority" else tally.burden_not_met) > needed,
        "but not all": tally.disagree < tally.n,
    }
    half = "half" if share == "1/2" else str(rules.majority)
    for index, rule in enumerate(RULES_OF_MODE[judged_by]):
        for clause in meaning_of(rule, rules).split(", "):
            named = clause.replace(f"than {half}", "than SHARE")
            holds = shares[named] if named in shares else IS_TRUE[clause](tally)
            assert holds[decides == index].all(), (rule, clause)


def test_a_weighed_majority_is_one_of_weight():
    weighed = meaning_of("majority-agree", vp.VotingRules(weights={"ann": 3}))
    assert weighed == "somebody disagreed, but more than half of the weight agreed, with a supplement or without"


STICKY = {"mode": "adversarial", "refutes": "sticky"}


def test_the_field_that_decides_is_named_and_what_votes_count_as():
    cast = [(1, "ann", "agree", None), (1, "bob", "disagree", "counter-evidence"), (1, "cyd", "agree", None),
            (2, "ann", "agree", None), (2, "bob", "verification-error", None), (2, "cyd", "agree", None)]  # fmt: skip
    runs = rounds(*cast, mode="adversarial")
    explained = vp.explain(runs, "F", rules=STICKY | {"quorum": 1})
    assert explained.finding["classification"] == "contested"
    lines = explained.text.splitlines()
    assert "read as adversarial, with refutes=sticky, quorum=1: contested" in lines[0]
    assert "  Under these rules, in round 2: bob counts as counter-evidence." in lines
    assert "  refutes=sticky decides: with refutes=round it would be full-consensus." in lines
    assert not any("quorum=1 decides" in line for line in lines)
    fewer = vp.explain(runs, "F", rules={"mode": "adversarial", "workers": ["ann", "cyd"]}).text
    assert "workers=ann, cyd decides: with workers=none it would be full-consensus." not in fewer, "the same class"
    assert "    bob: disagree (counter-evidence) (recorded, not asked under these rules)" in fewer
    assert "Round 1: 2 agree (n = 2)" in fewer
    assert "rests on" not in fewer, "the lost vote of bob is none of theirs"


def test_fields_that_decide_only_together_are_said_so():
    cast = [(1, "ann", "agree", None), (1, "bob", "disagree", None), (1, "cyd", "disagree", None)]
    runs = rounds(*cast, mode="collaborative")
    text = vp.explain(runs, "F", rules={"stop": {"margin": 1}, "workers": ["ann", "bob"]}).text
    assert "stop=margin 1 decides: with stop=no stop it would be contested." in text
    both = {"aggregate": "any-refute", "workers": ["cyd", "bob"]}
    text = vp.explain(runs, "F", rules=both).text
    assert "No field of these rules decides by itself; with all of them neutral it would be contested." in text


def test_the_mode_that_decides_is_named_too():
    cast = [(1, "ann", "agree", None), (1, "bob", "disagree", None)]
    text = vp.explain(rounds(*cast, mode="collaborative"), "F", rules="adversarial").text
    assert "mode=adversarial decides: with mode=as recorded it would be contested." in text


def test_a_finding_estimated_with_its_run_is_explained_as_it_was_judged():
    runs = vp.datasets.runs("stdlib-claims/adversarial").select(["part-01"])
    table = vp.replay(runs, rules="dawid-skene").set_index("finding_id")
    for name in ("F-0025", "F-0001"):
        explained = vp.explain(runs, name, rules="dawid-skene")
        assert explained.finding["rule"] == table.loc[name, "rule"]
    assert "They could make it anything from full-consensus to worker-unique." in explained.text


def test_most_may_disagree_where_there_is_no_majority_that_agrees():
    cast = [(1, worker, "agree" if worker == "e" else "disagree", None) for worker in "abcde"]
    text = vp.explain(rounds(*cast, mode="collaborative"), "F").text
    assert "no-majority: not everybody disagreed, but no more than half agreed" in text
    cast = [(1, worker, "disagree" if worker == "c" else "agree", None) for worker in "abc"]
    text = vp.explain(rounds(*cast, mode="collaborative"), "F").text
    assert "majority-agree: somebody disagreed, but more than half agreed, with a supplement or without." in text


def test_a_missing_basis_is_told_and_read():
    text = str(vp.explain(RUNS, "F", "r1", "adversarial"))
    assert "F in run r1, read as adversarial: contested" in text
    assert "hard-refute: somebody cited counter-evidence" in text
    assert "Round 1: 1 agree, 1 disagree (n = 2)" in text
    assert (
        "bob: disagree (no basis recorded; the explanation cites a place; filled in as counter-evidence): m.py" in text
    )
    assert "Filled in: 1 of 1 disagreement had no basis; 1 read as counter-evidence, 0 as" in text


def test_errors_are_shown_and_not_counted():
    text = str(vp.explain(RUNS, "F", "r2", "collaborative"))
    assert "worker-unique" in text
    assert "Round 1: 1 disagree (n = 1)" in text
    assert "bob: verification-error: timeout" in text


def test_html_shows_markup_as_text():
    assert "<b>" not in vp.explain(RUNS, "F", "r1")._repr_html_()


@pytest.mark.parametrize(
    ("finding", "run", "message"),
    [
        ("X", None, "finding_id: 'X' is in no run. Fix: use one of 2 findings: F, G"),
        ("F", None, "run_id: 'F' is in 2 runs. Fix: name its run: r1, r2"),
        ("G", "r2", "run_id: 'G' is not in run 'r2'. Fix: name its run: r1"),
    ],
)
def test_which_finding_is_meant_is_never_guessed(finding, run, message):
    with pytest.raises(InputError, match=message):
        vp.explain(RUNS, finding, run)


def test_one_run_with_the_finding_needs_no_name():
    assert vp.explain(RUNS, "G").finding["run_id"] == "r1"


def rounds(*cast: tuple[int, str, str, str | None], mode: str = "adversarial") -> vp.RunSet:
    """Votes on one claim, as (round, worker, verdict, basis)."""
    table = pd.DataFrame(cast, columns=["round", "who", "says", "why"]).assign(item="F")
    return vp.from_votes(
        table, item="item", worker="who", verdict="says", basis="why", round="round", mode=mode, max_rounds=2
    )


ERROR, REFUTE = "verification-error", "counter-evidence"


def test_a_class_that_rests_on_fewer_votes_than_asked_for_says_so():
    runs = rounds((1, "ann", "agree", None), (1, "bob", ERROR, None), (1, "cy", ERROR, None))
    explained = vp.explain(runs, "F")
    assert "This class rests on 1 of 3 votes asked for: 2 calls failed." in explained.text
    assert (explained.finding["lost_votes"], explained.finding["lost_refutes"]) == (2, 0)
    assert "every attempt" not in explained.text


def test_a_refutation_that_an_error_took_is_named_and_no_attempt_is_said_to_have_failed():
    first = [(1, "ann", "agree", None), (1, "bob", "disagree", REFUTE), (1, "cy", "agree", None)]
    runs = rounds(*first, (2, "ann", "agree", None), (2, "bob", ERROR, None), (2, "cy", "agree", None))
    explained = vp.explain(runs, "F")
    assert explained.finding["classification"] == "full-consensus"
    assert "The counter-evidence of bob in round 1 was lost: its vote failed in round 2." in explained.text
    assert "survived: no vote that counts refutes it" in explained.text
    assert explained.finding["lost_refutes"] == 1
    gone = vp.explain(rounds(*first, (2, "ann", "agree", None), (2, "cy", "agree", None)), "F")
    assert "The counter-evidence of bob in round 1 was lost: it has no vote in round 2." in gone.text


def test_a_refutation_that_was_taken_back_or_stands_is_not_lost():
    first = [(1, "ann", "agree", None), (1, "bob", "disagree", REFUTE), (1, "cy", "agree", None)]
    for second in ("agree", "disagree"):
        basis = REFUTE if second == "disagree" else None
        runs = rounds(*first, (2, "ann", "agree", None), (2, "bob", second, basis), (2, "cy", "agree", None))
        explained = vp.explain(runs, "F")
        assert explained.finding["lost_refutes"] == 0
        assert "lost" not in explained.text


def test_a_refutation_without_a_basis_is_lost_by_the_reading_that_makes_it_one():
    first = [(1, "ann", "agree", None), (1, "bob", "disagree", None), (1, "cy", "disagree", REFUTE)]
    runs = rounds(*first, (2, "ann", "agree", None), (2, "bob", ERROR, None), (2, "cy", "agree", None))
    assert vp.explain(runs, "F").finding["lost_refutes"] == 0
    read = vp.explain(runs, "F", missing_basis=REFUTE)
    assert read.finding["lost_refutes"] == 1
    assert "The counter-evidence of bob in round 1 was lost" in read.text


def test_no_rule_says_that_every_attempt_failed():
    assert not [words for words in RULE_MEANINGS.values() if "every attempt" in words]


@pytest.mark.parametrize("mode", [None, "adversarial"])
def test_a_recorded_class_that_the_votes_do_not_give_is_named(mode):
    runs = rounds((1, "ann", "agree", None), (1, "bob", "agree", None), mode="collaborative")
    recorded = replace(runs, findings=runs.findings.assign(classification="contested"))
    text = vp.explain(recorded, "F", mode=mode).text
    assert text.endswith("The run recorded contested; under its own rules its votes give full-consensus.")
    assert "recorded" not in vp.explain(runs, "F", mode=mode).text


def plan_items() -> vp.RunSet:
    items = [{"finding_id": "P-001", "summary": "step 1 holds"}, {"finding_id": "P-002", "summary": "step 2 holds"}]
    says = {"P-001": {"verdict": "agree"}, "P-002": {"verdict": "disagree"}}
    findings = [{"finding_id": "F-1", "summary": "f", "evidence": "m.py:3", "worker": "ann"}]
    return vp.crossverify(
        findings, ["ann", "bob"], task_type="implementation-planning", plan_items=items, log_dir=None,
        backend=vp.agents.ScriptedBackend({1: {"ann": says, "bob": {**says, "F-1": {"verdict": "agree"}}}}),
    ).frames  # fmt: skip


def test_an_item_of_a_plan_body_is_explained_by_its_own_rules():
    runs = plan_items()
    held, failed = vp.explain(runs, "P-001").text, vp.explain(runs, "P-002", mode="collaborative").text
    assert held.startswith("P-001 in run run, read as collaborative: full-consensus")
    assert "An item of the plan body, on which every analyser votes once, collaboratively: it holds." in held
    assert "read as collaborative: worker-unique" in failed
    assert "it does not hold, and fails the gate where it is gating" in failed
    with pytest.raises(
        SettingsError, match=r"mode: 'P-001' is an item of a plan body, .*, got 'adversarial'"
    ) as caught:
        vp.explain(runs, "P-001", mode="adversarial", max_rounds=2)
    assert [problem.place for problem in caught.value.problems] == ["mode", "max_rounds"]


def test_findings_that_are_not_shown_are_counted():
    votes = pd.DataFrame({"i": [f"c{n}" for n in range(1, 9)], "w": "a", "v": "agree"})
    runs = vp.from_votes(votes, item="i", worker="w", verdict="v")
    with pytest.raises(InputError, match=r"use one of 8 findings: c1, c2, c3, c4, c5 and 3 more"):
        vp.explain(runs, "x")


def test_a_basis_that_the_run_filled_is_told_beside_its_vote():
    votes = RUNS.votes.assign(disagree_basis="burden-not-met", basis_filled=True)
    told = str(vp.explain(replace(RUNS, votes=votes[votes["verdict"].eq("disagree")]), "F", "r1", "adversarial"))
    assert "bob: disagree (burden-not-met, filled in: the worker named none): m.py:7" in told


THREE = [(1, "ann", "agree", None), (1, "bob", "disagree", "burden-not-met"), (1, "cyd", "agree", None),
         (2, "ann", "disagree", "burden-not-met"), (2, "bob", "agree", None), (2, "cyd", "agree", None)]  # fmt: skip


@pytest.mark.parametrize(
    ("rules", "tally", "unasked", "second"),
    [
        ({"stop": {"margin": 1}}, "1 agree (n = 1)", ["bob", "cyd"], "not read, as the finding had its class"),
        ({"stop": {"margin": 1}, "order": ["cyd"]}, "1 agree (n = 1)", ["ann", "bob"], "not read, as"),
        ({"workers": ["bob", "cyd"]}, "1 disagree, 1 agree (n = 2)".replace("disagree", "burden-not-met"), ["ann"], ""),
        ({"max_rounds": 1}, "2 agree, 1 burden-not-met (n = 3)", [], "not asked under these rules; 3 votes recorded"),
        ({"quorum": 2}, "2 agree, 1 burden-not-met (n = 3)", [], "not read, as the finding had its class; 3 votes"),
    ],
)
def test_the_tally_is_of_the_votes_that_the_rules_read_and_all_others_are_marked(rules, tally, unasked, second):
    text = vp.explain(rounds(*THREE, mode="adversarial"), "F", rules=rules).text
    first, _, rest = text.partition("  Round 2: ")
    assert f"  Round 1: {tally}\n" in first
    marked = [line.split(":")[0].strip() for line in first.splitlines() if "not asked under these rules" in line]
    assert marked == unasked
    assert rest.startswith(second)


def test_a_field_that_cannot_matter_for_the_votes_says_why():
    plain = [(1, "ann", "agree", None), (1, "bob", "disagree", "burden-not-met"), (2, "ann", "agree", None)]
    text = vp.explain(rounds(*plain, mode="adversarial"), "F", rules={"refutes": "sticky", "quorum": 1}).text
    assert "  On the votes of this run, no vote gives counter-evidence, so refutes has no effect." in text.splitlines()
    counter = [(1, "ann", "agree", None), (1, "bob", "disagree", "counter-evidence"), (2, "ann", "agree", None)]
    assert "no effect" not in vp.explain(rounds(*counter, mode="adversarial"), "F", rules=STICKY).text
