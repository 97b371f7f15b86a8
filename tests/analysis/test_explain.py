"""SPEC F2: the words name the rule, the tally and the votes; and which finding is meant is never guessed."""

from __future__ import annotations

import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.analysis.explain import MEANING
from verifyplan.errors import InputError
from verifyplan.rules.classification import RULES

VOTES = pd.DataFrame(
    [
        ("r1", "F", 1, "ann", "agree", "fine"),
        ("r1", "F", 1, "bob", "disagree", "m.py:7 says otherwise <b>"),
        ("r1", "G", 1, "ann", "agree", ""),
        ("r2", "F", 1, "ann", "disagree", "not proven"),
        ("r2", "F", 1, "bob", "verification-error", "timeout"),
    ],
    columns=["run", "item", "round", "who", "says", "why"],
)
RUNS = vp.from_votes(VOTES, item="item", worker="who", verdict="says", round="round", run="run", explanation="why")


def test_every_rule_has_words():
    assert set(MEANING) == set(RULES)


def test_a_missing_basis_is_told_and_read():
    text = str(vp.explain(RUNS, "F", "r1", "adversarial"))
    assert "F in run r1, read as adversarial: contested" in text
    assert "hard-refute: somebody cited counter-evidence" in text
    assert "Round 1: 1 agree, 1 disagree (n = 2)" in text
    assert "bob: disagree (no basis recorded; the explanation cites a place): m.py:7 says otherwise" in text
    assert "Filled in by the reading: 1 missing basis." in text


def test_errors_are_shown_and_not_counted():
    text = str(vp.explain(RUNS, "F", "r2", "collaborative"))
    assert "worker-unique" in text
    assert "Round 1: 1 disagree (n = 1)" in text
    assert "bob: verification-error: timeout" in text


def test_html_shows_markup_as_text():
    assert "<b>" not in vp.explain(RUNS, "F", "r1")._repr_html_()


@pytest.mark.parametrize(
    ("finding", "run", "message"),
    [
        ("X", None, "finding_id: 'X' is in no run. Fix: use one of 2 findings: F, G"),
        ("F", None, "run_id: 'F' is in 2 runs. Fix: name its run: r1, r2"),
        ("G", "r2", "run_id: 'G' is not in run 'r2'. Fix: name its run: r1"),
    ],
)
def test_which_finding_is_meant_is_never_guessed(finding, run, message):
    with pytest.raises(InputError, match=message):
        vp.explain(RUNS, finding, run)


def test_one_run_with_the_finding_needs_no_name():
    assert vp.explain(RUNS, "G").finding["run_id"] == "r1"
