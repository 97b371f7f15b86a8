"""What runs cost: calls, failed calls, rounds, votes, time, tokens and dollars (rule F1)."""

from __future__ import annotations

import pandas as pd

from verifyplan.frames.runset import RunSet, expect_runs

TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def cost(runs: RunSet) -> pd.DataFrame:
    """Sums over all runs: `measure, value, n_runs`, of what was recorded; imports of votes record no calls.

    `calls` counts calls that ended (of runs that were read from artifacts, dispatches that were made), `failed-calls`
    those without a usable answer, `votes` and `failed-votes` likewise, `worker-seconds` the wall time of all calls
    added up (missing durations left out), `rounds` the rounds executed.

    The others are there where a run was read from its log, and count those runs alone: tokens are not in artifacts.
    `input-tokens` are those that went through no cache, `cache-read-tokens` and `cache-write-tokens` the others.
    What failed calls used is counted in, and by itself as `failed-tokens`. `dollars` adds up what is known (missing
    where nothing is), and `unpriced-calls` says how many calls used tokens that have no price.

    >>> from verifyplan.frames.votes import from_votes
    >>> votes = pd.DataFrame({"item": ["F", "F"], "who": ["a", "b"], "says": ["agree", "verification-error"]})
    >>> cost(from_votes(votes, item="item", worker="who", verdict="says")).set_index("measure")["value"].to_dict()
    {'rounds': 1.0, 'calls': 0.0, 'failed-calls': 0.0, 'votes': 2.0, 'failed-votes': 1.0, 'worker-seconds': 0.0}
    """
    expect_runs(runs)
    ended = runs.calls[runs.calls["status"].ne("in-flight")]
    sent = runs.dispatches[runs.dispatches["status"].notna() & ~runs.dispatches["run_id"].isin(runs.calls["run_id"])]
    made = pd.concat([each.assign(failed=failed(each))[["failed", "duration_ms"]] for each in (ended, sent)])
    values = {
        "rounds": runs.runs["total_rounds"].sum(),
        "calls": len(made),
        "failed-calls": int(made["failed"].sum()),
        "votes": len(runs.votes),
        "failed-votes": int(runs.votes["verdict"].eq("verification-error").sum()),
        "worker-seconds": made["duration_ms"].sum() / 1000,
    }
    if len(runs.calls):
        values |= _used(runs.calls)
    table = pd.DataFrame({"measure": list(values), "value": [float(value) for value in values.values()]})
    return table.assign(n_runs=len(runs))


def failed(calls: pd.DataFrame) -> pd.Series[bool]:
    """Which calls, or dispatches, ended without a usable answer; one that is in flight has not ended."""
    wrong = calls["status"].isin(("timeout", "error", "budget"))
    return wrong | calls["reason"].notna() if "reason" in calls else wrong


def tokens(calls: pd.DataFrame) -> pd.Series[float]:
    """All tokens of each call, in and out, through a cache or not; 0 where none were counted."""
    return calls[list(TOKENS)].astype("float64").sum(axis=1)


def _used(calls: pd.DataFrame) -> dict[str, float]:
    used, cost = tokens(calls), calls["cost"]
    sums = {f"{name.replace('_', '-')}": calls[name].sum() for name in (*TOKENS, "web_searches")}
    return sums | {
        "failed-tokens": used[failed(calls)].sum(),
        "dollars": cost.sum(min_count=1),
        "unpriced-calls": int((used.gt(0) & cost.isna()).sum()),
    }
