"""Parts, tables and bullets of a document, with their lines; fenced code, comments and elements hold none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.documents.reading.body import cells, rows_of
from verifyplan.documents.reading.source import read_source

PIECES = [
    "# ", "## Gaps", "### ", "- ", "- [ ] ", "- [x] ", "1. ", "  ", "> ", "```", "~~~", "\n", "\n\n", "\r\n", "\r", "|",
    "|---|", "| a | b |\n|---|---|\n| 1 | `x|y` |", "\\|", "`", "===", "---", "***", "<!--", "-->", "<task>", "</task>",
    "<name>", "</name>", "<objective>", "word", "\u2028", "\ufeff", "\0", "é", "---\na: 1\n---\n",
]  # fmt: skip
TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=50).map("".join))


def read(text):
    return read_source(text, "a.md")


def test_parts_reach_over_their_subsections_and_code_holds_none():
    source = read("# A\n\n## B\n\ntext\n### C\n```\n## no\n```\n<!--\n## no\n-->\n## D ##\n\nE\nF\n===\n#no\n")
    assert [(p.title, p.level, p.first, p.last) for p in source.sections] == [
        ("A", 1, 1, 14),
        ("B", 2, 3, 12),
        ("C", 3, 6, 12),
        ("D", 2, 13, 14),
        ("E F", 1, 15, 18),
    ]


def test_a_part_is_found_without_regard_to_case_and_punctuation():
    source = read("### Gaps\n\n## **Gaps:**\n\nx\n")
    assert source.section("gaps").first == 3
    assert source.section("gaps", level=None).first == 1
    assert source.section("gap") is None
    assert source.lines_of(source.section("gaps")) == [(4, ""), (5, "x")]


@pytest.mark.parametrize(
    "text", ["- item\n---\n", "| a |\n---\n", "> quote\n---\n", "\n---\n", "***\n---\n", "# A\n---\n", "<b>\n---\n"]
)
def test_a_rule_across_the_page_makes_no_heading(text):
    assert [part for part in read(text).sections if part.level == 2] == []


def test_headings_within_elements_of_a_plan_are_not_its_own():
    source = read(
        "<objective>\n# no\n</objective>\n<tasks>\n## Yes\n<task>\n<action>\n## no\n</action>\n</task>\n</tasks>\n"
        "## End\n"
    )
    assert [part.title for part in source.sections] == ["Yes", "End"]


def test_tables_are_found_with_their_lines():
    source = read(
        "## A\n\n| X | **Y** |\n|:--|--:|\n| 1 | `a|b` |\n| 2 |\n\nnot | a table\n\nT | U\n--|--\n3 | 4 \\| 5\n"
    )
    first, second = source.tables()
    assert (first.line, first.header, first.column("y"), first.column("z")) == (3, ("X", "**Y**"), 1, None)
    assert [(row.line, row.cells) for row in first.rows] == [(5, ("1", "`a|b`")), (6, ("2",))]
    assert list(rows_of(first, "Y", ("#", "x"), "Z")) == [("`a|b`", "1", "", 5), ("", "2", "", 6)]
    assert [(row.line, row.cells) for row in second.rows] == [(12, ("3", "4 | 5"))]
    assert source.tables(source.section("A")) == (first, second)


def test_bullets_are_found_with_depth_boxes_and_their_further_lines():
    text = "## A\n- one\n  goes on\nlazily\n\n  and on\n  - [x] two\n  - [ ] three\n1. four\n\nprose\n- - -\n* five\n"
    found = [(b.line, b.depth, b.text, b.checked) for b in read(text).bullets()]
    assert found == [
        (2, 0, "one goes on lazily and on", None),
        (7, 1, "two", True),
        (8, 1, "three", False),
        (9, 0, "four", None),
        (13, 0, "five", None),
    ]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("| a | b |", ("a", "b")),
        ("a|b", ("a", "b")),
        ("| a ||", ("a", "")),
        ("| a | | b |", ("a", "", "b")),
        ("| `a ``b|c` |", ("`a ``b|c`",)),
        ("| ` | b |", ("`", "b")),
        ("", ()),
    ],
)
def test_cells_are_divided_outside_of_code(line, found):
    assert cells(line) == found


@pytest.mark.parametrize(("text", "end"), [("a\nb\n", "\n"), ("a\r\nb\n\r\n", "\r\n"), ("a\rb\r", "\r"), ("a", "\n")])
def test_the_line_end_is_the_one_that_most_lines_have(text, end):
    assert read(text).line_end == end


def test_a_byte_order_mark_is_no_part_of_the_first_line():
    source = read("\ufeff---\nwave: 1\n---\n")
    assert source.front.values == {"wave": 1}
    assert source.text.startswith("\ufeff")


@given(TEXTS)
def test_whatever_the_text_lines_are_its_own(text):
    source = read(text)
    count = len(source.lines)
    assert len(source.prose) == source.n_read == count
    assert source.text == text
    assert all(1 <= part.first <= part.head <= part.last <= count for part in source.sections)
    assert [part.first for part in source.sections] == sorted({part.first for part in source.sections})
    assert all(1 <= bullet.line <= count and bullet.depth >= 0 for bullet in source.bullets())
    for table in source.tables():
        assert [row.line for row in table.rows] == list(range(table.line + 2, table.line + 2 + len(table.rows)))
    assert all(len(source.lines_of(part)) == part.last - part.head for part in source.sections)


def test_the_underline_of_a_heading_is_no_line_under_it():
    source = read("Two\nlines\n---\n\ntext\n")
    assert (source.sections[0].first, source.sections[0].head) == (1, 3)
    assert source.lines_of(source.sections[0]) == [(4, ""), (5, "text")]
