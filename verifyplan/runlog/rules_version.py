"""Runs that other rules than today's decided: shown as they were, checked by the verifyplan that wrote them."""

from __future__ import annotations

from verifyplan.protocol.event_run import RunStarted
from verifyplan.version import RULES_VERSION, VERSION


def rules_changed(started: RunStarted) -> str | None:
    """Say that a run was decided by other rules than today's and which verifyplan checks it; None if by today's."""
    if started.rules_version == RULES_VERSION:
        return None
    return (
        f"the rules have changed: version {started.rules_version} decided this run, and verifyplan {VERSION} has "
        f"version {RULES_VERSION}; {writer_of(started)} checks it as it was"
    )


def writer_of(started: RunStarted) -> str:
    """Name the verifyplan that wrote a log."""
    version = started.versions.get("verifyplan")
    return f"verifyplan {version}" if version else "the verifyplan that wrote it"
