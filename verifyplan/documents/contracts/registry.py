"""The model of each kind of document; a kind is added by one line (SPEC D1)."""

from __future__ import annotations

from verifyplan.documents.contracts.base import Document, Kind
from verifyplan.documents.contracts.codebase_map import CodebaseMap
from verifyplan.documents.contracts.debug_log import DebugLog
from verifyplan.documents.contracts.execution_summary import ExecutionSummary
from verifyplan.documents.contracts.integration_report import IntegrationReport
from verifyplan.documents.contracts.plan import PlanDocument
from verifyplan.documents.contracts.plan_check_report import PlanCheckReport
from verifyplan.documents.contracts.research_note import ResearchNote
from verifyplan.documents.contracts.research_summary import ResearchSummary
from verifyplan.documents.contracts.verification import VerificationDocument

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
