"""List the calls of a run in one case: which roles are called how often, who votes on how much (rules A5-A9, B3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any, Literal

from verifyplan.agents.base import ModelBackend
from verifyplan.engine.queue import ListedCalls
from verifyplan.plans.assessment import assess
from verifyplan.plans.plan import Plan
from verifyplan.protocol.call import Item, WorkerRequest
from verifyplan.protocol.event_cross import FindingGrouped
from verifyplan.protocol.event_run import CrossInputs
from verifyplan.protocol.role_call import Role, RoleRequest, rules_of_role
from verifyplan.protocol.settings import PanelSettings, PlanSettings
from verifyplan.protocol.vote import VERIFICATION_MODE_OF, Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.repository.repository import Repository
from verifyplan.rules.budgets import limits_of
from verifyplan.rules.grouping import Matcher
from verifyplan.rules.guards import cap
from verifyplan.rules.vote_codes import stop_leads
from verifyplan.runs.call_use import (
    ANSWER_TOKENS,
    CASES,
    CHALLENGE_TOKENS,
    CHARACTERS_PER_TOKEN,
    VOTE_TOKENS,
    CallUse,
    Case,
    FileTokens,
    KeptBeginnings,
    PlayedRole,
    call_use,
)
from verifyplan.runs.cross.loop import group_events, listed_calls
from verifyplan.runs.estimated_use import EstimatedUse, use_of_calls
from verifyplan.runs.plan.active_run import ORIGIN_OF_ROLE
from verifyplan.runs.plan.loop import SCALED_ROLES, size_of

CHALLENGE = "claim " * (CHALLENGE_TOKENS * CHARACTERS_PER_TOKEN // len("claim "))
"""Replaces the words of a challenge in what a panel reads."""


BRIEFER: tuple[Role, ...] = ("challenger", *SCALED_ROLES, "resolver", "synthesizer")
"""Who says less after iteration 1, where fewer challenges and unknowns are raised, and fewer are open."""

NEUTRAL_RULES = VotingRules()
"""Those of a plan body: its gate keeps its own (rule B10)."""


class PlanCalls:
    """The calls of a plan run by models, in any case; none for a trivial plan."""

    def __init__(self, plan: Plan, repo: str | Path, settings: PlanSettings, backend: ModelBackend) -> None:
        self._plan, self._settings, self._backend = plan, settings, backend
        self._memory = getattr(backend, "memory", None) is not None
        self._name = Path(plan.path).name or "plan.md"
        self._assessment = assess(plan)
        self._team = size_of(self._assessment, settings)
        self._files = FileTokens.of(file.size for file in Repository.open(repo, plan.text).files.values())

    def iterations(self, case: Case) -> int:
        """Return how many iterations are made; more by the policy `deliberate`, which goes on longer."""
        share = min(2 * case.iterations, 1) if self._settings.policy == "deliberate" else case.iterations
        return max(1, ceil(share * self._settings.max_iterations)) if self._team else 0

    def use(self, case: Case, *, batch: bool) -> EstimatedUse:
        """Return what the run would use."""
        used = use_of_calls(self._calls(case), self._backend.prices, batch=batch, limits=self._settings)
        return replace(used, iterations=self.iterations(case))

    def _calls(self, case: Case) -> Iterator[tuple[PlayedRole, CallUse]]:
        """Yield each call; what was answered so far is the record that later calls read."""
        record, votes, kept = 0, 0, KeptBeginnings()
        for iteration in range(1, self.iterations(case) + 1):
            votes = 0
            for role in self._roles_before_panel(iteration, case):
                use = self._role_call(role, iteration, case, record, kept)
                record += use.answer if case.challenges else 0
                yield role, use
            for use in self._panel(iteration, case).calls(self._backend, case, kept):
                votes += use.answer
                yield "worker", use
            use = self._role_call("synthesizer", iteration, case, record + votes, kept)
            record += use.answer if case.challenges else 0
            yield "synthesizer", use
        if self._team:
            for scorer in ("score", "audit"):
                yield scorer, self._role_call(scorer, self.iterations(case), case, record + votes, kept)

    def _roles_before_panel(self, iteration: int, case: Case) -> Iterator[Role]:
        """Yield the roles of an iteration up to research: who raises challenges, and who looks into them."""
        yield "challenger"
        if self._consults(iteration, case):
            yield from SCALED_ROLES
        if case.challenges:
            yield "resolver"
        if iteration == 1 or _runs_later(self._settings.rules.later_research, case):
            yield "surface"
            yield "probe"

    def _consults(self, iteration: int, case: Case) -> bool:
        """Return whether expert and advocate speak: at first in a scaled team, later as the rules say."""
        consults = self._settings.rules.later_consults
        if iteration > 1 and consults != "always":
            return _runs_later(consults, case)
        return self._team == "scaled" or (iteration > 1 and case.exhaustive)

    def _challenges(self, iteration: int, case: Case) -> int:
        """Return how many challenges a panel votes on: those of the case, as far as the caps of the rules admit them.

        A BLOCKING challenge that is promoted out of overflow comes on top of the caps of its iteration.
        """
        rules = self._settings.rules
        usual = ceil(case.challenges * (self._later_share if iteration > 1 else 1))
        most = rules.max_active if case.exhaustive else min(usual, rules.max_active)
        if iteration > 1 and rules.promote_blocking:
            return most
        expert = rules.expert_cap + rules.advocate_cap
        first = rules.first_challenger_cap + rules.research_cap + (expert if self._consults(1, case) else 0)
        later = rules.later_challenger_cap + rules.research_cap + expert
        return min(most, first + (iteration - 1) * later)

    def first_requests(self) -> Iterator[RoleRequest]:
        """Yield the first request of each role that may be called in the first iteration; none for a trivial plan."""
        if not self._team:
            return
        for role in (*self._roles_before_panel(1, CASES["high"]), "synthesizer", "score", "audit"):
            request, origin = self._role_request(role, 1), ORIGIN_OF_ROLE.get(role)
            room = cap(origin, 1, rules=self._settings.rules) if origin else 0
            tools = {tool: calls for tool, calls in request.tools.items() if tool != "memory_search" or self._memory}
            yield request.model_copy(update={"may_raise": room, "tools": tools})

    def _role_call(self, role: Role, iteration: int, case: Case, record: int, kept: KeptBeginnings) -> CallUse:
        """Return the use of a call: the prompt of a first call, and so many tokens on record."""
        request = self._role_request(role, iteration)
        body = self._backend.first_request(request)
        answer = ANSWER_TOKENS[role]
        if iteration > 1 and role in BRIEFER and not case.exhaustive:
            answer = round(answer * self._later_share)
        return call_use(body, case, answer, record, request.tools, self._files, kept)

    @property
    def _later_share(self) -> float:
        """Return how much of the challenges of iteration 1 a later one raises, if by as much as it may (rule A5)."""
        rules = self._settings.rules
        return min(1.0, rules.later_challenger_cap / max(rules.first_challenger_cap, 1))

    def _role_request(self, role: Role, iteration: int) -> RoleRequest:
        """Return a request of a role, before anything is on record."""
        return RoleRequest(
            call_id=f"i{iteration}/{role}",
            role=role,
            iteration=iteration,
            max_iterations=self._settings.max_iterations,
            plan_name=self._name,
            plan_text=self._plan.text,
            plan_quality=self._assessment.quality,
            domains=self._assessment.domains,
            may_raise=1,
            rules=rules_of_role(role, self._settings.rules),
            tools=limits_of(role),
        )

    def _panel(self, iteration: int, case: Case) -> VoteCalls:
        """Return the votes on an iteration's challenges, which are of usual length and cite lines all over the plan."""
        panel = self._settings.panel or PanelSettings()
        count = self._challenges(iteration, case) if self._settings.panel else 0
        lines = self._plan.text.count("\n") + 1
        items = [
            Item(finding_id=f"C{n + 1}", summary=CHALLENGE, evidence=f"{self._name}:{1 + n * lines // count}")
            for n in range(count)
        ]
        inputs = {
            "mode": panel.mode,
            "verification_mode": VERIFICATION_MODE_OF[panel.mode],
            "documents": {self._name: self._plan.text},
        }
        roster = panel.rules.asked_of(panel.workers)
        place = f"i{iteration}/panel/"
        return VoteCalls(place, inputs, roster, panel.max_rounds, panel.items_per_call, items, {}, panel.rules)


