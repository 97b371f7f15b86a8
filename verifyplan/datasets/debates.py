"""Scripted debates: what an architect and a builder say about the sample repository's files, written beforehand."""

from __future__ import annotations

from pathlib import Path

from verifyplan.datasets.plans_data import plans_folder
from verifyplan.errors import InputError, Problem, one_of
from verifyplan.text import did_you_mean

DEBATES = {
    "readme-section": "add a README section on local development",
    "purge-stop": "make the purge stop at 04:00, and say so in docs/runbook.md",
    "excel-export": "settle what is open about the plan excel-export, for `revise`",
}
"""The scripted debates, and the task of each."""


def debate_script(name: str) -> Path:
    """Return the JSON file of a scripted debate, for `ScriptedBackend` or `verifyplan debate --script`.

    Its diffs apply to `sample_repository`, that of `excel-export` to the labelled plan of that name; task and answers
    are synthetic. `DEBATES` has the tasks. InputError for a name that there is none of.

    >>> debate_script("readme-section").name
    'readme-section.json'
    """
    if name not in DEBATES:
        fix = f"use {one_of(DEBATES)}"
        raise InputError(Problem("name", f"{name!r} is no scripted debate{did_you_mean(name, DEBATES)}", fix))
    return plans_folder().parent / "debates" / f"{name}.json"
