"""Cost and usage of runs: calls, failed calls, rounds, votes, time, tokens and dollars (rules A12, F1)."""

from __future__ import annotations

import pandas as pd

from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.run_notes import counted_calls
from verifyplan.frames.runset import RunSet, mark_synthetic
from verifyplan.protocol.message import DEBATE_ROLES
from verifyplan.protocol.role_call import ROLES

TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")

TOKEN_KINDS = ("input_tokens", "cache_write_tokens", "cache_read_tokens", "output_tokens")
"""The tokens of a turn, in the order in which a request is read: in no cache, put in one, read from one, out."""

ROLE_ORDER = (*ROLES, "worker", *DEBATE_ROLES)


def cost(runs: Runs) -> pd.DataFrame:
    """Return sums over all runs: `measure, value, n_runs`, of what was recorded; imports of votes record no calls.

    `calls` counts calls that ended (of runs that were read from artifacts, dispatches that were made), `failed-calls`
    those without a usable answer, `unsent-calls` those of these that a limit of the run held back (they were never
    made), `votes` and `failed-votes` likewise, `worker-seconds` the wall time of all calls
    added up (missing durations left out), `rounds` the rounds executed.

    The others are there where a run was read from its log, and count those runs alone: tokens are not in artifacts.
    `input-tokens` are those that went through no cache, `cache-read-tokens` and `cache-write-tokens` the others.
    What failed calls used is counted in, and by itself as `failed-tokens`. `dollars` adds up what is known (missing
    where nothing is), `dollars-perhaps` what lost answers may have cost beside it, and `unpriced-calls` says how many
    calls used tokens that have no price, or have a reply whose usage is missing or cannot be read.

    >>> from verifyplan.frames.votes import from_votes
    >>> votes = pd.DataFrame(
    ...     {"item": ["F", "F"], "who": ["a", "b"], "says": ["agree", "verification-error"]}
    ... )
    >>> costs = cost(from_votes(votes, item="item", worker="who", verdict="says"))
    >>> costs.set_index("measure")["value"].to_dict()
    {'rounds': 1.0, 'calls': 0.0, 'failed-calls': 0.0, 'unsent-calls': 0.0, 'votes': 2.0, 'failed-votes': 1.0,
     'worker-seconds': 0.0}
    """
    runs = as_runs(runs)
    calls = runs.calls
    ended = calls[calls["status"].ne("in-flight")]
    sent = runs.dispatches[runs.dispatches["status"].notna() & ~runs.dispatches["run_id"].isin(calls["run_id"])]
    kept = ["failed", "unsent", "duration_ms"]
    made = pd.concat([table.assign(failed=failed(table), unsent=unsent(table))[kept] for table in (ended, sent)])
    values = {
        "rounds": runs.runs["total_rounds"].sum(),
        "calls": len(made),
        "failed-calls": int(made["failed"].sum()),
        "unsent-calls": int(made["unsent"].sum()),
        "votes": len(runs.votes),
        "failed-votes": int(runs.votes["verdict"].eq("verification-error").sum()),
        "worker-seconds": made["duration_ms"].sum() / 1000,
    }
    if len(calls):
        used = tokens(calls)
        values |= {f"{name.replace('_', '-')}": calls[name].sum() for name in (*TOKENS, "web_searches")} | {
            "failed-tokens": used[failed(calls)].sum(),
            "dollars": calls["cost"].sum(min_count=1),
            "dollars-perhaps": runs.runs["cost_perhaps"].sum(min_count=1),
            "unpriced-calls": int(((used.gt(0) | _uncounted(runs)) & calls["cost"].isna()).sum()),
        }
    table = pd.DataFrame({"measure": list(values), "value": [float(value) for value in values.values()]})
    return table.assign(n_runs=len(runs))


def _uncounted(runs: RunSet) -> pd.Series[bool]:
    """Return whether each call has a reply whose usage is missing or cannot be read."""
    without = runs.turns[runs.turns["status"].eq("completed") & runs.turns["input_tokens"].isna()]
    keys = ["run_id", "call_id", "reopening"]
    which = pd.MultiIndex.from_frame(runs.calls[keys]).isin(pd.MultiIndex.from_frame(without[keys]))
    return pd.Series(which, index=runs.calls.index)


def failed(calls: pd.DataFrame) -> pd.Series[bool]:
    """Return whether each call, or dispatch, that counts ended without a usable answer; one in flight has not ended."""
    wrong = calls["status"].isin(("timeout", "error", "budget"))
    wrong = wrong | calls["reason"].notna() if "reason" in calls else wrong
    return wrong & counted_calls(calls)


def unsent(calls: pd.DataFrame) -> pd.Series[bool]:
    """Return whether each call, or dispatch, that counts was held back by a limit before anything of it was sent."""
    held_back = calls["status"].eq("budget") & counted_calls(calls)
    return held_back & tokens(calls).eq(0) & calls[TOKENS[0]].notna() if TOKENS[0] in calls else held_back


def failures_in_words(n_failed: int, n_unsent: int) -> str:
    """Return how many calls failed, and how many of these were never made.

    >>> failures_in_words(3, 0), failures_in_words(3, 2)
    ('3 failed', '3 failed, of which a limit held back 2 unsent')
    """
    return f"{n_failed:,} failed" + (f", of which a limit held back {n_unsent:,} unsent" if n_unsent else "")


def tokens(calls: pd.DataFrame) -> pd.Series[float]:
    """Return all tokens of each call or turn, in and out, through a cache or not; 0 where none were counted."""
    return calls[list(TOKENS)].astype("float64").sum(axis=1)


def usage(runs: Runs) -> pd.DataFrame:
    """Return sums over all runs: `role, turn, n_turns`, tokens by kind, `web_searches`, `cost` in US dollars.

    Each role has a row for its first turns, one for its second ones, and so on; a look-up on the web counts to the
    turn that asked for it, and turns without a reply count nowhere. Tokens add up what could be read; `cost` is missing
    where a turn has none. Agents that do not speak in turns have no rows. `attrs["synthetic"]` says whether any of the
    runs is marked so.
    Source: rule A12.

    >>> from verifyplan.frames.runset import RunSet
    >>> list(usage(RunSet())["role"])
    []
    """
    runs = as_runs(runs)
    replied = runs.turns[runs.turns["status"].eq("completed")]
    roles = runs.calls[["run_id", "call_id", "role"]].drop_duplicates(["run_id", "call_id"])  # asked again, or not
    turns = replied.merge(roles, on=["run_id", "call_id"], how="left")
    turns = turns.assign(role=pd.Categorical(turns["role"].astype("object"), ROLE_ORDER, ordered=True))
    groups = turns.groupby(["role", "turn"], observed=True)
    summed = groups[[*TOKEN_KINDS, "web_searches"]].sum().join(groups[["cost"]].sum(skipna=False))
    table = summed.assign(n_turns=groups.size()).reset_index().astype({"role": "str"})
    return mark_synthetic(table[["role", "turn", "n_turns", *TOKEN_KINDS, "web_searches", "cost"]], runs)
