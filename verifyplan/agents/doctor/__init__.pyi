from . import listing as listing
from .check import Check as Check
from .diagnosis import diagnose as diagnose
