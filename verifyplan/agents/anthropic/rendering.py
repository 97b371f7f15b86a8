"""Render a request as the words for a model: prompt files as system text, then data, then the task (rules C2, G3, H3).

The prompts are files of this package, each with a version; their hashes are in the run log.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from verifyplan.agents.anthropic.answer_schemas import short_form
from verifyplan.agents.anthropic.run_record import challenge_entry, field_lines, record_entry, run_record
from verifyplan.agents.anthropic.toolkits import tools_of
from verifyplan.agents.base import Request
from verifyplan.agents.untrusted_text import delimited, numbered_lines, quoted
from verifyplan.errors import Problem, SettingsError
from verifyplan.protocol.call import TOOLS, Tool, WorkerRequest
from verifyplan.protocol.message import DebateRole, Message
from verifyplan.protocol.role_call import DebateRequest, Role, RoleRequest
from verifyplan.protocol.vote import Mode, VerificationMode
from verifyplan.text import counted, did_you_mean

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
"""The prompts of a role beside those of all roles of a plan run."""

DEBATE_PROMPTS: dict[DebateRole, tuple[str, ...]] = {
    "architect": ("debate", "architect"),
    "builder": ("debate", "builder"),
}
"""The prompts of a role of debates: the same in all of its calls, so that a prompt cache holds them."""

EVIDENCE_PROMPTS: dict[VerificationMode, str] = {
    "full-reanalysis": "worker-evidence-full",
    "lightweight": "worker-evidence-quoted",
}
"""The prompt on the evidence that a worker sees."""

_FOLDER = files("verifyplan.agents.anthropic").joinpath("prompts")
_VERSION, _SUFFIX = "version: ", ".md"
_GO = "Do your task now, and answer with the JSON object."


class Prompt(NamedTuple):
    """One prompt file."""

    name: str
    version: int
    """From 1; raised whenever the words change, so that runs of different words can be told apart."""
    text: str
    """The file without its first line."""
    sha256: str
    """Over all bytes of the file."""


class Rendered(NamedTuple):
    """A request in words."""

    system: str
    """The same for every request of a role, or of workers with one stance, mode and view of the evidence."""
    blocks: tuple[str, ...]
    """The user's turn, the most lasting block first, so that a cache of prompts can be used up to any of them."""
    prompts: tuple[str, ...]
    """The names of the files that the system text is made of."""


