"""The run explorer as Python drives it: traits are set, and what is shown is compared with the tables."""

from __future__ import annotations

import os
import re
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import verifyplan as vp
from tests.runs.debate_scripts import CONVERGES, debate_of
from tests.runs.plan import planning
from verifyplan.analysis.explain import RULE_MEANINGS
from verifyplan.analysis.run_steps import RunSteps
from verifyplan.errors import InputError
from verifyplan.frames.columns import typed
from verifyplan.frames.runset import concat
from verifyplan.runs.replay import replay_run
from verifyplan.widgets.explorer import RunExplorer, policy
from verifyplan.widgets.explorer import views as explorer_views
from verifyplan.widgets.html import NOT_RECORDED

HOSTILE = '<img src=x onerror="window.ran = 1"></td><script>window.ran = 1</script>\x00\x1b[31m'


@pytest.fixture(scope="module")
def plans(tmp_path_factory) -> vp.RunSet:
    """A scripted plan run, read from its log."""
    folder = tmp_path_factory.mktemp("logs")
    planning.run_of(planning.script(), log_dir=folder, on_blocked="continue")
    return vp.load(folder)


@pytest.fixture(scope="module")
def claims() -> vp.RunSet:
    return vp.datasets.runs("stdlib-claims")


@pytest.fixture
def plan(plans) -> RunExplorer:
    return RunExplorer(plans)


@pytest.fixture
def cross(claims) -> RunExplorer:
    return RunExplorer(claims)


def seen(page: str) -> str:
    """The text of some HTML, tags left out."""
    return re.sub(r"\s+", " ", re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL))


def column(explorer: RunExplorer, name: str) -> dict[str, str]:
    place = [one["name"] for one in explorer.pool.columns].index(name)
    return {key: row[place] for key, row in zip(explorer.pool.row_keys, explorer.pool.rows, strict=True)}


def test_it_opens_on_the_first_step_of_the_first_run(cross, claims):
    assert (cross.run_id, cross.step) == (claims.runs["run_id"].iloc[0], 0)
    assert (cross.slider.low, cross.slider.high, cross.slider.text) == (0, 3, "what was found")
    assert cross.choice.table.note == "24 runs"
    assert cross.choice.table.selected == [cross.run_id]
    assert set(column(cross, "standing").values()) == {"waiting"}


def test_the_slider_shows_where_each_finding_stands(cross, claims):
    cross.slider.value = 3
    recorded = claims.select([cross.run_id]).findings
    expected = dict(zip(recorded["finding_id"], recorded["classification"].astype("str"), strict=True))
    assert column(cross, "standing") == expected
    assert cross.slider.text == "the end"


def test_a_step_of_a_plan_run_shows_pool_changes_and_calls(plan):
    plan.slider.value = 2
    assert plan.slider.text == "iteration 1, panel round 1"
    assert column(plan, "classification")["C3"] == "contested"
    assert f"lone-doubt: {RULE_MEANINGS['lone-doubt']}" in seen(plan.changed.value)
    assert "8 challenges: 7 OPEN, 1 overflow." in seen(plan.state.value)
    assert "✗ timeout" in seen(plan.calls.value)
    assert "3 calls; 1 failed" in seen(plan.calls.value)


def test_buttons_go_one_step_and_stop_at_the_ends(plan):
    assert plan.previous.disabled
    plan.next.click()
    assert (plan.step, plan.slider.value, plan.previous.disabled) == (1, 1, False)
    plan.step = 14
    assert plan.next.disabled
    plan.next.click()
    plan.previous.click()
    assert plan.step == 13


def test_run_and_step_can_be_set_and_what_is_not_there_is_told(cross, claims):
    other = claims.runs["run_id"].iloc[20]
    cross.step = 2
    cross.run_id = other
    assert (cross.run_id, cross.step, cross.choice.table.selected) == (other, 0, [other])
    with pytest.raises(InputError, match="'nothing' is not in this set"):
        cross.run_id = "nothing"
    with pytest.raises(InputError, match=r"99 is no step of this run\. Fix: use a whole number from 0 to "):
        cross.step = 99
    assert (cross.run_id, cross.step) == (other, 0)


