"""Check research summaries against their notes, and plans against what the research left open (rules D2, D3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.kinds.research_note import CONFIDENCES, ResearchConfidence, ResearchNote
from verifyplan.documents.kinds.research_summary import NEEDS_DECISION, ResearchSummary
from verifyplan.documents.reading.body import plain
from verifyplan.documents.reading.comparing import MAX_COMPARISONS, matched, words_of
from verifyplan.documents.reading.phrases import says_nothing
from verifyplan.documents.reading.source import Source
from verifyplan.documents.tree import Tree
from verifyplan.plans.values import LineRanges
from verifyplan.text import counted

MIN_SHARED_WORDS = 0.5
"""The share of an item's words that a decision must name to be its decision."""

_TAGS = re.compile(r"\[[^\[\]]{0,40}\]|\([^()]{0,40}confidence[^()]{0,40}\)", re.IGNORECASE)
_RANK = {confidence: rank for rank, confidence in enumerate(reversed(CONFIDENCES))}
_CONFLICT_TAG = re.compile(r"\[(?:CONFLICT|CONFLICTING|CONTRADICTION)\b[^\]\n]{0,80}\]", re.IGNORECASE)
_CONFLICT_TITLE = re.compile(
    r"(?:(?:resolved|unresolved|documented|known|open|remaining|noted|source) )?"
    r"(?:contradictions?|conflicts?|conflicting (?:findings|evidence|sources|claims))"
    r"(?: (?:found|resolved|documented|(?:and|between|among|in|of) .{1,80}))?"
)
_CONFLICT_WORD = re.compile(r"\b(?:conflict|contradict|disagree)", re.IGNORECASE)
_DECIDES = re.compile(r"\b(?:decision|decisions|decided?|decides|chosen?|choose|chose|settled)\b", re.IGNORECASE)
_NEEDS_DECISION = re.compile(re.escape(NEEDS_DECISION), re.IGNORECASE)


def check_research(tree: Tree) -> Iterator[Violation]:
    """Check each research summary against its inputs: confidence as a whole and by decision, and their number.

    The inputs are the notes in the summary's folder and below. A decision rests on the inputs that its Sources name, or
    on all where it names none of them. Confidence is compared only where an input states one.
    """
    for summary, notes in tree.research:
        if not notes:
            continue
        front, best = summary.source.front, _best(notes)
        if best is not None and _rank(summary.confidence) > _RANK[best]:
            line, values = front.line("confidence"), {"confidence": summary.confidence, "best": best}
            yield violation("tree/confidence-upgraded", summary.path, line, **values)
        for decision in summary.decisions:
            named = [note for note in notes if PurePath(note.path).stem.casefold() in decision.sources.casefold()]
            best = _best(named or notes)
            if best is not None and _rank(decision.confidence) > _RANK[best]:
                stated = f"of {decision.confidence} confidence, its inputs are {best} at best"
                message, fix = f"the decision on {decision.topic!r} is {stated}", f"write {best}"
                yield violation("tree/confidence-upgraded", summary.path, decision.line, message=message, fix=fix)
        yield from _check_speculation(summary, notes)
        if summary.sources is not None and summary.sources != len(notes):
            inputs, counts = counted(len(notes), "input document"), {"stated": summary.sources, "n": len(notes)}
            yield violation("tree/sources-count", summary.path, front.line("sources"), inputs=inputs, **counts)


def _check_speculation(summary: ResearchSummary, notes: Sequence[ResearchNote]) -> Iterator[Violation]:
    """Yield decisions of more than low confidence that say what a note marks as speculative."""
    sure = [decision for decision in summary.decisions if _rank(decision.confidence) > _RANK["low"]]
    for note in notes:
        guesses = [finding for finding in note.findings if finding.speculative]
        places = matched([decision.decision for decision in sure], [_TAGS.sub("", guess.text) for guess in guesses])
        for decision, at in zip(sure, places, strict=True):
            if at is not None:
                place = f"{PurePath(note.path).name}:{guesses[at].line}"
                values = {"topic": decision.topic, "place": place}
                yield violation("tree/speculation-upgraded", summary.path, decision.line, **values)


