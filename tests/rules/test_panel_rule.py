"""SPEC A9: what the panel's class allows and forbids."""

from __future__ import annotations

from itertools import product

import pytest

from verifyplan.protocol.challenge import STATUSES
from verifyplan.protocol.vote import CLASSIFICATIONS
from verifyplan.rules.panel import withdrawal_refusal

CONSENSUS = ("full-consensus", "partial-consensus")


@pytest.mark.parametrize(("status", "classification"), [*product(STATUSES, (*CLASSIFICATIONS, None))])
def test_only_a_withdrawal_against_consensus_is_refused(status, classification):
    told = withdrawal_refusal(status, classification)
    if status == "WITHDRAWN" and classification in CONSENSUS:
        assert told == f"the panel left it at {classification}: it cannot be WITHDRAWN in this iteration"
    else:
        assert told == ""
