"""rules A2 and A9: what the panel's class allows and forbids."""

from __future__ import annotations

from itertools import product

import pytest

from verifyplan.protocol.records import SEVERITIES, STATUSES
from verifyplan.protocol.vote import CLASSIFICATIONS
from verifyplan.rules.lifecycle import consensus_refusal

CONSENSUS = ("full-consensus", "partial-consensus")
CASES = [*product(SEVERITIES, STATUSES, (*CLASSIFICATIONS, None), (True, False))]


@pytest.mark.parametrize(("severity", "status", "classification", "evidence"), CASES)
def test_consensus_forbids_a_withdrawal_and_a_blocking_resolution_without_evidence(
    severity, status, classification, evidence
):
    told = consensus_refusal(severity, status, classification, evidence=evidence)
    if status == "WITHDRAWN" and classification in CONSENSUS:
        assert told == f"the panel left it at {classification}: it cannot be WITHDRAWN in this iteration"
    elif (severity, status, evidence) == ("BLOCKING", "RESOLVED", False) and classification in CONSENSUS:
        assert told.startswith(f"the panel left it at {classification}: to be RESOLVED, its resolution must cite")
    else:
        assert told == ""
