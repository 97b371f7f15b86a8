"""Diffs: what is written applies again; what does not fit is refused, and says where."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
import whatthepatch
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.diffs import PatchError, apply, diff_of, nameable

TEXTS = st.lists(
    st.sampled_from(["", "a", "b", "- a", "--- a/x.md", "+++ b/x.md", "@@ -1 +1 @@", "\\ No", "\x0cc", "d\r"])
)
ENDS = st.sampled_from(["", "\n"])


def joined(lines: list[str], end: str) -> str:
    return "\n".join(lines) + (end if lines else "")


@given(TEXTS, ENDS, TEXTS, ENDS)
def test_a_diff_of_any_two_texts_gives_the_second_of_the_first(old, old_end, new, new_end):
    before, after = joined(old, old_end), joined(new, new_end)
    diff = diff_of({"x.md": (before, after)})
    if before == after:
        assert diff == ""
    else:
        assert apply(diff, {"x.md": before}.get) == {"x.md": after}


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1), st.lists(st.sampled_from(["a", "b", "d"]), min_size=1))
def test_another_reader_of_diffs_reads_the_same(old, new):
    before, after = joined(old, "\n"), joined(new, "\n")
    if before == after:
        return
    [read] = whatthepatch.parse_patch(diff_of({"x.md": (before, after)}))
    assert whatthepatch.apply_diff(read, before) == after.splitlines()


def test_a_new_file_comes_from_nowhere_and_several_files_stand_in_one_diff():
    diff = diff_of({"a b.md": (None, "new\n"), "c.md": ("x\n", "y\n"), "same.md": ("z", "z")})
    assert diff.startswith("--- /dev/null\n+++ b/a b.md\t\n@@ -0,0 +1 @@\n+new\n--- a/c.md\n")
    assert apply(diff, {"c.md": "x\n"}.get) == {"a b.md": "new\n", "c.md": "y\n"}


def test_a_removed_file_is_none():
    assert apply("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", {"x": "a\n"}.get) == {"x": None}


def test_line_ends_other_than_line_feeds_stay_as_they_are():
    diff = diff_of({"x": ("a\r\nb\u2028c\r\n", "a\r\nb\u2028d\r\n")})
    assert apply(diff, {"x": "a\r\nb\u2028c\r\n"}.get) == {"x": "a\r\nb\u2028d\r\n"}


@pytest.mark.parametrize(
    ("diff", "words"),
    [
        ("hello", "line 1: this is not a unified diff"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-b\n+c\n", "line 3: the hunk does not fit x"),
        ("--- a/x\n+++ b/x\n@@ -2 +2 @@\n-a\n+c\n", "line 3: the hunk does not fit x"),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n+c", "the hunk ends before all its lines"),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n+c\n", "the hunk has more lines than it says"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+c\n+d\n", "line 6: the line does not belong to a hunk"),
        ("--- a/x\n+++ b/x\n@@ one @@\n-a\n", "line 3: the head of the hunk cannot be read"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n*a\n", "line 4: the line does not belong to the hunk"),
        ("--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+c\n", "y is not there"),
        ("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+c\n", "x is there already"),
        ("--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+c\n", "'y' is not a file that may be changed"),
        ("--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+c\n", "'../x' is not a file that may be changed"),
        ("--- /dev/null\n+++ /etc/passwd\n@@ -0,0 +1 @@\n+c\n", "'/etc/passwd' is not a file"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+c\n" * 2, "x is changed twice"),
        ("--- a/x\n+++ b/x\n@@ -9,0 +10 @@\n+c\n", "x has no line 9"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line(diff, words):
    with pytest.raises(PatchError, match="diff: line") as error:
        apply(diff, {"x": "a\n"}.get)
    assert words in str(error.value)


@given(st.text(alphabet="+-@ ab/x\n\\0,1", max_size=80))
def test_any_text_is_a_diff_or_refused(text):
    with suppress(PatchError):
        assert list(apply(f"--- a/x\n+++ b/x\n{text}", {"x": "a\nb\n"}.get)) == ["x"]


def test_names_that_no_diff_can_hold_are_left_out():
    assert [nameable(one) for one in ("a/b.md", "../b", "/b", "a//b", "a\nb", "C:/b", " a", "")] == [True] + [False] * 7
    assert diff_of({"../x": ("a", "b")}) == ""


def test_long_texts_are_compared_in_a_moment():
    begun = time.process_time()
    old, new = "a\nb\n" * 60_000, "b\nc\n" * 60_000
    assert apply(diff_of({"x": (old, new)}), {"x": old}.get) == {"x": new}
    assert time.process_time() - begun < 5
