"""A plan run read by hand: a plain loop over recorded replies under any rules, as the rules' sentences have it.

It knows challenges that are all different, a scaled team, research that finds nothing, and a panel that agrees on every
challenge or refutes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.runs.plan.planning import AGREE, COUNTER, challenge, change, run_of, votes
from verifyplan.protocol.plan_rules import PlanRules
from verifyplan.runs.plan.run import PlanRun

WORST_FIRST = ("BLOCKING", "SIGNIFICANT", "MINOR")
VERDICTS = ("PROCEED", "REVISE", "RETHINK")
SETTLED = ("RESOLVED", "DEFERRED", "WITHDRAWN")
GONE = ("DEFERRED", "WITHDRAWN")

CITED = "see store.py:3"

Raised = tuple[str, bool, str]
"""What is raised: its severity, whether it has an alternative, and its confidence."""
Change = tuple[int, str, bool]
"""A change that a synthesizer asks for: the number of a challenge, the new status, and whether it cites a place."""


@dataclass(frozen=True)
class Iteration:
    """What everybody says in an iteration; None for who fails."""

    challenger: tuple[Raised, ...] | None = ()
    expert: tuple[Raised, ...] | None = ()
    advocate: tuple[Raised, ...] | None = ()
    changes: tuple[Change, ...] | None = ()
    promotions: tuple[int, ...] = ()


@dataclass(frozen=True)
class Story:
    """What everybody would say in each iteration, and on which challenges the panel agrees; None without a panel."""

    iterations: tuple[Iteration, ...]
    held: frozenset[int] | None = frozenset()

    def run(self, **settings: Any) -> PlanRun:
        """Make the run, with agents that say so."""
        script: dict[str, Any] = {}
        for number, said in enumerate(self.iterations, 1):
            roles = {"challenger": said.challenger, "domain-expert": said.expert, "devils-advocate": said.advocate}
            for role, raised in roles.items():
                answer = None if raised is None else [_raised(f"{role}{number}x{i}", *r) for i, r in enumerate(raised)]
                script[f"i{number}/{role}"] = "error" if answer is None else {"challenges": answer}
            changes = [change(f"C{n}", to, CITED if cites else "trust me") for n, to, cites in said.changes or ()]
            asked = {"changes": changes, "promotions": [f"C{n}" for n in said.promotions]}
            script[f"i{number}/synthesizer"] = "error" if said.changes is None else asked
            for worker in (1, 2, 3):
                of_held = {f"C{n}": AGREE for n in self.held or ()}
                script[f"i{number}/panel/r1/panel-{worker}"] = votes(COUNTER, **of_held)
        panel = {} if self.held is not None else {"panel": None}
        return run_of(script, silent=True, on_blocked="continue", **panel, **settings)


def _raised(word: str, severity: str, has_alternative: bool, confidence: str) -> dict[str, Any]:
    more = {} if has_alternative else {"alternative": " "}
    return challenge(word, severity, confidence=confidence, **more)


@dataclass
class _Challenge:
    number: int
    severity: str
    has_alternative: bool
    source: str
    introduced: int
    status: str = "OPEN"
    admitted: int | None = None
    """The iteration in which it came into the pool; None in overflow."""
    overflowed: int | None = None
    voted: int | None = None
    cites: bool = False
    """Whether what settled it cites a place."""


class _OverError(Exception):
    """The run is over: how, and with which verdict or at which missing call."""


@dataclass
class Reading:
    """Reads a story by hand under rules, as far as the recorded calls reach."""

    story: Story
    rules: PlanRules
    recorded: Mapping[str, tuple[str, ...]]
    """The challenges that each recorded call asked about, by call id."""
    known: dict[int, _Challenge] = field(default_factory=dict)
    waiting: list[int] = field(default_factory=list)
    """Challenges in overflow, in the order in which they came there."""
    calls: int = 0
    failures: int = 0
    iteration: int = 0
    tightened: bool = False
    answered: bool = False

    def ending(self) -> tuple[str, str]:
        """Return `censored` and the first call that is missing, or how the run ends and its verdict in words."""
        try:
            while True:
                self._iterate()
        except _OverError as over:
            how, what = over.args
            return how, what

    def _call(self, role: str, *, fails: bool = False) -> None:
        name = f"i{self.iteration}/{role}"
        if name not in self.recorded:
            raise _OverError("censored", name)
        self.calls += not fails
        self.failures += fails

    def _check_failures(self) -> None:
        if self.failures >= self.rules.exit_failures:
            raise _OverError("failures", "no verdict")

    def settled(self, *, cites: bool) -> int:
        """Return how many challenges of the pool are settled, with a citation or without."""
        return sum(each.status in SETTLED and each.cites == cites for each in self._pool)

    @property
    def _pool(self) -> list[_Challenge]:
        return [each for each in self.known.values() if each.admitted is not None]

    @property
    def _active(self) -> int:
        return sum(each.status not in GONE for each in self._pool)

    def _cap(self, source: str) -> int:
        rules = self.rules
        if source == "challenger":
            calm = rules.first_challenger_cap if self.iteration == 1 else rules.later_challenger_cap
            return rules.tight_challenger_cap if self.tightened else calm
        return rules.expert_cap if source == "domain-expert" else rules.advocate_cap

    def _room(self, source: str) -> int:
        return self._cap(source) - sum(e.source == source and e.admitted == self.iteration for e in self._pool)

    def _ranked(self, numbers: list[int]) -> list[int]:
        if self.rules.admission == "arrival":
            return list(numbers)
        return sorted(numbers, key=lambda n: WORST_FIRST.index(self.known[n].severity))

    def _admit(self, number: int) -> None:
        self.known[number].admitted = self.iteration
        if number in self.waiting:
            self.waiting.remove(number)

    def _overflow(self, number: int) -> None:
        self.known[number].admitted, self.known[number].overflowed = None, self.iteration
        self.waiting.append(number)

    def _take_in(self, source: str, raised: tuple[Raised, ...]) -> None:
        new = []
        for severity, has_alternative, confidence in raised:
            bars = self.rules.advocate_bars if source == "devils-advocate" else ()
            if ("MINOR" in bars and severity == "MINOR") or ("LOW" in bars and confidence == "LOW"):
                continue
            number = len(self.known) + 1
            self.known[number] = _Challenge(number, severity, has_alternative, source, self.iteration)
            new.append(number)
        limit = self._room(source)
        room = max(0, min(limit, self.rules.max_active - self._active))
        admitted = self._ranked(new)[:room]
        left = [number for number in new if number not in admitted]
        fresh = [
            e.number for e in self._pool if e.introduced == self.iteration and e.status == "OPEN" and e.voted is None
        ]
        gives_way = self._displaced(fresh, left, limit - len(admitted)) if self.rules.displacement else {}
        for number in new:
            if number in gives_way:
                self._overflow(gives_way[number])
            if number in admitted or number in gives_way:
                self._admit(number)
            else:
                self._overflow(number)

    def _displaced(self, fresh: list[int], left: list[int], most: int) -> dict[int, int]:
        """Return which challenges of this iteration give way to which that did not fit."""

        def rank(number: int) -> int:
            return WORST_FIRST.index(self.known[number].severity)

        pairs = zip(sorted(fresh, key=rank)[::-1], sorted(left, key=rank)[: max(0, most)], strict=False)
        return {into: out for out, into in pairs if rank(into) < rank(out)}

    def _promote(self, number: int) -> None:
        each = self.known.get(number)
        if number not in self.waiting or each is None or each.overflowed == self.iteration:
            return
        if self._room(each.source) > 0 and self._active < self.rules.max_active:
            self._admit(number)

    def _challenge(self, said: Iteration) -> None:
        self._call("challenger", fails=said.challenger is None)
        self._check_failures()
        if said.challenger is not None:
            self.answered = True
            self._take_in("challenger", said.challenger)
        if self.iteration == 1 or self.rules.later_consults == "always":
            speakers = {"domain-expert": said.expert, "devils-advocate": said.advocate}
            for role, raised in speakers.items():
                self._call(role, fails=raised is None)
            self._check_failures()
            for role, raised in speakers.items():
                if raised is not None:
                    self._take_in(role, raised)

    def _vote(self) -> None:
        asked = [each for each in self._pool if each.status in ("OPEN", "UNRESOLVED")]
        if self.story.held is None or not asked:
            return
        for worker in (1, 2, 3):
            self._call(f"panel/r1/panel-{worker}")
        for each in asked:
            each.voted = self.iteration

    def _change(self, number: int, status: str, cites: bool) -> None:
        each = self.known.get(number)
        if each is None or each.admitted is None:
            return
        allowed = {"OPEN": (*SETTLED, "UNRESOLVED"), "UNRESOLVED": SETTLED}.get(each.status, ())
        if status not in allowed or (status == "DEFERRED" and each.severity != "MINOR"):
            return
        forbids = self.rules.consensus_forbids
        if status in SETTLED and not cites and self.rules.uncited_settlement == "refuse":
            return
        blocking = each.severity == "BLOCKING" and status == "RESOLVED"
        if each.voted == self.iteration and (
            ("settlement" in forbids and status in SETTLED)
            or ("withdrawal" in forbids and status == "WITHDRAWN")
            or ("uncited-blocking" in forbids and blocking and not cites)
            or ("uncited" in forbids and status in SETTLED and not cites)
        ):
            if f"C{number}" not in self.recorded[f"i{self.iteration}/panel/r1/panel-3"]:
                raise _OverError("censored", f"i{self.iteration}/panel/r1/panel-3")
            if number in (self.story.held or ()):
                return
        each.status, each.cites = status, cites
        if status in SETTLED:
            self.settled_now.add(number)

    def _iterate(self) -> None:
        self.iteration += 1
        self.failures, self.settled_now = 0, set[int]()
        told = dict(enumerate(self.story.iterations, 1))
        said = told.get(self.iteration, Iteration())
        if self.rules.promote_blocking:
            for number in self._ranked([n for n in self.waiting if self.known[n].severity == "BLOCKING"]):
                self._promote(number)
        self._challenge(said)
        if self.iteration == 1 or self.rules.later_research == "always":
            self._call("surface")
            self._call("probe")
        self._vote()
        self._settle(said)
        verdict = self._verdict()
        created = sum(each.admitted == self.iteration for each in self._pool)
        degraded = self.iteration >= 2 and created > len(self.settled_now)
        self.tightened = degraded and self.rules.degradation == "tighten"
        if verdict is None:
            return
        if not self.answered and self.rules.unchallenged == "no-verdict":
            raise _OverError("failures", "no verdict")
        if f"i{self.iteration}/score" in self.recorded:
            self.calls += 2 if said.challenger is not None else 1
        raise _OverError("ruling", verdict)

    def _settle(self, said: Iteration) -> None:
        self._call("synthesizer", fails=said.changes is None)
        if said.changes is None:
            if self.rules.synthesizer_failure == "exit":
                raise _OverError("failures", "no verdict")
            self._check_failures()
            return
        for number, status, cites in said.changes:
            self._change(number, status, cites)
        for number in dict.fromkeys(said.promotions):
            self._promote(number)

    def _verdict(self) -> str | None:
        rules, last = self.rules, self.iteration >= self.rules.max_iterations
        unsettled = [each for each in self._pool if each.status in ("OPEN", "UNRESOLVED")]
        blocking = [each for each in unsettled if each.severity == "BLOCKING"]
        significant = [each for each in unsettled if each.severity == "SIGNIFICANT"]
        if rules.policy == "deliberate" and not last:
            if any(each.status == "UNRESOLVED" for each in blocking):
                return None
            if any(each.status == "OPEN" for each in (*blocking, *significant)):
                return None
        if blocking:
            verdict = "RETHINK" if last else None
        elif len(significant) < rules.revise_from:
            verdict = "PROCEED"
        elif len(significant) < rules.strong_from:
            verdict = "REVISE"
        elif not last and rules.needs_alternatives and not all(each.has_alternative for each in significant):
            verdict = None
        else:
            verdict = "REVISE (strong)"
        blocks = any(self.known[number].severity == "BLOCKING" for number in self.waiting)
        if verdict is None or not blocks:
            return verdict
        if not last and rules.overflow_continues:
            return None
        plain = verdict.removesuffix(" (strong)")
        return verdict if VERDICTS.index(plain) >= VERDICTS.index(rules.overflow_verdict) else rules.overflow_verdict
