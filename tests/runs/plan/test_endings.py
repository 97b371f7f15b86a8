"""rules A1, E4: the iteration state, `iterations` and `runs` say the same of how a run ended, however it did."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.runs.plan.planning import challenge, change, run_of, scores

BLOCKING = [challenge(word, "BLOCKING") for word in ("locks", "rows", "order", "retries", "backup", "index")]
OPEN = {"i1/challenger": {"challenges": BLOCKING[:1]}}
SETTLED = {"i1/synthesizer": {"changes": [change(f"C{n}", "RESOLVED") for n in range(1, 6)]}}

ENDINGS = {
    "by its counts": ({}, {}, ("CONVERGED", "PROCEED")),
    "scored": ({"i1/score": scores(7)}, {}, ("CONVERGED", "PROCEED")),
    "at the last": (OPEN, {"max_iterations": 1}, ("FORCED_EXIT", "RETHINK")),
    "overridden": (OPEN, {"on_blocked": lambda _: "override:C1"}, ("CONVERGED", "PROCEED")),
    "overridden, another blocks": (
        {"i1/challenger": {"challenges": BLOCKING[:2]}},
        {"on_blocked": lambda _: "override:C1"},
        ("FORCED_EXIT", "RETHINK"),
    ),
    "aborted": (OPEN, {"on_blocked": lambda _: "abort"}, ("FORCED_EXIT", None)),
    "capped": (
        {"i1/challenger": {"challenges": BLOCKING}} | SETTLED,
        {"max_iterations": 1},
        ("CONVERGED", "REVISE"),
    ),
    "agents failed": (OPEN | {"i2/synthesizer": "error"}, {}, ("FORCED_EXIT", None)),
    "agents failed before any ruling": ({"i1/synthesizer": "error"}, {}, ("FORCED_EXIT", None)),
    "nobody challenged": ({"i1/challenger": "error"}, {}, ("FORCED_EXIT", None)),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_three_records_say_the_same_of_the_end(ending):
    script, settings, expected = ENDINGS[ending]
    run = run_of(script, silent=True, **{"panel": None, "team": "base"} | settings)
    state, tables = run.state.iterations[-1], run.frames
    [row], last = tables.runs.to_dict("records"), tables.iterations.iloc[-1]
    verdict = None if pd.isna(row["plan_verdict"]) else row["plan_verdict"]
    assert (row["plan_status"], verdict) == expected
    assert state.convergence.status == last["plan_status"] == row["plan_status"] == run.status
    assert (last["plan_verdict"] == row["plan_verdict"]) or (verdict is None and pd.isna(last["plan_verdict"]))
    assert last["strong"] == row["strong"]
    assert verdict == run.verdict
    assert (state.iteration, bool(last["closed"])) == (row["n_iterations"], True)
    assert pd.isna(last["quality_score"]) == pd.isna(row["score"]) == (state.quality_score is None)


def test_the_counts_of_an_overridden_run_hold_what_was_overridden():
    run = run_of(OPEN, silent=True, panel=None, on_blocked=lambda _: "override:C1")
    last = run.frames.iterations.iloc[-1]
    assert run.state.iterations[-1].convergence.blocking_open == last["blocking_open"] == 1


def test_an_iteration_that_goes_on_keeps_what_the_counts_said():
    run = run_of(OPEN, silent=True, panel=None, max_iterations=2)
    assert run.frames.iterations["plan_status"].tolist() == ["BLOCKED", "FORCED_EXIT"]
    assert run.state.iterations[0].convergence.status == "BLOCKED"
