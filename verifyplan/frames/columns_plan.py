"""Columns of the tables that plan runs alone fill: iterations, challenges, research, scores (part A, rule E4)."""

from __future__ import annotations

from typing import get_args

from verifyplan.columns import Column, Columns
from verifyplan.frames.columns_run import CHALLENGE, RUN
from verifyplan.protocol.call import TOOLS
from verifyplan.protocol.records import (
    CONFIDENCES,
    CONTEXT_IMPACTS,
    CONTEXT_SOURCES,
    CONVERGENCE_STATUSES,
    DIMENSIONS,
    ORIGINS,
    PLAN_VERDICTS,
    PROBABILITIES,
    SEVERITIES,
    STATUSES,
    UNKNOWN_RESOLUTIONS,
    UNKNOWN_TYPES,
)
from verifyplan.protocol.role_call import ROLES, Agent
from verifyplan.protocol.vote import CLASSIFICATIONS

HISTORY_EVENTS = (
    "raised",
    "admitted",
    "overflowed",
    "promoted",
    "classified",
    "changed",
    "refused",
    "restated",
)
"""The events in the history of a challenge."""

_CAME_UP = Column("iteration", "whole", "the iteration in which it came up")
_RAISES = Column("generates_challenge", "text", "the challenge that it raised, if it raised one")

