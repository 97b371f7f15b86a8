"""The types of what functions return; each loads on first use."""

from .analysis.aggregation.aggregation import Aggregation as Aggregation
from .analysis.comparison import Comparison as Comparison
from .analysis.detection import Detection as Detection
from .analysis.explain import Explanation as Explanation
from .analysis.panels.flips_result import Flips as Flips
from .analysis.panels.influence_result import Influence as Influence
from .analysis.panels.panel_result import PanelWorth as PanelWorth
from .analysis.panels.worker_result import Workers as Workers
from .analysis.rates.corrected import CorrectedRate as CorrectedRate
from .analysis.study_design.monitor import Monitor as Monitor
from .analysis.study_design.power import Power as Power
from .analysis.study_design.sample_size import SampleSize as SampleSize
from .analysis.weights.weight_fit import WeightFit as WeightFit
from .charts.figure import Figure as Figure
from .frames.panel_votes import PanelVotes as PanelVotes
from .runs.batch.result import BatchRuns as BatchRuns
from .runs.cross.run import CrossRun as CrossRun
from .runs.debate.run import Debate as Debate
from .runs.estimated_use import Estimate as Estimate
from .runs.plan.bench import PlanBench as PlanBench
from .runs.plan.pauses import Pause as Pause
from .runs.plan.run import PlanRun as PlanRun
from .runs.replayed import Replayed as Replayed
from .runs.revise.revision import Revision as Revision
from .runs.revise.revision import Round as Round
from .runs.run import Run as Run
