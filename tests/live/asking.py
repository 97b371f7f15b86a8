"""Requests that tests of the scripted server send, through the real SDK."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from anthropic import AsyncAnthropic

from tests.live.scripted_server import ScriptedServer
from tests.live.serve import ServedScript

MODEL = "claude-sonnet-5-5"
READ = {"name": "Read", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}

Served = ScriptedServer | ServedScript


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def asks(content: Any = "hello", **more: Any) -> dict[str, Any]:
    return {"model": MODEL, "max_tokens": 100, "messages": [user(content)], **more}


def through(server: Served, talk: Callable[[AsyncAnthropic], Awaitable[Any]], **more: Any) -> Any:
    """What `talk` makes of a client of this server."""

    async def run() -> Any:
        async with AsyncAnthropic(base_url=server.url, **{"api_key": "a key", "max_retries": 0, **more}) as client:
            return await talk(client)

    return asyncio.run(run())


def asked_once(server: Served, **body: Any) -> Any:
    return through(server, lambda client: client.messages.create(**asks(**body)))
