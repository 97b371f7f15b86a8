"""What the API refuses in a request: each check yields what is wrong, in words like the API's own."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import groupby
from typing import Any

PARAMETERS = {
    "model", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "cache_control", "speed",
    "max_tokens", "metadata", "service_tier", "stop_sequences", "stream", "temperature", "top_p", "top_k",
    "container", "diagnostics", "inference_geo",
}  # fmt: skip
BLOCKS = {
    "user": {"text", "image", "document", "search_result", "tool_result"},
    "assistant": {"text", "thinking", "redacted_thinking", "tool_use", "server_tool_use"}
    | {"web_search_tool_result", "web_fetch_tool_result"},
}
EFFORTS = (None, "low", "medium", "high", "xhigh", "max")
LIMITS = {  # of JSON schema, which structured outputs and strict tools do not take
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "maxItems",
    "uniqueItems", "minProperties", "maxProperties", "patternProperties", "propertyNames", "oneOf", "not", "if",
}  # fmt: skip
MOST_MARKS = 4
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
Block = dict[str, Any]


class ApiError(Exception):
    """An error that the API answers with."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def check(body: dict[str, Any], models: Collection[str]) -> None:
    """Raise what the API would answer to a request for a message."""
    for problem in problems_of(body):
        raise ApiError(400, problem)
    if models and body["model"] not in models:
        raise ApiError(404, f"model: {body['model']}")


def problems_of(body: dict[str, Any]) -> Iterator[str]:
    """Why the API would answer 400. Later checks rely on earlier."""
    for name in sorted(body.keys() - PARAMETERS):
        yield f"{name}: Extra inputs are not permitted"
    for name, kind in {"model": str, "messages": list, "max_tokens": int}.items():
        if not isinstance(body.get(name), kind) or not body[name]:
            yield f"{name}: Field required, not empty"
    if body.get("stream"):
        yield "stream: the scripted server does not stream"
    if body.get("system") is not None:
        yield from _content(body["system"], {"text"}, "system")
    for place, message in enumerate(body["messages"]):
        if not isinstance(message, dict) or message.keys() != {"role", "content"} or message["role"] not in BLOCKS:
            yield f"messages.{place}: Input should have the role 'user' or 'assistant' and a content, nothing else"
        yield from _content(message["content"], BLOCKS[message["role"]], f"messages.{place}.content")
    yield from _turns(body)
    yield from _tools(body.get("tools") or [], body.get("tool_choice") or {})
    yield from _output(body.get("output_config") or {})
    yield from _marks(body)


def _content(content: Any, allowed: Collection[str], place: str) -> Iterator[str]:
    blocks = blocks_of(content)
    if not isinstance(blocks, list) or not blocks:
        yield f"{place}: Input should be a text or a list of blocks, not empty"
    for number, block in enumerate(blocks):
        if not isinstance(block, dict) or block.get("type") not in allowed:
            yield f"{place}.{number}: Input should be a block of type {', '.join(sorted(allowed))}"
        if block["type"] == "text" and not str(block.get("text") or "").strip():
            yield f"{place}.{number}: text content blocks must contain non-whitespace text"


def blocks_of(content: Any) -> Any:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _turns(body: dict[str, Any]) -> Iterator[str]:
    """Who speaks when, and that the results of tools answer just the uses before them."""
    turns = [  # messages of one role that follow each other are one turn
        (role, [block for message in messages for block in blocks_of(message["content"])])
        for role, messages in groupby(body["messages"], key=lambda message: message["role"])
    ]
    if turns[0][0] != "user":
        yield "messages: first message must use the user role"
    asked: list[str] = []
    for _, blocks in turns:
        answers = _of(blocks, "tool_result")
        if sorted(answer["tool_use_id"] for answer in answers) != sorted(asked):
            yield f"messages: the tool_result blocks do not answer the tool_use blocks before them: {asked}"
        if answers != blocks[: len(answers)]:
            yield "messages: tool_result blocks must come first in the content"
        asked = [block["id"] for block in _of(blocks, "tool_use")]
        if asked and not body.get("tools"):
            yield "tools: must be defined where tool_use or tool_result blocks are"
    if turns[-1][0] == "assistant" and (asked or not _of(turns[-1][1], "server_tool_use")):
        yield "messages: the conversation must end with a user message (prefill is not supported)"


def _of(blocks: list[Block], kind: str) -> list[Block]:
    return [block for block in blocks if block["type"] == kind]


def _tools(tools: list[Block], choice: dict[str, Any]) -> Iterator[str]:
    names = [tool.get("name", "") for tool in tools]
    if len(set(names)) < len(names) or not all(map(TOOL_NAME.fullmatch, names)):
        yield f"tools: names must be unique and match '{TOOL_NAME.pattern}': {names}"
    for place, tool in enumerate(tools):
        if tool.get("type", "custom") != "custom":  # one of the API's own
            continue
        if tool.get("input_schema", {}).get("type") != "object":
            yield f"tools.{place}.input_schema.type: Field required: object"
        if tool.get("strict"):
            yield from _schema(tool["input_schema"], f"tools.{place}.input_schema")
    if choice and (not tools or choice.get("type") not in ("auto", "any", "tool", "none")):
        yield "tool_choice: Input should be auto, any, tool or none, and only where tools are"
    if choice.get("type") == "tool" and choice.get("name") not in names:
        yield f"tool_choice.name: Tool {choice.get('name')!r} not found in provided tools"


def _output(config: dict[str, Any]) -> Iterator[str]:
    if config.keys() - {"effort", "format"} or config.get("effort") not in EFFORTS:
        yield f"output_config: Input should have a format and an effort of {', '.join(EFFORTS[1:])}, nothing else"
    wanted = config.get("format") or {}
    if wanted and (wanted.get("type") != "json_schema" or not isinstance(wanted.get("schema"), dict)):
        yield "output_config.format: Input should be a json_schema with its schema"
    yield from _schema(wanted.get("schema"), "output_config.format.schema")


def _schema(schema: Any, place: str) -> Iterator[str]:
    """What the API does not take in a schema that it enforces."""
    if isinstance(schema, list):
        schema = {"$defs": dict(enumerate(schema))}
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        yield f"{place}: For 'object' type, 'additionalProperties' must be explicitly set to false"
    yield from (f"{place}: '{key}' is not supported" for key in sorted(schema.keys() & LIMITS))
    for key in ("properties", "$defs"):  # the keys below these are names
        for name, part in (schema.get(key) or {}).items():
            yield from _schema(part, f"{place}.{key}.{name}")
    for key in ("items", "anyOf", "allOf"):
        yield from _schema(schema.get(key), f"{place}.{key}")


def _marks(body: dict[str, Any]) -> Iterator[str]:
    marks = list(_all_marks(body))
    if len(marks) > MOST_MARKS:
        yield f"A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {len(marks)}."
    if any(mark.get("type") != "ephemeral" or mark.get("ttl", "5m") not in ("5m", "1h") for mark in marks):
        yield "cache_control: Input should be ephemeral, with a ttl of 5m or 1h"


def _all_marks(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for part in value:
            yield from _all_marks(part)
    elif isinstance(value, dict):
        yield from filter(None, [value.get("cache_control")])
        for key in ("tools", "system", "messages", "content"):
            yield from _all_marks(value.get(key))
