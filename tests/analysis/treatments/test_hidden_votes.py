"""Full recordings whose votes are hidden at random, judged from their tables: what they say is within the bounds."""

import numpy as np
import pytest

from benchmarks.hidden_votes import SETS, trial
from tests.longer import LONG


@pytest.mark.parametrize("name", SETS)
def test_what_all_votes_say_is_within_the_bounds_of_those_that_are_left(name: str) -> None:
    random = np.random.default_rng(5)
    trials = [trial(name, random) for _ in range(8 if LONG else 2)]
    for found in trials:
        assert found.n_within == found.n_findings
        assert found.n_metrics_within == found.n_metrics
    assert sum(found.n_findings for found in trials) > 12 * len(trials)
