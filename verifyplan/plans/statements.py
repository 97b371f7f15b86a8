"""Statements of a plan: its title, goal, constraints, decisions with their reasons, and the actions it orders.

Actions are read from the words alone: not from headings, markers of lists, or where lines break.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from verifyplan.plans.markdown import TextBlock
from verifyplan.plans.prose import XmlElement
from verifyplan.plans.values import LineNumbers, LineRanges, Section
from verifyplan.plans.word_lists import Lexicon, table, words

_MAX_CHARACTERS = 2_000
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
_CONSTRAINTS = Lexicon({"constraints": table("statements")["constraints"]})
_REASONS = Lexicon({key: table("statements")[key] for key in ("reasons", "deciding")})

_CLAUSE_END = re.compile(r"(?<=[.!?;])[*_)\"']*\s+|,?\s+(?:and\s+)?then\s+", re.IGNORECASE)
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
_MARKERS = " \t\n*_>~\"'`(["
_INTENTS_OF_VERBS = ("create", "change", "delete", "move")


def title(headings: Sequence[TextBlock], frontmatter: Mapping[str, Any]) -> str:
    """Return the first heading of level 1; else the frontmatter's name of the plan; else the first heading; else ""."""
    first = next((text.content for text in headings if text.level == 1), "")
    named = next((str(frontmatter[key]) for key in ("title", "name") if isinstance(frontmatter.get(key), str)), "")
    document = " ".join(str(frontmatter[key]) for key in ("phase", "plan") if frontmatter.get(key) is not None)
    text = first or named or document or next((text.content for text in headings), "")
    return " ".join(text.split())[:_MAX_CHARACTERS]


def goal(
    texts: Sequence[TextBlock], sections: Sequence[Section], elements: Iterable[XmlElement], prose: Sequence[str]
) -> str:
    """Return the purpose of the plan: an objective element, else a "Goal:" line, else a section of such a title.

    Of sections, one named goal is taken before objective, purpose, problem and summary. Empty if there is none.
    """
    objective = next((element.text for element in elements if element.name == "objective"), "")
    lines = (_GOAL.fullmatch(text.content) for text in texts if text.kind in ("paragraph", "item"))
    line = next((matched["text"] for matched in lines if matched), "")
    titled = [(_plain(section.title), section) for section in sections]
    texts_below = (
        "\n".join(prose[section.first : section.last]).strip()
        for wanted in table("statements")["goal_titles"]
        for name, section in titled
        if name == wanted
    )
    stated = objective or line or next(filter(None, texts_below), "")
    return stated.strip().strip("*_").strip()[:_MAX_CHARACTERS]


def _plain(title: str) -> str:
    return _NUMBER.sub(" ", title.lower().strip("*_#: ")).strip() if title else ""


def is_goal_line(content: str) -> bool:
    """Return whether a text is a "Goal:" line."""
    return _GOAL.fullmatch(content) is not None


def may_state_goal(text: TextBlock) -> bool:
    """Return whether a text can say what the plan is for: prose that is not a label, an instruction or a constraint.

    >>> kinds = ("paragraph", "heading", "item")
    >>> [may_state_goal(TextBlock(kind, "Orders live in the new store.", 1, 1)) for kind in kinds]
    [True, False, True]
    """
    content = " ".join(text.content.split())[:_MAX_CHARACTERS]
    if text.kind not in ("paragraph", "item") or content.endswith(":") or len(_WORD.findall(content)) < 3:
        return False
    return text.kind == "paragraph" or not (is_instruction(content) or _is_constraint(content))


def _is_constraint(content: str) -> bool:
    """Return whether a text forbids or bounds something, or is labelled as a constraint; inline code does not count."""
    plain = _CODE.sub(_blank, content)
    return _CONSTRAINT.match(plain) is not None or next(_CONSTRAINTS.find(plain), None) is not None


def constraints(texts: Iterable[TextBlock], sections: Sequence[Section]) -> list[int]:
    """Return the lines of constraints: items under such a heading or label, and sentences that forbid or bound.

    Inline code does not count. The line is that of the item, or of the sentence's word.
    """
    titles = set(table("statements")["constraint_titles"])
    ranges = LineRanges((section.first, section.last) for section in sections if _plain(section.title) in titles)
    lines: set[int] = set()
    for text in texts:
        if text.kind == "heading":
            continue
        plain = _CODE.sub(_blank, text.content)
        phrase = next(_CONSTRAINTS.find(plain), None) if text.kind != "cell" else None
        labelled = any(_CONSTRAINT_LABEL.fullmatch(label) for label in text.above)
        listed = text.kind in ("item", "cell") and text.first in ranges
        if phrase or _CONSTRAINT.match(plain):
            lines.add(text.first + plain.count("\n", 0, phrase.start if phrase else 0))
        elif listed or (labelled and text.kind == "item"):
            lines.add(text.first)
    return sorted(lines)


