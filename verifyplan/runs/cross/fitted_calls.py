"""Fit the findings of one call into the context of the models that are asked about them (rules B3, G3)."""

from __future__ import annotations

from itertools import accumulate

from verifyplan.agents.base import Backend, BoundedBackend
from verifyplan.protocol.call import Item, WorkerRequest
from verifyplan.protocol.event_run import CrossInputs
from verifyplan.rules.grouping import Matcher
from verifyplan.runs.call_use import VOTE_TOKENS, prompt_tokens
from verifyplan.runs.cross.loop import group_events

CAUTION = 1.3
"""The tokens of a prompt, in those that a rule of thumb counts: tokenizers of models differ by up to a third."""


def with_fitted_calls(inputs: CrossInputs, matcher: Matcher | None, backend: Backend) -> CrossInputs:
    """Return the inputs of a run whose calls ask about as many findings at once as fit, however long these are.

    Inputs that name a number themselves stay as they are, and so do those for models whose context nobody named, or
    into which all findings fit. The context that leaves the least room decides for all workers; it is at least one
    finding a call, which may still be refused.
    """
    if inputs.items_per_call is not None or not isinstance(backend, BoundedBackend):
        return inputs
    items = [
        Item(finding_id=event.finding_id, summary=event.summary, evidence=event.evidence)
        for events in group_events(inputs, matcher)
        for event in events
    ]
    rooms = [
        (room, worker) for worker in inputs.analysers if (room := backend.room(_request(inputs, worker))) is not None
    ]
    if not rooms or not items:
        return inputs
    room, worker = min(rooms)
    asked = [(), *((item,) for item in items)]
    fixed, *sizes = (prompt_tokens(backend.first_request(_request(inputs, worker, one)))[0] for one in asked)
    longest_first = accumulate(sorted((size - fixed for size in sizes), reverse=True))
    fitting = sum(CAUTION * (fixed + total) <= room.prompt for total in longest_first)
    size = max(1, min(fitting, room.answer // VOTE_TOKENS))
    return inputs if size >= len(items) else inputs.model_copy(update={"items_per_call": size})


def _request(inputs: CrossInputs, worker: str, items: tuple[Item, ...] = ()) -> WorkerRequest:
    return WorkerRequest(
        call_id=f"r1/{worker}",
        worker=worker,
        round=1,
        mode=inputs.mode,
        verification_mode=inputs.settings["verificationMode"],
        items=items,
    )
