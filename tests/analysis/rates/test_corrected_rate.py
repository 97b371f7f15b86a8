"""rule F3c: how labels were chosen is required, decides the method, and is checked where the data can show it."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp
from benchmarks import corrected_rates
from verifyplan.analysis.rates.corrected_rate import DESIGNS, METHODS
from verifyplan.analysis.rates.label_checks import note_label_rates
from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.errors import InputError, SettingsError

SAYS = [1, 1, 0, 1, 0, 0, 1, 0, 1, 0] * 4
TRUTH = [1, 1, 0, 1, 0, 0, 1, 0, 0, 0] * 2 + [None] * 20


@pytest.mark.parametrize(("labels", "received"), [(None, "is missing"), ("drawn", "must be one of .*, got 'drawn'")])
def test_without_a_design_the_error_says_how_to_tell_the_three_apart(labels, received):
    arguments = {} if labels is None else {"labels": labels}
    with pytest.raises(SettingsError, match=f"labels: {received}") as caught:
        vp.corrected_rate(SAYS, TRUTH, **arguments)
    lines = str(caught.value).splitlines()[1:]
    assert [line.split('"')[1] for line in lines] == ["random", "by-truth", "by-verdict"]
    assert all(how in line for how, line in zip(DESIGNS.values(), lines, strict=True))


def test_truth_in_the_place_of_the_design_is_not_taken_for_one():
    with pytest.raises(SettingsError, match=r"labels: must be one of 'random', 'by-truth', 'by-verdict', got \[1, 1"):
        vp.corrected_rate(SAYS, TRUTH, labels=TRUTH)


def test_ppi_is_a_method_and_no_function():
    assert not hasattr(vp, "ppi")
    assert not hasattr(vp.analysis, "ppi")
    assert inspect.signature(vp.corrected_rate).parameters["labels"].kind is inspect.Parameter.KEYWORD_ONLY


@pytest.mark.parametrize("labels", DESIGNS)
@pytest.mark.parametrize("method", ["prediction-powered", "rogan-gladen", "stratified"])
def test_a_method_is_used_where_the_design_allows_it_and_else_refused_with_the_reason(labels, method):
    if method in METHODS[labels]:
        found = vp.corrected_rate(SAYS, TRUTH, labels=labels, method=method)
        assert (found.labels, found.method) == (labels, method)
        assert found.population == ("items without truth" if labels == "by-truth" else "all items")
        return
    reason = {"by-verdict": "by verdict|random sample", "by-truth": "was chosen", "random": "it is right here"}[labels]
    wanted = f"method: '{method}' is not valid with labels=\"{labels}\": .*({reason}).*Fix: use "
    with pytest.raises(SettingsError, match=wanted):
        vp.corrected_rate(SAYS, TRUTH, labels=labels, method=method)


def test_the_first_allowed_method_is_the_default():
    methods = [vp.corrected_rate(SAYS, TRUTH, labels=labels).method for labels in DESIGNS]
    assert methods == ["prediction-powered", "rogan-gladen", "stratified"]


def test_sensitivity_is_not_read_off_labels_by_verdict():
    with pytest.raises(SettingsError, match="sensitivity and specificity cannot be read off labels chosen by verdict"):
        vp.corrected_rate(SAYS, TRUTH, labels="by-verdict", method="rogan-gladen")
    with pytest.raises(
        SettingsError, match=r"'ppi' is not valid .*: no such method is known. Fix: use 'prediction-powered'"
    ):
        vp.corrected_rate(SAYS, TRUTH, labels="random", method="ppi")


def test_a_random_sample_gives_nearly_one_figure_by_each_method():
    rng = np.random.default_rng(0)
    truth = (rng.random(20_000) < 0.3).astype(float)
    said = np.where(rng.random(20_000) < 0.1, 1 - truth, truth)
    known = np.where(np.arange(20_000) < 5000, truth, np.nan)
    values = [
        vp.corrected_rate(said, known, labels=labels, method=method).value
        for labels, methods in METHODS.items()
        for method in methods
    ]
    assert np.ptp(values) < 0.02
    assert values == pytest.approx([truth.mean()] * 4, abs=0.015)


def test_label_rates_that_differ_by_verdict_are_said_with_the_remedy():
    rng = np.random.default_rng(4)
    truth = (rng.random(600) < 0.3).astype(float)
    said = np.where(rng.random(600) < 0.1, 1 - truth, truth)
    known = np.where(said == 1, truth, np.where(np.arange(600) < 20, truth, np.nan))
    for method in METHODS["random"]:
        found = vp.corrected_rate(said, known, labels="random", method=method)
        assert re.match(r"(\d+) of \1 accepted and \d+ of \d+ rejected items have a label, so uneven", found.notes[0])
        assert 'say labels="by-verdict"' in found.notes[0]
    for labels in ("by-truth", "by-verdict"):
        assert "have a label" not in str(vp.corrected_rate(said, known, labels=labels))
    scores = vp.corrected_rate(5 * said + rng.normal(size=600), 5 * known, labels="random")
    assert "The mean prediction is " in scores.notes[0]
    assert "a random sample is needed" in scores.notes[0]


@pytest.mark.parametrize("layout", corrected_rates.LAYOUTS)
def test_random_samples_are_hardly_ever_suspected(layout):
    """Also whole runs, which differ in what the panel says: 1 % is aimed at, and 7 of 200 samples have 0.1 %."""
    rng = np.random.default_rng(0)
    noted = 0
    for _ in range(200):
        runs = np.arange(600) // 20
        share = corrected_rates.moved(0.4, rng.normal(0, 0.8, 30))[runs]
        said = (rng.random(600) < share).astype(float)
        chosen = np.isin(runs, rng.choice(30, 3, replace=False)) if layout == "whole runs" else rng.random(600) < 0.1
        clusters = None if layout == "independent" else corrected_rates.Clusters(runs, np.arange(600))
        noted += bool(list(note_label_rates(corrected_rates.JudgedItems(said, np.where(chosen, 1, np.nan), clusters))))
    assert noted <= 7


def test_few_labels_and_few_runs_are_said():
    runs = np.repeat(range(4), 10)
    for labels in DESIGNS:
        words = str(vp.corrected_rate(SAYS, TRUTH, labels=labels, clusters=runs))
        assert "There are 20 labels: with 20 labels such intervals contained the true value in 9" in words
        assert "The labels come from 2 runs" in words


def test_the_tables_are_as_declared():
    meaning = vp.documentation("corrected_rate").loc["estimate", "meaning"]
    for labels in DESIGNS:
        found = vp.corrected_rate(SAYS, TRUTH, labels=labels)
        assert list(found.rates.columns) == [column.name for column in RESULT_TABLES["corrected_rate"]]
        assert all(f"`{row}`" in meaning for row in found.rates["estimate"])


@pytest.mark.parametrize("says", [[1, 0, 1], (1, 0), np.array([1, 0]), pd.Series([1, 0])])
def test_predictions_without_truth_are_not_taken_for_runs(says):
    wanted = "truth: is missing, and a list of predictions does not include it. Fix: give predictions and truth"
    with pytest.raises(InputError, match=wanted):
        vp.corrected_rate(says, labels="random")
