"""Where lines break, how bullets are marked and what headings say changes nothing that a static run finds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.longer import examples
from verifyplan.agents.static import StaticBackend
from verifyplan.datasets.plans import labelled_plans

REPOSITORY = Path(__file__).resolve().parents[4] / "data" / "plans" / "repository"
BREAKABLE = re.compile(r" (?=[A-Za-z(`\"'])")
STEPS = [
    "Change `shop/stock.py` and say so in the log of the day.",
    "Run `make e2e` and look at what it writes.",
    "Rename `find_order` to `order_of`, and test it.",
    "Add `arrow` to the job that counts the orders of the week.",
    "Call `find_user` of `shop/orders.py` for each of the orders.",
    "In `shop/stock.py`, replace three by four, as the shop asks.",
    "Change `shop/orders.py`, which is there, and nothing else.",
    "A field `price: float` holds what the gift costs.",
]
GENERATED = st.lists(st.sampled_from(STEPS), min_size=2, max_size=6, unique=True).map(
    lambda steps: "# Gifts\n\n## Goal\n\nClerks see gifts.\n\n## Work\n\n" + "".join(f"- {step}\n" for step in steps)
)
PROJECT = st.sampled_from([plan.path for plan in labelled_plans() if plan.defects]).map(lambda path: path.read_text())


def prose(text, change):
    """A text with each line changed that is no code, table, tag or frontmatter."""
    kept, fenced = [], text.startswith("---\n")
    for at, line in enumerate(text.split("\n")):
        fence = line.lstrip().startswith("```") or (line == "---" and at and fenced)
        fenced = fenced != fence
        kept.append(line if fenced or fence or line.lstrip().startswith(("|", "<", ">")) else change(line))
    return "\n".join(kept)


def wrapped(text, every):
    """The text with a line break at each nth space outside of backticks."""

    def wrap(line):
        if line.startswith(("#", " ")) or not line.strip():
            return line
        places = [found.start() for found in BREAKABLE.finditer(line) if line[: found.start()].count("`") % 2 == 0]
        body = re.match(r"(?:[-*] (?:\[.\] )?|\d+\. )?", line)
        indent = " " * len(body[0])
        for place in reversed([one for one in places if one > len(body[0])][every - 1 :: every]):
            line = f"{line[:place]}\n{indent}{line[place + 1 :]}"
        return line

    return prose(text, wrap)


def numbered(text):
    return prose(text, lambda line: re.sub(r"^- (?!\[)", "1. ", line))


def renamed(text):
    return prose(text, lambda line: re.sub(r"^(#+) [^`]+$", r"\1 Kestrel", line))


def with_empty_section(text):
    return f"{text.rstrip()}\n\n## Later\n"


CHANGES = st.one_of(
    st.integers(1, 9).map(lambda every: lambda text: wrapped(text, every)),
    st.sampled_from([numbered, renamed, with_empty_section]),
)


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=PROJECT | GENERATED, change=CHANGES)
def test_the_challenges_are_the_same(ask, waybill, text, change):
    of = None if text.startswith("# Gifts") else waybill
    assert said(ask, change(text), of) == said(ask, text, of)


@settings(max_examples=examples(8), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=GENERATED, change=CHANGES)
def test_the_verdict_of_a_run_is_the_same(shop, text, change):
    verdicts = [
        vp.verify(vp.plans.parse_plan(one, "plan.md"), shop, team="base", log_dir=None).verdict
        for one in (text, change(text))
    ]
    assert verdicts[0] == verdicts[1]


@pytest.fixture(scope="module")
def waybill():
    return StaticBackend(REPOSITORY)


def said(ask, text, of):
    return sorted((one.severity, one.claim) for one in ask("challenger", text, of=of, may_raise=20).challenges)


def test_the_changes_change_the_text():
    text = "# A\n\n- Change `a b.py` and the rest\n"
    assert wrapped(text, 1) == "# A\n\n- Change\n  `a b.py`\n  and\n  the\n  rest\n"
    assert numbered(text).endswith("1. Change `a b.py` and the rest\n")
    assert renamed(text).startswith("# Kestrel\n")
