"""Frontmatter: plain values with their lines and as they are written, whatever the YAML."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.longer import examples
from verifyplan.documents.reading.front import (
    MAX_FRONT_CHARACTERS,
    count_of,
    flag_of,
    read_front,
    text_of,
    texts_of,
    value_of,
)

PIECES = [
    "a: ", "b: ", "- ", "  ", "\n", "\n\n", "[", "]", "{", "}", ", ", ": ", "? ", "&x ", "*x", "<<: ",
    "!!python/object:os ",
    "!t ", "| \n", ">\n", "'", '"', "\\", "#", "\t", "01", "1e3", "yes", "null", "~", "2026-13-45", "2026-11-22", "=",
    "%YAML 1.1\n", "---\n", "...\n", "\u2028", "\x85", "\ufeff", "\0", "\ud800", "é", "9" * 30, "0x", "1:30", "@", "`",
]  # fmt: skip
YAMLISH = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=40).map("".join))


def front(text):
    return read_front(["---", *text.split("\n"), "---"])


def test_values_keep_their_lines_and_how_they_are_written():
    read = front('plan: 01\nwave: 2\ngaps:\n  - "a: b"\n  - c\nmust_haves:\n  truths: [x, y]\ncreated: 2026-11-22')
    assert read.values["plan"] == 1
    assert read.raw("plan") == "01"
    assert read.values["created"] == datetime.date(2026, 11, 22)
    assert (read.first, read.last, read.problems) == (1, 10, ())
    assert [read.line("gaps", at) for at in (0, 1)] == [5, 6]
    assert read.raw("gaps", 0) == "a: b"
    assert read.line("must_haves", "truths", 1) == 8
    assert read.line("must_haves", "artifacts") == 7
    assert read.line("nothing") == 1
    assert read.raw("gaps") is None


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("a: 1\nb: &x [1]", 3, "it holds an anchor"),
        ("a: 1\nb: *x", 3, "it holds an alias"),
        ("a: !!python/object/apply:os.system [ls]", 2, "it holds a tag"),
        ("a: 1\nb: !mine x", 3, "it holds a tag"),
        ("a: 1\nb: [1", 3, "it is not YAML"),
        ('a: 1\nb: "\\."', 3, "unknown escape"),
        ("a: 1\n\tb: 2", 3, "it is not YAML"),
        ("a: 1\nb: \0", 3, "a character that is not allowed"),
        ("a: 1\nb: 2\na: 3", 4, "the key 'a' is given twice"),
        ("a: 1\n[1, 2]: 3", 3, "a key is no single value"),
        ("a: " + "[" * 30 + "]" * 30, 2, "nested deeper"),
        ("a: " + "[" * 5000, 2, "nested deeper"),
        ("a: " + "x" * MAX_FRONT_CHARACTERS, 1, "longer than"),
    ],
)
def test_what_is_wrong_is_told_at_its_line(text, line, problem):
    read = front(text)
    assert [found[0] for found in read.problems] == [line]
    assert problem in read.problems[0][1]


def test_of_a_key_given_twice_the_first_stands():
    read = front("a: 1\nb:\n  c: 2\n  c: 3\na: 4")
    assert read.values == {"a": 1, "b": {"c": 2}}
    assert [line for line, _ in read.problems] == [5, 6]


def test_an_expansion_is_refused_before_it_is_made():
    bomb = 'a: &a ["x","x"]\n' + "\n".join(
        f"{b}: &{b} [*{a},*{a},*{a}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    assert front(bomb).values == {}
    assert front(bomb).problems == ((2, "it holds an anchor"),)
    assert front("a: {b: 1}\nc:\n  <<: {d: 1}").values["c"] == {"<<": {"d": 1}}


@pytest.mark.parametrize("lines", [[], ["# Plan"], ["---"], ["---", "", "text", "---"], ["----", "a: 1", "---"]])
def test_without_frontmatter_there_is_none_and_nothing_is_wrong(lines):
    assert (read_front(lines).first, read_front(lines).problems) == (0, ())


def test_frontmatter_that_never_closes_is_none_and_a_problem():
    read = read_front(["---", "plan: 1", "# Plan"])
    assert (read.first, read.values, read.problems) == (0, {}, ((1, "the frontmatter never closes"),))


@pytest.mark.parametrize("text", ["a: 2026-99-99", "a: " + "9" * 5000, "a: =", "a: 0b2", "a: .inf", "a: 99:99"])
def test_a_value_that_yaml_cannot_make_stays_a_text_or_is_plain(text):
    assert front(text).problems == ()
    assert front(text).raw("a") == text[3:]


@given(YAMLISH)
@settings(max_examples=examples(150))
def test_any_text_as_frontmatter_gives_values_or_a_problem(text):
    lines = ["---", *text.split("\n"), "---"]
    read = read_front(lines)
    assert all(1 <= line <= len(lines) for line, _ in read.problems)
    assert all(read.first <= line <= max(read.last, 1) for line in read.lines.values())
    assert all(value_of(read, *path) is not None or read.raw(*path) is not None for path in read.written)


def test_values_are_typed_leniently():
    read = front('n: 3\nb: true\nt: "x"\nl: [01, x, [y], {z: 1}, null]\none: x\nempty:\nf: 1.5')
    assert [count_of(read, name) for name in ("n", "b", "t", "f", "none")] == [3, None, None, None, None]
    assert [flag_of(read, name) for name in ("b", "n")] == [True, None]
    assert [text_of(read, name) for name in ("n", "t", "l", "empty", "none")] == ["3", "x", None, None, None]
    assert texts_of(read, "l") == ("01", "x")
    assert (texts_of(read, "one"), texts_of(read, "empty"), texts_of(read, "none")) == (("x",), (), ())
    assert value_of(read, "l", 2, 0) == "y"
    assert value_of(read, "l", 9) is None


def test_a_block_that_ends_the_frontmatter_ends_with_its_line():
    assert front("a: |\n  x").values == {"a": "x\n"}


@pytest.mark.parametrize("number", ["9" * 30, "0x" + "f" * 6000, "1:" * 6000 + "1", "-0b1" + "0" * 64])
def test_a_number_that_no_table_holds_stays_a_text(number):
    assert front(f"wave: {number}").values == {"wave": number}
    assert front("wave: 9_000_000_000_000_000_000").values == {"wave": 9_000_000_000_000_000_000}
