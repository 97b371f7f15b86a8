"""Call the agents of a plan run that is under way, and keep its state (rules A11, A12, G1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from verifyplan.engine.calls import Caller
from verifyplan.engine.drive import Step, no_step
from verifyplan.protocol.call import TOOLS
from verifyplan.protocol.event import Event
from verifyplan.protocol.event_plan import AgentFailed, CeilingPassed, EntryRefused
from verifyplan.protocol.event_run import CallFailed, CallReplied, PlanOutcome
from verifyplan.protocol.plan_rules import PlanRules
from verifyplan.protocol.records import ANSWERED, Directive, Origin
from verifyplan.protocol.role_call import (
    AGENT_OF_ROLE,
    ANSWER_OF_ROLE,
    Moved,
    PanelResult,
    PanelVote,
    Role,
    RoleAnswer,
    RoleRequest,
    rules_of_role,
)
from verifyplan.protocol.settings import PlanSettings
from verifyplan.rules.answers import parse_answer, read_entries
from verifyplan.rules.budgets import Budget, budget_of, passed_ceilings
from verifyplan.rules.guards import cap, source_of
from verifyplan.runlog.plan_state import PlanState
from verifyplan.runlog.recorder import Result
from verifyplan.runs.plan.pauses import PauseHandler

ORIGIN_OF_ROLE: dict[Role, Origin] = {
    "challenger": "challenger",
    "domain-expert": "domain-expert",
    "devils-advocate": "devils-advocate",
    "surface": "surfaced",
    "probe": "probed",
}

CONSEQUENCES: dict[Role, str] = {
    "challenger": "no new challenges; the earlier ones are carried forward",
    "resolver": "every unknown that was asked is UNRESOLVABLE",
    "surface": "research unavailable",
    "probe": "research unavailable",
    "domain-expert": "skipped",
    "devils-advocate": "skipped",
    "synthesizer": "the run ends with what there is",
    "score": "no final score",
    "audit": "the scores were not audited",
}
"""The consequence of an agent's missing answer (rule A11)."""

AFTER_THE_VERDICT: tuple[Role, ...] = ("score", "audit")
"""Calls made when the verdict is settled: their failure takes nothing from it."""


class RunOverError(Exception):
    """Ends the run at once, with an outcome."""

    def __init__(self, outcome: PlanOutcome) -> None:
        super().__init__(outcome.exit_reason)
        self.outcome = outcome


