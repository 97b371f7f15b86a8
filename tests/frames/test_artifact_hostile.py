"""Whatever the bytes are, reading gives a sound artifact or an ArtifactError, and nothing else (rule H3)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.frames.artifacts import artifacts, as_bytes, json_values, sound
from tests.longer import examples
from verifyplan.errors import ArtifactError
from verifyplan.frames.artifact import artifact_text, parse_artifact
from verifyplan.frames.artifact_tables import artifact_columns
from verifyplan.frames.runset import assemble
from verifyplan.protocol.artifact import Artifact
from verifyplan.rules.invariants import violations


def read(data: bytes) -> Artifact | ArtifactError:
    try:
        return parse_artifact(data, "run.json")
    except ArtifactError as error:
        return error


def check(data: bytes) -> None:
    artifact = read(data)
    if isinstance(artifact, ArtifactError):
        assert artifact.problems, "an error lists its problems"
        assert all(problem.place.startswith("run.json") for problem in artifact.problems)
        assert all(problem.fix and problem.message for problem in artifact.problems)
        assert str(artifact).encode()
        return
    assert violations(artifact) == []
    assert json.loads(artifact_text(artifact)) == json.loads(data.decode("utf-8-sig"))
    assert len(assemble([artifact_columns(artifact, "run")]).findings) == len(artifact.findings)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value inside a JSON value, the whole included."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, inner in pairs for place in places(inner, (*path, key)))]


STRANGE = st.sampled_from(
    [None, True, 0, -1, 1.0, 1e400, float("nan"), 10**30, "", "\ud800", "AGREE", [], {}, [None], {"": None}]
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """An artifact with up to three values replaced, taken out, or put under another key."""
    content: Any = {"": draw(st.one_of(st.builds(sound), artifacts()))}
    for _ in range(draw(st.integers(1, 3))):
        *path, last = draw(st.sampled_from(places(content)[1:]))
        inner = content
        for part in path:
            inner = inner[part]
        how = draw(st.sampled_from(["replace", "replace", "remove", "rename"]))
        if how == "replace" or not path:
            inner[last] = draw(STRANGE | json_values)
        elif how == "remove" or isinstance(inner, list):
            del inner[last]
        else:
            inner[draw(st.sampled_from(["x", "votes", "verdict", "round"]))] = inner.pop(last)
    return json.dumps(content.get("", None)).encode()


@settings(max_examples=examples(200), deadline=None)
@given(mutated())
def test_a_mutated_artifact_is_sound_or_refused(data):
    check(data)


@settings(max_examples=examples(200), deadline=None)
@given(json_values)
def test_any_json_is_sound_or_refused(value):
    check(as_bytes(value))


@settings(max_examples=examples(200), deadline=None)
@given(st.binary(max_size=40))
def test_any_bytes_are_refused(data):
    check(data)


@settings(max_examples=examples(200), deadline=None)
@given(st.integers(0, len(as_bytes(sound())) - 1), st.integers(0, 255))
def test_a_byte_gone_wrong_is_sound_or_refused(position, byte):
    data = bytearray(as_bytes(sound()))
    data[position] = byte
    check(bytes(data))


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(0, len(as_bytes(sound())) - 2))
def test_a_file_cut_anywhere_is_refused(length):
    with pytest.raises(ArtifactError, match=r"^run\.json: line \d+"):
        parse_artifact(as_bytes(sound())[:length], "run.json")
