"""rule B7's pattern of a citation: ours finds exactly what the pattern as written finds, and in linear time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.rules.citations import Place, cites_location, places

AS_WRITTEN = re.compile(r"[\w./\\-]*[\w-]\.[A-Za-z]\w*:\d+|\bline \d+\b|\bL\d+\b")


@given(st.text(alphabet="aé_.:/\\- L1line٣\n", max_size=40))
def test_the_shorter_pattern_finds_what_spec_b7_finds(text):
    assert cites_location(text) is (AS_WRITTEN.search(text) is not None)


@pytest.mark.parametrize("text", ["src/a.ts:48 validates", "see line 12", "L12", "a.b.c.d:1"])
def test_citations(text):
    assert cites_location(text)


@pytest.mark.parametrize("text", [None, "", "line twelve", "a:12", ".py:3", "baseline 12x", "XL12"])
def test_no_citations(text):
    assert not cites_location(text)


def test_places_with_ranges_turned_the_right_way():
    assert places("b/c.py:20-4, d.go:7") == [Place("b/c.py", 4, 20), Place("d.go", 7, 7)]


@pytest.mark.parametrize("text", ["a." * 60_000, "a" * 120_000 + ".", "." * 120_000, "a.a:" * 30_000])
def test_hostile_texts_end(text):
    cites_location(text)
    places(text)
