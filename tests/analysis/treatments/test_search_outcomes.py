"""What many rules make of recorded votes equals a replay under each of them."""

import numpy as np
import pytest

import verifyplan as vp
from verifyplan.analysis.replay import replay
from verifyplan.analysis.treatments.rule_outcomes import rule_outcomes
from verifyplan.protocol.voting_rules import VotingRules


@pytest.mark.parametrize("mode", ["collaborative", "adversarial", None])
@pytest.mark.parametrize("rounds", [1, 2, None])
def test_outcomes_are_those_of_a_replay(mode, rounds):
    runs = vp.datasets.runs("stdlib-claims")
    outcomes = rule_outcomes(runs, [VotingRules(mode=mode, max_rounds=rounds)])
    replayed = replay(runs, rules=outcomes.rules[0])
    assert np.array_equal(outcomes.classes(0), replayed["classification"].cat.codes)
    assert outcomes.findings["finding_id"].tolist() == replayed["finding_id"].tolist()
    assert np.array_equal(outcomes.censored(0), replayed["censored"])
