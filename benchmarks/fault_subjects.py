"""Small runs of each kind, every call of which is answered by a scripted server: what the faults befall.

Undisturbed, none of their calls fails, so that whatever fails in them is the fault's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.live.live_debates import CONVERGED, LOOPS, TASK, repository
from tests.live.live_faults import SCORED
from tests.live.live_runs import Played
from tests.live.live_scripts import FOUND, ROSTER, VOTES
from tests.live.scripted_replies import Answer, calls
from tests.runs.crossing import AGREE, COUNTER
from tests.runs.plan.planning import PLAN, answer, challenge, change, context, risk, unknown
from verifyplan.agents.anthropic.backend import Anthropic
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.event import Sink
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.debate.debate import debate
from verifyplan.runs.plan.verify import verify
from verifyplan.runs.run import Run

PLAN_ANSWERS: Mapping[str, Any] = {
    **SCORED,
    "i1/challenger": {
        "challenges": [challenge("locks", "BLOCKING"), challenge("rows")],
        "unknowns": [unknown("store"), unknown("table", "#2")],
    },
    "i1/resolver": {"answers": [answer("U1", "CONFIRMED"), answer("U2", "REFUTED")]},
    "i1/surface": {"contexts": [context("clock")]},
    "i1/probe": {"risks": [risk("quota")]},
    "i1/panel/r1/ann": {"C1": AGREE, "C2": COUNTER},
    "i1/panel/r1/bob": {"C1": COUNTER, "C2": COUNTER},
    "i1/synthesizer": {"changes": [change("C2", "RESOLVED")]},
    "i2/challenger": {"challenges": [challenge("journal", "MINOR")]},
    "i2/panel/r1/ann": {"C1": AGREE, "C3": AGREE},
    "i2/panel/r1/bob": {"C1": AGREE, "C3": COUNTER},
    "i2/synthesizer": {"changes": [change("C1", "RESOLVED"), change("C3", "DEFERRED")]},
    "i2/score": SCORED["i1/score"],
    "i2/audit": SCORED["i1/audit"],
}


class Subject(NamedTuple):
    """A run of one kind: what is answered in it, and how it begins."""

    answers: Mapping[Any, Any]
    first: Mapping[str, Answer]
    """The turns before the answers: tools that are called."""
    call: str
    """A call in the middle of it, which faults befall."""
    begin: Callable[[Anthropic, Path, Sink | None], Run]
    """Begin the run by this backend, with its log in this folder, and its repository beside that."""

    def played(self, first: Mapping[str, Any] | None = None) -> Played:
        """Return what a server answers, with some turns that hear something else at first."""
        return Played(self.answers, {**self.first, **(first or {})}, silent=True)


def _cross(backend: Anthropic, folder: Path, sink: Sink | None) -> Run:
    settings = {"adversarial": True, "maxRounds": 3}
    return crossverify(
        FOUND, ROSTER, backend=backend, repo=_repository(folder), log_dir=folder, sink=sink, settings=settings,
        matcher=None, progress=False,
    )  # fmt: skip


def _plan(backend: Anthropic, folder: Path, sink: Sink | None) -> Run:
    return verify(
        parse_plan(PLAN), _repository(folder), backend=backend, log_dir=folder, sink=sink, team="base",
        panel=["ann", "bob"], max_iterations=2, progress=False,
    )  # fmt: skip


def _debate(backend: Anthropic, folder: Path, sink: Sink | None) -> Run:
    return debate(
        TASK, backend, backend, repo=_repository(folder), log_dir=folder, sink=sink, progress=False
    )  # fmt: skip


def _repository(folder: Path) -> Path:
    return repository(folder.parent / "repository")


READS = {"i1/challenger/t1": calls("Read", path="store.py"), "i1/challenger/t2": calls("Grep", pattern="locks")}
SUBJECTS: Mapping[str, Subject] = {
    "cross": Subject(VOTES, {}, "r1/bob", _cross),
    "plan": Subject(PLAN_ANSWERS, READS, "i1/surface", _plan),
    "debate": Subject(CONVERGED, LOOPS, "t2/critique", _debate),
}
