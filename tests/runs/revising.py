"""A plan, agents that object to words in it, and roles that settle on texts: for the tests of `revise`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import verifyplan as vp
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.diffs import diff_of
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.call import Reply

PLAN = """# Name the lock of the deploy script

Goal: whoever waits for a release sees who holds the lock.

1. Change `deploy.sh`: write the name of the holder into the lock file.
2. Release it with `deploy.sh now`, and watch two releases wait for each other.
3. Say in `RUNBOOK.md` how a lock is broken.
4. Go back with `deploy.sh revert`.
"""
NAME = "lock.md"


class Objecting:
    """Verifies plans: its challenger objects to each of some words that stands in the plan, with a severity."""

    def __init__(self, **objections: str) -> None:
        self.objections, self.rest = objections, ScriptedBackend({}, silent=True)

    def describe(self) -> dict[str, Any]:
        return {"name": "objecting"}

    def check_worker(self, worker: str) -> str | None:
        return self.rest.check_worker(worker)

    async def answer(self, request: Any) -> Reply:
        if not request.call_id.endswith("/challenger") or request.iteration > 1:
            return await self.rest.answer(request)
        raised = [
            {"claim": f"`{word}` works", "concern": "it does not", "alternative": "another word"}
            | {"severity": severity, "confidence": "HIGH", "evidence": f"{NAME}:{request.plan_text.count(chr(10))}"}
            for word, severity in self.objections.items()
            if word in request.plan_text
        ]
        return Reply(value={"challenges": raised})


def verified(objecting: Objecting, text: str = PLAN, **settings: Any) -> vp.results.PlanRun:
    """The run of a plan."""
    given = {"backend": objecting, "log_dir": None, "progress": False, "panel": None, "max_iterations": 1}
    return vp.verify(parse_plan(text, NAME), **given | settings)


def revised(run: Any, roles: ScriptedBackend, objecting: Objecting, **settings: Any) -> vp.results.Revision:
    """The revision of a run, in which the same agents verify again."""
    given = {"architect": roles, "backend": objecting, "log_dir": None, "progress": False}
    return vp.revise(run, **given | settings)


def to(text: str, before: str = PLAN) -> str:
    """The diff that makes another text of the plan."""
    return diff_of({NAME: (before, text)})


def settling(diff: str, verification: str = "Verified: as I say.") -> ScriptedBackend:
    """Roles that settle on a diff at once, in every debate."""
    said = {"content": "Settle it."}
    implement = said | {"diff": diff}
    return ScriptedBackend(
        {"t1/propose": said, "t1/implement": implement, "t1/verify": {"content": verification}}
        | {"t2/critique": said, "t2/implement": implement}
    )


def repository(folder: Path) -> Path:
    """The folder that the plan speaks of."""
    (folder / "deploy.sh").write_text("#!/bin/sh\necho $1\n")
    (folder / "RUNBOOK.md").write_text("# Runbook\n")
    return folder
