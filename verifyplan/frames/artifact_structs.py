"""Decode state artifacts fast: typed structs made from the pydantic models, which stay the source of truth (rule B9).

What is decoded here is what pydantic would read. Whatever is in any doubt is left to pydantic, which also words the
problems: keys that are unknown (outside `config`), repeated or spelt with escapes, and all that does not fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple, cast

import msgspec
from msgspec.structs import force_setattr

from verifyplan.errors import InputError
from verifyplan.files import decode
from verifyplan.frames.artifact_colons import colons
from verifyplan.protocol.artifact import Artifact, ArtifactConfig
from verifyplan.protocol.structs import struct_of
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


class Complete(NamedTuple):
    """Artifacts that have every key that the models name."""

    artifacts: list[Artifact]
    colons: int
    """Of all their bytes, those of configs aside."""


def decode_complete(contents: Sequence[bytes]) -> Complete | None:
    """Return artifacts that have every key, if not each once or no other; None where one has not, or is in doubt.

    With as many colons as `colons_of` counts in their columns they are those that `decode_artifacts` returns, which
    takes longer, as it writes each artifact again to count its colons.

    >>> decode_complete([b'{"schemaVersion": "1.1", "findings": []}']) is None
    True
    """
    artifacts, total = [], 0
    for data in contents:
        artifact = None if _has_escaped_colon(data) else _complete(data)
        if artifact is None:
            return None
        total += colons(data) - bytes(artifact.config).count(b":")
        if not _set_config(artifact):
            return None
        artifacts.append(artifact)
    return Complete(artifacts, total)


def _complete(data: bytes) -> Any:
    """Return an artifact that has every key that the models name; None for any other."""
    try:
        return _decoder(True).decode(data)
    except (ValueError, RecursionError):  # of its shape, as msgspec has it, of its letters or its depth
        return None


def _exact(pairs: Sequence[tuple[Any, bytes]]) -> bool:
    """Return whether no content certainly has a key that is unknown, repeated or spelt with escapes.

    A complete artifact has all its keys once when written again, so that it has as many colons as its content.
    """
    if any(_has_escaped_colon(data) for _, data in pairs):
        return False
    return colons(msgspec.json.encode([artifact for artifact, _ in pairs])) == sum(colons(data) for _, data in pairs)


def _has_escaped_colon(data: bytes) -> bool:
    return b"\\" in data and _ESCAPED_COLON in data


def _loose(data: bytes) -> Any:
    """Return an artifact in which keys may be absent or unknown; None for what is no artifact for certain."""
    try:
        strict_json(decode(data, ""), "")
        return _decoder(False).decode(data)
    except (ValueError, RecursionError, InputError):
        return None


def _checked(artifact: Any) -> Artifact | None:
    """Return an artifact with its config; None for None, and where config or workers are wrong."""
    if artifact is None or any("" in entry.votes for finding in artifact.findings for entry in finding.rounds or ()):
        return None
    return cast(Artifact, artifact) if _set_config(artifact) else None


def _set_config(artifact: Any) -> bool:
    """Give an artifact the model's config in place of its text, and return whether that is sound."""
    try:
        force_setattr(artifact, "config", _config(bytes(artifact.config), artifact.schemaVersion))
    except (ValueError, InputError):
        return False
    return True


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
    return msgspec.json.Decoder(struct_of(Artifact, complete))
