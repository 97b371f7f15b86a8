"""The two parts of a cross run: the queue of its findings, then that of a plan body's items (rules B2, B10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from verifyplan.engine.calls import Caller
from verifyplan.engine.queue import QueueLoop
from verifyplan.protocol.artifact import FinalState, Round2SkippedReason
from verifyplan.protocol.event import Event, Sink
from verifyplan.protocol.event_cross import FindingClassified, FindingGrouped
from verifyplan.protocol.event_run import CrossInputs, CrossOutcome, RunEnded
from verifyplan.protocol.vote import HELD, Classification


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
