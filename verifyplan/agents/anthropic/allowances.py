"""The tool calls that a request allows: counted, and in the words in which a model is told (rule A12)."""

from __future__ import annotations

from collections.abc import Mapping

from verifyplan.protocol.call import TOOLS, Tool
from verifyplan.protocol.debate_call import DebateRequest
from verifyplan.protocol.plan_call import RoleRequest
from verifyplan.rules.budgets import OTHERS

DEBATE_TOOLS: tuple[Tool, ...] = ("Read", "Grep")
"""All that architect and builder may call."""


def tools_of(request: RoleRequest | DebateRequest) -> dict[Tool, int]:
    """The calls of each tool that a request allows.

    In a debate these are calls of Read and Grep alone; a request that names no tools has those of agents that do no
    research. Source: rule A12.

    >>> asked = {"role": "architect", "type": "propose", "turn": 1, "max_turns": 3, "task": "do it"}
    >>> tools_of(DebateRequest(call_id="t1/propose", **asked))
    {'Read': 8, 'Grep': 5}
    """
    if isinstance(request, RoleRequest):
        return dict(request.tools)
    given = request.tools or OTHERS
    return {tool: given[tool] for tool in DEBATE_TOOLS if given.get(tool)}


def tool_budget_text(tools: Mapping[Tool, int]) -> str:
    """What may be called, in the order of `TOOLS`.

    >>> tool_budget_text({"Grep": 5, "Read": 8})
    'Calls that you have: Read 8, Grep 5.'
    """
    limits = [f"{tool} {tools[tool]}" for tool in TOOLS if tools.get(tool)]
    return f"Calls that you have: {', '.join(limits)}." if limits else "You have no tools in this call."
