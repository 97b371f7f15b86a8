"""Notebook widgets: controls over tables, analyses, charts and runs."""

from verifyplan.text import only_names
from verifyplan.widgets.comparison import ModeComparison
from verifyplan.widgets.explorer import RunExplorer
from verifyplan.widgets.live import LiveRun
from verifyplan.widgets.tuner import WeightTuner

__all__ = ["LiveRun", "ModeComparison", "RunExplorer", "WeightTuner"]

__dir__, __getattr__ = only_names(__name__, __all__, "widget")
