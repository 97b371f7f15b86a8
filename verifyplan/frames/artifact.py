"""Read state artifacts with all their problems, and write them whole, equal key by key (rule B9)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from verifyplan.errors import ArtifactError, InputError, Problem, one_of
from verifyplan.files import decode, write_text
from verifyplan.protocol.artifact import SCHEMA_VERSIONS, Artifact, ArtifactFinding
from verifyplan.rules.answers import read_basis, read_verdict
from verifyplan.rules.invariants import violations
from verifyplan.strict_json import pointer_token, strict_json
from verifyplan.text import short_repr


def read_artifact(path: str | Path) -> Artifact:
    """Return the artifact in a file, schema 1.0 to 1.2; missing fields are None, unknown keys are kept.

    Raises ArtifactError naming the file, and for each problem its place (a JSON pointer) and its fix.

    >>> import verifyplan as vp
    >>> read_artifact(
    ...     vp.datasets.path("contract") / "1.2-max-rounds-reached.json"
    ... ).finalState
    'max-rounds-reached'
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        message = f"cannot be read ({error.strerror})"
        raise ArtifactError(Problem(str(path), message, "name an artifact that exists")) from None
    return parse_artifact(data, str(path))


def parse_artifact(data: bytes, place: str, *, checked: bool = True) -> Artifact:
    """Return the artifact in some bytes of JSON; `place` names them in errors.

    Without `checked` an artifact may break the rules of rule B9; `check_artifact` lists what it breaks.

    >>> parse_artifact(b'{"schemaVersion": "2.0", "findings": []}', "run.json")
    Traceback (most recent call last):
    verifyplan.errors.ArtifactError: run.json: /schemaVersion: '2.0' is not allowed. Fix: write '1.0', '1.1' or '1.2'.
    """
    try:
        content = strict_json(decode(data, place), place)
    except InputError as error:
        raise ArtifactError(error.problems) from None
    if not isinstance(content, dict):
        message = f"holds {short_repr(content)} at its top"
        raise ArtifactError(Problem(place, message, "write a JSON object with schemaVersion and findings"))
    try:
        artifact = Artifact.model_validate(content)
    except ValidationError as error:
        raise ArtifactError(_problem(place, detail) for detail in error.errors(include_url=False)) from None
    if checked:
        check_artifact(artifact, place)
    return artifact


def check_artifact(artifact: Artifact, place: str) -> None:
    """Raise ArtifactError, listing every breach of rule B9, unless the artifact is sound; `place` names it."""
    problems = violations(artifact)
    if problems:
        raise ArtifactError(Problem(f"{place}: {p.place}", p.message, p.fix) for p in problems)


def write_artifact(artifact: Artifact, path: str | Path) -> Path:
    """Write an artifact, atomically, with exactly the keys it was read or made with.

    Raises ArtifactError if it breaks rule B9; nothing is written then.

    >>> import tempfile, verifyplan as vp
    >>> artifact = read_artifact(
    ...     vp.datasets.path("contract") / "1.2-max-rounds-reached.json"
    ... )
    >>> written = write_artifact(artifact, tempfile.mkdtemp() + "/again.json")
    >>> read_artifact(written) == artifact
    True
    """
    check_artifact(artifact, str(path))
    return write_text(path, artifact_text(artifact))


def artifact_text(artifact: Artifact) -> str:
    """Return an artifact as the JSON text that goes to disk."""
    return json.dumps(artifact.to_json(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def artifact_texts(artifact: Artifact, findings: Iterable[ArtifactFinding]) -> Iterator[str]:
    """Yield the same text in parts, of an artifact without findings and of its findings, one by one.

    >>> artifact = Artifact(schemaVersion="1.2", findings=())
    >>> whole = artifact.model_copy(update={"findings": (ArtifactFinding(findingId="F-1"),)})
    >>> "".join(artifact_texts(artifact, whole.findings)) == artifact_text(whole)
    True
    """
    before, key, after = artifact_text(artifact).partition('\n  "findings": [')  # no text in JSON has a line feed
    yield before + key
    end = ""
    for number, finding in enumerate(findings):
        values = finding.model_dump(mode="json", exclude_unset=True)
        text = json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False)
        yield ("," if number else "") + f"\n{text}".replace("\n", "\n    ")
        end = "\n  "
    yield end + after


def _problem(place: str, detail: ErrorDetails) -> Problem:
    """Return a validation error of pydantic in words of ours: where, what, and what to write instead."""
    kind, value, loc = detail["type"], short_repr(detail["input"]), detail["loc"]
    if loc[-1:] == ("[key]",) and kind.startswith("string_"):  # the key itself is wrong, not what it holds
        loc = loc[:-1]
    pointer = "".join(f"/{pointer_token(str(part))}" for part in loc)
    where = f"{place}: {pointer}"
    if kind == "missing":
        return Problem(where, "is missing", "add the key; an artifact without it cannot be read")
    if pointer == "/schemaVersion":
        versions = f"{one_of(SCHEMA_VERSIONS[:-1])} or {SCHEMA_VERSIONS[-1]!r}"
        return Problem(where, f"{value} is not allowed", f"write {versions}")
    if kind == "literal_error":
        read = _READERS.get(pointer.rpartition("/")[2])
        meant = read(detail["input"]) if read else None
        return Problem(where, f"{value} is not allowed", f"write {repr(meant) if meant else detail['ctx']['expected']}")
    return Problem(where, f"{value} does not fit", _FIXES.get(kind, detail["msg"]))


_READERS: dict[str, Callable[[object], str | None]] = {"verdict": read_verdict, "disagreeBasis": read_basis}
"""The readers of misspelt fields."""

_FIXES = {
    "int_type": "write a whole number",
    "int_from_float": "write a whole number",
    "greater_than_equal": "write a number that is not below the smallest allowed: 1 for a round, 0 otherwise",
    "less_than": "write a smaller number",
    "string_type": "write a text in quotes",
    "string_too_short": "write a name that is not empty",
    "bool_type": "write true or false",
    "tuple_type": "write a list",
    "dict_type": "write an object",
    "model_type": "write an object",
    "value_error": "write a number of milliseconds, not below 0",
}
