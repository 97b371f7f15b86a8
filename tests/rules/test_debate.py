"""The rules of a debate: who is asked, and the three ends in their order (rules C2, C3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.errors import SettingsError
from verifyplan.protocol.message import check_message
from verifyplan.rules.debate import MAX_TURNS, ROLE_OF_TYPE, asked_for, call_id, closing, ruling

NO_IMPROVEMENT, VERIFIED = ("FAILED", "NO_IMPROVEMENT"), ("CONVERGED", "VERIFIED")
MAX = ("FAILED", "MAX_TURNS")


@pytest.mark.parametrize(
    ("turn", "before", "diff", "verification", "expected"),
    [
        (1, "", "", None, None),
        (1, "", "", "Not yet.", None),
        (1, "", "a", "Verified", VERIFIED),
        (2, "a", "a", None, NO_IMPROVEMENT),
        (2, "a", "a", "Verified", NO_IMPROVEMENT),
        (2, "", "", None, NO_IMPROVEMENT),
        (2, "a", "a\n", None, None),
        (2, "a", "a\n", "Verified: all.", VERIFIED),
        (2, "a", "b", "verified", None),
        (2, "a", "b", "It is Verified", None),
        (3, "a", "a", None, NO_IMPROVEMENT),
        (3, "a", "b", None, None),
        (3, "a", "b", "Verified", VERIFIED),
        (3, "a", "b", "", MAX),
        (4, "a", "b", "no", MAX),
    ],
)
def test_how_a_turn_ends_a_debate_of_three_turns(turn, before, diff, verification, expected):
    assert ruling(turn, 3, before, diff, verification) == expected


@given(st.integers(1, 5), st.integers(1, 5), st.sampled_from("ab"), st.sampled_from("ab"), st.text(max_size=12))
def test_the_ends_come_in_their_order(turn, most, before, diff, verification):
    found = ruling(turn, most, before, diff, verification)
    if turn > 1 and before == diff:
        assert found == NO_IMPROVEMENT
    elif verification[:8] == "Verified":
        assert found == VERIFIED
    else:
        assert found == (MAX if turn >= most else None)


def test_the_first_turn_proposes_and_later_ones_criticize():
    assert [asked_for(turn)[0] for turn in (1, 2, 9)] == ["propose", "critique", "critique"]
    assert {asked_for(turn)[1:] for turn in (1, 2)} == {("implement", "verify")}
    assert [ROLE_OF_TYPE[kind] for kind in asked_for(1)] == ["architect", "builder", "architect"]
    assert call_id(1, "propose") == "t1/propose"
    assert MAX_TURNS == 3


def test_a_stagnation_is_closed_by_the_architect_in_its_turn():
    message = closing(3)
    assert (message.role, message.type, message.content, message.turn) == (
        "architect",
        "verify",
        "Failed: NO_IMPROVEMENT",
        3,
    )
    assert message.reasons
    assert message.risks
    check_message(message.as_json())


def test_numbers_below_one_are_refused_together():
    with pytest.raises(SettingsError, match=r"turn: 0 is out of range.*\n.*max_turns: -1 is out of range"):
        ruling(0, -1, "", "")
    with pytest.raises(SettingsError, match="turn: 0 is out of range"):
        asked_for(0)
