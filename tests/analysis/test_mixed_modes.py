"""Runs of both modes that are judged together: every analysis of their votes says so, in the same words."""

import pytest

import verifyplan as vp
from verifyplan.analysis import classify_dataset

SAID = (
    "The runs are of both modes and are judged together. To compare the modes as they ran, select one set for each: "
    "runs.select(lambda r: r['mode'] == 'adversarial')"
)
RULES = ["collaborative", "adversarial"]


def _notes(analysis, runs):
    found = analysis(runs)
    return [note.removesuffix(".") for note in found.notes]


@pytest.mark.parametrize(
    "analysis",
    [
        vp.workers,
        vp.panel,
        lambda runs: vp.search_rules(runs, [{"mode": each} for each in RULES]),
        lambda runs: vp.search_rules(runs, [{"mode": each} for each in RULES]).recommend(),
        lambda runs: vp.compare(runs, resamples=20),
    ],
    ids=["workers", "panel", "search_rules", "recommend", "compare"],
)
def test_every_analysis_says_that_modes_are_pooled(analysis):
    both = vp.datasets.runs("stdlib-claims")
    assert _notes(analysis, both).count(SAID) == 1
    alone = both.select(lambda r: r["mode"] == "adversarial")
    assert not any("both modes" in note for note in _notes(analysis, alone))


def test_a_dataset_says_so_unless_one_mode_is_selected():
    vp.compile_dataset(vp.datasets.path("stdlib-claims"), "memory://mixed-modes")
    dataset = vp.load("memory://mixed-modes")
    assert f"{SAID}." in classify_dataset(dataset, "adversarial").notes
    alone = dataset.select(lambda r: r["mode"] == "adversarial")
    assert not any("both modes" in note for note in classify_dataset(alone, "adversarial").notes)
