"""The rules of research notes, research summaries and codebase maps, as data (document 003; rule D2)."""

from __future__ import annotations

from verifyplan.documents.checks.violation import Rule

RULES_RESEARCH_NOTE = (
    Rule("research-note/form", "info", "D2", "A known older form of a research note is named once."),
    Rule("research-note/field-missing", "error", "D2", "Frontmatter has confidence, sources_checked and coverage."),
    Rule(
        "research-note/field-type", "error", "D2", "confidence and coverage are words of their lists, the rest counts."
    ),
    Rule("research-note/section-missing", "error", "D2", "There are Key Findings, Gaps and Sources."),
    Rule("research-note/no-findings", "error", "D2", "Key Findings holds findings."),
    Rule("research-note/source-level-missing", "error", "D2", "Each finding has a source level, [S1] to [S6] or [S0]."),
    Rule("research-note/source-level", "error", "D2", "Source levels are [S0] (codebase maps) to [S6]."),
    Rule("research-note/confidence-missing", "error", "D2", "Each finding states its confidence."),
    Rule("research-note/speculative", "error", "D2", "What is [SPECULATIVE] is no finding of high confidence."),
    Rule(
        "research-note/version-source",
        "error",
        "D2",
        "Versions, API signatures and settings come from S1-S3, or from the codebase itself (S0).",
    ),
    Rule(
        "research-note/source-unlisted", "error", "D2", "Each source level of a finding stands in the list of sources."
    ),
    Rule("research-note/source-silent", "warning", "D2", "Each listed source says what it provided."),
    Rule("research-note/sources-counted", "warning", "D2", "No more sources are listed than were checked."),
)

RULES_RESEARCH_SUMMARY = (
    Rule("research-summary/form", "info", "D2", "A known older form of a research summary is named once."),
    Rule("research-summary/field-missing", "error", "D2", "Frontmatter has confidence, sources and conflicts."),
    Rule("research-summary/field-type", "error", "D2", "confidence is high, medium or low, the others are counts."),
    Rule(
        "research-summary/section-missing",
        "error",
        "D2",
        "There are Resolved Decisions, Open Questions, Deferred Ideas.",
    ),
    Rule("research-summary/table-columns", "error", "D2", "Decisions have Topic, Decision, Confidence and Sources."),
    Rule("research-summary/decision-empty", "error", "D2", "Each decision names its topic and what was decided."),
    Rule("research-summary/decision-confidence", "error", "D2", "Each decision has a confidence: high, medium or low."),
    Rule(
        "research-summary/decision-speculative",
        "error",
        "D2",
        "A decision tagged [SPECULATIVE] is of low confidence.",
    ),
    Rule("research-summary/decision-sources", "error", "D2", "Each decision names its sources."),
    Rule("research-summary/question-unmarked", "error", "D2", "Each open question is marked [NEEDS DECISION]."),
)

RULES_CODEBASE_MAP = (
    Rule("codebase-map/form", "info", "D2", "A known other form of a codebase map is named once."),
    Rule("codebase-map/focus", "error", "D2", "A map is one of the seven files of the four focus areas."),
    Rule(
        "codebase-map/section-missing", "error", "D2", "A map has the sections of its file; any map has at least one."
    ),
    Rule("codebase-map/table-columns", "error", "D2", "A map's table has the columns of its file."),
    Rule(
        "codebase-map/claim-without-path",
        "error",
        "D2",
        "Each row and list item names a path: strict on purpose, as the contract allows no vague references.",
    ),
    Rule("codebase-map/path-missing", "error", "D2", "Paths that a map names exist in the repository."),
    Rule("codebase-map/path-outside", "error", "D2", "Paths that a map names lie in the repository."),
)
