"""What a static agent is given: the request, the plan as read, the repository and its tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeVar

from verifyplan.agents.static.roles.issues import Issue, Place, cited, new_ones, raised
from verifyplan.agents.static.roles.known import Known
from verifyplan.agents.static.roles.plan_text import PlanText
from verifyplan.agents.tools.toolkit import StaticToolkit
from verifyplan.plans import Plan
from verifyplan.protocol.records import UNSETTLED, Challenge
from verifyplan.protocol.role_call import RaisedChallenge, RoleRequest
from verifyplan.repository.languages import LANGUAGES, PARSED
from verifyplan.repository.records import Outline
from verifyplan.repository.repository import Repository

T = TypeVar("T")
_PLAN_FILE = re.compile(r"(?:^|[/-])PLAN\b.*\.md$")


@dataclass(frozen=True)
class Scene:
    """One call of a role: everything that its agent may look at, and the parts of it that failed."""

    request: RoleRequest
    text: PlanText
    known: Known
    tools: StaticToolkit
    failures: list[str] = field(default_factory=list)

    @property
    def plan(self) -> Plan:
        """The plan as it was read."""
        return self.text.plan

    @property
    def repository(self) -> Repository:
        """The repository itself."""
        return self.known.repository

    @property
    def name(self) -> str:
        """The name under which the plan is cited."""
        return self.request.plan_name

    @cached_property
    def unsettled(self) -> list[Challenge]:
        """The admitted challenges that are OPEN or UNRESOLVED, in order of their ids."""
        return [challenge for challenge in self.request.challenges if challenge.status in UNSETTLED]

    @cached_property
    def _other_plans(self) -> tuple[bool, str]:
        """Whether all plans that this one depends on can be read, and the text of those and of its phase's others."""
        front = self.plan.frontmatter
        depends, phase = front.get("depends_on"), str(front.get("phase") or "")
        wanted = [str(one) for one in depends] if isinstance(depends, list) else []
        paths = [one for one in self.repository.files if _PLAN_FILE.search(one)]
        near = [one for one in paths if phase in one or any(name in one for name in wanted)]
        readable = all(any(name in one for one in near) for name in wanted)
        return readable, self.known.texts(near)

    def other_plan_may_add(self, name: str) -> bool:
        """Whether a plan of the same phase, or one that this one depends on, names it or cannot be read."""
        readable, text = self._other_plans
        return not readable or re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None

    def isolated(self, name: str, part: Callable[[], Iterable[T]]) -> Iterator[T]:
        """What a part of an agent finds; one that raises loses the rest of its own finds and is named in `failures`."""
        try:
            yield from part()
        except Exception as error:  # whatever it is, it must cost the other parts nothing
            self.failures.append(f"{name} failed: {type(error).__name__}: {error}")

    def new(self, issues: Iterable[Issue]) -> list[Issue]:
        """The issues, ranked, that no challenge has stated so far, admitted or not."""
        return new_ones(issues, (*self.request.challenges, *self.request.overflow))

    def at(self, line: int) -> str:
        """A line of the plan as it is cited."""
        return cited(Place("", line), self.name)

    def challenge(self, issue: Issue) -> RaisedChallenge:
        """An issue as a challenge to this plan."""
        return raised(issue, self.text, self.name)


_NAMES = {"python3": "python", "golang": "go", "tsx": "tsx"}
_INLINE = re.compile(r"""\bpython3?\s+-c\s+(["'])(?P<code>.*?)(?<!\\)\1""", re.DOTALL)


class CodeRead(NamedTuple):
    """A block of code: its language, the plan's line before its first, its text, and what it holds."""

    language: str
    above: int
    text: str
    outline: Outline


def code_blocks(scene: Scene) -> Iterator[CodeRead]:
    """The blocks of the plan whose language is parsed, and what its commands give to `python -c`."""
    for block in scene.plan.blocks:
        tag = block.language.lower()
        language = _NAMES.get(tag) or LANGUAGES.get(tag, tag)
        if language in PARSED or language == "tsx":
            yield CodeRead(language, block.first, block.text, scene.repository.outline_of(block.text, language))
    for line, command in scene.text.commands:
        for found in _INLINE.finditer(command):
            yield CodeRead("python", line - 1, found["code"], scene.repository.outline_of(found["code"], "python"))
