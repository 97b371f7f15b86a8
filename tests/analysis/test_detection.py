"""What counts as finding a labelled defect, and what the figures say of runs that gave nothing."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.analysis.detection import ALL, Detection, detection
from verifyplan.analysis.documentation import documentation
from verifyplan.errors import InputError
from verifyplan.frames.runset import RunSet, concat
from verifyplan.plans.plan import parse_plan
from verifyplan.runs.plan.verify import verify

TEXT = "# Move the store\n\nGoal: move it.\n\n1. Change `src/store.py`\n2. Delete `src/old.py`\n3. Deploy it\n"
NO_CODE = Path(__file__).parent / "rates"  # some small folder: agents of a script look nothing up
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


def run(name: str, script: dict[str, Any], run_id: str = "", **settings: Any) -> RunSet:
    plan = parse_plan(TEXT, f"/plans/{name}.md")
    backend = ScriptedBackend(script, silent=True)
    made = verify(plan, NO_CODE, backend=backend, log_dir=None, panel=None, max_iterations=1, **settings)
    return replace(made, run_id=run_id or name).frames


@cache
def sound_run() -> RunSet:
    return run("good", {})


def scored(
    *challenges: dict[str, str], changes: tuple[dict[str, str], ...] = (), label: dict[str, Any] = LABEL
) -> Detection:
    script = {"i1/challenger": {"challenges": challenges}, "i1/synthesizer": {"changes": changes}}
    return detection(concat([run("bad", script), sound_run()]), pd.DataFrame([label, SOUND]))


@pytest.mark.parametrize(
    ("evidence", "found"),
    [
        ("bad.md:5", True),
        ("bad.md:8", True),
        ("bad.md:2-3", True),
        ("bad.md:9", False),
        ("src/shop.py:43", True),
        ("src/shop.py:44", False),
        ("/code/shop/src/shop.py:43", True),
        ("./src/shop.py:30-37", True),
        ("other/src/shop.py:40", False),
        ("shop.py:40", False),
        ("/plans/bad.md:5", True),
        ("plans/bad.md:4-6", True),
        ("/elsewhere/bad.md:5", False),
        ("other.md:5", False),
        ("src/store.py is not there", False),
        ("bad.md line 5", True),
        ("`src/shop.py`, lines 36 to 38", True),
        ("line 43 of src/shop.py", True),
        ("src/shop.py line 44", False),
        ("line 5 says so", False),
    ],
)
def test_a_challenge_must_cite_a_line_near_the_defect(evidence, found):
    assert scored(challenge(evidence)).defects["found"].tolist() == [found]


@pytest.mark.parametrize("place", ["plan:5", "bad.md:5", "plans/bad.md:5", "/plans/bad.md:5", "./bad.md:4-6"])
def test_a_label_may_name_the_plan_by_its_file(place):
    assert scored(challenge("bad.md:8"), label=LABEL | {"places": (place,)}).defects["found"].all()
    assert not scored(challenge("bad.md:12"), label=LABEL | {"places": (place,)}).defects["found"].any()


@pytest.mark.parametrize("place", ["/code/shop/src/shop.py:40", "src/shop.py:35-40"])
def test_a_label_may_name_a_file_absolutely_or_a_range(place):
    assert scored(challenge("src/shop.py:43"), label=LABEL | {"places": (place,)}).defects["found"].all()
    assert not scored(challenge("src/other.py:43"), label=LABEL | {"places": (place,)}).defects["found"].any()


def finding(hits: int, misses: int, name: str = "bad") -> list[RunSet]:
    """Runs of a plan, some of which find its defect."""
    script = {"i1/challenger": {"challenges": [challenge(f"{name}.md:5")]}}
    return [run(name, script if at < hits else {}, run_id=f"{name} {at}") for at in range(hits + misses)]


def test_each_run_of_a_plan_counts_by_itself_and_none_for_the_best():
    made = detection(concat([*finding(1, 3), run("good", {})]), pd.DataFrame([LABEL, SOUND]))
    assert made.defects["found"].tolist() == [True, False, False, False]
    assert made.defects["run_id"].tolist() == [f"bad {at}" for at in range(4)]
    row = made.by_kind[made.by_kind["kind"] == ALL].iloc[0]
    assert (row["n_plans"], row["n_runs"], row["n"], row["found"], row["rate"]) == (1, 4, 4, 1, 0.25)
    assert "defects found: 1 of 4 in 4 runs of 1 plans: 25%" in str(made)
    assert made.verdicts["agrees"].tolist() == [True, False, False, False, True]
    assert len(made.cost) == 5


def test_precision_counts_the_challenges_that_find_a_labelled_defect_and_says_that_it_is_a_lower_bound():
    raised = [challenge("bad.md:5"), challenge("bad.md:6", "`src/old.py` exists", "MINOR")]
    told = {"challenges": [challenge("good.md:6", "`src/old.py` exists", "SIGNIFICANT")]}
    runs = [run("bad", {"i1/challenger": {"challenges": raised}}), run("good", {"i1/challenger": told})]
    labels = pd.DataFrame([LABEL, SOUND])
    made = detection(concat(runs), labels)
    assert made.precision[["held_out", "n_plans", "n", "found"]].values.tolist() == [[False, 2, 3, 1]]
    assert "challenges that find a labelled defect: 1 of 3: 33% [" in str(made)
    assert "; others may be right, too" in str(made)
    alone = SOUND | {"verdict": "REVISE", "kind": "not sound"}
    assert detection(concat(runs), pd.DataFrame([LABEL, alone])).precision["n"].tolist() == [2]
    assert scored().precision.empty, "no challenge, no share"


def test_a_false_blocking_counts_in_each_run_that_raises_it():
    alarm = [challenge("good.md:5"), challenge("good.md:6", "`src/old.py` exists")]
    loud = [run("good", {"i1/challenger": {"challenges": alarm}}, run_id=f"good {at}") for at in range(2)]
    made = detection(concat([run("bad", {}), *loud, run("good", {}, run_id="good 2")]), pd.DataFrame([LABEL, SOUND]))
    assert made.on_sound.set_index("alarm").loc["BLOCKING", ["n_plans", "n_runs", "found"]].tolist() == [1, 3, 2]
    assert len(made.alarms) == 4


def test_runs_that_agree_are_no_surer_than_their_plans():
    labels = pd.DataFrame([LABEL, LABEL | {"plan": "worse"}])
    once = detection(concat([*finding(1, 0), *finding(0, 1, "worse")]), labels).by_kind.iloc[-1]
    often = detection(concat([*finding(3, 0), *finding(0, 3, "worse")]), labels).by_kind.iloc[-1]
    assert once["rate"] == often["rate"] == 0.5
    assert often["high"] - often["low"] >= once["high"] - once["low"]


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
    assert "1 run gave no verdict" in str(made)
    assert made.cost.set_index("plan")["failed"].to_dict() == {"bad": 1, "good": 0}


def test_false_alarms_are_what_stands_on_sound_plans():
    script = {"i1/challenger": {"challenges": [challenge("good.md:5"), challenge("good.md:7", "slow", "MINOR")]}}
    made = detection(concat([run("bad", {}), run("good", script)]), pd.DataFrame([LABEL, SOUND]))
    assert made.alarms[["plan", "severity", "place"]].values.tolist() == [["good", "BLOCKING", "good.md:5"]]
    assert made.on_sound[["alarm", "found", "n"]].values.tolist() == [
        ["BLOCKING", 1, 1],
        ["SIGNIFICANT", 0, 1],
        ["BLOCKING or SIGNIFICANT", 1, 1],
    ]
    assert "sound plans with a false BLOCKING: 1 of 1: 100% [21%, 100%]" in str(made)


def test_shares_come_with_their_n_and_interval():
    [each, together] = scored(challenge("bad.md:5")).by_kind.to_dict("records")
    assert (each["kind"], together["kind"]) == ("missing-file", ALL)
    assert (together["n"], together["found"], together["rate"]) == (1, 1, 1.0)
    assert 0 < together["low"] < together["high"] <= 1


@pytest.mark.parametrize("labels", [[SOUND], [LABEL]])
def test_labels_may_be_of_one_sort_alone(labels):
    made = detection(concat([run("bad", {}), run("good", {})]), pd.DataFrame(labels))
    assert (len(made.defects), made.on_sound["n"].max()) == ((0, 1) if labels == [SOUND] else (1, 0))
    assert len(made.cost) == len(made.verdicts) == 1
    assert "verdicts as expected: " in str(made)


def test_labels_may_be_a_mapping():
    labels = {"bad": {"defects": [{"severity": "BLOCKING", "needles": ["src/store.py"], "line": 5}]}, "good": {}}
    script = {"i1/challenger": {"challenges": [challenge("bad.md:5")]}}
    made = detection(concat([run("bad", script), run("good", {})]), labels)
    assert made.defects["found"].tolist() == [True]
    assert made.verdicts["agrees"].tolist() == [True, True]


def test_a_plan_that_deserves_another_verdict_and_has_no_defect_counts_in_verdicts_alone():
    script = {"i1/challenger": {"challenges": [challenge("bad.md:5")]}}
    made = detection(concat([run("bad", script), run("good", {})]), {"bad": {"verdict": "RETHINK"}, "good": {}})
    assert (len(made.defects), len(made.alarms), made.on_sound["n"].tolist()) == (0, 0, [1, 1, 1])
    assert "sound plans with a false BLOCKING: 0 of 1" in str(made)
    assert "verdicts as expected: 2 of 2" in str(made)
    assert "\n1 plan is labelled REVISE or RETHINK without a defect and counts in verdicts alone\n" in str(made)


def test_labels_without_a_run_and_tables_that_are_none_are_refused():
    runs = run("good", {})
    with pytest.raises(InputError, match=r"labels: 1 plan without a run, first 'bad'"):
        detection(runs, pd.DataFrame([LABEL, SOUND]))
    with pytest.raises(InputError, match=r"labels: has no column 'needles'"):
        detection(runs, pd.DataFrame([LABEL]).drop(columns="needles"))


def test_a_trivial_plan_is_counted_and_named():
    small = replace(verify(parse_plan("# Fix a typo", "/plans/bad.md"), log_dir=None), run_id="bad").frames
    made = detection(concat([small, run("good", {})]), pd.DataFrame([LABEL, SOUND]))
    assert made.verdicts.set_index("plan")["trivial"].to_dict() == {"bad": True, "good": False}
    assert made.defects["found"].tolist() == [False], "it stays in the figures"
    assert "defects found: 0 of 1: 0% [0%, 79%]; 1 in trivial plans, which no agent looked at\n" in str(made)
    remedy = 'team="base" (in the shell --team base) asks a team about every plan'
    assert f"\n1 plan was trivial: no agent was asked; {remedy}\n" in str(made)
    assert "trivial" not in str(scored())


def test_defects_of_trivial_plans_are_counted_apart_from_those_that_agents_missed():
    small = replace(verify(parse_plan("# Fix a typo", "/plans/small.md"), log_dir=None), run_id="small").frames
    looked_at = run("bad", {"i1/challenger": {"challenges": [challenge("bad.md:5")]}})
    made = detection(concat([looked_at, small]), pd.DataFrame([LABEL, LABEL | {"plan": "small"}]))
    words = "1 in trivial plans, which no agent looked at; in the others 1 of 1: 100% [21%, 100%]"
    assert str(made).startswith("defects found: 1 of 2: 50% [")
    assert f"; {words}\n" in str(made)
    assert made.defects[["plan", "trivial", "found"]].values.tolist() == [["bad", False, True], ["small", True, False]]
    for row in made.by_kind.to_dict("records"):
        assert (row["n"], row["found"], row["rate"]) == (2, 1, 0.5)
        assert (row["in_trivial"], row["seen_found"], row["seen_rate"]) == (1, 1, 1.0), row["kind"]
        assert f"[{row['seen_rate_low']:.0%}, {row['seen_rate_high']:.0%}]" == "[21%, 100%]"
    assert made.verdicts["agrees"].tolist() == [True, False], "PROCEED is wrong for a plan that has a defect"


def test_a_sound_plan_that_nobody_looked_at_is_counted_apart():
    runs = concat([run("bad", {}), run("good", {}), run("small", {})])
    runs = replace(runs, runs=runs.runs.assign(trivial=runs.runs["plan_name"].eq("small.md")))
    labels = [LABEL, SOUND, SOUND | {"plan": "small"}]
    made = detection(runs, pd.DataFrame(labels))
    without = detection(concat([run("bad", {}), run("good", {})]), pd.DataFrame(labels[:2]))
    assert made.on_sound.equals(without.on_sound)
    assert set(made.on_sound["n"]) == {1}
    assert "verdicts as expected: 1 of 2" in str(made)
    note = (
        "1 plan was trivial: no agent was asked; 1 is sound and counts neither as free of false alarms nor as a verdict"
    )
    assert note in str(made)
    assert made.verdicts["trivial"].sum() == 1
    assert made.verdicts.set_index("plan")["agrees"].dropna().to_dict() == {"bad": False, "good": True}


def test_the_columns_of_the_tables_are_documented():
    made = scored()
    for name in ("by_kind", "verdicts"):
        columns = documentation(f"detection.{name}")
        assert list(getattr(made, name).columns) == list(columns.index)


@pytest.mark.parametrize(("claim", "found"), [("the text says so", False), ("X is gone", True)])
def test_a_short_needle_counts_only_as_a_whole_word(claim, found):
    made = scored(challenge("bad.md:5", claim), label=LABEL | {"needles": ("x",)})
    assert made.defects["found"].tolist() == [found]
