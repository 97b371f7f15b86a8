"""The quality score and the challenger's audit of it; computed once, when the verdict stands (rule A10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import ValidationError

from verifyplan.protocol.event_plan import ScoreDisputed, ScoreGiven, ScoreRefused
from verifyplan.protocol.plan_call import Answer, ScoreAnswer
from verifyplan.protocol.score import DIMENSIONS, Dimension, DimensionScore
from verifyplan.rules.scoring import audit, final_score
from verifyplan.runs.plan.hub import ActiveRun


async def score(hub: ActiveRun) -> int | None:
    """Ask for scores and for their audit; the final score, None unless all six dimensions count.

    Nothing is asked once the tokens are used up, and no audit of a challenger that failed in this iteration. A replay
    whose verdict stands where none was asked for goes without: `Past.unscored` tells of it.
    """
    if hub.budget_used_up:
        return None
    asked = f"i{hub.state.iteration}/score"
    if hub.caller.past.may_go_unscored and hub.caller.past.result(asked) is None:
        hub.caller.past.unscored = asked
        return None
    [answer] = await hub.ask("score")
    given = _given(hub, answer, "synthesizer")
    if not hub.budget_used_up:
        [answer] = await hub.ask("audit")
        audited = _given(hub, answer, "challenger")
        _dispute(hub, given, audited)
    return final_score(given, hub.settings.weights) if len(given) == len(DIMENSIONS) else None


def _dispute(hub: ActiveRun, given: Mapping[str, int], audited: Mapping[str, int]) -> None:
    """Tell where the two scores lie apart, in the dimensions that both have, whether or not there is a final score."""
    both: list[Dimension] = [dimension for dimension in DIMENSIONS if dimension in given and dimension in audited]
    alike: dict[str, int] = dict.fromkeys(
        DIMENSIONS, 1
    )  # the audit compares all six: where one score is missing, nothing differs
    own, other = ({**alike, **{dimension: scores[dimension] for dimension in both}} for scores in (given, audited))
    for dimension in audit(own, other):
        hub.emit(
            ScoreDisputed(
                iteration=hub.state.iteration,
                dimension=dimension,
                synthesizer=given[dimension],
                challenger=audited[dimension],
            )
        )


def _given(hub: ActiveRun, answer: Answer | None, by: Literal["synthesizer", "challenger"]) -> dict[str, int]:
    """The scores that count, by dimension; what does not count is told with its reason."""
    if not isinstance(answer, ScoreAnswer):
        return {}
    counted: dict[str, int] = {}
    for dimension in DIMENSIONS:
        raw = answer.scores.get(dimension)
        try:
            if raw is None:
                raise ValueError("is missing")
            checked = DimensionScore(score=raw.score, evidence=raw.evidence)
        except ValueError as error:
            _refuse(hub, by, dimension, raw.model_dump() if raw else None, _words(error))
            continue
        counted[dimension] = checked.score
        hub.emit(
            ScoreGiven(
                iteration=hub.state.iteration,
                by=by,
                dimension=dimension,
                score=checked.score,
                evidence=checked.evidence,
            )
        )
    for name in sorted(answer.scores.keys() - set(DIMENSIONS)):
        _refuse(hub, by, name, answer.scores[name].model_dump(), "is no dimension")
    return counted


def _refuse(
    hub: ActiveRun, by: Literal["synthesizer", "challenger"], dimension: str, received: object, reason: str
) -> None:
    hub.emit(ScoreRefused(iteration=hub.state.iteration, by=by, dimension=dimension, received=received, reason=reason))


def _words(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    wrong = {str(one["loc"][0]) for one in error.errors(include_url=False, include_input=False)}
    told = {"score": "the score is no whole number from 1 to 10", "evidence": "it comes without evidence"}
    return "; ".join(told[name] for name in sorted(wrong))
