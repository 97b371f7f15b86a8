"""Estimate what an endpoint's prompt cache holds of each request, by its cache marks, as the API describes them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pydantic_core import to_json

from verifyplan.runs.estimate.sizes import CHARACTERS_PER_TOKEN, characters, written

SHORTEST = 1_024
"""Tokens of the shortest beginning that is kept; some models keep only longer ones, of up to 4,096."""


class TokensIn(NamedTuple):
    """The tokens of a request, by what the cache does with them."""

    fresh: int
    written: int
    read: int


class PromptCache:
    """The beginnings of requests that were marked to be kept, up to the letter; none is ever dropped."""

    def __init__(self) -> None:
        self._kept: dict[bytes, int] = {}

    def begin(self) -> CallCache:
        """The cache as a call sees it that begins now."""
        return CallCache(self._kept, len(self._kept))


class CallCache:
    """The cache of one call: what was kept before it began, and by its own turns.

    What calls keep that are under way at the same time is not read: each has been sent when the other is answered.
    """

    def __init__(self, kept: dict[bytes, int], known: int) -> None:
        self._kept, self._known = kept, known
        self._own: set[bytes] = set()

    def take(self, body: Mapping[str, Any]) -> TokensIn:
        """The tokens of a request; its marked beginnings are kept from now on."""
        so_far = hashlib.sha256(str(body["model"]).encode())
        total = read = readable = marked = 0
        marks: list[bytes] = []
        for length, block, mark in _blocks(body):
            so_far.update(block)
            total += length
            if self._reads(so_far.digest()):
                readable = total
            if mark:
                read, marked = readable, total
                if total >= SHORTEST * CHARACTERS_PER_TOKEN:
                    marks.append(so_far.digest())
        if not marks:
            read = marked = 0
        for digest in marks:
            self._kept.setdefault(digest, len(self._kept))
        self._own.update(marks)
        whole, until, known = (count // CHARACTERS_PER_TOKEN for count in (total, marked, read))
        return TokensIn(whole - until, until - known, known)

    def _reads(self, digest: bytes) -> bool:
        return digest in self._own or self._kept.get(digest, self._known) < self._known


def _blocks(body: Mapping[str, Any]) -> Iterator[tuple[int, bytes, bool]]:
    """All that a model reads in its order: its length, what tells it from others, and whether it is marked.

    The schema of the answer comes first: an endpoint tells a model of it in words of its own.
    """
    schema = body.get("output_config", {}).get("format", {}).get("schema")
    for definition in ([schema] if schema else []) + list(body.get("tools") or ()):
        yield written(definition), to_json(definition), False
    for message in [{"role": "system", "content": body.get("system") or []}, *body["messages"]]:
        for block in message["content"] if isinstance(message["content"], list) else [{"text": message["content"]}]:
            plain = {key: value for key, value in block.items() if key != "cache_control"}
            yield characters(plain), to_json([message["role"], plain]), "cache_control" in block
