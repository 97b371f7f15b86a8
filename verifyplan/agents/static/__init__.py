"""Workers that need no model: checkers that open the cited evidence, each in its own way (rule G2)."""

from verifyplan.agents.static.backend import CHECKERS as CHECKERS
from verifyplan.agents.static.backend import StaticBackend as StaticBackend
