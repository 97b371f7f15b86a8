"""WHAT IS SEEN: a theme and one file per chart; draws analysis results, computes nothing."""

from verifyplan.charts.challenge_pool import challenge_pool
from verifyplan.charts.class_mix import class_mix
from verifyplan.charts.coverage import coverage
from verifyplan.charts.export import export
from verifyplan.charts.figure import Figure
from verifyplan.charts.rounds import rounds
from verifyplan.charts.transitions import transitions
from verifyplan.charts.truth_metrics import truth_metrics
from verifyplan.charts.vote_matrix import vote_matrix

__all__ = [
    "Figure",
    "challenge_pool",
    "class_mix",
    "coverage",
    "export",
    "rounds",
    "transitions",
    "truth_metrics",
    "vote_matrix",
]
