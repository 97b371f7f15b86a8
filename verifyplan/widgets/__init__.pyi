"""The notebook widgets; each loads on first use."""

from .comparison import ModeComparison as ModeComparison
from .explorer import RunExplorer as RunExplorer
from .live import LiveRun as LiveRun
from .tuner import WeightTuner as WeightTuner
