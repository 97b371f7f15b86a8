"""How many tool calls an agent has in an iteration, and which calls are refused (SPEC A12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from verifyplan.protocol.call import Tool
from verifyplan.protocol.plan_call import Role
from verifyplan.protocol.research import UnknownType

ResearchMode = Literal["resolve", "surface", "probe"]

LIMITS: dict[ResearchMode, dict[Tool, int]] = {
    "resolve": {"Read": 8, "Grep": 5, "memory_search": 3, "WebSearch": 3, "WebFetch": 2},
    "surface": {"memory_search": 3, "Grep": 4, "Read": 3, "git_log": 1},
    "probe": {"Grep": 4, "Read": 3, "memory_search": 2, "WebSearch": 1},
}
"""Calls per agent and iteration by research mode (document 000 §9); a tool that is not named has none."""

OTHERS: dict[Tool, int] = {tool: LIMITS["resolve"][tool] for tool in ("Read", "Grep")}
"""The limits of agents that do no research: mode 1's Read and Grep."""

MODES: dict[Role, ResearchMode] = {"resolver": "resolve", "surface": "surface", "probe": "probe"}
"""The research mode of the roles that do research."""


def limits_of(role: Role) -> dict[Tool, int]:
    """The tool calls of a role in one iteration; the roles that do no research have mode 1's Read and Grep.

    >>> limits_of("surface")["git_log"], limits_of("challenger")
    (1, {'Read': 8, 'Grep': 5})
    """
    return LIMITS[MODES[role]] if role in MODES else OTHERS


WEB_UNKNOWNS: tuple[UnknownType, ...] = ("API_BEHAVIOR", "STALE_KNOWLEDGE", "INTEGRATION_UNKNOWN")
"""The unknowns that mode 1 may take to the web; mode 3 may take temporal risks there."""

_POOLED: tuple[Tool, ...] = ("Grep", "Read")


@dataclass(frozen=True)
class Budget:
    """What one agent may call in one iteration; `granted` is what the synthesizer added by directive."""

    limits: Mapping[Tool, int]
    memory: bool = False
    """Whether a memory is configured; without one its share is a pool that Grep and Read draw on."""
    granted: Mapping[Tool, int] = field(default_factory=dict)

    def limit(self, tool: Tool) -> int:
        """Calls of one tool, what was granted included and the pool left out; memory_search has none without one."""
        if tool == "memory_search" and not self.memory:
            return 0
        return self.limits.get(tool, 0) + self.granted.get(tool, 0)

    @property
    def pool(self) -> int:
        """Calls beyond their limits that Grep and Read share."""
        unused = self.limits.get("memory_search", 0) + self.granted.get("memory_search", 0)
        return 0 if self.memory else unused


def refusal(tool: Tool, used: Mapping[Tool, int], budget: Budget) -> str:
    """Why one more call of a tool is refused, in words for the agent; empty if it is allowed.

    `used` counts the calls of this agent in this iteration so far, refused ones left out.
    Source: SPEC A12, document 000 §9.

    >>> refusal("Grep", {"Grep": 5}, Budget(LIMITS["resolve"], memory=True))
    'Grep is used up: 5 of 5 calls in this iteration'
    >>> refusal("Grep", {"Grep": 5}, Budget(LIMITS["resolve"], memory=False))
    ''
    """
    limit = budget.limit(tool)
    if tool == "memory_search" and not budget.memory:
        return "memory_search is refused: no memory is configured"
    if used.get(tool, 0) < limit:
        return ""
    drawn = sum(max(0, used.get(one, 0) - budget.limit(one)) for one in _POOLED)
    if tool in _POOLED and drawn < budget.pool:
        return ""
    if limit == 0:
        return f"{tool} is not among this agent's tools"
    return f"{tool} is used up: {used.get(tool, 0)} of {limit} calls in this iteration"


def web_refusal(mode: ResearchMode, serves: str, unknown: UnknownType | None, temporal: bool) -> str:
    """Why a web call is refused for what it serves; empty if it is allowed.

    A call names the unknown or risk that it serves (`U4`, `P1`). Mode 1 may ask the web for three types of
    unknown, mode 3 for temporal risks such as deprecation, mode 2 for nothing. Source: SPEC A12.

    >>> web_refusal("resolve", "U1", "FILE_MISSING", False)
    'the web is no place to ask about FILE_MISSING: only API_BEHAVIOR, STALE_KNOWLEDGE, INTEGRATION_UNKNOWN'
    """
    if not serves.strip():
        return "a web call must name the unknown or risk that it serves"
    if mode == "resolve":
        allowed = unknown in WEB_UNKNOWNS
        return "" if allowed else f"the web is no place to ask about {unknown}: only {', '.join(WEB_UNKNOWNS)}"
    if mode == "probe":
        return "" if temporal else "the web may be asked about temporal risks only, such as deprecation"
    return "surfacing asks memory, code and history, never the web"