def decisions(texts: Sequence[TextBlock]) -> list[int]:
    """Return the lines of decisions with a reason: a sentence that decides and says why, or a decision and a rationale.

    "Since" with a date behind it is not a reason.
    """
    lines: set[int] = set()
    for at, text in enumerate(texts):
        plain = _CODE.sub(_blank, text.content)
        labelled = _DECISION.match(plain) is not None
        if labelled and _gives_reason(texts[at + 1 : at + (8 if text.kind == "heading" else 4)]):
            lines.add(text.first)
        elif text.kind != "heading":
            numbers = LineNumbers(text.content, text.first)
            lines |= {numbers.at(place) for place in _reasoned_sentences(plain, whole=labelled)}
    return sorted(lines)


def _reasoned_sentences(plain: str, *, whole: bool) -> Iterator[int]:
    """Yield the places of sentences that decide something and say why; a decision's text is one sentence if `whole`."""
    matches = list(_REASONS.find(_IN_TIME.sub(_blank, plain)))
    if not any(match.group == "reasons" for match in matches):
        return
    starts = [0, *(matched.end() for matched in _SENTENCE_END.finditer(plain) if not whole)]
    groups: defaultdict[int, set[str]] = defaultdict(set)
    for match in matches:
        groups[starts[bisect_right(starts, match.start) - 1]].add(match.group)
    for start, present in groups.items():
        if "reasons" in present and (whole or "deciding" in present):
            yield start


def _gives_reason(texts: Sequence[TextBlock]) -> bool:
    """Return whether one of the texts below a decision says why, before the next heading."""
    for text in texts:
        labelled = _REASON_LABEL.match(text.content) is not None
        if text.kind == "heading" and not labelled:
            return False
        if labelled or any(match.group == "reasons" for match in _REASONS.find(text.content)):
            return True
    return False


def _blank(matched: re.Match[str]) -> str:
    return " " * len(matched.group())


def action_lines(texts: Iterable[TextBlock], tasks: Sequence[XmlElement]) -> list[int]:
    """Return the line of each thing that a plan says to do, in order; of a PLAN document, those of its tasks.

    A list item counts, whatever its marker and depth, unless it only bounds or asks; so does each further sentence that
    orders something, in items, paragraphs and cells. Headings, labels and a stated goal do not.
    """
    if tasks:
        return [task.first for task in tasks]
    lines: list[int] = []
    for text in texts:
        content = " ".join(text.content.split())[:_MAX_CHARACTERS]
        if text.kind == "heading" or is_goal_line(content) or not re.search(r"\w", content):
            continue
        count = sum(map(is_instruction, _CLAUSE_END.split(content)))
        if text.kind == "item" and not (_is_constraint(content) or content.endswith(("?", ":"))):
            count = max(count, 1)
        lines += [text.first] * count
    return lines


def is_instruction(sentence: str) -> bool:
    """Return whether a sentence tells somebody to do something.

    >>> [is_instruction(text) for text in ("Then drop it", "In `a.py`, rename f", "We will move it")]
    [True, True, True]
    >>> [is_instruction(text) for text in ("It is slow", "Do not run it", "Tests are red")]
    [False, False, False]
    """
    verbs = words("actions", "verbs")
    modal = _MODAL.search(sentence)
    if modal and (modal["verb"] or "").lower() in verbs:
        return True
    if modal and any((modal["done"] or "").lower() in words("intents", key) for key in _INTENTS_OF_VERBS):
        return True
    for start in _possible_starts(sentence.lstrip(_MARKERS)):
        first = _WORD.match(start)
        if first is not None and first.group().lower() in verbs and not _NEGATED.match(start):
            return True
    return False


def _possible_starts(sentence: str) -> Iterator[str]:
    """Yield a sentence from each place where its order may begin: at once, behind a label, adverb or "In a.py, "."""
    yield sentence
    label = _LABEL.match(sentence)
    sentence = sentence[label.end() if label else 0 :].lstrip(_MARKERS)
    while (lead := _LEAD.match(sentence)) and lead["lead"].lower() in words("actions", "leads"):
        sentence = sentence[lead.end() :].lstrip(_MARKERS)
    yield sentence
    within = _WITHIN.match(sentence)
    if within:
        yield sentence[within.end() :].lstrip(_MARKERS)
