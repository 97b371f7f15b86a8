"""Plan runs under several rules: verdicts, censoring, which field turned which verdict, and labels."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import verifyplan as vp
from tests.runs.plan.breaking import small_cross
from tests.runs.plan.planning import AGREE, challenge, change, run_of, script, votes
from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.errors import InputError, SettingsError
from verifyplan.frames.runset import concat
from verifyplan.protocol.plan_rules import PlanRules
from verifyplan.runs.compare_rules import compare_rules
from verifyplan.runs.plan.run import PlanRun


def one_significant(run_id: str = "one", **settings: Any) -> PlanRun:
    """A run that ends at once with REVISE."""
    answers = {"i1/challenger": {"challenges": [challenge()]}}
    return replace(run_of(answers, silent=True, panel=None, **settings), run_id=run_id)


@cache
def held() -> PlanRun:
    """Two SIGNIFICANT challenges that the panel holds; the withdrawal of one of them is refused."""
    answers: dict[str, Any] = {
        "i1/challenger": {"challenges": [challenge(), challenge("rows")]},
        "i1/synthesizer": {"changes": [change("C1", "WITHDRAWN")]},
        **{f"i1/panel/r1/panel-{number}": votes(AGREE) for number in (1, 2, 3)},
    }
    return replace(run_of(answers, silent=True), run_id="held")


def verdicts(found: Any) -> dict[str, Any]:
    return dict(zip(found.table["rules"], found.table["verdict"].astype("object").fillna("-"), strict=True))


def test_each_rules_give_their_verdict_and_the_field_that_turns_it_is_named():
    found = compare_rules(one_significant(), {"as run": PlanRules(), "lenient": "lenient"})
    assert verdicts(found) == {"as run": "REVISE", "lenient": "PROCEED"}
    [turn] = found.turns.to_dict("records")
    assert (turn["how"], turn["field"], turn["before"], turn["after"]) == ("alone", "revise_from", "1", "3")
    assert (turn["from_verdict"], turn["to_verdict"]) == ("REVISE", "PROCEED")
    assert len(found.fields) == 5
    assert found.fields.loc[found.fields["gives"], "field"].tolist() == ["revise_from"]
    assert "  lenient: revise_from 1 -> 3: REVISE to PROCEED in 1 run: plan" in str(found)


def test_the_first_plans_whose_verdict_turns_are_named_once_each():
    runs = [one_significant(str(number)) for number in range(8)]
    for number, run in enumerate(runs[:7]):  # the eighth has the name that all begin with
        inputs = run.started.plan.model_copy(update={"plan_path": f"plans/p{number // 2 * 2}.md"})
        first = run.records[0]._replace(event=run.started.model_copy(update={"inputs": inputs}))
        runs[number] = replace(run, records=(first, *run.records[1:]))
    said = str(compare_rules(runs, {"as run": PlanRules(), "lenient": "lenient"}))
    assert "REVISE to PROCEED in 8 runs: p0, p2, p4, p6, plan\n" in said + "\n"


def test_fields_that_turn_a_verdict_only_together_are_said_to():
    found = compare_rules(held(), {"a": {}, "b": {"consensus_forbids": [], "revise_from": 2}})
    assert verdicts(found) == {"a": "REVISE", "b": "PROCEED"}
    [turn] = found.turns.to_dict("records")
    assert (turn["how"], turn["field"]) == ("only together", "consensus_forbids, revise_from")
    assert found.fields["gives"].tolist() == [False, False]
    assert "b: consensus_forbids, revise_from (only together): REVISE to PROCEED in 1 run" in str(found)


def test_where_a_field_alone_is_censored_what_turned_the_verdict_is_not_known():
    fields = {"policy": "deliberate", "max_iterations": 1, "consensus_forbids": [], "revise_from": 2}
    found = compare_rules(held(), {"a": {}, "b": fields})
    assert verdicts(found) == {"a": "REVISE", "b": "PROCEED"}
    [turn] = found.turns.to_dict("records")
    assert (turn["how"], turn["field"]) == ("not known", "policy")
    alone = found.fields.set_index("field")
    assert alone.loc["policy", "censored"] == "i2/challenger"
    assert alone["gives"].isna().to_dict() == {
        "policy": True,
        "max_iterations": False,
        "consensus_forbids": False,
        "revise_from": False,
    }


def test_a_censored_run_has_no_verdict_and_shares_take_it_both_ways():
    runs = [one_significant("one"), replace(run_of({}, silent=True, panel=None), run_id="two")]
    labels = {"plan": {"verdict": "REVISE"}}
    found = compare_rules(runs, {"as run": None, "deliberate": "deliberate"}, labels=labels)
    row = found.table.query("run_id == 'one' and rules == 'deliberate'").iloc[0]
    assert row["censored"] == "i2/challenger"
    assert row[["verdict", "changed", "as_expected"]].isna().all()
    total = found.summary.set_index("rules").loc["deliberate"]
    assert (total["censored"], total["changed"], total["changed_least"], total["changed_most"]) == (1, 0, 0, 0.5)
    assert 0 == total["changed_low"] < total["changed_high"] < 1
    assert (total["as_expected"], total["as_expected_least"], total["as_expected_most"]) == (0, 0, 0.5)
    assert "deliberate: 0 to 1 of 2 (0% to 50% [" in str(found)
    assert "1 of 2 runs censored; at least " in str(found)
    assert any(note.startswith("A censored run needs a call that was never made") for note in found.notes)
    assert found.turns.empty


def test_the_interval_of_bounds_holds_those_of_both():
    runs = [one_significant(f"r{number}") for number in range(3)]
    total = compare_rules(runs, {"as run": None, "b": "deliberate"}).summary.set_index("rules").loc["b"]
    assert total["changed_low"] <= total["changed_least"] <= total["changed_most"] <= total["changed_high"]


def test_labels_say_which_verdicts_are_as_expected_and_a_strong_revise_is_one():
    words = ("locks", "rows", "order")
    strong = run_of({"i1/challenger": {"challenges": [challenge(word) for word in words]}}, silent=True, panel=None)
    assert strong.outcome is not None
    assert strong.outcome.strong
    rules = {"as run": None, "one": {"revise_from": 4}}
    found = compare_rules(strong, rules, labels={"plan": {"verdict": "REVISE"}})
    assert found.table["verdict"].tolist() == ["REVISE (strong)", "PROCEED"]
    assert found.table["as_expected"].tolist() == [True, False]
    unlabelled = compare_rules(strong, rules, labels={"other": {}})
    assert unlabelled.summary["as_expected_n"].tolist() == [0, 0]
    assert "1 plan without a label is in no share of expected verdicts." in unlabelled.notes


def test_a_run_that_gives_no_verdict_differs_from_one_that_does():
    failing = run_of({"i1/challenger": {"challenges": []}, "i1/synthesizer": "error"}, silent=True, panel=None)
    found = compare_rules(failing, {"as run": None, "carry": {"synthesizer_failure": "carry"}})
    assert found.table["ended_by"].tolist() == ["failures", "ruling"]
    assert found.turns[["from_verdict", "to_verdict"]].values.tolist() == [["no verdict", "PROCEED"]]


def test_a_run_that_waits_has_no_verdict_and_is_not_censored():
    raised = {"i1/challenger": {"challenges": [challenge(severity="BLOCKING")]}}
    waiting = run_of(raised, silent=True, panel=None, on_blocked="pause")
    found = compare_rules(waiting, {"as run": None, "one pass": "one-pass"})
    assert found.table["ended_by"].tolist() == ["a question to a person", "ruling"]
    assert verdicts(found) == {"as run": "-", "one pass": "RETHINK"}
    assert not found.table["censored"].notna().any()


def test_the_baseline_is_that_of_each_run_where_its_own_rules_are_asked_for():
    runs = [one_significant("a"), one_significant("b", rules="lenient")]
    found = compare_rules(runs, {"as run": None, "lenient": "lenient"})
    assert found.table["changed"].tolist() == [False, True, False, False]
    assert found.summary["digest"].isna().tolist() == [True, False]


def test_without_rules_every_preset_is_compared_with_the_runs_own():
    found = compare_rules(one_significant())
    assert list(found.rules) == ["as run", *PlanRules.presets()]
    assert found.table.query("rules == 'protocol'")["changed"].tolist() == [False]


def test_calls_and_tokens_are_those_that_the_rules_would_have_used():
    run = run_of(script())
    found = compare_rules(run, {"as run": None, "one pass": "one-pass"}).table.set_index("rules")
    assert found.loc["as run", "calls"] == run.state.calls
    first = [name for name in run.state.requested if name.startswith("i1/")]
    assert 0 < found.loc["one pass", "calls"] < len(first) + 1
    assert found.loc["one pass", "unscored"] == "i1/score"


def test_runs_are_taken_from_wherever_they_are_and_others_left_out(tmp_path):
    run = run_of({}, silent=True, panel=None, log_dir=tmp_path / "plans")
    cross = small_cross(tmp_path / "cross")
    rules = {"as run": None, "lenient": "lenient"}
    for source in (str(tmp_path), [run, cross], tmp_path / "plans" / "*.jsonl", vp.load(tmp_path)):
        found = compare_rules(source, rules)
        assert found.table["verdict"].tolist() == ["PROCEED", "PROCEED"]
    assert "1 run of other kinds left out." in compare_rules(str(tmp_path), rules).notes
    assert len(compare_rules("live-example/plan", rules, progress=False).table) == 2


def test_what_cannot_be_replayed_is_named_and_nothing_at_all_refused(tmp_path):
    unread = concat([one_significant("gone").frames])
    with pytest.raises(
        InputError, match=r"plan_runs: contain no run that can be replayed: gone \(was not read from a log"
    ):
        compare_rules(unread, {"a": None})
    with pytest.raises(InputError, match="plan_runs: contain no plan run"):
        compare_rules(small_cross(tmp_path), {"a": None})


def test_rules_that_are_none_are_refused_all_at_once():
    with pytest.raises(SettingsError) as caught:
        compare_rules(one_significant(), {"a": None, "b": "lenint", "c": {"policy": "strict"}})
    assert [problem.place for problem in caught.value.problems] == ["rules['b']", "rules['c'].policy"]
    assert "did you mean 'lenient'?" in str(caught.value)
    with pytest.raises(SettingsError, match="rules: must name rules, got none"):
        compare_rules(one_significant(), {})


def test_tables_have_the_columns_that_are_documented():
    found = compare_rules(one_significant(), {"a": None, "b": "lenient"})
    for name in ("table", "summary", "turns", "fields"):
        key = "compare_rules" if name == "table" else f"compare_rules.{name}"
        assert list(getattr(found, name).columns) == [column.name for column in RESULT_TABLES[key]]
    assert "<table" in found._repr_html_()
