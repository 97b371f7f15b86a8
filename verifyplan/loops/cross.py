"""Cross-verification: workers vote on each other's findings until rules settle them (SPEC part B)."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from verifyplan.agents.base import Backend
from verifyplan.loops.intake import Source, read_findings
from verifyplan.loops.prepare import (
    Workers,
    backend_of,
    check_workers,
    config,
    grouped,
    plan_items_of,
    roster_of,
)
from verifyplan.loops.queue import QueueLoop
from verifyplan.loops.run import Run, write_artifact
from verifyplan.progress import progress as progress_bar
from verifyplan.protocol.artifact import FinalState, Round2SkippedReason
from verifyplan.protocol.event import (
    Event,
    FindingClassified,
    FindingGrouped,
    RunEnded,
    RunStarted,
    Sink,
)
from verifyplan.protocol.settings import ConvergenceBlock
from verifyplan.protocol.vote import HELD, Classification
from verifyplan.rules.grouping import Matcher, PlaceAndText
from verifyplan.rules.settings import convergence_block
from verifyplan.version import VERSION

DEFAULT_MATCHER = PlaceAndText()


def crossverify(
    findings: Source,
    workers: Workers,
    *,
    task_type: str | None = None,
    settings: Mapping[str, Any] | None = None,
    backend: str | Backend = "static",
    root: str | Path = ".",
    plan_items: Source | None = None,
    matcher: Matcher | None = DEFAULT_MATCHER,
    timeout: float | None = 600.0,
    sink: Sink | None = None,
    out: str | Path | None = ".",
    task_key: str | None = None,
    synthetic: bool | None = None,
    progress: bool | None = None,
) -> Run:
    """Let workers vote on each other's findings, round by round, and give each finding a class.

    Call it from a script or a notebook alike; code that awaits calls it through `asyncio.to_thread`.

    Args:
        findings: models, dictionaries, a DataFrame, or a CSV or JSON file with `finding_id, summary, evidence,
            worker` and optionally `category, truth, ticket_ids`. Truth is never shown to a worker.
        workers: the roster, in order; or a mapping of each worker's name to the static checker it plays.
        task_type: chooses the settings (SPEC B1) and names the artifact's folder.
        settings: overrides of the settings, such as `{"adversarial": True, "maxRounds": 3}`.
        backend: `"static"`, or any object with the methods of `verifyplan.agents.base.Backend`.
        root: the folder that cited evidence is opened in; nothing outside it is read.
        plan_items: items of a plan body for the gate of SPEC B10; only for implementation-planning.
        matcher: says which findings are the same; None groups by id alone.
        timeout: seconds that one dispatch may take; None waits for ever.
        sink: told each event as it happens; what it raises ends the run.
        out: the folder under which the artifact is written; None writes nothing.
        task_key: what the run is about, for the artifact; the task type if not given.
        synthetic: marks generated findings; by default what a DataFrame's `attrs["synthetic"]` says.
        progress: whether to show a bar; by default where somebody can see it.

    Returns:
        A `Run`: `.artifact`, `.status`, `.frames` (tables), `.path`, `.gate_passed`.

    Raises:
        InputError: for findings, workers or settings that cannot be used, listing all problems.

    >>> from verifyplan.agents.scripted import ScriptedBackend
    >>> script = {1: {"bob": {"F-1": {"verdict": "agree"}}, "cy": {"F-1": {"verdict": "disagree"}}}}
    >>> finding = {"finding_id": "F-1", "summary": "f has no check", "evidence": "m.py:3", "worker": "ann"}
    >>> run = crossverify([finding], ["ann", "bob", "cy"], settings={"maxRounds": 1},
    ...     backend=ScriptedBackend(script), out=None)
    >>> run.artifact.findings[0].classification
    'contested'
    """
    roster = roster_of(workers)
    block = convergence_block(task_type or "", overrides=settings)
    speaker = backend_of(backend, workers, root)
    check_workers(speaker, roster)
    items = plan_items_of(plan_items, task_type, block)
    brought = read_findings(findings, roster)
    marked = getattr(findings, "attrs", {}).get("synthetic", False) if synthetic is None else synthetic
    started = RunStarted(
        task_key=task_key or task_type or "ad-hoc",
        task_type=task_type or "",
        settings=config(block, len(roster), bool(marked)),
        analysers=tuple(roster),
        findings=tuple(brought),
        plan_items=tuple(items),
        plan_settings=dict(block["planBodyVerification"]) if items else None,
        versions={"verifyplan": VERSION, "python": platform.python_version()},
        backend=speaker.describe(),
        synthetic=bool(marked),
    )
    events: list[Event] = []

    def emit(event: Event) -> None:
        if sink is not None:
            sink(event)
        events.append(event)

    emit(started)
    groups = grouped(brought, items, roster, matcher)
    for finding in groups:
        emit(finding)
    steps = len(roster) * (block["effectiveMaxRounds"] + (1 if items else 0))
    with progress_bar("cross-verifying", steps or None, progress) as step:
        from_any_thread(_Cross(block, roster, speaker, timeout, emit, step).run(groups))
    return _written(Run(events=tuple(events)), out, task_type or "")


class _Cross:
    """The two queues of a run: its findings, then the items of a plan body."""

    def __init__(
        self,
        block: ConvergenceBlock,
        roster: Sequence[str],
        backend: Backend,
        timeout: float | None,
        emit: Sink,
        step: Callable[[], None],
    ) -> None:
        self.block, self.roster, self.backend = block, roster, backend
        self.timeout, self.emit, self.step = timeout, emit, step

    async def run(self, groups: Sequence[FindingGrouped]) -> None:
        """Settle what needs no vote, vote on the rest, judge the plan body, and end the run."""
        queue = [f for f in groups if f.part == "findings" and not self._settled_at_once(f)]
        state, rounds = await self._loop(self.block["effectiveMaxRounds"]).run(queue)
        items = [item for item in groups if item.part == "plan-body"]
        gate = await self._plan_body(items) if items else None
        gating = self.block["planBodyVerification"]["gating"] and len(self.roster) >= 2
        self.emit(
            RunEnded(
                final_state=state,
                total_rounds=rounds,
                round2_skipped_reason=_round2(state, rounds, self.block["effectiveMaxRounds"]),
                gate_passed=gate,
                gating=gating if items else None,
            )
        )

    def _loop(self, max_rounds: int) -> QueueLoop:
        return QueueLoop(
            part="findings",
            roster=self.roster,
            mode="adversarial" if self.block["adversarial"] else "collaborative",
            verification_mode=self.block["verificationMode"],
            max_rounds=max_rounds,
            backend=self.backend,
            timeout=self.timeout,
            emit=self.emit,
            closed=self.step,
        )

    async def _plan_body(self, items: Sequence[FindingGrouped]) -> bool:
        """One collaborative round in which all analysers vote; True if every item held (SPEC B10)."""
        loop = self._loop(self.block["planBodyVerification"]["maxRounds"])
        loop.part, loop.mode = "plan-body", "collaborative"
        classes: list[Classification] = []
        told = loop.emit

        def listen(event: Event) -> None:
            if isinstance(event, FindingClassified):
                classes.append(event.classification)
            told(event)

        loop.emit = listen
        await loop.run(items)
        return all(classification in HELD for classification in classes)

    def _settled_at_once(self, finding: FindingGrouped) -> bool:
        """Round 0: found by all, or no votes to come (SPEC B1, B2, B3)."""
        found, analysers = len(finding.discoverers), len(self.roster)
        votes_follow = self.block["enabled"] and analysers >= 2
        if votes_follow and found < analysers:
            return False
        classification: Classification = "partial-consensus" if found > 1 else "worker-unique"
        if found == analysers >= 2:
            classification = "full-consensus"
        self.emit(
            FindingClassified(
                part="findings",
                finding_id=finding.finding_id,
                classification=classification,
                rule="round-0",
                round=0,
                final=False,
            )
        )
        return True


def _round2(state: FinalState, rounds: int, max_rounds: int) -> Round2SkippedReason:
    """Why round 2 did not run, first reason first (SPEC B9)."""
    if rounds >= 2:
        return "not-skipped"
    if state == "aborted-non-result":
        return "all-reverify-non-result"
    return "max-rounds-1" if max_rounds == 1 else "queue-empty"


def _written(run: Run, out: str | Path | None, task_type: str) -> Run:
    if out is None:
        return run
    path = write_artifact(run.artifact, Path(out), task_type)
    return Run(run.events, path, path.relative_to(out).with_suffix("").as_posix())


def from_any_thread(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end; where a loop runs already (a notebook), in a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
