"""Whether something was said before: the same in other words is, another name, number, place or negation is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.rules.likeness import Sayings

SAID = Sayings({"C1": ("Step 2 changes `store.py`, which nobody has read.", "plan.md:12")})


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("Step 2 changes `store.py`, which nobody has read.", "plan.md:12"),
        ("step 2 changes `store.py` which nobody has read", "plan.md:14 and elsewhere"),
        ("Step 2 changes `store.py`, which nobody had read.", "plan.md:8"),
    ],
)
def test_the_same_in_like_words_was_said_before(text, evidence):
    assert SAID.again(text, evidence) == "C1"


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("Step 3 changes `store.py`, which nobody has read.", "plan.md:12"),
        ("Step 2 changes `stores.py`, which nobody has read.", "plan.md:12"),
        ("Step 2 changes `store.py`, which was not read by anybody.", "plan.md:12"),
        ("Step 2 changes `store.py`, which nobody has read.", "plan.md:99"),
        ("Step 2 changes `store.py`, which nobody has read.", "other.md:12"),
        ("Step 2 changes `store.py`, which nobody has read.", ""),
        ("Step 2 deletes a table on which `store.py` and nobody else relies.", "plan.md:12"),
        ("", ""),
    ],
)
def test_another_name_number_place_or_meaning_is_new(text, evidence):
    assert SAID.again(text, evidence) is None


def test_the_first_of_several_is_told_and_every_one_can_be():
    said = Sayings()
    for name, evidence in (("C1", "a.py:1"), ("C2", "a.py:3"), ("C3", "a.py:30")):
        said.add(name, "the lock is held", evidence)
    assert said.again("the lock is held", "a.py:2") == "C1"
    assert list(said.every("the lock is held", "a.py:2")) == ["C1", "C2"]
    assert list(said.every("the lock is free", "b.py:2")) == []


def test_blank_texts_say_the_same():
    said = Sayings({"C1": (" ", "")})
    assert said.again("") == "C1"
    assert said.again("", "a.py:1") is None


def test_nothing_was_said_at_first():
    assert Sayings().again("anything") is None


texts = st.text(max_size=60)


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=6))
def test_whatever_was_said_is_found_again(said):
    sayings = Sayings()
    for number, (text, evidence) in enumerate(said):
        sayings.add(f"C{number}", text, evidence)
    for number, (text, evidence) in enumerate(said):
        found = list(sayings.every(text, evidence))
        assert f"C{number}" in found
        assert sayings.again(text, evidence) == found[0]
        assert found == sorted(found, key=lambda name: int(name[1:]))
