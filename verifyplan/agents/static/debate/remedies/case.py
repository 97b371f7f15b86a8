"""What a remedy is given: a finding, the plan as it stands, and the repository."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from verifyplan.agents.static.debate.inspection import Finding
from verifyplan.agents.static.debate.page import Lines, add, put_before
from verifyplan.agents.static.roles.known import Known
from verifyplan.agents.static.roles.reading import Reading
from verifyplan.agents.static.roles.scene import Scene

_RELEASES = re.compile(r"\b(?:deploy\w*|releas\w+|production|staging|roll(?:s|ed)? out)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Case:
    """One finding in one state of a plan; files are opened through the scene's tools alone."""

    finding: Finding
    scene: Scene
    lines: Lines

    @property
    def reading(self) -> Reading:
        """The plan as it stands."""
        return self.scene.reading

    @property
    def known(self) -> Known:
        """What the repository holds."""
        return self.scene.known

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What the finding states something of."""
        return self.finding.statement.names if self.finding.statement else ()

    def add(self, text: str, line: int = 0) -> Lines | None:
        """A sentence at the end of the part that `line`, else the finding, stands in."""
        return add(self.lines, self.reading, line or self.finding.line, text)

    def add_before_release(self, text: str) -> Lines | None:
        """A sentence in the finding's step; in a plan without steps, in front of the first word on a release."""
        line = self.finding.line
        if self.reading.step(line) is not None:
            return self.add(text)
        told = (at for at, sentence in self.reading.to_do if at > line and _RELEASES.search(sentence))
        later = next((at for at in told if self.reading.part(at)[0] > self.reading.part(line)[1]), 0)
        return put_before(self.lines, self.reading, later, text) if later else self.add(text)

    def first_change(self) -> int:
        """The first line of a step that makes or changes a file; the finding's own where there is none."""
        made = (one.line for one in self.reading.actions("file") if one.intent in ("create", "change"))
        return next(
            (at for at in made if at <= self.finding.line and self.reading.block(at) is None), self.finding.line
        )


Remedy = Callable[[Case], Lines | None]
"""The plan's lines with the finding settled; None where that cannot be done honestly."""