def test_choosing_a_run_in_the_table_shows_it(cross, claims):
    cross.choice.table.selected = [claims.runs["run_id"].iloc[15]]
    assert cross.run_id == claims.runs["run_id"].iloc[15]
    assert "collaborative mode" in seen(cross.head.value)


def test_filters_leave_the_runs_that_have_all_that_is_asked_for(claims, plans):
    explorer = RunExplorer(concat([claims, plans]))
    choice = explorer.choice
    choice.kind.value = "plan"
    assert choice.table.row_keys == plans.runs["run_id"].tolist()
    choice.verdict.value = "no verdict"
    assert choice.table.note == "No run passes: none of 25 has all that is asked for. Loosen a filter."
    choice.kind.value, choice.mode.value, choice.search.value = "any", "adversarial", "PART-1"
    assert choice.table.row_keys == [f"adversarial/part-1{n}" for n in (0, 1, 2)]
    choice.search.value = "seed-2026"
    assert len(choice.table.row_keys) == 12


def test_text_finds_runs_by_task_and_plan_name_as_plain_text(plans):
    choice = RunExplorer(plans).choice
    for text, number in (("new STORE", 1), (".md", 1), ("[(", 0), ("", 1)):
        choice.search.value = text
        assert len(choice.table.row_keys) == number


def test_runs_and_pool_are_sorted_by_what_their_columns_mean(plan, cross):
    cross.choice.table.sort = {"column": "run_id", "descending": True}
    assert cross.choice.table.row_keys[0] == "collaborative/part-12"
    plan.pool.sort = {"column": "severity", "descending": False}
    order = list(dict.fromkeys(column(plan, "severity").values()))
    assert order == ["BLOCKING", "SIGNIFICANT", "MINOR"]


def test_selected_is_the_row_of_the_chosen_one(plan, plans, cross):
    assert plan.selected.empty
    plan.step = 3
    plan.pool.selected = ["C4"]
    chosen = plans.challenges[plans.challenges["challenge_id"].eq("C4")].reset_index(drop=True)
    pd.testing.assert_frame_equal(plan.selected, chosen)
    cross.pool.selected = ["F-0145"]
    assert cross.selected[["run_id", "finding_id"]].to_numpy().tolist() == [["adversarial/part-01", "F-0145"]]
    cross.run_id = "adversarial/part-02"
    assert cross.selected.empty


def test_the_chosen_one_shows_what_stands_behind_it_at_that_step(plan):
    plan.pool.selected = ["C1"]
    assert "see store.py:3" not in seen(plan.detail.value)
    assert "Nobody has voted on C1 by this step." in seen(plan.detail.value)
    plan.step = 3
    told = seen(plan.detail.value)
    for words in ("Stands as RESOLVED", "Severity SIGNIFICANT", "Resolution see store.py:3", "Place locks.py:5"):
        assert words in told
    assert "panel-2 1 A agree store.py:9 says so" in told


def test_why_it_ends_in_its_class_is_told_by_the_rules_that_are_chosen(cross, claims):
    cross.pool.selected = ["F-0409"]
    recorded = vp.explain(claims, "F-0409", cross.run_id)
    assert " ".join(str(recorded).split()) in seen(unescape(cross.detail.value))
    cross.replay.mode.value = "collaborative"
    other = vp.explain(claims, "F-0409", cross.run_id, "collaborative")
    assert other.text != recorded.text
    assert " ".join(str(other).split()) in seen(unescape(cross.detail.value))


def test_one_that_had_not_been_raised_is_told(plan):
    plan.step = 14
    plan.pool.selected = ["C11"]
    plan.step = 0
    assert "C11 had not been raised by this step." in seen(plan.detail.value)


def test_the_matrix_shows_fifteen_with_the_chosen_one_first(cross):
    cross.step = 1
    cross.pool.selected = ["F-0709"]
    heads = re.findall(r'<th scope="row">([^<]*)</th>', cross.votes.value)
    assert (heads[0], len(heads)) == ("F-0709", 15)
    assert "15 of 60" in seen(cross.votes.value)
    labels = re.findall(r'aria-label="(round 1: [^"]*|discovered)"', cross.votes.value)
    assert "round 1: counter-evidence" in labels
    assert "discovered" in labels


