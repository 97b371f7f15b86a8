"""What an exchange used, from the endpoint's own count (rule G3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verifyplan.agents.anthropic.prices import Price, cost
from verifyplan.protocol.call import Usage

MOST = 2**40
"""From so many on, a count of one exchange is none: no table could hold the sum."""


def usage_of(message: Mapping[str, Any], price: Price | None, *, batch: bool = False) -> Usage:
    """The tokens and searches of a message, with their price if it is known.

    What the endpoint does not say counts 0; a count that is none (a text, below 0, without end) does, too.

    >>> usage_of({"usage": {"input_tokens": 7, "output_tokens": 2, "cache_read_input_tokens": None}}, None).total
    9
    """
    told = message.get("usage")
    counts: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
    server = counts.get("server_tool_use")
    used = Usage(
        input_tokens=_count(counts, "input_tokens"),
        output_tokens=_count(counts, "output_tokens"),
        cache_read_tokens=_count(counts, "cache_read_input_tokens"),
        cache_write_tokens=_count(counts, "cache_creation_input_tokens"),
        web_searches=_count(server, "web_search_requests") if isinstance(server, Mapping) else 0,
    )
    counted = {"input_tokens", "output_tokens"} <= counts.keys()  # one that counts nothing is not free
    return used if price is None or not counted else used.model_copy(update={"cost": cost(used, price, batch=batch)})


def _count(counts: Mapping[str, Any], name: str) -> int:
    value = counts.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST else 0
