"""Report the quality score of a plan run: six dimensions, the audit, refusals, a missing score (rules A10, A13)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from verifyplan.protocol.event_plan import ScoreGiven, ScoreRefused
from verifyplan.protocol.records import DIMENSIONS, Dimension
from verifyplan.reports.blocks import (
    Block,
    Fields,
    PageSection,
    Paragraph,
    Quoted,
    Strong,
    Subsection,
    TableBlock,
    Words,
    cell_text,
    titled_bullets,
)
from verifyplan.reports.plan_facts import UNSEEN, nothing_looked_up, scores_by
from verifyplan.reports.visible import one_line
from verifyplan.rules.scoring import INFORMS, WEIGHTS
from verifyplan.runlog.plan_state import PlanState

Scores = Mapping[Dimension, ScoreGiven]


def scores(state: PlanState) -> PageSection:
    """Report the final score, each dimension, and the audit; nothing where nobody gave a score."""
    refused = [refusal for refusal in state.refusals if isinstance(refusal, ScoreRefused)]
    return PageSection("Scores", tuple(_scores(state, refused)) if state.scores or refused else ())


def _scores(state: PlanState, refused: list[ScoreRefused]) -> Iterator[Block]:
    final = state.outcome.score if state.outcome else None
    if final is not None:
        nothing = ", resting on nothing: no look-up was made" if nothing_looked_up(state) else ""
        yield Paragraph((Strong(f"Quality score, not used for the verdict: {final} of 10{nothing}."), f" {INFORMS}"))
    else:
        yield Paragraph(("No final score: ", *missing_score_reason(state), "."))
    own, audited = scores_by(state, "synthesizer"), scores_by(state, "challenger")
    if own or audited:
        yield _table(state, own, audited)
    if names := [_words(name) for name in DIMENSIONS if name in own and UNSEEN in own[name].evidence.lower()]:
        text = f" {', '.join(names)}. A score there rests on no look-up, and says nothing in favour of the plan."
        yield Paragraph((Strong("Nothing was looked at:"), text))
    if own and (state.disputes or not nothing_looked_up(state)):
        yield from _audit(state, own, audited)
    yield from titled_bullets("Refused:", (_refusal(refusal) for refusal in refused))


def missing_score_reason(state: PlanState) -> Words:
    """Say why a run has no final score, as the end of a sentence (rule A10)."""
    outcome = state.outcome
    if outcome is None:
        return ("it waits for an answer" if state.waiting else "the run has not ended",)
    if outcome.ended_by == "sizing":
        return ("a trivial plan is not scored",)
    if outcome.verdict is None:
        return ("the run ended without a verdict",)
    refusals = [refusal for refusal in state.refusals if isinstance(refusal, ScoreRefused)]
    refused = [refusal.dimension for refusal in refusals if refusal.by == "synthesizer"]
    if refused:
        return ("the score of ", Quoted(one_line(", ".join(dict.fromkeys(refused)), 300)), " was refused")
    own = scores_by(state, "synthesizer")
    missing = [_words(name) for name in DIMENSIONS if name not in own]
    if len(missing) == len(DIMENSIONS):
        return ("the synthesizer gave no scores",)
    return (f"the synthesizer gave no score for {', '.join(missing)}" if missing else "none is recorded",)


def _words(dimension: str) -> str:
    return dimension.replace("_", " ")


def _table(state: PlanState, own: Scores, audited: Scores) -> TableBlock:
    weights = state.inputs.settings.weights or {name: str(weight) for name, weight in WEIGHTS.items()}
    rows: list[tuple[Words, ...]] = []
    for name in DIMENSIONS:
        both = ((str(side[name].score) if name in side else "-",) for side in (own, audited))
        evidence = cell_text(own[name].evidence, 400) if name in own else ("-",)
        rows.append(((_words(name),), cell_text(weights.get(name, "-"), 30), *both, evidence))
    return TableBlock(
        ("dimension", "weight", "score", "audit", "what the score rests on"), tuple(rows), "Scores by dimension"
    )


def _audit(state: PlanState, own: Scores, audited: Scores) -> Iterator[Block]:
    if not audited:
        yield Paragraph(("The challenger did not audit the scores.",))
    elif not state.disputes:
        yield Paragraph(("The challenger's audit differs by less than 2 in every dimension that both scored.",))
    else:
        yield Paragraph(("The challenger's audit differs by 2 or more here; both scores are kept:",))
        for dispute in state.disputes:
            name = dispute.dimension
            sides = (("Synthesizer", dispute.synthesizer, own), ("Challenger", dispute.challenger, audited))
            pairs = ((f"{who}: {score}", side[name].evidence if name in side else "-") for who, score, side in sides)
            yield Subsection(f"disputed-{name}", f"Disputed: {_words(name)}", (Fields(tuple(pairs)),))


def _refusal(refusal: ScoreRefused) -> Words:
    received, dimension = Quoted(one_line(repr(refusal.received), 80)), Quoted(one_line(refusal.dimension, 80))
    return (f"{refusal.by}, ", dimension, ": ", received, ": ", Quoted(one_line(refusal.reason, 300)))
