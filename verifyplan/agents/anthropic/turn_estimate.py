"""Estimate the most that one request may use, before it is sent (rule A12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json

from verifyplan.agents.prices import Price, cost
from verifyplan.protocol.call import Usage

BYTES_PER_TOKEN = 3.5
"""Fewer than texts have in most languages, so that an estimate is rather too high."""

WEB_PAGE_TOKENS = 20_000
"""Tokens of web pages that an endpoint reads for one look-up."""


def turn_estimate(body: Mapping[str, Any], price: Price | None, *, batch: bool = False) -> Usage:
    """Return the most that a request may use: all of its bytes as tokens in, and its `max_tokens` out.

    Nothing is taken as read from a cache; where something is marked for it, all is priced as put in it. The cost is
    missing without a price.

    >>> turn_estimate({"max_tokens": 100, "messages": [{"role": "user", "content": "x" * 700}]}, None).total
    317
    """
    text = to_json(body)
    web = [tool for tool in body.get("tools", ()) if str(tool.get("type", "")).startswith("web_")]
    tokens = round(len(text) / BYTES_PER_TOKEN) + WEB_PAGE_TOKENS * len(web)
    marked = b'"cache_control"' in text
    used = Usage(
        input_tokens=0 if marked else tokens,
        cache_write_tokens=tokens if marked else 0,
        output_tokens=int(body["max_tokens"]),
        web_searches=sum(int(tool.get("max_uses", 1)) for tool in web if tool.get("name") == "web_search"),
    )
    return used if price is None else used.model_copy(update={"cost": cost(used, price, batch=batch)})
