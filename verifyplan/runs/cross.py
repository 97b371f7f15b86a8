"""The two parts of a cross run: the queue of its findings, then that of a plan body's items (rules B2, B10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from verifyplan.agents.base import Backend
from verifyplan.engine.calls import Caller
from verifyplan.engine.queue import QueueLoop
from verifyplan.engine.run_async import in_session, run_async
from verifyplan.progress import progress as progress_bar
from verifyplan.protocol.artifact import FinalState, Round2SkippedReason
from verifyplan.protocol.event import Event, Sink
from verifyplan.protocol.event_cross import FindingClassified, FindingGrouped
from verifyplan.protocol.event_run import CrossInputs, CrossOutcome, RunEnded, RunStarted
from verifyplan.protocol.vote import HELD, Classification, MissingBasis
from verifyplan.redaction import redacted
from verifyplan.rules.grouping import Matcher
from verifyplan.rules.settings import convergence_block
from verifyplan.runlog.chain import Record
from verifyplan.runlog.recorder import Recorder
from verifyplan.runlog.writer import LogWriter
from verifyplan.runs.arguments import (
    Workers,
    backend_of,
    check_affordable,
    check_counts,
    check_destination,
    check_ids_apart,
    check_missing_basis,
    check_timeout,
    check_workers,
    config,
    group_events,
    limits_of,
    read_gate_items,
    resume_hint,
    roster_of,
    versions,
)
from verifyplan.runs.merges import DEFAULT_MATCHER, matcher_name, matcher_of, read_merges
from verifyplan.runs.read_findings import RowSource, read_findings
from verifyplan.runs.run import UNNAMED, CrossRun, export_artifact, state_folder


class Parts:
    """The two queues of a run: its findings, then the items of a plan body."""

    def __init__(
        self, inputs: CrossInputs, caller: Caller, emit: Sink, step: Callable[[], None] = lambda: None
    ) -> None:
        self.block, self.plan_block, self.roster = inputs.settings, inputs.plan_settings or {}, inputs.analysers
        self.items_per_call, self.missing_basis = inputs.items_per_call, inputs.missing_basis
        self.cut_off = ""
        self.caller, self.emit, self.step = caller, emit, step

    async def run(self, groups: Sequence[FindingGrouped]) -> None:
        """Settle what needs no vote, vote on the rest, judge the plan body, and end the run."""
        queue = [f for f in groups if f.part == "findings" and not self._settled_at_once(f)]
        loop = self._loop(self.block["effectiveMaxRounds"])
        state, rounds = await loop.run(queue)
        self.cut_off = loop.cut_off
        items = [item for item in groups if item.part == "plan-body"]
        gate = await self._plan_body(items) if items else None
        gating = bool(items) and self.plan_block["gating"] and len(self.roster) >= 2
        self.emit(
            RunEnded(
                outcome=CrossOutcome(
                    final_state=state,
                    total_rounds=rounds,
                    round2_skipped_reason=_round2(state, rounds, self.block["effectiveMaxRounds"]),
                    gate_passed=gate,
                    gating=gating if items else None,
                    exit_reason=self.cut_off,
                )
            )
        )

    def _loop(self, max_rounds: int) -> QueueLoop:
        return QueueLoop(
            part="findings",
            roster=self.roster,
            mode="adversarial" if self.block["adversarial"] else "collaborative",
            verification_mode=self.block["verificationMode"],
            max_rounds=max_rounds,
            caller=self.caller,
            emit=self.emit,
            items_per_call=self.items_per_call,
            missing_basis=self.missing_basis,
            closed=self.step,
        )

    async def _plan_body(self, items: Sequence[FindingGrouped]) -> bool:
        """One collaborative round in which all analysers vote; True if every item held (rule B10).

        With fewer than two analysers nobody votes, as on findings (rule B1): one voice is no consensus.
        """
        if len(self.roster) < 2:
            for item in items:
                self._settle(item, "worker-unique")
            return False
        loop = self._loop(self.plan_block["maxRounds"])
        loop.part, loop.mode = "plan-body", "collaborative"
        classes: list[Classification] = []
        told = loop.emit

        def listen(event: Event) -> None:
            if isinstance(event, FindingClassified):
                classes.append(event.classification)
            told(event)

        loop.emit = listen
        await loop.run(items)
        self.cut_off = self.cut_off or loop.cut_off
        return all(classification in HELD for classification in classes)

    def _settled_at_once(self, finding: FindingGrouped) -> bool:
        """Round 0: found by all, or no votes to come (rules B1, B2, B3)."""
        found, analysers = len(finding.discoverers), len(self.roster)
        votes_follow = self.block["enabled"] and analysers >= 2
        if votes_follow and found < analysers:
            return False
        classification: Classification = "partial-consensus" if found > 1 else "worker-unique"
        if found == analysers >= 2:
            classification = "full-consensus"
        self._settle(finding, classification)
        return True

    def _settle(self, finding: FindingGrouped, classification: Classification) -> None:
        self.emit(
            FindingClassified(
                part=finding.part,
                finding_id=finding.finding_id,
                classification=classification,
                rule="round-0",
                round=0,
                final=False,
            )
        )


def _round2(state: FinalState, rounds: int, max_rounds: int) -> Round2SkippedReason:
    """Why round 2 did not run, first reason first (rule B9)."""
    if rounds >= 2:
        return "not-skipped"
    if state == "aborted-non-result":
        return "all-reverify-non-result"
    return "max-rounds-1" if max_rounds == 1 else "queue-empty"


def crossverify(
    findings: RowSource,
    workers: Workers,
    *,
    task_type: str | None = None,
    settings: Mapping[str, Any] | None = None,
    backend: str | Backend = "static",
    root: str | Path = ".",
    plan_items: RowSource | None = None,
    matcher: str | Matcher | None = DEFAULT_MATCHER,
    merges: RowSource | None = None,
    timeout: float | None = 600.0,
    items_per_call: int | None = None,
    missing_basis: MissingBasis = "infer",
    max_tokens: int | None = None,
    max_cost: Decimal | str | float | None = None,
    repetition: int = 1,
    sink: Sink | None = None,
    out: str | Path | None = ".",
    task_key: str | None = None,
    synthetic: bool | None = None,
    progress: bool | None = None,
) -> CrossRun:
    """Let workers vote on each other's findings, round by round, and give each finding a class.

    Call it from a script or a notebook alike; code that awaits calls it through `asyncio.to_thread`.

    Args:
        findings: models, dictionaries, a DataFrame, or a CSV or JSON file with `finding_id, summary` and optionally
            `evidence, worker, category, truth, ticket_ids`. Truth is never shown to a worker. Without a `worker`,
            who found it and does not vote on it, everybody votes.
        workers: the roster, in order; or a mapping of each worker's name to the static checker it plays.
        task_type: chooses the settings (rule B1) and names the artifact's folder.
        settings: overrides of the settings, such as `{"adversarial": True, "maxRounds": 3}`.
        backend: `"static"`, or any object with the methods of `verifyplan.agents.base.Backend`.
        root: the folder that cited evidence is opened in; nothing outside it is read.
        plan_items: items of a plan body for the gate of rule B10; only for implementation-planning.
        matcher: which findings are the same: `"claim"` joins the same places and claims, spaces and case aside;
            `"likeness"` those that like words claim of nearby lines; an object with `key` and `same` is one's own; None
            joins by id alone. `group_findings` shows who is joined with whom, before a vote.
        merges: that table, edited; it is followed in place of a matcher.
        timeout: seconds that one call may take; None waits for ever.
        items_per_call: findings that one call asks about; None asks a worker about all of a round at once (rule B3).
        missing_basis: what stands for the basis of an adversarial disagree that has none, even where the worker could
            be asked for it: `"infer"` (counter-evidence if its explanation cites a place, else burden-not-met),
            `"counter-evidence"` or `"burden-not-met"`; such a vote is marked `basis_filled`.
        max_tokens: tokens, in and out, after which no call is sent.
        max_cost: US dollars after which no call is sent; only with a backend that knows its prices.
        repetition: which run of the same inputs and settings this is, from 1.
        sink: told each event as it happens; what it raises ends the run.
        out: the folder under which the run log and the artifact are written; None writes nothing.
        task_key: what the run is about, for the artifact; the task type if not given.
        synthetic: marks generated findings; by default what a DataFrame's `attrs["synthetic"]` says.
        progress: whether to show a bar; by default where somebody can see it.

    Returns:
        A `CrossRun`: `.artifact`, `.status`, `.frames` (tables), `.path`, `.log_path`, `.gate_passed`.

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
    started, speaker = begin(
        findings,
        workers,
        task_type=task_type,
        settings=settings,
        backend=backend,
        root=root,
        plan_items=plan_items,
        matcher=matcher,
        merges=merges,
        timeout=timeout,
        items_per_call=items_per_call,
        missing_basis=missing_basis,
        max_tokens=max_tokens,
        max_cost=max_cost,
        repetition=repetition,
        out=out,
        task_key=task_key,
        synthetic=synthetic,
    )
    known = matcher_of(started.cross, matcher)
    if out is None:
        return CrossRun(drive_cross(started, speaker, known, Recorder(sink=sink), progress))
    folder = state_folder(Path(out), task_type)
    with LogWriter.create(folder, f"convergence-{task_type or UNNAMED}") as writer, resume_hint(writer.path):
        records = drive_cross(started, speaker, known, Recorder(writer, sink=sink), progress)
    run_id = writer.path.relative_to(out).with_suffix("").as_posix()
    run = CrossRun(records, writer.path, run_id)
    return replace(run, path=export_artifact(run))


