"""The run viewer as Python and the page's messages drive it: what is shown is compared with the tables."""

from __future__ import annotations

import os
import re
import threading
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import verifyplan as vp
from tests.longer import part
from tests.runs.debate_scripts import CONVERGES, debate_of
from tests.runs.plan import planning
from tests.widgets.live_runs import FOUND, VOTES
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.analysis.explain import RULE_MEANINGS
from verifyplan.analysis.run_steps import RunSteps
from verifyplan.errors import InputError
from verifyplan.frames.columns import TABLES, typed
from verifyplan.frames.runset import concat
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.replay import replay_run
from verifyplan.runs.resume import resume
from verifyplan.widgets.explorer import RunExplorer, contents, replay_form
from verifyplan.widgets.explorer import views as explorer_views
from verifyplan.widgets.explorer.lists import MAX_SLICE_ROWS
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


@pytest.fixture(scope="module")
def models() -> vp.RunSet:
    """Runs of models, with the turns of their calls."""
    return vp.load(vp.datasets.path("live-example"))


@pytest.fixture
def plan(plans) -> RunExplorer:
    return RunExplorer(plans)


@pytest.fixture
def cross(claims) -> RunExplorer:
    return RunExplorer(claims)


def seen(page: str) -> str:
    """The text of some HTML, tags left out."""
    return re.sub(r"\s+", " ", re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL))


def names(explorer: RunExplorer, of: str = "items") -> list[str]:
    return [row[0] for row in getattr(explorer.frame, of)["rows"]]


def labels(explorer: RunExplorer) -> dict[str, str]:
    """The class or status of each item as the list shows it."""
    return {row[0]: row[1] for row in explorer.frame.items["rows"]}


def under(explorer: RunExplorer) -> dict[str, str]:
    """The items that other rules would give another class, as the list marks them."""
    return {row[0]: row[3] for row in explorer.frame.items["rows"] if "≠" in row[3]}


def ask(explorer: RunExplorer, do: str, **values: Any) -> None:
    explorer.receive({"do": do, **values})


def choose(explorer: RunExplorer, of: str, name: str) -> None:
    """Choose the row of that name, as a click does."""
    shown = getattr(explorer.frame, of)
    ask(explorer, "choose", list=of, key=shown["keys"][names(explorer, of).index(name)])


def sent(explorer: RunExplorer, monkeypatch: pytest.MonkeyPatch, do: str, **values: str) -> str:
    """What is sent for a part that is unfolded: the transcript of a call, or why an item has its class."""
    messages: list[dict[str, str]] = []
    monkeypatch.setattr(explorer.frame, "send", messages.append)
    ask(explorer, do, **values)
    assert [message["slot"] for message in messages] == [values.get("call", do)]
    return messages[0]["html"]


def test_it_opens_on_the_first_run_as_it_ended(cross, claims):
    assert (cross.run_id, cross.step, cross.finding_id) == (claims.runs["run_id"].iloc[0], 3, None)
    assert [step["mark"] for step in cross.frame.steps] == ["found", "round 1", "round 2", "end"]
    assert (cross.frame.steps[1]["calls"], cross.frame.steps[1]["title"]) == (4, "round 1; 4 calls")
    assert (cross.frame.runs["note"], cross.frame.runs["chosen"]) == ("24 runs", 0)
    recorded = claims.select([cross.run_id]).findings
    assert labels(cross) == dict(zip(recorded["finding_id"], recorded["classification"].astype("str"), strict=True))


def test_a_step_shows_where_each_finding_stands(cross):
    ask(cross, "step", step=0)
    assert set(labels(cross).values()) == {"waiting"}
    assert cross.frame.status == "Step 0 of 3: what was found; 0 changes."
    ask(cross, "step", step=99)
    assert (cross.step, cross.frame.step) == (3, 3)


def test_a_step_of_a_plan_run_shows_items_changes_and_calls(plan):
    plan.step = 2
    assert plan.frame.steps[2] == {
        "group": "iteration 1",
        "mark": "panel 1",
        "title": "iteration 1, panel round 1; 3 calls, 1 failed",
        "calls": 3,
        "failed": 1,
    }
    assert f"lone-doubt: {RULE_MEANINGS['lone-doubt']}" in seen(plan.frame.changed)
    assert "8 challenges: 7 OPEN, 1 overflow." in seen(plan.frame.changed)
    assert "✗ timeout" in seen(plan.frame.calls)
    assert "3 calls; 1 failed" in seen(plan.frame.calls)


def test_run_step_and_finding_can_be_set_and_what_is_not_there_is_said(cross, claims):
    other = claims.runs["run_id"].iloc[20]
    cross.step = 2
    cross.run_id = other
    assert (cross.run_id, cross.step, cross.frame.runs["chosen"]) == (other, 3, 20)
    with pytest.raises(InputError, match="'nothing' is not in this set"):
        cross.run_id = "nothing"
    with pytest.raises(InputError, match=r"must be a step of this run, got 99\. Fix: use a whole number from 0 to 3"):
        cross.step = 99
    with pytest.raises(InputError, match=r"'F-9' is not in run 'collaborative/part-09'.*use one of: F-"):
        cross.finding_id = "F-9"
    assert (cross.run_id, cross.step, cross.finding_id) == (other, 3, None)


