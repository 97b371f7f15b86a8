"""WHAT THE PLAN SAYS: Markdown plans read into sections, steps and references, and assessed (SPEC A8)."""

from verifyplan.documents.assessment import Assessment as Assessment
from verifyplan.documents.assessment import assess as assess
from verifyplan.documents.plan import Plan as Plan
from verifyplan.documents.plan import parse_plan as parse_plan
from verifyplan.documents.plan import read_plan as read_plan
