"""The checker of each kind of document, and those that look across documents, one line each (rules D2, D3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from verifyplan.documents.checks.across.attempts import check_attempts
from verifyplan.documents.checks.across.conflicts import check_conflicts
from verifyplan.documents.checks.across.decisions import check_decisions
from verifyplan.documents.checks.across.must_haves import check_must_haves
from verifyplan.documents.checks.across.plans import check_plans
from verifyplan.documents.checks.across.requirements import check_requirements
from verifyplan.documents.checks.across.research import check_research
from verifyplan.documents.checks.across.summaries import check_summaries
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
from verifyplan.documents.reading.base import Kind
from verifyplan.documents.tree import Tree

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

ACROSS: tuple[Callable[[Tree], Iterator[Violation]], ...] = (
    check_research,
    check_conflicts,
    check_decisions,
    check_plans,
    check_requirements,
    check_summaries,
    check_must_haves,
    check_attempts,
)
"""Each takes all documents of a folder."""
