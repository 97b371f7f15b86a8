"""Structs by which msgspec decodes what a pydantic model reads from JSON: made from the model, which stays the truth.

What such a struct takes, the model takes, and gives the same; what it refuses may still be right, and is for the model.
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from decimal import Decimal
from functools import cache, reduce
from itertools import chain
from operator import or_
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
from annotated_types import Ge, Lt, MinLen
from pydantic import BaseModel, Strict
from pydantic.fields import FieldInfo

from verifyplan.protocol.artifact import EXACT_LIMIT, ArtifactConfig, Milliseconds
from verifyplan.protocol.call import MAX_DOLLARS, Usage

Field = tuple[str, Any] | tuple[str, Any, Any]
"""A field as msgspec takes it: name, type, and default where it has one."""


@cache
def struct_of(model: type[BaseModel], complete: bool = False) -> type[msgspec.Struct]:
    """Return a struct with the fields of a model; none has a default if it must be `complete`.

    Tuples are lists in it. It refuses unknown keys where the model does.

    >>> import msgspec
    >>> msgspec.json.decode(b'{"input_tokens": 2, "cost": "0.1"}', type=struct_of(Usage)).total
    2
    """
    return msgspec.defstruct(model.__name__, fields_of(model, complete), **options_of(model))


def fields_of(model: type[BaseModel], complete: bool = False) -> list[Field]:
    """Return the fields of a model's struct."""
    fields: list[Field] = []
    for name, field in model.model_fields.items():
        kind: Any = _limited(_type(field.annotation, complete), field.metadata)
        default: Any = msgspec.field(default_factory=dict) if field.default == {} else field.default
        if field.annotation is ArtifactConfig:  # kept as it is spelt: it may hold more keys, and many are equal
            kind, default = msgspec.Raw, msgspec.Raw(b"{}")
        fields.append((name, kind) if complete or field.is_required() else (name, kind, default))
    return fields


def options_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return how a model's struct is made: with its properties, without a place in searches for cycles."""
    names: dict[str, Any] = {name: value for name, value in vars(model).items() if isinstance(value, property)}
    if model is Usage:
        names["__post_init__"] = _check_cost
    closed = model.model_config.get("extra") == "forbid"
    return {"namespace": names, "forbid_unknown_fields": closed, "gc": False, "frozen": True, "kw_only": True}


def _check_cost(usage: Usage) -> None:
    if usage.cost is not None and not (usage.cost.is_finite() and 0 <= usage.cost < MAX_DOLLARS):
        raise ValueError("the cost is out of its limits")


def _type(kind: Any, complete: bool) -> Any:
    """Return the type by which msgspec decodes what pydantic reads from JSON as `kind`."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind == Milliseconds:
        limits = msgspec.Meta(ge=0, lt=EXACT_LIMIT)
        return Annotated[int, limits] | Annotated[float, limits]
    if origin is Annotated and arguments[0] is Decimal:  # msgspec has no limits for it: see `_check_cost`
        return Decimal
    if origin is Annotated:
        return _limited(_type(arguments[0], complete), arguments[1:])
    if origin in (Union, types.UnionType):
        return reduce(or_, (_type(argument, complete) for argument in arguments))
    if origin is tuple:
        return types.GenericAlias(list, (_type(arguments[0], complete),))
    if origin is dict:  # keys without limits are made once each, which is several times as fast
        return types.GenericAlias(dict, (str, _type(arguments[1], complete)))
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return struct_of(kind, complete)
    return kind


def _limited(kind: Any, metadata: Iterable[Any]) -> Any:
    """Return a type with the limits of a field; TypeError for one that msgspec would not hold it to."""
    limits: dict[str, Any] = {}
    for part in chain.from_iterable(part.metadata if isinstance(part, FieldInfo) else [part] for part in metadata):
        name = _LIMITS.get(type(part))
        if name is None and not isinstance(part, Strict):
            raise TypeError(f"a field has {part!r}, which fast reading does not know")
        limits |= {name: getattr(part, name)} if name else {}
    return Annotated[kind, msgspec.Meta(**limits)] if limits else kind


_LIMITS: dict[type, str] = {Ge: "ge", Lt: "lt", MinLen: "min_length"}
