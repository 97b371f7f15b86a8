"""How many tool calls an agent has in an iteration, and which calls are refused (rule A12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from verifyplan.protocol.call import TOOLS, Tool
from verifyplan.protocol.records import Directive, UnknownType
from verifyplan.protocol.role_call import Role

ResearchMode = Literal["resolve", "surface", "probe"]

LIMITS: dict[ResearchMode, dict[Tool, int]] = {
    "resolve": {"Read": 8, "Grep": 5, "memory_search": 3, "WebSearch": 3, "WebFetch": 2},
    "surface": {"memory_search": 3, "Grep": 4, "Read": 3, "git_log": 1},
    "probe": {"Grep": 4, "Read": 3, "memory_search": 2, "WebSearch": 1},
}
"""Calls per agent and iteration by research mode (rule A12); a tool that is not named has none."""

OTHERS: dict[Tool, int] = {tool: LIMITS["resolve"][tool] for tool in ("Read", "Grep")}
"""The limits of agents that do no research: mode 1's Read and Grep."""

MODES: dict[Role, ResearchMode] = {"resolver": "resolve", "surface": "surface", "probe": "probe"}
"""The research mode of the roles that do research."""


def limits_of(role: Role) -> dict[Tool, int]:
    """Return the tool calls of a role in one iteration; the roles that do no research have mode 1's Read and Grep.

    >>> limits_of("surface")["git_log"], limits_of("challenger")
    (1, {'Read': 8, 'Grep': 5})
    """
    return LIMITS[MODES[role]] if role in MODES else OTHERS


WEB_UNKNOWNS: tuple[UnknownType, ...] = ("API_BEHAVIOR", "STALE_KNOWLEDGE", "INTEGRATION_UNKNOWN")
"""The unknowns that mode 1 may take to the web; mode 3 may take temporal risks there."""


@dataclass(frozen=True)
class Budget:
    """The tool calls of one agent in one iteration; `granted` is what the synthesizer added by directive."""

    limits: Mapping[Tool, int]
    memory: bool = False
    """Whether a memory is configured; without one its share lapses."""
    granted: Mapping[Tool, int] = field(default_factory=dict)

    def limit(self, tool: Tool) -> int:
        """Calls of one tool, what was granted included; memory_search has none without a memory."""
        if tool == "memory_search" and not self.memory:
            return 0
        return self.limits.get(tool, 0) + self.granted.get(tool, 0)


def budget_of(role: Role, directives: Sequence[Directive], *, memory: bool) -> Budget:
    """Return a role's tool calls in an iteration, with what the `directives` for that iteration grant.

    >>> budget_of("probe", [Directive(kind="GRANT", role="probe", tools={"Grep": 2})], memory=False).limit("Grep")
    6
    """
    grants = [directive.tools for directive in directives if directive.kind == "GRANT" and directive.role == role]
    granted = {tool: sum(grant.get(tool, 0) for grant in grants) for grant in grants for tool in grant}
    return Budget(limits_of(role), memory=memory, granted=granted)


def refusal(tool: Tool, used: Mapping[Tool, int], budget: Budget) -> str:
    """Return why one more call of a tool is refused, in words for the agent; empty if it is allowed.

    `used` counts the calls of this agent in this iteration so far, refused ones left out.
    Source: rule A12.

    >>> refusal("Grep", {"Grep": 5}, Budget(LIMITS["resolve"]))
    'Grep is used up: 5 of 5 calls in this iteration'
    """
    limit = budget.limit(tool)
    if tool == "memory_search" and not budget.memory:
        return "memory_search is refused: no memory is configured"
    if used.get(tool, 0) < limit:
        return ""
    if limit == 0:
        return f"{tool} is not among this agent's tools"
    return f"{tool} is used up: {used.get(tool, 0)} of {limit} calls in this iteration"


def passed_ceilings(used: Mapping[Tool, int], budget: Budget) -> list[Tool]:
    """Return the tools of which more calls were made than a budget has, in the order of `TOOLS`.

    >>> passed_ceilings({"Grep": 6, "Read": 8, "WebFetch": 1}, Budget(OTHERS))
    ['Grep', 'WebFetch']
    """
    return [tool for tool in TOOLS if used.get(tool, 0) > budget.limit(tool)]


def web_refusal(mode: ResearchMode, serves: str, unknown: UnknownType | None, temporal: bool) -> str:
    """Return why a web call is refused for what it serves; empty if it is allowed.

    A call names the unknown or risk that it serves (`U4`, `P1`). Mode 1 may ask the web for three types of
    unknown, mode 3 for temporal risks such as deprecation, mode 2 for nothing. Source: rule A12.

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
