"""The short list of names a notebook starts with."""

from verifyplan import charts as charts
from verifyplan import datasets as datasets
from verifyplan.rules.settings import convergence_block as convergence_block
