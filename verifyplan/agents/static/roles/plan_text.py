"""A plan as sentences, code and commands, whatever its headings, numbers and line ends (rules A8, G2).

What is read here does not depend on where lines break, how lists are numbered or what headings say: a sentence counts
by its own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from verifyplan.plans import Plan
from verifyplan.plans.code_names import is_path, without_place
from verifyplan.plans.markdown import blocks
from verifyplan.plans.prose import PreparedText, prepare
from verifyplan.plans.values import LineNumbers, normalised

Verb = Literal["edit", "delete", "rename", "add", "use"]

_SENTENCE_END = re.compile(r"[.!?;][\"')*`]*(?P<gap>\s+)(?=[A-Z`\"'*(\[]|\*\*)")
_ABBREVIATION = re.compile(r"(?:^|\s|\()(?:\d{1,3}|[A-Z]|e\.g|i\.e|cf|vs|etc|approx|no|nr)\.$", re.IGNORECASE)
_LEAD = (
    r"(?:\[[ xX]\]\s+)?[*_]*(?:(?:step|task|part|phase)\s+[\w.]+[*_]*\s*[:.)\u2013\u2014-]*[*_]*\s*)?"
    r"(?:\(?[A-Za-z0-9]{1,2}[.)]\s+)?[*_]*(?:(?:then|next|finally|also|now|and)\b,?\s+)?"
)
_VERBS: dict[Verb, str] = {
    "edit": "modify|edit|change|update|extend|rewrite|refactor|patch|amend",
    "delete": "delete|remove|drop",
    "rename": "rename|move",
    "add": "add|introduce|install|depend on",
    "use": "use|call|import|reuse|invoke",
}
_FILLERS = (
    r"(?:(?:the|a|an|our|all|every|existing|old|new|unused|deprecated|file|module|script|function|method|class|helper"
    r"|crate|package|dependency|library|field|column)\s+){0,4}"
)
_ORDER = re.compile(
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
    r"`?(?:\s+[A-Za-z]+){0,2}?(?:\s+to\s+`[^`]+`)?\s+(?:in|of|from)\s+(?:the\s+(?:file|module)\s+)?`(?P<path>[^`\s]+\.\w+)`",
    re.IGNORECASE,
)
_IN_FILE = re.compile(
    rf"{_LEAD}(?:in|open)\s+(?:the\s+file\s+)?`(?P<code>[^`]+)`(?P<rest>.*)$",
    re.IGNORECASE,
)
_AS_IT_IS = re.compile(
    r"\b(?:change|replace|update|modify|extend|remove|rename|delete|edit|existing|current(?:ly)?|find|locate|after|before"
    r"|lines? \d+)\b",
    re.IGNORECASE,
)
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
"""Words behind a name by which it is not itself the object of its sentence."""
_REFERRED = re.compile(r"(?:^|\s)@[^\s`]*$")
_CODE_SPAN = re.compile(r"`[^`]*`")
_IN_PATH = re.compile(r"(?<!\S)[\w.@-]*/\S*")
_MAX_SENTENCE = 4_000
_MAX_QUOTED_LINES = 4


class Sentence(NamedTuple):
    """A sentence on one line, the lines of the plan that it begins and ends on, and the other cells of its row."""

    line: int
    last: int
    text: str
    row: tuple[str, ...] = ()


class Order(NamedTuple):
    """What a sentence says to do to which name, and where; `by_sentence` where its verb governs the name itself."""

    line: int
    verb: Verb
    name: str
    text: str
    by_sentence: bool = True
    home: str = ""
    """The file that the sentence says the name stands in; empty if it says none."""


def sentences(lines: Sequence[str], prepared: PreparedText | None = None) -> Iterator[Sentence]:
    """The sentences of the prose in some lines of Markdown, in order; code blocks and comments are left out.

    >>> [one[:3] for one in sentences(["- Change `a.py`", "  now. Then", "test."])]
    [(1, 2, 'Change `a.py` now.'), (2, 3, 'Then test.')]
    """
    for text in blocks((prepared or prepare(lines)).prose).texts:
        at, flat, begin = LineNumbers(text.content, text.first), text.content.replace("\n", " "), 0
        ends = [m.start("gap") for m in _SENTENCE_END.finditer(flat) if not _abbreviated(flat, m.start("gap"))]
        for end in [*ends, len(flat)]:
            part = flat[begin:end]
            start = begin + len(part) - len(part.lstrip())
            if part.strip():
                yield Sentence(at.at(start), at.at(end), " ".join(part.split())[:_MAX_SENTENCE], text.row)
            begin = end


def _abbreviated(text: str, end: int) -> bool:
    return _ABBREVIATION.search(text[max(0, end - 8) : end]) is not None


class PlanText:
    """What a plan orders, gives as code, runs and makes, each with its line; worked out once."""

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
    def orders(self) -> tuple[Order, ...]:
        """What sentences order: "Modify `a.py`", "In `a.py`, replace ...", "`a.py` (modify)"; conditions aside."""
        return tuple(order for one in self.sentences if not _CONDITIONAL.search(one.text) for order in _orders(one))

    def file_orders(self) -> Iterator[Order]:
        """The orders whose object is the path of one file."""
        for order in self.orders:
            name = without_place(order.name.split("::")[0].strip())
            behind = order.text.partition(order.name)[2].lstrip("`")
            if is_path(name) and not name.endswith("/") and not PART_OF.match(behind):
                yield order._replace(name=normalised(name))

    @cached_property
    def commands(self) -> tuple[tuple[int, str], ...]:
        """The commands that the plan runs, in its head, shell fences, inline code and `<verify>`, with their lines."""
        listed = self.plan.frontmatter.get("verification_commands")
        heads = [str(one) for one in listed] if isinstance(listed, list) else []
        head = ((self._line_of(one), one) for one in heads)
        return (*head, *((one.line, one.name) for one in self.plan.references if one.kind == "command"))

    def _line_of(self, text: str) -> int:
        return next((at for at, line in enumerate(self.plan.lines, 1) if text in line), 1)

    def quoted(self, line: int) -> list[str]:
        """The lines to quote for what begins on a line: those of the sentence that begins there, at most 4."""
        last = max((one.last for one in self.sentences if one.line == line), default=line)
        return [self.plan.line(at) for at in range(line, min(last, line + _MAX_QUOTED_LINES - 1) + 1)]

    def mentions(self, name: str) -> int:
        """The first line of the plan that holds a name as a whole; 0 if none does."""
        pattern = _whole(name)
        return next((at for at, line in enumerate(self.plan.lines, 1) if name in line and pattern.search(line)), 0)

    def listed(self, name: str) -> int:
        """The first line that lists a path in the frontmatter or in a task's files; 0 if none does."""
        return next((line for line in self._lines_naming(name) if line < self.plan.body or self._in_files(line)), 0)

    def listed_in_task_before(self, name: str, line: int) -> int:
        """The first line that lists a path in the files of a task before the one that holds a line; 0 if none does."""
        tasks = (one for one in self._prepared.elements if one.name == "task")
        first = next((one.first for one in tasks if one.first <= line <= one.last), line)
        return next((at for at in self._lines_naming(name) if at < first and self._in_files(at)), 0)

    def _lines_naming(self, name: str) -> Iterator[int]:
        files = ((one.line, normalised(one.name)) for one in self.plan.references if one.kind == "file")
        return (line for line, found in files if _same_end(found, normalised(name)))

    def _in_files(self, line: int) -> bool:
        return any(one.name == "files" and one.first <= line <= one.last for one in self._prepared.elements)

    def makes(self, name: str) -> int:
        """The first line that says that a file of this name is made or moved there; 0 if none does."""
        base = name.rpartition("/")[2]
        for one in self.sentences:
            at = one.text.find(base)
            while at >= 0:
                if not _REFERRED.search(one.text[:at]) and _makes_at(one.text, at, len(base)):
                    return one.line
                at = one.text.find(base, at + 1)
        return self._made_by_command(base)

    def _made_by_command(self, base: str) -> int:
        pattern = re.compile(
            rf"(?:(?<=\s)>>?|(?<=\s\d)>>?|-o|--out\w*|--output\S*|\btee\b|\btouch\b|\bcp\b.*|\bmv\b.*|open\(|write\w*\(|save\w*\()"
            rf"[ =]*\S*{re.escape(base)}"
        )
        return next((at for at, line in enumerate(self.plan.lines, 1) if base in line and pattern.search(line)), 0)

    def adds(self, name: str, beside: int = 0) -> int:
        """The first line that speaks of adding a name (a symbol, target, package), or whose code defines it; 0 if none.

        Any sentence that holds the name and a word of making counts, but for that on the line `beside`: what is
        missed here would be a false alarm.
        """
        pattern = _whole(name)
        defined = re.compile(
            rf"(?:(?:^|`)[\s+|-]*(?:(?:export|async|pub|static|default|public|private)\s+)*"
            rf"(?:def|class|function|func|fn|const|let|var|type|interface|struct|enum)\s+{re.escape(name)}\b"
            rf"|^\s*\"?{re.escape(name)}\"?\s*(?::(?!:)|=)|\b(?:install|add)\b.*{re.escape(name)})"
        )
        for one in self.sentences:
            if one.line != beside and name in one.text and pattern.search(one.text):
                words = _CODE_SPAN.sub(" ", one.text).replace(name, " ")
                if _MAKES.search(words):
                    return one.line
        lines = enumerate(self.plan.lines, 1)
        return next((at for at, line in lines if name in line and defined.search(line[:_MAX_SENTENCE])), 0)


