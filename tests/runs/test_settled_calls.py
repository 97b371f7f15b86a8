"""A search plans calls, a live run makes them, and with their votes the next search knows more (rule R5)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.protocol.call import Item

CLAIMS = [
    {"finding_id": f"F-{i:02}", "summary": f"claim {i}", "evidence": "m.py:1", "worker": "dan", "truth": i % 2 == 1}
    for i in range(24)
]
SPACE: list[Any] = ["majority", {"workers": ["cy"]}, {"workers": ["bob"]}, {"workers": ["ann", "cy"]}]


def judge(wrong: set[int]) -> Callable[[Item], str]:
    """Return a worker who is right about every claim but these."""

    def vote(item: Item) -> str:
        number = int(item.finding_id[2:])
        return "agree" if (number % 2 == 1) != (number in wrong) else "disagree"

    return vote


BACKEND = vp.agents.from_function(
    {"ann": judge({1, 2, 3, 4}), "bob": judge({5, 6, 7, 8, 9, 10, 11}), "cy": judge({12}), "dan": judge(set())}
)
SETTING: dict[str, Any] = {"backend": BACKEND, "mode": "collaborative", "max_rounds": 1}


def widths(search: vp.results.RuleSearch) -> pd.Series[float]:
    return (search.table["high_bound"] - search.table["low_bound"]).set_axis(search.table["digest"])


def test_planned_calls_narrow_the_bounds_of_the_search_that_planned_them(tmp_path):
    roster = ["ann", "bob", "cy", "dan"]
    run = vp.crossverify(CLAIMS, roster, rules={"stop": {"margin": 2}}, log_dir=tmp_path / "runs", **SETTING)
    assert run.frames.votes["worker"].value_counts()["cy"] == 11, "cy is asked where ann and bob differ"
    recorded = vp.load(tmp_path / "runs")
    search = vp.search_rules(recorded, SPACE)
    plan = search.settle(4)
    assert plan["worker"].tolist() == ["cy"] * 4

    more = vp.crossverify(CLAIMS, roster, only=plan, log_dir=tmp_path / "more", **SETTING)
    cast = more.frames.votes[["finding_id", "round", "worker"]]
    assert sorted(cast.values.tolist()) == sorted(plan[["finding_id", "round", "worker"]].values.tolist())
    both = vp.add_votes(recorded, tmp_path / "more")
    assert both.runs["added_votes"].tolist() == [4]
    before, after = widths(search), widths(vp.search_rules(both, SPACE))
    assert (after <= before + 1e-12).all()
    planned_for = search.frontier.loc[search.frontier["censored"].gt(0), "digest"]
    assert len(planned_for) == 1
    assert (after[planned_for] < before[planned_for]).all()


@pytest.fixture(scope="module")
def claims(tmp_path_factory) -> Path:
    """Return a file of claims about the standard library, all found by dan."""
    found = vp.datasets.stdlib_claims(24, seed=3, modules=["json/decoder.py", "textwrap.py", "csv.py"])
    path = tmp_path_factory.mktemp("claims") / "claims.csv"
    found.assign(worker="dan").drop_duplicates("finding_id").to_csv(path, index=False)
    return path


def test_plan_and_calls_in_the_shell(cli, claims, tmp_path):
    cross = ("crossverify", claims, "--repo", vp.datasets.stdlib_root(), "--mode", "adversarial", "--max-rounds", 1)
    cross = (*cross, "--workers", "ann=search,bob=window,cy=syntax-tree,dan=window", "--synthetic")
    assert cli(*cross, "--rules", "margin-2", "--log-dir", tmp_path / "runs").code == 0
    two = vp.VotingRules(workers=("ann", "cy")).save(tmp_path / "two.json")
    search = ("rules", "search", tmp_path / "runs", "--rules", "majority", "--rules", two)
    done = cli(*search, "--settle", 5, "--calls", tmp_path / "calls.csv")
    assert (done.code, done.err) == (0, "")
    assert "5 votes to ask for, expected to narrow the bounds of the frontier by" in done.out
    again = "--workers ann,bob,cy,dan --mode adversarial --max-rounds 1 --only"
    assert f"verifyplan crossverify FINDINGS.csv {again} {tmp_path / 'calls.csv'} --log-dir more" in done.out

    asked = cli(*cross, "--only", tmp_path / "calls.csv", "--log-dir", tmp_path / "more")
    assert asked.code == 0
    assert "supplementary to run 'ad-hoc/state/convergence-ad-hoc-001': 5 listed votes" in asked.out
    plan = pd.read_csv(tmp_path / "calls.csv")
    votes = vp.load(tmp_path / "more").votes
    assert sorted(zip(votes["finding_id"], votes["worker"], strict=True)) == sorted(
        zip(plan["finding_id"], plan["worker"], strict=True)
    )

    table = ("--out", tmp_path / "rules.csv")
    assert cli(*search, *table).code == 0
    before = pd.read_csv(tmp_path / "rules.csv").set_index("digest")
    assert cli(*search, "--add", tmp_path / "more", *table).code == 0
    after = pd.read_csv(tmp_path / "rules.csv").set_index("digest")
    assert (after["censored"] <= before["censored"]).all()
    mine = vp.VotingRules(workers=("ann", "cy")).digest
    widths = [table["high_bound"][mine] - table["low_bound"][mine] for table in (before, after)]
    assert widths[1] < widths[0]

    done = cli("convert", tmp_path / "runs", "--add", tmp_path / "more", "--out", tmp_path / "tables")
    assert (done.code, vp.load(tmp_path / "tables").runs["added_votes"].tolist()) == (0, [5])
