"""What models used, role by role and turn by turn: tokens, those of the cache apart, and dollars (rules A12, F1)."""

from __future__ import annotations

import pandas as pd

from verifyplan.frames.runset import RunSet, expect_runs
from verifyplan.protocol.message import DEBATE_ROLES
from verifyplan.protocol.plan_call import ROLES

TOKEN_KINDS = ("input_tokens", "cache_write_tokens", "cache_read_tokens", "output_tokens")
"""What a turn uses, in the order in which a request is read: what no cache held, put in one, read from one, out."""
ROLE_ORDER = (*ROLES, "worker", *DEBATE_ROLES)


def usage(runs: RunSet) -> pd.DataFrame:
    """Sums over all runs: `role, turn, n_turns`, tokens by what they were, `web_searches`, `cost` in US dollars.

    Each role has a row for its first turns, one for its second ones, and so on; a look-up on the web counts to the
    turn that asked for it, and turns without a reply count nowhere. `cost` is missing where a turn has none. Agents
    that do not speak in turns have no rows. `attrs["synthetic"]` says whether any of the runs is marked so.
    Source: rule A12.

    >>> list(usage(RunSet())["role"])
    []
    """
    expect_runs(runs)
    replied = runs.turns[runs.turns["status"].eq("completed")]
    roles = runs.calls[["run_id", "call_id", "role"]]
    turns = replied.merge(roles, on=["run_id", "call_id"], how="left")
    turns = turns.assign(role=pd.Categorical(turns["role"].astype("object"), ROLE_ORDER, ordered=True))
    groups = turns.groupby(["role", "turn"], observed=True)
    summed = groups[[*TOKEN_KINDS, "web_searches", "cost"]].sum(skipna=False)
    table = summed.assign(n_turns=groups.size()).reset_index().astype({"role": "str"})
    table = table[["role", "turn", "n_turns", *TOKEN_KINDS, "web_searches", "cost"]]
    table.attrs["synthetic"] = bool(runs.runs["synthetic"].eq(True).any())
    return table