def _orders(one: Sentence) -> Iterator[Order]:
    introduction = _INTRODUCTION.match(one.text)
    matched = _ORDER.match(one.text, introduction.end() if introduction else 0) or _ORDER.match(one.text)
    if matched:
        name = matched["code"] or matched["bare"]
        verb = next(verb for verb, words in _VERBS.items() if matched["verb"].lower() in words.split("|"))
        home = _HOME_BEHIND.match(one.text, matched.end()) or _HOME_BEFORE.search(one.text[: matched.start("verb")])
        yield Order(one.line, verb, name, one.text, home=home["path"] if home else "")
    inside = _IN_FILE.match(one.text)
    if inside and _AS_IT_IS.search(inside["rest"]):
        yield Order(one.line, "edit", inside["code"], one.text, by_sentence=False)
    thing = _THING_IN_FILE.match(one.text)
    if thing:
        yield Order(one.line, "edit", thing["code"], one.text, by_sentence=False)
    cell = re.fullmatch(r"`([^`]+)`", one.text)
    changes = next((matched for other in one.row if (matched := _CHANGED_CELL.match(other))), None)
    if cell and changes:
        yield Order(one.line, "delete" if changes[0].lower()[:2] in ("de", "re") else "edit", cell[1], one.text)
    for marked in _MARKED.finditer(one.text):
        yield Order(one.line, "edit", marked["code"], one.text, by_sentence=False)


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


def _same_end(one: str, other: str) -> bool:
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")
