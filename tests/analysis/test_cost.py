"""What runs cost is added up from every call, those that failed included, and says how many of them there were."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import verifyplan as vp
from tests.runlog.conversing import TalkingBackend
from tests.runs.crossing import Playing, finding
from tests.runs.plan import planning
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.analysis.cost import failures_in_words
from verifyplan.analysis.treatments.rule_costs import _usage_by_call
from verifyplan.frames.artifact_tables import artifact_columns
from verifyplan.frames.load import load
from verifyplan.frames.runset import RunSet, assemble, concat
from verifyplan.protocol.call import Reply, Usage
from verifyplan.widgets.explorer.views import _sums

AGREE = {"verdict": "agree"}


def told(runs: RunSet) -> dict[str, float]:
    table = vp.analysis.cost(runs)
    assert (table["n_runs"] == len(runs)).all()
    return dict(zip(table["measure"], table["value"], strict=True))


def cross(answers: dict[str, Any], **more: Any) -> Any:
    """A round of two workers that verify four findings."""
    rows = [{"finding_id": f"F-{n}", "summary": f"claim {n}", "evidence": "m.py:3", "worker": "ann"} for n in range(4)]
    given = {"matcher": None, "log_dir": None, "progress": False, "settings": {"maxRounds": 1}} | more
    return vp.crossverify(rows, ["ann", "bob", "cy"], backend=ScriptedBackend(answers, silent=True), **given)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of a run of agents that speak in turns; some of its calls failed."""
    folder = tmp_path_factory.mktemp("talking")
    path = planning.run_of({}, backend=TalkingBackend(planning.script(), silent=True), log_dir=folder).log_path
    assert path is not None
    return path


@pytest.fixture(scope="module")
def live(log: Path) -> RunSet:
    return load(log)


def test_tokens_and_dollars_are_those_of_all_calls_and_of_failed_ones_by_themselves(live):
    costs, calls = told(live), live.calls
    n = len(calls)
    assert costs["calls"] == n
    assert {name: costs[name] for name in costs if "token" in name and "failed" not in name} == {
        "input-tokens": 100 * n, "output-tokens": 40 * n, "cache-read-tokens": 1000 * n, "cache-write-tokens": 1000 * n
    }  # fmt: skip
    assert costs["dollars"] == pytest.approx(0.0068 * n)
    assert (costs["unpriced-calls"], costs["web-searches"]) == (0, 0)
    failed = int((calls["status"].ne("completed") | calls["reason"].notna()).sum())
    assert costs["failed-calls"] == failed > int(calls["status"].ne("completed").sum()) > 0
    assert costs["failed-tokens"] == 2140 * failed


def test_dollars_are_what_is_known_and_calls_without_a_price_are_counted(live):
    unpriced = live.calls.assign(cost=live.calls["cost"].where(live.calls["role"].eq("worker")))
    workers = int(live.calls["role"].eq("worker").sum())
    costs = told(RunSet(runs=live.runs, calls=unpriced))
    assert costs["dollars"] == pytest.approx(0.0068 * workers)
    assert costs["unpriced-calls"] == len(live.calls) - workers
    none = told(RunSet(runs=live.runs, calls=unpriced.assign(cost=float("nan"))))
    assert pd.isna(none["dollars"])


def test_agents_that_are_no_models_cost_nothing_that_is_unknown():
    costs = told(cross({}).frames)
    assert (costs["input-tokens"], costs["unpriced-calls"], costs["failed-tokens"]) == (0, 0, 0)


def test_an_answer_that_cannot_be_used_is_a_failed_call_within_a_dispatch_of_several_too():
    whole = cross({"r1/bob": {"raw": 3}, "r1/cy": "timeout"})
    assert (told(whole.frames)["calls"], told(whole.frames)["failed-calls"]) == (2, 2)
    parts = cross({"r1/bob/p1": {"raw": 3}, "r1/cy/p2": "error"}, items_per_call=2)
    assert (told(parts.frames)["calls"], told(parts.frames)["failed-calls"]) == (4, 2)


def test_a_run_that_was_read_from_its_artifact_has_its_dispatches():
    run = cross({"r1/bob": {"raw": 3}, "r1/cy": {"F-1": AGREE}})
    artifact = assemble([artifact_columns(run.artifact, "an artifact")])
    costs = told(artifact)
    assert (costs["calls"], costs["failed-calls"]) == (2, 1)
    assert "dollars" not in costs
    both = told(concat([artifact, run.frames]))
    assert (both["calls"], both["failed-calls"], both["votes"]) == (4, 2, 2 * costs["votes"])


def test_calls_in_flight_have_not_ended_and_their_turns_count(live, log, tmp_path):
    lines = log.read_bytes().splitlines(keepends=True)
    last = max(n for n, line in enumerate(lines) if b'"type":"turn-replied"' in line)
    (tmp_path / "cut.jsonl").write_bytes(b"".join(lines[: last + 1]))
    cut = load(tmp_path)
    assert cut.calls["status"].iloc[-1] == "in-flight"
    assert told(cut)["calls"] == len(cut.calls) - 1 == len(live.calls) - 1
    assert told(cut)["dollars"] == pytest.approx(told(live)["dollars"])


def test_calls_that_a_limit_held_back_are_counted_apart_and_lower_no_average(tmp_path):
    def answer(request):
        votes = {item.finding_id: AGREE for item in request.items}
        return Reply(value={"votes": votes}, usage=Usage(input_tokens=10, cost=Decimal(1)), duration_ms=100)

    rows = [finding(f"F-{n}", "ann") for n in range(2)]
    run = vp.crossverify(
        rows, ["ann", "bob", "cy", "dan"], backend=Playing(answer), max_tokens=15, max_rounds=1, items_per_call=1,
        matcher=None, log_dir=tmp_path, progress=False,
    )  # fmt: skip
    held_back = int(run.frames.calls["status"].eq("budget").sum())
    costs = told(run.frames)
    assert (costs["calls"], costs["failed-calls"], costs["unsent-calls"]) == (6, held_back, held_back)
    assert f"{held_back} budget (held back by a limit)" in str(run)
    assert failures_in_words(held_back, held_back) in _sums(run.frames.calls)
    workers = vp.workers(run)
    assert set(workers.table["seconds"].dropna()) == {0.1}
    assert "have no cost" not in str(workers)
    usage = _usage_by_call(run.frames)
    assert (len(usage), set(usage["tokens"])) == (6 - held_back, {10.0})
