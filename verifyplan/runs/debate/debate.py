"""`debate`: architect and builder settle a change turn by turn, from the arguments to the run (part C of the rules)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from verifyplan.agents.base import Backend
from verifyplan.engine.calls import Caller
from verifyplan.engine.emitter import Emitter
from verifyplan.engine.run_async import run_async
from verifyplan.engine.usage_limit import UsageLimit
from verifyplan.errors import InputError, MessageError, Problems
from verifyplan.progress import progress as progress_bar
from verifyplan.protocol.event import Sink
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
from verifyplan.protocol.records import Challenge
from verifyplan.protocol.role_call import ArchitectAnswer, BuilderAnswer, DebateRequest
from verifyplan.repository.repository import Repository
from verifyplan.rules.answers import parse_answer
from verifyplan.rules.budgets import OTHERS
from verifyplan.rules.debate import MAX_TURNS, ROLE_OF_TYPE, DebateRuling, asked_for, call_id, closing, ruling
from verifyplan.runlog.debate_state import DebateState
from verifyplan.runlog.recorder import Recorder
from verifyplan.runs.arguments import (
    check_booleans,
    check_counts,
    check_log_dir,
    check_timeout,
    read_folder,
    read_limits,
)
from verifyplan.runs.backends import check_affordable
from verifyplan.runs.debate.arguments import read_challenges, read_documents, read_task
from verifyplan.runs.debate.pair import backend_of_roles
from verifyplan.runs.debate.run import Debate
from verifyplan.runs.say_waits import say_waits
from verifyplan.runs.start import describe_repository, driven, open_log, start_event

LOG_STEM = "debate"
"""The name of a debate's log, before its number."""

MAX_TITLE_CHARACTERS = 100
"""Characters of the task's first line that name the run."""


@dataclass(frozen=True)
class PreparedDebate:
    """A debate whose arguments were read; nothing is written and no agent is called before it is driven."""

    started: RunStarted
    """Its first event, with its settings and inputs."""
    backend: Backend
    """Who plays both roles, made for the folder."""
    log_dir: str | Path | None
    """The folder of its log; None writes nothing."""
    sink: Sink | None = None
    progress: bool | None = None

    def drive(self) -> Debate:
        """Drive the debate to its end, and write its log."""
        with open_log(self.log_dir, LOG_STEM, self.sink) as log:
            drive_debate(self.started, self.backend, log.recorder, self.progress)
        return Debate(log.recorder.finished(), log.path, log.run_id)


