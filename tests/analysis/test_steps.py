"""The steps of runs of every kind, and what stood and what changed at each: a whole scripted plan run, and votes."""

from __future__ import annotations

import pandas as pd
import pytest

import verifyplan as vp
from tests.frames.plan_events import first, log_bytes, started, whole
from tests.runs.plan import planning
from verifyplan.analysis.explain import RULE_MEANINGS
from verifyplan.analysis.replay import Setting
from verifyplan.analysis.run_steps import RunSteps
from verifyplan.analysis.steps import steps
from verifyplan.errors import InputError
from verifyplan.frames.columns import typed

SETTLED = {"C1": "RESOLVED", "C3": "WITHDRAWN", "C5": "RESOLVED", "C7": "UNRESOLVED", "C6": "overflow"}
VOTES = [
    ("F1", 1, "a", "agree", None), ("F1", 1, "b", "agree", None),
    ("F2", 1, "a", "disagree", "counter-evidence"), ("F2", 1, "b", "agree", None),
    ("F2", 2, "a", "disagree", "burden-not-met"), ("F2", 2, "b", "agree", None),
    ("F3", 1, "a", "disagree", "counter-evidence"), ("F3", 1, "b", "agree", None),
    ("F3", 2, "a", "disagree", "counter-evidence"), ("F3", 2, "b", "agree", None),
]  # fmt: skip


@pytest.fixture(scope="module")
def plan() -> RunSteps:
    return RunSteps(planning.run_of(planning.script()).frames)


def cross(**changes: object) -> vp.RunSet:
    """Two rounds on three findings, adversarial: F1 settled in round 1, F2 in round 2, F3 never."""
    table = pd.DataFrame(VOTES, columns=["item", "round", "worker", "verdict", "basis"])
    runs = vp.from_votes(table, item="item", worker="worker", verdict="verdict", basis="basis", round="round")
    told = {"kind": "cross", "mode": "adversarial", "finished": True} | changes
    return vp.RunSet(runs=typed("runs", runs.runs.assign(**told)), findings=runs.findings, votes=runs.votes)


def loaded(tmp_path, events) -> vp.RunSet:
    (tmp_path / "run.jsonl").write_bytes(log_bytes(events))
    return vp.load(tmp_path / "run.jsonl")


def standing(course: RunSteps, step: int) -> dict[str, str]:
    items = course.items(step)
    return dict(zip(items["item"], items["standing"], strict=True))


def test_a_plan_run_has_each_phase_of_each_iteration(plan):
    assert plan.steps["step"].tolist() == list(range(15))
    assert plan.steps["title"].tolist()[:5] == [
        "iteration 1, what was challenged",
        "iteration 1, what was found out",
        "iteration 1, panel round 1",
        "iteration 1, what was settled",
        "iteration 1, the ruling",
    ]


def test_challenges_stand_at_each_step_where_the_history_left_them(plan):
    assert standing(plan, 0) == dict.fromkeys(["C1", "C2", "C3", "C4", "C5"], "OPEN") | {"C6": "overflow"}
    assert set(standing(plan, 1)) - set(standing(plan, 0)) == {"C7", "C8"}
    assert standing(plan, 3) == dict.fromkeys(["C2", "C4", "C8"], "OPEN") | SETTLED


def test_the_last_step_of_a_plan_run_stands_as_its_challenges_ended(plan):
    ended = plan.tables.challenges
    expected = {
        name: "overflow" if over else status
        for name, status, over in zip(ended["challenge_id"], ended["status"], ended["overflow"], strict=True)
    }
    assert standing(plan, 14) == expected


def test_a_class_is_given_in_the_round_of_the_panel_that_gave_it(plan):
    before, after = plan.items(1).set_index("item"), plan.items(2).set_index("item")
    assert before["classification"].isna().all()
    assert after.loc[["C3", "C4", "C6"], "rule"].fillna("none").tolist() == ["hard-refute", "lone-doubt", "none"]
    assert plan.items(12).set_index("item").loc["C4", "classification"] == "contested"


def test_changes_tell_the_rule_the_reason_and_who_did_it(plan):
    told = {(row.item, row.change): (row.why, row.by) for row in plan.changes(3).itertuples()}
    assert told["C1", "OPEN → RESOLVED"] == ("see store.py:3", "synthesizer")
    assert told["C2", "refused: OPEN → DEFERRED"][0].startswith("only a MINOR challenge can be DEFERRED")
    assert told["C3", "OPEN → WITHDRAWN"] == ("nobody needs it (cites no place)", "synthesizer")
    panel = {row.item: row.why for row in plan.changes(2).itertuples()}
    assert panel["C3"] == f"hard-refute: {RULE_MEANINGS['hard-refute']}"


def test_research_and_ruling_are_told(plan):
    research = {(row.item, row.change) for row in plan.changes(1).itertuples()}
    assert {("U1", "answered: CONFIRMED"), ("S1", "surfaced: contradicts_plan; raises C7")} <= research
    ruling = plan.changes(4)[["change", "why"]].to_numpy().tolist()
    assert ruling[0] == ["BLOCKED, no verdict yet", "1 BLOCKING and 3 SIGNIFICANT are unsettled (policy protocol)"]
    assert ruling[1] == ["stated: CONVERGED: PROCEED", "not used: the counts decide"]


def test_every_row_of_the_history_and_every_call_stands_in_one_step(plan):
    rows = [change for step in plan.steps["step"] for change in plan.changes(step)["item"] if change[0] == "C"]
    assert len(rows) == len(plan.tables.challenge_history)
    assert sum(len(plan.calls(step)) for step in plan.steps["step"]) == len(plan.tables.calls)
    assert plan.calls(2)["status"].tolist() == ["completed", "completed", "timeout"]
    assert plan.call_counts["n"].tolist() == [len(plan.calls(step)) for step in plan.steps["step"]]
    assert plan.call_counts["failed"][2] == 1
    course = RunSteps(cross())
    assert course.call_counts["n"].tolist() == [len(course.calls(step)) for step in course.steps["step"]]


