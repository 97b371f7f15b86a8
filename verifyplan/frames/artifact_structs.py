"""Decode state artifacts fast: typed structs made from the pydantic models, which stay the source of truth (rule B9).

What is decoded here is what pydantic would read. Whatever is in any doubt is left to pydantic, which also words the
problems: keys that are unknown (outside `config`), repeated or spelt with escapes, and all that does not fit.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache, reduce
from itertools import chain
from operator import or_
from typing import Annotated, Any, Union, cast, get_args, get_origin

import msgspec
import numpy as np
from annotated_types import Ge, Lt, MinLen
from msgspec.structs import force_setattr
from pydantic import BaseModel, Strict
from pydantic.fields import FieldInfo

from verifyplan.errors import InputError
from verifyplan.files import decode
from verifyplan.protocol.artifact import EXACT_LIMIT, Artifact, ArtifactConfig, Milliseconds
from verifyplan.rules.invariants import violations
from verifyplan.strict_json import strict_json

_MAX_CACHED_CONFIGS = 1000
_ESCAPED_COLON = b"\\u003"


def decode_artifacts(contents: Sequence[bytes]) -> list[Artifact | None]:
    """Return artifacts whose shape is certainly right; None for each that pydantic must look at.

    They are structs that have the attributes of the model, with lists where that has tuples; the config is the model's.

    >>> right, wrong = (b'{"schemaVersion": "%s", "findings": []}' % version for version in (b"1.1", b"1.3"))
    >>> [artifact and artifact.schemaVersion for artifact in decode_artifacts([right, wrong])]
    ['1.1', None]
    """
    complete = list(map(_complete, contents))
    if not _exact([pair for pair in zip(complete, contents, strict=True) if pair[0]]):
        pairs = zip(complete, contents, strict=True)
        complete = [artifact if artifact and _exact([(artifact, data)]) else None for artifact, data in pairs]
    return [_checked(artifact or _loose(data)) for artifact, data in zip(complete, contents, strict=True)]


def _complete(data: bytes) -> Any:
    """Return an artifact that has every key that the models name; None for any other."""
    try:
        return _decoder(True).decode(data)
    except ValueError:  # of its shape, as msgspec has it, or of its letters
        return None


def _exact(pairs: Sequence[tuple[Any, bytes]]) -> bool:
    """Return whether no content certainly has a key that is unknown, repeated or spelt with escapes.

    A complete artifact has all its keys once when written again, so that it has as many colons as its content.
    """
    content = b"".join(data for _, data in pairs)
    if b"\\" in content and _ESCAPED_COLON in content:
        return False
    return _colons(msgspec.json.encode([artifact for artifact, _ in pairs])) == _colons(content)


def _loose(data: bytes) -> Any:
    """Return an artifact in which keys may be absent or unknown; None for what is no artifact for certain."""
    try:
        strict_json(decode(data, ""), "")
        return _decoder(False).decode(data)
    except (ValueError, InputError):
        return None


def _checked(artifact: Any) -> Artifact | None:
    """Return an artifact with its config; None for None, and where config or workers are wrong."""
    if artifact is None or any("" in entry.votes for finding in artifact.findings for entry in finding.rounds or ()):
        return None
    try:
        force_setattr(artifact, "config", _config(bytes(artifact.config), artifact.schemaVersion))
    except (ValueError, InputError):
        return None
    return cast(Artifact, artifact)


def _colons(data: bytes) -> int:
    """Return how many colons there are: after every key one, and those in texts."""
    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == ord(":")))  # several times as fast as count


@lru_cache(_MAX_CACHED_CONFIGS)
def _config(text: bytes, version: str) -> ArtifactConfig:
    """Return the config of an artifact, which many share; ValueError or InputError unless it is sound by itself."""
    content = strict_json(f'{{"config": {text.decode()}}}', "")["config"]
    alone = Artifact.model_validate({"schemaVersion": version, "config": content, "findings": []})
    if violations(alone):
        raise ValueError("it breaks rule B9")
    return alone.config


@cache
def _decoder(complete: bool) -> Any:
    """Return the decoder of artifacts; a `complete` one has every key that the models name, outside its config."""
    return msgspec.json.Decoder(_struct(Artifact, complete))


@cache
def _struct(model: type[BaseModel], complete: bool) -> type[msgspec.Struct]:
    """Return a struct with the fields of a model; none has a default if it must be `complete`."""
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for name, field in model.model_fields.items():
        kind: Any = _limited(_type(field.annotation, complete), field.metadata)
        default: Any = msgspec.field(default_factory=dict) if field.default == {} else field.default
        if field.annotation is ArtifactConfig:  # kept as it is spelt: it may hold more keys, and many are equal
            kind, default = msgspec.Raw, msgspec.Raw(b"{}")
        fields.append((name, kind) if complete or field.is_required() else (name, kind, default))
    properties = {name: value for name, value in vars(model).items() if isinstance(value, property)}
    return msgspec.defstruct(model.__name__, fields, namespace=properties, gc=False, frozen=True, kw_only=True)


def _type(kind: Any, complete: bool) -> Any:
    """Return the type by which msgspec decodes what pydantic reads from JSON as `kind`."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind == Milliseconds:
        limits = msgspec.Meta(ge=0, lt=EXACT_LIMIT)
        return Annotated[int, limits] | Annotated[float, limits]
    if origin is Annotated:
        return _limited(_type(arguments[0], complete), arguments[1:])
    if origin in (Union, types.UnionType):
        return reduce(or_, (_type(argument, complete) for argument in arguments))
    if origin is tuple:
        return types.GenericAlias(list, (_type(arguments[0], complete),))
    if origin is dict:  # keys without limits are made once each, which is several times as fast
        return types.GenericAlias(dict, (str, _type(arguments[1], complete)))
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return _struct(kind, complete)
    return kind


def _limited(kind: Any, metadata: Iterable[Any]) -> Any:
    """Return a type with the limits of a field; TypeError for one that msgspec would not hold it to."""
    limits: dict[str, Any] = {}
    for part in chain.from_iterable(part.metadata if isinstance(part, FieldInfo) else [part] for part in metadata):
        name = _LIMITS.get(type(part))
        if name is None and not isinstance(part, Strict):
            raise TypeError(f"an artifact's field has {part!r}, which fast reading does not know")
        limits |= {name: getattr(part, name)} if name else {}
    return Annotated[kind, msgspec.Meta(**limits)] if limits else kind


_LIMITS: dict[type, str] = {Ge: "ge", Lt: "lt", MinLen: "min_length"}
