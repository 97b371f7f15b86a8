"""Run the rounds of a cross run: group findings, let workers vote, classify, judge the plan body (rules B2-B10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from verifyplan.agents.base import Backend
from verifyplan.engine.calls import Caller
from verifyplan.engine.drive import Step, drive_loop, no_step
from verifyplan.engine.queue import ListedCalls, QueueItem, QueueLoop, QueueResult
from verifyplan.protocol.artifact import Round2SkippedReason
from verifyplan.protocol.event_cross import PLAN_BODY, FindingClassified, FindingGrouped
from verifyplan.protocol.event_run import CrossInputs, CrossOutcome, RunEnded, RunStarted
from verifyplan.protocol.vote import HELD, Classification
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.grouping import Matcher, group
from verifyplan.runlog.recorder import Recorder


def drive_cross(
    started: RunStarted,
    backend: Backend | None,
    matcher: Matcher | None,
    recorder: Recorder,
    progress: bool | None = None,
) -> None:
    """Drive a cross run to its end, from nothing or from what `recorder` holds of it, and show its progress.

    CensoredError where there is no backend and a reply is missing.
    """
    inputs = started.cross
    plan_rounds = (inputs.plan_settings or {}).get("maxRounds", 0)
    steps = len(inputs.analysers) * (inputs.settings["effectiveMaxRounds"] + plan_rounds)
    loop = partial(run_cross_loop, started, backend, matcher, recorder)
    drive_loop(loop, backend, recorder, "cross-verifying", steps or None, progress)


async def run_cross_loop(
    started: RunStarted,
    backend: Backend | None,
    matcher: Matcher | None,
    recorder: Recorder,
    step: Step = no_step,
) -> None:
    """Group the findings, settle what needs no vote, vote on the rest, judge the plan body, and end the run.

    The events go to `recorder`. It runs within `drive_cross`, or in a batch of runs.
    """
    inputs = started.cross
    settings, roster = inputs.settings, inputs.analysers
    caller = Caller(backend, recorder, inputs.limits, inputs.timeout)
    caller.emit(started)
    findings, items = group_events(inputs, matcher)
    for grouped in (*findings, *items):
        caller.emit(grouped)
    queue = []
    for finding in findings:
        classification = _class_without_vote(finding, roster, enabled=settings["enabled"])
        if classification is None:
            queue.append(_queue_item(finding))
        else:
            caller.emit(_round_0(finding, classification))
    loop = QueueLoop(
        part="findings",
        roster=roster,
        mode=inputs.mode,
        verification_mode=settings["verificationMode"],
        max_rounds=max(call.round for call in inputs.only) if inputs.only else settings["effectiveMaxRounds"],
        caller=caller,
        emit=caller.emit,
        items_per_call=inputs.items_per_call,
        rules=inputs.rules,
        only=listed_calls(inputs),
        step=step,
    )
    result = await loop.run(queue)
    gate = await _judge_plan_body(inputs, items, loop)
    outcome = CrossOutcome(
        final_state=result.final_state,
        total_rounds=result.rounds,
        round2_skipped_reason=_round2_skipped(result, settings["effectiveMaxRounds"]),
        gate_passed=gate.passed,
        gating=gate.gating,
        exit_reason=result.cut_off or gate.cut_off,
    )
    caller.emit(RunEnded(outcome=outcome))


class GateResult(NamedTuple):
    """How the verification of a plan body ended."""

    passed: bool | None
    """Whether every item held; None without items."""
    gating: bool | None
    """Whether a failed gate stops the plan; False where it only advises, None without items."""
    cut_off: str
    """Which limit of the run cut it off; blank if it did not."""


async def _judge_plan_body(inputs: CrossInputs, items: Sequence[FindingGrouped], loop: QueueLoop) -> GateResult:
    """Let all workers vote on the items of the plan body for one collaborative round (rule B10).

    With fewer than two workers nobody votes, and the result only advises (rule B1).
    """
    settings = inputs.plan_settings
    if not items or settings is None:
        return GateResult(None, None, "")
    if len(inputs.analysers) < 2:
        for item in items:
            loop.emit(_round_0(item, "worker-unique"))
        return GateResult(passed=False, gating=False, cut_off="")
    own_rules = VotingRules(missing_basis=inputs.missing_basis)
    body_loop = replace(
        loop, part=PLAN_BODY, mode="collaborative", max_rounds=settings["maxRounds"], rules=own_rules, only=None
    )
    result = await body_loop.run([_queue_item(item) for item in items])
    held = all(classification in HELD for classification in result.classes)
    return GateResult(passed=held, gating=settings["gating"], cut_off=result.cut_off)


def group_events(inputs: CrossInputs, matcher: Matcher | None) -> tuple[list[FindingGrouped], list[FindingGrouped]]:
    """Return an event for each group of findings (rule B2), and one for each item of the plan body.

    Where the run makes listed calls alone, it is about the findings that these name.
    """
    listed = None if inputs.only is None else {call.finding_id for call in inputs.only}
    findings = [
        FindingGrouped(
            part="findings",
            finding_id=joined.origin.finding_id,
            summary=joined.origin.summary,
            evidence=joined.origin.evidence,
            category=joined.origin.category,
            ticket_ids=tuple(dict.fromkeys(ticket for member in joined.findings for ticket in member.ticket_ids)),
            discoverers=joined.discoverers,
            merged_ids=joined.merged_ids,
            wordings=len({f.summary for f in joined.findings}),
            truth=joined.truth,
        )
        for joined in group(inputs.findings, inputs.analysers, matcher)
        if listed is None or joined.origin.finding_id in listed
    ]
    items = [
        FindingGrouped(
            part=PLAN_BODY,
            finding_id=item.finding_id,
            summary=item.summary,
            evidence=item.evidence,
            category=PLAN_BODY,
            discoverers=(),
            truth=item.truth,
        )
        for item in inputs.plan_items
    ]
    return findings, items


def listed_calls(inputs: CrossInputs) -> ListedCalls | None:
    """Return the only calls that a run makes, by round and worker; None where it makes those that its rules ask for."""
    if inputs.only is None:
        return None
    listed: dict[tuple[int, str], set[str]] = {}
    for call in inputs.only:
        listed.setdefault((call.round, call.worker), set()).add(call.finding_id)
    return {place: frozenset(ids) for place, ids in listed.items()}


def _queue_item(grouped: FindingGrouped) -> QueueItem:
    return QueueItem(grouped.finding_id, grouped.summary, grouped.evidence, grouped.discoverers)


def _class_without_vote(finding: FindingGrouped, roster: Sequence[str], *, enabled: bool) -> Classification | None:
    """Return the class that round 0 gives: found by all, or no votes to come (rules B1-B3); None if votes follow."""
    discoverers, analysers = len(finding.discoverers), len(roster)
    if discoverers == analysers >= 2:
        return "full-consensus"
    if enabled and analysers >= 2:
        return None
    return "partial-consensus" if discoverers > 1 else "worker-unique"


def _round_0(finding: FindingGrouped, classification: Classification) -> FindingClassified:
    return FindingClassified(
        part=finding.part,
        finding_id=finding.finding_id,
        classification=classification,
        rule="round-0",
        round=0,
        final=False,
    )


def _round2_skipped(result: QueueResult, max_rounds: int) -> Round2SkippedReason:
    """Return why round 2 did not run, first reason first (rule B9)."""
    if result.rounds >= 2:
        return "not-skipped"
    if result.final_state == "aborted-non-result":
        return "all-reverify-non-result"
    return "max-rounds-1" if max_rounds == 1 else "queue-empty"
