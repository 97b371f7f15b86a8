"""The columns of debates: how they ended, and every message (rules C1, C3, E4)."""

from __future__ import annotations

from typing import get_args

from verifyplan.frames.column import RUN, Column, Columns
from verifyplan.protocol.event_run import DebateReason, DebateStatus
from verifyplan.protocol.message import DEBATE_ROLES, MESSAGE_TYPES

DEBATE_RUN: Columns = (
    Column(
        "debate_status", get_args(DebateStatus), "how the debate ended; missing where an agent or a budget ended it"
    ),
    Column("debate_reason", get_args(DebateReason), "what ended the debate; missing while it goes on"),
    Column("debate_turns", "whole", "turns of the debate; while it goes on, the one that it has come to"),
    Column("max_turns", "whole", "turns allowed to the debate"),
)
"""What the table `runs` says of debates; why one has no status is in `exit_reason`."""

DEBATE_TABLES: dict[str, Columns] = {
    "messages": (
        RUN,
        Column("position", "whole", "the message, numbered from 1 in its debate", key=True),
        Column("turn", "whole", "the turn, from 1"),
        Column("role", DEBATE_ROLES, "who speaks"),
        Column("type", MESSAGE_TYPES, "what the message does"),
        Column("content", "text", "the message's words"),
        Column("reasons", "names", "why this step was taken"),
        Column("evidence", "names", "file paths and line hints"),
        Column("risks", "names", "short, actionable concerns"),
        Column("n_reasons", "whole", "how many reasons it gives"),
        Column("n_evidence", "whole", "how much evidence it gives"),
        Column("n_risks", "whole", "how many risks it names"),
        Column("input_tokens", "whole", "tokens in, where a model was called"),
        Column("output_tokens", "whole", "tokens out, where a model was called"),
        Column("diff_sha256", "text", "digest of the diff as it stands after the message; missing before the first"),
        Column("diff_lines", "whole", "lines of that diff"),
        Column("at", "time", "when it was published"),
    ),
}
"""The table of messages; it comes from the logs of debates."""
