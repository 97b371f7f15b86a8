"""Settlements of challenges held against labels: wrong WITHDRAWN, wrong RESOLVED, and what a panel's consensus does."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.runs.plan.planning import AGREE, COUNTER, change, votes
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.analysis.detection import Detection, detection
from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.datasets.labels import read_labels
from verifyplan.frames.runset import RunSet, concat
from verifyplan.plans.plan import parse_plan
from verifyplan.runs.plan.verify import verify

TEXT = "# Move the store\n\nGoal: move it.\n\n1. Change `src/store.py`\n2. Delete `src/old.py`\n3. Deploy it\n"
NO_CODE = Path(__file__).parent / "rates"  # some small folder: agents of a script look nothing up
DEFECT: dict[str, Any] = {"severity": "BLOCKING", "needles": ["src/store.py"], "line": 5}
SAID: dict[str, Any] = {"right": False, "needles": ["src/old.py"], "line": 6, "reason": "nobody imports it"}


def challenge(name: str = "src/store.py", line: int = 5, severity: str = "SIGNIFICANT") -> dict[str, str]:
    return {
        "claim": f"`{name}` can be changed",
        "concern": "it cannot",
        "severity": severity,
        "confidence": "HIGH",
        "evidence": f"bad.md:{line} good.md:{line}",
    }


def run(name: str, raised: list[dict[str, str]], *changes: dict[str, str], run_id: str = "", **more: Any) -> RunSet:
    script = {"i1/challenger": {"challenges": raised}, "i1/synthesizer": {"changes": changes}}
    for worker, vote in more.pop("cast", {}).items():
        script[f"i1/panel/r1/{worker}"] = votes(vote)
    backend = ScriptedBackend(script, silent=True)
    settings: dict[str, Any] = {"max_iterations": 1, "panel": None, "log_dir": None} | more
    made = verify(parse_plan(TEXT, f"/plans/{name}.md"), NO_CODE, backend=backend, **settings)
    return replace(made, run_id=run_id or name).frames


@cache
def sound() -> RunSet:
    return run("good", [challenge()], change("C1", "WITHDRAWN"))


def judged(runs: RunSet, *said: dict[str, Any], defects: tuple[dict[str, Any], ...] = (DEFECT,)) -> Detection:
    labels = {"bad": {"defects": list(defects), "challenges": list(said)}}
    return detection(runs, labels, settlements=True)


def rows(found: Detection) -> list[dict[str, Any]]:
    assert found.settlements is not None
    return found.settlements.astype("object").where(found.settlements.notna(), None).to_dict("records")  # type: ignore[return-value]


@pytest.mark.parametrize("status", ["RESOLVED", "WITHDRAWN"])
def test_a_challenge_that_finds_the_defect_is_right_and_settling_it_wrong(status):
    [row] = rows(judged(run("bad", [challenge()], change("C1", status))))
    assert (row["truth_from"], row["right"], row["settled_rightly"]) == ("defect", True, False)
    assert row["reason"] == "it is the labelled defect defect"
    assert (row["status"], row["by"], row["uncited"], row["panel"]) == (status, "synthesizer", False, "no vote")


@pytest.mark.parametrize(("severity", "rightly"), [("BLOCKING", False), ("MINOR", True)])
def test_deferring_is_right_where_the_defect_is_minor(severity, rightly):
    runs = run("bad", [challenge(severity="MINOR")], change("C1", "DEFERRED"))
    assert rows(judged(runs, defects=(DEFECT | {"severity": severity},)))[0]["settled_rightly"] is rightly


@pytest.mark.parametrize(
    ("status", "label", "rightly"),
    [
        ("WITHDRAWN", {"right": True}, False),
        ("RESOLVED", {"right": True}, False),
        ("RESOLVED", {"right": True, "answer": "bad.md:3"}, True),
        ("WITHDRAWN", {"right": True, "answer": "bad.md:3"}, False),
        ("WITHDRAWN", {"right": False}, True),
        ("RESOLVED", {"right": False}, True),
        ("DEFERRED", {"right": True}, True),
        ("DEFERRED", {"right": False}, False),
    ],
)
def test_a_label_of_a_challenge_says_whether_it_is_right_and_answered(status, label, rightly):
    runs = run("bad", [challenge("src/old.py", 6, "MINOR")], change("C1", status))
    [row] = rows(judged(runs, SAID | label))
    assert (row["truth_from"], row["right"], row["settled_rightly"]) == ("challenge label", label["right"], rightly)
    assert row["reason"] == "nobody imports it"


def test_a_label_of_a_challenge_goes_before_a_defect():
    runs = run("bad", [challenge()], change("C1", "RESOLVED"))
    [row] = rows(judged(runs, DEFECT_ANSWERED))
    assert (row["truth_from"], row["answer"], row["settled_rightly"]) == ("challenge label", "plan:6", True)


def test_a_label_that_calls_the_defect_wrong_leaves_it_unknown():
    found = judged(run("bad", [challenge()], change("C1", "RESOLVED")), DEFECT_ANSWERED | {"right": False})
    assert [(row["truth_from"], row["right"]) for row in rows(found)] == [("labels disagree", None)]


def test_words_that_a_challenge_only_quotes_do_not_make_it_the_labelled_one():
    quoting = challenge("deploy", 6) | {"evidence": "bad.md:6 > Delete `src/old.py`"}
    [row] = rows(judged(run("bad", [quoting], change("C1", "RESOLVED")), SAID))
    assert row["truth_from"] is None


DEFECT_ANSWERED = {"right": True, "needles": ["src/store.py"], "line": 5, "reason": "step 2", "answer": "plan:6"}


def test_on_a_sound_plan_only_what_decides_is_known_to_be_wrong():
    minor = run("good", [challenge(severity="MINOR")], change("C1", "WITHDRAWN"), run_id="minor")
    found = detection(concat([sound(), minor]), {"good": {}}, settlements=True)
    assert [(row["truth_from"], row["right"], row["settled_rightly"]) for row in rows(found)] == [
        ("sound plan", False, True),
        (None, None, None),
    ]
    assert found.notes == ("1 of 2 settled challenges match no label: whether right is not known",)


def test_what_labels_do_not_say_or_say_twice_is_not_known():
    runs = run("bad", [challenge("src/old.py", 6), challenge("deploy", 7)], change("C1", "RESOLVED"))
    found = judged(runs, SAID, SAID | {"right": True})
    assert [(row["truth_from"], row["right"], row["settled_rightly"]) for row in rows(found)] == [
        ("labels disagree", None, None)
    ]
    assert found.notes == ("1 settled challenge is right by one label and wrong by another",)


def test_what_a_person_settles_and_what_is_open_is_no_settlement_to_judge():
    raised = [challenge(severity="BLOCKING"), challenge("src/old.py", 6)]
    found = judged(run("bad", raised, max_iterations=2, on_blocked=lambda _: "acknowledge:C1"), SAID)
    [row] = rows(found)
    assert (row["by"], row["right"], row["settled_rightly"]) == ("user", True, None)
    assert found.notes == ("1 challenge is settled by a person, which is not judged",)


def by_panel(run_id: str, vote: dict[str, Any], *changes: dict[str, str]) -> RunSet:
    workers = ("panel-1", "panel-2", "panel-3")
    return run("bad", [challenge()], *changes, run_id=run_id, panel=workers, cast=dict.fromkeys(workers, vote))


def test_rates_say_by_panel_class_what_was_lost():
    """What the panel held cannot be withdrawn, but can be resolved; what it refuted can be withdrawn, though right."""
    runs = concat(
        [
            by_panel("open", AGREE),
            by_panel("resolved", AGREE, change("C1", "RESOLVED")),
            by_panel("forbidden", AGREE, change("C1", "WITHDRAWN")),
            by_panel("withdrawn", COUNTER, change("C1", "WITHDRAWN")),
        ]
    )
    found = judged(runs)
    assert [(row["run_id"], row["panel"]) for row in rows(found)] == [
        ("resolved", "full-consensus"),
        ("withdrawn", "worker-unique"),
    ]
    rates = found.settlement_rates
    assert rates is not None
    assert {(row.measure, row.panel): (row.found, row.n) for row in rates.itertuples()} == {
        ("wrong RESOLVED", "any"): (1, 1),
        ("wrong RESOLVED", "full-consensus"): (1, 1),
        ("wrong DEFERRED", "any"): (0, 0),
        ("wrong WITHDRAWN", "any"): (1, 1),
        ("wrong WITHDRAWN", "worker-unique"): (1, 1),
        ("right and lost", "any"): (2, 4),
        ("right and lost", "full-consensus"): (1, 3),
        ("right and lost", "worker-unique"): (1, 1),
    }
    assert "\nright and lost: 2 of 4 in 4 runs of 1 plans: 50% [" in str(found)


def test_tables_have_the_columns_that_are_documented_and_are_none_unless_asked_for():
    runs = run("bad", [challenge()], change("C1", "WITHDRAWN"))
    found = judged(runs)
    for name in ("settlements", "settlement_rates"):
        table = getattr(found, name)
        assert list(table.columns) == [column.name for column in RESULT_TABLES[f"detection.{name}"]]
    assert "wrong WITHDRAWN: 1 of 1: 100% [" in str(found)
    assert "wrong RESOLVED: none of 0 runs" in str(found)
    plain = detection(runs, {"bad": {"defects": [DEFECT]}})
    assert plain.settlements is plain.settlement_rates is None
    assert "wrong" not in str(plain)


def test_a_generator_of_labels_is_read_once():
    labels = (label for label in read_labels({"bad": {"challenges": [SAID]}}))
    runs = run("bad", [challenge("src/old.py", 6)], change("C1", "WITHDRAWN"))
    assert rows(detection(runs, labels, settlements=True))[0]["truth_from"] == "challenge label"
