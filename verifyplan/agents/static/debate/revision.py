"""A plan and its open challenges under debate: each challenge is a criterion, held by looking again (SPEC C5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from verifyplan.agents.static.debate.inspection import LONGEST, Finding, Inspector, Look, sought
from verifyplan.agents.static.debate.matter import Draft, Files, Unmet
from verifyplan.agents.static.debate.page import Lines
from verifyplan.agents.static.debate.remedies.case import Case
from verifyplan.agents.static.debate.remedies.every import remedy
from verifyplan.agents.static.roles.known import Known
from verifyplan.agents.static.roles.phrases import Statement
from verifyplan.protocol.call import ToolUse
from verifyplan.protocol.challenge import Challenge

MOST_EDITS = 16
"""Edits of one draft, so that a plan with very many challenges is not worked on for ever."""

Key = Statement | str


class PlanRevision:
    """The text of a plan, the challenges to settle, and the repository that it speaks of."""

    def __init__(self, name: str, text: str, challenges: Sequence[Challenge], known: Known) -> None:
        self._name, self._text = name, text
        self._challenges = tuple(challenges)
        self._inspector = Inspector(known, name)
        self._newline = _newline(text)

    def begin(self) -> None:
        """A new call, whose tool calls are its own."""
        self._inspector.begin()
        _ = self._before, self._sought

    @property
    def uses(self) -> tuple[ToolUse, ...]:
        """The tool calls made so far."""
        return self._inspector.uses

    def read(self, path: str) -> str | None:
        """The plan's text under its name; nothing else is under debate."""
        return self._text if path == self._name else None

    def places(self) -> tuple[str, ...]:
        """The plan."""
        return (self._name,)

    def checklist(self) -> tuple[str, ...]:
        """A criterion for each challenge, and what holds for every revision."""
        own = [f"{one.id} is settled: {one.claim}{_by(one.alternative)}" for one in self._challenges]
        return (*own, "No step of the plan is lost, and no new challenge that is more than MINOR comes up.")

    def unjudged(self) -> tuple[str, ...]:
        """Nothing: the plan is verified again."""
        return ()

    def unmet(self, files: Files) -> tuple[Unmet, ...]:
        """The challenges that are raised again, or whose alternative the plan does not take over; lost steps; news."""
        text = files.get(self._name, self._text)
        foreign = [
            Unmet("Only the plan is changed", f"{path} is not under debate", path)
            for path in files
            if path != self._name
        ]
        if text is None or not text.strip():
            return (*foreign, Unmet("No step is lost", "the plan is gone", self._name))
        if max(len(text), len(self._text)) > LONGEST:
            return (
                *foreign,
                Unmet("The plan can be looked at", f"it has more than {LONGEST:,} characters", self._name),
            )
        look = self._look(self._lines(text) or tuple(text.split("\n")))
        return (*foreign, *self._open(look, text), *self._lost(look), *self._new(look))

    def _open(self, look: Look, text: str) -> Iterator[Unmet]:
        raised = {one.key: one for one in look.findings}
        for challenge, own in self._sought:
            again = raised.get(own.key)
            if own.line and again is not None:
                why = f"it is raised again: {again.concern or again.claim}"
                yield Unmet(f"{challenge.id} is settled", why, self._at(again))
            elif not own.line and not _taken_over(own, text):
                none = "it names no alternative" if not own.alternative.strip() else ""
                why = f"{none or 'the plan does not say what it calls for'}: {own.alternative.strip() or own.claim}"
                yield Unmet(f"{challenge.id} is settled", why, self._name)

    def _lost(self, look: Look) -> Iterator[Unmet]:
        before, after = len(self._before.reading.plan.steps), len(look.reading.plan.steps)
        if after < before:
            yield Unmet("No step is lost", f"the plan had {before} steps and now has {after}", self._name)

    def _new(self, look: Look) -> Iterator[Unmet]:
        for one in self._newly(look):
            yield Unmet("Nothing new comes up", f"{one.severity}: {one.claim} {one.concern}".strip(), self._at(one))

    def _newly(self, look: Look) -> list[Finding]:
        known = {one.key for one in self._before.findings}
        return [one for one in look.findings if one.key not in known]

    def draft(self, files: Files, critique: str) -> Draft:
        """The plan with what can be settled settled: the challenges, and after a critique what came up with that."""
        text = files.get(self._name, self._text)
        lines = self._lines(text) if text is not None else None
        if lines is None or max(len(text or ""), len(self._text)) > LONGEST:
            why = "its line ends are mixed" if lines is None else f"it has more than {LONGEST:,} characters"
            return Draft({}, left=(f"The plan is left as it is: {why}.",))
        done, tried = list[str](), set[Key]()
        while len(tried) < MOST_EDITS and not self._inspector.tired:
            case, named = self._next(lines, tried, news=bool(critique))
            if case is None:
                break
            tried.add(case.finding.key)
            better = remedy(case)
            if better is not None and self._settles(case.finding, better):
                done.append(f"{named}: {_change(lines, better, self._name)}")
                lines = better
        left = tuple(str(one) for one in self.unmet({self._name: self._joined(lines)}))
        return Draft({self._name: self._joined(lines)}, tuple(done), left)

    def _next(self, lines: Lines, tried: set[Key], *, news: bool) -> tuple[Case | None, str]:
        """The first finding that was not tried yet, and how it is called."""
        look, text = self._look(lines), "\n".join(lines)
        for challenge, own in self._sought:
            now = sought(challenge, look.findings)
            is_open = bool(now.line) if own.line else not _taken_over(own, text)
            if is_open and own.key not in tried:
                return self._case(now, look, lines), challenge.id
        for one in self._newly(look) if news else ():
            if one.key not in tried:
                return self._case(one, look, lines), "New"
        return None, ""

    def _case(self, finding: Finding, look: Look, lines: Lines) -> Case:
        return Case(finding, self._inspector.scene(look.reading), lines)

    def _settles(self, finding: Finding, lines: Lines) -> bool:
        return finding.key not in {one.key for one in self._look(lines).findings}

    @property
    def _before(self) -> Look:
        """The plan before any change, and all that is raised against it then."""
        return self._look(self._lines(self._text) or tuple(self._text.split("\n")))

    @cached_property
    def _sought(self) -> list[tuple[Challenge, Finding]]:
        return [(challenge, sought(challenge, self._before.findings)) for challenge in self._challenges]

    def _look(self, lines: Lines) -> Look:
        return self._inspector.look("\n".join(lines))

    def _lines(self, text: str) -> Lines | None:
        """The lines without their ends; None where those are of more than one kind."""
        lines = text.split(self._newline or "\n")
        return None if self._newline is None or any("\r" in line for line in lines) else tuple(lines)

    def _joined(self, lines: Lines) -> str:
        return (self._newline or "\n").join(lines)

    def _at(self, finding: Finding) -> str:
        return f"{self._name}:{finding.line}" if finding.line else self._name


def _newline(text: str) -> str | None:
    """The one kind of line end that a text has; None for several."""
    pairs = text.count("\r\n")
    if not text.count("\r"):
        return "\n"
    return "\r\n" if pairs == text.count("\r") == text.count("\n") else None


def _by(alternative: str) -> str:
    return f" To be done: {alternative}" if alternative.strip() else ""


def _taken_over(finding: Finding, text: str) -> bool:
    says = " ".join(finding.alternative.split())
    return bool(says) and says in " ".join(text.split())


def _change(before: Lines, after: Lines, name: str) -> str:
    """Where two states differ first, and what stands there now."""
    at = next((n for n, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), len(before))
    new = next((line.strip() for line in after[at:] if line.strip() and line not in before), "")
    return f"{name}:{at + 1} reads {new[:160]!r}" if new else f"{name}:{at + 1} was changed"
