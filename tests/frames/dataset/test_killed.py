"""A compile that is killed at any moment leaves the old dataset or the new one, and the next compile is right (E5)."""

from __future__ import annotations

import os
import signal

import pytest

from tests.frames.dataset import killing
from tests.processes import killed

pytestmark = pytest.mark.skipif(
    not (hasattr(os, "fork") and hasattr(signal, "SIGKILL")), reason="processes are forked and killed as on POSIX"
)


def test_a_killed_compile_leaves_a_whole_dataset(tmp_path):
    found = killed(killing.__file__, tmp_path)
    assert found["killed"] > 0
    assert found["old"] > 0
