"""Constraints, and decisions that state their reason."""

from __future__ import annotations

import pytest

from verifyplan.plans.plan import parse_plan


@pytest.mark.parametrize(
    "line",
    ["It must be fast.", "- Do not touch CI.", "- Never log secrets.", "At most 5 MB.", "It stays backward-compatible.",
     "**Constraints:** small", "Tests may not be slow.", "1. Don't skip tests"],
)  # fmt: skip
def test_sentences_that_bind(line):
    assert parse_plan(f"# T\n\n{line}\n").constraints == (3,)


@pytest.mark.parametrize(
    "line", ["It is fast.", "A mustang.", "`must`", "```\nmust\n```", "# It must", "| a |\n|---|\n| Cannot see |"]
)
def test_sentences_that_do_not_bind(line):
    assert parse_plan(line).constraints == ()


def test_the_line_is_that_of_the_word():
    assert parse_plan("It is fast,\nand it\nmust stay so.\n").constraints == (3,)


@pytest.mark.parametrize("title", ["Constraints", "Non-Goals", "Out of scope", "2. Requirements"])
def test_items_of_a_section_of_constraints(title):
    assert parse_plan(f"## {title}\n\nfor all:\n\n- small\n- fast\n\n## Other\n- x\n").constraints == (5, 6)


def test_items_under_a_label():
    assert parse_plan("**Key constraints:**\n\n- small\n").constraints == (1, 3)


@pytest.mark.parametrize(
    "text",
    ["We use SQLite because it is small.", "Keep the flag so that old runs work.", "Use a lock to avoid races.",
     "**Decision:** SQLite. Reason: small.", "Decision: SQLite\n\nRationale: small",
     "- Decision: JSON\n  - Why: simple",
     "Since it is small, we keep it.", "## Decision\n\nSQLite.\n\n**Why:** small"],
)  # fmt: skip
def test_decisions_with_a_reason(text):
    assert parse_plan(text).decisions == (1,)


@pytest.mark.parametrize(
    "text",
    ["We use SQLite.", "Decision: SQLite", "It fails because of X.", "We use SQLite since 2024.", "Because.",
     "Decision: a\n\n# Next\n\nReason: b", "We use SQLite. It broke because of X."],
)  # fmt: skip
def test_what_is_no_decision_with_a_reason(text):
    assert parse_plan(text).decisions == ()


def test_the_line_is_that_on_which_the_sentence_begins():
    assert parse_plan("It is so.\nWe use a lock\nbecause of races.\n").decisions == (2,)
