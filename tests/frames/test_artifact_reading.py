"""Fast reading of artifacts is that of the pydantic model: it takes and refuses the same files, and gives the same."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from annotated_types import MaxLen
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

import verifyplan as vp
from tests.frames.artifacts import Json, artifacts, as_bytes, json_values, sound
from tests.frames.test_artifact_damage import DAMAGED, UNREADABLE, put
from verifyplan.errors import ArtifactError
from verifyplan.frames import artifact_files
from verifyplan.frames.artifact import parse_artifact
from verifyplan.frames.artifact_checks import suspects
from verifyplan.frames.artifact_columns import columns_of
from verifyplan.frames.artifact_files import ArtifactFile, read_artifacts
from verifyplan.frames.artifact_structs import decode_artifacts
from verifyplan.frames.artifact_tables import ArtifactSource, to_tables
from verifyplan.frames.vote_checks import cite_places, texts_cite_places
from verifyplan.protocol.artifact import Artifact
from verifyplan.protocol.structs import _limited
from verifyplan.rules.citations import cites_location
from verifyplan.rules.invariants import violations

BUNDLED = sorted(Path(vp.datasets.path("contract")).glob("*.json"))
FAST_AND_BROKEN = {**sound(), "finalState": "converged"}


def decode_one(data: bytes) -> Artifact | None:
    """Return an artifact that is read fast; None for one that is not."""
    [artifact] = decode_artifacts([data])
    return artifact


def by_model(data: bytes) -> Artifact | None:
    """Return the artifact as pydantic reads it; None for one that it refuses."""
    try:
        return parse_artifact(data, "run.json", checked=False)
    except ArtifactError:
        return None


def assert_same_reading(data: bytes) -> None:
    """Hold fast reading to the model: nothing is taken that it refuses, and what is taken gives the same."""
    fast, slow = decode_one(data), by_model(data)
    if fast is None:
        return
    assert slow is not None
    assert suspects(columns_of([fast])).tolist() == [bool(violations(slow))] == [bool(violations(fast))]
    assert values_of(fast) == values_of(slow)


def values_of(part: Any) -> Any:
    """Return what an artifact's tables are made of, as plain values: of a model and of a struct the same."""
    if isinstance(part, dict):
        return {key: values_of(value) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [values_of(value) for value in part]
    if isinstance(part, BaseModel):
        return [type(part).__name__, *(values_of(getattr(part, name)) for name in type(part).model_fields)]
    if isinstance(part, msgspec.Struct):
        return [type(part).__name__, *(values_of(getattr(part, name)) for name in part.__struct_fields__)]
    return repr(part)


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.stem)
def test_bundled_artifacts_are_read_fast_and_the_same(path):
    data = path.read_bytes()
    assert decode_one(data) is not None
    assert_same_reading(data)


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_json_is_left_to_the_model(name):
    assert decode_one(UNREADABLE[name][0]) is None


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_is_not_taken_as_sound(name):
    pointer, value, _ = DAMAGED[name]
    data = as_bytes(put(sound(), pointer, value))
    fast = decode_one(data)
    assert fast is None or suspects(columns_of([fast])).tolist() == [True]
    assert_same_reading(data)


@given(artifacts())
def test_sound_artifacts_are_read_the_same_and_none_is_suspected(content):
    data = as_bytes(content)
    assert decode_one(data) is not None
    assert_same_reading(data)


def places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return where in JSON values something is, the whole aside."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [part for key, of in inner for part in [(*place, key), *places(of, (*place, key))]]


@st.composite
def changed(draw: st.DrawFn) -> Json:
    """Artifacts in which one or two values are something else, or gone."""
    content: Json = deepcopy(draw(artifacts() | st.just(sound())))
    words = st.sampled_from(["agree", "disagree", "counter-evidence", "contested", "worker-unique", "error", "ann"])
    for _ in range(draw(st.integers(1, 2))):
        *way, key = draw(st.sampled_from(places(content)))
        owner: Any = content
        for step in way:
            owner = owner[step]
        if draw(st.booleans()):
            owner[key] = draw(st.integers(0, 3) | words | json_values)
        else:
            del owner[key]
        if not places(content):
            break
    return content


@given(changed())
def test_changed_artifacts_are_taken_or_refused_as_by_the_model(content):
    assert_same_reading(as_bytes(content))


@given(artifacts(), st.data())
def test_bytes_that_change_are_taken_or_refused_as_by_the_model(content, data):
    text = bytearray(as_bytes(content))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        new = data.draw(st.sampled_from([b"", b'"', b":", b",", b"0", b"-", b"}", b"\\", b"\xff", b"e", b"\\u0041"]))
        text[at : at + data.draw(st.integers(0, 1))] = new
    assert_same_reading(bytes(text))


