"""A plan as sentences, instructions, code and commands (rules A8, G2).

The result does not depend on where lines break, how lists are numbered or what headings say: a sentence counts by its
own words.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from verifyplan.agents.static.roles.joined_texts import JoinedTexts
from verifyplan.plans import Plan, assess
from verifyplan.plans.assessment import Assessment
from verifyplan.plans.code_names import is_path, without_place
from verifyplan.plans.markdown import blocks
from verifyplan.plans.prose import PreparedText, prepare
from verifyplan.plans.values import LineNumbers, LineRanges, normalised

Verb = Literal["edit", "delete", "rename", "add", "use"]

_SENTENCE_END = re.compile(r"[.!?;][\"')*`]*(?P<gap>\s+)(?=[A-Z`\"'*(\[]|\*\*)")
_ABBREVIATION = re.compile(r"(?:^|\s|\()(?:\d{1,3}|[A-Z]|e\.g|i\.e|cf|vs|etc|approx|no|nr)\.$", re.IGNORECASE)
_LEAD = (
    r"(?:\[[ xX]\]\s+)?[*_]*(?:(?:step|task|part|phase)\s+[\w.]+[*_]*\s*[:.)\u2013\u2014-]*[*_]*\s*)?"
    r"(?:\(?[A-Za-z0-9]{1,2}[.)]\s+)?[*_]*(?:(?:then|next|finally|also|now|and)\b,?\s+)?"
)
_VERBS: dict[Verb, str] = {
    "edit": "modify|edit|change|update|extend|rewrite|refactor|patch|amend|wrap|replace|adapt|adjust|rework|simplify"
    "|convert",
    "delete": "delete|remove|drop",
    "rename": "rename|move",
    "add": "add|introduce|install|depend on",
    "use": "use|call|import|reuse|invoke",
}
_FILLERS = (
    r"(?:(?:the|a|an|our|all|every|existing|old|new|unused|deprecated|file|module|script|function|method|class|helper"
    r"|crate|package|dependency|library|field|column)\s+){0,4}"
)
_INSTRUCTION = re.compile(
    rf"{_LEAD}(?P<verb>{'|'.join(_VERBS.values())})\b[*_]*\s*:?[*_]*\s+{_FILLERS}(?:`(?P<code>[^`]+)`|(?P<bare>[\w./-]+/[\w.-]*[\w-]))",
    re.IGNORECASE,
)
_INTRODUCTION = re.compile(
    rf"{_LEAD}(?:[*_]{{2}}[^*\n]{{1,100}}[*_]{{2}}\s*[:.\u2013\u2014-]+|(?:in|before|after|throughout|first|finally|meanwhile|instead)\b"
    r"(?:`[^`]*`|[^,;:`]){0,150},)\s+(?:also\s+)?",
    re.IGNORECASE,
)
_HOME_BEFORE = re.compile(r"\bin\s+(?:the\s+(?:file|module)\s+)?`(?P<path>[^`\s]+\.\w+)`,\s+$", re.IGNORECASE)
_HOME_BEHIND = re.compile(
    r"`?(?:\s+[A-Za-z]+){0,2}?(?:\s+(?:to|with|by)\s+`[^`]+`)?\s+(?:in|of|from)\s+(?:the\s+(?:file|module)\s+)?`(?P<path>[^`\s]+\.\w+)`",
    re.IGNORECASE,
)
_IN_FILE = re.compile(rf"{_LEAD}(?:in|open)\s+(?:the\s+file\s+)?`(?P<code>[^`]+)`(?P<rest>.*)$", re.IGNORECASE)
_AS_IT_IS = re.compile(
    r"\b(?:change|replace|update|modify|extend|remove|rename|delete|edit|existing|current(?:ly)?|find|locate|after|before"
    r"|lines? \d+)\b",
    re.IGNORECASE,
)
_EDITS = re.compile(rf"[,:]?\s+(?:(?:also|then|now)\s+)?(?:{_VERBS['edit']})\b", re.IGNORECASE)
_CHANGED_CELL = re.compile(r"[*_]*(?:modify|modified|edit|update|change|extend|delete|remove)d?\b", re.IGNORECASE)
_THING_IN_FILE = re.compile(
    rf"{_LEAD}(?:(?:in|(?:add|append|insert)\s.{{1,120}}?\sto)\s+the\s+[\w -]{{3,60}}?\s(?:in|of)"
    r"|(?:make|apply)\s[\w -]{0,40}?(?:edit|change|modification)s?\s(?:to|in))\s+`(?P<code>[^`]+)`",
    re.IGNORECASE,
)
_MARKED = re.compile(r"`(?P<code>[^`]+)`\s*\((?:to be )?(?:modify|modified|edit|edited|existing)\)", re.IGNORECASE)
_CONDITIONAL = re.compile(
    r"\bif (?:it|they|one|this|that|any|the file|present|needed|necessary)\b|\b(?:when|where) present\b|\bif exists\b",
    re.IGNORECASE,
)
_MAKES = re.compile(
    r"\b(?:new|creat\w*|add(?:s|ed|ing)?|writ(?:e|es|ing|ten)|generat\w*|produc\w*|introduc\w*|scaffold\w*|emits?"
    r"|saved?|dumps?|touch|mkdir|cop(?:y|ies|ied)|cp|mv|renam\w*|mov(?:e|es|ed|ing)|extract\w*|split\w*"
    r"|implement\w*|builds?|defin\w*|provid\w*|register\w*|declar\w*|append\w*|install\w*|stor(?:e|es|ed)|fetch\w*"
    r"|download\w*|expos\w*|export\w*|deliver\w*|ships?|set up|init\w*|targets?)\b",
    re.IGNORECASE,
)
_INTO = re.compile(r"\b(?:in|inside|within|from|of|on|at|to|into|by|with|via|through|like|beside|see)\b", re.IGNORECASE)
_NEW_BEHIND = re.compile(
    r"[`*_]*\s*(?:\(?(?:brand )?new\b|\(create|is (?:new|created|added|written)|does not exist)", re.IGNORECASE
)
PART_OF = re.compile(
    r"\s+(?:from|references?|imports?|calls?|usages?|mentions?|links?|entr(?:y|ies)|rows?|lines?|paths?|strings?|parameters?"
    r"|arguments?|flags?|options?|fields?|keys?|columns?|alias\w*|decorators?|tests?|checks?|blocks?|placeholders?)\b"
)
"""Words behind a name by which the name itself is not the object of its sentence."""
_REFERRED = re.compile(r"(?:^|\s)@[^\s`]*$")
_CODE_SPAN = re.compile(r"`[^`]*`")
_IN_PATH = re.compile(r"(?<!\S)[\w.@-]*/\S*")
_MAX_SENTENCE_CHARACTERS = 4_000
_MAX_QUOTED_LINES = 4


class Sentence(NamedTuple):
    """A sentence on one line, the lines of the plan that it begins and ends on, and the other cells of its row."""

    line: int
    last: int
    text: str
    row: tuple[str, ...] = ()


class Instruction(NamedTuple):
    """An instruction of a sentence: what to do to which name; `by_sentence` where its verb governs the name itself."""

    line: int
    verb: Verb
    name: str
    text: str
    by_sentence: bool = True
    home: str = ""
    """The file that, by the sentence, holds the name; empty if it names none."""

    @property
    def changes(self) -> bool:
        """Whether it changes something that is there before."""
        return self.verb in ("edit", "delete", "rename")


def sentences(lines: Sequence[str], prepared: PreparedText | None = None) -> Iterator[Sentence]:
    """Yield the sentences of the prose in some lines of Markdown, in order; code blocks and comments are left out.

    >>> [sentence[:3] for sentence in sentences(["- Change `a.py`", "  now. Then", "test."])]
    [(1, 2, 'Change `a.py` now.'), (2, 3, 'Then test.')]
    """
    for text in blocks((prepared or prepare(lines)).prose).texts:
        at, flat, begin = LineNumbers(text.content, text.first), text.content.replace("\n", " "), 0
        gaps = [match.start("gap") for match in _SENTENCE_END.finditer(flat)]
        ends = [gap for gap in gaps if not _ABBREVIATION.search(flat[max(0, gap - 8) : gap])]
        for end in [*ends, len(flat)]:
            part = flat[begin:end]
            start = begin + len(part) - len(part.lstrip())
            if part.strip():
                words = " ".join(part.split())[:_MAX_SENTENCE_CHARACTERS]
                yield Sentence(at.at(start), at.at(end), words, text.row)
            begin = end


class PlanText:
    """The sentences, instructions, code and commands of a plan, each with its line; worked out once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    @cached_property
    def _prepared(self) -> PreparedText:
        return prepare(self.plan.lines)

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences of the plan's prose."""
        return tuple(sentences(self.plan.lines, self._prepared))

    @cached_property
    def _joined_sentences(self) -> JoinedTexts:
        return JoinedTexts(sentence.text for sentence in self.sentences)

    @cached_property
    def _joined_lines(self) -> JoinedTexts:
        return JoinedTexts(self.plan.lines)

    @cached_property
    def assessment(self) -> Assessment:
        """The plan's signs and traits."""
        return assess(self.plan)

    @cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        """The instructions: "Modify `a.py`", "In `a.py`, replace ...", "`a.py` (modify)"; conditional ones left out."""
        plain = (sentence for sentence in self.sentences if not _CONDITIONAL.search(sentence.text))
        return tuple(instruction for sentence in plain for instruction in _instructions(sentence))

    @cached_property
    def file_instructions(self) -> tuple[Instruction, ...]:
        """The instructions whose object is the path of one file, then those that change code in such a file."""
        of_files, elsewhere = list[Instruction](), list[Instruction]()
        for instruction in self.instructions:
            name = without_place(instruction.name.split("::")[0].strip())
            behind = instruction.text.partition(instruction.name)[2].lstrip("`")
            if is_path(name) and not name.endswith("/") and not PART_OF.match(behind):
                of_files.append(instruction._replace(name=normalised(name)))
            elif instruction.changes and is_path(instruction.home):
                home = normalised(instruction.home)
                elsewhere.append(instruction._replace(verb="edit", name=home, by_sentence=False))
        return (*of_files, *elsewhere)

    @cached_property
    def commands(self) -> tuple[tuple[int, str], ...]:
        """The commands that the plan runs, in its head, shell fences, inline code and `<verify>`, with their lines."""
        listed = self.plan.frontmatter.get("verification_commands")
        head = [str(command) for command in listed] if isinstance(listed, list) else []
        lines = list(enumerate(self.plan.lines, 1))
        in_head = ((next((at for at, line in lines if command in line), 1), command) for command in head)
        references = (reference for reference in self.plan.references if reference.kind == "command")
        return (*in_head, *((reference.line, reference.name) for reference in references))

    def quoted(self, line: int) -> list[str]:
        """Return the lines to quote for what begins on a line: those of the sentence that begins there, at most 4."""
        last = max((sentence.last for sentence in self.sentences if sentence.line == line), default=line)
        return [self.plan.line(at) for at in range(line, min(last, line + _MAX_QUOTED_LINES - 1) + 1)]

    def sentences_at(self, line: int, words: str) -> Iterator[str]:
        """Yield the texts of the sentences on a line that hold some words."""
        for sentence in self.sentences:
            if sentence.line <= line <= sentence.last and words in sentence.text:
                yield sentence.text

    def mentions(self, name: str) -> int:
        """Return the first line of the plan that holds a name as a whole; 0 if none does."""
        return self._first_line(name, _whole(name))

    def listed(self, name: str) -> int:
        """Return the first line that lists a path in the frontmatter or in a task's files; 0 if none does."""
        lines, body = self._lines_naming(name), self.plan.body
        return next((line for line in lines if line < body or line in self._files_elements), 0)

    def listed_in_task_before(self, name: str, line: int) -> int:
        """Return the first line that lists a path in the files of a task before the task on a line; 0 if none does."""
        tasks = (element for element in self._prepared.elements if element.name == "task")
        first = next((task.first for task in tasks if task.first <= line <= task.last), line)
        return next((at for at in self._lines_naming(name) if at < first and at in self._files_elements), 0)

    def _lines_naming(self, name: str) -> Iterator[int]:
        wanted = normalised(name)
        for file, line in self._files_by_last_name.get(posixpath.basename(wanted), ()):
            if file == wanted or file.endswith(f"/{wanted}") or wanted.endswith(f"/{file}"):
                yield line

    @cached_property
    def _files_by_last_name(self) -> dict[str, list[tuple[str, int]]]:
        """The files that the plan names, with their lines, by the last part of their paths."""
        files: dict[str, list[tuple[str, int]]] = {}
        for reference in self.plan.references:
            if reference.kind == "file":
                path = normalised(reference.name)
                files.setdefault(posixpath.basename(path), []).append((path, reference.line))
        return files

    @cached_property
    def _files_elements(self) -> LineRanges:
        """The lines of the files of tasks."""
        return LineRanges((part.first, part.last) for part in self._prepared.elements if part.name == "files")

    def makes(self, name: str) -> int:
        """Return the first line that says that a file of this name is made or moved there; 0 if none does."""
        base = name.rpartition("/")[2]
        for number in self._joined_sentences.holding(base):
            sentence = self.sentences[number]
            at = sentence.text.find(base)
            while at >= 0:
                if not _REFERRED.search(sentence.text[:at]) and _makes_at(sentence.text, at, len(base)):
                    return sentence.line
                at = sentence.text.find(base, at + 1)
        made_by_command = (
            rf"(?:(?<=\s)>>?|(?<=\s\d)>>?|-o|--out\w*|--output\S*|\btee\b|\btouch\b|\bcp\b.*|\bmv\b.*|open\(|write\w*\(|save\w*\()"
            rf"[ =]*\S*{re.escape(base)}"
        )
        return self._first_line(base, re.compile(made_by_command))

    def adds(self, name: str, except_line: int = 0) -> int:
        """Return the first line that speaks of adding a name, or whose code defines it; 0 if none does.

        A name is a symbol, a target or a package. Any sentence that holds it and a word of making counts, but for
        the sentence on `except_line`: a miss here would be a false alarm.
        """
        pattern = _whole(name)
        for number in self._joined_sentences.holding(name):
            sentence = self.sentences[number]
            text = sentence.text
            holds = sentence.line != except_line and pattern.search(text)
            if holds and _MAKES.search(_CODE_SPAN.sub(" ", text).replace(name, " ")):
                return sentence.line
        defined = (
            rf"(?:(?:^|`)[\s+|-]*(?:(?:export|async|pub|static|default|public|private)\s+)*"
            rf"(?:def|class|function|func|fn|const|let|var|type|interface|struct|enum)\s+{re.escape(name)}\b"
            rf"|^\s*\"?{re.escape(name)}\"?\s*(?::(?!:)|=)|\b(?:install|add)\b.*{re.escape(name)})"
        )
        return self._first_line(name, re.compile(defined), _MAX_SENTENCE_CHARACTERS)

    def _first_line(self, name: str, pattern: re.Pattern[str], max_characters: int | None = None) -> int:
        """Return the first line that holds a name and a pattern; 0 if none does."""
        lines = ((number + 1, self.plan.lines[number]) for number in self._joined_lines.holding(name))
        return next((at for at, line in lines if pattern.search(line[:max_characters])), 0)


