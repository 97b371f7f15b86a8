"""The columns of calls, of the tools used in them, and of a debate's messages (SPEC C1, E1, E4)."""

from __future__ import annotations

from typing import get_args

from verifyplan.frames.column import RUN, Column, Columns
from verifyplan.protocol.call import TOOLS, ReplySource
from verifyplan.protocol.plan_call import ROLES

CALL_STATUSES = ("completed", "timeout", "error", "budget", "in-flight")
"""How a call ended; `budget` where it could not be afforded, `in-flight` where the log ends before its reply."""

_CALL = Column("call_id", "text", "where the call stands, as i2/challenger or r1/worker-b", key=True)

CALL_TABLES: dict[str, Columns] = {
    "calls": (
        RUN,
        _CALL,
        Column("iteration", "whole", "the iteration of a plan run; 0 in cross runs"),
        Column("role", (*ROLES, "worker"), "what was asked of it; `worker` for a vote"),
        Column("worker", "text", "the agent or worker that was called"),
        Column("items", "names", "ids of the findings that a worker was asked about"),
        Column("status", CALL_STATUSES, "how the call ended; an answer outside its schema came in a completed call"),
        Column("duration_ms", "number", "wall time of the call in milliseconds"),
        Column("input_tokens", "whole", "tokens in; 0 for agents that are not models"),
        Column("output_tokens", "whole", "tokens out; 0 for agents that are not models"),
        Column("source", get_args(ReplySource), "whether the reply was made then, read from a log, or from a cache"),
        Column("request_sha256", "text", "digest of the whole request; equal requests were asked the same"),
        Column("requested_at", "time", "when it was asked"),
        Column("replied_at", "time", "when it ended"),
        Column("reason", "text", "what was wrong with the call or, of an agent of a plan run, with its answer"),
        Column("n_tools", "whole", "tool calls behind the reply, refused ones included"),
    ),
    "tools": (
        RUN,
        _CALL,
        Column("step", "whole", "the tool call, numbered from 1 in its call", key=True),
        Column("tool", TOOLS, "what was used"),
        Column("argument", "text", "what it was called with: a path, a pattern, a query"),
        Column("serves", "text", "the unknown or risk that it serves, if it names one"),
        Column("refused", "text", "why it was refused; blank if it was not"),
        Column("results", "whole", "lines or hits that came back"),
    ),
    "messages": (
        RUN,
        Column("message", "whole", "the message, numbered from 1 in its debate", key=True),
        Column("turn", "whole", "the turn, from 1"),
        Column("role", ("architect", "builder"), "who speaks"),
        Column("type", ("propose", "critique", "implement", "verify"), "what the message does"),
        Column("content", "text", "the message's words"),
        Column("reasons", "names", "why this step was taken"),
        Column("evidence", "names", "file paths and line hints"),
        Column("risks", "names", "short, actionable concerns"),
        Column("input_tokens", "whole", "tokens in, where a model was called"),
        Column("output_tokens", "whole", "tokens out, where a model was called"),
    ),
}
"""The tables of who was called; they come from logs. `messages` is empty until there are debates."""
