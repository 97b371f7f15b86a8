"""Read from a refusal that a request was longer than the model's context, and say what helps (rule G3).

The words are those of Anthropic's API, of llama.cpp's server, of vLLM, and of gateways before them.
"""

from __future__ import annotations

import re

from verifyplan.agents.base import Request
from verifyplan.protocol.call import WorkerRequest

_REFUSAL = re.compile(
    r"prompt is too long|exceeds? context (?:limit|window)|maximum context length|context length is only"
    r"|exceeds? the (?:available )?context (?:size|window|length)|exceed_context_size|context_length_exceeded"
    r"|ContextWindowExceeded|longer than the maximum model length|context is full",
    re.IGNORECASE,
)
_SIZES = tuple(
    re.compile(form, re.IGNORECASE | re.DOTALL)
    for form in (
        r"(?P<prompt>\d+) tokens > (?P<limit>\d+)",
        r"(?P<prompt>\d+) \+ (?P<answer>\d+) > (?P<limit>\d+)",
        r"maximum context length is (?P<limit>\d+) tokens.{0,90}?\((?P<prompt>\d+) in the messages, (?P<answer>\d+) in",
        r"passed (?P<prompt>\d+) input tokens and requested (?P<answer>\d+) output.{0,90}? only (?P<limit>\d+) tokens",
        r"\((?P<prompt>\d+) tokens\) exceeds the available context size \((?P<limit>\d+) tokens\)",
        r"n_prompt_tokens (?P<prompt>\d+), n_ctx (?P<limit>\d+)",
        r"\(length (?P<prompt>\d+)\) is longer than the maximum model length of (?P<limit>\d+)",
    )
)


def context_problem(reason: str, request: Request, *, max_tokens: int, fixed_share: float) -> str | None:
    """Return the sentence for a request that did not fit, with its fix; None for any other refusal.

    `fixed_share` is the part of the prompt that stays where fewer findings are asked about. The number of findings that
    fit is worked out where the refusal names tokens; it is about right, as findings differ in length.

    >>> from verifyplan.protocol.call import Item
    >>> items = tuple(Item(finding_id=f"F-{n}", summary="s", evidence="e") for n in range(40))
    >>> vote = {"round": 1, "mode": "adversarial", "verification_mode": "lightweight", "items": items}
    >>> request = WorkerRequest(call_id="r1/ann", worker="ann", **vote)
    >>> reason = "prompt is too long: 10000 tokens > 8000 maximum"
    >>> context_problem(reason, request, max_tokens=2000, fixed_share=0.2)
    "request and answer exceed the model's context (10,000 tokens in, 8,000 in all): ask about fewer findings at once \
(items_per_call=20; now 40), shorten their evidence, or set a smaller max_tokens"
    """
    if not _REFUSAL.search(reason):
        return None
    sizes = next((match.groupdict() for form in _SIZES if (match := form.search(reason))), {})
    known = {name: int(value) for name, value in sizes.items() if value}
    words = f" ({known['prompt']:,} tokens in, {known['limit']:,} in all)" if known else ""
    return f"request and answer exceed the model's context{words}: {_fix(request, known, max_tokens, fixed_share)}"


def _fix(request: Request, known: dict[str, int], max_tokens: int, fixed_share: float) -> str:
    if not isinstance(request, WorkerRequest):
        return (
            f"give the role {request.role} a model with a larger context, or a smaller max_tokens, or shorten the text"
        )
    if len(request.items) < 2:
        return "shorten the finding's evidence, use prompt='short', or a model with a larger context"
    size = len(request.items) // 2
    if known:
        room = known["limit"] - known.get("answer", max_tokens)
        fixed = known["prompt"] * fixed_share
        size = int(len(request.items) * (room - fixed) / max(known["prompt"] - fixed, 1))
    size = min(max(size, 1), len(request.items) - 1)
    return (
        f"ask about fewer findings at once (items_per_call={size}; now {len(request.items)}), shorten their evidence, "
        "or set a smaller max_tokens"
    )
