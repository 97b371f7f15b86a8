"""The quality score of a plan run: six dimensions, the audit, what was refused, why there is none (rules A10, A13)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from verifyplan.protocol.event_plan import ScoreDisputed, ScoreGiven, ScoreRefused
from verifyplan.protocol.records import DIMENSIONS, Dimension
from verifyplan.reports.blocks import (
    Block,
    Bullets,
    Entry,
    Fields,
    Paragraph,
    Said,
    Section,
    Strong,
    Table,
    Words,
    brief,
)
from verifyplan.reports.visible import one_line
from verifyplan.rules.scoring import INFORMS, WEIGHTS
from verifyplan.runlog.plan_state import PlanState

UNSEEN = "nothing was looked at"
"""What the evidence of a score says that rests on nothing."""

Scores = Mapping[Dimension, ScoreGiven]


def scores(state: PlanState) -> Section:
    """The final score, each dimension, and the audit; nothing where nobody gave a score."""
    refused = any(isinstance(one, ScoreRefused) for one in state.refusals)
    return Section("Scores", tuple(_scores(state)) if state.scores or refused else ())


def _scores(state: PlanState) -> Iterator[Block]:
    final = state.outcome.score if state.outcome else None
    if final is not None:
        nothing = ", resting on nothing: no look-up was made" if nothing_seen(state) else ""
        yield Paragraph((Strong(f"Quality score, not used for the verdict: {final} of 10{nothing}."), f" {INFORMS}"))
    else:
        yield Paragraph(("No final score: ", *why_none(state), "."))
    own, audited = given(state, "synthesizer"), given(state, "challenger")
    if own or audited:
        yield _table(state, own, audited)
        yield from _unseen(own)
    if own and (state.disputes or not nothing_seen(state)):
        yield from _audit(state, own, audited)
    refused = [one for one in state.refusals if isinstance(one, ScoreRefused)]
    if refused:
        yield Paragraph((Strong("Refused:"),))
        yield Bullets(tuple(_refused(one) for one in refused))


def _unseen(own: Scores) -> Iterator[Block]:
    """The dimensions about which nothing was looked at (rule A10)."""
    names = [_named(name) for name in DIMENSIONS if name in own and UNSEEN in own[name].evidence.lower()]
    if names:
        told = f" {', '.join(names)}. A score there rests on no look-up, and says nothing in favour of the plan."
        yield Paragraph((Strong("Nothing was looked at:"), told))


def nothing_seen(state: PlanState) -> bool:
    """Whether every dimension was scored, and each score says that nothing was looked at (rule A10)."""
    own = given(state, "synthesizer")
    return all(name in own and UNSEEN in own[name].evidence.lower() for name in DIMENSIONS)


def given(state: PlanState, by: str) -> dict[Dimension, ScoreGiven]:
    """The scores that count, by dimension, of the synthesizer or of the challenger's audit."""
    return {score.dimension: score for score in state.scores if score.by == by}


def why_none(state: PlanState) -> Words:
    """Why a run has no final score, as the end of a sentence (rule A10)."""
    outcome = state.outcome
    if outcome is None:
        return ("it waits for an answer" if state.waiting else "the run has not ended",)
    if outcome.ended_by == "sizing":
        return ("a trivial plan is not scored",)
    if outcome.verdict is None:
        return ("the run ended without a verdict",)
    refused = [one.dimension for one in state.refusals if isinstance(one, ScoreRefused) and one.by == "synthesizer"]
    if refused:
        return ("the score of ", Said(one_line(", ".join(dict.fromkeys(refused)), 300)), " was refused")
    missing = [name for name in DIMENSIONS if name not in given(state, "synthesizer")]
    if len(missing) == len(DIMENSIONS):
        return ("the synthesizer gave no scores",)
    return (f"the synthesizer gave no score for {', '.join(map(_named, missing))}" if missing else "none is recorded",)


def _named(dimension: str) -> str:
    return dimension.replace("_", " ")


def _table(state: PlanState, own: Scores, audited: Scores) -> Table:
    weights = state.inputs.settings.weights or {name: str(weight) for name, weight in WEIGHTS.items()}
    head = ("dimension", "weight", "score", "audit", "what the score rests on")
    rows = tuple(_row(name, weights.get(name, "-"), own, audited) for name in DIMENSIONS)
    return Table(head, rows, "Scores by dimension")


def _row(name: Dimension, weight: str, own: Scores, audited: Scores) -> tuple[Words, ...]:
    rests = brief(own[name].evidence, 400) if name in own else ("-",)
    return (_named(name),), brief(weight, 30), (_score(own, name),), (_score(audited, name),), rests


def _score(scores: Scores, name: Dimension) -> str:
    return str(scores[name].score) if name in scores else "-"


def _audit(state: PlanState, own: Scores, audited: Scores) -> Iterator[Block]:
    if not audited:
        yield Paragraph(("The challenger did not audit the scores.",))
    elif not state.disputes:
        yield Paragraph(("The challenger's audit differs by less than 2 in every dimension that both scored.",))
    else:
        yield Paragraph(("The challenger's audit differs by 2 or more here; both scores stand and neither wins:",))
        for dispute in state.disputes:
            yield _disputed(dispute, own, audited)


def _disputed(dispute: ScoreDisputed, own: Scores, audited: Scores) -> Entry:
    """Both scores and both reasons."""
    name = dispute.dimension
    sides = (("Synthesizer", dispute.synthesizer, own), ("Challenger", dispute.challenger, audited))
    pairs = tuple((f"{who}: {score}", side[name].evidence if name in side else "-") for who, score, side in sides)
    return Entry(f"disputed-{name}", f"Disputed: {_named(name)}", (Fields(pairs),))


def _refused(one: ScoreRefused) -> Words:
    received, dimension = Said(one_line(repr(one.received), 80)), Said(one_line(one.dimension, 80))
    return (f"{one.by}, ", dimension, ": ", received, ": ", Said(one_line(one.reason, 300)))