def test_what_a_plan_run_did_not_vote_on_is_said(plan):
    assert "Nobody has voted by this step." in seen(plan.votes.value)


def test_tokens_of_artifacts_are_not_recorded_and_never_zero(cross):
    cross.step = 1
    assert f"4 calls; none failed; tokens {NOT_RECORDED};" in seen(cross.calls.value)
    assert re.findall(r"<td class=vp-number>([^<]*)</td>", cross.calls.value)[:2] == [NOT_RECORDED] * 2


def test_another_mode_marks_the_differences_at_once(cross, claims):
    assert "These rules give the recorded classes" in seen(cross.differences.value)
    cross.step = 3
    cross.replay.mode.value = "collaborative"
    again = vp.replay(claims.select([cross.run_id]), "collaborative")
    moved = again[again["recorded"].astype("str") != again["classification"].astype("str")]
    marked = {key: value for key, value in column(cross, "replayed").items() if value.startswith("≠")}
    classes = moved["classification"].astype("str")
    assert marked == {name: f"≠ {new}" for name, new in zip(moved["finding_id"], classes, strict=True)}
    assert f"{len(moved)} differences to the recorded classes" in seen(cross.replay.note.value)
    assert f"no-majority: {RULE_MEANINGS['no-majority']}; censored" in seen(cross.differences.value)
    cross.replay.reset.click()
    assert "replayed" not in [one["name"] for one in cross.pool.columns]
    assert cross.replay.mode.value == "recorded"
    assert "0 differences" in seen(cross.replay.note.value)


def test_fewer_rounds_and_other_readings_of_bases_are_replayed(cross, claims):
    cross.replay.rounds.value = 1
    again = vp.replay(claims.select([cross.run_id]), "recorded", max_rounds=1)
    n = int((again["recorded"].astype("str") != again["classification"].astype("str")).sum())
    assert f"{n} difference" in seen(cross.replay.note.value)


def test_a_policy_drives_a_plan_run_again_from_its_log(plan):
    plan.replay.policy.value = "deliberate"
    assert "Under policy deliberate" in seen(plan.differences.value)
    assert "iteration 1 BLOCKED CONTINUE" in seen(plan.differences.value)
    assert plan.failure.value == ""
    plan.replay.policy.value = "protocol"
    assert "Rulings, verdict and challenges come out as recorded." in seen(plan.differences.value)


def test_where_there_is_no_policy_the_reason_is_said(cross, plans):
    assert cross.replay.policy.disabled
    assert "only plan runs have one" in cross.replay.reason.value
    moved = vp.RunSet(runs=plans.runs.assign(source="/nowhere/at-all.jsonl"))
    assert "not where it was read from" in RunExplorer(moved).replay.reason.value
    without = vp.RunSet(runs=plans.runs.assign(log=False))
    assert "has no log" in RunExplorer(without).replay.reason.value


def test_a_callback_that_fails_says_so_and_is_forgotten_once_it_works(plan, monkeypatch):
    def broken(*_):
        raise ValueError("the <table> is gone")

    with monkeypatch.context() as patch:
        patch.setattr(explorer_views, "changes", broken)
        plan.slider.value = 1
        assert "ValueError: the &lt;table&gt; is gone" in plan.failure.value
        plan.next.click()
        assert "ValueError" in plan.failure.value
    plan.slider.value = 3
    assert plan.failure.value == ""
    assert "OPEN → RESOLVED" in seen(plan.changed.value)


