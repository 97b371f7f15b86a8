"""What is read and written again is the same, key by key, and becomes tables that count the same (rule B9)."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings

from tests.frames.artifacts import artifacts, as_bytes, sound
from tests.longer import examples
from verifyplan.errors import ArtifactError
from verifyplan.frames.artifact import artifact_text, parse_artifact, read_artifact, write_artifact
from verifyplan.frames.artifact_tables import artifact_columns
from verifyplan.frames.runset import assemble
from verifyplan.protocol.artifact import Artifact
from verifyplan.rules.invariants import violations


def voters(content: Any) -> list[list[str]]:
    return [list(entry["votes"]) for finding in content["findings"] for entry in finding["rounds"]]


def spelled(content: Any) -> str:
    """JSON as text, in which 1, 1.0 and true differ."""
    return json.dumps(content, sort_keys=True)


@settings(max_examples=examples(50), deadline=None)
@given(artifacts())
def test_a_sound_artifact_keeps_every_key_and_becomes_tables(content):
    artifact = parse_artifact(as_bytes(content), "run.json")
    assert violations(artifact) == []
    written = artifact_text(artifact).encode()
    assert spelled(json.loads(written)) == spelled(content)
    assert parse_artifact(written, "run.json") == artifact

    runs = assemble([artifact_columns(artifact, "run")])
    history = content.get("roundHistory") or []
    rounds = [entry for finding in content["findings"] for entry in finding.get("rounds") or []]
    called = [
        {one["worker"] for key in ("dispatches", "skippedWorkers") for one in entry.get(key) or []} for entry in history
    ]
    assert len(runs.runs) == 1
    assert runs.runs["n_findings"].tolist() == [len(content["findings"])]
    assert runs.findings["finding_id"].tolist() == [finding["findingId"] for finding in content["findings"]]
    assert len(runs.votes) == sum(len(entry["votes"]) for entry in rounds)
    assert len(runs.rounds) == len(history)
    assert len(runs.dispatches) == sum(map(len, called))


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2"])
def test_the_least_artifact_gains_no_key(version):
    content = {"schemaVersion": version, "findings": [{"findingId": "F"}]}
    assert parse_artifact(as_bytes(content), "run.json").to_json() == content


def test_explicit_nulls_stay_and_absent_keys_read_as_null():
    content = {"schemaVersion": "1.1", "findings": [], "taskKey": None, "config": {"adversarial": None}}
    artifact = parse_artifact(as_bytes(content), "run.json")
    assert artifact.to_json() == content
    assert (artifact.finalState, artifact.config.maxRounds, artifact.adversarial) == (None, None, False)


def test_findings_votes_and_workers_keep_their_order(tmp_path):
    content = sound()
    path = write_artifact(parse_artifact(as_bytes(content), "run.json"), tmp_path / "run.json")
    again = json.loads(path.read_text(encoding="utf-8"))
    assert [finding["findingId"] for finding in again["findings"]] == ["F-2", "F-1"]
    assert voters(again) == voters(content) == [["cy", "bob"]]
    assert again["roundHistory"][0]["dispatches"] == content["roundHistory"][0]["dispatches"]


def test_text_beyond_ascii_is_written_as_it_is(tmp_path):
    content = sound()
    path = write_artifact(parse_artifact(as_bytes(content), "run.json"), tmp_path / "run.json")
    assert "세션이 만료되지 않는다, naïve 🙂" in path.read_text(encoding="utf-8")
    assert read_artifact(path).to_json() == content


def test_whole_and_broken_milliseconds_stay_what_they_were():
    text = artifact_text(parse_artifact(as_bytes(sound()), "run.json"))
    assert '"durationMs": 1200\n' in text
    assert '"durationMs": 800.5\n' in text


def test_a_byte_order_mark_and_escaped_pairs_are_read():
    escaped = b'\xef\xbb\xbf{"schemaVersion": "1.2", "taskKey": "\\ud83d\\ude42", "findings": []}'
    assert parse_artifact(escaped, "run.json").taskKey == "🙂"


@pytest.mark.parametrize("depth", [100, 200])
def test_unknown_values_may_be_nested_deeply_and_are_written_again(depth):
    deep: Any = 1
    for _ in range(depth):
        deep = [deep]
    content = {"schemaVersion": "1.2", "findings": [], "x": deep}
    artifact = parse_artifact(as_bytes(content), "run.json")
    assert json.loads(artifact_text(artifact)) == content


def test_a_violation_blocks_writing_and_leaves_the_old_file(tmp_path):
    path = tmp_path / "run.json"
    path.write_text("old")
    broken = Artifact.model_validate({**sound(), "totalRounds": 2})
    with pytest.raises(ArtifactError, match=r"run\.json: /totalRounds: 2 rounds ran where .* allows 1\. Fix: "):
        write_artifact(broken, path)
    with pytest.raises(ArtifactError, match="/totalRounds"):
        write_artifact(broken, tmp_path / "new" / "run.json")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.json"]


def test_an_artifact_is_a_value_that_nobody_changes():
    content = sound()
    before = copy.deepcopy(content)
    artifact = Artifact.model_validate(content)
    artifact.to_json()["findings"].clear()
    assert artifact.to_json() == content == before
    with pytest.raises(ValueError, match="frozen"):
        artifact.taskKey = "other"
