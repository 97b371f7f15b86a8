"""Research summaries and the notes that they were made from: no more confident, and all of them counted (rule D3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from verifyplan.documents.checks.across.wording import matched
from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.kinds.findings import CONFIDENCES, Confidence
from verifyplan.documents.kinds.research_note import ResearchNote
from verifyplan.documents.kinds.research_summary import Decision, ResearchSummary
from verifyplan.documents.tree import Tree
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
