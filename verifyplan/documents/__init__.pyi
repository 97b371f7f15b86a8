"""The names of documents that a notebook uses; each loads on first use."""

from .bridges.blocker_challenges import challenges as challenges
from .bridges.gap_plan import gap_plan as gap_plan
from .bridges.must_haves import must_have_findings as must_have_findings
from .bridges.run_verification import verification as verification
from .bridges.summary_claims import claims as claims
from .checks.catalogue import Violation as Violation
from .checks.check import Report as Report
from .checks.check import check as check
from .dimensions.plan_check import PlanCheck as PlanCheck
from .dimensions.plan_check import plan_check as plan_check
from .document_tables import DocumentTables as DocumentTables
from .document_tables import frame as frame
from .loading import load as load
from .loading import load_text as load_text
from .reading.document import Document as Document
from .tree import Tree as Tree
