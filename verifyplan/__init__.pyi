"""The short list of names a notebook starts with."""

from . import charts as charts
from . import datasets as datasets
from .analysis.classify import classify as classify
from .rules.settings import convergence_block as convergence_block
from .version import VERSION as __version__
