"""Charts of planned runs: what they draw is what was computed, and they say what they rest on."""

from __future__ import annotations

import verifyplan as vp
from verifyplan.analysis.study_design.power import needed_by_delta

PLANNED = vp.sample_size(delta=0.1, discordance=0.3, icc=0.05)


def test_lines_are_the_runs_that_sample_size_says():
    figure = vp.charts.power(PLANNED)
    for delta in (0.05, 0.1, 0.2):
        line = figure.data[figure.data["delta"].eq(delta)]
        wanted = vp.sample_size(delta=delta, discordance=0.3, icc=0.05, n_findings=list(line["findings"]))
        assert line["runs"].tolist() == wanted.needed["runs"].tolist()
    assert "A difference of 10 points: 59 runs of 5 findings, 26 runs of 20 findings, 17 runs" in figure.description
    assert "Assumed: 30 % of findings differ, and those of a run correlate by 0.05" in figure.caption


def test_lines_stay_apart_by_name_where_they_meet(picture):
    texts = picture(vp.charts.power("stdlib-claims/adversarial")).texts
    assert {"5 points", "10 points", "20 points", "pilot"} <= set(texts)


def test_a_difference_that_cannot_be_doubled_is_not():
    figure = vp.charts.power(vp.sample_size(delta=0.6, discordance=0.7, icc=0))
    assert sorted(figure.data["delta"].unique()) == [0.3, 0.6]


def test_the_pilots_uncertainty_is_drawn_and_named():
    found = vp.power("stdlib-claims/adversarial", delta=0.1)
    curves = needed_by_delta(found, [0.1])
    assert (curves["low"] <= curves["runs"]).all()
    assert (curves["runs"] <= curves["high"]).all()
    caption = vp.charts.power(found).caption
    assert "Pilot of collaborative against adversarial (12 runs, n = 720 findings), accuracy" in caption