def test_a_reading_that_refuses_missing_bases_says_which():
    votes = pd.DataFrame({"item": ["F"] * 2, "who": ["a", "b"], "says": ["agree", "disagree"]})
    explorer = RunExplorer(vp.from_votes(votes, item="item", worker="who", verdict="says"))
    explorer.replay.mode.value = "adversarial"
    explorer.replay.basis.value = "raise"
    assert "has no basis" in explorer.failure.value
    explorer.replay.basis.value = "infer"
    assert explorer.failure.value == ""


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"kind": ["cross"]}, "This run has no findings."),
        ({"kind": ["plan"], "log": [False]}, "This run has no log"),
        ({"kind": ["plan"], "finished": [False]}, "This run has not ended"),
        ({"kind": ["plan"], "trivial": [True]}, "sized as trivial: ended before any call"),
        ({"kind": ["votes"]}, "An import of votes has neither calls nor recorded classes"),
        ({"kind": ["debate"]}, "Nothing changed in this step."),
    ],
)
def test_what_a_run_lacks_is_said_in_words(table, told):
    explorer = RunExplorer(vp.RunSet(runs=typed("runs", {"run_id": ["bare"], **table})))
    assert told in seen(explorer.static())
    assert explorer.failure.value == ""


def test_a_run_without_votes_says_so(claims):
    one = claims.select(["adversarial/part-01"])
    explorer = RunExplorer(vp.RunSet(runs=one.runs, findings=one.findings))
    assert "This run has no votes." in seen(explorer.head.value)
    explorer.step = 1
    assert explorer.failure.value == ""


def test_a_set_without_runs_says_so():
    explorer = RunExplorer(vp.RunSet())
    assert "There are no runs in this set" in seen(explorer.static())
    assert explorer.run_id is None
    assert explorer.selected.empty
    explorer.slider.value = 1
    explorer.next.click()
    explorer.replay.mode.value = "adversarial"
    explorer.choice.search.value = "x"
    assert explorer.failure.value == ""


def test_what_is_no_runset_is_refused():
    with pytest.raises(InputError, match="runs"):
        RunExplorer(pd.DataFrame())  # type: ignore[arg-type]


def hostile() -> vp.RunSet:
    """One run in which every text is markup, holds control characters or is 100 kB long."""
    long = HOSTILE + "x" * 100_000
    table = pd.DataFrame({"item": [HOSTILE, "F2"], "who": [HOSTILE, "b"], "says": "agree", "words": long})
    runs = vp.from_votes(table, item="item", worker="who", verdict="says", explanation="words")
    told = {"run_id": HOSTILE, "summary": long, "evidence": long, "category": HOSTILE}
    return vp.RunSet(
        runs=typed("runs", runs.runs.assign(run_id=HOSTILE, task_key=long)),
        findings=typed("findings", runs.findings.assign(**told)),
        votes=typed("votes", runs.votes.assign(run_id=HOSTILE)),
    )


def test_texts_that_hold_markup_or_are_long_stay_texts():
    explorer = RunExplorer(hostile())
    for step in (0, 1, 2):
        explorer.step = step
        explorer.pool.selected = [HOSTILE]
        explorer.replay.mode.value = "adversarial"
        page = explorer.static()
        assert explorer.failure.value == ""
        assert "<script" not in page
        assert "<img" not in page
        assert not re.search("[\x00-\x08\x1b]", page)
        assert len(page) < 60_000
    assert "more characters" in explorer.detail.value


def test_without_a_kernel_what_was_shown_is_there_without_scripts(plan):
    plan.step = 4
    plan.pool.selected = ["C2"]
    page = plan._repr_mimebundle_()["text/html"]
    told = seen(page)
    for words in ("Step 4 of 14: iteration 1, the ruling", "BLOCKED, no verdict yet", "`rows` stay as they are."):
        assert words in told
    assert not re.search(r"<script|<input|<button|\son\w+=", page)


def test_every_control_has_a_name_and_every_table_heads_and_a_caption(plan):
    controls = [*plan.choice.controls, *plan.replay.controls, plan.previous, plan.next, plan.replay.reset]
    assert all(control.description for control in controls)
    assert plan.slider.label
    assert plan.pool.label == "Pool of challenges"
    plan.step = 2
    plan.pool.selected = ["C2"]
    page = "".join(one.value for one in (plan.changed, plan.votes, plan.detail, plan.calls, plan.differences))
    tables = page.count("<table>")
    assert tables == page.count("<caption>") == page.count("<thead>") >= 4
    assert page.count("<th>") == 0


@pytest.fixture
def logs(tmp_path) -> list[Path]:
    """The logs of two scripted plan runs."""
    for _ in range(2):
        planning.run_of(planning.script(), log_dir=tmp_path, on_blocked="continue")
    return sorted(tmp_path.rglob("*.jsonl"))