def test_view_opens_a_finding_by_its_name_or_by_the_row_of_a_table(claims, plans):
    viewer = vp.view(claims, "F-0145")
    assert (viewer.run_id, viewer.selected["finding_id"].tolist()) == ("adversarial/part-01", ["F-0145"])
    assert viewer.frame.items["chosen"] == names(viewer).index("F-0145")
    row = claims.findings[claims.findings["run_id"].eq("collaborative/part-03")].iloc[7]
    viewer = vp.view(claims, row)
    assert (viewer.run_id, viewer.finding_id) == (row["run_id"], row["finding_id"])
    assert vp.view(plans, {"challenge_id": "C4"}).selected["challenge_id"].tolist() == ["C4"]
    assert vp.view(plans, pd.Series({"challenge_id": "C4", "run_id": None})).finding_id == "C4"
    assert vp.view(claims, run_id="collaborative/part-03").run_id == "collaborative/part-03"
    with pytest.raises(InputError, match=r"'F-0' is in no run.*use one of: F-0001"):
        vp.view(claims, "F-0")


def test_view_opens_every_row_that_names_a_finding_a_run_a_call_or_a_round(claims, plans, models):
    for number, name in enumerate(TABLES):
        held = [runs for runs in (claims, plans, models) if len(getattr(runs, name))]
        for runs in part(held, max(1, len(held)), number):
            table = getattr(runs, name)
            places = sorted({0, len(table) // 2, len(table) - 1})
            for row in map(table.iloc.__getitem__, part(places, 3, number)):
                viewer = vp.view(runs, row)
                assert (viewer.run_id, viewer.failure.value) == (row["run_id"], ""), name
                item = row.get("finding_id", row.get("challenge_id", row.get("position")))
                assert viewer.finding_id == (None if item is None else str(item)), name
    row = models.calls[models.calls["call_id"].eq("i1/challenger")].iloc[0]
    assert vp.view(models, row).step == 0
    turn = models.turns[models.turns["call_id"].eq("i1/synthesizer")].iloc[-1]
    title = vp.analysis.steps(models, turn["run_id"])["title"]
    assert title[vp.view(models, turn).step] == "iteration 1, what was settled"
    held = claims.rounds[claims.rounds["round"].eq(1)].iloc[-1]
    assert (vp.view(claims, held).step, vp.view(claims, held).run_id) == (1, held["run_id"])


def test_view_opens_rows_in_every_form_in_which_they_are_had(claims):
    table = claims.findings[claims.findings["run_id"].eq("collaborative/part-03")]
    row = table.iloc[7]
    wanted = (row["run_id"], row["finding_id"])
    for given in (
        row,
        dict(row),
        table.iloc[[7]],
        next(table.iloc[7:].itertuples()),
        table.set_index("finding_id").iloc[7],
        table.set_index(["run_id", "finding_id"]).iloc[7],
        table.rename(columns={"finding_id": "item", "run_id": "run"}).iloc[7],
    ):
        viewer = vp.view(claims, given)
        assert (viewer.run_id, viewer.finding_id) == wanted
    changed = vp.compare(claims, resamples=20).findings
    row = changed[changed["changed"]].iloc[3]
    viewer = vp.view(claims, row)
    assert viewer.finding_id == row["finding_id"]
    votes = pd.DataFrame({"item": [1, 1, 2], "worker": ["a", "b", "a"], "verdict": "agree"})
    runs = vp.from_votes(votes, item="item", worker="worker", verdict="verdict")
    assert [vp.view(runs, given).finding_id for given in (2, 2.0, votes.iloc[2], pd.Series({"item": 2.0}))] == ["2"] * 4


def test_a_row_that_cannot_be_opened_is_refused_in_words(claims):
    worker = pd.Series({"worker": "window", "accuracy": 0.5})
    with pytest.raises(
        InputError, match=r"names neither a finding nor a run; its columns are 'worker', 'accuracy'"
    ) as caught:
        vp.view(claims, worker)
    assert "of a worker a row of its votes: runs.votes[runs.votes['worker'].eq('window')].iloc[0]" in str(caught.value)
    with pytest.raises(
        InputError, match=r"finding_id: must be one row, got 1,440\. Fix: give one row, as table\.iloc\[0\]"
    ):
        vp.view(claims, claims.findings)
    with pytest.raises(InputError, match="'part-01' is not in this set"):
        vp.view(claims, {"run_id": "part-01"})


def test_choosing_a_run_in_the_list_shows_it(cross, claims):
    choose(cross, "runs", claims.runs["run_id"].iloc[15])
    assert cross.run_id == claims.runs["run_id"].iloc[15]
    assert "collaborative mode" in seen(cross.frame.head)


def test_filters_leave_the_runs_that_have_all_that_is_asked_for(claims, plans):
    explorer = RunExplorer(concat([claims, plans]))
    ask(explorer, "list", list="runs", name="kind", value="plan")
    assert names(explorer, "runs") == plans.runs["run_id"].tolist()
    ask(explorer, "list", list="runs", name="plan_verdict", value="none")
    assert explorer.frame.runs["note"] == "None of 25 runs matches: change a filter or the search."
    assert explorer.frame.status == explorer.frame.runs["note"]
    for name, value in (("kind", "any"), ("plan_verdict", "any"), ("mode", "adversarial"), ("search", "PART-1")):
        ask(explorer, "list", list="runs", name=name, value=value)
    assert names(explorer, "runs") == [f"adversarial/part-1{n}" for n in (0, 1, 2)]
    assert explorer.frame.runs["note"] == "3 of 25 runs"
    offered = {
        control["label"]: [value for value, _ in control["options"]] for control in explorer.frame.runs["controls"]
    }
    assert offered["Kind"] == ["any", "cross", "plan"]


def test_text_finds_runs_by_task_and_plan_name_as_plain_text(plans):
    explorer = RunExplorer(plans)
    for text, number in (("new STORE", 1), (".md", 1), ("[(", 0), ("", 1)):
        ask(explorer, "list", list="runs", name="search", value=text)
        assert len(names(explorer, "runs")) == number


def test_a_click_opens_what_was_clicked_though_the_list_has_changed_meanwhile(cross, claims):
    run, name, key = cross.run_id, names(cross)[5], cross.frame.items["keys"][5]
    assert key == [run, name]
    cross.run_id = claims.runs["run_id"].iloc[7]
    ask(cross, "choose", list="items", key=key)
    assert (cross.run_id, cross.finding_id) == (run, name)
    clicked = cross.frame.runs["keys"][3]
    for order, value in (("sort", "run_id"), ("descending", "yes")):
        ask(cross, "list", list="runs", name=order, value=value)
    ask(cross, "choose", list="runs", key=clicked)
    assert [cross.run_id] == clicked


def test_a_click_waits_while_a_cell_changes_what_is_shown(cross, claims, monkeypatch):
    drawing, go_on = threading.Event(), threading.Event()
    whole = contents.items_at

    def slow(course, step):
        drawing.set()
        assert go_on.wait(30)
        return whole(course, step)

    monkeypatch.setattr(contents, "items_at", slow)
    cell = threading.Thread(target=lambda: setattr(cross, "run_id", claims.runs["run_id"].iloc[7]))
    cell.start()
    assert drawing.wait(30)
    click = threading.Thread(target=lambda: ask(cross, "step", step=0))
    click.start()
    click.join(0.05)
    assert click.is_alive(), "it would draw a step of a run that is half there"
    go_on.set()
    for thread in (cell, click):
        thread.join(30)
    assert (cross.run_id, cross.step, cross.failure.value) == (claims.runs["run_id"].iloc[7], 0, "")


def test_calls_that_a_reopening_superseded_are_listed_and_marked_and_count_no_more(tmp_path, monkeypatch):
    failed = VOTES | {1: VOTES[1] | {"ann": "timeout"}}
    given = {"log_dir": tmp_path, "repo": planning.REPO, "matcher": None}
    run = crossverify(FOUND, ["ann", "bob", "cy"], backend=ScriptedBackend(failed, silent=True), **given)
    resume(run, backend=ScriptedBackend(VOTES, silent=True), retry_failed=True)
    explorer = RunExplorer(vp.load(tmp_path))
    explorer.step = 1
    made = explorer.course.calls(1)
    assert made[["worker", "reopening", "superseded"]].to_numpy().tolist() == [
        ["ann", 0, True], ["bob", 0, False], ["cy", 0, False], ["ann", 1, False],
    ]  # fmt: skip
    shown = seen(explorer.frame.calls)
    assert "3 calls; none failed; 1 superseded" in shown
    assert shown.count("superseded; tokens") == 1
    assert (
        "It no longer counts: a reopening of the run asked it again or took another course. Its cost counts." in shown
    )
    assert explorer.frame.calls.count('data-call="r1/ann"') == 1
    assert "The answer as the run read it" in sent(explorer, monkeypatch, "call", call="r1/ann")
    assert (explorer.frame.steps[1]["calls"], explorer.frame.steps[1]["failed"]) == (3, 0)


def test_lists_are_sorted_by_what_their_columns_mean(plan, cross):
    ask(cross, "list", list="runs", name="sort", value="run_id")
    ask(cross, "list", list="runs", name="descending", value="yes")
    assert names(cross, "runs")[0] == "collaborative/part-12"
    ask(plan, "list", list="items", name="sort", value="severity")
    order = list(dict.fromkeys(row[3] for row in plan.frame.items["rows"]))
    assert order == ["BLOCKING", "SIGNIFICANT", "MINOR"]
    ask(cross, "list", list="items", name="sort", value="standing")
    classes = list(dict.fromkeys(labels(cross).values()))
    assert classes == [
        each for each in ("full-consensus", "partial-consensus", "contested", "worker-unique") if each in classes
    ]


def test_selected_is_the_row_of_the_chosen_one(plan, plans, cross):
    assert plan.selected.empty
    choose(plan, "items", "C4")
    chosen = plans.challenges[plans.challenges["challenge_id"].eq("C4")].reset_index(drop=True)
    pd.testing.assert_frame_equal(plan.selected, chosen)
    choose(plan, "items", "C4")
    assert plan.selected.empty
    cross.finding_id = "F-0145"
    assert cross.selected[["run_id", "finding_id"]].to_numpy().tolist() == [["adversarial/part-01", "F-0145"]]
    cross.run_id = "adversarial/part-02"
    assert cross.selected.empty


def test_findings_of_all_runs_are_searched_and_one_opens_its_run(claims, plans):
    explorer = RunExplorer(concat([claims, plans]))
    ask(explorer, "scope", value="all")
    total = len(claims.findings) + len(plans.challenges)
    assert (explorer.frame.items["total"], len(explorer.frame.items["rows"])) == (total, MAX_SLICE_ROWS)
    ask(explorer, "list", list="items", name="search", value="f-0145")
    assert [row[3] for row in explorer.frame.items["rows"]] == ["adversarial/part-01", "collaborative/part-01"]
    ask(explorer, "choose", list="items", key=explorer.frame.items["keys"][1])
    assert (explorer.run_id, explorer.finding_id) == ("collaborative/part-01", "F-0145")
    assert (explorer.frame.items["search"], explorer.frame.items["total"]) == ("f-0145", 2)
    ask(explorer, "list", list="items", name="search", value="")
    ask(explorer, "list", list="items", name="standing", value="UNRESOLVED")
    assert set(labels(explorer).values()) == {"UNRESOLVED"}
    ask(explorer, "list", list="items", name="sort", value="run_id")
    ask(explorer, "scope", value="run")
    assert explorer.frame.items["total"] == 60
    assert next(each["value"] for each in explorer.frame.items["controls"] if each["name"] == "sort") == ""


def test_a_class_is_filtered_by_in_the_next_run_of_the_same_kind_alone(claims, plans):
    explorer = RunExplorer(concat([claims, plans]), "adversarial/part-01")
    ask(explorer, "list", list="items", name="standing", value="contested")
    explorer.run_id = "adversarial/part-02"
    assert set(labels(explorer).values()) == {"contested"}
    explorer.run_id = plans.runs["run_id"].iloc[0]
    assert explorer.frame.items["total"] == len(plans.challenges)


def test_the_page_gets_a_slice_around_what_it_asks_for_or_what_is_chosen():
    explorer = RunExplorer(many_findings(1200))
    shown = explorer.frame.items
    assert (shown["total"], shown["first"], len(shown["rows"])) == (1200, 0, MAX_SLICE_ROWS)
    ask(explorer, "rows", list="items", first=640)
    assert (explorer.frame.items["first"], names(explorer)[0]) == (640, "F-0640")
    ask(explorer, "rows", list="items", first=5000)
    assert names(explorer)[-1] == "F-1199"
    explorer.finding_id = "F-0700"
    shown = explorer.frame.items
    assert (shown["chosen"], shown["first"]) == (700, 600)


def many_findings(n: int) -> vp.RunSet:
    votes = pd.DataFrame({"item": [f"F-{i:04}" for i in range(n)], "who": "a", "says": "agree"})
    runs = vp.from_votes(votes, item="item", worker="who", verdict="says")
    summaries = ["The Last One [here]" if i == n - 1 else None for i in range(n)]
    return vp.RunSet(
        runs=runs.runs, findings=typed("findings", runs.findings.assign(summary=summaries)), votes=runs.votes
    )


def test_one_of_very_many_is_found_by_its_number_or_claim():
    explorer = RunExplorer(many_findings(1200))
    for wanted in ("f-1199", " last one ", "[here]"):
        ask(explorer, "list", list="items", name="search", value=wanted)
        assert names(explorer) == ["F-1199"]
    assert explorer.frame.items["note"] == "1 of 1,200 findings"
    explorer.step = 0
    assert names(explorer) == ["F-1199"]
    ask(explorer, "list", list="items", name="search", value="(none)")
    assert explorer.frame.items["note"] == "None of 1,200 findings matches: change a filter or the search."
    explorer.run_id = "votes"
    assert (explorer.frame.items["search"], explorer.frame.items["total"]) == ("", 1200)


def test_the_chosen_one_shows_what_stands_behind_it_at_that_step(plan):
    plan.finding_id, plan.step = "C1", 0
    assert "see store.py:3" not in seen(plan.frame.item)
    assert "Nobody has voted on C1 by this step." in seen(plan.frame.item)
    plan.step = 3
    shown = seen(plan.frame.item)
    for words in ("Status RESOLVED", "Severity SIGNIFICANT", "Resolution see store.py:3", "Place locks.py:5"):
        assert words in shown
    assert 'data-head="panel-2, round 1: agree" data-words="store.py:9 says so"' in plan.frame.item


def test_votes_stand_by_worker_and_round_with_their_words(cross, claims):
    cross.finding_id = "F-0145"
    votes = claims.select([cross.run_id]).votes
    own = votes[votes["finding_id"].eq("F-0145")]
    heads = re.findall(r'data-head="([^"]*)"', cross.frame.item)
    assert sorted(head.partition(":")[0] for head in heads) == sorted(
        f"{row.worker}, round {row.round}" for row in own.itertuples()
    )
    assert "window, round 1: disagree, counter-evidence" in heads
    words = [unescape(words) for words in re.findall(r'data-words="([^"]*)"', cross.frame.item)]
    assert set(words) == set(own["explanation"])


def test_why_it_ends_in_its_class_is_said_by_the_rules_that_are_chosen(cross, claims, monkeypatch):
    cross.finding_id = "F-0409"
    recorded = vp.explain(claims, "F-0409", cross.run_id)
    assert " ".join(str(recorded).split()) in seen(unescape(sent(cross, monkeypatch, "why")))
    ask(cross, "rules", name="mode", value="collaborative")
    other = vp.explain(claims, "F-0409", cross.run_id, "collaborative")
    assert other.text != recorded.text
    assert " ".join(str(other).split()) in seen(unescape(sent(cross, monkeypatch, "why")))
    assert " ".join(str(other).split()) in seen(unescape(cross.static()))


def test_one_that_had_not_been_raised_is_said(plan):
    plan.finding_id, plan.step = "C11", 0
    assert "C11 had not been raised by this step." in seen(plan.frame.item)


def test_without_a_choice_the_matrix_shows_fifteen_items(cross):
    cross.step = 1
    heads = re.findall(r'<th scope="row"[^>]*>([^<]*)</th>', cross.frame.item)
    assert len(heads) == 15
    assert "15 of 60" in seen(cross.frame.item)
    marks = re.findall(r'aria-label="(round 1: [^"]*|discovered)"', cross.frame.item)
    assert {"round 1: counter-evidence", "discovered"} <= set(marks)
    cross.step = 0
    assert "Choose a finding in the list" in seen(cross.frame.item)


def test_the_matrix_shows_the_chosen_item_and_what_changed_before_others(cross):
    cross.step = 1
    cross.finding_id = names(cross)[-1]
    matrix = cross.frame.item.partition("Votes on other items so far")[2]
    heads = re.findall(r'<th scope="row"[^>]*>([^<]*)</th>', matrix)
    voted = cross.course.votes(1)["finding_id"].tolist()
    changed = [name for name in cross.course.changes(1)["item"] if name in voted]
    assert heads == list(dict.fromkeys([names(cross)[-1], *changed]))[:15]


def test_what_a_plan_run_did_not_vote_on_is_said(plan):
    plan.step = 0
    assert "Nobody has voted by this step." in seen(plan.frame.item)


def test_tokens_of_artifacts_are_not_recorded_and_never_zero(cross):
    cross.step = 1
    assert f"4 calls; none failed; tokens {NOT_RECORDED};" in seen(cross.frame.calls)
    assert re.findall(r"<dt>tokens out</dt><dd>([^<]*)</dd>", cross.frame.calls) == [NOT_RECORDED] * 4
    assert "<dd>0</dd>" not in cross.frame.calls


def test_the_transcript_of_a_call_holds_prompt_tools_replies_and_tokens(models, monkeypatch):
    explorer = vp.view(models, run_id="plan/purge-hour-001")
    shown = seen(unescape(sent(explorer, monkeypatch, "call", call="i1/challenger")))
    for words in (
        "its digest equals the recorded one",
        "# Your task: challenger",
        "Turn 1, the reply",
        "calls Read",
        "docs/runbook.md: lines 1-12 of 22",
        "is not opened: it looks like settings of an environment",
        "tokens in",
        "tool calls",
        "The answer as the run read it",
    ):
        assert words in shown
    worker = seen(unescape(sent(explorer, monkeypatch, "call", call="i1/panel/r1/panel-1")))
    assert "its digest equals the recorded one" in worker
    assert "purge-hour.md:13 reads as quoted" in worker
    assert "1 excerpt of cited places, opened beforehand" in worker
    assert "tool call" not in worker


def test_a_call_of_an_agent_without_a_prompt_shows_its_request_and_what_failed(plan, monkeypatch):
    shown = seen(unescape(sent(plan, monkeypatch, "call", call="i1/challenger")))
    assert '"role": "challenger"' in shown
    assert "its digest equals the recorded one" in shown
    calls = plan.course.tables.calls
    failed = calls.loc[calls["status"].eq("timeout"), "call_id"].iloc[0]
    assert "It failed (timeout)" in seen(sent(plan, monkeypatch, "call", call=failed))


def test_without_a_log_the_reason_is_said_in_place_of_a_transcript(cross, monkeypatch):
    assert "No transcript: this run has no log." in seen(sent(cross, monkeypatch, "call", call="r1/window"))


def test_evidence_is_opened_at_the_lines_that_the_log_holds(models):
    explorer = vp.view(models, "C1", "plan/purge-hour-001")
    plan_text = vp.read_run(
        Path(models.runs.set_index("run_id")["source"]["plan/purge-hour-001"])
    ).started.plan.plan_text
    cited = re.findall(r'<mark class="vp-cited">([^<]*)</mark>', explorer.frame.item)
    assert [unescape(line) for line in cited] == [plan_text.split("\n")[12]]
    assert "purge-hour.md, line 13, as recorded" in seen(explorer.frame.item)
    cross = vp.view(models, run_id="collaborative/panel-001")
    cross.finding_id = cross.course.tables.findings["finding_id"].iloc[0]
    assert "the log does not hold this line" in seen(cross.frame.item)


def test_presets_of_the_rules_are_tried_on_the_run_and_on_the_chosen_item(cross, claims):
    cross.finding_id = "F-0409"
    ask(cross, "others")
    one = claims.select([cross.run_id])
    again = vp.replay(one, rules="collaborative").set_index("finding_id")
    moved = int((again["recorded"].astype("str") != again["classification"].astype("str")).sum())
    shown = seen(cross.frame.others)
    new = again["classification"]["F-0409"]
    assert re.search(rf"collaborative {new}.*? {moved:,} of 60 adversarial", shown)
    assert "sticky-refutes" in shown
    cross.finding_id = None
    assert "would be" not in seen(cross.frame.others)
    cross.run_id = "adversarial/part-02"
    assert cross.frame.others == ""


def test_another_mode_marks_the_differences_at_once(cross, claims):
    assert "These rules give the recorded classes" in seen(cross.frame.replayed)
    ask(cross, "rules", name="mode", value="collaborative")
    assert cross.rules == vp.Setting("collaborative")
    again = vp.replay(claims.select([cross.run_id]), "collaborative")
    moved = again[again["recorded"].astype("str") != again["classification"].astype("str")]
    classes = moved["classification"].astype("str")
    assert under(cross) == {name: f"≠ {new}" for name, new in zip(moved["finding_id"], classes, strict=True)}
    assert f"{len(moved)} differences to the recorded classes" in seen(cross.frame.replayed)
    assert f"no-majority: {RULE_MEANINGS['no-majority']}; censored" in seen(cross.frame.replayed)
    ask(cross, "rules", name="reset")
    assert under(cross) == {}
    assert (cross.rules, cross.frame.rules[0]["value"]) == (vp.Setting(), "recorded")
    assert "0 differences" in seen(cross.frame.replayed)


def test_fewer_rounds_and_other_readings_of_bases_are_replayed(cross, claims):
    ask(cross, "rules", name="rounds", value="1")
    again = vp.replay(claims.select([cross.run_id]), "recorded", max_rounds=1)
    n = int((again["recorded"].astype("str") != again["classification"].astype("str")).sum())
    assert f"{n} difference" in seen(cross.frame.replayed)


def test_rules_that_are_none_are_refused(cross):
    ask(cross, "rules", name="mode", value="<b>")
    assert "&#x27;&lt;b&gt;&#x27; cannot be replayed" in cross.failure.value
    ask(cross, "rules", name="rounds", value="2")
    assert cross.failure.value == ""
    assert cross.rules == vp.Setting(max_rounds=2)


def test_a_policy_drives_a_plan_run_again_from_its_log(plan):
    ask(plan, "rules", name="policy", value="deliberate")
    shown = seen(plan.frame.replayed)
    assert "Under policy deliberate" in shown
    assert "iteration 1 BLOCKED CONTINUE" in shown
    n = int(re.search(r"(\d+) differences? to the recorded run ", shown).group(1))
    counts = f"0 differences to the recorded classes, {n} to the recorded run under policy deliberate."
    assert f"{counts} Rounds and missing bases do not apply to the policy." in shown
    assert plan.failure.value == ""
    ask(plan, "rules", name="policy", value="protocol")
    assert "Rulings, verdict and challenges are as recorded." in seen(plan.frame.replayed)


def test_where_there_is_no_policy_the_reason_is_said(cross, plans):
    assert cross.frame.rules[3]["disabled"]
    assert "only plan runs have a policy" in seen(cross.frame.replayed)
    moved = vp.RunSet(runs=plans.runs.assign(source="/nowhere/at-all.jsonl"))
    assert "not where it was read from" in RunExplorer(moved).frame.replayed
    without = vp.RunSet(runs=plans.runs.assign(log=False))
    assert "has no log" in RunExplorer(without).frame.replayed


def test_a_callback_that_fails_says_so_and_is_forgotten_once_it_works(plan, monkeypatch):
    def broken(*_):
        raise ValueError("the <table> is gone")

    with monkeypatch.context() as patch:
        patch.setattr(explorer_views, "changes", broken)
        ask(plan, "step", step=1)
        assert "ValueError: the &lt;table&gt; is gone" in plan.failure.value
        ask(plan, "step", step=2)
        assert "ValueError" in plan.failure.value
    ask(plan, "step", step=3)
    assert plan.failure.value == ""
    assert "OPEN → RESOLVED" in seen(plan.frame.changed)


def test_a_reading_that_refuses_missing_bases_says_which_and_leaves_items_and_votes_to_be_seen(claims):
    votes = pd.DataFrame({"item": ["F"] * 2, "who": ["a", "b"], "says": ["agree", "disagree"]})
    explorer = RunExplorer(concat([claims, vp.from_votes(votes, item="item", worker="who", verdict="says")]))
    ask(explorer, "rules", name="mode", value="adversarial")
    ask(explorer, "rules", name="basis", value="raise")
    assert explorer.failure.value == ""
    choose(explorer, "runs", "votes")
    assert names(explorer) == ["F"]
    assert "round 1: disagree" in explorer.frame.item
    assert "has no basis" in explorer.failure.value
    explorer.finding_id = "F"
    assert "b, round 1: disagree" in explorer.frame.item
    ask(explorer, "why")
    assert "has no basis" in explorer.failure.value
    ask(explorer, "rules", name="basis", value="infer")
    ask(explorer, "why")
    assert explorer.failure.value == ""


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"kind": ["cross"]}, "This run has no findings."),
        ({"kind": ["plan"], "log": [False]}, "This run has no log"),
        ({"kind": ["plan"], "finished": [False]}, "This run has not ended"),
        ({"kind": ["plan"], "trivial": [True]}, "sized as trivial: ended before any call"),
        ({"kind": ["votes"]}, "An import of votes records neither calls nor classes"),
        ({"kind": ["debate"]}, "Nothing changed in this step."),
    ],
)
def test_what_a_run_lacks_is_said_in_words(table, said):
    explorer = RunExplorer(vp.RunSet(runs=typed("runs", {"run_id": ["bare"], **table})))
    assert said in seen(explorer.static())
    ask(explorer, "others")
    assert explorer.failure.value == ""


