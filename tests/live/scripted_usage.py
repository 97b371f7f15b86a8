"""What a scripted reply costs: four characters a token, and a prompt cache that keeps what stood before each mark."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.live.scripted_checks import blocks_of

CHARACTERS_PER_TOKEN = 4


def tokens_of(value: Any) -> int:
    """The tokens of all texts in a value, types aside; at least one."""
    return max(1, _characters(value) // CHARACTERS_PER_TOKEN)


def tokens_asked(body: dict[str, Any]) -> int:
    return tokens_of([block for _, block in _blocks(body)])


def _characters(value: Any) -> int:
    if isinstance(value, dict):
        return sum(_characters(part) for key, part in value.items() if key not in ("type", "cache_control"))
    if isinstance(value, list):
        return sum(map(_characters, value))
    return len(value) if isinstance(value, str) else 0


class Spent(NamedTuple):
    """The input tokens of one request, by what the cache did with them."""

    fresh: int
    written: int
    read: int
    lasting: str  # 5m or 1h
    marks: list[bytes]  # the beginnings to keep


class PromptCache:
    """Beginnings of requests that were marked by `cache_control`, equal to the letter; nothing is ever dropped.

    Like the API: tools come before the system prompt, that before the messages; what a request marks can be read only
    by requests that are sent after its reply; a request reads the longest kept beginning before its last mark.
    """

    def __init__(self) -> None:
        self._kept: set[bytes] = set()

    def split(self, body: dict[str, Any]) -> Spent:
        """What of a request is read from the cache, and what would be written."""
        so_far = hashlib.sha256(body["model"].encode())
        characters = kept = read = marked = 0
        lasting, marks, blocks = "5m", [], list(_blocks(body))
        for left, (role, block) in enumerate(blocks, start=1 - len(blocks)):
            plain = {key: value for key, value in block.items() if key != "cache_control"}
            so_far.update(json.dumps([role, plain], sort_keys=True).encode())
            characters += _characters(block)
            if so_far.digest() in self._kept:
                kept = characters
            mark = block.get("cache_control") or (left == 0 and body.get("cache_control"))
            if mark:
                read, marked, lasting = kept, characters, mark.get("ttl", "5m")
                marks.append(so_far.digest())
        total, before, known = (count // CHARACTERS_PER_TOKEN for count in (characters, marked, read))
        return Spent(max(total - before, 1), before - known, known, lasting, marks)

    def keep(self, spent: Spent) -> None:
        self._kept.update(spent.marks)


def usage_of(spent: Spent, content: list[dict[str, Any]], tier: str) -> dict[str, Any]:
    """The usage of a reply, as the API words it."""
    served = [block["name"] for block in content if block["type"] == "server_tool_use"]
    counts = {f"{name}_requests": served.count(name) for name in ("web_search", "web_fetch")}
    written = {f"ephemeral_{ttl}_input_tokens": spent.written * (ttl == spent.lasting) for ttl in ("5m", "1h")}
    return {
        "input_tokens": spent.fresh,
        "output_tokens": tokens_of(content),
        "cache_creation_input_tokens": spent.written,
        "cache_read_input_tokens": spent.read,
        "cache_creation": written,
        "server_tool_use": counts if served else None,
        "service_tier": tier,
    }


def _blocks(body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """All that a model reads, in the order it reads it, with whose words it is."""
    yield from (("tool", tool) for tool in body.get("tools") or ())
    for message in [{"role": "system", "content": body.get("system") or []}, *body["messages"]]:
        yield from ((message["role"], block) for block in blocks_of(message["content"]))
