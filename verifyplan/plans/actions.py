"""What a plan orders, told from its words alone: not from headings, marks of lists, or where lines break."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from verifyplan.plans.elements import Element
from verifyplan.plans.markdown import Text
from verifyplan.plans.passages import bounds, labels_goal
from verifyplan.plans.wordlists import words

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
