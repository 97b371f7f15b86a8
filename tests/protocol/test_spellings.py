"""rule B4: verdicts, prompt labels and bases in any case, with space, hyphen or underscore."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.protocol.vote import BASES, VERDICT_OF_LABEL, VERDICTS
from verifyplan.rules.answers import read_basis, read_verdict

CASES = st.sampled_from([str.upper, str.lower, str.title, str.swapcase])
SEPARATORS = st.sampled_from([" ", "-", "_", "  ", " - ", "\u2011"])
AROUND = st.sampled_from(["", " ", "\n", "\t"])


@given(st.sampled_from([*VERDICTS, *VERDICT_OF_LABEL]), CASES, SEPARATORS, AROUND)
def test_every_spelling_of_a_verdict_or_label_is_read(word, case, separator, around):
    spelt = around + case(word.replace("-", separator)) + around
    assert read_verdict(spelt) == VERDICT_OF_LABEL.get(word, word)


@given(st.sampled_from(BASES), CASES, SEPARATORS, AROUND)
def test_every_spelling_of_a_basis_is_read(word, case, separator, around):
    assert read_basis(around + case(word.replace("-", separator)) + around) == word


@pytest.mark.parametrize("value", ["", "maybe", "disagreed", "not refuted", "agree?", None, 1, True, ["agree"]])
def test_what_stands_for_no_verdict_or_basis_is_none(value):
    assert read_verdict(value) is None
    assert read_basis(value) is None
