"""What a notebook needs of handed-over documents; each name loads on first use."""

from .assessment import Assessment as Assessment
from .assessment import assess as assess
from .bridges.challenges import challenges as challenges
from .bridges.claims import claims as claims
from .bridges.gaps import gap_plan as gap_plan
from .bridges.must_haves import must_have_findings as must_have_findings
from .bridges.verification import verification as verification
from .checking.check import Report as Report
from .checking.check import check as check
from .checking.violation import Violation as Violation
from .contracts.base import Document as Document
from .contracts.load import load as load
from .contracts.load import load_text as load_text
from .contracts.tree import Tree as Tree
from .dimensions.check import PlanCheck as PlanCheck
from .dimensions.check import plan_check as plan_check
from .plan import Plan as Plan
from .plan import parse_plan as parse_plan
from .plan import read_plan as read_plan
from .tables import DocumentTables as DocumentTables
from .tables import frame as frame
