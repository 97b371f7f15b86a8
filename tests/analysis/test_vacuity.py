"""What verdicts of plan runs rest on: counts as reports have them, silence in words, settlements open again."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pandas as pd
import pytest

import verifyplan as vp
from tests.runs.plan.planning import AGREE, answer, challenge, change, run_of, script, unknown, votes
from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.analysis.vacuity import vacuity
from verifyplan.errors import InputError
from verifyplan.frames.runset import RunSet, concat
from verifyplan.plans.plan import parse_plan
from verifyplan.reports.plan_grounds import challenge_groups, unchallenged_sections
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.plan.verify import verify

UNCITED = "trust me"


def settled(*changes: dict[str, str], severity: str = "SIGNIFICANT", evidence: str = "plan.md:3") -> PlanRun:
    """One iteration in which C1 is raised and changed."""
    raised = challenge("locks", severity, evidence=evidence)
    answers = {"i1/challenger": {"challenges": [raised]}, "i1/synthesizer": {"changes": list(changes)}}
    return run_of(answers, silent=True, panel=None, max_iterations=1)


@cache
def long_run() -> PlanRun:
    return run_of(script())


def row(run: Any) -> dict[str, Any]:
    [only] = vacuity(run).table.to_dict("records")
    return dict(only)


def test_counts_are_those_of_the_report():
    state, found = long_run().state, row(long_run())
    groups = challenge_groups(state)
    assert (found["settled_cited"], found["settled_uncited"]) == (len(groups.cited), len(groups.uncited)) == (2, 2)
    assert (found["overflow"], found["raised_again"]) == (len(groups.overflow), len(groups.again))
    missed, sections = unchallenged_sections(state)
    assert (found["unchallenged"], found["sections"]) == (len(missed), sections)
    assert found["failed_agents"] == len(state.failures) == 2
    assert (
        found["raised"]
        == len(state.raised)
        == sum(found[name] for name in ("resolved", "withdrawn", "deferred", "unsettled", "overflow"))
    )
    assert found["settled_cited"] + found["settled_uncited"] == sum(
        found[name] for name in ("resolved", "withdrawn", "deferred")
    )
    assert found["votes"] + found["lost_votes"] == sum(map(len, state.votes.values()))


def test_nothing_raised_is_silence_and_said_so():
    found = row(run_of({}, silent=True, panel=None))
    assert (found["verdict"], found["rests_on"], found["supports"]) == ("PROCEED", "silence", 0)
    assert found["in_words"] == "PROCEED rests on silence: no challenge was raised; 1 of 1 section unchallenged"


def test_a_minor_challenge_that_is_open_supports_no_verdict():
    found = row(settled(severity="MINOR"))
    assert (found["verdict"], found["rests_on"]) == ("PROCEED", "silence")
    assert "none of 1 challenge raised was settled, or open and weighty" in found["in_words"]


def test_a_settlement_with_a_citation_supports_and_one_without_does_not():
    cited, bare = row(settled(change("C1", "WITHDRAWN"))), row(settled(change("C1", "WITHDRAWN", UNCITED)))
    assert (cited["rests_on"], cited["supports"], cited["if_uncited_open"]) == ("citations", 1, "PROCEED")
    assert (bare["rests_on"], bare["supports"], bare["if_uncited_open"]) == ("uncited words", 0, "REVISE")
    assert cited["if_withdrawn_open"] == bare["if_withdrawn_open"] == "REVISE"
    assert bare["in_words"] == (
        "PROCEED rests on words that cite nothing: 1 challenge and no citation; "
        "with uncited settlements open again it would be REVISE; "
        "with withdrawn challenges open again it would be REVISE"
    )


def test_what_is_open_supports_a_verdict_against_the_plan_if_it_cites_a_place():
    assert row(settled())["in_words"] == "REVISE rests on citations: 1 challenge is open and cites a place"
    found = row(settled(evidence="somebody said so", severity="BLOCKING"))
    assert (found["verdict"], found["rests_on"], found["open_uncited"]) == ("RETHINK", "uncited words", 1)


def test_blocking_settlements_open_again_are_judged_as_at_the_last_iteration():
    answers = {
        "i1/challenger": {"challenges": [challenge("locks", "BLOCKING")]},
        "i1/synthesizer": {"changes": [change("C1", "RESOLVED", UNCITED)]},
    }
    found = row(run_of(answers, silent=True, panel=None, max_iterations=3))
    assert (found["verdict"], found["if_uncited_open"], found["if_withdrawn_open"]) == ("PROCEED", "RETHINK", "PROCEED")


def test_a_person_s_decision_is_a_citation_and_an_override_stays_out():
    raised = {"i1/challenger": {"challenges": [challenge("locks", "BLOCKING"), challenge("rows")]}}
    answers = raised | {"i1/synthesizer": {"changes": [change("C2", "WITHDRAWN", UNCITED)]}}
    accepted = row(run_of(answers, silent=True, panel=None, on_blocked=lambda _: "acknowledge:C1"))
    assert (accepted["settled_cited"], accepted["settled_uncited"], accepted["resolved"]) == (1, 1, 1)
    overridden = row(run_of(answers, silent=True, panel=None, on_blocked=lambda _: "override:C1"))
    assert (overridden["verdict"], overridden["if_uncited_open"]) == ("PROCEED", "REVISE")


def test_what_is_in_overflow_and_blocks_allows_at_best_revise():
    """Six BLOCKING of one speaker: the sixth does not fit; those settled are withdrawn without a citation."""
    words = ("locks", "rows", "order", "retries", "backup", "index")
    answers = {
        "i1/challenger": {"challenges": [challenge(word, "BLOCKING") for word in words]},
        "i1/synthesizer": {"changes": [change(f"C{n}", "WITHDRAWN", UNCITED) for n in range(1, 6)]},
    }
    found = row(run_of(answers, silent=True, panel=None, max_iterations=1))
    assert (found["verdict"], found["overflow"]) == ("REVISE", 1)
    assert found["if_uncited_open"] == "RETHINK"


def test_settlements_open_again_are_judged_by_the_rules_of_the_run(tmp_path):
    words = ("locks", "rows", "order", "retries", "backup", "index")
    blocking = [challenge(word, "BLOCKING") for word in words]
    answers = {
        "i1/challenger": {"challenges": [challenge("cache"), *blocking]},
        "i1/synthesizer": {"changes": [change(f"C{n}", "WITHDRAWN", UNCITED) for n in range(1, 6)]},
    }
    rules = {"max_iterations": 1, "revise_from": 2, "overflow_verdict": "PROCEED", "first_challenger_cap": 1}
    run = run_of(
        {**answers, "i1/challenger": {"challenges": [challenge("locks")]}}, silent=True, panel=None, rules=rules
    )
    assert (row(run)["verdict"], row(run)["if_uncited_open"]) == ("PROCEED", "PROCEED"), "REVISE from 2 on"
    forgets = run_of(answers, silent=True, panel=None, rules=rules | {"admission": "arrival", "displacement": False})
    assert (row(forgets)["overflow"], row(forgets)["if_uncited_open"]) == (6, "PROCEED")
    saved = run.frames.save(tmp_path)
    runs = pd.read_parquet(saved / "runs.parquet").drop(columns=["plan_rules", "plan_rules_digest"])
    runs.to_parquet(saved / "runs.parquet")
    assert vp.load(saved).runs["plan_rules"].isna().tolist() == [True]
    assert row(vp.load(saved))["if_uncited_open"] == "REVISE", "tables of before hold the policy alone"


def test_unknowns_votes_and_failures_are_counted():
    answers = {
        "i1/challenger": {
            "challenges": [challenge("locks", evidence="plan.md:3")],
            "unknowns": [unknown("store"), unknown("table")],
        },
        "i1/resolver": {"answers": [answer("U1", "CONFIRMED"), answer("U2", "UNRESOLVABLE", None)]},
        "i1/panel/r1/panel-1": votes(AGREE | {"explanation": "Undecided: nothing looked at, so it holds"}),
        "i1/panel/r1/panel-2": votes(AGREE),
        "i1/panel/r1/panel-3": "timeout",
    }
    found = row(run_of(answers, silent=True, max_iterations=1))
    assert (found["unknowns"], found["unanswered"]) == (2, 1)
    assert [found[name] for name in ("votes", "blind_votes", "uncited_votes", "lost_votes")] == [2, 1, 1, 1]
    assert "1 of 2 unknowns unanswered; 1 of 2 votes looked at nothing; 1 vote failed" in found["in_words"]


def test_runs_without_a_verdict_and_trivial_ones_are_named():
    failed = vacuity(run_of({"i1/synthesizer": "error"}, silent=True, panel=None))
    assert failed.table[["verdict", "rests_on", "if_uncited_open"]].isna().all(axis=None)
    assert str(failed) == (
        "no verdict: no challenge was raised; 1 of 1 section unchallenged; "
        "1 call failed\n"
        "1 run of 1 gave no verdict, and counts in no share of verdicts."
    )
    trivial = verify(parse_plan("# Fix a typo", "/plans/typo.md"), log_dir=None)
    found = vacuity(trivial)
    assert found.table["rests_on"].tolist() == ["sizing"]
    assert str(found).startswith("PROCEED rests on silence: the plan was too small for a team, so no agent was called")


def many() -> RunSet:
    runs = [settled(change("C1", "RESOLVED")), run_of({}, silent=True, panel=None), settled(), settled()]
    return concat([replace(run, run_id=f"r{number}").frames for number, run in enumerate(runs)])


def test_shares_are_clustered_by_plan_and_many_runs_are_summed_up():
    found = vacuity(many())
    silent = found.shares.set_index("measure").loc["silence"]
    assert (silent["n_plans"], silent["n"], silent["found"], silent["rate"]) == (1, 4, 1, 0.25)
    assert "verdicts that rest on silence: 1 of 4 in 4 runs of 1 plans: 25% [" in str(found)
    assert "rest on silence: r1" in str(found)
    assert "<table" in found._repr_html_()


def test_tables_have_the_columns_that_are_documented():
    found = vacuity(many())
    assert list(found.table.columns) == [column.name for column in RESULT_TABLES["vacuity"]]
    assert list(found.shares.columns) == [column.name for column in RESULT_TABLES["vacuity.shares"]]


def test_paths_and_runs_are_taken_and_runs_of_other_kinds_refused():
    assert vp.vacuity("live-example/plan").notes == (
        "The runs are synthetic: the figures say nothing about any model.",
    )
    with pytest.raises(InputError, match="runs: there is no plan run among them"):
        vacuity("contract")
