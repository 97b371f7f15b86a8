"""What architect and builder say to each other, message by message (rules C1, C4)."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, SerializerFunctionWrapHandler, StrictInt, StrictStr, model_serializer

from verifyplan.protocol.base import Model

DebateRole = Literal["architect", "builder"]
DEBATE_ROLES: tuple[DebateRole, ...] = get_args(DebateRole)
MessageType = Literal["propose", "critique", "implement", "verify"]
MESSAGE_TYPES: tuple[MessageType, ...] = get_args(MessageType)


def _whole(value: Any) -> Any:
    """A number such as 1.0 as the integer that it is by JSON Schema; anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _given(value: Any) -> Any:
    """A value that is not null: a field without one is left out, since the schema knows no null."""
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
    """What the call behind a message used, where a model was called."""

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
        """The message as the schema has it: without a budget trace where no model was called."""
        return self.model_dump(mode="json")
