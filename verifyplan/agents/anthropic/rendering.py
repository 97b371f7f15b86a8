"""From a request to the words that a model is sent: what holds for all calls of a kind first, what changes last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from verifyplan.agents.anthropic.allowances import tool_budget_text, tools_of
from verifyplan.agents.anthropic.debating import DEBATE_PROMPTS, debate_blocks
from verifyplan.agents.anthropic.prompt_files import prompt
from verifyplan.agents.anthropic.record import field_lines, run_record
from verifyplan.agents.base import Request
from verifyplan.agents.untrusted_text import delimited, numbered_lines, quoted
from verifyplan.protocol.call import WorkerRequest
from verifyplan.protocol.debate_call import DebateRequest
from verifyplan.protocol.plan_call import Role, RoleRequest
from verifyplan.protocol.vote import Mode, VerificationMode
from verifyplan.text import counted

ROLE_PROMPTS: dict[Role, tuple[str, ...]] = {
    "challenger": ("challenges", "challenger"),
    "resolver": ("resolver",),
    "surface": ("challenges", "surface"),
    "probe": ("challenges", "probe"),
    "domain-expert": ("challenges", "domain-expert"),
    "devils-advocate": ("challenges", "devils-advocate"),
    "synthesizer": ("synthesizer",),
    "score": ("scoring", "score"),
    "audit": ("scoring", "audit"),
}
"""What a role is told beside what all roles of a plan run are told."""

EVIDENCE_PROMPTS: dict[VerificationMode, str] = {
    "full-reanalysis": "worker-evidence-full",
    "lightweight": "worker-evidence-quoted",
}
"""What a worker is told of the evidence that it sees."""


class Rendered(NamedTuple):
    """A request in words."""

    system: str
    """The same for every request of a role, or of workers with one stance, mode and view of the evidence."""
    blocks: tuple[str, ...]
    """What the user's turn holds, the most lasting first, so that a cache of prompts can be used up to any of them."""
    prompts: tuple[str, ...]
    """The names of the files that the system text is made of."""


def render(request: Request, *, style: Mode | None = None, opened: Mapping[str, str] | None = None) -> Rendered:
    """A request as system text and user blocks; the same request always gives the same words.

    Of a role: the plan with its line numbers; the record of the run; what this call is about. Of a role of a debate:
    task, documents and challenges; messages and diff; what this call is about. Of a worker: the findings; in
    full-reanalysis the `opened` places, each with what the caller read there, line numbers included, or why nothing
    was; what is asked. A worker sees no document that evidence cites but through `opened` (rule B4).
    `style` is the stance of a worker's prompt, if it is not the run's mode; labels and bases follow the run's mode.
    Texts that a request holds are marked as data, and secrets in them redacted. Both options are for workers alone.
    """
    if isinstance(request, WorkerRequest):
        names = worker_prompts(request, style or request.mode)
        blocks = _worker_blocks(request, opened or {})
    elif isinstance(request, DebateRequest):
        names = ("common", *DEBATE_PROMPTS[request.role])
        blocks = debate_blocks(request)
    else:
        names = ("common", "plan-run", *ROLE_PROMPTS[request.role])
        blocks = (_plan(request), _record(request), _call(request))
    return Rendered("\n\n".join(prompt(name).text for name in names), blocks, names)


def repair_prompt(problems: str) -> str:
    """The one turn in which an answer can be put right; `problems` is the text of the AnswerError (rule A11)."""
    return prompt("repair").text.replace("{problems}", problems)


def worker_prompts(request: WorkerRequest, style: Mode) -> tuple[str, ...]:
    """The files of a worker's system text: the stance by style, the labels by the run's mode (rule B4)."""
    evidence = EVIDENCE_PROMPTS[request.verification_mode]
    return ("common", "worker", f"stance-{style}", evidence, f"labels-{request.mode}")


def _plan(request: RoleRequest) -> str:
    return "The plan:\n" + delimited(numbered_lines(request.plan_text), "plan", request.plan_name)


def _record(request: RoleRequest) -> str:
    return "The record of this run:\n" + delimited(run_record(request), "record")


def _call(request: RoleRequest) -> str:
    return "\n\n".join(
        [
            f"You are the {request.role}. This is iteration {request.iteration} of at most {request.max_iterations}.",
            _assessment(request),
            *([_may_raise(request)] if "challenges" in ROLE_PROMPTS[request.role] else []),
            tool_budget_text(tools_of(request)),
            *_sayings(request),
            "Do your task now, and answer with the JSON object.",
        ]
    )


def _assessment(request: RoleRequest) -> str:
    domains = ", ".join(quoted(domain) for domain in request.domains) or "none"
    return f"The plan was assessed as {request.plan_quality}. Its domains: {domains}."


def _may_raise(request: RoleRequest) -> str:
    if request.may_raise:
        return f"At most {counted(request.may_raise, 'new challenge')} of yours can be taken in now."
    return "No new challenge can be taken in now: one that you raise nevertheless waits in overflow."


def _sayings(request: RoleRequest) -> list[str]:
    """What others say of this iteration: who failed, what the synthesizer asks, what the user said, oldest first."""
    said = []
    if request.unavailable:
        said.append("An agent failed in this iteration: " + "; ".join(map(quoted, request.unavailable)) + ".")
    if request.directives:
        asked = "\n".join(f"- {' '.join(str(one).split())}" for one in request.directives)
        said.append("The synthesizer's directives for this iteration:\n" + delimited(asked, "directives"))
    if request.user_context:
        said.append("The user said, oldest first:")
        said += [delimited(text, "context", element="user") for text in request.user_context]
    return said


def _worker_blocks(request: WorkerRequest, opened: Mapping[str, str]) -> tuple[str, ...]:
    findings = [
        delimited("\n".join(field_lines(("claim", one.summary), ("evidence", one.evidence))), "finding", one.finding_id)
        for one in request.items
    ]
    asked = f"Give your vote on each of the {counted(len(request.items), 'finding')} now, as the JSON object."
    blocks = ["The findings:\n" + "\n\n".join(findings), asked]
    if request.verification_mode == "full-reanalysis":
        blocks.insert(1, _opened(opened))
    return tuple(blocks)


def _opened(opened: Mapping[str, str]) -> str:
    if not opened:
        return "None of the cited places could be opened."
    return "The cited places:\n" + "\n\n".join(delimited(text, "opened", place) for place, text in opened.items())