def test_votes_are_those_of_the_last_iteration_so_far(plan):
    assert plan.votes(1).empty
    assert set(plan.votes(2)["iteration"]) == {1}
    later = plan.votes(7)
    assert later.loc[later["finding_id"].eq("C4"), "iteration"].unique().tolist() == [2]
    assert later.loc[later["finding_id"].eq("C1"), "iteration"].unique().tolist() == [1]


def test_a_log_that_ends_within_an_iteration_has_the_steps_it_came_to(tmp_path):
    course = RunSteps(loaded(tmp_path, whole()[:12]))
    assert course.steps["phase"].tolist() == ["challenges"]
    assert standing(course, 0) == {"C1": "OPEN", "C2": "OPEN", "C3": "overflow"}


def test_two_rounds_of_a_panel_are_two_steps(tmp_path):
    course = RunSteps(loaded(tmp_path, whole()))
    titles = course.steps["title"].tolist()
    assert titles[2:4] == ["iteration 1, panel round 1", "iteration 1, panel round 2"]
    first_round, second_round = (course.changes(step)["item"].tolist() for step in (2, 3))
    assert "C1" not in first_round
    assert "C1" in second_round


def test_a_run_that_has_only_begun_has_one_step(tmp_path):
    course = RunSteps(loaded(tmp_path, [started()]))
    assert course.steps["title"].tolist() == ["begun"]
    assert course.items(0).empty
    assert course.changes(0).empty


def test_a_finding_waits_until_its_round_settles_it():
    course = RunSteps(cross())
    assert course.steps["title"].tolist() == ["what was found", "round 1", "round 2", "the end"]
    assert [standing(course, step)["F1"] for step in range(4)] == ["waiting", *["full-consensus"] * 3]
    assert [standing(course, step)["F2"] for step in range(4)] == ["waiting", "waiting", *["partial-consensus"] * 2]
    assert [standing(course, step)["F3"] for step in range(4)] == [*["waiting"] * 3, "contested"]


def test_a_round_tells_what_it_settled_and_what_it_carried_on_and_why():
    course = RunSteps(cross())
    rounds = [course.changes(step)[["item", "change", "why"]].to_numpy().tolist() for step in (1, 2, 3)]
    hard = f"hard-refute: {RULE_MEANINGS['hard-refute']}"
    assert rounds[0] == [
        ["F1", "waiting → full-consensus", f"survived: {RULE_MEANINGS['survived']}"],
        ["F2", "waiting, carried on", hard],
        ["F3", "waiting, carried on", hard],
    ]
    assert rounds[1][0] == ["F2", "waiting → partial-consensus", f"lone-doubt: {RULE_MEANINGS['lone-doubt']}"]
    assert rounds[2] == [["F3", "waiting → contested", hard]]


def test_a_run_that_was_broken_off_settles_nothing_by_default():
    course = RunSteps(cross(finished=False))
    assert course.steps["title"].iloc[-1] == "broken off here"
    assert standing(course, 3)["F3"] == "waiting"


def test_other_rules_give_other_classes_and_each_difference_is_told():
    course = RunSteps(cross())
    found = course.differences(Setting("collaborative", 1)).set_index("finding_id")
    assert found[["old", "new", "rule"]].to_numpy().tolist() == [["partial-consensus", "contested", "no-majority"]]
    assert found.index.tolist() == ["F2"]
    assert course.differences(Setting()).empty


def test_a_longer_replay_than_was_recorded_is_censored():
    found = RunSteps(cross()).judged(Setting("adversarial", 3)).set_index("finding_id")
    assert found["censored"].to_dict() == {"F1": False, "F2": False, "F3": True}


def test_a_debate_has_its_turns():
    messages = {"run_id": "d", "position": [1, 2], "turn": [1, 2], "role": ["architect", "builder"]}
    messages |= {"type": ["propose", "critique"], "content": ["Do it", "Why?"]}
    runs = vp.RunSet(runs=typed("runs", {"run_id": ["d"], "kind": ["debate"]}), messages=typed("messages", messages))
    course = RunSteps(runs)
    assert course.steps["title"].tolist() == ["turn 1", "turn 2"]
    assert course.changes(1).to_numpy().tolist() == [["message 2", "critique", "Why?", "builder"]]


def test_runs_without_findings_or_votes_have_their_ends():
    bare = vp.RunSet(runs=typed("runs", {"run_id": ["x"], "kind": ["cross"]}))
    assert steps(bare, "x")["title"].tolist() == ["what was found", "the end"]
    assert RunSteps(bare).items(1).empty


def test_a_run_that_is_not_there_is_told_with_what_is():
    with pytest.raises(InputError, match=r"'vote' is not in this set \(did you mean 'votes'"):
        steps(cross(), "vote")


def test_recorded_classes_follow_from_the_recorded_votes_in_every_bundled_run():
    runs = vp.datasets.runs("stdlib-claims")
    for name in runs.runs["run_id"]:
        course = RunSteps(runs.select(name))
        assert course.differences(Setting()).empty
        end = course.items(len(course.steps) - 1).set_index("item")["classification"]
        assert end.to_dict() == course.tables.findings.set_index("finding_id")["classification"].astype("str").to_dict()


def test_the_story_of_the_first_iteration_ends_where_its_log_ends(tmp_path):
    course = RunSteps(loaded(tmp_path, [*whole()[:2], *first()]))
    assert standing(course, len(course.steps) - 1)["C4"] == "WITHDRAWN"
