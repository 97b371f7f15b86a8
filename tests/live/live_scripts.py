"""Answers of whole runs, which scripted agents and models can give alike."""

from __future__ import annotations

from typing import Any

from tests.runs.crossing import AGREE, BURDEN, COUNTER, SUPPLEMENT, finding
from tests.runs.plan.planning import scores, script

ROSTER = ["ann", "bob", "cy"]
FOUND = [finding(f"F-{n}", worker) for n, worker in enumerate((*ROSTER, *ROSTER), start=1)]
VOTES: dict[Any, Any] = {
    1: {
        "ann": {"F-2": AGREE, "F-3": SUPPLEMENT, "F-5": BURDEN, "F-6": AGREE},
        "bob": {"F-1": COUNTER, "F-3": AGREE, "F-4": BURDEN, "F-6": COUNTER},
        "cy": {"F-1": AGREE, "F-2": AGREE, "F-4": AGREE, "F-5": BURDEN},
    },
    2: {
        "ann": {"F-6": AGREE},
        "bob": {"F-1": COUNTER, "F-4": SUPPLEMENT, "F-6": AGREE},
        "cy": {"F-1": BURDEN, "F-4": AGREE, "F-5": COUNTER},
    },
    3: {"ann": {"F-6": COUNTER}, "bob": {"F-1": AGREE}, "cy": {"F-1": AGREE, "F-5": AGREE}},
}


def spoken_script() -> dict[str, Any]:
    """The plan run of three iterations, without a silence, and with scores as a model must give them: six, whole."""
    return script() | {
        "i1/panel/r1/panel-3": "error",
        "i3/score": scores(7),
        "i3/audit": scores(7, risk_coverage=4),
    }
