"""Report what a run was made with: its subject, backend, settings, versions (rule A13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from pydantic_core import to_json

from verifyplan.protocol.event_run import RunStarted
from verifyplan.reports.blocks import PageSection, cell_text, table_section

MAX_VALUE_CHARACTERS = 400
"""Longest value of a setting that is shown."""


def circumstances(
    started: RunStarted | None, settings: Sequence[tuple[str, Any]], before: Sequence[tuple[str, Any]] = ()
) -> PageSection:
    """Return the section of a run's circumstances: `before`, what it is about, its backend, `settings`, versions."""
    rows = [*before]
    if started is not None:
        rows += [("about", started.task_key)] if started.task_key.strip() else []
        rows += [("repetition", str(started.repetition))] if started.repetition > 1 else []
        rows += [("synthetic", "inputs or replies were generated, not observed")] if started.synthetic else []
        rows += known("backend", started.backend)
    rows += settings
    if started is not None:
        rows += [(f"version of {name}", version) for name, version in started.versions.items()]
        rows.append(("version of the rules", f"{started.rules_version}"))
    texts = (
        (name, "none" if value is None else value if isinstance(value, str) else to_json(value, fallback=repr).decode())
        for name, value in rows
    )
    cells = ((cell_text(name), cell_text(text, MAX_VALUE_CHARACTERS)) for name, text in texts)
    return table_section("The run", ("what", "value"), cells, "Circumstances of the run")


def known(prefix: str, values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the values that are neither missing nor empty, with prefixed names."""
    filled = {key: value for key, value in values.items() if value not in (None, [], {})}
    blank = {key for key, value in filled.items() if isinstance(value, str) and not value.strip()}
    return [(f"{prefix} {key}", value) for key, value in filled.items() if key not in blank]


def from_here(path: str) -> str:
    """Return a path below the current folder relative to it, as its reader would name it; another as it is.

    >>> from_here(f"{Path.cwd()}/plans/PLAN.md"), from_here("/elsewhere/PLAN.md")
    ('plans/PLAN.md', '/elsewhere/PLAN.md')
    """
    place, here = PurePath(path), Path.cwd()
    return str(place.relative_to(here)) if place != here and place.is_relative_to(here) else path
