"""What a static agent is given: the request, the plan as read, the repository's index, and its tools."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from verifyplan.agents.repository.repository import Repository
from verifyplan.agents.static.roles.issues import Issue, Place, raised, ranked, unsaid
from verifyplan.agents.static.roles.known import Known
from verifyplan.agents.static.roles.reading import Reading
from verifyplan.agents.toolbox import Toolbox
from verifyplan.documents import Plan
from verifyplan.protocol.challenge import UNSETTLED, Challenge
from verifyplan.protocol.plan_call import RaisedChallenge, RoleRequest


@dataclass(frozen=True)
class Scene:
    """One call of a role: everything that its agent may look at. Files are opened through `tools` alone."""

    request: RoleRequest
    reading: Reading
    known: Known
    tools: Toolbox

    @property
    def plan(self) -> Plan:
        """The plan as it was read."""
        return self.reading.plan

    @property
    def repository(self) -> Repository:
        """The repository itself: its table of contents may be asked, its texts only through `tools`."""
        return self.known.repository

    @property
    def name(self) -> str:
        """The name under which the plan is cited."""
        return self.request.plan_name

    @cached_property
    def unsettled(self) -> list[Challenge]:
        """The admitted challenges that are OPEN or UNRESOLVED, in order of their ids."""
        return [challenge for challenge in self.request.challenges if challenge.status in UNSETTLED]

    def new(self, issues: list[Issue]) -> list[Issue]:
        """The issues, ranked, that no challenge has stated so far, admitted or not."""
        return unsaid(ranked(issues), (*self.request.challenges, *self.request.overflow))

    def challenge(self, issue: Issue) -> RaisedChallenge:
        """An issue as a challenge to this plan."""
        return raised(issue, self.reading, self.name)

    def line(self, number: int) -> Place:
        """A line of the plan as a place."""
        return Place("", number)
