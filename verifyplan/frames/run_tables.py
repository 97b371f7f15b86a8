"""The tables of one run, from its log (rule E4)."""

from __future__ import annotations

from collections.abc import Sequence

from verifyplan.frames.log_attempts import attempt_columns, cost_columns
from verifyplan.frames.log_calls import call_columns
from verifyplan.frames.log_cross import cross_columns
from verifyplan.frames.log_debate import debate_columns
from verifyplan.frames.log_events import LogEvents
from verifyplan.frames.log_plan import plan_columns
from verifyplan.frames.runset import RunSet, TableLists, assemble
from verifyplan.runlog.chain import Record


def tables_of(records: Sequence[Record], run_id: str, source: str = "") -> RunSet:
    """Return the tables of one run, from the records of its log; `run_id` and `source` name it in them.

    A run that has not ended gives the rows there are, and `runs.finished` is False. A fact that a log has twice, or
    without its other half, gives one row, or missing values. Raises ValueError for records that do not begin with a
    `run-started`. Source: rule E4.
    """
    return assemble([log_columns(records, run_id, source)])


def log_columns(records: Sequence[Record], run_id: str, source: str = "") -> TableLists:
    """Return the columns that one log gives, by table."""
    log = LogEvents(records, run_id, source)
    by_kind = {"cross": cross_columns, "plan": plan_columns, "debate": debate_columns}[log.started.inputs.kind]
    tables = {**by_kind(log), **call_columns(log), "attempts": attempt_columns(log)}
    return {**tables, "runs": {**tables["runs"], **cost_columns(log, tables)}}
