"""One exchange with a model: the text of its message, how it ended, the digest of what was asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from verifyplan.agents.base import ModelReply
from verifyplan.errors import AgentError

Block = dict[str, Any]
PostTurn = Callable[[str, dict[str, Any]], Awaitable[ModelReply]]
"""Sends the body of a request, for the turn of that id."""


def message_text(message: Mapping[str, Any]) -> str:
    """What a message says, its thinking left out.

    >>> message_text({"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes"}]})
    'yes'
    """
    blocks = [block for block in message["content"] if isinstance(block, dict) and block.get("type") == "text"]
    return "\n".join(block["text"] for block in blocks if isinstance(block.get("text"), str))


def check_message(message: Mapping[str, Any], max_tokens: int) -> None:
    """AgentError where a message was cut off, refused, never came to its end, or is damaged."""
    match message.get("stop_reason"):
        case "max_tokens":
            raise AgentError(f"the answer was cut off at {max_tokens:,} tokens; give the model a larger max_tokens")
        case "model_context_window_exceeded":
            raise AgentError("the answer was cut off: the model's context is full")
        case "refusal":
            raise AgentError(f"the model refused to answer{_why(message.get('stop_details'))}")
        case "pause_turn":
            raise AgentError("the model paused its turn and gave no answer")
        case None:
            raise AgentError("the reply broke off before its end")
    for number, block in enumerate(message["content"], start=1):
        if not _is_block(block):
            raise AgentError(f"the endpoint's message is damaged: part {number} of its content is none")


def _is_block(block: Any) -> bool:
    """Whether a part of a message has what makes it one: a type, the words of a text, the names of a tool's use."""
    told = block if isinstance(block, dict) else {}
    names = {"text": ("text",), "tool_use": ("id", "name")}.get(str(told.get("type")), ())
    return all(isinstance(told.get(name), str) for name in ("type", *names))


def _why(details: Any) -> str:
    told = details if isinstance(details, dict) else {}
    words = [str(told[name]) for name in ("category", "explanation") if told.get(name)]
    return f" ({': '.join(words)})" if words else ""
