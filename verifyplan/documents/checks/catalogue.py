"""All rules of the check, as data, and the one place where a violation of one is made (rule D2)."""

from __future__ import annotations

from itertools import chain

from verifyplan.documents.checks.rules_across import RULES_ACROSS
from verifyplan.documents.checks.rules_common import RULES_COMMON
from verifyplan.documents.checks.rules_plan import RULES_PLAN
from verifyplan.documents.checks.rules_reports import RULES_REPORTS
from verifyplan.documents.checks.rules_research import RULES_CODEBASE_MAP, RULES_RESEARCH_NOTE, RULES_RESEARCH_SUMMARY
from verifyplan.documents.checks.violation import Rule, Violation
from verifyplan.redaction import redact

_TABLES: tuple[tuple[Rule, ...], ...] = (
    RULES_COMMON,
    RULES_RESEARCH_NOTE,
    RULES_RESEARCH_SUMMARY,
    RULES_PLAN,
    RULES_REPORTS,
    RULES_CODEBASE_MAP,
    RULES_ACROSS,
)

RULES: dict[str, Rule] = {rule.id: rule for rule in chain.from_iterable(_TABLES)}
"""Every rule by its id, kind by kind."""

_LONGEST = 500


def violation(rule: str, path: str, line: int, message: str, fix: str) -> Violation:
    """A violation of a rule of the catalogue, with the rule's severity; long texts are cut, keys taken out."""
    return Violation(path, max(line, 1), rule, RULES[rule].severity, _cut(message), _cut(fix))


def _cut(text: str) -> str:
    """A message in one line that a person can read."""
    line = redact(" ".join(text[:4_000].split()))
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST].rstrip()}..."
