"""What counts as finding a labelled defect, and what the figures say of runs that gave nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.analysis.detection import ALL, Detection, detection
from verifyplan.documents.plan import parse_plan
from verifyplan.errors import InputError
from verifyplan.frames.runset import RunSet, concat
from verifyplan.loops.plan.verify import verify

TEXT = "# Move the store\n\nGoal: move it.\n\n1. Change `src/store.py`\n2. Delete `src/old.py`\n3. Deploy it\n"
LABEL: dict[str, Any] = {
    "plan": "bad",
    "kind": "missing-file",
    "verdict": "RETHINK",
    "held_out": False,
    "severity": "BLOCKING",
    "line": 5,
    "needles": ("src/store.py",),
    "places": ("plan:5", "src/shop.py:40"),
}
SOUND = LABEL | {"plan": "good", "kind": "sound", "verdict": "PROCEED", "severity": None, "needles": (), "places": ()}


def challenge(evidence: str, claim: str = "`src/store.py` exists", severity: str = "BLOCKING") -> dict[str, str]:
    return {"claim": claim, "concern": "it does not", "severity": severity, "confidence": "HIGH", "evidence": evidence}


def run(name: str, script: dict[str, Any], **settings: Any) -> RunSet:
    plan = parse_plan(TEXT, f"/plans/{name}.md")
    backend = ScriptedBackend(script, silent=True)
    made = verify(plan, backend=backend, log_dir=None, panel=None, max_iterations=1, **settings)
    return replace(made, run_id=name).frames


def scored(*challenges: dict[str, str], changes: tuple[dict[str, str], ...] = ()) -> Detection:
    script = {"i1/challenger": {"challenges": challenges}, "i1/synthesizer": {"changes": changes}}
    return detection(concat([run("bad", script), run("good", {})]), pd.DataFrame([LABEL, SOUND]))


@pytest.mark.parametrize(
    ("evidence", "found"),
    [
        ("bad.md:5", True),
        ("bad.md:8", True),
        ("bad.md:2-3", True),
        ("bad.md:9", False),
        ("src/shop.py:43", True),
        ("src/shop.py:44", False),
        ("other.md:5", False),
        ("src/store.py is not there", False),
    ],
)
def test_a_challenge_must_cite_a_line_near_the_defect(evidence, found):
    assert scored(challenge(evidence)).defects["found"].tolist() == [found]


def test_a_challenge_must_name_what_is_wrong():
    assert not scored(challenge("bad.md:5", "the plan is too short")).defects["found"].any()
    assert scored(challenge("bad.md:5: SRC/Store.py")).defects["found"].all()


def test_a_withdrawn_challenge_finds_nothing():
    withdrawn = {"challenge": "C1", "status": "WITHDRAWN", "resolution": "see bad.md:5"}
    assert not scored(challenge("bad.md:5"), changes=(withdrawn,)).defects["found"].any()


def test_the_verdicts_stand_beside_those_expected():
    table = scored(challenge("bad.md:5")).verdicts.set_index("plan")
    assert table["given"].astype(str).to_dict() == {"bad": "RETHINK", "good": "PROCEED"}
    assert table["agrees"].all()


def test_a_run_without_a_verdict_agrees_with_nothing_and_is_told():
    failed = run("bad", {"i1/synthesizer": "error"})
    made = detection(concat([failed, run("good", {})]), pd.DataFrame([LABEL, SOUND]))
    assert made.verdicts.set_index("plan")["agrees"].to_dict() == {"bad": False, "good": True}
    assert "1 runs gave none" in str(made)
    assert made.cost.set_index("plan")["failed"].to_dict() == {"bad": 1, "good": 0}


def test_false_alarms_are_what_stands_on_sound_plans():
    script = {"i1/challenger": {"challenges": [challenge("good.md:5"), challenge("good.md:7", "slow", "MINOR")]}}
    made = detection(concat([run("bad", {}), run("good", script)]), pd.DataFrame([LABEL, SOUND]))
    assert made.alarms[["plan", "severity", "place"]].values.tolist() == [["good", "BLOCKING", "good.md:5"]]
    assert "1 with a false alarm: 1 BLOCKING, 0 SIGNIFICANT" in str(made)


def test_shares_come_with_their_n_and_interval():
    [each, together] = scored(challenge("bad.md:5")).by_kind.to_dict("records")
    assert (each["kind"], together["kind"]) == ("missing-file", ALL)
    assert (together["n"], together["found"], together["rate"]) == (1, 1, 1.0)
    assert 0 < together["low"] < together["high"] <= 1


def test_labels_without_a_run_and_tables_that_are_none_are_refused():
    runs = run("good", {})
    with pytest.raises(InputError, match=r"labels: 1 plans have no run, the first is 'bad'"):
        detection(runs, pd.DataFrame([LABEL, SOUND]))
    with pytest.raises(InputError, match=r"labels: has no column 'needles'"):
        detection(runs, pd.DataFrame([LABEL]).drop(columns="needles"))
