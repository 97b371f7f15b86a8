"""rule A8, second version: what is trivial is decided by what a plan says, and nothing dangerous is."""

from __future__ import annotations

import pytest

from verifyplan.plans.assessment import assess
from verifyplan.plans.commands import writes
from verifyplan.plans.plan import parse_plan
from verifyplan.plans.statements import is_instruction
from verifyplan.plans.word_lists import table


def trivial(text: str) -> bool:
    return assess(parse_plan(text)).trivial


@pytest.mark.parametrize(
    "text",
    [
        "# Fix a typo\n\nCorrect the spelling in `README.md`.",
        "# Fix a typo\n\n- Correct the spelling in\n  `README.md`\n- Run `pytest -q`\n",
        "Correct the\nspelling\nin\nthe\nread\nme.\n",
        "# A heading alone\n",
        "",
    ],
)
def test_a_plan_of_few_harmless_words_is_trivial(text):
    assert trivial(text)


@pytest.mark.parametrize(
    "text",
    [
        "Delete the production database, then run `rm -rf /srv`.",
        "Delete the production database, then run `rm -rf`",
        "Run it:\n\n```sh\nrm -rf build\n```\n",
        "Run it:\n\n```\ngit push origin main\n```\n",
        "Call `deleteUser()` once.",
        "Run `drop_all.sql`.",
        "Rotate the DB_PASSWORD.",
        "# Drop the users table\n\nRun the usual script.\n",
        "Run `psql -f fix.sql`.",
        "Print it: `echo done > state.txt`.",
        "Correct it for HIPAA.",
        "Correct it in Stripe.",
        "Correct it, probably in `README.md`.",
    ],
)
def test_what_can_do_harm_is_not_trivial_however_short(text):
    assert not trivial(text)


@pytest.mark.parametrize(
    "text",
    [
        "1. The parser\n2. The lexer\n3. The shell\n",
        "- The parser\n- The lexer\n- The shell\n",
        "- [ ] Parser\n- [ ] Lexer\n- [ ] Shell\n",
        "Rename the parser. Move the lexer. Then test the shell.\n",
        "Rename the parser, then move the lexer, and then test the shell.\n",
        "We will rename the parser. The lexer should be moved. You must test the shell.\n",
        "| do | why |\n| - | - |\n| Rename the parser | a |\n| Move the lexer | b |\n| Test the shell | c |\n",
        "- Rename the parser\n  1. Move the lexer\n     * Test the shell\n",
    ],
)
def test_three_actions_in_any_form_are_not_trivial(text):
    assert not trivial(text)


@pytest.mark.parametrize("word", table("signals")["destruction"])
def test_every_word_for_destruction_keeps_a_plan_from_being_trivial(word):
    plan = parse_plan(f"Then look at the {word.title()} there.")
    found = assess(plan)
    assert not found.trivial
    assert [match.word for match in found.found["destruction"]] == [word]


def test_every_listed_reading_command_reads_and_no_other_does():
    assert not [command for command in table("commands")["reading"] if writes(f"{command} a.py 2>&1 | head")]
    for command in (
        "make",
        "make deploy",
        "git push",
        "terraform apply",
        "./run.sh",
        "cat a; rm b",
        "cat $(b)",
        "ls\nrm b",
    ):
        assert writes(command), command


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("**Step 2:** rename it", True),
        ("1.2 Rename it", True),
        ("First, please rename it", True),
        ("In `a.py`, rename it", True),
        ("It is to be renamed", True),
        ("Do the renaming", True),
        ("Don't rename it", False),
        ("Do not rename it", False),
        ("The rename is done", False),
        ("Slow tests are red", False),
        ("", False),
    ],
)
def test_what_orders_something(sentence, expected):
    assert is_instruction(sentence) is expected
