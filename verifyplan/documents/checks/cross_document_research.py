"""Research summaries and the notes that they were made from: no more confident, and all of them counted (rule D3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.kinds.research_note import CONFIDENCES, Confidence, ResearchNote
from verifyplan.documents.kinds.research_summary import NEEDS_DECISION, Decision, ResearchSummary
from verifyplan.documents.reading.body import plain
from verifyplan.documents.reading.comparing import MAX_COMPARISONS, matched, words_of
from verifyplan.documents.reading.document import Document
from verifyplan.documents.reading.phrases import says_nothing
from verifyplan.documents.reading.source import Source
from verifyplan.documents.tree import Tree
from verifyplan.plans.values import LineRanges
from verifyplan.text import counted

_TAGS = re.compile(r"\[[^\[\]]{0,40}\]|\([^()]{0,40}confidence[^()]{0,40}\)", re.IGNORECASE)
_RANK = {confidence: rank for rank, confidence in enumerate(reversed(CONFIDENCES))}


def check_research(tree: Tree) -> Iterator[Violation]:
    """Each research summary against its inputs: confidence as a whole and decision by decision, and their number.

    The inputs are the notes in the summary's folder and below; where there are none, or none says how confident it is,
    nothing is asked. A decision rests on the inputs that its Sources name, or on all where it names none of them.
    Source: document 003, Synthesizer -> Planner; rule D3.
    """
    for summary, notes in tree.research:
        if not notes:
            continue
        yield from _check_as_a_whole(summary, notes)
        for decision in summary.decisions:
            yield from _check_decision(summary, decision, notes)
        yield from _check_speculation(summary, notes)
        if summary.sources is not None and summary.sources != len(notes):
            message = f"sources is {summary.sources}, but there are {counted(len(notes), 'input document')}"
            line = summary.source.front.line("sources")
            yield violation("tree/sources-count", summary.path, line, message, f"write sources: {len(notes)}")


def _check_as_a_whole(summary: ResearchSummary, notes: Sequence[ResearchNote]) -> Iterator[Violation]:
    best = _best(notes)
    if best is not None and _rank(summary.confidence) > _RANK[best]:
        message = f"confidence is {summary.confidence}, but no input is above {best}"
        line = summary.source.front.line("confidence")
        yield violation("tree/confidence-upgraded", summary.path, line, message, f"write confidence: {best}")


def _check_decision(summary: ResearchSummary, decision: Decision, notes: Sequence[ResearchNote]) -> Iterator[Violation]:
    named = [note for note in notes if PurePath(note.path).stem.casefold() in decision.sources.casefold()]
    best = _best(named or notes)
    if best is not None and _rank(decision.confidence) > _RANK[best]:
        message = (
            f"the decision on {decision.topic!r} is of {decision.confidence} confidence, its inputs are {best} at best"
        )
        yield violation("tree/confidence-upgraded", summary.path, decision.line, message, f"write {best}")


def _check_speculation(summary: ResearchSummary, notes: Sequence[ResearchNote]) -> Iterator[Violation]:
    """Decisions of more than low confidence that say what a note marks as speculative."""
    sure = [decision for decision in summary.decisions if _rank(decision.confidence) > _RANK["low"]]
    for note in notes:
        guesses = [finding for finding in note.findings if finding.speculative]
        said = matched([decision.decision for decision in sure], [_TAGS.sub("", finding.text) for finding in guesses])
        for decision, at in zip(sure, said, strict=True):
            if at is not None:
                place = f"{PurePath(note.path).name}:{guesses[at].line}"
                message = f"the decision on {decision.topic!r} is speculation in its source ({place})"
                fix = "write low, or leave it open as [NEEDS DECISION]"
                yield violation("tree/speculation-upgraded", summary.path, decision.line, message, fix)


def _best(notes: Sequence[ResearchNote]) -> Confidence | None:
    """The highest confidence that a note states; None where none states any."""
    return max((note.confidence for note in notes if note.confidence), key=_rank, default=None)


def _rank(confidence: Confidence | None) -> int:
    return -1 if confidence is None else _RANK[confidence]


_CONFLICT_TAG = re.compile(r"\[(?:CONFLICT|CONFLICTING|CONTRADICTION)\b[^\]\n]{0,80}\]", re.IGNORECASE)
_TITLE = re.compile(
    r"(?:(?:resolved|unresolved|documented|known|open|remaining|noted|source) )?"
    r"(?:contradictions?|conflicts?|conflicting (?:findings|evidence|sources|claims))"
    r"(?: (?:found|resolved|documented|(?:and|between|among|in|of) .{1,80}))?"
)
_WORD = re.compile(r"\b(?:conflict|contradict|disagree)", re.IGNORECASE)


def check_conflicts(tree: Tree) -> Iterator[Violation]:
    """The `conflicts` of each research summary against its body, and its body against the notes it was made from.

    A contradiction is documented by an item or row under a heading that speaks of conflicts or contradictions, or by
    the tag [CONFLICT]; where there is neither, by any item or row that says that something conflicts, contradicts or
    disagrees.
    Source: document 003, Synthesizer -> Planner; rule D3.
    """
    for summary, notes in tree.research:
        told = _told(summary.source)
        told_in_words = told or _in_words(summary.source)
        conflicts = summary.conflicts
        if conflicts is not None and (told_in_words < conflicts or told > conflicts):
            yield _miscounted(summary, told_in_words)
        dropped = [note for note in notes if _told(note.source)] if not told_in_words else []
        for note in dropped:
            yield _dropped(summary, note)


def _miscounted(summary: ResearchSummary, told: int) -> Violation:
    message = f"conflicts is {summary.conflicts}, but the body documents {counted(told, 'contradiction')}"
    fix = f"document each in a list or table under ## Contradictions, or write conflicts: {told}"
    line = summary.source.front.line("conflicts")
    return violation("tree/conflicts-count", summary.path, line, message, fix)


def _dropped(summary: ResearchSummary, note: Document) -> Violation:
    there = f"{PurePath(note.path).name} documents {counted(_told(note.source), 'contradiction')}"
    message = f"documents no contradiction, but {there}"
    line = summary.source.front.line("conflicts")
    return violation("tree/conflict-dropped", summary.path, line, message, "document it under ## Contradictions")


def _told(source: Source) -> int:
    """How many contradictions a document tells under their heading or by their tag."""
    headed = LineRanges((part.first, part.last) for part in source.sections if _TITLE.fullmatch(plain(part.title)))
    return sum(
        bool(_CONFLICT_TAG.search(text)) or (line in headed and not says_nothing(text)) for line, text in _items(source)
    )


def _in_words(source: Source) -> int:
    return sum(bool(_WORD.search(text)) for _, text in _items(source))


def _items(source: Source) -> Iterator[tuple[int, str]]:
    """The list items of the first depth, and the rows of tables."""
    yield from ((bullet.line, bullet.text) for bullet in source.bullets() if bullet.depth == 0)
    for table in source.tables():
        yield from ((row.line, " | ".join(row.cells)) for row in table.rows)


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
    if len(made) * len(asked) > MAX_COMPARISONS:
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
    for part in source.sections:
        if _DECIDES.search(part.title):
            said = (line for _, line in source.lines_of(part) if not _NEEDS_DECISION.search(line))
            yield from map(words_of, said)
    yield from (words_of(line) for line in lines if _DECIDES.search(line))