def begin(
    findings: RowSource,
    workers: Workers,
    *,
    task_type: str | None,
    settings: Mapping[str, Any] | None,
    backend: str | Backend,
    root: str | Path,
    plan_items: RowSource | None,
    matcher: str | Matcher | None,
    timeout: float | None,
    items_per_call: int | None,
    max_tokens: int | None,
    max_cost: Decimal | str | float | None,
    repetition: int,
    out: str | Path | None,
    task_key: str | None,
    synthetic: bool | None,
    missing_basis: MissingBasis = "infer",
    merges: RowSource | None = None,
) -> tuple[RunStarted, Backend]:
    """The first event of a cross run, and the backend as it plays it; the arguments are those of `crossverify`.

    Raises InputError listing what of them cannot be used, before anything is asked or written.
    """
    check_destination(out, task_type, task_key)
    check_timeout(timeout)
    limits = limits_of(max_tokens=max_tokens, max_cost=max_cost)
    check_counts(items_per_call=items_per_call, repetition=repetition)
    check_missing_basis(missing_basis)
    roster = roster_of(workers)
    block = convergence_block(task_type or "", overrides=settings)
    speaker = backend_of(backend, workers, root)
    check_workers(speaker, roster)
    check_affordable(speaker, limits)
    items = read_gate_items(plan_items, task_type, block)
    brought = read_findings(findings, roster)
    check_ids_apart(brought, items)
    marked = getattr(findings, "attrs", {}).get("synthetic", False) if synthetic is None else synthetic
    started: RunStarted = redacted(
        RunStarted(
            task_key=task_key or task_type or UNNAMED,
            inputs=CrossInputs(
                task_type=task_type or "",
                settings=config(block, len(roster), bool(marked)),
                analysers=tuple(roster),
                findings=tuple(brought),
                matcher=matcher_name(matcher),
                merges=read_merges(merges, brought) if merges is not None else {},
                plan_items=tuple(items),
                plan_settings=dict(block["planBodyVerification"]) if items else None,
                timeout=timeout,
                items_per_call=items_per_call,
                limits=limits,
                missing_basis=missing_basis,
                root=str(Path(root).absolute()),
            ),
            versions=versions(),
            backend=speaker.describe(),
            synthetic=bool(marked),
            repetition=repetition,
        )
    )
    return started, speaker


