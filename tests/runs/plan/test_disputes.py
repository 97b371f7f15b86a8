"""rule A5: what is said again after it was settled is merged only where it brings nothing new."""

from __future__ import annotations

import pytest

from tests.runs.plan.planning import challenge, change, run_of, told

KEPT_OPEN = challenge("rows", "BLOCKING")


def said_again(again, status="RESOLVED", first=None, **settings):
    script = {
        "i1/challenger": {"challenges": [first or challenge("locks"), KEPT_OPEN]},
        "i1/synthesizer": {"changes": [change("C1", status)]},
        "i2/challenger": {"challenges": [again]},
    }
    return run_of(script, silent=True, **{"panel": None, "team": "base", "max_iterations": 2} | settings)


@pytest.mark.parametrize("status", ["RESOLVED", "WITHDRAWN"])
@pytest.mark.parametrize("evidence", ["locks.py:99", "other.py:3", "locks.py:5 and other.py:3"])
def test_a_settled_challenge_said_again_with_a_new_place_is_a_dispute(status, evidence):
    ended = said_again(challenge("locks", evidence=evidence), status)
    assert ended.state.disputing == {"C3": "C1"}
    assert ended.state.challenges["C3"].status == "OPEN"
    assert "C3" in ended.state.admitted
    table = ended.frames.challenges.set_index("challenge_id")
    assert table.loc["C3", "disputes"] == "C1"
    assert table["disputes"].notna().sum() == 1


@pytest.mark.parametrize("status", ["RESOLVED", "WITHDRAWN"])
@pytest.mark.parametrize("evidence", ["locks.py:5", "", "it is so", "locks.py:5-5"])
def test_a_settled_challenge_said_again_with_nothing_new_is_merged(status, evidence):
    ended = said_again(challenge("locks", evidence=evidence), status)
    assert ended.state.disputing == {}
    assert [one.into for one in told(ended, "restated")] == ["C1"]
    assert list(ended.state.challenges) == ["C1", "C2"]


def test_a_settled_challenge_said_again_as_something_worse_is_a_dispute():
    ended = said_again(challenge("locks", "BLOCKING"))
    assert ended.state.disputing == {"C3": "C1"}


@pytest.mark.parametrize("status", ["UNRESOLVED", "OPEN"])
def test_what_still_stands_is_never_disputed(status):
    ended = said_again(challenge("locks", evidence="locks.py:5 and other.py:3"), status)
    assert ended.state.disputing == {}


def test_a_deferred_challenge_is_not_disputed():
    again = challenge("locks", "MINOR", evidence="locks.py:5 and other.py:3")
    ended = said_again(again, "DEFERRED", challenge("locks", "MINOR"))
    assert ended.state.disputing == {}
    assert [one.into for one in told(ended, "restated")] == ["C1"]


def test_a_dispute_that_was_settled_can_be_disputed_again():
    script = {
        "i1/challenger": {"challenges": [challenge("locks"), KEPT_OPEN]},
        "i1/synthesizer": {"changes": [change("C1", "RESOLVED")]},
        "i2/challenger": {"challenges": [challenge("locks", evidence="other.py:3")]},
        "i2/synthesizer": {"changes": [change("C3", "WITHDRAWN")]},
        "i3/challenger": {
            "challenges": [challenge("locks", evidence="other.py:3"), challenge("locks", evidence="third.py:9")]
        },
    }
    ended = run_of(script, silent=True, panel=None, team="base")
    assert ended.state.disputing == {"C3": "C1", "C4": "C3"}
    assert [one.into for one in told(ended, "restated")] == ["C1"]
