"""Complete artifacts are told from those with repeated or unknown keys by the colons that their columns account for."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.frames.artifacts import Json, artifacts, as_bytes, sound
from tests.frames.test_artifact_reading import decode_one, values_of
from verifyplan.frames import artifact_files
from verifyplan.frames.artifact_colons import colons_of
from verifyplan.frames.artifact_columns import columns_of
from verifyplan.frames.artifact_files import ArtifactFile, read_artifacts
from verifyplan.frames.artifact_structs import _complete, _exact, decode_complete
from verifyplan.protocol.artifact import Artifact

COLONS = {**sound(), "taskKey": "a: b", "findings": []}


def complete(content: Json) -> Json:
    """Return an artifact with every key that the models name."""
    return Artifact.model_validate(content).model_dump(mode="json")


def is_taken(data: bytes) -> bool:
    """Return whether an artifact is complete, with as many colons as its columns account for."""
    decoded = decode_complete([data])
    return decoded is not None and colons_of(columns_of(decoded.artifacts)) == decoded.colons


def with_repeated_keys(content: Json) -> list[bytes]:
    """Return the artifact once for each of its objects outside the config, whose last key is there twice."""
    made = []

    def walk(value: Any, key: str) -> None:
        if isinstance(value, dict) and value and key != "config":
            name, last = list(value.items())[-1]
            value["again"] = last
            made.append(as_bytes(content).replace(b'"again"', json.dumps(name).encode()))
            del value["again"]
        inner = value.items() if isinstance(value, dict) else ((key, part) for part in value)
        for inner_key, part in list(inner):
            if isinstance(part, dict | list):
                walk(part, inner_key)

    walk(content, "")
    return made


@given(artifacts(), st.sampled_from(["a: b", ":", "x"]))
def test_a_complete_artifact_is_taken_as_it_is_decoded_alone(content, text):
    whole = complete({**content, "taskKey": text, "finalClassificationCounts": sound()["finalClassificationCounts"]})
    for finding in whole["findings"]:
        finding["summary"] = finding["originEvidence"] = text
    data = as_bytes(whole)
    decoded = decode_complete([data])
    assert decoded is not None
    has_each_key_once = _exact([(_complete(data), data)])
    assert is_taken(data) == (has_each_key_once and columns_of(decoded.artifacts).names_are_plain)
    assert values_of(decoded.artifacts[0]) == values_of(decode_one(data))


def test_a_key_twice_in_any_object_is_not_taken():
    repeated = with_repeated_keys(complete(sound()))
    assert is_taken(as_bytes(complete(sound())))
    assert len(repeated) == 12, "the artifact, two findings, a round of one, its votes, its history, the counts"
    assert [is_taken(data) for data in repeated] == [False] * len(repeated)


@pytest.mark.parametrize("name", ["", "ann:", ":"])
def test_names_that_are_blank_or_have_colons_are_left(name):
    content = complete(sound())
    content["findings"][0]["ticketIds"] = [name]
    assert not is_taken(as_bytes(content))
    content = complete(sound())
    content["findings"][0]["rounds"][0]["votes"][name] = {"verdict": "agree", "disagreeBasis": None, "explanation": ""}
    assert not is_taken(as_bytes(content))


def test_keys_that_are_absent_unknown_or_doubtful_are_left():
    whole = complete(sound())
    assert not is_taken(as_bytes({key: value for key, value in whole.items() if key != "totalRounds"}))
    assert not is_taken(as_bytes({**whole, "x": 1}))
    assert not is_taken(as_bytes({**whole, "finalClassificationCounts": None}))
    assert not is_taken(as_bytes({**whole, "taskKey": "a:b"}).replace(b"a:b", b"a\\u003ab"))
    assert not is_taken(as_bytes({**whole, "config": {"maxRounds": -1}}))


@pytest.mark.parametrize("others", [[], [sound()], [{**complete(sound()), "finalState": "converged"}], [COLONS]])
def test_files_give_the_same_tables_when_each_is_looked_at(others, monkeypatch):
    contents = [complete(sound()), complete(sound()), *others]
    files = [ArtifactFile(as_bytes(each), f"r{i}", f"r{i}.json") for i, each in enumerate(contents)]
    quick, each = [], []
    tables = read_artifacts(files, quick)
    monkeypatch.setattr(artifact_files, "decode_complete", lambda _: None)
    for name, table in read_artifacts(files, each).items():
        pd.testing.assert_frame_equal(tables[name], table, obj=name)
    assert [path for path, _ in quick] == [path for path, _ in each]
