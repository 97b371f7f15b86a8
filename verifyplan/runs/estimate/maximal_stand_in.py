"""A stand-in that makes a run as long as it can be: it raises all it may, settles nothing, and uses every tool call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from verifyplan.protocol.call import WorkerRequest
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.protocol.role_call import Role, RoleRequest
from verifyplan.repository.repository import Repository
from verifyplan.runs.estimate.dry_run import Play, ToolCall
from verifyplan.runs.estimate.sizes import CHARACTERS_PER_TOKEN, Asked

SENTENCE = 60 * CHARACTERS_PER_TOKEN
"""Characters of each field of an answer: two sentences."""

UNKNOWNS, CONTEXTS, RISKS = 5, 6, 5
"""Entries of an answer where no rule limits them."""

_PATTERNS = "etaoinshrdlu"
"""One for each search: so many lines match that an answer is full."""


class MaximalStandIn:
    """Plays a model that has much to say and is never done, at the limits of what the rules admit.

    The agents of a plan run raise as many BLOCKING challenges as are taken in, and no iteration but the last ends
    the run. Workers of a cross run give no vote that counts, so that all findings are voted on in every round.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._kept: tuple[str, tuple[str, ...]] | None = None

    def at(self, root: Path) -> MaximalStandIn:
        """The same for a run over another folder."""
        return MaximalStandIn(root)

    async def play(self, request: Asked) -> Play:
        """A full answer, after as many tool calls as the budgets allow."""
        if isinstance(request, WorkerRequest):
            return Play(_votes(request))
        files = await asyncio.to_thread(self._files, request.plan_text)
        return Play(_ANSWERS[request.role](request, files), tuple(_calls(request, files)))

    def _files(self, plan: str) -> tuple[str, ...]:
        """The files of the repository, the largest first."""
        if self._kept is None or self._kept[0] != plan:
            files = Repository.open(self._root, plan).files
            self._kept = plan, tuple(sorted(files, key=lambda path: (-files[path].size, path)))
        return self._kept[1]


def _calls(request: RoleRequest, files: tuple[str, ...]) -> Iterator[ToolCall]:
    """Every call that the budgets of a role allow, in the order of the tools."""
    limits = request.tools
    for path in files[: limits.get("Read", 0)]:
        yield "Read", {"path": path}
    for pattern in _PATTERNS[: limits.get("Grep", 0)]:
        yield "Grep", {"pattern": pattern}
    for number in range(limits.get("memory_search", 0)):
        yield "memory_search", {"query": request.plan_text.split("\n")[0][:100] or f"decision {number}"}
    for _ in range(limits.get("git_log", 0)):
        yield "git_log", {"paths": []}
    serves = {"serves": request.unknowns[0].id} if request.unknowns else {"serves": "P1"}
    for number in range(limits.get("WebSearch", 0)):
        yield "WebSearch", {"query": f"is version {number} deprecated", **serves}
    for number in range(limits.get("WebFetch", 0)):
        yield "WebFetch", {"url": f"https://example.com/deprecated/{number}", **serves}


def _votes(request: WorkerRequest) -> dict[str, Any]:
    """A panel's votes, each with its reason; of the workers of a cross run nothing that counts."""
    vote = {"verdict": "supplement", "disagree_basis": None, "explanation": _text("vote", request.worker)}
    return {"votes": {item.finding_id: vote for item in request.items} if request.documents else {}}


def _text(*names: object) -> str:
    """Words of the length of a field, which differ from those of other names."""
    begin = f"`{'_'.join(str(name) for name in names)}` is not what step {names[-1]} takes it for"
    more = ": what calls it rests on more than the plan says, and nothing there shows that this was looked at"
    return (begin + more * 5)[:SENTENCE]


def _challenges(request: RoleRequest, files: tuple[str, ...], count: int | None = None) -> list[dict[str, Any]]:
    """As many new challenges as are taken in, each with places in the plan and in the code."""
    most = request.may_raise if count is None else min(count, request.may_raise)
    return [_challenge(request, number, files) for number in range(1, most + 1)]