def test_a_run_that_cannot_be_driven_again_is_shown_whole_and_the_failure_stands(logs):
    votes = pd.DataFrame({"item": ["F"], "who": ["a"], "says": ["agree"]})
    cross = vp.from_votes(votes, item="item", worker="who", verdict="says")
    runs = concat([vp.load(logs[0].parent), cross])
    damaged, sound = str(runs.runs["run_id"].iloc[1]), str(runs.runs["run_id"].iloc[0])
    explorer = RunExplorer(runs)
    fresh = RunExplorer(runs.select([damaged]))
    explorer.run_id = "votes"
    assert "An import of votes" in explorer.static()
    explorer.run_id = sound
    explorer.replay.policy.value = "deliberate"
    explorer.step = 4
    explorer.pool.selected = ["C2"]
    Path(runs.runs.set_index("run_id")["source"][damaged]).write_bytes(b"{no log")
    explorer.choice.table.selected = [damaged]
    assert f"Run {damaged}" in explorer.head.value
    for name in ("slider", "changed", "state", "calls", "votes", "detail"):
        shown, expected = getattr(explorer, name), getattr(fresh, name)
        assert (shown.text, shown.value) == (expected.text, 0) if name == "slider" else shown.value == expected.value
    assert explorer.pool.rows == fresh.pool.rows
    assert (explorer.differences.value, explorer.replay.note.value) == ("", "")
    assert "That did not work." in explorer.failure.value
    explorer.next.click()
    assert explorer.step == 1
    assert "That did not work." in explorer.failure.value
    explorer.replay.reset.click()
    assert explorer.failure.value == ""
    assert "0 differences" in explorer.replay.note.value


def test_rules_that_refuse_the_votes_of_another_run_leave_its_pool_and_votes_to_be_seen(claims):
    votes = pd.DataFrame({"item": ["F"] * 2, "who": ["a", "b"], "says": ["agree", "disagree"]})
    runs = concat([claims, vp.from_votes(votes, item="item", worker="who", verdict="says")])
    explorer = RunExplorer(runs)
    explorer.replay.mode.value, explorer.replay.basis.value = "adversarial", "raise"
    assert explorer.failure.value == ""
    explorer.choice.table.selected = ["votes"]
    explorer.step = 1
    assert explorer.pool.row_keys == ["F"]
    assert "round 1: disagree" in explorer.votes.value
    assert "has no basis" in explorer.failure.value


def test_as_many_rounds_are_offered_as_the_run_has_and_a_choice_stays(claims):
    votes = pd.DataFrame({"item": "F", "who": ["a", "b"] * 7, "says": "agree", "round": sorted([*range(1, 8)] * 2)})
    many = vp.from_votes(votes, item="item", worker="who", verdict="says", round="round")
    explorer = RunExplorer(concat([claims, many]))
    offered = explorer.replay.rounds.options
    assert [number for _, number in offered] == [0, 1, 2, 3]
    explorer.run_id = "votes"
    assert [number for _, number in explorer.replay.rounds.options] == list(range(8))
    explorer.replay.rounds.value = 7
    explorer.run_id = claims.runs["run_id"].iloc[0]
    assert explorer.replay.rounds.value == 7
    assert explorer.replay.changed
    explorer.replay.reset.click()
    assert explorer.replay.rounds.value == 0


def test_the_note_counts_what_a_policy_changes_and_says_what_does_not_apply(plan):
    plan.replay.policy.value = "deliberate"
    n = int(re.search(r"(\d+) differences? to the recorded run", seen(plan.differences.value)).group(1))
    assert n > 0
    told = (
        f"0 differences to the recorded classes, {n} to the recorded run under policy deliberate , listed at the end."
    )
    assert f"{told} Rounds and missing bases do not apply to the policy." in seen(plan.replay.note.value)
    plan.replay.reset.click()
    assert seen(plan.replay.note.value).strip() == "0 differences to the recorded classes ."


