"""Messages of a debate, and the JSON Schema that each must satisfy before it is published (rules C1, C4)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib import import_module, resources
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, SerializerFunctionWrapHandler, StrictInt, StrictStr, model_serializer

from verifyplan.errors import MessageError
from verifyplan.protocol.base import Model

DebateRole = Literal["architect", "builder"]
DEBATE_ROLES: tuple[DebateRole, ...] = get_args(DebateRole)
MessageType = Literal["propose", "critique", "implement", "verify"]
MESSAGE_TYPES: tuple[MessageType, ...] = get_args(MessageType)


def _whole(value: Any) -> Any:
    """Return a number such as 1.0 as the integer that it is by JSON Schema; anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _given(value: Any) -> Any:
    """Return a value that is not null: a field without one is left out, since the schema knows no null."""
    if value is None:
        raise ValueError("is null; leave the field out instead")
    return value


_Tokens = Annotated[Annotated[StrictInt, Field(ge=0)] | None, BeforeValidator(_whole), BeforeValidator(_given)]


class _Sparse(Model):
    """A model whose fields without a value are left out wherever it is written."""

    @model_serializer(mode="wrap")
    def _without_blanks(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in write(self).items() if value is not None}


class BudgetTrace(_Sparse):
    """Use of the call behind a message, if a model was called."""

    inputTokens: _Tokens = Field(default=None, description="Tokens in, cached ones included.")
    outputTokens: _Tokens = Field(default=None, description="Tokens out.")


class Message(_Sparse):
    """One message of a debate; `message.schema.json` says what a valid one is, and this type takes the same."""

    role: DebateRole = Field(description="Who speaks.")
    type: MessageType = Field(description="What the message does.")
    content: Annotated[StrictStr, Field(min_length=1)] = Field(description="The message's words.")
    turn: Annotated[StrictInt, Field(ge=1), BeforeValidator(_whole)] = Field(description="The turn, from 1.")
    reasons: tuple[StrictStr, ...] = Field(default=(), description="Why this step was taken.")
    evidence: tuple[StrictStr, ...] = Field(default=(), description="What it rests on: file paths, line hints.")
    risks: tuple[StrictStr, ...] = Field(default=(), description="Short, actionable concerns.")
    budgetTrace: Annotated[BudgetTrace | None, BeforeValidator(_given)] = Field(
        default=None, description="What the call used, where a model was called; else left out."
    )

    def as_json(self) -> dict[str, Any]:
        """Return the message as the schema has it: without a budget trace where no model was called."""
        return self.model_dump(mode="json")


_ORDER = ("type", "enum", "minimum", "minLength", "required", "additionalProperties")
"""The keywords of the schema that can be broken, in the order in which Ajv looks at them."""

_DEPTH = 2
"""How deep the schema looks into a message: what lies deeper is of no matter to it."""
_LARGEST = 2**64
"""Integers beyond it are as good as it to the schema, and some are too long to be written out."""