def _challenge(request: RoleRequest, number: int, files: tuple[str, ...]) -> dict[str, Any]:
    name = f"{request.role.replace('-', '_')}_{request.iteration}"
    in_plan = f"{request.plan_name}:{1 + number % (request.plan_text.count(chr(10)) + 1)}"
    in_code = f"{files[number % len(files)]}:{10 * number}" if files else ""
    return {
        "claim": _text(name, "claim", number),
        "concern": _text(name, "concern", number),
        "failure_scenario": _text(name, "scenario", number),
        "alternative": _text(name, "alternative", number),
        "severity": "BLOCKING",
        "confidence": "HIGH",
        "evidence": f"{in_plan} {in_code}".strip(),
    }


def _challenger(request: RoleRequest, files: tuple[str, ...]) -> dict[str, Any]:
    unknowns = [
        {
            "description": _text("unknown", request.iteration, number),
            "type": "API_BEHAVIOR",
            "affects": None,
            "suggested_query": f"how does unknown_{request.iteration}_{number} behave",
        }
        for number in range(UNKNOWNS)
    ]
    return {"challenges": _challenges(request, files), "unknowns": unknowns}


def _resolver(request: RoleRequest, files: tuple[str, ...]) -> dict[str, Any]:  # noqa: ARG001  (one of several)
    found = f"[VERIFIED: {request.plan_name}:1 | {_text('found')} | {_text('impact')}]"
    answers = [{"id": one.id, "resolution": "PARTIALLY_RESOLVED", "finding": found} for one in request.unknowns]
    return {"answers": answers}


def _surface(request: RoleRequest, files: tuple[str, ...]) -> dict[str, Any]:
    raised = _challenges(request, files, 1)
    contexts = [
        {
            "source": "codebase",
            "location": f"{files[number % len(files)] if files else request.plan_name}:{number + 1}",
            "relevance": _text("context", request.iteration, number),
            "impact": "contradicts_plan" if number < len(raised) else "changes_needed",
            "challenge": raised[number] if number < len(raised) else None,
        }
        for number in range(CONTEXTS)
    ]
    return {"contexts": contexts}


def _probe(request: RoleRequest, files: tuple[str, ...]) -> dict[str, Any]:
    raised = _challenges(request, files, 1)
    risks = [
        {
            "risk": _text("risk", request.iteration, number),
            "trigger": _text("trigger", request.iteration, number),
            "cascade": _text("cascade", request.iteration, number),
            "probability": "MED",
            "severity": "BLOCKING" if number < len(raised) else "MINOR",
            "evidence": f"{request.plan_name}:{number + 1}",
            "challenge": raised[number] if number < len(raised) else None,
        }
        for number in range(RISKS)
    ]
    return {"risks": risks}


def _other(request: RoleRequest, files: tuple[str, ...]) -> dict[str, Any]:
    return {"challenges": _challenges(request, files)}


def _synthesizer(request: RoleRequest, files: tuple[str, ...]) -> dict[str, Any]:  # noqa: ARG001  (one of several)
    """Leaves everything unsettled, and asks for all that can be asked for: research again, expert and advocate."""
    resolved = [
        {"challenge": one.id, "status": "UNRESOLVED", "resolution": _text("resolution", one.id)}
        for one in request.challenges[1:]
    ]
    new = [one.id for one in request.challenges if one.iteration_introduced == request.iteration]
    sweep = [*new[:1], *(one.id for one in request.contexts[:1])]
    directives = [
        {"kind": "RE-SWEEP", "trigger": "blocking-contradicts-context", "items": sweep},
        {"kind": "RE-PROBE", "trigger": "new-dependency-chain", "items": [one.id for one in request.unknowns]},
        *({"kind": "CONSULT", "role": role} for role in ("domain-expert", "devils-advocate")),
    ]
    last = request.iteration >= request.max_iterations
    return {"changes": resolved, "directives": [] if last else directives}


def _scores(request: RoleRequest, files: tuple[str, ...]) -> dict[str, Any]:  # noqa: ARG001  (one of several)
    return {"scores": {name: {"score": 5, "evidence": _text("score", request.role)} for name in DIMENSIONS}}


_ANSWERS: dict[Role, Callable[[RoleRequest, tuple[str, ...]], dict[str, Any]]] = {
    "challenger": _challenger,
    "resolver": _resolver,
    "surface": _surface,
    "probe": _probe,
    "domain-expert": _other,
    "devils-advocate": _other,
    "synthesizer": _synthesizer,
    "score": _scores,
    "audit": _scores,
}
