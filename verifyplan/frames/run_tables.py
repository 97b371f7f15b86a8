"""The tables of one run, from its log (rule E4)."""

from __future__ import annotations

from collections.abc import Sequence

from verifyplan.frames.log_attempts import attempt_rows, cost_columns
from verifyplan.frames.log_calls import call_rows
from verifyplan.frames.log_cross import cross_rows
from verifyplan.frames.log_debate import debate_rows
from verifyplan.frames.log_events import LogEvents
from verifyplan.frames.log_plan import plan_rows
from verifyplan.frames.runset import Rows, RunSet, assemble
from verifyplan.runlog.chain import Record


def tables_of(records: Sequence[Record], run_id: str, source: str = "") -> RunSet:
    """Return the tables of one run, from the records of its log; `run_id` and `source` name it in them.

    A run that has not ended gives the rows there are, and `runs.finished` is False. A fact that a log has twice, or
    without its other half, gives one row, or missing values. Raises ValueError for records that do not begin with a
    `run-started`. Source: rule E4.
    """
    return assemble([log_rows(records, run_id, source)])


def log_rows(records: Sequence[Record], run_id: str, source: str = "") -> Rows:
    """Return the rows that one log gives, by table."""
    log = LogEvents(records, run_id, source)
    kind_rows = {"cross": cross_rows, "plan": plan_rows, "debate": debate_rows}[log.started.inputs.kind]
    rows = {**kind_rows(log), **call_rows(log), "attempts": attempt_rows(log)}
    costs = cost_columns(log, rows["calls"], rows["turns"], rows["attempts"])
    return {**rows, "runs": [{**row, **costs} for row in rows["runs"]]}
