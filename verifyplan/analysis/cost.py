"""What runs cost: calls, failed calls, rounds, votes, time and tokens (SPEC F1)."""

from __future__ import annotations

import pandas as pd

from verifyplan.frames.runset import RunSet, expect_runs


def cost(runs: RunSet) -> pd.DataFrame:
    """Sums over all runs: `measure, value, n_runs`, of what was recorded; imports of votes record no calls.

    `calls` counts dispatches that were made and the calls of a plan run's agents, `failed-calls` those without a
    result, `votes` and `failed-votes` likewise, `worker-seconds` the wall time of all calls added up (missing
    durations left out), `rounds` the rounds executed. `input-tokens` and `output-tokens` are there where a run was
    read from its log, and count those runs alone: tokens are not in artifacts.

    >>> from verifyplan.frames.votes import from_votes
    >>> votes = pd.DataFrame({"item": ["F", "F"], "who": ["a", "b"], "says": ["agree", "verification-error"]})
    >>> cost(from_votes(votes, item="item", worker="who", verdict="says")).set_index("measure")["value"].to_dict()
    {'rounds': 1.0, 'calls': 0.0, 'failed-calls': 0.0, 'votes': 2.0, 'failed-votes': 1.0, 'worker-seconds': 0.0}
    """
    expect_runs(runs)
    agents = runs.calls[runs.calls["role"].ne("worker") & runs.calls["status"].ne("in-flight")]
    columns = ["status", "duration_ms"]
    dispatched = runs.dispatches.loc[runs.dispatches["status"].notna(), columns]
    made = pd.concat([dispatched, agents[columns]]).astype({"status": "str"})
    values = {
        "rounds": runs.runs["total_rounds"].sum(),
        "calls": len(made),
        "failed-calls": int(made["status"].ne("completed").sum()),
        "votes": len(runs.votes),
        "failed-votes": int(runs.votes["verdict"].eq("verification-error").sum()),
        "worker-seconds": made["duration_ms"].sum() / 1000,
    }
    if len(runs.calls):
        values |= {f"{way}-tokens": runs.calls[f"{way}_tokens"].sum() for way in ("input", "output")}
    table = pd.DataFrame({"measure": list(values), "value": [float(value) for value in values.values()]})
    return table.assign(n_runs=len(runs))
