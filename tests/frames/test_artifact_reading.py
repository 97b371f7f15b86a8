"""Artifacts that are read together give what each gives alone, and one that cannot be read costs no other (E4, B9)."""

from __future__ import annotations

import tempfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.frames.artifacts import Json, artifacts, as_bytes, json_values, sound
from verifyplan.errors import ArtifactError
from verifyplan.frames.artifact import parse_artifact
from verifyplan.frames.artifact_tables import artifact_columns
from verifyplan.frames.columns import FIRST_TABLES
from verifyplan.frames.load import load
from verifyplan.frames.runset import assemble
from verifyplan.frames.vote_checks import cite_places
from verifyplan.protocol.artifact import Artifact
from verifyplan.rules.citations import cites_location
from verifyplan.rules.invariants import violations

BUNDLED = sorted(Path(vp.datasets.path("contract")).glob("*.json"))
BROKEN = {**sound(), "finalState": "converged"}
ROUND_TWICE = {**BROKEN, "roundHistory": 2 * sound()["roundHistory"]}


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


def model_of(data: bytes) -> Artifact | None:
    """Return the artifact in some bytes; None for one whose shape is refused."""
    try:
        return parse_artifact(data, "run.json", checked=False)
    except ArtifactError:
        return None


@settings(max_examples=15)
@given(st.lists(st.tuples(artifacts() | changed() | st.just(BROKEN), st.booleans()), min_size=1, max_size=4))
def test_many_files_give_what_each_gives_alone(contents):
    files = {f"r{i}": as_bytes(content)[: None if whole else -3] for i, (content, whole) in enumerate(contents)}
    with tempfile.TemporaryDirectory() as folder:
        paths = {run_id: Path(folder, f"{run_id}.json") for run_id in files}
        for run_id, data in files.items():
            paths[run_id].write_bytes(data)
        tables = load(list(paths.values()), strict=False)
    read = set(tables.runs["run_id"])
    alone, named = [], []
    for run_id, data in files.items():
        artifact = model_of(data)
        is_broken = artifact is None or violations(artifact)
        named += [str(paths[run_id])] if is_broken else []
        assert is_broken or run_id in read
        if artifact is not None and run_id in read:
            alone.append(artifact_columns(artifact, run_id, str(paths[run_id])))
    assert tables.errors["source"].drop_duplicates().tolist() == named
    expected = assemble(alone)
    for name in FIRST_TABLES:
        pd.testing.assert_frame_equal(getattr(tables, name), getattr(expected, name), obj=name)


def test_among_sound_files_those_that_have_rows_twice_are_found_and_told_once(tmp_path):
    for path in BUNDLED:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    names = [f"{at}.json" for at in ("0", "m", "z")]
    for name in names:
        (tmp_path / name).write_bytes(as_bytes(ROUND_TWICE))
    loaded = load(tmp_path, strict=False)
    assert loaded.runs["run_id"].tolist() == [path.stem for path in BUNDLED]
    for name in names:
        told = loaded.errors.loc[loaded.errors["source"].eq(str(tmp_path / name)), "message"]
        assert told.str.contains("round 1 is recorded in the place of round 2").any()
        assert not told.str.contains("repeat the key").any()


def test_the_columns_that_no_artifact_has_are_those_of_a_log_without_them():
    runs = assemble([artifact_columns(Artifact.model_validate(sound()), "run")])
    assert runs.findings["truth"].isna().all()
    assert runs.votes["iteration"].eq(0).all()


PIECES = ["a.py", ":3", "line 3", "L12", " ", "-", "é", "файл", ".", "x", "٣", "\n", "line ٣", "\0"]


@given(st.lists(st.none() | st.lists(st.sampled_from(PIECES), max_size=6).map("".join), max_size=5))
def test_texts_of_a_column_cite_places_as_each_alone(texts):
    expected = [cites_location(text) for text in texts]
    assert cite_places(pd.Series(texts, dtype="str")).tolist() == expected
    assert cite_places(pd.Series(texts, dtype="object")).tolist() == expected