def drive_cross(
    started: RunStarted,
    backend: Backend | None,
    matcher: Matcher | None,
    recorder: Recorder,
    progress: bool | None = None,
) -> tuple[Record, ...]:
    """Drive a cross run to its end, from nothing or from what `recorder` holds of it; its records.

    CensoredError where there is no backend and a reply is missing.
    """
    inputs = started.cross
    plan_rounds = (inputs.plan_settings or {}).get("maxRounds", 0)
    steps = len(inputs.analysers) * (inputs.settings["effectiveMaxRounds"] + plan_rounds)
    with progress_bar("cross-verifying", steps or None, progress) as step:
        run_async(in_session(backend, cross_course(started, backend, matcher, recorder, step)))
    return tuple(recorder.records)


async def cross_course(
    started: RunStarted,
    backend: Backend | None,
    matcher: Matcher | None,
    recorder: Recorder,
    step: Callable[[], None] = lambda: None,
) -> None:
    """The course of a cross run, in the event loop that awaits it; what it tells is in `recorder`.

    As `drive_cross`, which holds the backend's connections and shows progress around it.
    """
    inputs = started.cross
    recorder.emit(started)
    groups = group_events(inputs.findings, inputs.plan_items, inputs.analysers, matcher)
    for finding in groups:
        recorder.emit(finding)
    caller = Caller(backend, inputs.timeout, recorder, inputs.limits)
    await Parts(inputs, caller, recorder.emit, step).run(groups)
