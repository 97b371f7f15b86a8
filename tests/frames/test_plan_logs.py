"""A plan run's log as tables: every record, what became of it, and the panel's votes (rules of part A, E4)."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import verifyplan as vp
from tests.frames.plan_events import PANEL, assessed, ended, first, log_bytes, raised, records, second, started, whole
from verifyplan.frames.columns import TABLES
from verifyplan.frames.load import load
from verifyplan.frames.run_tables import log_columns, tables_of
from verifyplan.frames.runset import TABLE_NAMES, RunSet, assemble
from verifyplan.protocol import event_plan, event_run
from verifyplan.protocol.plan_rules import PlanRules
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.runlog.chain import Record


@pytest.fixture(scope="module")
def tables() -> RunSet:
    return tables_of(records(whole()), "runs/one", "runs/one.jsonl")


def row(frame: pd.DataFrame, **key: Any) -> dict[str, Any]:
    """The one row with these values, missing ones as None."""
    for name, value in key.items():
        frame = frame[frame[name] == value]
    assert len(frame) == 1
    return {name: None if not isinstance(v, list) and pd.isna(v) else v for name, v in frame.iloc[0].items()}


def subset(told: dict[str, Any], **expected: Any) -> None:
    assert {name: told[name] for name in expected} == expected


def test_the_run_says_what_was_asked_and_how_it_ended(tables):
    run = row(tables.runs, run_id="runs/one")
    subset(run, kind="plan", mode="adversarial", verification_mode="full-reanalysis", max_rounds=2, total_rounds=4)
    subset(run, plan_verdict="PROCEED", plan_status="CONVERGED", ended_by="ruling", strong=False, score=None)
    subset(run, team="scaled", quality="ADEQUATE", complexity=9, policy="protocol", n_iterations=2, n_findings=3)
    subset(run, n_settled_cited=3, n_settled_uncited=1)
    subset(run, plan_path="/repo/plan.md", plan_name="plan.md", backend="scripted", finished=True, log=True)
    assert run["started_at"] == pd.Timestamp("2026-01-31T12:00:01Z")
    assert run["ended_at"] == pd.Timestamp(records(whole())[-1].at)


def test_the_run_says_by_which_rules_it_was_decided(tables):
    run = row(tables.runs, run_id="runs/one")
    subset(run, plan_rules="{}", plan_rules_digest=PlanRules().digest)
    rules = PlanRules(policy="deliberate", consensus_forbids=[], max_iterations=2)
    [first, *more] = whole()
    settings = first.inputs.settings.model_copy(update={"rules": rules})
    first = first.model_copy(update={"inputs": first.inputs.model_copy(update={"settings": settings})})
    again = row(tables_of(records([first, *more]), "runs/two", "runs/two.jsonl").runs, run_id="runs/two")
    assert PlanRules.from_json(again["plan_rules"]) == rules
    subset(again, plan_rules_digest=rules.digest, policy="deliberate", max_iterations=2, rules="{}")
    assert "fields that are not neutral" in vp.documentation("runs")["meaning"]["plan_rules"]


def test_iterations_have_the_counts_ruling_and_the_synthesizers_own_word(tables):
    one, two = row(tables.iterations, iteration=1), row(tables.iterations, iteration=2)
    subset(one, plan_status="CONTINUE", plan_verdict=None, blocking_open=1, significant_open=1, differs=True)
    subset(one, stated_status="CONVERGED", stated_verdict="PROCEED", degraded=True, tightened=False, closed=True)
    subset(one, n_new=5, n_admitted=3, n_overflowed=2, n_settled=1, n_refused=2, n_failed=1)
    subset(two, plan_status="CONVERGED", plan_verdict="PROCEED", differs=False, degraded=False, tightened=True)
    subset(two, n_new=0, n_admitted=1, n_overflowed=0, n_settled=3, n_refused=3, n_failed=0)


def test_challenges_stand_as_they_ended_with_what_they_cite(tables):
    one = row(tables.challenges, challenge_id="C1")
    subset(one, severity="BLOCKING", status="RESOLVED", resolution="see plan.md:3", admitted_in=1, overflow=False)
    subset(one, place="plan.md:8", plan_line=8, plan_section="Steps", plan_lines=["8"], uncited=False)
    subset(
        one,
        classification="partial-consensus",
        disputed=False,
        n_restated=0,
        claim="claim 1",
        alternative="do otherwise",
    )
    two = row(tables.challenges, challenge_id="C2")
    subset(
        two, place="src/a.py:7-9", plan_line=12, plan_section="Steps", plan_lines=["12-18"], n_restated=1, disputed=True
    )
    three = row(tables.challenges, challenge_id="C3")
    subset(three, place=None, plan_line=None, plan_section=None, plan_lines=[], uncited=True, admitted_in=None)
    subset(three, overflow=True, overflow_tag="DEFERRED_CHALLENGED", status="OPEN", disputed=None)
    subset(row(tables.challenges, challenge_id="C4"), raised_by="S1", owed=True, origin="surfaced", status="WITHDRAWN")
    five = row(tables.challenges, challenge_id="C5")
    subset(five, admitted_in=2, overflow=False, overflow_tag="DEFERRED_PROBED", probability="MED", raised_by="P1")


def test_the_history_of_a_challenge_has_every_step_in_order(tables):
    def steps(name: str) -> list[tuple[Any, ...]]:
        history = tables.challenge_history[tables.challenge_history["challenge_id"] == name]
        assert history["step"].tolist() == list(range(1, len(history) + 1))
        assert history["seq"].is_monotonic_increasing
        shown = history[["iteration", "event", "old", "new", "classification", "by"]].astype(object)
        return [tuple(values) for values in shown.where(shown.notna(), None).to_numpy()]

    assert steps("C2") == [
        (1, "raised", None, "OPEN", None, "challenger"),
        (1, "admitted", None, None, None, "rule"),
        (1, "classified", None, None, "full-consensus", "panel"),
        (1, "refused", "OPEN", "WITHDRAWN", None, "synthesizer"),
        (2, "restated", None, None, None, "challenger"),
        (2, "classified", None, None, "contested", "panel"),
        (2, "changed", "OPEN", "RESOLVED", None, "synthesizer"),
    ]
    assert [step[1] for step in steps("C5")] == ["raised", "overflowed", "promoted", "changed"]
    assert steps("C9") == [(2, "refused", None, None, None, "synthesizer")]
    refused = tables.challenge_history[tables.challenge_history["event"] == "refused"]
    assert refused["reason"].tolist() == ["it stands", "there is no C9"]


def test_research_has_its_records_and_the_iteration(tables):
    unknown = row(tables.unknowns, unknown_id="U1")
    subset(unknown, type="API_BEHAVIOR", affects_challenge="C1", resolution="UNRESOLVABLE", iteration=1, answered_in=1)
    subset(row(tables.contexts, context_id="S1"), impact="contradicts_plan", generates_challenge="C4", iteration=1)
    risk = row(tables.risks, risk_id="P1")
    subset(risk, probability="MED", severity="SIGNIFICANT", generates_challenge="C5", evidence="src/a.py:1")


def test_scores_have_weights_refusals_and_disputes(tables):
    assert len(tables.scores) == 11
    subset(row(tables.scores, by="synthesizer", dimension="risk_coverage"), score=8, disputed=True, weight=0.2)
    refused = row(tables.scores, by="synthesizer", dimension=DIMENSIONS[-1])
    subset(refused, score=None, refused="no whole number from 1 to 10", disputed=False, weight=0.1)
    weights = dict.fromkeys(DIMENSIONS, "0") | {"risk_coverage": "1"}
    own = tables_of(records(whole(weights=weights)), "r")
    assert row(own.scores, by="challenger", dimension="risk_coverage")["weight"] == 1


def test_calls_tell_how_they_ended_and_which_tools_they_used(tables):
    challenger = row(tables.calls, call_id="i1/challenger")
    subset(challenger, role="challenger", worker="challenger", iteration=1, status="completed", n_tools=2)
    subset(challenger, input_tokens=100, output_tokens=10, source="live", request_sha256="ab", reason=None)
    assert challenger["replied_at"] - challenger["requested_at"] == pd.Timedelta(seconds=1)
    resolver = row(tables.calls, call_id="i1/resolver")
    subset(resolver, status="timeout", reason="too slow", duration_ms=600, input_tokens=None, n_tools=None)
    subset(row(tables.calls, call_id="i2/panel/r2/cy"), role="worker", worker="cy", iteration=2, items=["C1", "C2"])
    assert tables.tools[["call_id", "step", "tool", "refused", "serves"]].to_numpy().tolist() == [
        ["i1/challenger", 1, "Grep", "", ""],
        ["i1/challenger", 2, "WebSearch", "over budget", "U1"],
    ]


def test_a_call_without_reply_is_in_flight_and_an_unusable_answer_has_its_reason():
    asked = event_run.CallRequested(call_id="i1/challenger", worker="challenger", request_sha256="ab")
    begun = [started(), assessed(), event_plan.IterationStarted(iteration=1, tightened=False), asked]
    subset(row(tables_of(records(begun), "r").calls, call_id="i1/challenger"), status="in-flight", replied_at=None)
    fault = event_plan.AgentFailed(
        iteration=1, call_id="i1/challenger", agent="challenger", reason="no schema", consequence="skipped"
    )
    calls = tables_of(records([started(), *first()[:3], fault]), "r").calls
    subset(row(calls, call_id="i1/challenger"), status="completed", reason="no schema")


def test_the_panel_votes_on_challenges_as_findings_and_the_last_iteration_counts(tables):
    assert tables.findings["finding_id"].tolist() == ["C1", "C2", "C4"]
    assert set(tables.findings["category"]) == {"challenge"}
    two = row(tables.findings, finding_id="C2")
    subset(two, summary="claim 2 concern 2", evidence="src/a.py:7-9, plan.md:12-18", classification="contested")
    subset(two, consensus_workers=["bob", "cy"], dissenting_workers=["ann"], n_rounds=2, discoverers=[])
    subset(row(tables.findings, finding_id="C4"), classification="worker-unique", n_rounds=1)
    assert tables.votes.groupby("iteration").size().to_dict() == {1: 12, 2: 12}
    assert tables.rounds[["iteration", "round", "input_queue_size", "carried_forward_count"]].to_numpy().tolist() == [
        [1, 1, 3, 1],
        [1, 2, 1, 0],
        [2, 1, 2, 2],
        [2, 2, 2, 0],
    ]
    assert tables.dispatches["worker"].tolist() == list(PANEL) * 4


def test_sections_are_numbered_as_they_stand_in_the_plan(tables):
    assert tables.sections[["section", "title", "first", "last"]].to_numpy().tolist()[2] == [3, "Steps", 7, 16]


def test_every_part_of_a_run_has_tables_and_is_not_finished():
    events = whole()
    cut = assemble(log_columns(records(events[:length]), f"cut at {length}") for length in range(1, len(events)))
    assert len(cut) == len(events) - 1
    assert not cut.runs["finished"].any()
    assert cut.runs["plan_verdict"].isna().all()
    assert cut.runs["plan_status"].iloc[-1] == "CONVERGED"  # its last ruling


def test_a_paused_or_failed_run_has_no_verdict_and_says_why():
    why = {"ended_by": "failures", "status": "FORCED_EXIT", "verdict": None, "exit_reason": "two agents failed"}
    end = event_run.RunEnded(outcome=event_run.PlanOutcome.model_validate(why))
    run = row(tables_of(records([started(panel=None), assessed(), *first()[:2], end]), "r").runs, run_id="r")
    subset(run, finished=True, plan_verdict=None, plan_status="FORCED_EXIT", exit_reason="two agents failed")
    subset(run, enabled=False, mode=None, max_rounds=None, ended_by="failures")


def test_a_plan_cited_by_another_name_or_line_is_no_line_of_the_plan():
    events = [started(), assessed(), raised(1, "MINOR", "docs/plan.md:8"), raised(2, "MINOR", "plan.md:900")]
    challenges = tables_of(records(events), "r").challenges
    subset(row(challenges, challenge_id="C1"), plan_line=None, plan_lines=[], place="docs/plan.md:8")
    subset(row(challenges, challenge_id="C2"), plan_line=900, plan_section=None)


def test_a_time_that_is_none_is_missing_and_loses_nothing():
    odd = [Record(record.seq, "soon", record.event) for record in records(whole())]
    tables = tables_of(odd, "r")
    assert tables.runs["started_at"].isna().all()
    assert tables.calls["requested_at"].isna().all()
    assert len(tables.votes) == 24


def test_a_log_on_disk_gives_the_same_tables_and_so_do_saved_ones(tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "one.jsonl").write_bytes(log_bytes(whole()))
    read = load(tmp_path / "runs")
    made = tables_of(records(whole()), "one", str(tmp_path / "runs" / "one.jsonl"))
    saved = load(read.save(tmp_path / "saved"))
    for name in TABLE_NAMES:
        pd.testing.assert_frame_equal(getattr(read, name), getattr(made, name))
        pd.testing.assert_frame_equal(getattr(saved, name), getattr(made, name))


def test_whole_sets_of_plan_runs_are_selected_shown_and_written(tables, tmp_path):
    from_two = load_of(tmp_path, 2)
    assert {len(getattr(from_two.select(["r1"]), name)) for name in ("challenges", "iterations")} == {5, 2}
    assert "PROCEED" in tables._repr_html_()
    assert "5 challenges" in repr(tables)
    tables.save_csv(tmp_path / "csv")
    assert pd.read_csv(tmp_path / "csv" / "challenges.csv")["plan_lines"].tolist()[1] == "12-18"
    assert {path.stem for path in (tmp_path / "csv").iterdir()} == set(TABLES)
    assert tables.with_truth({"C1": True}).findings["truth"].tolist() == [True, pd.NA, pd.NA]


def load_of(folder: Any, n: int) -> RunSet:
    for number in range(1, n + 1):
        (folder / f"r{number}.jsonl").write_bytes(log_bytes(whole()))
    return load(folder)


def test_records_that_do_not_begin_a_run_are_refused():
    with pytest.raises(ValueError, match="a run begins with run-started"):
        tables_of(records([*second(), ended()]), "r")