def test_a_run_without_votes_says_so(claims):
    one = claims.select(["adversarial/part-01"])
    explorer = RunExplorer(vp.RunSet(runs=one.runs, findings=one.findings))
    assert "This run has no votes." in seen(explorer.frame.head)
    ask(explorer, "others")
    assert "Without votes, no rules can give other classes." in seen(explorer.frame.others)
    assert explorer.failure.value == ""


def test_a_set_without_runs_says_so():
    explorer = RunExplorer(vp.RunSet())
    assert "There are no runs in this set" in seen(explorer.static())
    assert (explorer.run_id, explorer.finding_id) == (None, None)
    assert explorer.selected.empty
    ask(explorer, "step", step=1)
    ask(explorer, "rules", name="mode", value="adversarial")
    ask(explorer, "list", list="runs", name="search", value="x")
    ask(explorer, "scope", value="all")
    ask(explorer, "others")
    ask(explorer, "nothing of this")
    assert explorer.failure.value == ""


def test_what_is_no_runset_is_refused():
    with pytest.raises(InputError, match="runs"):
        RunExplorer(pd.DataFrame())  # type: ignore[arg-type]


def hostile() -> vp.RunSet:
    """One run in which every text is markup, holds control characters or is 100 kB long."""
    long = HOSTILE + "x" * 100_000
    table = pd.DataFrame({"item": [HOSTILE, "F2"], "who": [HOSTILE, "b"], "says": "agree", "words": long})
    runs = vp.from_votes(table, item="item", worker="who", verdict="says", explanation="words")
    said = {"run_id": HOSTILE, "summary": long, "evidence": long, "category": HOSTILE}
    return vp.RunSet(
        runs=typed("runs", runs.runs.assign(run_id=HOSTILE, task_key=long)),
        findings=typed("findings", runs.findings.assign(**said)),
        votes=typed("votes", runs.votes.assign(run_id=HOSTILE)),
    )


