"""The short list of names a notebook starts with."""

from . import agents as agents
from . import charts as charts
from . import datasets as datasets
from .agents.scripted import ScriptedBackend as ScriptedBackend
from .analysis.agreement import agreement as agreement
from .analysis.classify import classify as classify
from .analysis.compare import compare as compare
from .analysis.comparison import Comparison as Comparison
from .analysis.cost import cost as cost
from .analysis.explain import explain as explain
from .analysis.replay import replay as replay
from .analysis.views import queue as queue
from .analysis.views import vote_grid as vote_grid
from .charts.export import export as export
from .frames.artifact import read_artifact as read_artifact
from .frames.artifact import write_artifact as write_artifact
from .frames.columns import documentation as documentation
from .frames.load import load as load
from .frames.runset import RunSet as RunSet
from .frames.votes import from_votes as from_votes
from .loops.cross import crossverify as crossverify
from .loops.run import Run as Run
from .protocol.artifact import Artifact as Artifact
from .protocol.finding import Finding as Finding
from .protocol.finding import PlanItem as PlanItem
from .reports.comparison import report as report
from .rules.settings import convergence_block as convergence_block

__version__: str
