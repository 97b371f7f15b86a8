"""The turns of a debate: architect and builder are asked in order, until a rule ends it (part C of the rules)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from verifyplan.agents.base import Backend
from verifyplan.engine.calls import Caller
from verifyplan.engine.drive import Step, drive_loop, no_step
from verifyplan.errors import MessageError
from verifyplan.protocol.event_cross import MessagePublished
from verifyplan.protocol.event_run import (
    CallFailed,
    DebateInputs,
    DebateOutcome,
    DebateReason,
    DebateStatus,
    RunEnded,
    RunStarted,
)
from verifyplan.protocol.message import BudgetTrace, Message, MessageType, check_answer, check_message
from verifyplan.protocol.role_call import ArchitectAnswer, BuilderAnswer, DebateRequest
from verifyplan.rules.answers import parse_answer
from verifyplan.rules.budgets import OTHERS
from verifyplan.rules.debate import ROLE_OF_TYPE, DebateRuling, asked_for, call_id, closing, ruling
from verifyplan.runlog.debate_state import DebateState
from verifyplan.runlog.recorder import Recorder


def drive_debate(
    started: RunStarted, backend: Backend | None, recorder: Recorder, progress: bool | None = None
) -> None:
    """Drive a debate until it ends, from nothing or from what `recorder` holds of it, and show its progress.

    CensoredError where there is no backend and a reply is missing.
    """
    loop = partial(run_debate_loop, started, backend, recorder)
    drive_loop(loop, backend, recorder, "debating", progress=progress)


def debate_request(
    inputs: DebateInputs, turn: int = 1, kind: MessageType = "propose", diff: str = "", messages: Sequence[Message] = ()
) -> DebateRequest:
    """Return the request of a call, by default the first of a debate, with what was said and written until then."""
    return DebateRequest(
        call_id=call_id(turn, kind),
        role=ROLE_OF_TYPE[kind],
        type=kind,
        turn=turn,
        max_turns=inputs.max_turns,
        task=inputs.task,
        documents=inputs.documents,
        challenges=inputs.challenges,
        diff=diff,
        messages=tuple(messages),
        tools=OTHERS,
    )


async def run_debate_loop(
    started: RunStarted, backend: Backend | None, recorder: Recorder, step: Step = no_step
) -> None:
    """Run a debate turn by turn until a rule ends it; its events go to `recorder`."""
    inputs, state = started.debate, DebateState()
    caller = Caller(backend, recorder, inputs.limits, inputs.timeout, state.add)
    caller.emit(started)
    await DebateLoop(state, caller, step).run()


class BrokenOffError(Exception):
    """The debate ends without a status: an agent failed, or a limit of the run is reached."""

    def __init__(self, reason: DebateReason, message: str) -> None:
        super().__init__(message)
        self.reason: DebateReason = reason


@dataclass
class DebateLoop:
    """The turns of one debate (rule C2); all state is in the fold of the events."""

    state: DebateState
    caller: Caller
    step: Step

    async def run(self) -> None:
        """Hold turn by turn until a rule ends the debate; a call that fails ends it at once, and is not made again."""
        turn, message, ended = 0, "", None
        status: DebateStatus | None = None
        try:
            while ended is None:
                turn += 1
                ended = await self._turn(turn)
            status, reason = ended.status, ended.reason
        except BrokenOffError as error:
            reason, message = error.reason, str(error)
        outcome = DebateOutcome(status=status, reason=reason, turns=turn, diff=self.state.diff, exit_reason=message)
        self.caller.emit(RunEnded(outcome=outcome))

    async def _turn(self, turn: int) -> DebateRuling | None:
        """Hold one turn; return how it ends the debate, or None if it does not."""
        max_turns, before = self.state.inputs.max_turns, self.state.diff
        opening, implement, verify = asked_for(turn)
        await self._ask(turn, opening)
        await self._ask(turn, implement)
        stagnant = ruling(turn, max_turns, before, self.state.diff)
        if stagnant is not None:
            self._publish(closing(turn))
            return stagnant
        verification = await self._ask(turn, verify)
        return ruling(turn, max_turns, before, self.state.diff, verification.content)

    async def _ask(self, turn: int, kind: MessageType) -> Message:
        """Make one call and publish the message that answers it, with its usage where a model was called (rule C4)."""
        request = debate_request(self.state.inputs, turn, kind, self.state.diff, self.state.messages)
        if refusal := self.caller.refusal(request.call_id):
            raise BrokenOffError("BUDGET", refusal)
        [result] = await self.caller.call_all([request])
        self.step()
        if isinstance(result, CallFailed):
            reason: DebateReason = "BUDGET" if result.status == "budget" else "AGENT_FAILED"
            raise BrokenOffError(reason, f"{result.call_id}: {result.status}: {result.reason}")
        answer = parse_answer(BuilderAnswer if request.role == "builder" else ArchitectAnswer, result.value)
        if isinstance(answer, str):
            try:
                check_answer(result.value, request.role)
            except MessageError as error:
                answer = str(error)
            raise BrokenOffError("AGENT_FAILED", f"{result.call_id}: {answer}")
        usage = result.usage
        message = Message(
            role=request.role,
            type=kind,
            content=answer.content,
            turn=turn,
            reasons=answer.reasons,
            evidence=answer.evidence,
            risks=answer.risks,
        )
        if usage.total:
            trace = BudgetTrace(inputTokens=usage.total_input, outputTokens=usage.output_tokens)
            message = message.model_copy(update={"budgetTrace": trace})
        self._publish(message, answer.diff if isinstance(answer, BuilderAnswer) else None)
        return message

    def _publish(self, message: Message, diff: str | None = None) -> None:
        check_message(message.as_json())
        self.caller.emit(MessagePublished(message=message, diff=diff))