def _best(notes: Sequence[ResearchNote]) -> ResearchConfidence | None:
    """Return the highest confidence that a note states; None without any."""
    return max((note.confidence for note in notes if note.confidence), key=_rank, default=None)


def _rank(confidence: ResearchConfidence | None) -> int:
    return -1 if confidence is None else _RANK[confidence]


def check_conflicts(tree: Tree) -> Iterator[Violation]:
    """Check the `conflicts` of each research summary against its body, and its body against its notes.

    A contradiction is documented by an item or row under a heading of conflicts or contradictions, or by the tag
    [CONFLICT]; where there is neither, by any item or row that says that something conflicts, contradicts or disagrees.
    """
    for summary, notes in tree.research:
        line = summary.source.front.line("conflicts")
        marked = _marked_contradictions(summary.source)
        documented = marked or sum(bool(_CONFLICT_WORD.search(text)) for _, text in _items(summary.source))
        conflicts = summary.conflicts
        if conflicts is not None and (documented < conflicts or marked > conflicts):
            counts = {"stated": conflicts, "n": documented, "contradictions": counted(documented, "contradiction")}
            yield violation("tree/conflicts-count", summary.path, line, **counts)
        for note in notes if not documented else ():
            in_note = _marked_contradictions(note.source)
            if in_note:
                values = {"note": PurePath(note.path).name, "contradictions": counted(in_note, "contradiction")}
                yield violation("tree/conflict-dropped", summary.path, line, **values)


def _marked_contradictions(source: Source) -> int:
    """Return how many contradictions a document has under their heading or by their tag."""
    sections = [section for section in source.sections if _CONFLICT_TITLE.fullmatch(plain(section.title))]
    headed = LineRanges((section.first, section.last) for section in sections)
    return sum(
        bool(_CONFLICT_TAG.search(text)) or (line in headed and not says_nothing(text)) for line, text in _items(source)
    )


def _items(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the outermost list items, and the rows of tables."""
    yield from ((bullet.line, bullet.text) for bullet in source.bullets() if bullet.depth == 0)
    for table in source.tables():
        yield from ((row.line, " | ".join(row.cells)) for row in table.rows)


def check_decisions(tree: Tree) -> Iterator[Violation]:
    """Yield items marked [NEEDS DECISION] that no checkpoint:decision task and no stated decision of a plan names.

    A plan names an item if at least half of the item's words of four letters or more are in one such task, or in one
    line that speaks of a decision or is under a heading that does. Without plans nothing is checked.
    """
    plans = tree.of(PlanDocument)
    open_items = [(s, question) for s, _ in tree.research for question in s.open_questions if question.needs_decision]
    if not plans or not open_items:
        return
    decisions = list(dict.fromkeys(words for plan in plans for words in _decisions(plan)))
    if len(decisions) * len(open_items) > MAX_COMPARISONS:
        decisions = [frozenset().union(*decisions)]
    for summary, question in open_items:
        text = " ".join(_NEEDS_DECISION.sub("", question.text).split())
        required = words_of(text)
        enough = max(1.0, MIN_SHARED_WORDS * len(required))
        if not any(len(words & required) >= enough for words in decisions):
            yield violation("tree/decision-unmet", summary.path, question.line, question=text)


def _decisions(plan: PlanDocument) -> Iterator[frozenset[str]]:
    """Yield the words of each decision that a plan makes or leaves to a person."""
    for task in plan.tasks:
        if task.type == "checkpoint:decision":
            yield words_of(" ".join(element.text for element in task.elements))
    for section in plan.source.sections:
        if _DECIDES.search(section.title):
            lines = (line for _, line in plan.source.lines_of(section) if not _NEEDS_DECISION.search(line))
            yield from map(words_of, lines)
    lines = (_NEEDS_DECISION.sub("", line) for line in plan.source.lines)
    yield from (words_of(line) for line in lines if _DECIDES.search(line))
