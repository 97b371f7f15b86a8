"""Requests to workers and the replies of backends, with tokens, cost and tool calls (rules G1, B4)."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from verifyplan.protocol.base import Model
from verifyplan.protocol.vote import Basis, Mode, VerificationMode

ReplySource = Literal["live", "replay", "cache"]
Tool = Literal["Read", "Grep", "memory_search", "git_log", "WebSearch", "WebFetch"]
TOOLS: tuple[Tool, ...] = get_args(Tool)


class Item(Model):
    """One finding as a verifying worker sees it: never its truth, never who else voted what."""

    finding_id: str = Field(description="The id to answer under.")
    summary: str = Field(description="The claim.")
    evidence: str = Field(description="The cited places and quoted text, as the discoverer gave them.")


class WorkerRequest(Model):
    """One dispatch: a worker is asked to vote on some findings in one round."""

    call_id: str = Field(description="The place of the call in the run, such as r1/worker-b.")
    role: Literal["worker"] = Field(default="worker", description="Who is called: a worker.")
    worker: str = Field(description="The worker that is called.")
    round: int = Field(description="The round, from 1; the plan-body round is 1, too.")
    mode: Mode = Field(description="Whether the task is to confirm or to break the claims.")
    verification_mode: VerificationMode = Field(description="Whether cited evidence may be opened.")
    items: tuple[Item, ...] = Field(description="The findings to vote on; never the worker's own.")
    documents: dict[str, str] = Field(
        default={}, description="Texts that evidence may cite beside files, by the name they are cited under."
    )


MAX_TOKENS_COUNTED = 2**53
"""Counts are below this: tables hold whole numbers up to it."""

MAX_DOLLARS = 10**12
"""What a call cost is below this."""

Count = Annotated[int, Field(ge=0, lt=MAX_TOKENS_COUNTED)]


class Usage(Model):
    """Tokens and dollars that a call cost; zero for agents that are not models.

    `uncounted` marks what is unknown, which is not zero: a log has it only where it is above 0.
    """

    input_tokens: Count = Field(default=0, description="Tokens in that were neither read from nor put in a cache.")
    output_tokens: Count = Field(default=0, description="Tokens out.")
    cache_read_tokens: Count = Field(default=0, description="Tokens in that the endpoint had in its cache.")
    cache_write_tokens: Count = Field(default=0, description="Tokens in that the endpoint put in its cache.")
    web_searches: Count = Field(default=0, description="Searches that the endpoint made, which it bills apart.")
    cost: Annotated[Decimal, Field(ge=0, lt=MAX_DOLLARS)] | None = Field(
        default=None, description="US dollars by the table of prices; None where it has no price."
    )
    uncounted: Count = Field(
        default=0,
        exclude_if=lambda number: not number,
        description="Replies of models whose usage is missing or cannot be read; the counts are without them.",
    )

    @property
    def total(self) -> int:
        """Tokens in and out, cached ones included."""
        return self.total_input + self.output_tokens

    @property
    def total_input(self) -> int:
        """Tokens in, cached ones included."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    def __add__(self, other: Usage) -> Usage:
        """Both together; the cost is unknown if tokens of either have none, or if either has replies without counts.

        >>> dear = Usage(input_tokens=2, cost=Decimal("0.1"))
        >>> (dear + Usage(output_tokens=1)).cost, (dear + Usage(uncounted=1)).cost, (dear + Usage()).cost
        (None, None, Decimal('0.1'))
        """
        parts = [usage for usage in (self, other) if usage.total or usage.uncounted or usage.cost is not None]
        costs = [None if usage.uncounted else usage.cost for usage in parts]
        known = [cost for cost in costs if cost is not None]
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            web_searches=self.web_searches + other.web_searches,
            cost=sum(known, Decimal(0)) if known and len(known) == len(costs) else None,
            uncounted=self.uncounted + other.uncounted,
        )


class ToolUse(Model):
    """One tool call that an agent made on the way to its reply, or was refused (rule A12)."""

    tool: Tool = Field(description="The tool.")
    argument: str = Field(description="What it was called with: a path, a pattern, a query.")
    serves: str = Field(default="", description="The unknown or risk that it serves, if it names one.")
    refused: str = Field(default="", description="Why it was refused; blank if it was not.")
    results: int = Field(default=0, ge=0, description="Lines or hits that came back.")


class Reply(Model):
    """The reply of a backend: a value not yet checked, its cost and its time."""

    value: Any = Field(description="The answer as JSON values; the loop checks it against the schema.")
    usage: Usage = Field(default=Usage(), description="What the call used.")
    duration_ms: int = Field(default=0, ge=0, description="Wall time of the call in milliseconds.")
    source: ReplySource = Field(default="live", description="Made now, read from a log, or from a cache.")
    tools: tuple[ToolUse, ...] = Field(default=(), description="The tool calls behind it, in order.")
    partial_failures: tuple[str, ...] = Field(
        default=(),
        description="Parts of the agent that failed while the rest answered, such as: check stale_paths failed: "
        "ValueError: no such line.",
    )


class WorkerVote(Model):
    """A worker's answer on one finding; prompt labels and other spellings are read by `rules.answers.read_votes`."""

    verdict: Literal["agree", "supplement", "disagree"]
    """Whether the claim holds, holds with a caveat, or does not."""
    disagree_basis: Basis | None = None
    """What a disagree rests on: counter-evidence, or a burden that was not met."""
    explanation: str = ""
    """The reasons, with the places that they cite."""