def test_texts_that_hold_markup_or_are_long_stay_texts():
    explorer = RunExplorer(hostile())
    for step in (0, 1, 2):
        explorer.step = step
        explorer.finding_id = HOSTILE
        ask(explorer, "rules", name="mode", value="adversarial")
        ask(explorer, "others")
        page = explorer.frame
        shown = "".join([explorer.static(), page.head, page.changed, page.calls, page.item, page.replayed, page.others])
        assert explorer.failure.value == ""
        assert not re.search("<script|<img|[\x00-\x08\x1b]", shown)
        assert len(explorer.static()) < 60_000
        assert not re.search("[\x00-\x08\x1b]", str(page.items["rows"]))
    assert "more characters" in explorer.frame.item


def test_without_a_kernel_what_was_shown_is_there_without_scripts(plan):
    plan.step = 4
    plan.finding_id = "C2"
    page = plan._repr_mimebundle_()["text/html"]
    shown = seen(page)
    for words in ("Step 4 of 14: iteration 1, the ruling", "BLOCKED, no verdict yet", "`rows` stay as they are."):
        assert words in shown
    assert "Item Status The panel's class Rule Claim" in unescape(shown)
    first = plan.course.items(4).iloc[0]
    assert " ".join(map(str, first[["item", "standing", "classification", "rule"]])) in unescape(shown)
    assert not re.search(r"<script|<input|<button|\son\w+=", page)


