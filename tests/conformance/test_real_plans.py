"""Real plans by others go through plan verification whole: an independent check, where the data is at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

import verifyplan as vp
from tests.longer import part

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
PLANS = sorted([*(DATA / "plans").rglob("*.md"), *(DATA / "planning").rglob("*PLAN*.md")])


@pytest.mark.skipif(not PLANS, reason="the folder ../shared with real plans is not here")
@pytest.mark.parametrize("plan", part(PLANS, 8), ids=lambda path: "/".join(path.parts[-2:]))
def test_a_real_plan_is_verified_and_replays(plan, tmp_path):
    run = vp.verify(plan, tmp_path, log_dir=None)
    assert run.outcome is not None
    assert run.outcome.ended_by in ("ruling", "sizing")
    assert run.verdict is not None
    assert not run.state.failures
    assert all(raised.uncited is False for raised in run.state.raised.values())
    assert vp.replay_run(run).same
    assert run.report().startswith("# Plan verification")
