"""Draw analysis results as charts: a theme and one file per chart; nothing is computed here.

Every chart takes the result that it draws, or runs, a run or a path, and the options of `ChartOptions`. A table's
`attrs["synthetic"]` marks generated data; a column that is missing is a TableError.
"""

from verifyplan.charts.audit import audit
from verifyplan.charts.challenge_pool import challenge_pool
from verifyplan.charts.class_mix import class_mix
from verifyplan.charts.coverage import coverage
from verifyplan.charts.debate import debate
from verifyplan.charts.plan_graph import plan_graph
from verifyplan.charts.quality_scores import quality_scores
from verifyplan.charts.queue import queue
from verifyplan.charts.rank_stability import rank_stability
from verifyplan.charts.ranking import ranking
from verifyplan.charts.score_distributions import score_distributions
from verifyplan.charts.sensitivity import sensitivity
from verifyplan.charts.timeline import timeline
from verifyplan.charts.transitions import transitions
from verifyplan.charts.truth_metrics import truth_metrics
from verifyplan.charts.usage import usage
from verifyplan.charts.vote_matrix import vote_matrix
from verifyplan.text import only_names

__all__ = [
    "audit",
    "challenge_pool",
    "class_mix",
    "coverage",
    "debate",
    "plan_graph",
    "quality_scores",
    "queue",
    "rank_stability",
    "ranking",
    "score_distributions",
    "sensitivity",
    "timeline",
    "transitions",
    "truth_metrics",
    "usage",
    "vote_matrix",
]

__dir__, __getattr__ = only_names(__name__, __all__, "chart")