def _instructions(sentence: Sentence) -> Iterator[Instruction]:
    line, text = sentence.line, sentence.text
    introduction = _INTRODUCTION.match(text)
    matched = _INSTRUCTION.match(text, introduction.end() if introduction else 0) or _INSTRUCTION.match(text)
    if matched:
        verb = next(verb for verb, words in _VERBS.items() if matched["verb"].lower() in words.split("|"))
        home = _HOME_BEHIND.match(text, matched.end()) or _HOME_BEFORE.search(text[: matched.start("verb")])
        name = matched["code"] or matched["bare"]
        yield Instruction(line, verb, name, text, home=home["path"] if home else "")
    inside = _IN_FILE.match(text)
    if inside and (_AS_IT_IS.search(inside["rest"]) or _EDITS.match(inside["rest"])):
        yield Instruction(line, "edit", inside["code"], text, by_sentence=False)
    thing = _THING_IN_FILE.match(text)
    if thing:
        yield Instruction(line, "edit", thing["code"], text, by_sentence=False)
    cell = re.fullmatch(r"`([^`]+)`", text)
    changes = next((change for other in sentence.row if (change := _CHANGED_CELL.match(other))), None)
    if cell and changes:
        yield Instruction(line, "delete" if changes[0].lower()[:2] in ("de", "re") else "edit", cell[1], text)
    for marked in _MARKED.finditer(text):
        yield Instruction(line, "edit", marked["code"], text, by_sentence=False)


def _makes_at(text: str, start: int, size: int) -> bool:
    """Whether the words around a path say that it is made."""
    if _NEW_BEHIND.match(text[start + size :]):
        return True
    before = _IN_PATH.sub(" ", _CODE_SPAN.sub("", text[:start]).partition("`")[0])
    clause = re.split(r"[.;:!?]\s", before)[-1][-200:]
    made = list(_MAKES.finditer(clause))
    return bool(made) and _INTO.search(clause[made[-1].end() :]) is None


def _whole(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
