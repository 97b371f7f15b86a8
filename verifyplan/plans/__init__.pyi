"""The names of plans that a notebook uses; each loads on first use."""

from .assessment import Assessment as Assessment
from .assessment import assess as assess
from .plan import Plan as Plan
from .plan import parse_plan as parse_plan
from .plan import read_plan as read_plan
