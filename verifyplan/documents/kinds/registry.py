"""The model of each kind of document; a kind is added by one line (rule D1)."""

from __future__ import annotations

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
