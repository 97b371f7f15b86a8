"""What runs cost: calls, failed calls, rounds, votes and time (SPEC F1)."""

from __future__ import annotations

import pandas as pd

from verifyplan.frames.runset import RunSet, expect_runs


def cost(runs: RunSet) -> pd.DataFrame:
    """Sums over all runs: `measure, value, n_runs`, of what was recorded; imports of votes record no calls.

    `calls` counts dispatches that were made, `failed-calls` those without a result, `votes` and `failed-votes`
    likewise, `worker-seconds` the wall time of all calls added up (missing durations left out), `rounds` the
    rounds executed. Tokens are not in artifacts.

    >>> from verifyplan.frames.votes import from_votes
    >>> votes = pd.DataFrame({"item": ["F", "F"], "who": ["a", "b"], "says": ["agree", "verification-error"]})
    >>> cost(from_votes(votes, item="item", worker="who", verdict="says")).set_index("measure")["value"].to_dict()
    {'rounds': 1.0, 'calls': 0.0, 'failed-calls': 0.0, 'votes': 2.0, 'failed-votes': 1.0, 'worker-seconds': 0.0}
    """
    expect_runs(runs)
    made = runs.dispatches[runs.dispatches["status"].notna()]
    values = {
        "rounds": runs.runs["total_rounds"].sum(),
        "calls": len(made),
        "failed-calls": int(made["status"].ne("completed").sum()),
        "votes": len(runs.votes),
        "failed-votes": int(runs.votes["verdict"].eq("verification-error").sum()),
        "worker-seconds": made["duration_ms"].sum() / 1000,
    }
    table = pd.DataFrame({"measure": list(values), "value": [float(value) for value in values.values()]})
    return table.assign(n_runs=len(runs))
