"""Make the request of a recorded call again, as a log holds its digest and not its text (rules E1, E3)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from pydantic_core import to_json

from verifyplan.agents.base import Request
from verifyplan.engine.calls import CensoredError
from verifyplan.protocol.event_run import CallRequested
from verifyplan.runlog.chain import Record
from verifyplan.runlog.current import current
from verifyplan.runlog.recorder import Past, Recorder
from verifyplan.runlog.versions import rules_changed
from verifyplan.runs.resume import drive, run_of
from verifyplan.runs.start import at_present


class RecordedRequest(NamedTuple):
    """The request of a call, made again by the rules of today."""

    request: Request
    is_same: bool
    """Whether it has the digest of the recorded one: only then is it known to be what was asked."""


def request_of(records: Sequence[Record], call_id: str) -> RecordedRequest | None:
    """Return the request of a recorded call; None if the run does not make it under today's rules.

    The run is replayed from its recorded replies up to that call; no call is made and nothing is written. Raises the
    errors of reading such a run, mostly for settings that no longer exist.

    >>> import verifyplan as vp
    >>> from verifyplan.runlog.reader import read_log
    >>> log = vp.datasets.path("live-example/plan") / "purge-hour-001.jsonl"
    >>> found = request_of(read_log(log).records, "i2/challenger")
    >>> found.request.role, found.is_same
    ('challenger', True)
    """
    run = run_of(records, None, "")
    past = Past(records, repeats_derived=False)
    started = at_present(run.started, past)
    try:
        drive(started, None, _Search(past, call_id), strict=rules_changed(started) is None, progress=False)
    except _FoundError as found:
        digest = hashlib.sha256(to_json(found.request)).hexdigest()
        return RecordedRequest(found.request, digest == _recorded_digest(records, call_id))
    except CensoredError:
        return None
    return None


class _FoundError(Exception):
    """Ends the replay at the call that was searched for."""

    def __init__(self, request: Request) -> None:
        super().__init__(request.call_id)
        self.request = request


class _Search(Recorder):
    """Keeps nothing in a log, and stops at the request of one call."""

    def __init__(self, past: Past, call_id: str) -> None:
        super().__init__(past=past)
        self._call_id = call_id

    def note_request(self, request: object) -> None:
        """Stop if this is the call."""
        if getattr(request, "call_id", None) == self._call_id:
            raise _FoundError(request)  # type: ignore[arg-type]  # only requests have such an id


def _recorded_digest(records: Sequence[Record], call_id: str) -> str:
    events = (record.event for record in current(records))
    asked = (event for event in events if isinstance(event, CallRequested) and event.call_id == call_id)
    return next((event.request_sha256 for event in asked), "")
