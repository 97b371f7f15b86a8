"""Name worker and repetition in each request, so that no cache by the request's body answers two with one reply."""

from __future__ import annotations

import hashlib

from verifyplan.agents.base import Request
from verifyplan.protocol.call import WorkerRequest

DIGEST_CHARACTERS = 12
"""Characters of the digest that stands for a worker's name."""


def request_metadata(request: Request, repetition: int) -> dict[str, str]:
    """Return the `metadata` of a request: its worker or role, and which repetition of the run it is for.

    `user_id` is its only field. The API wants no names of people in it, and a roster may hold some: a worker is named
    by the first 12 hexadecimal digits of its name's SHA-256. It is no part of what endpoints cache of prompts. Source:
    rule G3; types/metadata_param.py of the SDK.

    >>> vote = {"mode": "adversarial", "verification_mode": "lightweight", "items": ()}
    >>> request_metadata(WorkerRequest(call_id="r1/ann", worker="ann", round=1, **vote), 2)
    {'user_id': 'verifyplan worker=49915e0d7d4b repetition=2'}
    """
    if isinstance(request, WorkerRequest):
        who = f"worker={hashlib.sha256(request.worker.encode()).hexdigest()[:DIGEST_CHARACTERS]}"
    else:
        who = f"role={request.role}"
    return {"user_id": f"verifyplan {who} repetition={repetition}"}