# `driven` drives what this body prepares: callers get a Debate, as the docstring says.
@driven(Debate)
def debate(
    task: str | Path,
    architect: Backend | None = None,
    builder: Backend | None = None,
    max_turns: int = MAX_TURNS,
    *,
    repo: str | Path = ".",
    documents: Mapping[str, str] | None = None,
    challenges: Sequence[Challenge] = (),
    timeout: float | None = 600.0,
    max_tokens: int | None = None,
    max_cost: Decimal | str | float | None = None,
    repetition: int = 1,
    log_dir: str | Path | None = "runs",
    sink: Sink | None = None,
    progress: bool | None = None,
    synthetic: bool = False,
) -> PreparedDebate:
    r"""Let an architect and a builder settle a change turn by turn: propose or critique, implement, verify.

    It ends by rules alone: the diff is that of the turn before, the architect's verification begins with `Verified`,
    or the turns are used up. Nobody is asked again to change an outcome. Call it from a script or a notebook alike;
    code that awaits calls it through `asyncio.to_thread`. Source: rules C1-C4.

    Args:
        task: what is to be settled, or a `Path` to a file that says it.
        architect: who proposes, criticizes and verifies: `agents.Anthropic`, a `ScriptedBackend`, or any object with
            the methods of `agents.base.Backend`. The static agents write nothing, and play no role here.
        builder: who writes the diff; the architect, where nobody is named.
        max_turns: the last turn, 3 unless you say more here: longer debates drift.
        repo: the folder that the task is about; it is only read, and no diff is applied to it.
        documents: texts under debate beside its files, by the name that a diff gives them.
        challenges: what is open about a plan that is revised.
        timeout: seconds that one call may take; None waits for ever.
        max_tokens: tokens, in and out, after which no call is made and the debate ends without a status.
        max_cost: US dollars after which no call is sent; only with backends that know their prices.
        repetition: which debate of the same task and settings this is, from 1.
        log_dir: the folder of the run log; None writes none, and such a debate cannot be resumed.
        sink: called with each event as it happens; what it raises ends the run.
        progress: whether to show it; by default where somebody can see it.
        synthetic: marks a debate whose task or answers were generated.

    Returns:
        A `Debate`: `.status`, `.reason`, `.turns`, `.diff`, `.log`, `.frames`, `.state`, `.log_path`.

    Raises:
        InputError: for a task, backend, folder or setting that cannot be used, listing all problems.

    >>> from verifyplan.agents.scripted import ScriptedBackend
    >>> script = {"t1/propose": {"content": "Say hello."}, "t1/verify": {"content": "Verified: it does."}}
    >>> script["t1/implement"] = {"content": "Done.", "diff": "--- /dev/null\n+++ b/hello\n@@ -0,0 +1 @@\n+hello\n"}
    >>> both = ScriptedBackend(script)
    >>> print(debate("greet", both, log_dir=None))
    CONVERGED (VERIFIED) in turn 1 of at most 3: greet
    turn 1
      architect proposes: Say hello.
      builder implements (diff of 4 lines): Done.
      architect verifies: Verified: it does.
    """
    problems = Problems()
    text = problems.of(lambda: read_task(task))
    texts = problems.of(lambda: read_documents(documents))
    raised = problems.of(lambda: read_challenges(challenges))
    folder = problems.of(lambda: read_folder(repo, "repo", "the task"))
    pair = problems.of(lambda: backend_of_roles(architect, builder, folder or ".", repetition))
    problems.of(lambda: check_counts(max_turns=max_turns, repetition=repetition))
    problems.of(lambda: check_booleans(synthetic=synthetic))
    problems.of(lambda: check_timeout(timeout))
    limits = problems.of(lambda: read_limits(max_tokens=max_tokens, max_cost=max_cost))
    problems.of(lambda: check_log_dir(log_dir))
    if pair is not None and limits is not None:
        problems.of(lambda: check_affordable(pair, limits))
    if problems or text is None or texts is None or raised is None or folder is None or pair is None or limits is None:
        raise InputError(problems)
    inputs = DebateInputs(
        task=text,
        documents=texts,
        challenges=raised,
        max_turns=max_turns,
        timeout=timeout,
        limits=limits,
        repository=describe_repository(Repository.open(folder)),
    )
    title = text.strip().splitlines()[0].strip()[:MAX_TITLE_CHARACTERS]
    started = start_event(title, inputs, pair, synthetic=synthetic, repetition=repetition)
    return PreparedDebate(started, pair, log_dir, sink, progress)


def drive_debate(
    started: RunStarted, backend: Backend | None, recorder: Recorder, progress: bool | None = None
) -> None:
    """Drive a debate until it ends, from nothing or from what `recorder` holds of it, and show its progress.

    CensoredError where there is no backend and a reply is missing.
    """
    with progress_bar("debating", None, progress) as step:
        recorder.also_hand_to(say_waits(step.say))
        run_async(run_debate_loop(started, backend, recorder, step), backend)


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
    started: RunStarted, backend: Backend | None, recorder: Recorder, step: Callable[[], None] = lambda: None
) -> None:
    """Run a debate turn by turn until a rule ends it; its events go to `recorder`."""
    inputs, state = started.debate, DebateState()
    usage_limit = UsageLimit(inputs.limits)
    emitter = Emitter(recorder, usage_limit.add, state.add)
    emitter.emit(started)
    await DebateLoop(state, Caller(backend, emitter, usage_limit, inputs.timeout), emitter.emit, step).run()


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
    emit: Sink
    step: Callable[[], None] = lambda: None
    """Called when a call is over, for progress."""

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
        self.emit(RunEnded(outcome=outcome))

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
        self.emit(MessagePublished(message=message, diff=diff))