def test_every_table_has_heads_and_a_caption_and_every_control_a_name(plan):
    plan.step = 2
    plan.finding_id = "C2"
    ask(plan, "others")
    shown = "".join([plan.frame.changed, plan.frame.item, plan.frame.calls, plan.frame.replayed, plan.frame.others])
    tables = shown.count("<table>")
    assert tables == shown.count("<caption>") == shown.count("<thead>") >= 4
    assert shown.count("<th>") == 0
    controls = [*plan.frame.rules, *plan.frame.runs["controls"], *plan.frame.items["controls"]]
    assert all(control["label"] for control in controls)


@pytest.fixture
def logs(tmp_path) -> list[Path]:
    """The logs of two scripted plan runs."""
    for _ in range(2):
        planning.run_of(planning.script(), log_dir=tmp_path, on_blocked="continue")
    return sorted(tmp_path.rglob("*.jsonl"))


def test_a_run_whose_log_is_damaged_is_shown_whole_and_the_failure_stands(logs):
    runs = vp.load(logs[0].parent)
    sound, damaged = runs.runs["run_id"].astype("str")
    explorer, fresh = RunExplorer(runs), RunExplorer(runs.select([damaged]))
    ask(explorer, "rules", name="policy", value="deliberate")
    assert explorer.failure.value == ""
    Path(runs.runs.set_index("run_id")["source"][damaged]).write_bytes(b"{no log")
    choose(explorer, "runs", damaged)
    assert f"Run {damaged}" in explorer.frame.head
    for name in ("steps", "step", "changed", "calls", "item", "items"):
        assert getattr(explorer.frame, name) == getattr(fresh.frame, name)
    assert explorer.frame.replayed == ""
    assert "That did not work." in explorer.failure.value
    ask(explorer, "step", step=1)
    assert "That did not work." in explorer.failure.value
    ask(explorer, "rules", name="reset")
    assert explorer.failure.value == ""
    ask(explorer, "call", call="i1/challenger")
    assert "That did not work." in explorer.failure.value
    explorer.run_id = sound
    assert "Under these" not in explorer.frame.item