PLAN_TABLES: dict[str, Columns] = {
    "iterations": (
        RUN,
        Column("iteration", "whole", "the iteration, from 1", key=True),
        Column("plan_status", CONVERGENCE_STATUSES, "how the iteration ended: of the last one, how the run did"),
        Column("plan_verdict", PLAN_VERDICTS, "the verdict that follows; missing while the run goes on"),
        Column("strong", "yesno", "whether a REVISE is REVISE (strong)"),
        Column("blocking_open", "whole", "BLOCKING challenges that were OPEN or UNRESOLVED"),
        Column("significant_open", "whole", "SIGNIFICANT challenges that were OPEN or UNRESOLVED"),
        Column("stated_status", CONVERGENCE_STATUSES, "as the synthesizer stated it; the counts decide"),
        Column("stated_verdict", PLAN_VERDICTS, "the synthesizer's own word on the verdict"),
        Column("differs", "yesno", "whether the synthesizer said otherwise than the counts"),
        Column("n_new", "whole", "challenges that were raised"),
        Column("n_admitted", "whole", "challenges that came into the pool, promoted ones included"),
        Column("n_overflowed", "whole", "challenges that did not fit under the caps"),
        Column("n_settled", "whole", "challenges that became RESOLVED, DEFERRED or WITHDRAWN"),
        Column(
            "n_refused", "whole", "entries, challenges, changes, promotions, directives and scores that rules refused"
        ),
        Column("n_failed", "whole", "agents that gave nothing usable"),
        Column("degraded", "yesno", "whether it made more challenges than it settled"),
        Column("tightened", "yesno", "whether the one before was degraded, which tightens the caps"),
        Column("quality_score", "whole", "the final score, on the last iteration"),
        Column("closed", "yesno", "whether it came to its end"),
    ),
    "challenges": (
        RUN,
        CHALLENGE,
        Column("origin", ORIGINS, "who raised it"),
        Column("claim", "text", "what the plan assumes"),
        Column("concern", "text", "when and why that fails"),
        Column("failure_scenario", "text", "what then breaks, concretely"),
        Column("alternative", "text", "what to do instead: the mitigation"),
        Column("severity", SEVERITIES, "how bad it is, worst first"),
        Column("confidence", CONFIDENCES, "how sure its author is, surest first"),
        Column("status", STATUSES, "its status at the end"),
        Column("resolution", "text", "how it was settled, and on what evidence"),
        Column("iteration_introduced", "whole", "the iteration in which it was raised"),
        Column("evidence", "text", "cited places and quoted text, as the agent gave them"),
        Column("uncited", "yesno", "whether the evidence names no place that a reader could open"),
        Column("place", "text", "the first place that it cites, as path:line"),
        Column("plan_line", "whole", "the first line of the plan that it cites, if it cites one"),
        Column("plan_section", "text", "the title of the plan's section with this line"),
        Column("plan_lines", "names", "every place of the plan that it cites, as 12 or 12-20"),
        Column("admitted_in", "whole", "the iteration in which it came into the pool; missing if it never did"),
        Column("overflow", "yesno", "whether it is in overflow at the end"),
        Column("overflow_tag", "text", "the tag that it got as it did not fit, also if it was promoted later"),
        Column("raised_by", "text", "the context or risk that raised it, or the plan check"),
        Column("owed", "yesno", "whether the rules made it, as its context or risk must raise one"),
        Column("disputes", "text", "the settled challenge that it says again, citing what that one did not"),
        Column("probability", PROBABILITIES, "of the risk that raised it"),
        Column("n_restated", "whole", "how often it was said again, in these or other words"),
        Column("classification", CLASSIFICATIONS, "the class that the panel gave it last"),
        Column("disputed", "yesno", "whether the panel left it contested, last; missing where it never voted"),
    ),
    "challenge_history": (
        RUN,
        CHALLENGE,
        Column("step", "whole", "what happened to the challenge, numbered from 1", key=True),
        Column("iteration", "whole", "the iteration in which it happened"),
        Column("event", HISTORY_EVENTS, "what happened"),
        Column("old", STATUSES, "the status before"),
        Column("new", STATUSES, "the status after; where refused, the one that was wanted; missing of a promotion"),
        Column("resolution", "text", "the words that a change of status carries"),
        Column("reason", "text", "why it did not fit or was refused, or how it was said again"),
        Column("classification", CLASSIFICATIONS, "the panel's class, where it gave one"),
        Column("uncited", "yesno", "whether what the change, or the challenge, rests on cites nothing"),
        Column("by", "text", "who did it: an agent, a person (`user`), the panel, or a rule"),
        Column("seq", "whole", "the number of the event in the run log"),
    ),
    "unknowns": (
        RUN,
        Column("unknown_id", "text", "the unknown: U1, U2 ...", key=True),
        _CAME_UP,
        Column("answered_in", "whole", "the iteration in which it was last answered"),
        Column("description", "text", "what is not known and needs to be"),
        Column("type", UNKNOWN_TYPES, "what kind of thing is not known"),
        Column("affects_challenge", "text", "the challenge that the answer unblocks"),
        Column("suggested_query", "text", "the exact query to ask"),
        Column("resolution", UNKNOWN_RESOLUTIONS, "what came of it; missing if nobody answered"),
        Column("finding", "text", "[VERIFIED: source | finding | impact]"),
    ),
    "contexts": (
        RUN,
        Column("context_id", "text", "the surfaced context: S1, S2 ...", key=True),
        _CAME_UP,
        Column("source", CONTEXT_SOURCES, "where it was found"),
        Column("location", "text", "exact path, key or commit"),
        Column("relevance", "text", "why it matters to this plan"),
        Column("impact", CONTEXT_IMPACTS, "what it does to the plan"),
        _RAISES,
    ),
    "risks": (
        RUN,
        Column("risk_id", "text", "the probed risk: P1, P2 ...", key=True),
        _CAME_UP,
        Column("risk", "text", "what could go wrong"),
        Column("trigger", "text", "the condition that sets it off"),
        Column("cascade", "text", "what follows downstream"),
        Column("probability", PROBABILITIES, "how likely it is"),
        Column("severity", SEVERITIES, "how bad it is, worst first"),
        _RAISES,
        Column("evidence", "text", "cited places and quoted text, as the agent gave them"),
    ),
    "scores": (
        RUN,
        Column("by", ("synthesizer", "challenger"), "who gave it; the challenger's is the audit", key=True),
        Column("dimension", DIMENSIONS, "what is scored", key=True),
        Column("iteration", "whole", "the iteration in which it was given"),
        Column("score", "whole", "1-10; missing where it was refused"),
        Column("evidence", "text", "what it rests on"),
        Column("refused", "text", "why it does not count; missing if it does"),
        Column("disputed", "yesno", "whether the two scores differ by 2 or more"),
        Column("weight", "number", "what the dimension counts for in the final score"),
    ),
    "sections": (
        RUN,
        Column("section", "whole", "the plan's section, numbered from 1 in the order of the text", key=True),
        Column("title", "text", "its heading"),
        Column("level", "whole", "the level of its heading"),
        Column("first", "whole", "its first line, from 1"),
        Column("last", "whole", "its last line; text under a lower heading is a section of its own"),
    ),
    "budgets": (
        RUN,
        Column("call_id", "text", "the call of the agent, as i2/challenger", key=True),
        Column("tool", TOOLS, "the tool", key=True),
        Column("iteration", "whole", "the iteration"),
        Column("agent", get_args(Agent), "who was called"),
        Column("role", ROLES, "what it was called for: the researcher's modes are resolver, surface and probe"),
        Column("used", "whole", "calls that were made, refused ones left out"),
        Column("ceiling", "whole", "calls that it had, grants included"),
        Column("refused", "whole", "calls that were refused"),
        Column("over", "yesno", "whether it used more than it had, as a backend can that has tools of its own"),
    ),
}
"""The tables that plan runs alone fill; they come from logs."""
