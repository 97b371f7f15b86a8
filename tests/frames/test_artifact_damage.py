"""Every damage to an artifact is an ArtifactError with its file, its place and its fix (rules B9, H3)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.frames.artifacts import as_bytes, sound
from verifyplan.errors import ArtifactError
from verifyplan.frames.artifact import parse_artifact, read_artifact

GONE = object()
VOTES = "/findings/0/rounds/0/votes"
ROUND = "/roundHistory/0"
DISPATCH = f"{ROUND}/dispatches/0"

UNREADABLE = {
    "empty file": (b"", "line 1, column 1: is not JSON"),
    "blank file": (b" \n ", "line 2, column 2: is not JSON"),
    "cut in the middle": (as_bytes(sound())[:300], r"line \d+, column \d+: is not JSON"),
    "text behind the end": (b'{"schemaVersion": "1.2", "findings": []}\n}', "line 2, column 1: is not JSON .Extra"),
    "single quotes": (b"{'schemaVersion': '1.2'}", "line 1, column 2: is not JSON"),
    "latin-1": ('{\n"taskKey": "ü"}'.encode("latin-1"), "line 2: byte 0xfc is not UTF-8"),
    "utf-16": (as_bytes(sound()).decode().encode("utf-16"), "line 1: byte 0xff is not UTF-8"),
    "control character": (b'{"taskKey": "a\x00b"}', "line 1, column 15: is not JSON"),
    "list at the top": (b"[1, 2]", r"holds \[1, 2\] at its top"),
    "text at the top": (b'"run"', "holds 'run' at its top"),
    "null at the top": (b"null", "holds None at its top"),
    "nested without end": (b"[" * 200_000, "is nested without end"),
    "repeated key": (
        b'{"findings": [{"findingId": "F", "findingId": "G"}]}',
        "/findings/0: the key 'findingId' occurs",
    ),
    "repeated key at the top": (b'{"findings": [], "findings": []}', "the key 'findings' occurs twice"),
    "NaN": (b'{"findings": [], "x": {"a/b": [1, NaN]}}', "/x/a~1b/1: NaN is not a JSON number"),
    "minus infinity": (b'{"totalRounds": -Infinity}', "/totalRounds: -Infinity is not a JSON number"),
    "number beyond any double": (b'{"x": 1e999}', "/x: '1e999' is too large"),
    "number of 5000 digits": (b'{"totalRounds": ' + b"9" * 5000 + b"}", "/totalRounds: '9+[.]{3} is too large"),
    "half a character": (b'{"taskKey": "\\ud83d"}', r"/taskKey: '\\ud83d' holds half a character"),
    "half a character in a key": (b'{"x": {"\\ud83d": 1}}', r"/x: the key '\\ud83d' holds half a character"),
    "nested too deeply": (b'{"x": ' + b"[" * 400 + b"]" * 400 + b"}", "/x/0/0/.*: is nested deeper than 200 levels"),
}

DAMAGED: dict[str, tuple[str, Any, str]] = {
    "no schemaVersion": ("/schemaVersion", GONE, "is missing"),
    "version 1.3": ("/schemaVersion", "1.3", "'1.3' is not allowed. Fix: write '1.0', '1.1' or '1.2'"),
    "version as a number": ("/schemaVersion", 1.2, "1.2 is not allowed"),
    "version null": ("/schemaVersion", None, "None is not allowed"),
    "no findings": ("/findings", GONE, "is missing"),
    "findings null": ("/findings", None, "None does not fit. Fix: write a list"),
    "findings an object": ("/findings", {}, "does not fit. Fix: write a list"),
    "finding null": ("/findings/1", None, "write an object"),
    "finding without id": ("/findings/1/findingId", GONE, "is missing"),
    "empty id": ("/findings/1/findingId", "", "write a name that is not empty"),
    "id a number": ("/findings/1/findingId", 7, "write a text in quotes"),
    "repeated id": ("/findings/1/findingId", "F-2", "'F-2' is the id of /findings/0 already"),
    "summary a list": ("/findings/0/summary", ["a"], "write a text"),
    "ticketIds a text": ("/findings/0/ticketIds", "T-1", "write a list"),
    "unknown class": ("/findings/0/classification", "consensus", "'consensus' is not allowed"),
    "config a list": ("/config", [], "write an object"),
    "adversarial a text": ("/config/adversarial", "true", "write true or false"),
    "unknown mode": ("/config/verificationMode", "full", "'lightweight' or 'full-reanalysis'"),
    "adversarial but lightweight": ("/config/verificationMode", "lightweight", "in an adversarial run"),
    "unknown final state": ("/finalState", "CONVERGED", "'CONVERGED' is not allowed"),
    "unknown reason": ("/round2SkippedReason", "none", "'none' is not allowed"),
    "votes a list": (VOTES, [], "write an object"),
    "vote null": (f"{VOTES}/bob", None, "write an object"),
    "vote of nobody": (f"{VOTES}/", {"verdict": "agree"}, "write a name that is not empty"),
    "vote of a/b": (f"{VOTES}/a~1b", [], "write an object"),
    "vote of a worker named int": (f"{VOTES}/int", [], "write an object"),
    "vote of a worker named [key]": (f"{VOTES}/[key]", [], "write an object"),
    "unknown verdict": (f"{VOTES}/cy/verdict", "maybe", "'maybe' is not allowed. Fix: write 'agree', 'supplement'"),
    "verdict in capitals": (f"{VOTES}/bob/verdict", "AGREE", "'AGREE' is not allowed. Fix: write 'agree'."),
    "a label as verdict": (f"{VOTES}/cy/verdict", "REFUTED", "'REFUTED' is not allowed. Fix: write 'disagree'."),
    "basis with a space": (f"{VOTES}/cy/disagreeBasis", "counter evidence", "Fix: write 'counter-evidence'."),
    "verdict null": (f"{VOTES}/bob/verdict", None, "is not allowed"),
    "no verdict": (f"{VOTES}/bob/verdict", GONE, "is missing"),
    "unknown basis": (f"{VOTES}/cy/disagreeBasis", "doubt", "'counter-evidence' or 'burden-not-met'"),
    "basis missing": (f"{VOTES}/cy/disagreeBasis", GONE, "null on a disagree of an adversarial run"),
    "basis on an agree": (f"{VOTES}/bob/disagreeBasis", "burden-not-met", "on a vote that is 'agree'. Fix: write null"),
    "explanation a number": (f"{VOTES}/bob/explanation", 3, "write a text"),
    "round 0": ("/findings/0/rounds/0/round", 0, "1 for a round"),
    "gap in the rounds": ("/findings/0/rounds/0/round", 2, "round 2 is recorded in the place of round 1"),
    "no round": ("/findings/0/rounds/0/round", GONE, "is missing"),
    "round true": ("/findings/0/rounds/0/round", True, "write a whole number"),
    "gap in the history": (f"{ROUND}/round", 3, "round 3 is recorded in the place of round 1"),
    "carried forward wrongly": (f"{ROUND}/carriedForwardCount", 0, "0 is not inputQueueSize 1 minus resolvedCount 0"),
    "negative count": (f"{ROUND}/resolvedCount", -1, "not below the smallest allowed"),
    "unknown status": (f"{DISPATCH}/status", "ok", "'completed', 'timeout' or 'error'"),
    "dispatch of nobody": (f"{DISPATCH}/worker", GONE, "is missing"),
    "time a text": (f"{DISPATCH}/durationMs", "5", "write a number of milliseconds"),
    "time below 0": (f"{DISPATCH}/durationMs", -0.5, "write a number of milliseconds"),
    "time true": (f"{DISPATCH}/durationMs", True, "write a number of milliseconds"),
    "rounds beyond the limit": ("/totalRounds", 2, "2 rounds ran where effectiveMaxRounds allows 1"),
    "count a text": ("/totalRounds", "1", "write a whole number"),
    "count a float": ("/totalRounds", 1.0, "write a whole number"),
    "count true": ("/totalRounds", True, "write a whole number"),
    "count that no table holds": ("/totalRounds", 10**30, "write a smaller number"),
    "class counts wrong": ("/finalClassificationCounts/contested", 2, "2, but 1 findings are contested. Fix: write 1"),
}


def put(content: Any, pointer: str, value: Any) -> Any:
    """A sound artifact with the value at a JSON pointer replaced, added or taken out."""
    *path, last = [part.replace("~1", "/") for part in pointer[1:].split("/")]
    inner = content
    for part in path:
        inner = inner[int(part)] if isinstance(inner, list) else inner[part]
    if value is GONE:
        del inner[last]
    else:
        inner[int(last) if isinstance(inner, list) else last] = value
    return content


@pytest.mark.parametrize(("data", "message"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_no_json_names_file_place_and_fix(data, message):
    with pytest.raises(ArtifactError, match=rf"^run\.json.*{message}") as caught:
        parse_artifact(data, "run.json")
    assert all(problem.place.startswith("run.json") and problem.fix for problem in caught.value.problems)
    assert " Fix: " in str(caught.value)


@pytest.mark.parametrize(("pointer", "value", "message"), DAMAGED.values(), ids=DAMAGED)
def test_damage_names_file_pointer_and_fix(pointer, value, message):
    data = as_bytes(put(sound(), pointer, value))
    with pytest.raises(ArtifactError, match=re.escape(message)) as caught:
        parse_artifact(data, "run.json")
    (problem,) = caught.value.problems
    assert problem.place == f"run.json: {pointer}"
    assert problem.fix
    assert str(caught.value).startswith(f"run.json: {pointer}: ")


def test_a_basis_in_a_collaborative_run_is_refused():
    data = as_bytes(put(sound(), "/config/adversarial", False))
    with pytest.raises(ArtifactError, match=f"{VOTES}/cy/disagreeBasis: 'counter-evidence' in a collaborative run"):
        parse_artifact(data, "run.json")


@pytest.mark.parametrize(
    "kinds",
    [
        ("unknown verdict", "round 0", "count true", "time a text"),
        ("repeated id", "basis missing", "carried forward wrongly", "class counts wrong"),
    ],
)
def test_all_problems_of_a_file_are_listed(kinds):
    content = sound()
    for kind in kinds:
        put(content, *DAMAGED[kind][:2])
    with pytest.raises(ArtifactError, match="Fix: ") as caught:
        parse_artifact(as_bytes(content), "run.json")
    assert {problem.place for problem in caught.value.problems} == {f"run.json: {DAMAGED[kind][0]}" for kind in kinds}
    assert len(str(caught.value).splitlines()) == len(kinds)


def test_a_thousand_problems_are_kept_but_not_all_printed():
    content = {"schemaVersion": "1.2", "findings": [{"findingId": ""}] * 1000}
    with pytest.raises(ArtifactError, match=r"\.\.\. and 980 more problems") as caught:
        parse_artifact(json.dumps(content).encode(), "run.json")
    assert len(caught.value.problems) == 1000


def test_a_long_value_is_cut_in_the_message():
    with pytest.raises(ArtifactError, match=r"'x+\.\.\. is not allowed") as caught:
        parse_artifact(as_bytes(put(sound(), "/finalState", "x" * 10_000)), "run.json")
    assert len(str(caught.value)) < 300


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path):
    with pytest.raises(ArtifactError, match=r"gone\.json: cannot be read \(No such file or directory\)\. Fix: "):
        read_artifact(tmp_path / "gone.json")
    with pytest.raises(ArtifactError, match=r"cannot be read \(Is a directory\)"):
        read_artifact(tmp_path)
