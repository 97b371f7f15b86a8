"""The rows of scores: the synthesizer's and the audit's, those refused and those disputed included (rule A10)."""

from __future__ import annotations

from verifyplan.frames.log_index import Row, RunEvents
from verifyplan.protocol.event_plan import ScoreGiven, ScoreRefused
from verifyplan.protocol.score import DIMENSIONS
from verifyplan.rules.scoring import WEIGHTS
from verifyplan.runlog.plan_state import PlanState


def score_rows(story: RunEvents, state: PlanState) -> list[Row]:
    """One row a dimension and author, as it was given last; a score of what is no dimension has no row.

    Weights are the run's own, else the default ones.
    """
    given = story.started.plan.settings.weights or {}
    disputed = {event.dimension for event in state.disputes}
    rows: dict[tuple[str, str], Row] = {}
    for event in story.events:
        if isinstance(event, ScoreGiven | ScoreRefused) and event.dimension in DIMENSIONS:
            rows[event.by, event.dimension] = {
                "run_id": story.run_id,
                "by": event.by,
                "dimension": event.dimension,
                "iteration": event.iteration,
                **_score(event),
                "disputed": event.dimension in disputed,
                "weight": _weight(given.get(event.dimension, WEIGHTS[event.dimension])),
            }
    return list(rows.values())


def _score(event: ScoreGiven | ScoreRefused) -> Row:
    if isinstance(event, ScoreRefused):
        return {"score": None, "evidence": None, "refused": event.reason}
    return {"score": event.score, "evidence": event.evidence, "refused": None}


def _weight(weight: object) -> float | None:
    try:
        return float(str(weight))
    except ValueError:
        return None
