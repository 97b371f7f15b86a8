"""What rests on few votes: every change against the same change made in the table of votes, and replayed."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifyplan.analysis.metrics import IS_HELD
from verifyplan.analysis.replay import replay
from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.analysis.treatments.fragility import fragility
from verifyplan.errors import SettingsError
from verifyplan.frames.runset import RunSet
from verifyplan.frames.votes import from_votes
from verifyplan.protocol.vote import CLASSIFICATIONS, MODES
from verifyplan.protocol.voting_rules import VotingRules

BURDEN, COUNTER, FAILED = "burden-not-met", "counter-evidence", "verification-error"
VOTES = [
    ("agree", None, ""),
    ("agree", None, ""),
    ("supplement", None, ""),
    ("disagree", BURDEN, ""),
    ("disagree", COUNTER, "m.py:4 checks it"),
    ("disagree", COUNTER, "no"),
    ("disagree", None, "m.py:4 checks it"),
    ("disagree", None, "no"),
    (FAILED, None, ""),
]
RULES = [
    {},
    {"refutes": "sticky"},
    {"lost_votes": "last-vote"},
    {"quorum": 2},
    {"weights": {"a": 2, "b": "1/2"}},
    {"workers": ["a", "c"]},
    {"pruning": "none"},
    {"aggregate": "majority"},
    {"max_rounds": 1},
]


def runs_of(votes: pd.DataFrame, mode: str, max_rounds: int = 2) -> RunSet:
    return from_votes(
        votes,
        item="item",
        worker="who",
        verdict="says",
        basis="basis",
        explanation="why",
        round="round",
        truth="truth",
        mode=mode,
        max_rounds=max_rounds,
    )


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    rows = [
        (f"F{item}", who, number, *draw(st.sampled_from(VOTES)), item % 2 == 0)
        for item in range(draw(st.integers(1, 3)))
        for number in range(1, draw(st.integers(1, 2)) + 1)
        for who in "abc"
    ]
    return pd.DataFrame(rows, columns=["item", "who", "round", "says", "basis", "why", "truth"])


def taken(row: dict[str, Any], says: str, basis: str | None, why: str = "m.py:4") -> dict[str, Any]:
    return {**row, "says": says, "basis": basis, "why": why}


def opposite(row: dict[str, Any]) -> dict[str, Any]:
    return taken(row, "disagree", COUNTER) if row["says"] != "disagree" else taken(row, "agree", None)


def versions(votes: pd.DataFrame, rules: VotingRules) -> dict[tuple[str, str, str], tuple[list[dict[str, Any]], int]]:
    """Return, by item, kind and version, the votes on an item with the change made by hand, and how many changed."""
    found: dict[tuple[str, str, str], tuple[list[dict[str, Any]], int]] = {}
    for item, own in votes.groupby("item"):
        rows = own.to_dict("records")
        counted = [i for i, row in enumerate(rows) if _counts(row, rules)]
        found[item, "", ""] = rows, 0
        failed = [i for i in counted if rows[i]["says"] == FAILED]
        for says, basis in (("agree", None), ("disagree", COUNTER)):
            changed = [taken(row, says, basis) if i in failed else row for i, row in enumerate(rows)]
            found[item, f"failed as {basis or says}", ""] = changed, len(failed)
        for i in counted:
            if rows[i]["says"] != FAILED:
                found[item, "single", str(i)] = [*rows[:i], opposite(rows[i]), *rows[i + 1 :]], 1
        for who in sorted({rows[i]["who"] for i in counted}):
            found[item, "worker", who] = [row if row["who"] != who else taken(row, FAILED, None) for row in rows], 1
    return found


def _counts(row: dict[str, Any], rules: VotingRules) -> bool:
    return row["round"] <= (rules.max_rounds or 2) and (rules.workers is None or row["who"] in rules.workers)


@pytest.mark.parametrize("fields", RULES, ids=str)
@settings(max_examples=2, deadline=None)
@given(tables(), st.sampled_from(MODES))
def test_changes_are_those_of_changed_tables(fields: dict[str, Any], votes: pd.DataFrame, mode: str) -> None:
    rules = VotingRules(**fields)
    made = versions(votes, rules)
    items = [{**row, "item": "|".join(key)} for key, (rows, _) in made.items() for row in rows]
    replayed = replay(runs_of(pd.DataFrame(items), mode), rules=rules).set_index("finding_id")["classification"]
    classes = {key: replayed["|".join(key)] for key in made}
    found = fragility(runs_of(votes, mode), rules)
    table = found.table.set_index(["kind", "taken_as"])
    changed = found.findings.set_index(["finding_id", "kind", "taken_as"])
    for kind, taken_as, name in (
        ("failed", "agree", "failed as agree"),
        ("failed", "counter-evidence", f"failed as {COUNTER}"),
        ("single", "opposite", "single"),
    ):
        mine = {key: made[key][1] for key in made if key[1] == name}
        deciding = {key: n for key, n in mine.items() if classes[key] != classes[key[0], "", ""]}
        row = table.loc[(kind, taken_as)]
        assert row["n_votes"] == sum(mine.values())
        assert row["n_deciding"] == sum(deciding.values())
        assert row["n_class_changed"] == len({key[0] for key in deciding})
        for item in {key[0] for key in deciding}:
            ends = [CLASSIFICATIONS.index(classes[key]) for key in (*mine, (item, "", "")) if key[0] == item]
            shown = changed.loc[(item, kind, taken_as)]
            assert (shown["worst"], shown["best"]) == (CLASSIFICATIONS[max(ends)], CLASSIFICATIONS[min(ends)])
            assert shown["held_changes"] == (len(set(IS_HELD[ends])) == 2)


def example(mode: str = "adversarial") -> RunSet:
    rows = [
        ("F0", "a", "agree", None, "", True),
        ("F0", "b", FAILED, None, "", True),
        ("F0", "c", "disagree", COUNTER, "no", True),
        ("F1", "a", "agree", None, "", False),
        ("F1", "b", "agree", None, "", False),
        ("F1", "c", "disagree", None, "no", False),
    ]
    votes = pd.DataFrame(rows, columns=["item", "who", "says", "basis", "why", "truth"]).assign(round=1)
    return runs_of(votes, mode, 1)


def test_uncited_and_filled_in_bases_are_taken_the_other_way() -> None:
    found = fragility(example())
    rows = found.findings[found.findings["taken_as"].eq("other basis")]
    shown = rows[
        ["finding_id", "kind", "n_deciding", "classification", "worst", "best", "held_changes"]
    ].values.tolist()
    assert shown == [
        ["F0", "uncited", 1, "contested", "contested", "partial-consensus", True],
        ["F1", "filled-in", 1, "partial-consensus", "contested", "partial-consensus", True],
    ]
    without_bases = fragility(example("collaborative")).table.set_index("kind")
    assert without_bases.loc[["uncited", "filled-in"], "n_votes"].tolist() == [0, 0]


def test_a_worker_left_out_counts_nowhere() -> None:
    found = fragility(example())
    for row in found.workers.to_dict("records"):
        others = [name for name in "abc" if name != row["worker"]]
        without = replay(example(), rules=VotingRules(workers=others))["classification"].astype(str)
        own = replay(example())["classification"].astype(str)
        assert row["n_class_changed"] == int((without != own).sum())
    assert found.workers[["worker", "n_findings"]].values.tolist() == [["a", 2], ["b", 2], ["c", 2]]


def test_metrics_range_over_the_changes() -> None:
    metrics = fragility(example()).metrics.set_index(["kind", "taken_as", "metric"])
    ends = metrics[["value", "low_bound", "high_bound"]]
    assert ends.loc[("failed", "agree", "recall")].tolist() == [0, 0, 0]  # the refutation stays
    assert ends.loc[("uncited", "other basis", "recall")].tolist() == [0, 0, 1]
    assert ends.loc[("filled-in", "other basis", "false-consensus-rate")].tolist() == [1, 0, 1]
    assert ends.loc[("single", "opposite", "held")].tolist() == [0.5, 0, 1]
    assert ends.loc[("worker", "left out", "held")].tolist() == [0.5, 0.5, 1]
    assert (metrics["low"] <= metrics["low_bound"]).all() or metrics["low_bound"].isna().any()


def test_it_says_how_many_conclusions_rest_on_what() -> None:
    assert str(fragility(example())).splitlines() == [
        "2 findings of 1 run, 5 votes and 1 that failed",
        "No conclusion rests on the 1 vote that failed.",
        "The conclusion of 1 finding rests on 1 counter-evidence that cites no place (for 1 whether it is held). "
        "F1, 0.0 %, could be 0.0 to 66.7 %.",
        "The conclusion of 1 finding rests on 1 basis that was filled in (for 1 whether it is held).",
        "A single vote, taken the opposite way, decides the class of 2 of 2 findings, and whether 2 are held: "
        "100.0 % [34.2, 100.0]. F1, 0.0 %, could be 0.0 to 100.0 %.",
        "Leaving out c changes most: 2 of 2 findings would have another class (for 1 whether it is held). "
        "F1, 0.0 %, could be 0.0 to 66.7 %.",
    ]
    assert fragility(example())._repr_html_().startswith("<p>2 findings of 1 run")


def test_changes_that_would_go_on_are_counted() -> None:
    votes = pd.DataFrame({"item": "F", "who": ["a", "b"], "says": "agree", "basis": None, "why": "", "truth": None})
    found = fragility(runs_of(votes.assign(round=1), "collaborative"))
    assert found.table.set_index("kind")["n_goes_on"]["single"] == 1
    assert found.notes == (
        "1 finding would have gone on to a round that never took place if a vote were changed; they are judged by the "
        "votes that were cast.",
    )


def test_failed_votes_as_anything_find_what_neither_extreme_does() -> None:
    rows = [("a", "disagree"), ("b", FAILED)]
    votes = pd.DataFrame(rows, columns=["who", "says"]).assign(
        item="F", basis=BURDEN, why="m.py:4", truth=None, round=1
    )
    found = fragility(runs_of(votes.assign(basis=[BURDEN, None]), "adversarial"), {"majority": "2/3"})
    worst = found.findings.set_index(["kind", "taken_as"])
    assert worst.loc[("failed", "anything"), "best"] == "partial-consensus"
    assert found.table.set_index(["kind", "taken_as"]).loc[("failed", "counter-evidence"), "n_class_changed"] == 0


def test_crowds_have_as_many_slots_as_a_finding_has_voters() -> None:
    random = np.random.default_rng(1)
    rows = [(f"F{i}", f"w{w}") for i in range(40) for w in random.choice(60, 3, replace=False)]
    votes = pd.DataFrame(rows, columns=["item", "who"])
    votes = votes.assign(says=random.choice(["agree", "disagree"], len(votes)), basis=None, why="", truth=None, round=1)
    found = fragility(runs_of(votes, "collaborative"))
    assert len(found.workers) == votes["who"].nunique()
    assert found.workers["n_findings"].sum() == len(votes)
    weighed = fragility(runs_of(votes, "collaborative"), {"weights": {"w0": 1}})
    pd.testing.assert_frame_equal(found.table, weighed.table)
    pd.testing.assert_frame_equal(found.findings, weighed.findings)


def test_tables_have_their_columns_and_no_votes_give_empty_ones() -> None:
    empty = example()
    empty = RunSet(runs=empty.runs)
    for found in (fragility(example()), fragility(empty)):
        assert list(found.table.columns) == [column.name for column in RESULT_TABLES["fragility"]]
        for name in ("metrics", "findings", "workers"):
            declared = [column.name for column in RESULT_TABLES[f"fragility.{name}"]]
            assert list(getattr(found, name).columns) == declared
    assert found.notes == ("There are no findings: nothing was judged.",)
    assert str(found).startswith("0 findings of 0 runs, 0 votes and 0 that failed")


def test_estimates_of_whole_runs_are_refused() -> None:
    with pytest.raises(SettingsError, match="'dawid-skene' estimates the workers of whole runs, and fragility judges"):
        fragility(example(), "dawid-skene")
