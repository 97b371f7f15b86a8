"""What writes files says of a real full disk what was not written, leaves nothing half-written, and a run goes on."""

from __future__ import annotations

import json
import sys

import pytest

from tests.processes import forked


@pytest.mark.skipif(sys.platform != "linux", reason="a small disk is mounted as on Linux")
def test_everything_that_writes_on_a_disk_with_more_and_more_room(tmp_path):
    done = forked("everything", "tests.small_disk", "main", tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    if "refused" in found:
        pytest.skip(f"nobody may mount a file system here: {found['refused']}")
    assert found["wrong"] == []
    assert min(found["pages"].values()) >= 1, found["pages"]