@pytest.mark.parametrize("escaped", [False, True])
@pytest.mark.parametrize("key", ["taskKey", "findings", "config", "x"])
def test_a_repeated_key_is_never_taken(key, escaped):
    text = json.dumps({**sound(), "x": 1})
    again = json.dumps({**sound(), "x": 1}[key]).replace(":", "\\u003a" if escaped and key == "taskKey" else ":")
    assert decode_one(f'{text[:-1]}, "{key}": {again}}}'.encode()) is None
    assert decode_one(f'{{"{key}": null, {text[1:]}'.encode()) is None


def test_a_repeated_key_is_not_hidden_by_a_colon_that_is_spelt_with_an_escape():
    text = as_bytes({**sound(), "taskKey": "a:b"}).replace(b"a:b", b"a\\u003ab")
    assert decode_one(text) is not None
    assert decode_one(text.replace(b'"finalState"', b'"finalState": null, "finalState"')) is None


def test_keys_that_no_version_has_are_checked_and_passed_over():
    odd = as_bytes({**sound(), "x": {"y": [1, {"z": None}]}})
    assert_same_reading(odd)
    assert decode_one(odd) is not None
    assert decode_one(odd.replace(b'"z": null', b'"z": 1e999')) is None


def test_a_limit_that_fast_reading_does_not_know_is_an_error():
    with pytest.raises(TypeError, match=r"has MaxLen.*which fast reading does not know"):
        _limited(str, [MaxLen(3)])


@settings(max_examples=15)
@given(st.lists(st.tuples(artifacts() | changed() | st.just(FAST_AND_BROKEN), st.booleans()), max_size=4))
def test_many_files_give_what_each_gives_alone(contents):
    files = [
        ArtifactFile(as_bytes(content)[: None if whole else -3], f"r{i}", f"r{i}.json")
        for i, (content, whole) in enumerate(contents)
    ]
    failures: list[Any] = []
    tables = read_artifacts(files, failures)
    alone = []
    named = []
    for file in files:
        artifact = by_model(file.data)
        broken = artifact is None or violations(artifact)
        named += [file.path] if broken else []
        if artifact is not None:
            alone += [] if file.path not in set(tables["runs"]["source"]) else [ArtifactSource(artifact, *file[1:])]
        if not broken:
            assert file.path in set(tables["runs"]["source"])
    assert list(dict.fromkeys(path for path, _ in failures)) == named
    expected = to_tables(alone)
    for name, table in tables.items():
        pd.testing.assert_frame_equal(table, getattr(expected, name), obj=name)


def test_no_artifact_gives_empty_tables():
    assert [len(table) for table in read_artifacts([], []).values()] == [0] * 5
    assert suspects(columns_of([])).tolist() == np.zeros(0).tolist()


def test_a_worker_without_a_name_is_left_to_the_model():
    nameless = {
        **sound(),
        "findings": [{"findingId": "F", "rounds": [{"round": 1, "votes": {"": {"verdict": "agree"}}}]}],
    }
    assert decode_one(as_bytes(nameless)) is None


@given(st.lists(st.tuples(artifacts() | changed(), st.booleans()), max_size=5))
def test_artifacts_that_are_decoded_together_are_those_that_are_decoded_alone(contents):
    data = [as_bytes(content)[: None if whole else -3] for content, whole in contents]
    assert list(map(values_of, decode_artifacts(data))) == [values_of(decode_one(each)) for each in data]


def test_artifacts_that_become_columns_some_at_a_time_give_the_same_tables(monkeypatch):
    files = [ArtifactFile(path.read_bytes(), path.stem, path.name) for path in BUNDLED]
    files.insert(3, ArtifactFile(as_bytes(FAST_AND_BROKEN), "broken", "broken.json"))
    files.insert(5, ArtifactFile(b"{", "torn", "torn.json"))
    together, some = [], []
    tables = read_artifacts(files, together)
    monkeypatch.setattr(artifact_files, "BYTES_AT_A_TIME", 5000)
    for name, table in read_artifacts(files, some).items():
        pd.testing.assert_frame_equal(table, tables[name], obj=name)
    assert [path for path, _ in some] == [path for path, _ in together] == ["broken.json", "torn.json"]


PIECES = ["a.py", ":3", "line 3", "L12", " ", "-", "é", "файл", ".", "x", "٣", "\n", "line ٣", "\0"]


@given(st.lists(st.none() | st.lists(st.sampled_from(PIECES), max_size=6).map("".join), max_size=5))
def test_texts_of_a_column_cite_places_as_each_alone(texts):
    expected = [cites_location(text) for text in texts]
    assert texts_cite_places(pa.array(texts, pa.large_string())).tolist() == expected
    assert cite_places(pd.Series(texts, dtype="str")).tolist() == expected
    assert cite_places(pd.Series(texts, dtype="object")).tolist() == expected