def test_four_runs_driven_again_are_kept_and_none_whose_log_has_changed(plans, monkeypatch):
    made = []
    monkeypatch.setattr(policy, "replay_run", lambda source, **how: made.append(how) or replay_run(source, **how))
    course, driven = RunSteps(plans), policy.ReplayCache()
    asked = [("protocol", None), ("deliberate", None), ("protocol", "adversarial"), ("deliberate", "adversarial")]
    for one in [*asked, *asked]:
        driven.under(course, *one)
    assert len(made) == len(driven) == 4
    driven.under(course, "protocol", "collaborative")
    driven.under(course, "deliberate", "adversarial")
    assert (len(made), len(driven)) == (5, 4)
    log = Path(plans.runs["source"].iloc[0])
    told = log.stat()
    os.utime(log, ns=(told.st_atime_ns, told.st_mtime_ns + 1_000_000_000))
    driven.under(course, "deliberate", "adversarial")
    assert (len(made), len(driven)) == (6, 4)


def test_one_of_very_many_is_found_by_its_number_or_claim():
    votes = pd.DataFrame({"item": [f"F-{n:04}" for n in range(1200)], "who": "a", "says": "agree"})
    runs = vp.from_votes(votes, item="item", worker="who", verdict="says")
    claims = ["The Last One [here]" if n == 1199 else None for n in range(1200)]
    findings = typed("findings", runs.findings.assign(summary=claims))
    explorer = RunExplorer(vp.RunSet(runs=runs.runs, findings=findings, votes=runs.votes))
    assert "F-1199" not in explorer.pool.row_keys
    for wanted in ("f-1199", " last one ", "[here]"):
        explorer.find.value = wanted
        assert explorer.pool.row_keys == ["F-1199"]
    assert explorer.pool.note == "1 finding; found among 1,200."
    explorer.step = 1
    assert explorer.pool.row_keys == ["F-1199"]
    explorer.find.value = "(none)"
    assert explorer.pool.note == "None of 1,200 findings has this text: write less of it, or nothing."
    assert explorer.find.layout.display is None
    explorer.run_id = "votes"
    assert (explorer.find.value, len(explorer.pool.row_keys)) == ("", 500)


def test_what_is_looked_for_in_one_run_is_not_looked_for_in_the_next(cross, claims):
    cross.find.value = "F-0145"
    assert cross.pool.row_keys == ["F-0145"]
    assert "1 finding; found among 60." in seen(cross.static())
    cross.run_id = claims.runs["run_id"].iloc[1]
    assert len(cross.pool.row_keys) > 1


def test_classes_and_statuses_of_a_replay_are_escaped(plan, monkeypatch):
    again = replay_run(Path(plan.course.tables.runs["source"].iloc[0]))
    frames = again.run.frames
    challenges = frames.challenges.assign(status="<script>")
    bad = SimpleNamespace(runs=frames.runs, iterations=frames.iterations, challenges=challenges)
    driven = SimpleNamespace(run=SimpleNamespace(frames=bad), censored=None, unscored=None)
    monkeypatch.setattr(policy, "replay_run", lambda *_, **__: driven)
    plan.replay.policy.value = "deliberate"
    assert "&lt;script&gt;" in plan.differences.value
    assert "<script" not in plan.differences.value
    moved = {"finding_id": ["C1"], "iteration": [0], "old": ["<script>"], "new": ["<script>"], "rule": ["survived"]}
    found = pd.DataFrame(moved | {"meaning": ["x"], "censored": [False], "filled_bases": [0]})
    monkeypatch.setattr(RunSteps, "differences", lambda *_: found)
    plan.replay.policy.value = "as in the run"
    assert "&lt;script&gt;" in plan.differences.value
    assert "<script" not in plan.differences.value


def test_a_debate_is_told_as_one():
    run = debate_of(CONVERGES, synthetic=True)
    told = seen(explorer_views.headline(RunSteps(run.frames)))
    assert "debate; greet; ended: CONVERGED (VERIFIED) in turn 2 of at most 3; 6 messages; synthetic" in told
    failed = debate_of(CONVERGES | {"t1/verify": "error"})
    assert "ended: no status (AGENT_FAILED) in turn 1" in seen(explorer_views.headline(RunSteps(failed.frames)))
