"""A compile that is killed at any moment leaves the old dataset or the new one, and the next compile is right (E5)."""

from __future__ import annotations

from tests.processes import killed


def test_a_killed_compile_leaves_a_whole_dataset(tmp_path):
    found = killed("tests/frames/dataset/killing.py", tmp_path)
    assert found["killed"] > 0
    assert found["old"] > 0