@cache
def message_schema() -> dict[str, Any]:
    """Return the JSON Schema of a message, draft 2020-12, as its file has it; do not change it.

    >>> message_schema()["required"]
    ['role', 'type', 'content', 'turn']
    """
    text = resources.files("verifyplan.protocol").joinpath("message.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def check_message(data: object) -> None:
    """Raise MessageError unless JSON data is a message; its text lists everything that is wrong.

    The errors have Ajv's shapes and come in Ajv's order: of an object first what is missing, then what is too much,
    then its fields in the order of the schema. 1.0 is an integer, true is none; halves of surrogate pairs, which JSON
    texts cannot hold, pass here and are shown as escapes. Source: rule C1.

    >>> check_message(
    ...     {"role": "architect", "type": "propose", "content": "Do it", "turn": 1}
    ... )
    >>> check_message({"role": "judge", "type": "propose", "content": "Do it", "turn": 1})
    Traceback (most recent call last):
    verifyplan.errors.MessageError: MESSAGE_SCHEMA_VALIDATION_FAILED::{"errors":[{"keyword":"enum",\
"instancePath":"/role","params":{"allowedValues":["architect","builder"]}}]}
    """
    _check(data, message_schema(), _validator(None))


def check_answer(data: object, role: DebateRole) -> None:
    """Raise MessageError unless JSON data is what a role answers: the fields of a message that it writes itself.

    These are the content, reasons, evidence and risks, of a builder also the diff; role, type, turn and budget are the
    loop's. The errors are those of `check_message`. Source: rules C1, C4.

    >>> check_answer({"content": "Done", "diff": ""}, "builder")
    >>> check_answer({}, "architect")
    Traceback (most recent call last):
    verifyplan.errors.MessageError: MESSAGE_SCHEMA_VALIDATION_FAILED::{"errors":[...]}
    """
    _check(data, answer_schema(role), _validator(role))


@cache
def answer_schema(role: DebateRole) -> dict[str, Any]:
    """Return the JSON Schema of what a role answers, made of that of messages; do not change it."""
    whole = message_schema()
    fields = {name: whole["properties"][name] for name in ("content", "reasons", "evidence", "risks")}
    if role == "builder":
        fields["diff"] = {"description": "The whole diff as it now stands; may be blank.", "type": "string"}
    required = [name for name in ("content", "diff") if name in fields]
    return {name: whole[name] for name in ("$schema", "type", "additionalProperties")} | {
        "required": required,
        "properties": fields,
    }


def _check(data: object, schema: dict[str, Any], validator: Any) -> None:
    errors = sorted(validator.iter_errors(_shallow(data)), key=lambda error: _place(error, schema))
    described = {
        (error.json_path, error.validator, str(params)): _described(error, params)
        for error in errors
        for params in _params(error)
    }
    if described:
        raise MessageError(described.values())


@cache
def _validator(role: DebateRole | None) -> Any:
    """Return the validator of what a role answers; None: of whole messages."""
    library: Any = import_module("jsonschema")  # here, as with its formats it takes a tenth of a second
    schema = message_schema() if role is None else answer_schema(role)
    library.Draft202012Validator.check_schema(schema)
    return library.Draft202012Validator(schema)


def _shallow(value: object, depth: int = _DEPTH) -> object:
    """Return the data as far down as the schema looks: the library writes out what is wrong, however deep that is."""
    if isinstance(value, dict):
        return {name: _shallow(inner, depth - 1) for name, inner in value.items()} if depth else {}
    if isinstance(value, list):
        return [_shallow(inner, depth - 1) for inner in value] if depth else []
    if isinstance(value, int) and abs(value) > _LARGEST:
        return _LARGEST if value > 0 else -_LARGEST
    return value


def _place(error: Any, schema: dict[str, Any]) -> list[tuple[int, int]]:
    """Return where an error comes in Ajv's order: by fields and items on the way to it, then by keyword."""
    place = []
    for part in error.absolute_path:
        if isinstance(part, int):
            place.append((1, part))
            schema = schema["items"]
        else:
            place.append((1, list(schema["properties"]).index(part)))
            schema = schema["properties"][part]
    return [*place, (0, _ORDER.index(error.validator))]


def _params(error: Any) -> Iterator[dict[str, Any]]:
    """Ajv's parameters of an error; several where the library tells in one what Ajv tells in several."""
    rule = error.validator_value
    match error.validator:
        case "additionalProperties":
            yield from ({"additionalProperty": str(name)} for name in error.instance if name not in _fields(error))
        case "required":
            yield from ({"missingProperty": name} for name in rule if name not in error.instance)
        case "enum":
            yield {"allowedValues": list(rule)}
        case "minimum":
            yield {"comparison": ">=", "limit": rule}
        case "minLength":
            yield {"limit": rule}
        case _:
            yield {"type": rule}


def _fields(error: Any) -> dict[str, Any]:
    fields: dict[str, Any] = error.schema["properties"]
    return fields


def _described(error: Any, params: dict[str, Any]) -> dict[str, Any]:
    pointer = "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in error.absolute_path)
    return {"keyword": error.validator, "instancePath": pointer, "params": params}
