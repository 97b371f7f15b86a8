"""JSON Schemas as the API takes them: closed objects, every key required, no limits (rule G3)."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel

_KEPT = ("$ref", "anyOf", "enum", "const", "type", "items", "properties", "description")
"""What a schema is made of; all else (defaults, titles, patterns, bounds) is checked when the answer is read."""


@cache  # pydantic takes milliseconds to make one; do not change what comes out
def api_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model's JSON, such that the API takes it, and the SDK's own transformation changes nothing.

    Every key is required, as optional ones are what makes the API refuse a schema as too large; one that may be left
    out is nullable, or empty. In a part, texts come before choices and numbers, and those before further parts: a model
    writes keys in this order, so it gives its reasons before it concludes. A part that begins with a choice, which says
    what the rest is about, keeps its order. Recursive models are not supported.
    """
    schema = model.model_json_schema()
    parts = schema.get("$defs", {})
    root = _transformed(schema)
    return root | {"$defs": {name: _ordered(_transformed(part)) for name, part in parts.items()}} if parts else root


def _transformed(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    new = {key: schema[key] for key in _KEPT if key in schema}
    if "enum" in new or "const" in new:
        new.pop("type", None)
    if "anyOf" in new:
        new["anyOf"] = [_transformed(one) for one in new["anyOf"]]
    if "items" in new:
        new["items"] = _transformed(new["items"])
    if "properties" in new:
        new.pop("description", None)  # what a class says of itself is for those who read the code
        new["properties"] = {key: _transformed(one) for key, one in new["properties"].items()}
        new |= {"required": list(new["properties"]), "additionalProperties": False}
    return new


def _ordered(part: dict[str, Any]) -> dict[str, Any]:
    """A part with its keys in the order in which they should be written."""
    properties: dict[str, Any] = part.get("properties", {})
    if not properties or "enum" in next(iter(properties.values())):
        return part
    ordered = sorted(properties.items(), key=lambda item: _rank(item[1]))
    return part | {"properties": dict(ordered), "required": [key for key, _ in ordered]}


def _rank(schema: dict[str, Any]) -> int:
    """0 for a text, 1 for a choice or a number, 2 for a part of its own."""
    kinds = schema.get("anyOf", [schema])
    if any(kind.get("type") == "string" for kind in kinds):
        return 0
    return 2 if any("$ref" in kind or kind.get("type") in ("array", "object") for kind in kinds) else 1
