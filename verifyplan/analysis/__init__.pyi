"""Analyses of recorded runs, one method a file; no analysis calls an agent."""

from . import weights as weights
from .agreement import agreement as agreement
from .challenges import challenge_pool as challenge_pool
from .challenges import coverage as coverage
from .classify import classify as classify
from .compare import compare as compare
from .cost import cost as cost
from .cost import usage as usage
from .debates import debates as debates
from .detection import detection as detection
from .disagreement import disagreement as disagreement
from .explain import explain as explain
from .panels.flips import flips as flips
from .panels.influence import influence as influence
from .panels.panel import panel as panel
from .panels.workers import workers as workers
from .rates.prediction_powered import ppi as ppi
from .rates.rogan_gladen import corrected_rate as corrected_rate
from .replay import Setting as Setting
from .replay import replay as replay
from .steps import steps as steps
from .study_design.monitor import monitor as monitor
from .study_design.power import power as power
from .study_design.sample_size import sample_size as sample_size
from .vote_tables import queue as queue
from .vote_tables import vote_matrix as vote_matrix
