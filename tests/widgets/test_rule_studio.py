"""RuleStudio, driven by its traits: every field has a control, and what is shown is what the analyses give."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp
from tests.analysis.test_contradicting_rosters import contradicting
from verifyplan.analysis.treatments.idle_fields import reasons, vote_facts
from verifyplan.errors import SettingsError
from verifyplan.protocol.vote import CLASSIFICATIONS
from verifyplan.widgets.rule_studio import RuleStudio
from verifyplan.widgets.rule_studio.form import GROUPS, SIDES, schema
from verifyplan.widgets.rule_studio.model import StudioRuns

HOSTILE = "<img src=x onerror=alert(1)>\"'`${1}"


@pytest.fixture(scope="module")
def adversarial():
    return vp.datasets.runs("stdlib-claims/adversarial")


@pytest.fixture
def studio(adversarial):
    return RuleStudio(adversarial)


def drawn_votes(seed: int, *, findings: int = 60, kinds: str = "asbcxel", workers: int = 4, rounds: int = 2):
    """Random votes of some kinds: agree, supplement, burden, counter-evidence with and without place, bare, lost."""
    draw = random.Random(seed)
    verdicts = {
        "a": ("agree", None, "so"),
        "s": ("supplement", None, "but"),
        "b": ("disagree", "burden-not-met", "unclear"),
        "c": ("disagree", "counter-evidence", "see a.py:12"),
        "x": ("disagree", "counter-evidence", "no"),
        "e": ("disagree", None, draw.choice(("why", "line 3"))),
        "l": ("verification-error", None, None),
    }
    rows = [
        (f"F-{i}", f"w{w}", r, f"run-{i % 3}", *verdicts[draw.choice(kinds)], i % 2 == 0)
        for i in range(findings)
        for r in range(1, draw.randint(1, rounds) + 1)
        for w in range(workers)
        if w == 0 or draw.random() < 0.9  # rounds have no gap
    ]
    columns = ["item", "who", "round", "run", "verdict", "basis", "why", "truth"]
    names = {"item": "item", "worker": "who", "round": "round", "run": "run", "explanation": "why", "truth": "truth"}
    mode = draw.choice(("adversarial", "collaborative"))
    return vp.from_votes(pd.DataFrame(rows, columns=columns), verdict="verdict", basis="basis", mode=mode, **names)


def test_every_field_is_in_one_group_with_its_own_words():
    fields = vp.VotingRules.model_fields
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(fields)
    for group in schema(["a"], [1, 2]):
        for control in group["fields"]:
            assert control["help"] == fields[control["name"]].description


@pytest.mark.parametrize("more", [{}, {"workers": ["c", "a", "e"]}], ids=str)
def test_runs_whose_rosters_contradict_each_other_are_asked_each_in_its_own_order(more):
    runs, rules = contradicting(3), {"stop": {"margin": 1}, **more}
    shown = RuleStudio(runs, right=rules).findings
    replayed = vp.replay(runs, rules=rules)
    assert shown["classification_right"].astype(str).tolist() == replayed["classification"].astype(str).tolist()


def controls_of(workers=("a", "b"), rounds=(1, 2, 3)):
    return {control["name"]: control for group in schema(workers, rounds) for control in group["fields"]}


def values_of(control) -> list:
    """Values that a control sends, as the page sends them; neutral ones are not sent."""
    match control["kind"]:
        case "choice":
            return [option["value"] for option in control["options"][1:]]
        case "number":
            return [value for value in control["suggested"] if value != control["neutral"]]
        case "workers":
            return [control["workers"][:1]]
        case "weights":
            return [{control["workers"][0]: "0"}, {control["workers"][-1]: "5/2"}]
        case "stop":
            parts = [
                [(part["name"], part["start"], part["whole"]) for part in one["parts"]] for one in control["stops"]
            ]
            return [{name: int(start) if whole else start for name, start, whole in one} for one in parts]
    raise AssertionError(control["kind"])


@pytest.mark.parametrize("name", vp.VotingRules.model_fields)
def test_each_control_changes_its_field_and_no_other(name):
    control, neutral = controls_of()[name], vp.VotingRules()
    first = control.get("options", [{"value": control.get("neutral")}])[0]["value"]
    if first is not None:
        assert vp.VotingRules(**{name: first}) == neutral  # the first choice is the neutral one
    for value in values_of(control):
        rules = vp.VotingRules(**{name: value})
        assert list(rules.changed) == [name]


def test_a_control_that_is_changed_is_judged_marked_and_told(studio, adversarial):
    studio.form.right = {"max_rounds": 1, "missing_basis": "burden-not-met"}
    assert studio.right == vp.VotingRules(max_rounds=1, missing_basis="burden-not-met")
    assert studio.form.differing == ["max_rounds", "missing_basis"]
    assert studio.form.preset == {"left": "as-recorded", "right": ""}
    expected = vp.replay(adversarial, "recorded", max_rounds=1, missing_basis="burden-not-met")
    assert studio.findings["classification_right"].tolist() == expected["classification"].tolist()
    assert "Max rounds: as the run → 1; Missing basis: infer → burden-not-met." in studio.static()
    assert studio.failure.value == ""


def test_the_json_and_the_calls_give_the_same_table(studio, adversarial):
    studio.left, studio.right = "sticky-refutes", {"mode": "adversarial", "quorum": 3, "stop": {"margin": 2}}
    for side in SIDES:
        assert vp.VotingRules.from_json(studio.json[side].text) == getattr(studio, side)
    lines = studio.code.text.splitlines()
    known: dict = {"runs": adversarial}
    exec("\n".join(line for line in lines if not line.startswith("vp.")), known)
    assert (known["left"], known["right"]) == (studio.left, studio.right)
    assert "rules={'sticky-refutes': left, 'right': right}" in lines[-1]


def test_values_that_are_no_rules_are_named_beside_their_controls_and_nothing_else_changes(studio):
    before = studio.static()
    studio.form.right = {"majority": "most", "quorum": "-1", "workers": []}
    assert set(studio.form.problems["right"]) == {"majority", "quorum", "workers"}
    assert "must be a number, or a text such as '2/3', got 'most'" in studio.form.problems["right"]["majority"]
    assert studio.right == vp.VotingRules()
    assert "The last valid rules are shown" in studio._problem.value
    assert studio.static() == before
    studio.form.right = {"majority": "2/3"}
    assert studio.form.problems == {}
    assert studio._problem.value == ""
    with pytest.raises(SettingsError, match="'unanimus' is neither rules nor the name of a preset"):
        studio.right = "unanimus"


def test_bounds_are_shown_where_votes_were_never_cast(studio):
    assert 'class="vp-bounds"' not in studio.static()
    studio.right = {"max_rounds": 3}
    censored = int(studio.findings["censored_right"].sum())
    assert censored > 0
    assert f"the class of {censored} findings depends on votes that were never cast" in studio.static()
    assert 'class="vp-bounds"' in studio.static()
    table = studio.findings
    low, high = (table[f"{end}_right"].cat.codes for end in ("low", "high"))
    assert (high <= low).all()
    assert (low != high).eq(table["censored_right"]).all()


def test_swapping_and_copying(studio):
    studio.right = "unanimous"
    studio.swap.click()
    assert (studio.left, studio.right) == (vp.VotingRules.preset("unanimous"), vp.VotingRules())
    studio.copy_over.click()
    assert studio.left == studio.right == vp.VotingRules.preset("unanimous")
    assert "Both settings are the same." in studio.static()


def test_what_is_saved_is_what_is_shown(studio, tmp_path):
    studio.right = "majority"
    studio.saver.stem.value = str(tmp_path / "new" / "mine")
    for button in studio.saver.buttons.values():
        button.click()
        assert studio.failure.value == ""
    assert vp.VotingRules.load(tmp_path / "new" / "mine-right.json") == studio.right
    saved = pd.read_csv(tmp_path / "new" / "mine-findings.csv")
    assert saved["classification_majority"].tolist() == studio.findings["classification_majority"].tolist()
    assert {path.suffix for path in (tmp_path / "new").glob("mine-transitions.*")} == {".png", ".svg", ".csv", ".txt"}
    studio.saver.stem.value = " "
    studio.saver.buttons["Save rules"].click()
    assert "must end in a name" in studio.failure.value


def test_hostile_names_are_shown_as_text():
    votes = pd.DataFrame({"item": HOSTILE, "who": [HOSTILE, "b", "c"], "says": ["agree", "disagree", "agree"]})
    studio = RuleStudio(vp.from_votes(votes, item="item", worker="who", verdict="says", run=None))
    studio.right = vp.VotingRules(workers=(HOSTILE, "b"), weights={HOSTILE: 2})
    assert "<img" not in studio.static().replace("<img alt", "")
    studio.form.right = {"workers": ["<script>x"], "weights": {"<b>": "-1"}}
    assert "<b>:" not in studio._problem.value + studio.failure.value
    known: dict = {}
    exec("\n".join(line for line in studio.code.text.splitlines() if not line.startswith("vp.")), known)
    assert known["right"] == studio.right


def test_runs_without_votes_or_findings_switch_everything_off():
    studio = RuleStudio(vp.RunSet())
    assert set(studio.form.reasons["left"].values()) == {"no vote was recorded"}
    assert "nothing to compare" in studio.page()
    studio.right = "unanimous"
    assert studio.failure.value == ""


def test_without_truth_the_widget_says_what_is_missing(adversarial):
    blind = dataclasses.replace(adversarial, findings=adversarial.findings.assign(truth=pd.NA))
    assert "so precision, recall and false consensus cannot be measured" in RuleStudio(blind).static()


@pytest.mark.parametrize("seed", range(12))
def test_a_field_that_is_switched_off_changes_no_class_and_no_bound(seed):
    draw = random.Random(seed)
    kinds = "".join(draw.sample("asbcxel", draw.randint(1, 5)))
    runs = drawn_votes(seed, kinds=kinds, workers=draw.randint(1, 4), rounds=draw.randint(1, 3))
    model, controls = StudioRuns(runs), controls_of(runs.votes["worker"].unique().tolist())
    for _ in range(12):
        others = draw.sample(sorted(controls), 3)
        base = {name: draw.choice(options) for name in others if (options := values_of(controls[name]))}
        rules = vp.VotingRules(**base)
        if rules.aggregate == "dawid-skene":
            continue
        outcome = model.outcome(rules)
        for name in reasons(model.facts, rules, unseen=bool(outcome.censored.any())):
            for value in values_of(controls[name]):
                other = model.outcome(vp.VotingRules(**{**base, name: value}))
                for array in ("classes", "low", "high"):
                    np.testing.assert_array_equal(getattr(outcome, array), getattr(other, array), f"{name}: {rules}")


def test_facts_count_what_fields_read():
    runs = drawn_votes(1)
    facts, votes = vote_facts(runs), runs.votes
    assert facts.n_votes == len(votes)
    assert facts.n_lost == votes["verdict"].eq("verification-error").sum()
    assert facts.n_bare == (votes["verdict"].eq("disagree") & votes["disagree_basis"].isna()).sum()
    assert facts.n_uncited == (votes["disagree_basis"].eq("counter-evidence") & votes["explanation"].eq("no")).sum()
    assert reasons(facts, vp.VotingRules(mode="adversarial", stop={"margin": 1}), unseen=False) == {}


def test_classes_are_counted_as_they_are(studio):
    studio.right = "any-refute"
    counts = studio.findings["classification_any-refute"].value_counts()
    shown = studio._classes.value
    assert all(f"{counts.get(name, 0):,}</td>" in shown for name in CLASSIFICATIONS)


def test_the_frontier_is_drawn_on_request_and_says_where_both_settings_are():
    runs = drawn_votes(5, workers=3)
    studio = RuleStudio(runs, right={"stop": {"margin": 1}})
    assert "Draw the frontier" in studio.frontier.button.description
    assert not studio.frontier.words.value
    studio.frontier.button.click()
    search = vp.search_rules(runs)
    today = search.table[search.table["is_recorded"]].iloc[0]
    assert f"Left: f1 {100 * today['value']:.1f} % for {today['votes']:,.0f} votes" in studio.frontier.words.value
    assert studio.frontier.chart.value in studio.static()
    best = search.table[search.table["on_frontier"]]["value"].idxmax()
    studio.left, row = search.rules[best], search.table.loc[best]
    assert (
        f"Left: f1 {100 * row['value']:.1f} % for {row['votes']:,.0f} votes; no searched rule is as good for less"
        in studio.frontier.words.value
    )


def test_without_truth_there_is_no_frontier():
    runs = drawn_votes(5, workers=3)
    blind = dataclasses.replace(runs, findings=runs.findings.assign(truth=pd.NA))
    assert RuleStudio(blind).frontier.button.disabled
