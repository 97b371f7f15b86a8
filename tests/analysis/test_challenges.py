"""How the pool of challenges moves, and which sections of a plan were challenged."""

from __future__ import annotations

import pandas as pd
import pytest

import verifyplan as vp
from tests.frames.plan_events import assessed, closed, first, moved, raised, records, started, whole
from verifyplan.analysis.challenges import STATES, challenge_pool, coverage
from verifyplan.errors import InputError
from verifyplan.frames.run_tables import tables_of
from verifyplan.frames.runset import concat
from verifyplan.protocol import event_plan


@pytest.fixture(scope="module")
def runs() -> vp.RunSet:
    return tables_of(records(whole()), "r")


def shown(table: pd.DataFrame) -> list[list[object]]:
    some = table[table[["n", "came", "went"]].sum(axis=1) > 0]
    columns = ["iteration", "severity", "state", "n", "new", "came", "went"]
    return some[columns].astype({"severity": "str", "state": "str"}).to_numpy().tolist()


def test_the_pool_at_the_end_of_each_iteration(runs):
    assert shown(challenge_pool(runs)) == [
        [1, "BLOCKING", "UNRESOLVED", 1, 1, 0, 0],
        [1, "SIGNIFICANT", "OPEN", 1, 1, 0, 0],
        [1, "SIGNIFICANT", "WITHDRAWN", 1, 1, 0, 0],
        [1, "SIGNIFICANT", "overflow", 1, 1, 0, 0],
        [1, "MINOR", "overflow", 1, 1, 0, 0],
        [2, "BLOCKING", "RESOLVED", 1, 0, 1, 0],
        [2, "BLOCKING", "UNRESOLVED", 0, 0, 0, 1],
        [2, "SIGNIFICANT", "OPEN", 0, 0, 0, 1],
        [2, "SIGNIFICANT", "RESOLVED", 2, 0, 2, 0],
        [2, "SIGNIFICANT", "WITHDRAWN", 1, 0, 0, 0],
        [2, "SIGNIFICANT", "overflow", 0, 0, 0, 1],
        [2, "MINOR", "overflow", 1, 0, 0, 0],
    ]


def test_every_state_has_a_row_and_the_counts_add_up(runs):
    table = challenge_pool(concat([runs, tables_of(records([started(), *first()]), "half")]))
    assert len(table) == 3 * 3 * len(STATES)  # two iterations of one run, one of the other
    assert table["state"].cat.categories.tolist() == list(STATES)
    before = table.groupby(["run_id", "severity", "state"], observed=True)["n"].shift(fill_value=0)
    assert (table["n"] == before + table["new"] + table["came"] - table["went"]).all()


def test_the_pool_agrees_with_the_counts_of_the_rulings(runs):
    table = challenge_pool(runs)
    unsettled = table[table["state"].isin(["OPEN", "UNRESOLVED"])]
    counts = unsettled.pivot_table(index="iteration", columns="severity", values="n", aggfunc="sum", observed=False)
    assert counts["BLOCKING"].tolist() == runs.iterations["blocking_open"].tolist()
    assert counts["SIGNIFICANT"].tolist() == runs.iterations["significant_open"].tolist()


def test_a_challenge_raised_later_is_nowhere_before():
    events = [
        started(),
        *(event for number in (1, 2) for event in (
            event_plan.IterationStarted(iteration=number, tightened=False),
            raised(number, "MINOR", "", iteration=number),
            event_plan.ChallengeAdmitted(iteration=number, id=f"C{number}"),
            *closed(number, "CONTINUE", 0, 0),
        )),
        moved(2, "C1", "OPEN", "DEFERRED"),
    ]  # fmt: skip
    assert shown(challenge_pool(tables_of(records(events), "r"))) == [
        [1, "MINOR", "OPEN", 1, 1, 0, 0],
        [2, "MINOR", "OPEN", 1, 1, 0, 1],
        [2, "MINOR", "DEFERRED", 1, 0, 1, 0],
    ]


def test_sections_are_covered_by_what_cites_a_line_of_them(runs):
    table = coverage(runs)
    columns = ["title", "lines", "n", "blocking", "significant", "minor"]
    assert table[columns].to_numpy().tolist() == [
        ["Cache", 2, 0, 0, 0, 0],
        ["Goal", 4, 1, 0, 1, 0],
        ["Steps", 10, 2, 1, 1, 0],
        ["Later", 4, 1, 0, 1, 0],  # C2 cites 12-18, which is Steps and Later
    ]
    assert table["worst"].astype("object").where(table["worst"].notna(), None).tolist() == [
        None, "SIGNIFICANT", "BLOCKING", "SIGNIFICANT"]  # fmt: skip
    assert table.attrs["elsewhere"] == {"r": 2}


def test_a_challenge_that_cites_a_section_twice_counts_once_and_each_run_by_itself(runs):
    events = [started(), assessed(), raised(1, "MINOR", "plan.md:8, plan.md:9 and plan.md:900")]
    table = coverage(concat([runs, tables_of(records(events), "other")]))
    assert table.groupby("run_id")["n"].sum().to_dict() == {"r": 4, "other": 1}
    assert table.attrs["elsewhere"] == {"r": 2, "other": 0}


@pytest.mark.parametrize("view", [challenge_pool, coverage])
def test_runs_of_other_kinds_have_no_rows_and_what_is_no_run_set_is_refused(view):
    votes = pd.DataFrame({"item": ["F"], "who": ["a"], "says": ["agree"]})
    assert view(vp.from_votes(votes, item="item", worker="who", verdict="says")).empty
    with pytest.raises(InputError, match=r"runs: must be a RunSet, a run, a path .*, got a DataFrame"):
        view(votes)


@pytest.mark.parametrize("view", [challenge_pool, coverage])
def test_generated_data_is_marked(view, runs):
    assert view(runs).attrs["synthetic"] is False
    made = [started().model_copy(update={"synthetic": True}), assessed(), *first()]
    assert view(tables_of(records(made), "r")).attrs["synthetic"] is True
