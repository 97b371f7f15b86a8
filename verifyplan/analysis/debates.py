"""The debates of runs turn by turn: how the diff grew, what was said, how each debate ended (rules C2, C3)."""

from __future__ import annotations

import pandas as pd

from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.runset import RunSet, mark_synthetic
from verifyplan.protocol.message import MESSAGE_TYPES

COLUMNS = (
    *("run_id", "task", "turn", "diff_lines", "lines_more", "same_diff", "opening", "built", "verified"),
    *("n_messages", "last", "end", "max_turns"),
)
"""The columns of `debates`, in order."""

NO_OUTCOME, BROKEN_OFF = "no outcome", "broken off"
"""The ends that have no status: an agent failed or a budget was used up; the debate was never ended."""

_TURN = ["run_id", "turn"]
_WORDS = ("run_id", "task", "opening", "built", "verified", "end")


def debates(runs: Runs) -> pd.DataFrame:
    """Return how each debate went: one row a debate and turn, in the order of the runs.

    Columns: `run_id, task, turn, diff_lines, lines_more, same_diff, opening, built, verified, n_messages, last, end,
    max_turns`. `diff_lines` are those of the diff that the builder gave in the turn, missing where it gave none, and
    `lines_more` how many more (or, below 0, fewer) than in the turn before. `same_diff` is true where the diff is that
    of the turn before, character by character, by its digest, and missing where there is nothing to compare. Which
    lines were changed cannot be had: the table `messages` has a diff's length and digest, and not the diff; so
    `lines_more` 0 beside a false `same_diff` is a diff with other lines. `opening` (the proposal or critique), `built`
    and `verified` are what was said. `end` tells, in the `last` row of each debate, how it ended: status and reason, or
    why there is no status. A debate without a message has one row. Runs of other kinds have none.
    `attrs["synthetic"]` marks generated data. Source: rules C2, C3.

    >>> debates(RunSet()).empty
    True
    """
    runs = as_runs(runs)
    table = _ended(runs).merge(_turns(runs.messages), on="run_id", how="left")
    table["turn"] = table["turn"].fillna(table["debate_turns"]).fillna(1).clip(lower=1).astype("int64")
    table["n_messages"] = table["n_messages"].fillna(0).astype("int64")
    table["last"] = ~table.duplicated("run_id", keep="last")
    table["end"] = table["end"].where(table["last"])
    before = table.groupby("run_id", sort=False)[["diff_lines", "diff_sha256"]].shift()
    table["lines_more"] = table["diff_lines"] - before["diff_lines"]
    compared = table["diff_sha256"].notna() & before["diff_sha256"].notna()
    same = table["diff_sha256"].eq(before["diff_sha256"]).astype("boolean")
    table["same_diff"] = same.where(compared.to_numpy(dtype=bool))
    return mark_synthetic(table[list(COLUMNS)].astype(dict.fromkeys(_WORDS, "str")), runs)


def _ended(runs: RunSet) -> pd.DataFrame:
    """Return a row for each debate: what it is about, and how it ended."""
    known = runs.runs[runs.runs["kind"].eq("debate")]
    reason = known["debate_reason"].astype("object")
    status = known["debate_status"].astype("object").where(known["debate_status"].notna(), NO_OUTCOME)
    end = (status + " " + reason).where(reason.notna(), BROKEN_OFF)
    plain = known[["run_id", "debate_turns", "max_turns"]].assign(task=known["task_key"].astype("str"), end=end)
    return plain.reset_index(drop=True)


def _turns(messages: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each turn in which something was said, with the words and the builder's diff."""
    plain = messages.astype({"type": "object"}).drop_duplicates([*_TURN, "type"], keep="last")
    said = plain.pivot(index=_TURN, columns="type", values="content").reindex(columns=list(MESSAGE_TYPES))
    opening = said["propose"].where(said["propose"].notna(), said["critique"])
    words = said.assign(opening=opening)[["opening", "implement", "verify"]]
    words = words.rename(columns={"implement": "built", "verify": "verified"}).rename_axis(columns=None)
    diffs = plain[plain["type"].eq("implement")].set_index(_TURN)[["diff_lines", "diff_sha256"]]
    counts = messages.groupby(_TURN, sort=False).size().rename("n_messages")
    return words.join(diffs).join(counts).sort_index().reset_index()