def _runs_later(when: Literal["directive", "always", "never"], case: Case) -> bool:
    """Return whether what rules allow after the first iteration is done: directives come in the exhaustive case."""
    return when == "always" or (when == "directive" and case.exhaustive)


@dataclass(frozen=True)
class VoteCalls:
    """The calls of workers who vote on items, round by round: a panel's challenges, findings, items of a plan body."""

    place: str
    """The part of call ids before the round: `i1/panel/`, or nothing."""
    inputs: Mapping[str, Any]
    """What all requests share: mode, view of the evidence, documents."""
    roster: Sequence[str]
    max_rounds: int
    items_per_call: int | None
    items: Sequence[Item]
    discoverers: Mapping[str, Sequence[str]]
    """Who found an item, and does not vote on it."""
    rules: VotingRules = NEUTRAL_RULES
    """What decides, and who is asked when."""
    only: ListedCalls | None = None
    """The only calls that are made."""

    def rounds(self, case: Case) -> list[int]:
        """Return how many items are voted on in each round."""
        if self.only is not None:
            last = max(number for number, _ in self.only)
            return [
                len({i for (n, _), ids in self.only.items() if n == number for i in ids})
                for number in range(1, last + 1)
            ]
        carried, sizes = self._carried(case), [len(self.items)]
        while sizes[-1] and len(sizes) <= self.max_rounds:
            sizes.append(round(carried * sizes[-1]))
        return sizes[: self.max_rounds] if sizes[-1] else sizes[:-1]

    def _carried(self, case: Case) -> float:
        """Return the share of a round's items that are voted on again: all or none where the rules leave no choice."""
        rules = self.rules
        if rules.asks_all or (isinstance(rules.quorum, int) and rules.quorum > len(self.roster)):
            return 1.0
        return 0.0 if rules.aggregate in ("any-refute", "first-round") and rules.quorum in (0, 1) else case.carried

    def requests(self, case: Case) -> Iterator[WorkerRequest]:
        """Yield the calls of all rounds; the first items represent those that are carried."""
        for number, size in enumerate(self.rounds(case), 1):
            for worker in self.roster:
                items = [item for item in self.items[:size] if worker in self._asked(item, case)]
                if self.only is not None:
                    listed = self.only.get((number, worker), ())
                    items = [item for item in self.items if item.finding_id in listed]
                step = self.items_per_call or max(len(items), 1)
                for first in range(0, len(items), step):
                    yield WorkerRequest(
                        call_id=f"{self.place}r{number}/{worker}",
                        worker=worker,
                        round=number,
                        items=tuple(items[first : first + step]),
                        **self.inputs,
                    )

    def _asked(self, item: Item, case: Case) -> Sequence[str]:
        """Return the workers who are asked about an item in a round, in order, until the rules stop."""
        voters = [worker for worker in self.roster if worker not in self.discoverers.get(item.finding_id, ())]
        if self.rules.stop == "round":
            return voters
        fewest = min(len(voters), *stop_leads(self.rules.stop))
        return voters[: fewest + ceil(case.asked * (len(voters) - fewest))]

    def calls(self, backend: ModelBackend, case: Case, kept: KeptBeginnings) -> Iterator[CallUse]:
        """Yield the use of each call; `kept` is what the run so far left in the cache."""
        for request in self.requests(case):
            yield call_use(backend.first_request(request), case, VOTE_TOKENS * len(request.items), kept=kept)


