"""SPEC A8: which plans are THIN, ADEQUATE or RICH, and which are trivial."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.rules.sizing import Signs, Traits, quality, team, trivial

RICH = Traits(goal=True, steps=2, constraints=1, decisions=1, references=3, content_lines=20)
SMALL = Signs(steps=2, domains=0, integrations=0, compliance=False, unknown_signals=0, referenced_files=1)
FEW_LINES = RICH._replace(content_lines=4)
COUNTS = st.integers(0, 12)
TRAITS = st.builds(Traits, st.booleans(), COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)
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
        ({"content_lines": 1}, "RICH"),
    ],
)
def test_quality(changed, expected):
    assert quality(RICH._replace(**changed)) == expected


@pytest.mark.parametrize(
    ("signs", "lines", "expected"),
    [
        ({}, 4, True),
        ({}, 5, False),
        ({"steps": 3}, 4, False),
        ({"integrations": 1}, 4, False),
        ({"compliance": True}, 4, False),
        ({"unknown_signals": 1}, 4, False),
        ({"domains": 3, "referenced_files": 12}, 4, True),
        ({"steps": 0}, 0, True),
    ],
)
def test_trivial(signs, lines, expected):
    assert trivial(SMALL._replace(**signs), RICH._replace(content_lines=lines)) is expected


@given(TRAITS, st.sampled_from(["steps", "constraints", "decisions", "references"]))
def test_a_plan_that_says_more_is_never_judged_to_say_less(traits, name):
    order = ["THIN", "ADEQUATE", "RICH"]
    more = traits._replace(**{name: getattr(traits, name) + 1})
    assert order.index(quality(more)) >= order.index(quality(traits))


@given(SIGNS, TRAITS)
def test_a_trivial_plan_gets_no_team(signs, traits):
    if trivial(signs, traits):
        assert team(signs, quality(traits), trivial=True) is None
        assert signs.steps <= 2
        assert traits.content_lines < 5
