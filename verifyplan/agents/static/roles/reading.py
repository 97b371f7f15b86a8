"""Reading a plan as a reviewer does: what is to be done and what is only told, negation, and what comes first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from verifyplan.documents import Plan
from verifyplan.documents.values import CodeBlock, Reference, Section, Step

_TOLD = re.compile(
    r"\b(?:non-?goals?|out of scope|not in scope|background|context|problem|motivation|alternatives?|rejected|"
    r"considered|history|current (?:state|behaviou?r|situation)|today|references?|see also|appendix|future|later|"
    r"glossary|summary|overview|why|open questions?|questions?|interfaces|read first)\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:goals?|objectives?|constraints?|decisions?|decided|facts?|risks?|assumptions?|scope|what is there|what there is|status|"
    r"requirements?|principles?|terms|notes?|rationale|outcome|success|summary|questions?|unknowns?|premises?)\b",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s")
_LABEL = re.compile(r"(?:[-*] )?\**([A-Z][A-Za-z ]{2,24})\**[.:]\**(?:\s|$)")
_UNWANTED = re.compile(r"\b(?:non-?goals?|out of scope|not in scope|alternatives?|rejected|future|later|not part)\b", re.IGNORECASE)
_TICKED = re.compile(r"(?<!`)`([^`\n]{2,300})`(?!`)")
_SHELLS = frozenset({"sh", "bash", "shell", "console", "zsh", ""})
_LONGEST_HEADING = 4
_DENIED = re.compile(
    r"\b(?:do(?:es)? not|don't|doesn't|did not|never|no longer|must not|mustn't|should not|shouldn't|will not|won't|"
    r"cannot|can't|without|instead of|rather than|no need to|not to|nothing|neither|nor|avoid|is not|are not|not)\b",
    re.IGNORECASE,
)
_MAKES = re.compile(
    r"\b(?:new|creat(?:e|es|ed|ing)|adds?|added|adding|writ(?:e|es|ing|ten)|generat(?:e|es|ed|ing)|produc(?:e|es|ed|ing)|"
    r"introduc(?:e|es|ed|ing)|scaffold(?:s|ed|ing)?|emits?|outputs?|saved?|dumps?|touch|mkdir|cop(?:y|ies|ied)|cp|mv|"
    r"renam(?:e|es|ed|ing)|mov(?:e|es|ed|ing)|extract(?:s|ed|ing)?|split(?:s|ting)?|implement(?:s|ed|ing)?|build|builds)\b",
    re.IGNORECASE,
)
_INTO = re.compile(
    r"\b(?:in|inside|within|from|of|on|at|by|with|using|via|through|like|beside|next to|see)\b", re.IGNORECASE
)
_ADDS_TO = re.compile(
    r"\b(?:add(?:s|ed|ing)?|writ(?:e|es|ing|ten)|introduc\w+|implement\w*)\b[^.;]*\bto\b", re.IGNORECASE
)
_NEW_BEHIND = re.compile(
    r"^`?\W{0,4}(?:\(?new\b|is (?:new|created|added|written|generated)|does not exist|(?:will be|gets) (?:created|added))",
    re.IGNORECASE,
)
_DOWN = re.compile(r"\b(?:migrate:down|downgrade|down\(|\+goose Down|rollback)\b|--\s*down\b", re.IGNORECASE)
_UP = re.compile(r"\b(?:migrate:up|upgrade|up\(|\+goose Up)\b|--\s*up\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[.;:!?](?:\s|$)|, (?:but|and then|then)\b")


class Reading:
    """A plan with what a reviewer asks of its lines, worked out once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    @cached_property
    def _sections(self) -> list[Section | None]:
        """The section of each line; the first entry stands for line 0."""
        table: list[Section | None] = [None] * (len(self.plan.lines) + 1)
        for section in self.plan.sections:
            for line in range(section.first, min(section.last, len(self.plan.lines)) + 1):
                table[line] = section
        return table

    @cached_property
    def _steps(self) -> list[Step | None]:
        """The innermost step of each line."""
        table: list[Step | None] = [None] * (len(self.plan.lines) + 1)
        for step in sorted(self.plan.steps, key=lambda step: step.level):
            for line in range(step.first, min(step.last, len(self.plan.lines)) + 1):
                table[line] = step
        return table

    @cached_property
    def _outer(self) -> list[Step | None]:
        table: list[Step | None] = [None] * (len(self.plan.lines) + 1)
        for step in sorted(self.plan.steps, key=lambda step: -step.level):
            for line in range(step.first, min(step.last, len(self.plan.lines)) + 1):
                table[line] = step
        return table

    @cached_property
    def _told(self) -> frozenset[Section]:
        """Sections that tell rather than plan: background, non-goals, alternatives; and what stands below them."""
        told, levels = set(), list[tuple[int, bool]]()
        for section in self.plan.sections:
            while levels and levels[-1][0] >= section.level:
                levels.pop()
            tells = _tells(section) or any(above for _, above in levels)
            levels.append((section.level, tells))
            if tells:
                told.add(section)
        return frozenset(told)

    def section(self, line: int) -> Section | None:
        """The section that a line stands in, or None."""
        return self._sections[line] if 0 < line < len(self._sections) else None

    def step(self, line: int) -> Step | None:
        """The innermost step that a line stands in, or None."""
        return self._steps[line] if 0 < line < len(self._steps) else None

    def outer_step(self, line: int) -> Step | None:
        """The outermost step that a line stands in, or None."""
        return self._outer[line] if 0 < line < len(self._outer) else None

    def block(self, line: int) -> CodeBlock | None:
        """The block of code that a line stands in, or None."""
        return self._blocks.get(line)

    @cached_property
    def _blocks(self) -> dict[int, CodeBlock]:
        return {line: block for block in self.plan.blocks for line in range(block.first, block.last + 1)}

    def told(self, line: int) -> bool:
        """Whether a line stands in a section that tells rather than plans, or in none."""
        section = self.section(line)
        return section is None or section in self._told

    def planned(self, line: int) -> bool:
        """Whether a line says what is to be done: it stands in a step, or in prose that states nothing else.

        Goals, constraints, decisions, facts and risks, by their headings, their labels or what the plan's reader
        found, state; and what is only told plans nothing.
        """
        if line < self.plan.body or self.told(line):
            return False
        if self.step(line) is not None:
            return True
        section = self.section(line)
        stating = section is not None and len(section.title.split()) <= _LONGEST_HEADING and _STATES.search(section.title)
        return not stating and line not in self._labelled

    @cached_property
    def _labelled(self) -> frozenset[int]:
        """Lines of paragraphs that a label such as "Constraint:" opens, and of constraints and decisions."""
        found = {*self.plan.constraints, *self.plan.decisions}
        labelled = False
        for at, line in enumerate(self.plan.lines, 1):
            opens = _LABEL.match(line)
            if opens:
                labelled = _STATES.search(opens[1]) is not None or _TOLD.search(opens[1]) is not None
            elif line.startswith("#"):
                labelled = False
            if labelled:
                found.add(at)
        return frozenset(found)

    def downward(self, line: int) -> bool:
        """Whether a line of code is of the way back: it stands behind a mark such as `-- migrate:down`."""
        block = self.block(line)
        if block is None:
            return False
        above = self.plan.lines[block.first : line - 1]
        marks = [_DOWN.search(one) for one in above]
        ups = [_UP.search(one) for one in above]
        return any(marks) and max(i for i, m in enumerate(marks) if m) > max((i for i, m in enumerate(ups) if m), default=-1)

    @cached_property
    def to_do(self) -> tuple[tuple[int, str], ...]:
        """The lines that say what is to be done, with their numbers; blank ones are left out."""
        return tuple((at, line) for at, line in enumerate(self.plan.lines, 1) if line.strip() and self.planned(at))

    @cached_property
    def prose(self) -> tuple[tuple[int, str], ...]:
        """All lines of the body that are no code and not blank, with their numbers."""
        body = enumerate(self.plan.lines[self.plan.body - 1 :], self.plan.body)
        return tuple((at, line) for at, line in body if line.strip() and at not in self._blocks)

    def actions(self, *kinds: str) -> list[Reference]:
        """The references of some kinds that stand where something is to be done, in order of their lines."""
        return sorted(
            (one for one in self.plan.references if one.kind in kinds and self.planned(one.line)),
            key=lambda one: one.line,
        )

    def naming(self, name: str) -> list[tuple[int, int]]:
        """Lines that hold a name as a whole, and where in the line it first stands."""
        if name not in self._naming:
            pattern = re.compile(rf"(?<![\w/.-]){re.escape(name)}(?![\w/-])")
            found = ((at, pattern.search(line)) for at, line in enumerate(self.plan.lines, 1) if name in line)
            self._naming[name] = [(at, match.start()) for at, match in found if match is not None]
        return self._naming[name]

    @cached_property
    def _naming(self) -> dict[str, list[tuple[int, int]]]:
        return {}

    def makes(self, name: str) -> int:
        """The first line that says that something of this name is made, moved there, or not there yet; 0 if none."""
        return next((at for at, start in self.naming(name) if self._makes_at(at, start, len(name))), 0)

    def _makes_at(self, at: int, start: int, size: int) -> bool:
        line = self.plan.line(at)
        if _NEW_BEHIND.search(line[start + size :]):
            return True
        previous = self.plan.line(at - 1) if start < 40 and at - 1 not in self._blocks else ""
        before = f"{previous} {line[:start]}"[-120:]
        clause = _CLAUSE.split(before)[-1]
        words = list(_MAKES.finditer(clause))
        if not words:
            return False
        between = clause[words[-1].end() :]
        return _INTO.search(between) is None and _ADDS_TO.search(clause) is None

    @cached_property
    def stated(self) -> tuple[tuple[int, str], ...]:
        """The lines of prose that may state how things are: outside of steps, non-goals and alternatives left out.

        Where a plan has no steps that are marked as such, any line of prose may.
        """
        return tuple((at, line) for at, line in self.prose if self.step(at) is None and not self._unwanted(at))

    def _unwanted(self, line: int) -> bool:
        section = self.section(line)
        return section is not None and _UNWANTED.search(section.title) is not None

    @cached_property
    def ticked(self) -> tuple[tuple[int, str], ...]:
        """What stands in backticks in prose of what is to be done, and each command line of its shell blocks."""
        found = [(at, name) for at, line in self.prose if self.planned(at) for name in _TICKED.findall(line)]
        for block in self.plan.blocks:
            if block.language in _SHELLS and self.planned(block.first):
                lines = enumerate(block.text.split("\n"), block.first + 1)
                found += [(at, line.strip().removeprefix("$ ")) for at, line in lines if line.strip() and not line.lstrip().startswith("#")]
        return tuple(sorted(found, key=lambda one: one[0]))

    def around(self, line: int) -> Iterator[tuple[int, str]]:
        """The lines of the outermost step that a line stands in, else of its part of the plan."""
        step = self.outer_step(line)
        first, last = (step.first, step.last) if step else self.part(line)
        for at in range(first, last + 1):
            yield at, self.plan.line(at)

    def part(self, line: int) -> tuple[int, int]:
        """First and last line of the innermost step that a line stands in, else of its paragraph or list item.

        A block of code belongs to what stands right above it.
        """
        step = self.step(line)
        if step is not None:
            return step.first, step.last
        return self._parts[line] if 0 < line < len(self._parts) else (line, line)

    @cached_property
    def _parts(self) -> list[tuple[int, int]]:
        starts = [1]
        for at, line in enumerate(self.plan.lines, 1):
            above = self.plan.line(at - 1)
            after_code = at - 1 in self._blocks and at not in self._blocks
            begins = not above.strip() and line.strip() and not line.startswith(" ") and at not in self._blocks
            if at > 1 and at not in self._blocks and (begins or _ITEM.match(line) or line.startswith("#") or after_code):
                starts.append(at)
        table = [(0, 0)] * (len(self.plan.lines) + 1)
        for first, following in zip(starts, [*starts[1:], len(self.plan.lines) + 1], strict=True):
            for at in range(first, following):
                table[at] = (first, following - 1)
        return table


def _tells(section: Section) -> bool:
    """Whether a heading below the title announces what is only told; in a long heading the words mean something else."""
    short = len(section.title.split()) <= _LONGEST_HEADING
    return section.level >= 2 and short and _TOLD.search(section.title) is not None


def denied(text: str, at: int | None = None) -> bool:
    """Whether a negation stands in a text, or before a place in it within the same clause.

    >>> denied("Do not touch `a.py`"), denied("Change `a.py`, not `b.py`", 7)
    (True, False)
    """
    if at is None:
        return _DENIED.search(text) is not None
    clause = _CLAUSE.split(text[:at])[-1]
    return _DENIED.search(clause) is not None
