"""The static backend on the labelled plans, and what `bench plans` prints of it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.analysis.detection import ALL
from verifyplan.datasets import labelled_plans, plans
from verifyplan.datasets.labels import label_table
from verifyplan.errors import InputError
from verifyplan.protocol.call import Reply


@pytest.fixture
def bench(static_bench) -> vp.results.PlanBench:
    return static_bench[0]


def test_what_look_ups_can_find_is_found_and_only_plans_that_edit_what_is_missing_are_blocked(bench):
    """A floor, below what is found now: the figures themselves are printed, not pinned."""
    print(bench)
    assert bench.detection.defects["found"].sum() >= 4
    assert not (bench.detection.alarms["severity"] == "BLOCKING").any()
    blocked = bench.detection.verdicts.query("given == 'RETHINK'")
    assert set(blocked["kind"]) <= {"missing-file"}


def test_every_labelled_plan_ran_whole_and_is_marked_synthetic(bench):
    assert len(bench.frames.runs) == len(labelled_plans()) == len(bench.detection.verdicts)
    assert bench.frames.runs["synthetic"].all()
    assert (bench.frames.calls["status"] == "completed").all()
    assert bench.detection.by_kind.query("kind == @ALL")["n"].sum() == len(bench.detection.defects)
    assert ALL in set(bench.detection.by_kind["kind"])


def test_everything_that_is_said_cites_a_place(bench):
    assert not bench.frames.challenges["uncited"].any()


OWN = (
    "# Move the store\n\nGoal: the store moves to a new disk.\n\n1. Change `store.py`\n2. Copy the data\n3. Tell all\n"
)
LABELS = {
    "bad": {"defects": [{"severity": "SIGNIFICANT", "needles": ["store.py"], "places": ["plans/bad.md:5"]}]},
    "good": {},
}


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder with plans of somebody's own, their labels, and the repository that they are about."""
    for name in ("plans/bad.md", "plans/good.md", "repo/store.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(OWN if name.endswith(".md") else "store = 1\n")
    (tmp_path / "labels.json").write_text(json.dumps(LABELS))
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Alternating:
    """Objects to `store.py` in every other run of the plan that is bad, and always to the other one."""

    def __init__(self):
        self.rest, self.seen = ScriptedBackend({}, silent=True), 0

    def describe(self):
        return {"name": "alternating"}

    def check_worker(self, worker):
        return self.rest.check_worker(worker)

    async def answer(self, request):
        if not request.call_id.endswith("/challenger"):
            return await self.rest.answer(request)
        self.seen += request.plan_name == "bad.md"
        raised = {"claim": "`store.py` is there", "concern": "it is not", "severity": "SIGNIFICANT"}
        raised |= {"confidence": "HIGH", "evidence": f"{request.plan_name}:5"}
        finds = request.plan_name == "good.md" or self.seen % 2
        return Reply(value={"challenges": [raised] if finds else []})


ONCE = {"panel": None, "max_iterations": 1, "progress": False}


@pytest.mark.parametrize(
    ("plans", "labels"),
    [
        ("plans", "labels.json"),
        ("plans/*.md", LABELS),
        (
            ["plans/bad.md", Path("plans/good.md")],
            {"plans": [{"name": f"{name}.md"} | one for name, one in LABELS.items()]},
        ),
        (Path("plans"), pd.DataFrame()),
    ],
)
def test_plans_of_ones_own_are_scored_by_their_labels(own, plans, labels):
    if isinstance(labels, pd.DataFrame):
        labels = label_table(own / "labels.json")
    bench = vp.bench_plans(Alternating(), plans=plans, labels=labels, repo="repo", **ONCE)
    assert bench.detection.defects[["plan", "found"]].values.tolist() == [["bad", True]]
    assert bench.detection.verdicts["agrees"].tolist() == [True, False]
    assert not bench.frames.runs["synthetic"].any()


@pytest.mark.usefixtures("own")
def test_every_repetition_counts_by_itself():
    bench = vp.bench_plans(Alternating(), plans="plans", labels="labels.json", repo="repo", repetitions=4, **ONCE)
    row = bench.detection.by_kind.iloc[-1]
    assert (row["n_plans"], row["n_runs"], row["found"], row["rate"]) == (1, 4, 2, 0.5)
    assert bench.detection.on_sound.set_index("alarm").loc["SIGNIFICANT", "rate"] == 1
    assert bench.frames.runs["repetition"].tolist() == [1, 2, 3, 4] * 2
    assert str(bench).startswith("defects found: 2 of 4 in 4 runs of 1 plans: 50%")


def test_plans_without_a_label_are_left_out_and_named(own):
    (own / "plans" / "README.md").write_text("# Plans\n")
    bench = vp.bench_plans(Alternating(), plans="plans", labels=LABELS, repo="repo", **ONCE)
    assert (len(bench.frames.runs), bench.unlabelled) == (2, ("README",))
    assert str(bench).endswith("\nleft out, as they have no label: README")


def problems(**given):
    with pytest.raises(InputError) as caught:
        vp.bench_plans(ScriptedBackend({}), **{"plans": "plans", "labels": LABELS, "repo": "repo"} | given)
    return [f"{one.place}: {one.message}" for one in caught.value.problems]


def test_all_that_is_missing_is_told_at_once_and_nobody_is_asked(own):
    assert problems(labels=None, repo=None) == [
        "labels: must be given for plans of your own, got none",
        "repo: must be given for plans of your own, got none",
    ]
    labels = {
        "bads": LABELS["bad"],
        "good": {"defect": []},
        "other": {"defects": [{"severity": "BAD", "needles": "x"}]},
    }
    assert problems(labels=labels, repo="nowhere", plans=["plans", "none/*.md"]) == [
        "labels: good.defect: Extra inputs are not permitted",
        "labels: other.defects.0.needles: must be a list of texts, got the text 'x'",
        "labels: other.defects.0.severity: must be 'BLOCKING', 'SIGNIFICANT' or 'MINOR', got 'BAD'",
        "plans: 'none/*.md' names no plan",
        "repo: 'nowhere' is not a folder",
    ]
    assert problems(labels={"bads": LABELS["bad"], "good": {}}) == [
        "labels: bads: no plan has this name (did you mean 'bad'?)",
    ]
    assert problems(held_out=True) == ["held_out: is True, and no label says so"]
    assert problems(labels={}) == ["labels: must label a plan, got none"]
    assert problems(plans=[]) == ["plans: must name a plan, got an empty list"]
    assert problems(plans=[3]) == ["plans: must be paths, got [3]"]
    (own / "more").mkdir()
    (own / "more" / "bad.md").write_text(OWN)
    assert problems(plans=["plans", "more"]) == ["plans: two files are called 'bad'"]


@pytest.mark.usefixtures("own")
def test_lines_that_the_plan_does_not_have_are_refused():
    defect = {"severity": "MINOR", "needles": ["store.py"]}
    said = {"right": True, "needles": ["store.py"], "reason": "it is", "places": ["plan:6-9"]}
    labels = {
        "bad": {"defects": [defect | {"line": 7}, defect | {"line": 80}], "challenges": [said]},
        "good": {"defects": [defect | {"places": ["plan:8", "other.md:90"]}]},
    }
    assert problems(labels=labels) == [
        "labels: bad.defects.1: names line 80 of the plan, which has 7 lines",
        "labels: bad.challenges.0: names line 9 of the plan, which has 7 lines",
        "labels: good.defects.0: names line 8 of the plan, which has 7 lines",
    ]


@pytest.mark.usefixtures("own")
def test_the_shell_takes_plans_of_ones_own(cli):
    done = cli("bench", "plans", "--plans", "plans", "--labels", "labels.json", "--repo", "repo", "--repetitions", 2)
    assert (done.code, done.err) == (0, "")
    assert " in 2 runs of 1 plans: " in done.out
    assert "sound plans with a false BLOCKING: 0 of 2 in 2 runs of 1 plans: 0%" in done.out
    Path("plans/bad.md").write_text("# Use `src/store.py`\n")
    Path("labels.json").write_text('{"bad": {"verdict": "RETHINK"}}')
    few = ("bench", "plans", "--plans", "plans/bad.md", "--labels", "labels.json", "--repo", "repo")
    remedy = 'team="base" (in the shell --team base) asks a team about every plan'
    assert remedy in cli(*few).out
    assert "trivial" not in cli(*few, "--team", "base").out
    defect = {"severity": "BLOCKING", "needles": ["store"], "line": 1}
    Path("labels.json").write_text(json.dumps({"bad": {"defects": [defect]}}))
    kinds = cli(*few).out.splitlines()
    assert kinds[0].split()[-5:] == ["in_trivial", "seen_found", "seen_rate", "seen_rate_low", "seen_rate_high"]
    assert kinds[1].split() == ["defect", "False", "1", "1", "1", "0", "0%", "0%", "79%", "1", "0"]
    refused = cli("bench", "plans", "--plans", "plans")
    assert refused.code == 2
    assert "labels: must be given for plans of your own" in refused.err


def test_the_shell_prints_the_figures_and_writes_the_tables(cli, tmp_path, monkeypatch):
    few = [*labelled_plans(held_out=True)[::6], *labelled_plans(held_out=False)[:3]]
    assert {plan.kind == "sound" for plan in few[:-3]} == {True, False}
    monkeypatch.setattr(plans, "_labels", lambda: SimpleNamespace(plans=few))
    done = cli("bench", "plans", "--held-out", "--out", tmp_path / "b", "--log-dir", tmp_path / "logs")
    assert (done.code, done.err) == (0, "")
    assert "defects found in held-out plans: " in done.out
    assert "sound plans with a false BLOCKING: " in done.out
    held_out = labelled_plans(held_out=True)
    assert held_out == few[:-3]
    assert len(list((tmp_path / "logs").glob("*.jsonl"))) == len(held_out)
    verdicts = pd.read_csv(tmp_path / "b" / "verdicts.csv")
    assert set(verdicts["plan"]) == {plan.name for plan in held_out}
