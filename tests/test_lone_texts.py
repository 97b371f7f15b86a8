"""A text where a list is asked for is an error that says so, wherever it would be read letter by letter."""

from __future__ import annotations

import pytest

import verifyplan as vp
from verifyplan.datasets import stdlib_claims
from verifyplan.documents.kinds.plan_check_report import write_plan_check
from verifyplan.documents.kinds.verification import write_verification
from verifyplan.documents.kinds.write_plan import write_plan
from verifyplan.errors import InputError

THIRDS = {"wit": "0.5", "depth": "0.3", "length": "0.2"}
PLAN = {"phase": "01", "plan": "01-01", "objective": "x", "tasks": [], "must_haves": {"truths": ["x"]}}

CALLS = {
    "dimensions": lambda: vp.weights.presets("ab"),
    "locked": lambda: vp.weights.rebalance(THIRDS, "wit", "0.6", locked="depth"),
    "workers": lambda: stdlib_claims(4, workers="ann"),
    "modules": lambda: stdlib_claims(4, modules="json/decoder.py"),
    "depends_on": lambda: write_plan(**PLAN, depends_on="01-02"),
    "files_modified": lambda: write_plan(**PLAN, files_modified="a.py"),
    "truths": lambda: write_plan(**PLAN | {"must_haves": {"truths": "it works"}}),
    "overrides": lambda: write_verification([], overrides="a"),
    "must-haves let pass": lambda: vp.documents.verification([], [], overrides="1"),
    "notes": lambda: write_plan_check([], plans=1, tasks=1, notes="a"),
}


ARGUMENT = {"must-haves let pass": "overrides"}
"""The argument, where a call is not named by it."""


@pytest.mark.parametrize("name", CALLS)
def test_a_lone_text_is_refused_by_its_argument(name):
    with pytest.raises(
        InputError, match=rf"{ARGUMENT.get(name, name)}: must be a list, got the text '.*'\. Fix: write \['"
    ):
        CALLS[name]()


@pytest.mark.parametrize(
    "call",
    [
        lambda: vp.agents.StaticBackend(".", workers="ann"),
        lambda: vp.agents.Anthropic.keyless(model="m", workers="ann"),
        lambda: vp.agents.Anthropic.keyless(models=["m"]),
    ],
)
def test_what_must_be_a_mapping_is_one(call):
    with pytest.raises(InputError, match=r"(workers|models): must be a mapping, got a (str|list)\. Fix: write"):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda folder: vp.crossverify([], "ann", repo=folder, log_dir=None),
        lambda folder: vp.verify(vp.plans.parse_plan("# A\n\n1. b"), folder, panel="ann", log_dir=None),
        lambda folder: vp.debate("a", vp.agents.ScriptedBackend({}), challenges="C1", repo=folder, log_dir=None),
        lambda _: vp.estimate([], backend=vp.agents.Anthropic.keyless(model="m"), workers="ann"),
    ],
)
def test_runs_refuse_a_lone_name_before_anybody_is_asked(call, tmp_path):
    with pytest.raises(InputError, match=r"list, .* got 'ann'|must name workers, got 'ann'|must be a list, got a str"):
        call(tmp_path)
