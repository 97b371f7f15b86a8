"""What a research summary leaves to be decided, and the plans that must decide it (rule D2)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.documents.checks.across.wording import MOST_COMPARED, words_of
from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.kinds.research_summary import NEEDS_DECISION
from verifyplan.documents.tree import Tree

_DECIDES = re.compile(r"\b(?:decision|decisions|decided?|decides|chosen?|choose|chose|settled)\b", re.IGNORECASE)
_NEEDS_DECISION = re.compile(re.escape(NEEDS_DECISION), re.IGNORECASE)
_ENOUGH = 0.5
"""The share of an item's words that a decision must name to be its decision."""


def check_decisions(tree: Tree) -> Iterator[Violation]:
    """Items marked [NEEDS DECISION] that neither a checkpoint:decision task nor a stated decision of a plan names.

    A plan names an item if at least half of the item's words of four letters or more stand in one such task, or in one
    line that speaks of a decision or stands under a heading that does. Without plans nothing is asked.
    Source: document 003, Synthesizer -> Planner; rule D2.
    """
    plans = tree.of(PlanDocument)
    summaries = [summary for summary, _ in tree.research]
    asked = [(one, question) for one in summaries for question in one.open_questions if question.needs_decision]
    if not plans or not asked:
        return
    made = list(dict.fromkeys(words for plan in plans for words in _decisions(plan)))
    if len(made) * len(asked) > MOST_COMPARED:
        made = [frozenset().union(*made)]
    for summary, question in asked:
        text = " ".join(_NEEDS_DECISION.sub("", question.text).split())
        wanted = words_of(text)
        if not any(_names(words, wanted) for words in made):
            message = f"{NEEDS_DECISION} {text!r} is decided in no plan"
            fix = "add a checkpoint:decision task for it to a plan, or state the decision there"
            yield violation("tree/decision-unmet", summary.path, question.line, message, fix)


def _names(words: frozenset[str], wanted: frozenset[str]) -> bool:
    return len(words & wanted) >= max(1.0, _ENOUGH * len(wanted))


def _decisions(plan: PlanDocument) -> Iterator[frozenset[str]]:
    """The words of each decision that a plan makes or asks a person for."""
    for task in plan.tasks:
        if task.type == "checkpoint:decision":
            yield words_of(" ".join(element.text for element in task.elements))
    source = plan.source
    lines = [_NEEDS_DECISION.sub("", line) for line in source.lines]
    for part in source.parts:
        if _DECIDES.search(part.title):
            said = (line for _, line in source.lines_of(part) if not _NEEDS_DECISION.search(line))
            yield from map(words_of, said)
    yield from (words_of(line) for line in lines if _DECIDES.search(line))
