"""Whatever the text: it parses, in reasonable time, into values that fit it."""

from __future__ import annotations

import time
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.longer import LONG
from verifyplan.plans import markdown, references
from verifyplan.plans import plan as module
from verifyplan.plans.assessment import assess
from verifyplan.plans.plan import parse_plan

PIECES = [
    "# ", "## Step 1: ", "- ", "- [ ] ", "1. ", "> ", "```", "~~~", "```sh\n", "```markdown\n", "\n", "\n\n", "    ",
    "\t",
    "`", "``", "**", "|", "|---|", "[a](", ")", "]: ", "<task>", "</task>", "<name>", "</name>", "<files>", "</files>",
    "<verify>", "<objective>", "<!--", "-->", "---\n", "files_modified: [a.py]\n", "a: b\n", "`a.py`", "src/b.py",
    "foo()",
    "Create ", "Remove ", "must ", "because ", "we use ", "Decision: ", "Goal: ", "TBD ", "Stripe ", "npm install x",
    "$ ", "\\", '"', "'", "\r\n", "\r", "\0", "\u2028", "\ufeff", "é", "\ud800", ":12", "*", "{a,b}",
]  # fmt: skip
TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=60).map("".join))


@given(TEXTS)
def test_any_text_is_a_plan_whose_lines_are_its_own(text):
    plan = parse_plan(text)
    count = len(plan.lines)
    spans = [(found.first, found.last) for found in (*plan.sections, *plan.steps, *plan.blocks)]
    assert all(1 <= first <= last <= count for first, last in spans)
    numbers = [*plan.constraints, *plan.decisions, *(found.line for found in plan.references)]
    assert all(1 <= number <= count for number in numbers)
    covered = [line for section in plan.sections for line in range(section.first, section.last + 1)]
    assert covered == list(range(1, count + 1))
    assert all(found.name and found.quoted == plan.line(found.line).strip()[:200] for found in plan.references)
    assert [step.number for step in plan.steps] == list(range(1, len(plan.steps) + 1))


@given(TEXTS)
def test_a_text_is_always_the_same_plan(text):
    assert repr(asdict(parse_plan(text))) == repr(asdict(parse_plan(text)))
    assert assess(parse_plan(text)) == assess(parse_plan(text))


@given(TEXTS)
def test_the_signs_of_any_text_are_counts_of_what_was_found(text):
    plan = parse_plan(text)
    found = assess(plan)
    assert found.signs.steps == len(plan.actions)
    assert all(1 <= word.line <= len(plan.lines) for entries in found.found.values() for word in entries)
    assert found.signs.integrations == len(found.integrations)


@given(TEXTS)
def test_read_line_by_line_any_text_fits_its_lines_too(text):
    lines = text.replace("\r", "\n").split("\n")
    found = markdown.by_line(lines, "note")
    assert all(1 <= part.first <= part.last <= len(lines) for part in (*found.texts, *found.items))
    assert found.notes == ["note"]


def test_very_many_lines_are_read_line_by_line(monkeypatch):
    monkeypatch.setattr(markdown, "_MAX_PARSED_LINES", 5)
    plan = parse_plan("# A\n\n- [x] edit `a.py`\n  1. b\n## Step 2\n2. Create `b.py`\n")
    assert plan.notes == ("the plan has more than 5 lines and is read line by line",)
    assert [(s.title, s.first, s.last) for s in plan.sections] == [("A", 1, 4), ("Step 2", 5, 6)]
    assert [(s.first, s.done) for s in plan.steps] == [(3, True), (5, None), (6, None)]
    assert [(r.name, r.intent, r.line) for r in plan.references] == [("a.py", "change", 3), ("b.py", "create", 6)]


def test_what_is_far_too_long_is_not_read(monkeypatch):
    monkeypatch.setattr(module, "MAX_PLAN_LINES", 3)
    plan = parse_plan("`a.py`\n\n# B\n`c.py`\n# D\n")
    assert plan.notes == ("line 4: from here on the plan is not read; it is too long",)
    assert [(s.title, s.first, s.last) for s in plan.sections] == [("", 1, 2), ("B", 3, 5)]
    assert [r.name for r in plan.references] == ["a.py"]


@pytest.mark.parametrize("text", ["`a.py` `b.py`\n`c.py`\n`d.py`\n", "```sh\nmake a\nmake b\nmake c\nmake d\n```\n"])
def test_very_many_references_are_not_all_read(monkeypatch, text):
    monkeypatch.setattr(references, "MAX_REFERENCES", 3)
    plan = parse_plan(text)
    assert len(plan.references) == 3
    assert plan.notes == ("the plan names more than 3 things; the rest is not read",)


def test_what_is_nested_too_deeply_is_noted():
    plan = parse_plan("> " * 50 + "`a.py`\n\n`b.py`\n")
    assert plan.notes == ("line 1: nested deeper than 20 lists and quotations; not read",)
    assert [r.name for r in plan.references] == ["b.py"]


SHARE, LIMIT_S = (1, 30) if LONG else (3, 5)
"""Where not everything is tried, texts are a third as long: those that take minutes by the square then take a ninth."""
HOSTILE = {
    "quotations": ">" * (200_000 // SHARE),
    "lists in lists": "- " * (100_000 // SHARE),
    "deeper lists": "\n".join(" " * (2 * n) + "- a" for n in range(600)),
    "many items": "- a\n" * max(31_000, 50_000 // SHARE),
    "lazy lines": "> " * (100 // SHARE) + "a\n" * (29_000 // SHARE),
    "backticks of all lengths": " ".join("`" * n for n in range(600)),
    "open backticks": "`a``b " * (30_000 // SHARE),
    "asterisks": "**a *" * (40_000 // SHARE),
    "brackets": "[" * (200_000 // SHARE),
    "links": "[a](" * (50_000 // SHARE),
    "tags": "<task>" * (30_000 // SHARE),
    "closing tags": "<task>\n" + "</x>" * (50_000 // SHARE),
    "comments": "<!--" * (50_000 // SHARE) + "\n-->",
    "fences": "```markdown\n" * (15_000 // SHARE),
    "quotes in a shell": "```sh\n" + "'" * (100_000 // SHARE) + '\necho "\n' * (5_000 // SHARE),
    "a wide table": "|" * (50_000 // SHARE) + "\n" + "|-" * (50_000 // SHARE) + "\n" + "|a" * (50_000 // SHARE),
    "files": "`a/b.py` " * (20_000 // SHARE),
    "dashes": "`a.py` - " * (20_000 // SHARE),
    "parentheses": "`a.py` (" * (20_000 // SHARE),
    "one word": "a" * (300_000 // SHARE),
    "dots": "a." * (150_000 // SHARE),
    "spaces": " " * (300_000 // SHARE) + "a",
    "sentences": "Use a because b. " * (15_000 // SHARE),
    "headings": "## Step 1: x\n" * (20_000 // SHARE),
    "bold labels": "**Step 1: x**\n\n" * (14_000 // SHARE),
    "tasks": "<task>\n<name>Create a</name>\n<files>a.py</files>\n</task>\n" * (7_000 // SHARE),
    "yaml": "---\na: " + "{a: " * (20_000 // SHARE) + "\n---\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_parse_in_reasonable_time(name):
    """Each takes some seconds at most, or a third; what grew with the square of the length would take minutes."""
    began = time.process_time()
    assess(parse_plan(HOSTILE[name]))
    assert time.process_time() - began < LIMIT_S
