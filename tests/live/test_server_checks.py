"""What the scripted server refuses, as the API does, and what it takes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.live.asking import READ, asks, user
from tests.live.scripted_checks import problems_of

SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "additionalProperties": False}
MARK = {"type": "ephemeral"}
TEXT = {"type": "text", "text": "t"}


def use(name: str, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": name, "name": "Read", "input": {}, **more}]}


def result(name: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": "found"}


WRONG = {
    "messages: Field required": asks(messages=[]),
    "max_tokens: Field required": asks(max_tokens=None),
    "tempo: Extra inputs": asks(tempo=3),
    "does not stream": asks(stream=True),
    "messages.0: Input should have the role": asks(messages=[{"role": "system", "content": "x"}]),
    "nothing else": asks(messages=[user("x") | {"name": "me"}]),
    "messages.0.content.0: text content": asks(" \n"),
    "messages.0.content: Input": asks([]),
    "system.0: Input should be": asks(system=[{"type": "image"}]),
    "first message": asks(messages=[use("t"), user([result("t")])], tools=[READ]),
    "prefill": asks(messages=[user("x"), {"role": "assistant", "content": "{"}]),
    "do not answer": asks(messages=[user("x"), use("t"), user([result("u")])], tools=[READ]),
    "blocks before them: ['t']": asks(messages=[user("x"), use("t"), user("y")], tools=[READ]),
    "blocks before them: []": asks([result("t")]),
    "come first": asks(messages=[user("x"), use("t"), user([TEXT, result("t")])], tools=[READ]),
    "tools: must be defined": asks(messages=[user("x"), use("t"), user([result("t")])]),
    "names must be unique": asks(tools=[READ, READ]),
    "and match": asks(tools=[READ | {"name": "read it"}]),
    "input_schema.type": asks(tools=[{"name": "Read", "input_schema": {}}]),
    "tools.0.input_schema: For 'object'": asks(tools=[READ | {"strict": True}]),
    "tool_choice: Input": asks(tool_choice={"type": "none"}),
    "Tool 'Grep' not found": asks(tools=[READ], tool_choice={"type": "tool", "name": "Grep"}),
    "output_config: Input": asks(output_config={"effort": "enormous"}),
    "output_config.format: Input": asks(output_config={"format": {"type": "json"}}),
    "A maximum of 4": asks([TEXT | {"cache_control": MARK}] * 5),
    "ttl of 5m or 1h": asks([TEXT | {"cache_control": MARK | {"ttl": "2h"}}]),
}


@pytest.mark.parametrize("words", WRONG)
def test_what_the_api_would_refuse(words):
    assert words in next(problems_of(WRONG[words]))


@pytest.mark.parametrize(
    "schema",
    [
        SCHEMA | {"additionalProperties": True},
        {"type": "array", "items": {"type": "object", "properties": {}}},
        {"$ref": "#/$defs/A", "$defs": {"A": {"anyOf": [{"type": "string", "maxLength": 9}]}}},
    ],
)
def test_schemas_that_the_api_would_not_enforce(schema):
    body = asks(output_config={"format": {"type": "json_schema", "schema": schema}})
    assert next(problems_of(body)).startswith("output_config.format.schema")


@pytest.mark.parametrize(
    "body",
    [
        asks(temperature=0.5, thinking={"type": "adaptive"}, system="s"),
        asks(messages=[user("x"), use("t"), user([result("t"), TEXT | {"cache_control": MARK}])], tools=[READ]),
        asks(messages=[user("x"), user("y"), use("t"), user([result("t")]), user("z")], tools=[READ]),
        asks(output_config={"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}}),
        asks(tools=[{"type": "web_search_20250305", "name": "web_search", "max_uses": 1}]),
        asks(tools=[READ | {"input_schema": SCHEMA | {"properties": {"maximum": {"type": "null"}}}, "strict": True}]),
        asks(messages=[user("x"), use("t", type="server_tool_use")]),
    ],
)
def test_what_the_api_would_take(body):
    assert list(problems_of(body)) == []
