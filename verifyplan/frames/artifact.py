"""State artifacts on disk: read with every problem told, written whole, equal key by key (SPEC B9)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from verifyplan.errors import ArtifactError, InputError, Problem, one_of
from verifyplan.files import decode, write_text
from verifyplan.protocol.artifact import SCHEMA_VERSIONS, Artifact
from verifyplan.rules.invariants import violations


def read_artifact(path: str | Path) -> Artifact:
    """The artifact in a file, schema 1.0 to 1.2; missing fields are None, unknown keys are kept.

    Raises ArtifactError naming the file, and for each problem its place (a JSON pointer) and its fix.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        message = f"cannot be read ({error.strerror})"
        raise ArtifactError(Problem(str(path), message, "name an artifact that exists")) from None
    return parse_artifact(data, str(path))


def parse_artifact(data: bytes, place: str) -> Artifact:
    """The artifact in some bytes of JSON; `place` names them in errors.

    >>> parse_artifact(b'{"schemaVersion": "2.0", "findings": []}', "run.json")
    Traceback (most recent call last):
    verifyplan.errors.ArtifactError: run.json: /schemaVersion: '2.0' is not allowed. Fix: write '1.0', '1.1' or '1.2'.
    """
    try:
        content = _json(decode(data, place), place)
    except InputError as error:
        raise ArtifactError(error.problems) from None
    if not isinstance(content, dict):
        message = f"holds {_shown(content)} at its top"
        raise ArtifactError(Problem(place, message, "write a JSON object with schemaVersion and findings"))
    try:
        artifact = Artifact.model_validate(content)
    except ValidationError as error:
        details = error.errors(include_url=False)
        # a value that fits neither side of a union comes twice, with one place and two messages
        problems = {(problem := _problem(place, detail)).place: problem for detail in reversed(details)}
        raise ArtifactError(reversed(problems.values())) from None
    _refuse(violations(artifact), place)
    return artifact


def write_artifact(artifact: Artifact, path: str | Path) -> Path:
    """Write an artifact, atomically, with exactly the keys it was read or made with.

    Raises ArtifactError if it breaks SPEC B9; nothing is written then.
    """
    _refuse(violations(artifact), str(path))
    return write_text(path, artifact_text(artifact))


def artifact_text(artifact: Artifact) -> str:
    """An artifact as the JSON text that goes to disk."""
    return json.dumps(artifact.to_json(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _refuse(found: list[Problem], place: str) -> None:
    if found:
        raise ArtifactError(Problem(f"{place}: {p.place}", p.message, p.fix) for p in found)


def _json(text: str, place: str) -> Any:
    """JSON as Python values; a repeated key, NaN and nesting without end are errors here."""
    try:
        return json.loads(text, object_pairs_hook=_no_twins, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        where = f"{place}: line {error.lineno}, column {error.colno}"
        raise ArtifactError(Problem(where, f"is not JSON ({error.msg})", "restore the whole file")) from None
    except (RecursionError, ValueError) as error:
        raise ArtifactError(Problem(place, f"is not usable JSON ({error})", "restore the file")) from None


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    twin = next((key for key in keys if keys.count(key) > 1), None) if len(set(keys)) < len(keys) else None
    if twin is not None:
        raise ValueError(f"the key {twin!r} stands twice in one object")
    return dict(pairs)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _problem(place: str, detail: ErrorDetails) -> Problem:
    """A validation error of pydantic in our words: where, what, and what to write instead."""
    pointer = "/" + "/".join(str(part) for part in detail["loc"] if part not in ("[key]", "int", "float"))
    where = f"{place}: {pointer}"
    kind, value = detail["type"], _shown(detail["input"])
    if kind == "missing":
        return Problem(where, "is missing", "add the key; an artifact without it cannot be read")
    if pointer == "/schemaVersion":
        return Problem(where, f"{value} is not allowed", f"write {_either(SCHEMA_VERSIONS)}")
    if kind == "literal_error":
        return Problem(where, f"{value} is not allowed", f"write {detail['ctx']['expected']}")
    return Problem(where, f"{value} does not fit", f"{_FIXES.get(kind, detail['msg'])}")


_FIXES = {
    "int_type": "write a whole number",
    "int_from_float": "write a whole number",
    "float_type": "write a number",
    "greater_than_equal": "write a number that is not below the smallest allowed: 1 for a round, 0 otherwise",
    "finite_number": "write a finite number",
    "string_type": "write a text in quotes",
    "string_too_short": "write a name that is not empty",
    "bool_type": "write true or false",
    "tuple_type": "write a list",
    "dict_type": "write an object",
    "model_type": "write an object",
    "value_error": "write a number",
}


def _either(values: tuple[str, ...]) -> str:
    return f"{one_of(values[:-1])} or {values[-1]!r}"


def _shown(value: Any) -> str:
    """A received value, cut to a length that a message can carry."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
