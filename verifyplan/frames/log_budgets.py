"""The rows of tool budgets: what each agent used in an iteration, against its ceilings (rule A12)."""

from __future__ import annotations

import re
from collections import Counter
from typing import get_args

from verifyplan.frames.log_calls import tools_used
from verifyplan.frames.log_index import Row, RunEvents
from verifyplan.frames.log_turns import ends, turns_by_call
from verifyplan.protocol.call import TOOLS
from verifyplan.protocol.event_run import CallRequested
from verifyplan.protocol.plan_call import AGENT_OF_ROLE, Role
from verifyplan.rules.budgets import budget_of
from verifyplan.runlog.plan_state import PlanState

_ROLES: dict[str, Role] = {role: role for role in get_args(Role)}
_CALL = re.compile(r"i(\d{1,9})/([a-z-]+)")


def budget_rows(story: RunEvents, state: PlanState) -> list[Row]:
    """One row a call of an agent and tool that it had or used; panel workers have no budget.

    Of a log that was written when memory_search without a memory left its share to Read and Grep, `over` says what
    today's ceilings make of it.
    """
    ended, turns = ends(story), turns_by_call(story)
    memory = bool(story.started.backend.get("memory"))
    rows = []
    for call_id in (event.call_id for event in story.of(CallRequested)):
        place = _CALL.fullmatch(call_id)
        role = _ROLES.get(place[2]) if place else None
        if place is None or role is None:
            continue
        iteration = int(place[1])
        budget = budget_of(role, state.directives.get(iteration - 1, ()), memory=memory)
        uses = tools_used(ended.get(call_id), turns.get(call_id, ()))
        used = Counter(use.tool for use in uses if not use.refused)
        refused = Counter(use.tool for use in uses if use.refused)
        rows += [
            {
                "run_id": story.run_id,
                "call_id": call_id,
                "iteration": iteration,
                "agent": AGENT_OF_ROLE[role],
                "role": role,
                "tool": tool,
                "used": used[tool],
                "ceiling": budget.limit(tool),
                "refused": refused[tool],
                "over": used[tool] > budget.limit(tool),
            }
            for tool in TOOLS
            if budget.limit(tool) or used[tool] or refused[tool]
        ]
    return rows
