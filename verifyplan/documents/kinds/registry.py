"""The model of each kind of document; a kind is added by one line (rule D1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from verifyplan.documents.checks.catalogue import Violation
from verifyplan.documents.checks.codebase import check_codebase_map
from verifyplan.documents.checks.debug_log import check_debug_log
from verifyplan.documents.checks.integration import check_integration
from verifyplan.documents.checks.plan import check_plan
from verifyplan.documents.checks.plan_check_report import check_plan_check
from verifyplan.documents.checks.research import check_research_note
from verifyplan.documents.checks.research_summary import check_research_summary
from verifyplan.documents.checks.summary import check_summary
from verifyplan.documents.checks.verification import check_verification
from verifyplan.documents.kinds.codebase_map import CodebaseMap
from verifyplan.documents.kinds.debug_log import DebugLog
from verifyplan.documents.kinds.execution_summary import ExecutionSummary
from verifyplan.documents.kinds.integration_report import IntegrationReport
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.kinds.plan_check_report import PlanCheckReport
from verifyplan.documents.kinds.research_note import ResearchNote
from verifyplan.documents.kinds.research_summary import ResearchSummary
from verifyplan.documents.kinds.verification import VerificationDocument
from verifyplan.documents.reading.base import Document, Kind

MODELS: dict[Kind, type[Document]] = {
    "research-note": ResearchNote,
    "research-summary": ResearchSummary,
    "plan": PlanDocument,
    "plan-check": PlanCheckReport,
    "summary": ExecutionSummary,
    "verification": VerificationDocument,
    "integration": IntegrationReport,
    "debug-log": DebugLog,
    "codebase-map": CodebaseMap,
}

Checker = Callable[[Any, Path | None], Iterator[Violation]]
"""Takes a document of its kind and the root of the repository, or None where that is not there."""

CHECKERS: dict[Kind, Checker] = {
    "research-note": check_research_note,
    "research-summary": check_research_summary,
    "plan": check_plan,
    "plan-check": check_plan_check,
    "summary": check_summary,
    "verification": check_verification,
    "integration": check_integration,
    "debug-log": check_debug_log,
    "codebase-map": check_codebase_map,
}
