"""rules A2, A3, A5 and A6 as tables of the tests' own, which no rule of the library has a part in."""

from __future__ import annotations

from typing import Any

RANK = {"BLOCKING": 0, "SIGNIFICANT": 1, "MINOR": 2}
LIKELY = {"MED": 0, "LOW": 1, None: 2}
MAY_BECOME = {
    "OPEN": {"RESOLVED", "UNRESOLVED", "DEFERRED", "WITHDRAWN"},
    "UNRESOLVED": {"RESOLVED", "DEFERRED", "WITHDRAWN"},
}
TAGS = {"surfaced": "DEFERRED_SURFACED", "probed": "DEFERRED_PROBED"}
ON_DIRECTIVE = {
    "surface": ("RE-SWEEP", None),
    "probe": ("RE-PROBE", None),
    "domain-expert": ("CONSULT", "domain-expert"),
    "devils-advocate": ("CONSULT", "devils-advocate"),
}
ROLES = (*ON_DIRECTIVE, "challenger", "resolver", "synthesizer", "score", "audit")
AGENTS = {"surface": "researcher", "probe": "researcher", "score": "synthesizer", "audit": "challenger"}
TOOLS = {
    "resolver": {"Read": 8, "Grep": 5, "memory_search": 3, "WebSearch": 3, "WebFetch": 2},
    "surface": {"memory_search": 3, "Grep": 4, "Read": 3, "git_log": 1},
    "probe": {"Grep": 4, "Read": 3, "memory_search": 2, "WebSearch": 1},
} | {role: {"Read": 8, "Grep": 5} for role in ROLES if role not in ("resolver", "surface", "probe")}
WEIGHTS = dict(zip(("approach_soundness", "risk_coverage", "assumption_validity", "integration_feasibility",
                    "unknowns_coverage", "constraint_alignment"), (25, 20, 15, 15, 15, 10), strict=True))  # fmt: skip


def source_of(origin: str) -> str:
    return "research" if origin in ("surfaced", "probed") else origin


def most(source: str, iteration: int, tightened: bool) -> int:
    """rules A5 and A6: new challenges of a source in an iteration."""
    if tightened and source in ("research", "challenger"):
        return 0 if source == "research" else 1
    return {"research": 2, "challenger": 5 if iteration == 1 else 3, "domain-expert": 3, "devils-advocate": 2}[source]


def table(pool: list[Any], last: bool, policy: str, waits_blocking: bool = False) -> tuple[str, str | None, bool]:
    """rule A3; `pool` holds (severity, status, alternative), `waits_blocking` whether a BLOCKING one overflowed."""
    status, verdict, strong = rows(pool, last, policy)
    goes_on = waits_blocking and not last and verdict is not None
    return ("CONTINUE", None, False) if goes_on else (status, verdict, strong)


def rows(pool: list[Any], last: bool, policy: str) -> tuple[str, str | None, bool]:
    """The table, row by row."""
    unsettled = [one for one in pool if one[1] in ("OPEN", "UNRESOLVED")]
    blocking = [one for one in unsettled if one[0] == "BLOCKING"]
    significant = [one for one in unsettled if one[0] == "SIGNIFICANT"]
    if policy == "deliberate" and not last:
        if "UNRESOLVED" in {status for _, status, _ in blocking}:
            return "BLOCKED", None, False
        if "OPEN" in {status for _, status, _ in blocking + significant}:
            return "CONTINUE", None, False
    if blocking:
        return ("FORCED_EXIT", "RETHINK", False) if last else ("BLOCKED", None, False)
    if not significant:
        return "CONVERGED", "PROCEED", False
    if len(significant) <= 2:
        return "CONVERGED", "REVISE", False
    if all(alternative.strip() for _, _, alternative in significant):
        return "CONVERGED", "REVISE", True
    return ("FORCED_EXIT", "REVISE", True) if last else ("CONTINUE", None, False)
