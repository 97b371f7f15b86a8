"""What `verifyplan.weights` offers, what it costs to import, and what its documentation must say."""

from __future__ import annotations

import subprocess
import sys

import pytest

from verifyplan.analysis import weights

SHOW_SCORES = ["apply", "fit", "load", "presets", "save", "rank_stability", "sensitivity", "stability_measures", "wide"]


def test_the_names_are_those_of_the_stub_and_all_load():
    assert sorted(weights.__all__) == sorted([*SHOW_SCORES, "rebalance", "to_decimals"])
    for name in weights.__all__:
        assert callable(getattr(weights, name))
        assert getattr(weights, name).__name__ == name


@pytest.mark.parametrize("name", [name for name in SHOW_SCORES if name != "load"])
def test_the_documentation_says_that_the_score_never_decides(name):
    assert "informs and never decides a verdict" in " ".join(getattr(weights, name).__doc__.split())


def test_reading_a_weights_file_loads_no_statistics():
    code = "import sys; from verifyplan.protocol.weights_file import load; print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
