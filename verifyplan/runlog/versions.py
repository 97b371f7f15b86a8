"""Say whether this verifyplan reads a log, and whether its rules decided the run (rule E1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verifyplan.errors import LogError, Problem
from verifyplan.protocol.event_run import LOG_VERSION, RunStarted
from verifyplan.text import short_repr
from verifyplan.version import RULES_VERSION, VERSION


def check_version(started: Mapping[str, Any], place: str) -> None:
    """Raise LogError unless a run's first event, as JSON values, has the version that is read; `place` names the log.

    >>> check_version({"version": 3, "versions": {"verifyplan": "0.2.0"}}, "run.jsonl")
    Traceback (most recent call last):
    verifyplan.errors.LogError: run.jsonl: has version 3 of the log, and this verifyplan reads version 5 alone.
    Fix: make the run again, or read it with verifyplan 0.2.0.
    """
    version, versions = started.get("version"), started.get("versions")
    if version == LOG_VERSION and type(version) is int:
        return
    message = f"has version {short_repr(version)} of the log, and this verifyplan reads version {LOG_VERSION} alone"
    writer = writer_of(versions if isinstance(versions, dict) else {})
    raise LogError(Problem(place, message, f"make the run again, or read it with {writer}"))


def rules_changed(started: RunStarted) -> str | None:
    """Return a sentence if other rules than today's decided a run, with the verifyplan that checks it; else None."""
    if started.rules_version == RULES_VERSION:
        return None
    return (
        f"the rules have changed: version {started.rules_version} decided this run, and verifyplan {VERSION} has "
        f"version {RULES_VERSION}; {writer_of(started.versions)} checks it as it was"
    )


def writer_of(versions: Mapping[str, object]) -> str:
    """Name the verifyplan that wrote a log, by the versions that its first event states."""
    version = versions.get("verifyplan")
    return f"verifyplan {version}" if isinstance(version, str) and version else "the verifyplan that wrote it"
