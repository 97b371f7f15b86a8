"""The array of votes: neutral rules give the classes of the counts by finding and round, whatever the votes."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.analysis.classify import classify
from verifyplan.analysis.tally import code_votes
from verifyplan.analysis.vote_cube import vote_cube, with_unseen
from verifyplan.protocol.vote import CLASSIFICATIONS, MODES, VERDICTS, MissingBasis, Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.classification import RULES
from verifyplan.rules.round_decisions import judge_codes
from verifyplan.rules.vote_codes import UNSEEN

VOTE = st.tuples(
    st.sampled_from(VERDICTS), st.sampled_from(["counter-evidence", None, "burden-not-met"]), st.booleans()
)


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    rows = [
        {
            "run_id": "r",
            "finding_id": f"F-{finding}",
            "round": number,
            "worker": worker,
            "verdict": verdict,
            "disagree_basis": basis if verdict == "disagree" else None,
            "explanation": "m.py:4 checks it" if cites else "no proof",
            "is_origin": worker == "a" and finding == 0,
        }
        for finding in range(draw(st.integers(1, 4)))
        for number in range(1, draw(st.integers(1, 3)) + 1)
        for worker in "abcd"
        for verdict, basis, cites in [draw(VOTE)]
    ]
    return pd.DataFrame(rows)


@given(tables(), st.sampled_from(MODES), st.integers(1, 3), st.sampled_from(["infer", "counter-evidence"]))
def test_neutral_rules_judge_as_counts_do(votes: pd.DataFrame, mode: Mode, rounds: int, missing: MissingBasis):
    expected = classify(votes, mode=mode, max_rounds=rounds, missing_basis=missing)
    cube = vote_cube(votes, code_votes(votes), citations=True)
    executed = np.minimum(cube.last_round, rounds)
    decision, _ = judge_codes(cube.codes, executed, VotingRules(missing_basis=missing), mode, cube.workers)
    assert [CLASSIFICATIONS[code] for code in decision.classification] == expected["classification"].tolist()
    assert [RULES[code] for code in decision.rule] == expected["rule"].tolist()
    assert decision.round.tolist() == expected["decided_round"].tolist()


def test_what_rules_would_ask_and_was_never_cast_is_unseen():
    votes = pd.DataFrame(
        {
            "run_id": "r",
            "finding_id": ["F-1", "F-1", "F-2"],
            "round": 1,
            "worker": ["a", "b", "b"],
            "verdict": "agree",
            "disagree_basis": None,
            "is_origin": [False, True, False],
        }
    )
    cube = vote_cube(votes, code_votes(votes), citations=False)
    later = with_unseen(cube, VotingRules(), np.array([2, 1]))
    assert np.argwhere(later.codes == UNSEEN).tolist() == [[1, 0, 0]]
    named = with_unseen(cube, VotingRules(workers=["b", "c"]), np.array([1, 1]))
    assert named.workers == ("a", "b", "c")
    assert np.argwhere(named.codes == UNSEEN).tolist() == [[0, 2, 0], [0, 2, 1]]


def test_votes_that_do_not_fit_into_memory_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("verifyplan.analysis.vote_cube.MAX_CELLS", 1)
    votes = pd.DataFrame(
        {"run_id": "r", "finding_id": "F", "round": 1, "worker": ["a", "b"], "verdict": "agree", "disagree_basis": None}
    )
    with pytest.raises(ValueError, match="1 rounds x 2 workers x 1 findings are more than 1 votes"):
        vote_cube(votes, code_votes(votes), citations=False)
