"""Run logs as tables: a run of any kind, ended or not (rule E4)."""

from __future__ import annotations

from collections.abc import Sequence

from verifyplan.frames.log_calls import call_rows
from verifyplan.frames.log_cross import cross_rows
from verifyplan.frames.log_debate import debate_rows
from verifyplan.frames.log_index import RunEvents
from verifyplan.frames.log_plan import plan_rows
from verifyplan.frames.log_turns import turn_rows
from verifyplan.frames.rows import Rows, assemble
from verifyplan.frames.runset import RunSet
from verifyplan.runlog.chain import Record


def tables_of(records: Sequence[Record], run_id: str, source: str = "") -> RunSet:
    """The tables of one run, from the records of its log; `run_id` and `source` name it in them.

    A run that has not ended gives the rows there are, and `runs.finished` is False. What a log says twice, or
    without its other half, is told once, or with missing values. Raises ValueError for records that do not begin
    with a `run-started`. Source: rule E4.
    """
    return assemble([log_rows(records, run_id, source)])


def log_rows(records: Sequence[Record], run_id: str, source: str = "") -> Rows:
    """The rows that one log gives, by table."""
    story = RunEvents(records, run_id, source)
    return {**_BY_KIND[story.started.inputs.kind](story), **call_rows(story), **turn_rows(story)}


_BY_KIND = {"cross": cross_rows, "plan": plan_rows, "debate": debate_rows}
