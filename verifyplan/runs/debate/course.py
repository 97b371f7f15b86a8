"""The course of a debate: architect and builder are asked in turn, each message is checked and published (rule C2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from verifyplan.engine.calls import Caller
from verifyplan.engine.dispatch import parse_answer
from verifyplan.protocol.call import Usage
from verifyplan.protocol.debate_call import ArchitectAnswer, BuilderAnswer, DebateRequest
from verifyplan.protocol.event import Sink
from verifyplan.protocol.event_debate import MessagePublished
from verifyplan.protocol.event_run import CallFailed, CallReplied, DebateOutcome, DebateReason, DebateStatus, RunEnded
from verifyplan.protocol.message import BudgetTrace, Message, MessageType
from verifyplan.protocol.message_schema import MessageError, check_answer, check_message
from verifyplan.rules.budgets import OTHERS
from verifyplan.rules.debate import ROLE_OF_TYPE, Ruling, asked_for, call_id, closing, ruling
from verifyplan.runlog.debate_state import DebateState


class BrokenOffError(Exception):
    """The debate ends without a status: an agent failed, or a budget is used up."""

    def __init__(self, reason: DebateReason, told: str) -> None:
        super().__init__(told)
        self.reason: DebateReason = reason


@dataclass
class DebateLoop:
    """What the turns of one debate share; all state is in the fold of the events."""

    state: DebateState
    caller: Caller
    emit: Sink
    step: Callable[[], None] = lambda: None
    """Called when a call is over, for progress."""

    async def run(self) -> None:
        """Ask turn by turn until a rule ends the debate; a call that fails ends it at once, and is not made again."""
        turn = 1
        try:
            while (ended := await self._turn(turn)) is None:
                turn += 1
        except BrokenOffError as error:
            self._end(turn, None, error.reason, str(error))
        else:
            self._end(turn, ended.status, ended.reason)

    async def _turn(self, turn: int) -> Ruling | None:
        """One turn; how it ends the debate, or None if it does not."""
        most, before = self.state.inputs.max_turns, self.state.diff
        opening, implement, verify = asked_for(turn)
        await self._ask(turn, opening)
        await self._ask(turn, implement)
        stagnant = ruling(turn, most, before, self.state.diff)
        if stagnant is not None:
            self._publish(closing(turn))
            return stagnant
        verification = await self._ask(turn, verify)
        return ruling(turn, most, before, self.state.diff, verification.content)

    async def _ask(self, turn: int, kind: MessageType) -> Message:
        """Make one call and publish the message that answers it."""
        request = self._request(turn, kind)
        if refused := self.caller.ledger.refusal(request.call_id):
            raise BrokenOffError("BUDGET", refused)
        [result] = await self.caller.call_all([request])
        self.step()
        if isinstance(result, CallFailed):
            reason: DebateReason = "BUDGET" if result.status == "budget" else "AGENT_FAILED"
            raise BrokenOffError(reason, f"{result.call_id}: {result.status}: {result.reason}")
        answer = self._answer(request, result)
        message = _message(request, answer, result.usage)
        self._publish(message, answer.diff if isinstance(answer, BuilderAnswer) else None)
        return message

    def _request(self, turn: int, kind: MessageType) -> DebateRequest:
        """What a role is told: the task, and all that was said so far."""
        inputs = self.state.inputs
        return DebateRequest(
            call_id=call_id(turn, kind),
            role=ROLE_OF_TYPE[kind],
            type=kind,
            turn=turn,
            max_turns=inputs.max_turns,
            task=inputs.task,
            documents=inputs.documents,
            challenges=inputs.challenges,
            diff=self.state.diff,
            messages=tuple(self.state.messages),
            tools=OTHERS,
        )

    def _answer(self, request: DebateRequest, result: CallReplied) -> ArchitectAnswer:
        answer = parse_answer(BuilderAnswer if request.role == "builder" else ArchitectAnswer, result.value)
        if not isinstance(answer, str):
            return answer
        try:
            check_answer(result.value, request.role)
        except MessageError as error:
            raise BrokenOffError("AGENT_FAILED", f"{result.call_id}: {error}") from None
        raise BrokenOffError("AGENT_FAILED", f"{result.call_id}: {answer}")

    def _publish(self, message: Message, diff: str | None = None) -> None:
        check_message(message.as_json())
        self.emit(MessagePublished(message=message, diff=diff))

    def _end(self, turn: int, status: DebateStatus | None, reason: DebateReason, exit_reason: str = "") -> None:
        diff = self.state.diff
        outcome = DebateOutcome(status=status, reason=reason, turns=turn, diff=diff, exit_reason=exit_reason)
        self.emit(RunEnded(outcome=outcome))


def _message(request: DebateRequest, answer: ArchitectAnswer, usage: Usage) -> Message:
    """The message that an answer makes; with what it cost, where a model was called (rule C4)."""
    trace = BudgetTrace(inputTokens=usage.total_input, outputTokens=usage.output_tokens)
    message = Message(
        role=request.role,
        type=request.type,
        content=answer.content,
        turn=request.turn,
        reasons=answer.reasons,
        evidence=answer.evidence,
        risks=answer.risks,
    )
    return message.model_copy(update={"budgetTrace": trace}) if usage.total else message
