"""WHAT IS MOVED: the researcher's bench in a notebook; controls over tables, analyses, charts and runs."""

from verifyplan.widgets.comparison import ModeComparison
from verifyplan.widgets.explorer import RunExplorer
from verifyplan.widgets.live import LiveRun
from verifyplan.widgets.tuner import WeightTuner

__all__ = ["LiveRun", "ModeComparison", "RunExplorer", "WeightTuner"]
