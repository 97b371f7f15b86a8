"""Small runs in which an agent hears something else than it should, for the tests of what that costs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.live.live_runs import MODEL, Played, facts, speaking_to
from tests.live.scripted_replies import Answer, raw
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import finding
from tests.runs.plan.planning import PLAN, REPO, scores
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.event_run import CallFailed
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.cross.run import CrossRun
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.plan.verify import verify
from verifyplan.runs.run import Run

SCORED = {"i1/score": scores(7), "i1/audit": scores(7)}
FIRST, SECOND = "i1/challenger/t1", "i1/challenger/t2"

First = Mapping[str, Answer | Sequence[Answer]]


def soon(code: int, **headers: str) -> Answer:
    """An error that may be tried again at once."""
    told = {"type": "error", "error": {"type": "overloaded", "message": "later"}}
    return raw(json.dumps(told), code, **{"retry-after-ms": "5"} | headers)


def message(*content: Any, **more: Any) -> Answer:
    """A message of 3 tokens in and 2 out as no server should send it: its content and more of it as they are given."""
    told: dict[str, Any] = {"id": "m", "type": "message", "role": "assistant", "model": MODEL, "content": content}
    told |= {"stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 2}}
    return raw(json.dumps(told | more))


def challenged(
    first: First, answers: Mapping[str, Any] | None = None, *, root: Path = REPO, backend: Any = None, **settings: Any
) -> tuple[PlanRun, ScriptedServer]:
    """A run of the base team of which some hear `first` before what the answers have, and the server."""
    given: dict[str, Any] = {"log_dir": None, "team": "base", "panel": None, "max_iterations": 1, "progress": False}
    with ScriptedServer(Played(SCORED | dict(answers or {}), first, silent=True)) as server:
        speaker = speaking_to(server, **(backend or {}))
        run = verify(parse_plan(PLAN), root, backend=speaker, **given | settings)
    return run, server


def crossed(
    first: First,
    answers: Mapping[Any, Any] | None = None,
    workers: Sequence[str] = ("ann", "bob"),
    *,
    backend: Any = None,
    **settings: Any,
) -> tuple[CrossRun, ScriptedServer]:
    """A run of one round about a finding of the first worker, of which some hear `first`, and the server."""
    given: dict[str, Any] = {"matcher": None, "log_dir": None, "repo": REPO, "settings": {"maxRounds": 1}}
    with ScriptedServer(Played(answers or {}, first)) as server:
        speaker = speaking_to(server, **(backend or {}))
        run = crossverify([finding()], workers, backend=speaker, **{"progress": False} | given | settings)
    return run, server


def failed(run: Run, call: str = "i1/challenger") -> CallFailed:
    """How a call failed."""
    [event] = [event for event in facts(run, "call-failed") if event.call_id == call]
    assert isinstance(event, CallFailed)
    return event


def skipped(run: PlanRun) -> None:
    """rules A11, A3: without the challenger the run goes on to its end, and has no verdict, as nobody challenged."""
    [failure] = run.state.failures
    told = (failure.agent, failure.consequence)
    assert told == ("challenger", "no new challenges; the earlier ones are carried forward")
    assert run.outcome is not None
    assert (run.verdict, run.outcome.ended_by) == (None, "failures")
    assert run.outcome.exit_reason.startswith("nobody challenged the plan")