class CrossCalls:
    """The calls of a cross run by models, in any case: votes on findings, and on the items of a plan body."""

    def __init__(self, inputs: CrossInputs, matcher: Matcher | None, backend: ModelBackend) -> None:
        self._inputs, self._backend = inputs, backend
        block, roster, rules = inputs.settings, inputs.analysers, inputs.rules
        findings, plan_items = group_events(inputs, matcher)
        disputed = [finding for finding in findings if len(finding.discoverers) < len(roster)]
        plan_rounds = (inputs.plan_settings or {}).get("maxRounds", 0)
        votes = self._votes("", disputed, inputs.mode, block["effectiveMaxRounds"])
        self._findings = replace(votes, roster=rules.asked_of(roster), rules=rules, only=listed_calls(inputs))
        self._plan_body = self._votes("p/", plan_items, "collaborative", plan_rounds)

    def use(self, case: Case, *, batch: bool) -> EstimatedUse:
        """Return what the run would use."""
        worker: PlayedRole = "worker"
        queues, kept = (self._findings, self._plan_body), KeptBeginnings()
        calls = [(worker, use) for queue in queues for use in queue.calls(self._backend, case, kept)]
        used = use_of_calls(calls, self._backend.prices, batch=batch, limits=self._inputs.limits)
        return replace(used, rounds=len(self._findings.rounds(case)))

    def requests(self, case: Case) -> Iterator[WorkerRequest]:
        """Yield the calls of all rounds, those on findings first."""
        yield from self._findings.requests(case)
        yield from self._plan_body.requests(case)

    def _votes(self, place: str, grouped: Sequence[FindingGrouped], mode: Mode, rounds: int) -> VoteCalls:
        """Return the votes on these; with fewer than two workers there are none (rule B1)."""
        voting = self._inputs.settings["enabled"] and len(self._inputs.analysers) >= 2
        items = [Item(finding_id=g.finding_id, summary=g.summary, evidence=g.evidence) for g in grouped if voting]
        shared = {"mode": mode, "verification_mode": self._inputs.settings["verificationMode"]}
        found_by = {g.finding_id: g.discoverers for g in grouped}
        return VoteCalls(place, shared, self._inputs.analysers, rounds, self._inputs.items_per_call, items, found_by)
