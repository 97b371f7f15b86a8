"""rule A8: which plans are THIN, ADEQUATE or RICH, and which are trivial."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.rules.sizing import Signs, Traits, quality, team, trivial

RICH = Traits(goal=True, steps=2, constraints=1, decisions=1, references=3, words=200)
SMALL = Signs(steps=2, domains=0, integrations=0, compliance=False, unknown_signals=0, referenced_files=1)
COUNTS = st.integers(0, 12)
TRAITS = st.builds(Traits, st.booleans(), *[COUNTS] * 4, st.integers(0, 90), st.integers(0, 1), st.integers(0, 1))
SIGNS = st.builds(Signs, COUNTS, COUNTS, COUNTS, st.booleans(), COUNTS, COUNTS)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, "RICH"),
        ({"goal": False}, "THIN"),
        ({"steps": 1}, "THIN"),
        ({"steps": 0}, "THIN"),
        ({"references": 0}, "THIN"),
        ({"references": 1}, "ADEQUATE"),
        ({"references": 2}, "ADEQUATE"),
        ({"constraints": 0}, "ADEQUATE"),
        ({"decisions": 0}, "ADEQUATE"),
        ({"words": 1, "destructive": 3, "writes": 2}, "RICH"),
    ],
)
def test_quality(changed, expected):
    assert quality(RICH._replace(**changed)) == expected


@pytest.mark.parametrize(
    ("signs", "traits", "expected"),
    [
        ({}, {}, True),
        ({}, {"words": 61}, False),
        ({"steps": 3}, {}, False),
        ({"integrations": 1}, {}, False),
        ({"compliance": True}, {}, False),
        ({"unknown_signals": 1}, {}, False),
        ({"domains": 3, "referenced_files": 12}, {}, True),
        ({"steps": 0}, {"words": 0}, True),
        ({}, {"destructive": 1}, False),
        ({}, {"writes": 1}, False),
        ({"steps": 0}, {"words": 0, "destructive": 1}, False),
    ],
)
def test_trivial(signs, traits, expected):
    assert trivial(SMALL._replace(**signs), RICH._replace(**({"words": 60} | traits))) is expected


@given(TRAITS, st.sampled_from(["steps", "constraints", "decisions", "references"]))
def test_a_plan_that_says_more_is_never_judged_to_say_less(traits, name):
    order = ["THIN", "ADEQUATE", "RICH"]
    more = traits._replace(**{name: getattr(traits, name) + 1})
    assert order.index(quality(more)) >= order.index(quality(traits))


@given(SIGNS, TRAITS)
def test_a_trivial_plan_gets_no_team(signs, traits):
    if trivial(signs, traits):
        assert team(signs, quality(traits), trivial=True) is None
        assert team(signs, quality(traits), trivial=True, team="scaled") == "scaled"
        assert signs.steps <= 2
        assert traits.words <= 60
        assert not traits.destructive
        assert not traits.writes
