"""What all static agents that raise challenges find in a plan, at once and without any cap (SPEC C5, G2)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from verifyplan.agents.static.roles import challenger, devils_advocate, domain_expert, probe, surface
from verifyplan.agents.static.roles.challenges import Cited, read_cited
from verifyplan.agents.static.roles.known import Known
from verifyplan.agents.static.roles.phrases import Statement, read_statement
from verifyplan.agents.static.roles.reading import Reading
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.agents.toolbox import Toolbox
from verifyplan.documents import parse_plan
from verifyplan.documents.assessment import assess
from verifyplan.protocol.call import Tool, ToolUse
from verifyplan.protocol.challenge import Challenge, Severity
from verifyplan.protocol.plan_call import RaisedChallenge, RoleRequest
from verifyplan.rules.budgets import Budget

COUNTED: tuple[Severity, ...] = ("BLOCKING", "SIGNIFICANT")
"""The severities that a verdict depends on (SPEC A3)."""

LONGEST = 100_000
"""Characters of a plan that is looked at; looking at a longer one may take minutes."""

_MOST, _KEPT, _MOST_LOOKED = 50, 8, 500_000
_PER_LOOK: dict[Tool, int] = {"Read": 20, "Grep": 16, "git_log": 1}
"""About what the agents whose looks are repeated may call together (SPEC A12)."""


@dataclass(frozen=True)
class Finding:
    """Something wrong with a plan: what is claimed of it, its line (0 if unknown), and places that speak for it."""

    claim: str
    concern: str
    alternative: str
    severity: Severity
    line: int = 0
    beside: tuple[Cited, ...] = ()

    @property
    def statement(self) -> Statement | None:
        """What the claim states, in the words of the static agents; None for words of others."""
        return read_statement(self.claim)

    @property
    def key(self) -> Statement | str:
        """By this it is known again, in another state of the plan."""
        return self.statement or self.claim


class Look(NamedTuple):
    """One state of a plan, and all that is raised against it: BLOCKING and SIGNIFICANT, each statement once."""

    reading: Reading
    findings: tuple[Finding, ...]
    uses: tuple[ToolUse, ...]


class Inspector:
    """Looks at states of one plan, beside one repository; each look has a budget of tool calls of its own.

    Looks are kept for the calls that follow. What a call may look at is limited, and does not depend on what was kept.
    """

    def __init__(self, known: Known, name: str) -> None:
        self._known = known
        self._name = name
        self._kept: OrderedDict[str, Look] = OrderedDict()
        self._seen: dict[str, tuple[ToolUse, ...]] = {}
        self._boxes: list[Toolbox] = []

    def begin(self) -> None:
        """A new call: its tool calls are counted anew."""
        self._seen, self._boxes = {}, []

    @property
    def tired(self) -> bool:
        """Whether this call has looked at as much as it may."""
        return sum(map(len, self._seen)) > _MOST_LOOKED

    @property
    def uses(self) -> tuple[ToolUse, ...]:
        """The tool calls behind this call, each once."""
        all_uses = [
            *(one for uses in self._seen.values() for one in uses),
            *(u for box in self._boxes for u in box.uses),
        ]
        return tuple({(one.tool, one.argument): one for one in all_uses}.values())

    def look(self, text: str) -> Look:
        """What the agents raise against a text; nothing against one of more than 100,000 characters."""
        found = self._kept.pop(text, None) or self._looked(text)
        self._kept[text] = found
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        self._seen[text] = found.uses
        return found

    def scene(self, reading: Reading) -> Scene:
        """What the agents are given: the plan as it stands, of which nobody has said anything yet, and tools."""
        self._boxes.append(self._toolbox(reading.plan.text))
        return self._scene(reading, self._boxes[-1])

    def _looked(self, text: str) -> Look:
        reading = Reading(parse_plan(text if len(text) <= LONGEST else "", self._name))
        if len(text) > LONGEST:
            return Look(reading, (), ())
        tools = self._toolbox(text)
        raised = _raised(self._scene(reading, tools))
        found = [self._finding(one) for one in raised if one.severity in COUNTED]
        return Look(reading, tuple({one.key: one for one in reversed(found)}.values())[::-1], tuple(tools.uses))

    def _toolbox(self, text: str) -> Toolbox:
        return Toolbox(self._known.repository, {self._name: text}, Budget(limits=_PER_LOOK))

    def _scene(self, reading: Reading, tools: Toolbox) -> Scene:
        assessment = assess(reading.plan)
        request = RoleRequest(
            call_id="inspection",
            role="challenger",
            iteration=1,
            max_iterations=1,
            plan_name=self._name,
            plan_text=reading.plan.text,
            plan_quality=assessment.quality,
            domains=assessment.domains,
            may_raise=_MOST,
        )
        return Scene(request, reading, self._known, tools)

    def _finding(self, raised: RaisedChallenge) -> Finding:
        cited = read_cited(raised.evidence)
        line = next((one.first for one in cited if one.path == self._name), 0)
        beside = tuple(one for one in cited if (one.path, one.first) != (self._name, line))
        return Finding(raised.claim, raised.concern, raised.alternative, raised.severity, line, beside)


def _raised(scene: Scene) -> Iterator[RaisedChallenge]:
    yield from challenger.answer(scene).challenges
    yield from domain_expert.answer(scene).challenges
    yield from devils_advocate.answer(scene).challenges
    yield from (one.challenge for one in surface.answer(scene).contexts if one.challenge is not None)
    yield from (one.challenge for one in probe.answer(scene).risks if one.challenge is not None)


def sought(challenge: Challenge, found: Iterable[Finding]) -> Finding:
    """The finding that says what a challenge says; where there is none, the challenge alone, without a line."""
    own = Finding(challenge.claim, challenge.concern, challenge.alternative, challenge.severity)
    return next((one for one in found if one.key == own.key), own)
