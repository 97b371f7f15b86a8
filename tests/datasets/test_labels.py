"""Labels of plans: one form in JSON, mappings and tables; every problem of every label at once."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pandas as pd
import pytest

from verifyplan.datasets import plan_labels
from verifyplan.datasets.bundled import plans_folder
from verifyplan.datasets.labels import (
    LabelledChallenge,
    LabelledDefect,
    PlanLabel,
    challenge_label_table,
    label_table,
    read_labels,
)
from verifyplan.errors import InputError

DEFECT = {"severity": "BLOCKING", "needles": ["db.py"], "places": ["move.md:26-30", "/repo/src/db.py:4"]}


SAID = {"right": False, "needles": ["old.py"], "line": 6, "reason": "step 2 makes it"}


def problems(labels):
    with pytest.raises(InputError) as caught:
        read_labels(labels)
    return [f"{one.place}: {one.message}" for one in caught.value.problems]


def test_the_bundled_file_is_read_as_what_anybody_may_write():
    pd.testing.assert_frame_equal(label_table(plans_folder() / "labels.json"), plan_labels())


def test_a_table_a_mapping_and_a_file_say_the_same(tmp_path):
    labels = {"move": {"defects": [DEFECT, DEFECT | {"severity": "MINOR"}]}, "good.md": {"held_out": True}}
    labels["bad"] = {"verdict": "RETHINK"}
    (tmp_path / "labels.json").write_text(json.dumps(labels))
    table = label_table(labels)
    assert table[["plan", "kind", "verdict", "held_out"]].values.tolist() == [
        ["move", "defect", "RETHINK", False],
        ["move", "defect", "RETHINK", False],
        ["good", "sound", "PROCEED", True],
        ["bad", "not sound", "RETHINK", False],
    ]
    pd.testing.assert_frame_equal(label_table(tmp_path / "labels.json"), table)
    pd.testing.assert_frame_equal(label_table(table), table)


def test_a_verdict_may_be_another_than_that_of_the_worst_defect():
    [label] = read_labels({"move": {"defects": [DEFECT], "verdict": "REVISE"}})
    assert label.expected == "REVISE"


def test_the_kind_of_a_label_is_that_of_its_defects_that_name_none():
    labels = {"move": {"kind": "missing-file", "defects": [DEFECT, DEFECT | {"kind": "duplicate"}]}}
    assert label_table(labels)["kind"].tolist() == ["missing-file", "duplicate"]
    [other] = problems({"move": {"kind": "missing-file", "defects": [DEFECT | {"kind": "duplicate"}]}})
    assert "labels: move: kind must be the kind of one of its defects ('duplicate'), got 'missing-file'" in other


@pytest.mark.parametrize(
    ("label", "told"),
    [
        (
            {"defects": [DEFECT | {"needles": "db.py"}]},
            "defects.0.needles: must be a list of texts, got the text 'db.py'",
        ),
        (
            {"defects": [DEFECT | {"places": "a.md:3"}]},
            "defects.0.places: must be a list of texts, got the text 'a.md:3'",
        ),
        (
            {"defects": [DEFECT | {"places": ["a.md"]}]},
            "defects.0.places.0: must be a place such as 'plan:12' or 'src/db.py:34-40', got 'a.md'",
        ),
        ({"defects": [DEFECT | {"places": []}]}, "defects.0: must have a line, places or evidence"),
        ({"defects": [DEFECT | {"needles": []}]}, "defects.0.needles: Tuple should have at least 1 item"),
        (
            {"defects": [DEFECT], "kind": "sound"},
            "kind must be the kind of one of its defects ('defect'), got 'sound': leave it out, or list no defects",
        ),
        (
            {"kind": "sound", "verdict": "REVISE"},
            "kind must be 'not sound' for a label without defects and with the verdict REVISE, got 'sound': list the",
        ),
        (
            {"kind": "missing-file"},
            "kind must be 'sound' for a label without defects and with the verdict PROCEED, got 'missing-file': list",
        ),
        ({"verdict": "MAYBE"}, "verdict: must be 'PROCEED', 'REVISE' or 'RETHINK'"),
        (3, "0: is 3, of type int: a label is a mapping such as {'verdict': 'REVISE', 'defects': [defect, ...]}"),
        ({"defects": ["x"]}, "defects.0: is 'x', of type str: a defect is a mapping such as {'severity': 'BLOCKING'"),
        ({"defects": DEFECT}, "defects: must be a list, got {'severity': 'BLOCKING'"),
        (
            {"defects": [DEFECT | {"evidence": ["q"]}]},
            "evidence.0: is 'q', of type str: an evidence is a mapping such as {'place': 'plan:12'",
        ),
        ({"challenges": [SAID | {"right": "no"}]}, "challenges.0.right: must be a valid boolean, got 'no'"),
        ({"challenges": [SAID | {"line": None}]}, "challenges.0: must have a line or places: a finding is matched"),
        (
            {"challenges": [SAID | {"answer": "step 2"}]},
            "challenges.0.answer: must be a place such as 'plan:12' or 'src/db.py:34-40', got 'step 2'",
        ),
        ({"challenges": [SAID | {"reason": ""}]}, "challenges.0.reason: String should have at least 1 character"),
        ({"challenges": ["x"]}, "challenges.0: is 'x', of type str: a challenge is a mapping such as {'right': False"),
    ],
)
def test_what_is_wrong_with_a_label_is_named(label, told):
    [problem] = problems({"move": label})
    assert told in problem


def test_an_error_names_the_page_that_describes_all_keys():
    with pytest.raises(InputError) as caught:
        read_labels({"move": {"defect": []}})
    page = Path(re.search(r"; (\S+) describes all keys", str(caught.value))[1]).read_text()
    words = {word for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for word in re.findall(r"\w+", row)}
    needed = {*PlanLabel.model_fields, *LabelledDefect.model_fields, *LabelledChallenge.model_fields}
    assert needed <= words


def test_a_table_is_held_to_the_same_form():
    row = {
        "plan": "move",
        "kind": "x",
        "severity": "BLOCKING",
        "needles": ["a"],
        "places": ["plan:3"],
        "verdict": "REVISE",
    }
    assert problems(pd.DataFrame([row]).drop(columns=["needles", "places"])) == [
        "labels: has no column 'needles'",
        "labels: has no column 'places'",
    ]
    assert problems(pd.DataFrame([row | {"needles": "a"}])) == [
        "labels: move.defects.0.needles: must be a list of texts, got the text 'a'"
    ]
    assert problems(pd.DataFrame([row, row | {"verdict": "RETHINK"}])) == ["labels: move: its rows disagree on verdict"]


def test_what_is_no_label_at_all_is_refused(tmp_path):
    (tmp_path / "x.json").write_text("[")
    assert "is not JSON" in problems(tmp_path / "x.json")[0]
    assert "cannot be read (No such file" in problems(tmp_path / "none.json")[0]
    assert problems(["move"]) == ["labels: must be labels of plans, got a list"]
    assert problems({"plans": [{"name": "a"}, {"name": "a.md"}]}) == ["labels: a: is labelled twice"]
    (tmp_path / "y.json").write_text("[1]")
    assert "must hold labels by the names of plans, got a list" in problems(tmp_path / "y.json")[0]
    assert read_labels([PlanLabel(name="a")])[0].plan == "a"


def test_labels_of_challenges_are_a_table_of_their_own_with_every_problem_at_once(tmp_path):
    labels = {"move": {"challenges": [SAID, SAID | {"right": True, "places": ["a.md:3"], "answer": "plan:9"}]}}
    (tmp_path / "labels.json").write_text(json.dumps(labels))
    table = challenge_label_table(tmp_path / "labels.json")
    assert table[["plan", "right", "places"]].values.tolist() == [
        ["move", False, ("plan:6",)],
        ["move", True, ("plan:6", "a.md:3")],
    ]
    assert table["answer"].fillna("none").tolist() == ["none", "plan:9"]
    assert challenge_label_table(label_table(labels)).empty, "a table of defects holds none"
    assert len(problems({"move": {"challenges": [{"right": True}]}})) == 2
    wrong = {"move": {"defects": [{}], "challenges": [SAID | {"needles": "old.py"}, {}]}}
    assert len(problems(wrong)) == 6


def test_a_table_of_a_sound_plan_that_deserves_another_verdict_is_refused():
    table = label_table({"bad": {"verdict": "RETHINK"}})
    [problem] = problems(table.assign(kind="sound"))
    assert problem.startswith("labels: bad: kind must be 'not sound' for a label without")


def test_the_fix_of_a_wrong_label_shows_one_that_can_be_written():
    with pytest.raises(InputError) as caught:
        read_labels({"move": {"defects": [DEFECT | {"severity": "BAD"}]}})
    [problem] = caught.value.problems
    example = re.search(r"such as (\{.*\});", problem.fix)
    assert example
    assert [label.expected for label in read_labels(ast.literal_eval(example[1]))] == ["RETHINK", "PROCEED"]