def test_as_many_rounds_are_offered_as_the_run_has_and_a_choice_stays(claims):
    votes = pd.DataFrame({"item": "F", "who": ["a", "b"] * 7, "says": "agree", "round": sorted([*range(1, 8)] * 2)})
    many = vp.from_votes(votes, item="item", worker="who", verdict="says", round="round")
    explorer = RunExplorer(concat([claims, many]))

    def offered() -> list[int]:
        return [int(value) for value, _ in explorer.frame.rules[1]["options"]]

    assert offered() == [0, 1, 2, 3]
    explorer.run_id = "votes"
    assert offered() == list(range(8))
    ask(explorer, "rules", name="rounds", value="7")
    explorer.run_id = claims.runs["run_id"].iloc[0]
    assert (explorer.rules.max_rounds, offered()[-1]) == (7, 7)
    ask(explorer, "rules", name="reset")
    assert explorer.rules.max_rounds is None


def test_four_runs_driven_again_are_kept_and_none_whose_log_has_changed(plans, monkeypatch):
    made = []
    monkeypatch.setattr(replay_form, "replay_run", lambda source, **how: made.append(how) or replay_run(source, **how))
    course, driven = RunSteps(plans), replay_form.ReplayCache()
    asked = [("protocol", None), ("deliberate", None), ("protocol", "adversarial"), ("deliberate", "adversarial")]
    for one in [*asked, *asked]:
        driven.under(course, *one)
    assert len(made) == len(driven) == 4
    driven.under(course, "protocol", "collaborative")
    driven.under(course, "deliberate", "adversarial")
    assert (len(made), len(driven)) == (5, 4)
    log = Path(plans.runs["source"].iloc[0])
    state = log.stat()
    os.utime(log, ns=(state.st_atime_ns, state.st_mtime_ns + 1_000_000_000))
    driven.under(course, "deliberate", "adversarial")
    assert (len(made), len(driven)) == (6, 4)


