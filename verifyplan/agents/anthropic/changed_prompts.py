"""Name the roles and workers whose prompts are not those that a log records (rules E2, G3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from verifyplan.agents.anthropic.rendering import (
    DEBATE_PROMPTS,
    ROLE_PROMPTS,
    debate_prompts,
    plan_prompts,
    worker_prompts,
)
from verifyplan.protocol.event_run import CrossInputs, DebateInputs, PlanInputs
from verifyplan.protocol.vote import VERIFICATION_MODE_OF, Mode, VerificationMode


def changed_prompts(
    recorded: Mapping[str, Any], present: Mapping[str, Any], inputs: CrossInputs | PlanInputs | DebateInputs
) -> list[str]:
    """Return the roles and workers of a run whose prompts differ between two descriptions of backends.

    Only prompts that the run uses count; those for the repair and the form of answers do not. Empty unless both
    describe models.
    """
    return [
        name
        for name, prompts, before, now in _used_prompts(recorded, present, inputs)
        if before.get("name") == now.get("name") == "anthropic"
        and any(_digest(before, prompt) != _digest(now, prompt) for prompt in prompts)
    ]


def _used_prompts(
    recorded: Mapping[str, Any], present: Mapping[str, Any], inputs: CrossInputs | PlanInputs | DebateInputs
) -> Iterator[tuple[str, tuple[str, ...], Mapping[str, Any], Mapping[str, Any]]]:
    """Yield each role and worker with its prompts, and the descriptions of its backend."""
    if isinstance(inputs, DebateInputs):
        for side in DEBATE_PROMPTS:
            yield side, debate_prompts(side), recorded.get(side) or recorded, present.get(side) or present
        return
    if isinstance(inputs, PlanInputs):
        for role in ROLE_PROMPTS:
            yield role, plan_prompts(role), recorded, present
        if panel := inputs.settings.panel:
            for worker in panel.workers:
                prompts = _prompts_of_worker(present, worker, panel.mode, VERIFICATION_MODE_OF[panel.mode])
                yield worker, prompts, recorded, present
        return
    for worker in inputs.analysers:
        prompts = _prompts_of_worker(present, worker, inputs.mode, inputs.settings["verificationMode"])
        yield worker, prompts, recorded, present


def _prompts_of_worker(
    description: Mapping[str, Any], worker: str, mode: Mode, verification_mode: VerificationMode
) -> tuple[str, ...]:
    """Return the prompts of a worker by its own settings, those of all workers, or those of all calls."""
    settings: dict[str, Any] = {"prompt": description.get("prompt")}
    for own in ((description.get("models") or {}).get("worker"), (description.get("workers") or {}).get(worker)):
        settings |= own if isinstance(own, Mapping) else {}
    return worker_prompts(mode, verification_mode, style=settings.get("style"), short=settings["prompt"] == "short")


def _digest(description: Mapping[str, Any], prompt: str) -> str | None:
    digest: str | None = (description.get("prompts") or {}).get(prompt, {}).get("sha256")
    return digest
