"""rules A2-A11 as laws of any plan run: a book kept from the events by code of its own, and what must hold in it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from tests.runs.plan.expected import (
    AGENTS,
    LIKELY,
    MAY_BECOME,
    ON_DIRECTIVE,
    RANK,
    TAGS,
    TOOLS,
    WEIGHTS,
    most,
    source_of,
    table,
)
from verifyplan.protocol.records import IterationState
from verifyplan.protocol.settings import PlanSettings


@dataclass
class Book:
    """The run as this test keeps it; each event is checked against what came before."""

    given: PlanSettings
    iteration: int = 0
    team: str | None = None
    trivial: bool = False
    degraded: bool = False
    """Whether the iteration that is closed made more than it settled."""
    tightened: bool = False
    raised: dict[str, Any] = field(default_factory=dict)
    status: dict[str, str] = field(default_factory=dict)
    admitted: dict[str, int] = field(default_factory=dict)
    overflow: dict[str, int] = field(default_factory=dict)
    arrivals: dict[str, list[tuple[str, bool]]] = field(default_factory=dict)
    unknowns: dict[str, str | None] = field(default_factory=dict)
    affects: dict[str, str | None] = field(default_factory=dict)
    contexts: dict[str, int] = field(default_factory=dict)
    risks: dict[str, Any] = field(default_factory=dict)
    answered: dict[str, int] = field(default_factory=dict)
    moved: dict[str, int] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    classes: dict[str, str] = field(default_factory=dict)
    queued: set[str] = field(default_factory=set)
    voted: set[str] = field(default_factory=set)
    displaced: set[str] = field(default_factory=set)
    usable: set[str] = field(default_factory=set)
    """Calls that replied and did not fail."""
    in_time: bool = True
    """Whether nobody was called in this iteration yet."""
    directives: dict[int, list[Any]] = field(default_factory=dict)
    failures: list[Any] = field(default_factory=list)
    closed: list[IterationState] = field(default_factory=list)
    rulings: list[Any] = field(default_factory=list)
    kinds: Counter[tuple[int, str]] = field(default_factory=Counter)
    people: list[tuple[int, Any]] = field(default_factory=list)
    scored: dict[str, dict[str, int]] = field(default_factory=lambda: {"synthesizer": {}, "challenger": {}})
    disputed: list[str] = field(default_factory=list)
    tokens: int = 0
    calls: set[str] = field(default_factory=set)
    unsettled_at_synthesis: list[str] = field(default_factory=list)
    ended: Any = None

    def take(self, event: Any) -> None:
        assert self.ended is None, f"{event.type} after the end"
        told = getattr(event, "iteration", None)
        assert told in (None, self.iteration) or event.type == "iteration-started"
        handler = getattr(self, event.type.replace("-", "_"), None)
        if handler is not None:
            handler(event)

    @property
    def active(self) -> int:
        return sum(self.status[name] not in ("WITHDRAWN", "DEFERRED") for name in self.admitted)

    @property
    def unsettled(self) -> list[str]:
        return [name for name in self.admitted if self.status[name] in ("OPEN", "UNRESOLVED")]

    def pool(self, without: str | None = None) -> list[tuple[str, str, str]]:
        return [
            (self.raised[name].severity, self.status[name], self.raised[name].alternative)
            for name in self.admitted
            if name != without
        ]

    def plan_assessed(self, event: Any) -> None:
        self.team, self.trivial = event.team, event.trivial

    def iteration_started(self, event: Any) -> None:
        assert event.iteration == self.iteration + 1 <= self.given.max_iterations
        assert len(self.closed) == self.iteration
        assert event.tightened is self.degraded
        self.iteration, self.tightened = event.iteration, event.tightened
        self.voted, self.in_time = set(), True
        self.arrivals, self.classes, self.moved, self.answered = {}, {}, {}, {}
        self.settled, self.queued = set(), set()

    def call_requested(self, event: Any) -> None:
        assert event.call_id not in self.calls
        self.calls.add(event.call_id)
        if self.in_time:
            self.check_promoted()
        self.in_time = False
        parts = event.call_id.split("/")
        assert parts[0] == f"i{self.iteration}"
        limit = self.given.max_tokens
        assert limit is None or self.tokens < limit
        role = parts[1]
        if role == "panel":
            assert self.given.panel is not None
            return
        assert event.worker == AGENTS.get(role, role)
        assert event.worker not in {one.agent for one in self.failures if one.iteration == self.iteration}
        before = [one.directive for one in self.directives.get(self.iteration - 1, [])]
        if role in ("surface", "probe") and self.iteration > 1:
            assert any(one.kind == ON_DIRECTIVE[role][0] for one in before)
        if role in ("domain-expert", "devils-advocate"):
            consulted = any((one.kind, one.role) == ON_DIRECTIVE[role] for one in before)
            assert self.team == "scaled" if self.iteration == 1 else consulted
        if role == "resolver":
            assert any(one not in ("CONFIRMED", "REFUTED") for one in self.unknowns.values())
        if role == "synthesizer":
            self.check_displaced()
            self.unsettled_at_synthesis = self.unsettled
            panel = self.given.panel is not None
            assert set(self.classes) == self.queued == (set(self.unsettled) if panel else set())
        if role in ("score", "audit"):
            assert self.last_word()[1] is not None

    def call_replied(self, event: Any) -> None:
        self.tokens += event.usage.input_tokens + event.usage.output_tokens
        self.usable.add(event.call_id)

    def agent_failed(self, event: Any) -> None:
        assert event.call_id in self.calls
        assert event.reason
        assert event.consequence
        self.failures.append(event)
        self.usable.discard(event.call_id)

    def entry_refused(self, event: Any) -> None:
        assert event.call_id in self.usable
        assert event.reason
        assert event.position >= 1

    def challenge_raised(self, event: Any) -> None:
        new = event.challenge
        assert new.id == f"C{len(self.raised) + 1}"
        assert (new.status, new.resolution, new.iteration_introduced) == ("OPEN", "", self.iteration)
        if new.origin == "devils-advocate":
            assert (new.severity, new.confidence) not in [("MINOR", new.confidence), (new.severity, "LOW")]
        assert event.disputes is None or self.status[event.disputes] in ("RESOLVED", "WITHDRAWN")
        self.raised[new.id], self.status[new.id] = new, "OPEN"
        rank = (RANK[new.severity], LIKELY[event.probability], int(new.id[1:]))
        self.arrivals.setdefault(source_of(new.origin), []).append((new.id, rank))

    def challenge_admitted(self, event: Any) -> None:
        assert event.id not in self.admitted
        assert not event.by_rule or (event.promoted and self.in_time)
        assert not event.by_rule or self.raised[event.id].severity == "BLOCKING"
        if event.promoted:
            assert self.overflow.pop(event.id) < self.iteration
        else:
            assert self.raised[event.id].iteration_introduced == self.iteration
        self.admitted[event.id] = self.iteration
        source = source_of(self.raised[event.id].origin)
        assert self.active <= 8
        assert self.taken(source) <= most(source, self.iteration, self.tightened)

    def taken(self, source: str) -> int:
        now = [name for name, iteration in self.admitted.items() if iteration == self.iteration]
        return sum(source_of(self.raised[name].origin) == source for name in now)

    def check_promoted(self) -> None:
        """rule A3: whatever BLOCKING could come out of overflow came before anybody was called."""
        for name in self.overflow:
            source = source_of(self.raised[name].origin)
            full = self.active >= 8 or self.taken(source) >= most(source, self.iteration, self.tightened)
            assert self.raised[name].severity != "BLOCKING" or full

    def check_displaced(self) -> None:
        """rule A5: nothing waits that is worse than what came beside it, was not looked at, and could give way."""
        useful = ("CONFIRMED", "REFUTED", "PARTIALLY_RESOLVED")
        answered = {self.affects.get(name) for name, how in self.unknowns.items() if how in useful}
        now = [name for name, came in self.admitted.items() if came == self.iteration]
        loose = [n for n in now if self.raised[n].iteration_introduced == self.iteration and n not in answered]
        for name, came in self.overflow.items():
            source = source_of(self.raised[name].origin)
            if came < self.iteration or self.taken(source) >= most(source, self.iteration, self.tightened):
                continue
            assert all(RANK[self.raised[n].severity] <= RANK[self.raised[name].severity] for n in loose)

    def challenge_overflowed(self, event: Any) -> None:
        if event.displaced_by is not None:
            assert self.admitted.pop(event.id) == self.iteration
            assert RANK[self.raised[event.displaced_by].severity] < RANK[self.raised[event.id].severity]
            assert event.id not in self.voted
            assert self.status[event.id] == "OPEN"
            self.displaced.add(event.id)
        assert event.id not in self.admitted
        assert event.id not in self.overflow
        assert self.raised[event.id].iteration_introduced == self.iteration
        assert event.tag == TAGS.get(self.raised[event.id].origin, "DEFERRED_CHALLENGED")
        self.overflow[event.id] = self.iteration

    def promotion_refused(self, event: Any) -> None:
        assert event.reason
        arrived = self.overflow.get(event.id)
        if arrived is not None and arrived < self.iteration:
            source = source_of(self.raised[event.id].origin)
            assert self.active >= 8 or self.taken(source) >= most(source, self.iteration, self.tightened)

    def check_arrivals(self) -> None:
        """Nothing raised is lost, the worst are in, and no room was left while something waited."""
        assert self.admitted.keys() | self.overflow.keys() == self.raised.keys()
        assert not self.admitted.keys() & self.overflow.keys()
        for source, arrived in self.arrivals.items():
            kept = [rank for name, rank in arrived if self.admitted.get(name) == self.iteration]
            left = [rank for name, rank in arrived if name in self.overflow and name not in self.displaced]
            if len([n for n, i in self.admitted.items() if i == self.iteration]) > len(kept):
                continue  # promotions took of the cap
            assert not kept or not left or max(kept) < min(left)
            if left and len(kept) < most(source, self.iteration, self.tightened):
                everyone = [n for n in self.admitted if self.status[n] not in ("WITHDRAWN", "DEFERRED")]
                gone = [n for n in self.admitted if n in self.moved and n not in everyone]
                assert len(everyone) + len(gone) >= 8  # no room, as it was before the synthesizer settled any

    def unknown_listed(self, event: Any) -> None:
        assert event.unknown.id == f"U{len(self.unknowns) + 1}"
        assert event.unknown.affects_challenge is None or event.unknown.affects_challenge in self.raised
        self.unknowns[event.unknown.id] = None
        self.affects[event.unknown.id] = event.unknown.affects_challenge

    def unknown_resolved(self, event: Any) -> None:
        assert self.unknowns[event.id] not in ("CONFIRMED", "REFUTED")
        self.unknowns[event.id], self.answered[event.id] = event.resolution, self.iteration

    def context_surfaced(self, event: Any) -> None:
        assert event.context.id == f"S{len(self.contexts) + 1}"
        self.contexts[event.context.id] = self.iteration
        self.expect_challenge(event.context, event.context.impact == "contradicts_plan")

    def risk_probed(self, event: Any) -> None:
        assert event.risk.id == f"P{len(self.risks) + 1}"
        self.risks[event.risk.id] = event.risk
        self.expect_challenge(event.risk, event.risk.severity != "MINOR")

    def expect_challenge(self, found: Any, must: bool) -> None:
        spawned = found.generates_challenge
        assert not must or spawned is not None
        assert spawned is None or spawned in self.raised or spawned == f"C{len(self.raised) + 1}"

    def vote_cast(self, event: Any) -> None:
        self.voted.add(event.finding_id)

    def finding_queued(self, event: Any) -> None:
        assert event.finding_id in self.unsettled
        self.queued.add(event.finding_id)

    def finding_classified(self, event: Any) -> None:
        assert event.finding_id in self.queued
        assert event.finding_id not in self.classes
        self.classes[event.finding_id] = event.classification

    def allowed(self, name: str, new: str, resolution: str) -> bool:
        severity = self.raised[name].severity if name in self.admitted else None
        held = self.classes.get(name) in ("full-consensus", "partial-consensus")
        known = {*self.raised, *self.unknowns, *self.contexts, *self.risks} - {name}
        ids = set(re.findall(r"\b[CUSP][1-9]\d*\b", resolution.upper()))
        evidence = "[VERIFIED:" in resolution or ".PY:" in resolution.upper() or bool(ids & known)
        return (
            severity is not None
            and new in MAY_BECOME.get(self.status[name], ())
            and (new != "DEFERRED" or severity == "MINOR")
            and bool(resolution.strip())
            and not (held and new == "WITHDRAWN")
            and not (held and new == "RESOLVED" and severity == "BLOCKING" and not evidence)
            and not (new == "RESOLVED" and "user decision" in resolution and not evidence)
        )

    def status_changed(self, event: Any) -> None:
        assert self.status[event.id] == event.old
        if event.by != "user":
            assert self.allowed(event.id, event.new, event.resolution)
        else:
            assert (event.new, self.raised[event.id].severity) == ("RESOLVED", "BLOCKING")
            assert self.people[-1][1].challenge == event.id
        self.status[event.id], self.moved[event.id] = event.new, self.iteration
        if event.new in ("RESOLVED", "WITHDRAWN", "DEFERRED"):
            self.settled.add(event.id)

    def status_refused(self, event: Any) -> None:
        assert event.reason
        assert not self.allowed(event.id, event.new, event.resolution)

    def directive_issued(self, event: Any) -> None:
        assert self.worth(event.directive)
        self.directives.setdefault(self.iteration, []).append(event)

    def directive_refused(self, event: Any) -> None:
        assert event.reason
        assert not self.worth(event.directive)

    def worth(self, directive: Any) -> bool:
        """rule A7, and what CONSULT, GRANT and FOCUS must name."""
        if self.iteration >= self.given.max_iterations:
            return False
        if directive.kind == "CONSULT":
            return directive.role in ("domain-expert", "devils-advocate")
        if directive.kind == "GRANT":
            has = TOOLS.get(directive.role, {})
            return bool(directive.tools) and all(1 <= n <= has.get(tool, 0) for tool, n in directive.tools.items())
        if directive.kind == "FOCUS":
            return bool(directive.note.strip())
        serious = any(self.raised[name].severity != "MINOR" for name in self.unsettled)
        stuck = any(name not in self.settled for name in self.unsettled_at_synthesis)
        return serious and stuck and self.borne_out(directive)

    def borne_out(self, directive: Any) -> bool:
        items = [name for name in directive.items if name in self.admitted]
        match directive.kind, directive.trigger:
            case "RE-SWEEP", "blocking-contradicts-context":
                new = [name for name in items if self.raised[name].iteration_introduced == self.iteration]
                earlier = [name for name in directive.items if self.contexts.get(name, 99) < self.iteration]
                return any(self.raised[name].severity == "BLOCKING" for name in new) and bool(earlier)
            case "RE-SWEEP", "user-changed-scope":
                return any(a.answer == "context" and i >= self.iteration - 1 for i, a in self.people)
            case "RE-PROBE", "new-dependency-chain":
                known = [self.unknowns[name] for name in directive.items if name in self.answered]
                return any(one in ("CONFIRMED", "REFUTED", "PARTIALLY_RESOLVED") for one in known)
            case "RE-PROBE", "unexplored-cascade":
                probed = {risk.generates_challenge for risk in self.risks.values()}
                return any(self.status[name] == "UNRESOLVED" and name not in probed for name in items)
        return False

    def convergence_evaluated(self, event: Any) -> None:
        last = self.iteration >= self.given.max_iterations
        pool = self.pool()
        assert (event.status, event.verdict, event.strong) == table(pool, last, self.given.policy, self.waits_blocking)
        counts = [sum(s == sev and st in ("OPEN", "UNRESOLVED") for s, st, _ in pool) for sev in RANK]
        assert [event.blocking_open, event.significant_open] == counts[:2]
        self.rulings.append(event)

    @property
    def waits_blocking(self) -> bool:
        return any(self.raised[name].severity == "BLOCKING" for name in self.overflow)

    def answer_given(self, event: Any) -> None:
        self.people.append((self.iteration, event))

    def checkpoint(self, event: Any) -> None:
        self.kinds[self.iteration, event.kind] += 1
        if event.kind == "blocked":
            assert self.rulings[-1].status == "BLOCKED"
            assert list(event.items) == [n for n in self.unsettled if self.raised[n].severity == "BLOCKING"]
            assert (event.pause_id is None) is (self.given.on_blocked == "continue")

    def last_word(self) -> tuple[str, str | None, bool]:
        """The ruling that holds: the last one, or what an override makes of it."""
        if self.people and self.people[-1][1].answer == "override":
            return table(self.pool(self.people[-1][1].challenge), True, self.given.policy)
        ruling = self.rulings[-1]
        return ruling.status, ruling.verdict, ruling.strong

    def score_given(self, event: Any) -> None:
        assert 1 <= event.score <= 10
        assert event.evidence.strip()
        assert event.dimension not in self.scored[event.by]
        self.scored[event.by][event.dimension] = event.score

    def score_disputed(self, event: Any) -> None:
        self.disputed.append(event.dimension)

    def iteration_closed(self, event: Any) -> None:
        state = event.state
        assert IterationState.model_validate_json(state.model_dump_json()) == state
        assert state.iteration == self.iteration == len(self.closed) + 1
        short = [(one.id, one.status, one.severity) for one in state.challenges]
        listed = [*self.admitted, *self.overflow]
        assert short == [(name, self.status[name], self.raised[name].severity) for name in listed]
        counts = [sum(s == sev and st in ("OPEN", "UNRESOLVED") for s, st, _ in self.pool()) for sev in RANK]
        assert [state.convergence.blocking_open, state.convergence.significant_open] == counts[:2]
        self.check_arrivals()
        created = sum(iteration == self.iteration for iteration in self.admitted.values())
        self.degraded = self.iteration > 1 and created > len(self.settled)
        before = self.closed[-1].challenges if self.closed else ()
        same = {c.id: c.status for c in before} == {c.id: c.status for c in state.challenges}
        stalled = bool(self.admitted) and same and not created
        broken_off = self.synthesizer_lost() or (self.people and self.people[-1][1].answer == "abort")
        if not broken_off:
            assert self.kinds[self.iteration, "degradation"] == self.degraded
            assert self.kinds[self.iteration, "stall"] == stalled
        self.closed.append(state)

    def synthesizer_lost(self) -> bool:
        return not self.rulings or self.rulings[-1].iteration != self.iteration

    def run_ended(self, event: Any) -> None:
        self.ended = event.outcome
        now = [one for one in self.failures if one.iteration == self.iteration]
        counted = [one for one in now if one.call_id.split("/")[1] not in ("score", "audit")]
        lost = len(counted) > 1 or any(one.call_id.endswith("/synthesizer") for one in counted)
        spent = self.ended.ended_by == "budget"  # it goes before the failures of calls beside it
        assert not spent or self.ended.exit_reason.startswith(("max_tokens: ", "max_cost: "))
        assert (self.ended.ended_by == "failures") is ((lost or self.is_silent()) and not spent)
        if self.ended.ended_by in ("failures", "budget"):
            assert (self.ended.status, self.ended.verdict, self.ended.score) == ("FORCED_EXIT", None, None)
            assert self.ended.exit_reason
        elif self.ended.ended_by == "sizing":
            assert self.trivial
            assert (self.iteration, self.ended.verdict) == (0, "PROCEED")
        elif self.people and self.people[-1][1].answer == "abort":
            assert (self.ended.ended_by, self.ended.status, self.ended.verdict) == ("user", "FORCED_EXIT", None)
        else:
            self.check_verdict()

    def is_silent(self) -> bool:
        """rule A3: it would end by its counts, and no challenger ever gave a usable answer."""
        heard = any(f"i{number}/challenger" in self.usable for number in range(1, self.iteration + 1))
        aborted = bool(self.people) and self.people[-1][1].answer == "abort"
        by_counts = bool(self.rulings) and self.rulings[-1].iteration == self.iteration and not aborted
        return not heard and by_counts and self.last_word()[1] is not None

    def check_verdict(self) -> None:
        status, verdict, strong = self.last_word()
        verdict = "REVISE" if self.waits_blocking and verdict == "PROCEED" else verdict
        assert verdict is not None
        assert (self.ended.status, self.ended.verdict, self.ended.strong) == (status, verdict, strong)
        assert (self.ended.overridden is not None) is (self.ended.ended_by == "user")
        given, audit = self.scored["synthesizer"], self.scored["challenger"]
        both = [name for name in WEIGHTS if name in given and name in audit]
        assert self.disputed == [name for name in both if abs(given[name] - audit[name]) >= 2]
        if len(given) == 6:
            exact = sum(Decimal(WEIGHTS[name]) * given[name] for name in WEIGHTS) / 100
            assert self.ended.score == int(exact.quantize(Decimal(1), ROUND_HALF_UP))
        else:
            assert self.ended.score is None
        assert self.closed[-1].quality_score == self.ended.score
