"""Reading a plan as a reviewer does: what is to be done and what is only told, negation, and what comes first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from verifyplan.agents.static.roles.sentences import LONGEST, Sentence, sentences
from verifyplan.documents import Plan
from verifyplan.documents.values import CodeBlock, Reference, Section, Step

_TOLD = re.compile(
    r"\b(?:non-?goals?|out of scope|not in scope|background|context|problem|motivation|alternatives?|rejected|"
    r"considered|not now|now|wanted|reason|history|current (?:state|behaviou?r|situation)|today|references?"
    r"|see also|appendix|future|later|"
    r"glossary|summary|overview|why|open questions?|questions?|interfaces|read first)\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:goals?|objectives?|constraints?|decisions?|decided|facts?|risks?|assumptions?|scope|what is there"
    r"|what there is|status|"
    r"requirements?|principles?|terms|notes?|rationale|outcome|success|summary|questions?|unknowns?|premises?)\b",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s")
_LABEL = re.compile(r"(?:[-*] )?\**([A-Z][A-Za-z ]{2,24})\**[.:]\**(?:\s|$)")
_LABEL_ALONE = re.compile(r"\**([A-Z][A-Za-z ,'-]{1,40}?)\**:?\**")
_UNWANTED = re.compile(
    r"\b(?:non-?goals?|out of scope|not in scope|alternatives?|rejected|future|later|not part)\b", re.IGNORECASE
)
_TICKED = re.compile(r"(?<!`)`([^`\n]{2,300})`(?!`)")
_SHELLS = frozenset({"sh", "bash", "shell", "console", "zsh", ""})
_MOST_QUOTED = 4
_MOST_AROUND = 80
_LONGEST_HEADING = 4
_DENIED = re.compile(
    r"\b(?:do(?:es)? not|don't|doesn't|did not|never|no longer|must not|mustn't|should not|shouldn't|will not|won't|"
    r"cannot|can't|without|instead of|rather than|no need to|no \w+ (?:is|are|needed|required)|not to|nothing"
    r"|neither|nor"
    r"|avoid|is not|are not|not)\b",
    re.IGNORECASE,
)
_MAKES = re.compile(
    r"\b(?:new|creation of|creat(?:e|es|ed|ing)|adds?|added|adding|writ(?:e|es|ing|ten)|generat(?:e|es|ed|ing)"
    r"|produc(?:e"
    r"|es|ed|ing)|"
    r"introduc(?:e|es|ed|ing)|scaffold(?:s|ed|ing)?|emits?|outputs?|saved?|dumps?|touch|mkdir|cop(?:y|ies|ied)|cp|mv|"
    r"renam(?:e|es|ed|ing)|mov(?:e|es|ed|ing)|extract(?:s|ed|ing)?|split(?:s|ting)?|implement(?:s|ed|ing)?"
    r"|build|builds)\b",
    re.IGNORECASE,
)
_INTO = re.compile(
    r"\b(?:in|inside|within|from|of|on|at|by|with|using|via|through|like|beside|next to|see)\b", re.IGNORECASE
)
_INSIDE = re.compile(r"\b(?:from|of|via|using|through|like|beside|next to|see)\b", re.IGNORECASE)
_WRITES = re.compile(r"^(?:new|creat|add|writ|introduc|implement)", re.IGNORECASE)
_ADDS_TO = re.compile(
    r"\b(?:add(?:s|ed|ing)?|writ(?:e|es|ing|ten)|introduc\w+|implement\w*)\b[^.;]*\bto\b", re.IGNORECASE
)
_NEW_BEHIND = re.compile(
    r"^[^`,;.]{0,40}`?\W{0,4}(?:\(?new\b|is (?:new|created|added|written|generated)|does not exist|(?:will be"
    r"|gets) (?:created|added))",
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
        stating = (
            section is not None and len(section.title.split()) <= _LONGEST_HEADING and _STATES.search(section.title)
        )
        return not stating and line not in self._labelled

    @cached_property
    def _labelled(self) -> frozenset[int]:
        """Lines under a label that states or tells, such as "**Facts.**" or a line "Facts"; constraints, decisions."""
        found = {*self.plan.constraints, *self.plan.decisions}
        labelled = False
        for at, line in enumerate(self.plan.lines, 1):
            label = self._label(at, line)
            if label is not None:
                labelled = _STATES.search(label) is not None or _TOLD.search(label) is not None
            if labelled:
                found.add(at)
        return frozenset(found)

    def _label(self, at: int, line: str) -> str | None:
        """The label that a line is or begins with; empty for a heading, which ends what a label opened."""
        if line.startswith("#"):
            return ""
        alone = (
            _LABEL_ALONE.fullmatch(line.strip())
            if at not in self._blocks and not self.plan.line(at - 1).strip()
            else None
        )
        opens = alone or _LABEL.match(line)
        return opens[1] if opens else None

    def downward(self, line: int) -> bool:
        """Whether a line of code is of the way back: it stands behind a mark such as `-- migrate:down`."""
        return line in self._downward

    @cached_property
    def _downward(self) -> frozenset[int]:
        found = set()
        for block in self.plan.blocks:
            down = False
            for line in range(block.first + 1, block.last + 1):
                text = self.plan.line(line)
                if down and not _UP.search(text):
                    found.add(line)
                down = _DOWN.search(text) is not None or (down and _UP.search(text) is None)
        return frozenset(found)

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences of the plan's body, code left out, in order."""
        return tuple(sentences(self.plan.lines, lambda at: at < self.plan.body or at in self._blocks))

    @cached_property
    def _code(self) -> tuple[Sentence, ...]:
        return tuple(
            Sentence(at, at, self.plan.line(at), ((0, at),))
            for at in sorted(self._blocks)
            if self.plan.line(at).strip()
        )

    @cached_property
    def to_do(self) -> tuple[tuple[int, str], ...]:
        """What says what is to be done, sentences and lines of code, each with its first line."""
        return tuple(
            (one.first, one.text)
            for one in sorted((*self.sentences, *self._code), key=lambda one: one.first)
            if self.planned(one.first)
        )

    @cached_property
    def prose(self) -> tuple[tuple[int, str], ...]:
        """All sentences of the body, each with its first line."""
        return tuple((one.first, one.text) for one in self.sentences)

    @cached_property
    def _by_line(self) -> dict[int, list[Sentence]]:
        found: dict[int, list[Sentence]] = {}
        for one in (*self.sentences, *self._code):
            for line in range(one.first, one.last + 1):
                found.setdefault(line, []).append(one)
        return found

    def sentence(self, line: int, name: str = "") -> Sentence:
        """The sentence on a line that holds a name, else the first on it; where there is none, the line itself."""
        there = self._by_line.get(line, [])
        own = Sentence(line, line, self.plan.line(line)[:LONGEST], ((0, line),))
        return next((one for one in there if name in one.text), there[0] if there else own)

    def quoted(self, line: int) -> list[str]:
        """The lines to quote for what begins on a line: those of the longest sentence that begins there, at most 4."""
        last = max((one.last for one in self._by_line.get(line, []) if one.first == line), default=line)
        return [self.plan.line(at) for at in range(line, min(last, line + _MOST_QUOTED - 1) + 1)]

    def actions(self, *kinds: str) -> list[Reference]:
        """The references of some kinds that stand where something is to be done, in order of their lines."""
        return sorted(
            (one for one in self.plan.references if one.kind in kinds and self.planned(one.line)),
            key=lambda one: one.line,
        )

    def naming(self, name: str) -> list[tuple[Sentence, int]]:
        """Sentences and lines of code that hold a name as a whole, and where in the text it first stands."""
        if name not in self._naming:
            pattern = re.compile(rf"(?<![\w/.-]){re.escape(name)}(?![\w/-])")
            found = ((one, pattern.search(one.text)) for one in (*self.sentences, *self._code) if name in one.text)
            hits = [(one, match.start()) for one, match in found if match is not None]
            self._naming[name] = sorted(hits, key=lambda hit: hit[0].first)
        return self._naming[name]

    @cached_property
    def _naming(self) -> dict[str, list[tuple[Sentence, int]]]:
        return {}

    def mention(self, line: int, name: str) -> tuple[Sentence, int] | None:
        """The sentence on a line that holds a name as a whole, and where it stands; None if there is none."""
        return next(((one, start) for one, start in self.naming(name) if one.first <= line <= one.last), None)

    def makes(self, name: str) -> int:
        """The first line that says that something of this name is made, moved there, or not there yet; 0 if none."""
        return next(
            (
                one.first
                for one, start in self.naming(name)
                if _makes_at(one.text, start, len(name), "/" in name or "." in name)
            ),
            0,
        )

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
        planned = (one for one in self.sentences if self.planned(one.first))
        found = [(one.line_of(match.start()), match[1]) for one in planned for match in _TICKED.finditer(one.text)]
        for block in self.plan.blocks:
            if block.language in _SHELLS and self.planned(block.first):
                lines = enumerate(block.text.split("\n"), block.first + 1)
                found += [
                    (at, line.strip().removeprefix("$ "))
                    for at, line in lines
                    if line.strip() and not line.lstrip().startswith("#")
                ]
        return tuple(sorted(found, key=lambda one: one[0]))

    def around(self, line: int) -> Iterator[tuple[int, str]]:
        """The lines of the outermost step that a line stands in, else of its part; at most 80 to each side."""
        step = self.outer_step(line)
        first, last = (step.first, step.last) if step else self.part(line)
        for at in range(max(first, line - _MOST_AROUND), min(last, line + _MOST_AROUND) + 1):
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
            if (
                at > 1
                and at not in self._blocks
                and (begins or _ITEM.match(line) or line.startswith("#") or after_code)
            ):
                starts.append(at)
        table = [(0, 0)] * (len(self.plan.lines) + 1)
        for first, following in zip(starts, [*starts[1:], len(self.plan.lines) + 1], strict=True):
            for at in range(first, following):
                table[at] = (first, following - 1)
        return table


def _tells(section: Section) -> bool:
    """Whether a heading below the title announces what is only told; in a long one the words mean something else."""
    short = len(section.title.split()) <= _LONGEST_HEADING
    return section.level >= 2 and short and _TOLD.search(section.title) is not None


def _makes_at(text: str, start: int, size: int, is_path: bool) -> bool:
    """Whether the words around a name say that it is made."""
    if _NEW_BEHIND.search(text[start + size :]):
        return True
    clause = _CLAUSE.split(text[:start])[-1][-120:]
    words = list(_MAKES.finditer(clause))
    if not words:
        return False
    between = clause[words[-1].end() :]
    into = _INTO if is_path or not _WRITES.search(words[-1].group()) else _INSIDE
    return into.search(between) is None and _ADDS_TO.search(clause) is None


def denied(text: str, at: int | None = None) -> bool:
    """Whether a negation stands in a text, or before a place in it within the same clause.

    >>> denied("Do not touch `a.py`"), denied("Change `a.py`, not `b.py`", 7)
    (True, False)
    """
    if at is None:
        return _DENIED.search(text) is not None
    clause = _CLAUSE.split(text[:at])[-1]
    return _DENIED.search(clause) is not None
