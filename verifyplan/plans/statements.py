"""What a plan states about itself: title, goal, constraints, and decisions with their reasons."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from verifyplan.plans.code_names import LineNumbers
from verifyplan.plans.markdown import Text
from verifyplan.plans.markup import Element
from verifyplan.plans.values import LineRanges, Section
from verifyplan.plans.word_lists import Lexicon, table, words

_GOAL = re.compile(
    r"[*_\s]*+(?:\w++ )?(?:goal|objective|purpose)s?[*_\s]*+:[*_]*+\s*+(?P<text>\S.*)", re.IGNORECASE | re.DOTALL
)
_CONSTRAINT = re.compile(r"[*_\s]*constraints?\b[^:]{0,30}:", re.IGNORECASE)
_CONSTRAINT_LABEL = re.compile(r"[*_\s]*+(?:\w++ )?constraints?[*_\s:]*", re.IGNORECASE)
_DECISION = re.compile(r"[*_\s]*(?:key |design )?decisions?\b", re.IGNORECASE)
_REASON_LABEL = re.compile(r"[*_\s(]*(?:why|reason|rationale|reasoning|because)\b", re.IGNORECASE)
_IN_TIME = re.compile(r"\bsince\s+(?:v?\d|then|when|last|yesterday|january|february|march|april|may|june|july|august|"
                      r"september|october|november|december|the (?:last|beginning|start))", re.IGNORECASE)  # fmt: skip
_SENTENCE_END = re.compile(r"[.!?]\s+")
_CODE = re.compile(r"`[^`\n]{0,500}`")
_NUMBER = re.compile(r"[\d.\s]+")
_MAX_CHARACTERS = 2_000

_BOUNDS = Lexicon({"constraints": table("passages")["constraints"]})
_REASONED = Lexicon({key: table("passages")[key] for key in ("reasons", "deciding")})


def title(headings: Sequence[Text], frontmatter: Mapping[str, Any]) -> str:
    """The first heading of level 1; else what the frontmatter calls the plan; else the first heading; else empty."""
    first = next((text.content for text in headings if text.level == 1), "")
    named = next((str(frontmatter[key]) for key in ("title", "name") if isinstance(frontmatter.get(key), str)), "")
    document = " ".join(str(frontmatter[key]) for key in ("phase", "plan") if frontmatter.get(key) is not None)
    found = first or named or document or next((text.content for text in headings), "")
    return " ".join(found.split())[:_MAX_CHARACTERS]


def goal(texts: Sequence[Text], sections: Sequence[Section], elements: Iterable[Element], prose: Sequence[str]) -> str:
    """What the plan is for: an objective element, else a "Goal:" line, else a section that is called so.

    Of sections, one named goal is taken before objective, purpose, problem and summary. Empty if there is none.
    """
    stated = (_GOAL.fullmatch(text.content) for text in texts if text.kind in ("paragraph", "item"))
    line = next((matched["text"] for matched in stated if matched), "")
    objective = next((element.text for element in elements if element.name == "objective"), "")
    found = objective or line or _goal_section(sections, prose)
    return found.strip().strip("*_").strip()[:_MAX_CHARACTERS]


def labels_goal(content: str) -> bool:
    """Whether a text is a "Goal:" line."""
    return _GOAL.fullmatch(content) is not None


def bounds(content: str) -> bool:
    """Whether a text forbids or bounds something, or is labelled as a constraint; inline code does not count."""
    plain = _CODE.sub(_blank, content)
    return _CONSTRAINT.match(plain) is not None or next(_BOUNDS.find(plain), None) is not None


def _goal_section(sections: Sequence[Section], prose: Sequence[str]) -> str:
    for wanted in table("passages")["goal_titles"]:
        for section in sections:
            text = "\n".join(prose[section.first : section.last]).strip()
            if _plain(section.title) == wanted and text:
                return text
    return ""


def _plain(title: str) -> str:
    return _NUMBER.sub(" ", title.lower().strip("*_#: ")).strip() if title else ""


def constraints(texts: Iterable[Text], sections: Sequence[Section]) -> list[int]:
    """Lines that state a constraint: items under such a heading or label, and sentences that forbid or bound.

    Inline code does not count. The line is the one on which the item, or the sentence's word, stands.
    """
    titles = set(table("passages")["constraint_titles"])
    ranges = LineRanges((section.first, section.last) for section in sections if _plain(section.title) in titles)
    found: set[int] = set()
    for text in texts:
        if text.kind == "heading":
            continue
        plain = _CODE.sub(_blank, text.content)
        bound = next(_BOUNDS.find(plain), None) if text.kind != "cell" else None
        labelled = any(_CONSTRAINT_LABEL.fullmatch(label) for label in text.above)
        listed = text.kind in ("item", "cell") and text.first in ranges
        if bound or _CONSTRAINT.match(plain):
            found.add(text.first + plain.count("\n", 0, bound.start if bound else 0))
        elif listed or (labelled and text.kind == "item"):
            found.add(text.first)
    return sorted(found)


def decisions(texts: Sequence[Text]) -> list[int]:
    """Lines of decisions that state their reason: a sentence that decides and says why, or a decision with a rationale.

    "Since" with a date behind it is no reason.
    """
    found: set[int] = set()
    for at, text in enumerate(texts):
        plain = _CODE.sub(_blank, text.content)
        labelled = _DECISION.match(plain) is not None
        if labelled and _gives_reason(texts[at + 1 : at + (8 if text.kind == "heading" else 4)]):
            found.add(text.first)
        elif text.kind != "heading":
            lines = LineNumbers(text.content, text.first)
            found |= {lines.at(place) for place in _reasoned(plain, whole=labelled)}
    return sorted(found)


def _reasoned(plain: str, *, whole: bool) -> Iterator[int]:
    """Where the sentences begin that decide something and say why; a decision's text is one sentence if `whole`."""
    matches = list(_REASONED.find(_IN_TIME.sub(_blank, plain)))
    if not any(match.group == "reasons" for match in matches):
        return
    starts = [0, *(matched.end() for matched in _SENTENCE_END.finditer(plain) if not whole)]
    said: defaultdict[int, set[str]] = defaultdict(set)
    for match in matches:
        said[starts[bisect_right(starts, match.start) - 1]].add(match.group)
    for start, groups in said.items():
        if "reasons" in groups and (whole or "deciding" in groups):
            yield start