@dataclass
class ActiveRun:
    """The state and the calls that every part of the loop shares."""

    state: PlanState
    caller: Caller
    step: Step = no_step
    pause_handler: PauseHandler | None = None
    """Answers pauses; None where nobody does."""

    @property
    def settings(self) -> PlanSettings:
        """The settings of the run."""
        return self.state.inputs.settings

    @property
    def rules(self) -> PlanRules:
        """The rules that decide the run."""
        return self.state.inputs.settings.rules

    def emit(self, event: Event) -> None:
        """Emit an event; the state holds it, and it is on disk, when this returns."""
        self.caller.emit(event)

    def record(self, event: Callable[..., Event], **fields: Any) -> None:
        """Emit an event of the present iteration."""
        self.emit(event(iteration=self.state.iteration, **fields))

    async def call(self, *roles: Role) -> list[RoleAnswer | None]:
        """Call the agents that play these roles, at once, and return an answer each, None for one that failed.

        An agent that failed in this iteration is not called again in it. RunOverError where, by the neutral rules, a
        second call of the iteration or the synthesizer fails, or where the tokens or dollars are used up before or
        within a call.
        """
        callable_roles = [role for role in roles if not self.has_failed(role)]
        if callable_roles:
            self.check_usage(self.call_id(callable_roles[0]), callable_roles[0])
        results = await self.caller.call_all([self.request(role) for role in callable_roles])
        answers = {role: self._read(role, result) for role, result in zip(callable_roles, results, strict=True)}
        if not set(callable_roles) <= set(AFTER_THE_VERDICT):
            self.check_overrun()
        after_verdict = tuple(f"/{role}" for role in AFTER_THE_VERDICT)
        failed = [failure for failure in self._failures() if not failure.call_id.endswith(after_verdict)]
        unsettled = "synthesizer" in callable_roles and self.has_failed("synthesizer")
        if len(failed) >= self.rules.exit_failures or (unsettled and self.rules.synthesizer_failure == "exit"):
            reason = "; ".join(f"{failure.agent} failed ({failure.reason})" for failure in failed)
            raise RunOverError(PlanOutcome(ended_by="failures", status="FORCED_EXIT", verdict=None, exit_reason=reason))
        return [answers.get(role) for role in roles]

    def has_failed(self, role: Role) -> bool:
        """Return whether the agent that plays this role failed in this iteration."""
        return any(failure.agent == AGENT_OF_ROLE[role] for failure in self._failures())

    def _failures(self) -> list[AgentFailed]:
        """Return the failures of this iteration."""
        return [failure for failure in self.state.failures if failure.iteration == self.state.iteration]

    def _read(self, role: Role, result: Result) -> RoleAnswer | None:
        """Return the answer that a result holds; record what of it is refused, or that the agent failed."""
        self.step()
        self._check_ceilings(role, result)
        call_id, agent = result.call_id, AGENT_OF_ROLE[role]
        reason = f"{result.status}: {result.reason}" if isinstance(result, CallFailed) else ""
        if isinstance(result, CallReplied):
            schema: type[BaseModel] = ANSWER_OF_ROLE[role]
            read = read_entries(schema, result.value)
            if read is not None:
                for entry in read.refused:
                    self.record(EntryRefused, call_id=call_id, agent=agent, **entry._asdict())
                return read.answer  # type: ignore[no-any-return]  # the schema of the role is one of the answers
            reason = str(parse_answer(schema, result.value))
        consequence = CONSEQUENCES[role]
        if role == "synthesizer" and self.rules.synthesizer_failure == "carry":
            consequence = "nothing is settled in this iteration"
        self.record(AgentFailed, call_id=call_id, agent=agent, reason=reason, consequence=consequence)
        return None

    def _check_ceilings(self, role: Role, result: Result) -> None:
        """Record where a backend reports more tool calls than the role had: its own tools did not refuse them."""
        budget, used = self.tool_budget(role), Counter(use.tool for use in result.tools if not use.refused)
        for tool in passed_ceilings(used, budget):
            self.record(
                CeilingPassed, call_id=result.call_id, role=role, tool=tool, used=used[tool], ceiling=budget.limit(tool)
            )

    def refused_positions(self, call_id: str, field: str) -> list[int]:
        """Return the positions of entries of a list that were refused whole, from 1, in order."""
        refused = [r for r in self.state.refusals if isinstance(r, EntryRefused) and not r.part]
        return [entry.position for entry in refused if (entry.call_id, entry.field) == (call_id, field)]

    def call_id(self, place: str) -> str:
        """Return the id of a call of this iteration."""
        return f"i{self.state.iteration}/{place}"

    def check_usage(self, call_id: str, name: str) -> None:
        """Raise RunOverError if what the run may use is used up before a call, which the reason names so."""
        if refusal := self.caller.refusal(call_id, name):
            raise RunOverError(_over_limit(refusal))

    def check_overrun(self) -> None:
        """Raise RunOverError if a call of this run was broken off, as what the run may use was used up."""
        if self.state.overrun:
            raise RunOverError(_over_limit(self.state.overrun))

    def is_used_up(self, role: Role) -> bool:
        """Return whether what the run may use is used up before an agent is called."""
        return bool(self.state.overrun or self.caller.refusal(self.call_id(role)))

    def request(self, role: Role) -> RoleRequest:
        """Return the request to an agent: all that is known so far, and what the agent may do."""
        state, budget = self.state, self.tool_budget(role)
        assert state.assessed is not None  # noqa: S101  (nobody is called before the plan is read)
        origin = ORIGIN_OF_ROLE.get(role)
        milder = [name for name in self.displaceable() if state.challenges[name].severity != "BLOCKING"]
        room = min(self.room_under_cap(origin), self.rules.max_active - state.active + len(milder)) if origin else 0
        return RoleRequest(
            call_id=self.call_id(role),
            role=role,
            iteration=state.iteration,
            max_iterations=self.settings.max_iterations,
            plan_name=state.inputs.plan_name,
            plan_text=state.inputs.plan_text,
            plan_quality=state.assessed.quality,
            domains=state.assessed.domains,
            challenges=tuple(state.pool),
            overflow=tuple(state.challenges[name] for name in state.overflow),
            evidence={name: raised.evidence for name, raised in state.raised.items()},
            unknowns=tuple(state.unknowns.values()),
            contexts=tuple(state.contexts.values()),
            risks=tuple(state.risks.values()),
            moved=tuple(
                Moved(iteration=m.iteration, challenge=m.id, old=m.old, new=m.new, resolution=m.resolution)
                for m in state.moves
            ),
            panel=self._panel_results(),
            directives=self.directives(),
            user_context=tuple(a.note for a in state.answers.values() if a.answer == "context"),
            unavailable=tuple(failure.consequence for failure in self._failures()),
            may_raise=max(0, room),
            rules=rules_of_role(role, self.rules),
            tools={tool: calls for tool in TOOLS if (calls := budget.limit(tool))},
        )

    def _panel_results(self) -> tuple[PanelResult, ...]:
        """Return the panel's classes and votes of this iteration."""
        state = self.state
        return tuple(
            PanelResult(
                challenge=classified.finding_id,
                classification=classified.classification,
                rule=classified.rule,
                votes=tuple(
                    PanelVote(worker=v.worker, verdict=v.verdict, basis=v.disagree_basis, explanation=v.explanation)
                    for v in state.votes.get((state.iteration, classified.finding_id), ())
                ),
            )
            for (iteration, _), classified in state.classes.items()
            if iteration == state.iteration
        )

    def admitted_now(self, origin: Origin) -> int:
        """Return how many challenges of a source came into the pool in this iteration, promoted ones included."""
        state, source = self.state, source_of(origin)
        now = [name for name, iteration in state.admitted.items() if iteration == state.iteration]
        return sum(source_of(state.challenges[name].origin) == source for name in now)

    def room_under_cap(self, origin: Origin) -> int:
        """Return how many more challenges of a source its cap allows in this iteration."""
        limit = cap(origin, self.state.iteration, tightened=self.state.tightened, rules=self.rules)
        return limit - self.admitted_now(origin)

    def displaceable(self) -> list[str]:
        """Return the challenges of this iteration that nobody has voted on, answered or settled yet, as they came.

        None can be displaced by rules without displacement.
        """
        state = self.state
        if not self.rules.displacement:
            return []
        answered = {u.affects_challenge for u in state.unknowns.values() if u.resolution in ANSWERED}
        return [
            challenge.id
            for challenge in state.pool
            if challenge.iteration_introduced == state.iteration
            and challenge.status == "OPEN"
            and challenge.id not in answered
            and (state.iteration, challenge.id) not in state.votes
        ]

    def tool_budget(self, role: Role) -> Budget:
        """Return the role's tool calls in this iteration, with what the last synthesizer granted."""
        memory = self.state.started is not None and bool(self.state.started.backend.get("memory"))
        return budget_of(role, self.directives(), memory=memory)

    def directives(self) -> tuple[Directive, ...]:
        """Return the directives of the last iteration to this one."""
        return tuple(self.state.directives.get(self.state.iteration - 1, ()))


def _over_limit(reason: str) -> PlanOutcome:
    return PlanOutcome(ended_by="budget", status="FORCED_EXIT", verdict=None, exit_reason=reason)
