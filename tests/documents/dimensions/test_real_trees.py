"""The plan check over real `.planning` trees: it ends, its report is readable, and no rule fires on most plans."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.longer import part
from verifyplan.documents.dimensions.plan_check import plan_check
from verifyplan.documents.kinds.plan_check_report import PlanCheckReport
from verifyplan.documents.reading.source import read_source


@pytest.fixture(scope="module")
def trees(shared):
    root = shared / "data" / "planning"
    found = sorted(folder.parent for folder in root.rglob(".planning"))
    if not found:
        pytest.skip(f"needs trees of planning documents in {root}; there are none")
    return {tree: plan_check(tree) for tree in found}


def test_every_phase_and_every_tree_is_checked(trees):
    tally: Counter[str] = Counter()
    plans = 0
    for tree, whole in trees.items():
        read = PlanCheckReport.read(read_source(whole.report(), "PLAN-CHECK.md"))
        assert (read.passed, len(read.issues), read.unread) == (whole.passed, len(whole.issues), ())
        plans += len(whole.plans)
        for folder in part(sorted({tree / plan.path.rpartition("/")[0] for plan in whole.plans}), 4):
            check = plan_check(folder)
            assert len(check.dimensions) == 9
        for issue in whole.issues:
            tally[issue.rule] += 1
            assert issue.line >= 1
    print("\n".join(f"{n:4} {rule}" for rule, n in tally.most_common()), f"{plans:4} plans", sep="\n")
    fired = Counter(rule for check in trees.values() for rule in _rules_by_plan(check))
    assert all(n <= plans / 2 for n in fired.values()), fired.most_common(3)


def _rules_by_plan(check):
    """Each rule once for each plan that breaks it."""
    return [rule for rule, _ in {(issue.rule, issue.path) for issue in check.issues}]


def test_one_plan_gives_what_it_gives_among_others(trees):
    tree = max(trees, key=lambda one: len(list(one.rglob("*PLAN*.md"))))
    whole = trees[tree]
    for plan in whole.plans[::15]:
        alone = {(issue.rule, issue.line) for issue in plan_check(plan.path).issues}
        assert alone == {(issue.rule, issue.line) for issue in whole.issues if issue.path == plan.path}


def test_plans_that_were_carried_out_are_not_blocked(trees):
    assert [str(issue) for check in trees.values() for issue in check.blockers] == []