@cache
def prompt_names() -> tuple[str, ...]:
    """Return the names of all prompts, sorted."""
    names = (file.name for file in _FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


@cache
def prompt(name: str) -> Prompt:
    """Return the prompt of that name, read once; SettingsError for a name without a file.

    >>> prompt("challenger").text.startswith("# Your task: challenger")
    True
    """
    if name not in prompt_names():
        message = f"there is no prompt {name!r}{did_you_mean(name, prompt_names())}"
        raise SettingsError(Problem("prompt", message, f"use one of {', '.join(prompt_names())}"))
    data = _FOLDER.joinpath(name + _SUFFIX).read_bytes()
    version, _, text = data.decode().partition("\n")
    number = int(version.removeprefix(_VERSION))
    return Prompt(name, number, text.strip(), hashlib.sha256(data).hexdigest())


def prompt_versions() -> dict[str, dict[str, Any]]:
    """Return version and hash of every prompt by its name, for the log."""
    prompts = map(prompt, prompt_names())
    return {each.name: {"version": each.version, "sha256": each.sha256} for each in prompts}


def plan_prompts(role: Role) -> tuple[str, ...]:
    """Return the names of the prompts of a role of plan runs."""
    return ("common", "plan-run", *ROLE_PROMPTS[role])


def debate_prompts(role: DebateRole) -> tuple[str, ...]:
    """Return the names of the prompts of a role of debates."""
    return ("common", *DEBATE_PROMPTS[role])


def worker_prompts(
    mode: Mode, verification_mode: VerificationMode, *, style: Mode | None = None, short: bool = False
) -> tuple[str, ...]:
    """Return the names of the prompts of a worker; `style` is its stance, if not the run's mode."""
    if short:
        return (f"short-{mode}",)
    return ("common", "worker", f"stance-{style or mode}", EVIDENCE_PROMPTS[verification_mode], f"labels-{mode}")


def render(
    request: Request, *, style: Mode | None = None, opened: Mapping[str, str] | None = None, short: bool = False
) -> Rendered:
    """Return a request as system text and user blocks; the same request always gives the same words.

    Of a role: the plan with its line numbers; the record of the run; the task of this call. Of a role of a debate:
    task, documents and challenges; messages and diff; the task of this call. Of a worker: the findings; in
    full-reanalysis the `opened` places, each with the lines there, line numbers included, or why there are none; the
    task. A worker sees no document that evidence cites but through `opened` (rule B4).
    `style` is the stance of a worker's prompt, if it is not the run's mode; labels and bases follow the run's mode.
    A `short` prompt is that of the run's mode. Texts that a request holds are delimited as data, and secrets in them
    redacted. All options are for workers alone.
    """
    if isinstance(request, WorkerRequest):
        names = worker_prompts(request.mode, request.verification_mode, style=style, short=short)
        blocks = _worker_blocks(request, opened or {})
    elif isinstance(request, DebateRequest):
        names = debate_prompts(request.role)
        blocks = (_debate_task(request), _debate_so_far(request), _debate_call(request))
    else:
        names = plan_prompts(request.role)
        plan = "The plan:\n" + delimited(numbered_lines(request.plan_text), "plan", request.plan_name)
        blocks = (plan, "The record of this run:\n" + delimited(run_record(request), "record"), _role_call(request))
    return Rendered("\n\n".join(prompt(name).text for name in names), blocks, names)


def repair_prompt(problems: str) -> str:
    """Return the one turn in which an answer can be repaired; `problems` is the text of the AnswerError (rule A11)."""
    return prompt("repair").text.replace("{problems}", problems)


def form_prompt(schema: Mapping[str, Any]) -> str:
    """Return the words that show a model the form of its answer, where its endpoint holds to no schema."""
    return prompt("json-form").text.replace("{form}", short_form(schema))


def tool_budget_text(tools: Mapping[Tool, int]) -> str:
    """Return the calls that a model has, in the order of `TOOLS`.

    >>> tool_budget_text({"Grep": 5, "Read": 8})
    'Calls that you have: Read 8, Grep 5.'
    """
    limits = [f"{tool} {tools[tool]}" for tool in TOOLS if tools.get(tool)]
    return f"Calls that you have: {', '.join(limits)}." if limits else "You have no tools in this call."


def _role_call(request: RoleRequest) -> str:
    domains = ", ".join(quoted(domain) for domain in request.domains) or "none"
    parts = [
        f"You are the {request.role}. This is iteration {request.iteration} of at most {request.max_iterations}.",
        f"The plan was assessed as {request.plan_quality}. Its domains: {domains}.",
    ]
    if "challenges" in ROLE_PROMPTS[request.role]:
        if request.may_raise:
            parts.append(f"At most {counted(request.may_raise, 'new challenge')} of yours can be taken in now.")
        else:
            parts.append("No new challenge can be taken in now: one that you raise nevertheless waits in overflow.")
    parts.append(tool_budget_text(tools_of(request)))
    if own := _own_rules(request):
        parts.append("The rules of this run differ from what was said above, and go before it:\n" + own)
    if request.unavailable:
        parts.append("An agent failed in this iteration: " + "; ".join(map(quoted, request.unavailable)) + ".")
    if request.directives:
        directives = "\n".join(f"- {' '.join(str(directive).split())}" for directive in request.directives)
        parts.append("The synthesizer's directives for this iteration:\n" + delimited(directives, "directives"))
    if request.user_context:
        parts.append("The user said, oldest first:")
        parts += [delimited(text, "context", element="user") for text in request.user_context]
    return "\n\n".join([*parts, _GO])


def _own_rules(request: RoleRequest) -> str:
    """Return what a role must know of the rules of this run where they are not the protocol's, a line a rule."""
    sentences = type(request.rules).model_fields
    return "\n".join(
        f"- `{name}` is {json.dumps(value)}: {sentences[name].description}"
        for name, value in request.rules.changed.items()
    )


def _worker_blocks(request: WorkerRequest, opened: Mapping[str, str]) -> tuple[str, ...]:
    findings = "\n\n".join(
        delimited(
            "\n".join(field_lines(("claim", item.summary), ("evidence", item.evidence))), "finding", item.finding_id
        )
        for item in request.items
    )
    task = f"Give your vote on each of the {counted(len(request.items), 'finding')} now, as the JSON object."
    if request.verification_mode != "full-reanalysis":
        return "The findings:\n" + findings, task
    places = "\n\n".join(delimited(text, "opened", place) for place, text in opened.items())
    cited = "The cited places:\n" + places if opened else "None of the cited places could be opened."
    return "The findings:\n" + findings, cited, task


def _debate_task(request: DebateRequest) -> str:
    """Return what holds for the whole debate; the task is delimited too: the prompt says what it may ask for."""
    parts = ["The task:\n" + delimited(request.task, "task")]
    if request.documents:
        texts = [delimited(numbered_lines(text), "document", name) for name, text in sorted(request.documents.items())]
        parts.append("The documents:\n" + "\n\n".join(texts))
    if request.challenges:
        parts.append("The challenges:\n" + delimited("\n".join(map(challenge_entry, request.challenges)), "challenges"))
    return "\n\n".join(parts)


def _debate_so_far(request: DebateRequest) -> str:
    messages = "Nothing has been said yet."
    if request.messages:
        messages = "The messages so far:\n" + delimited("\n".join(map(_message_entry, request.messages)), "messages")
    if request.diff:
        return f"{messages}\n\nThe builder's diff:\n" + delimited(request.diff, "diff")
    implemented = any(message.type == "implement" for message in request.messages)
    diff = "The builder's diff is blank: it changes nothing." if implemented else "There is no diff yet."
    return f"{messages}\n\n{diff}"


def _message_entry(message: Message) -> str:
    return record_entry(
        f"turn {message.turn}, {message.role}, {message.type}",
        ("content", message.content),
        *(("reason", text) for text in message.reasons),
        *(("evidence", text) for text in message.evidence),
        *(("risk", text) for text in message.risks),
    )


def _debate_call(request: DebateRequest) -> str:
    turn = f"You are the {request.role}. This is turn {request.turn} of at most {request.max_turns}."
    due = f"{turn} The message that is due: `{request.type}`."
    return "\n\n".join([due, tool_budget_text(tools_of(request)), _GO])