def _gives_reason(texts: Sequence[Text]) -> bool:
    """Whether one of the texts below a decision says why, before the next heading."""
    for text in texts:
        labelled = _REASON_LABEL.match(text.content) is not None
        if text.kind == "heading" and not labelled:
            return False
        if labelled or any(match.group == "reasons" for match in _REASONED.find(text.content)):
            return True
    return False


def _blank(matched: re.Match[str]) -> str:
    return " " * len(matched.group())


_CLAUSE = re.compile(r"(?<=[.!?;])[*_)\"']*\s+|,?\s+(?:and\s+)?then\s+", re.IGNORECASE)
_LABEL = re.compile(r"(?:[A-Za-z]+ )?\d{1,3}(?:\.\d{1,3}){0,2}[a-z]?[\s.:)*_\u2013\u2014-]+(?=[\w`\"'])")
_LEAD = re.compile(r"(?P<lead>[A-Za-z]+)[,:]?\s+")
_WITHIN = re.compile(
    r"(?:after|as|at|before|for|from|if|in|inside|on|once|to|under|when|with|within)\b[^,]{1,120},\s+", re.I
)
_NEGATED = re.compile(r"(?:do not|don['\u2019]?t)\b", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)?")
_MODAL = re.compile(
    r"\b(?:we|you|i)(?:'ll| will| shall| should| must| need to| have to| are going to)\s+(?P<verb>[a-z]+)"
    r"|\b(?:will|shall|should|must|needs? to|ha(?:s|ve) to|is to|are to) be\s+(?P<done>[a-z]+)",
    re.IGNORECASE,
)
_MARKS = " \t\n*_>~\"'`(["
_MAX_TEXT_CHARACTERS = 2_000


def action_lines(texts: Iterable[Text], tasks: Sequence[Element]) -> list[int]:
    """The line of each thing that a plan orders, in order; of a PLAN document, of its tasks.

    A list item counts, whatever its mark and depth, unless it only bounds or asks; so does each further sentence that
    orders something, in items, paragraphs and cells. Headings, labels and a stated goal do not.
    """
    if tasks:
        return [task.first for task in tasks]
    return [text.first for text in texts for _ in range(_ordered(text))]


def _ordered(text: Text) -> int:
    """How many things a text orders."""
    content = " ".join(text.content.split())[:_MAX_TEXT_CHARACTERS]
    if text.kind == "heading" or labels_goal(content) or not re.search(r"\w", content):
        return 0
    count = sum(map(is_instruction, _CLAUSE.split(content)))
    if text.kind == "item" and not (bounds(content) or content.endswith(("?", ":"))):
        return max(count, 1)
    return count


def is_instruction(sentence: str) -> bool:
    """Whether a sentence tells somebody to do something.

    >>> [is_instruction(text) for text in ("Then drop it", "In `a.py`, rename f", "We will move it")]
    [True, True, True]
    >>> [is_instruction(text) for text in ("It is slow", "Do not run it", "Tests are red")]
    [False, False, False]
    """
    modal = _MODAL.search(sentence)
    if modal and ((modal["verb"] or "").lower() in _verbs() or (modal["done"] or "").lower() in _done()):
        return True
    return any(_begins_with_verb(start) for start in _starts(sentence.lstrip(_MARKS)))


def _starts(sentence: str) -> Iterator[str]:
    """Where the order of a sentence may begin: at once, behind a label or adverb, or behind a lead ("In a.py, ...")."""
    yield sentence
    label = _LABEL.match(sentence)
    sentence = sentence[label.end() if label else 0 :].lstrip(_MARKS)
    while (lead := _LEAD.match(sentence)) and lead["lead"].lower() in words("actions", "leads"):
        sentence = sentence[lead.end() :].lstrip(_MARKS)
    yield sentence
    within = _WITHIN.match(sentence)
    if within:
        yield sentence[within.end() :].lstrip(_MARKS)


def _begins_with_verb(sentence: str) -> bool:
    first = _WORD.match(sentence)
    return first is not None and first.group().lower() in _verbs() and not _NEGATED.match(sentence)


def _verbs() -> frozenset[str]:
    return words("actions", "verbs")


def _done() -> frozenset[str]:
    return frozenset().union(*(words("intents", key) for key in ("create", "change", "delete", "move")))


def introduces(text: Text) -> bool:
    """Whether a text can say what the plan is for: prose that is no label and no item that orders or bounds.

    >>> [introduces(Text(kind, "Orders live in the new store.", 1, 1)) for kind in ("paragraph", "heading", "item")]
    [True, False, True]
    """
    content = " ".join(text.content.split())[:_MAX_TEXT_CHARACTERS]
    if text.kind not in ("paragraph", "item") or content.endswith(":") or len(_WORD.findall(content)) < 3:
        return False
    return text.kind == "paragraph" or not (is_instruction(content) or bounds(content))
