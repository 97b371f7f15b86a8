"""The static agents on 60 real plans at the commits before them: every challenge judged by hand, one label each.

`static_precision.csv` has a row for each challenge raised, and one for each plan about which nothing was found;
`held_out` marks the plans that the checks were not written on; checks were mended later on defects seeded into these,
so they are not unseen. The three challenges are right about the repository, but their plan was committed after it had
been carried out: this holds that nothing false is raised, and measures no precision on flaws of plans. The plans and
repositories are others'; they lie beside the project and no text of theirs is kept here.
"""

from __future__ import annotations

import asyncio
import csv
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.longer import part
from verifyplan.agents.static import StaticBackend
from verifyplan.agents.static.roles.issues import read_assertion
from verifyplan.plans import assess, parse_plan
from verifyplan.protocol.role_call import ChallengesAnswer, RoleRequest
from verifyplan.rules.budgets import OTHERS

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "repositories"
LABELS = Path(__file__).with_name("static_precision.csv")
LEAST_PRECISION = 0.8
ROLES = ("challenger", "domain-expert", "devils-advocate")

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data/repositories, which is not part of this")


def git(*arguments: str | Path) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def labels() -> list[dict[str, str]]:
    """Every row with a challenge, and (where not everything is tried) one in eight of the plans without any."""
    with LABELS.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [row for row in rows if row["check"]] + list(part([row for row in rows if not row["check"]], 8))


@pytest.fixture(scope="module")
def raised(labels, tmp_path_factory) -> list[tuple[str, str, str, str, str]]:
    """Repository, plan, kind, severity and names of each challenge raised against the labelled plans."""
    folder = tmp_path_factory.mktemp("plans")
    with (DATA / "plans.csv").open(encoding="utf-8") as file:
        adding = {
            (row["repository"], row["plan"], row["base_commit"]): row["commit_adding_plan"]
            for row in csv.DictReader(file)
        }
    for name in sorted({row["repository"] for row in labels}):
        git("clone", "-q", "--no-checkout", "-b", "snapshot", DATA / f"{name}.bundle", folder / name)
    found, backend_of = [], cache(StaticBackend)  # one reads its repository once for all plans of a commit
    for repository, plan, base in sorted({(row["repository"], row["plan"], row["base_commit"]) for row in labels}):
        clone, tree = folder / repository, folder / f"{repository}-{base[:12]}"
        if not tree.is_dir():
            git("-C", clone, "worktree", "add", "-q", "--detach", tree, base)
        text = git("-C", clone, "show", f"{adding[repository, plan, base]}:{plan}")
        found += [(repository, plan, *one) for one in challenges(backend_of(tree), text)]
    return found


def challenges(backend: StaticBackend, text: str) -> list[tuple[str, str, str]]:
    assessed = assess(parse_plan(text, "plan.md"))
    found = []
    for role in ROLES:
        request = RoleRequest(
            call_id=f"i1/{role}", role=role, iteration=1, max_iterations=3, plan_name="plan.md", plan_text=text,
            plan_quality=assessed.quality, domains=assessed.domains, may_raise=5,
            tools={tool: calls for tool, calls in OTHERS.items() if tool != "memory_search"},
        )  # fmt: skip
        reply = asyncio.run(backend.answer(request))
        assert reply.partial_failures == ()
        for one in ChallengesAnswer.model_validate({"challenges": reply.value["challenges"]}).challenges:
            stated = read_assertion(one.claim)
            assert stated is not None
            found.append((stated.kind, one.severity, " in ".join(stated.names)))
    return found


def test_every_challenge_has_a_label_and_most_are_true(labels, raised):
    judged = {
        (row["repository"], row["plan"], row["check"], row["severity"], row["claim"]): row["label"]
        for row in labels
        if row["check"]
    }
    assert [one for one in raised if one not in judged] == []
    true = sum(judged[one] == "true" for one in raised)
    silent = {(row["repository"], row["plan"]) for row in labels} - {one[:2] for one in raised}
    plans = len({(row["repository"], row["plan"]) for row in labels})
    print(f"{true} of {len(raised)} challenges are true; about {len(silent)} of {plans} plans nothing was found")
    assert true >= LEAST_PRECISION * len(raised)


def test_whatever_blocks_is_true(labels, raised):
    true = {(row["plan"], row["claim"]) for row in labels if row["label"] == "true"}
    assert not [one for one in raised if one[3] == "BLOCKING" and (one[1], one[4]) not in true]


def test_what_is_judged_true_is_still_found(labels, raised):
    found = {(one[1], one[4]) for one in raised}
    assert {(row["plan"], row["claim"]) for row in labels if row["label"] == "true"} <= found
