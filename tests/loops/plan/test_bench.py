"""The static backend on the labelled plans, and what `bench plans` prints of it."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.analysis.detection import ALL
from verifyplan.datasets import labelled_plans, plans


@pytest.fixture
def bench(static_bench) -> vp.PlanBench:
    return static_bench[0]


def test_most_seeded_defects_are_found_and_no_sound_plan_is_blocked(bench):
    """A floor, well below what is found now (44 of 55): the figures themselves are printed, not pinned."""
    print(bench)
    found = bench.detection.defects["found"]
    assert found.mean() >= 0.7
    assert not (bench.detection.alarms["severity"] == "BLOCKING").any()


def test_every_labelled_plan_ran_whole_and_is_marked_synthetic(bench):
    assert len(bench.runs.runs) == len(labelled_plans()) == len(bench.detection.verdicts)
    assert bench.runs.runs["synthetic"].all()
    assert (bench.runs.calls["status"] == "completed").all()
    assert bench.detection.by_kind.query("kind == @ALL")["n"].sum() == len(bench.detection.defects)
    assert ALL in set(bench.detection.by_kind["kind"])


def test_everything_that_is_said_cites_a_place(bench):
    assert not bench.runs.challenges["uncited"].any()


def test_the_shell_prints_the_figures_and_writes_the_tables(cli, tmp_path, monkeypatch):
    few = [*labelled_plans(held_out=True)[::6], *labelled_plans(held_out=False)[:3]]
    assert {plan.kind == "sound" for plan in few[:-3]} == {True, False}
    monkeypatch.setattr(plans, "_labels", lambda: SimpleNamespace(plans=few))
    done = cli("bench", "plans", "--held-out", "--out", tmp_path / "b", "--log-dir", tmp_path / "logs")
    assert (done.code, done.err) == (0, "")
    assert "held out" in done.out
    held_out = labelled_plans(held_out=True)
    assert held_out == few[:-3]
    assert len(list((tmp_path / "logs").glob("*.jsonl"))) == len(held_out)
    verdicts = pd.read_csv(tmp_path / "b" / "verdicts.csv")
    assert set(verdicts["plan"]) == {plan.name for plan in held_out}
