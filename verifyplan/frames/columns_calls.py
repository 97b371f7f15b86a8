"""The columns of calls, of their turns and of their tools (rules A12, E1, E4)."""

from __future__ import annotations

from typing import get_args

from verifyplan.frames.column import RUN, Column, Columns
from verifyplan.protocol.call import TOOLS, ReplySource
from verifyplan.protocol.message import DEBATE_ROLES
from verifyplan.protocol.plan_call import ROLES

CALL_STATUSES = ("completed", "timeout", "error", "budget", "in-flight")
"""How a call ended; `budget` where it could not be afforded, `in-flight` where the log ends before its reply."""

TURN_STATUSES = ("completed", "failed", "in-flight")
"""How a turn ended; `failed` where the call went on, or ended, without its reply."""

_CALL = Column("call_id", "text", "where the call stands, as i2/challenger, t2/critique or r1/worker-b", key=True)
_SOURCE = Column("source", get_args(ReplySource), "whether the reply was made then, read from a log, or from a cache")
_USED: Columns = (
    Column("input_tokens", "whole", "tokens in that were neither read from a cache nor put in one"),
    Column("output_tokens", "whole", "tokens out"),
    Column("cache_read_tokens", "whole", "tokens in that the endpoint had in its cache"),
    Column("cache_write_tokens", "whole", "tokens in that the endpoint put in its cache"),
    Column("web_searches", "whole", "searches that the endpoint made, which it bills apart"),
    Column("cost", "number", "US dollars by the table of prices; missing where no price is known"),
)
"""What a model used; 0 for agents that are none. Of calls that failed or are in flight: what their turns used."""

CALL_TABLES: dict[str, Columns] = {
    "calls": (
        RUN,
        _CALL,
        Column("iteration", "whole", "the iteration of a plan run; 0 in cross runs and debates"),
        Column("role", (*ROLES, "worker", *DEBATE_ROLES), "what was asked of it; `worker` for a vote"),
        Column("worker", "text", "the agent or worker that was called"),
        Column("items", "names", "ids of the findings that a worker was asked about"),
        Column("status", CALL_STATUSES, "how the call ended; an answer outside its schema came in a completed call"),
        Column("duration_ms", "number", "wall time of the call in milliseconds"),
        *_USED,
        Column("model", "text", "the model that was asked, or several with commas; missing for agents that are none"),
        Column("n_turns", "whole", "its rows in the table `turns`; 0 for agents that do not speak in turns"),
        _SOURCE,
        Column("request_sha256", "text", "digest of the whole request; equal requests were asked the same"),
        Column("requested_at", "time", "when it was asked"),
        Column("replied_at", "time", "when it ended"),
        Column("reason", "text", "what was wrong with the call, or with its answer"),
        Column("n_tools", "whole", "tool calls of the call, refused ones included"),
    ),
    "turns": (
        RUN,
        Column("turn_id", "text", "where the exchange stands: its call and its turn, as i2/challenger/t3", key=True),
        Column("call_id", "text", "the call that it belongs to, as the table `calls` names it"),
        Column("turn", "whole", "the turn in its call, from 1; of a look-up on the web, that of the turn it was for"),
        Column("model", "text", "the model that was asked"),
        Column("status", TURN_STATUSES, "how it ended"),
        Column("stop_reason", "text", "why the model stopped, in the endpoint's words"),
        *_USED,
        Column("duration_ms", "number", "wall time in milliseconds, retries included"),
        _SOURCE,
        Column("batch", "text", "the message batch that the reply came in, if it came in one"),
        Column("request_sha256", "text", "digest of the whole request as it was sent"),
        Column("message_id", "text", "the endpoint's name of the reply"),
        Column("requested_at", "time", "when it was sent"),
        Column("replied_at", "time", "when it came back"),
        Column("n_added", "whole", "blocks that it adds to the conversation: results of tools, a wish for repair"),
        Column("n_tools", "whole", "tool calls behind those blocks, refused ones included"),
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
}
"""The tables of who was called; they come from logs. `turns` are those of agents that are models."""