def test_classes_and_statuses_of_a_replay_are_escaped(plan, monkeypatch):
    again = replay_run(Path(plan.course.tables.runs["source"].iloc[0]))
    frames = again.run.frames
    challenges = frames.challenges.assign(status="<script>")
    bad = SimpleNamespace(runs=frames.runs, iterations=frames.iterations, challenges=challenges)
    driven = SimpleNamespace(run=SimpleNamespace(frames=bad), censored=None, unscored=None)
    monkeypatch.setattr(replay_form, "replay_run", lambda *_, **__: driven)
    ask(plan, "rules", name="policy", value="deliberate")
    assert "&lt;script&gt;" in plan.frame.replayed
    assert "<script" not in plan.frame.replayed
    moved = {"finding_id": ["C1"], "iteration": [0], "old": ["<script>"], "new": ["<script>"], "rule": ["survived"]}
    found = pd.DataFrame(moved | {"meaning": ["x"], "censored": [False], "filled_bases": [0]})
    monkeypatch.setattr(RunSteps, "differences", lambda *_: found)
    ask(plan, "rules", name="policy", value="as in the run")
    assert "&lt;script&gt;" in plan.frame.replayed
    assert "<script" not in plan.frame.replayed


def test_a_debate_is_shown_as_one():
    run = debate_of(CONVERGES, synthetic=True)
    said = seen(explorer_views.headline(RunSteps(run.frames)))
    assert "debate; greet; ended: CONVERGED (VERIFIED) in turn 2 of at most 3; 6 messages; synthetic" in said
    failed = debate_of(CONVERGES | {"t1/verify": "error"})
    assert "ended: no status (AGENT_FAILED) in turn 1" in seen(explorer_views.headline(RunSteps(failed.frames)))
    explorer = vp.view(run)
    assert names(explorer) == ["1", "2", "3", "4", "5", "6"]
    explorer.finding_id = "2"
    message = run.frames.messages.iloc[1]
    assert (explorer.selected["type"].iloc[0], str(message["content"]) in unescape(explorer.frame.item)) == (
        message["type"],
        True,
    )
    explorer.step = 0
    assert len(names(explorer)) < 6
    assert explorer.failure.value == ""
