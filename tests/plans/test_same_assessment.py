"""rule A8: wrapped lines, other marks of lists, empty sections and other headings change no assessment."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.longer import part
from verifyplan.plans.assessment import assess
from verifyplan.plans.plan import parse_plan
from verifyplan.rules.sizing import complexity, team

PROJECT = Path(__file__).parents[2]
BUNDLED = sorted((PROJECT / "data" / "plans" / "plans").glob("*.md"))
SHARED = sorted((PROJECT.parent / "shared" / "data" / "plans").rglob("*.md"))

SENTENCES = [
    "Goal: orders are read from the new store.",
    "The store is slow because every query scans it.",
    "We use `httpx` because it is small.",
    "Create `src/store.py` with a REST endpoint.",
    "Rename `total` in `src/shop.py`, then run `pytest -q`.",
    "Call Stripe from `charge()`; the API key is TBD.",
    "Delete the old webhook and its two endpoints.",
    "It must not break the audit trail.",
    "Perhaps the schema changes, we are not sure.",
    "Decision: keep Postgres. Reason: it is there.",
    "Prices are rounded half up",
]
TITLES = ["Goal", "Steps", "Constraints", "Background", "Open questions", "Plan", "Decisions", "Notes", "Summary"]
NEUTRAL = ["Part", "Some words", "More of it", "Here"]
BLOCKS = st.one_of(
    st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=3).map(" ".join),
    st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4).map(lambda items: "\n".join(f"- {i}" for i in items)),
    st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4).map(lambda items: "\n".join(f"1. {i}" for i in items)),
    st.sampled_from(TITLES).map(lambda title: f"## {title}"),
    st.just("```sh\npytest -q\n```"),
)
PLANS = st.lists(BLOCKS, max_size=9).map(lambda blocks: "\n\n".join(["# Move the orders", *blocks]) + "\n")


@lru_cache(maxsize=4)  # a text is compared with each way to write it
def assessed(text: str) -> dict[str, Any]:
    """All that an assessment says, but for the lines on which its words stand and words in headings."""
    found = assess(parse_plan(text))
    return {
        "signs": found.signs,
        "traits": found.traits._replace(destructive=min(found.traits.destructive, 1)),
        "quality": found.quality,
        "trivial": found.trivial,
        "team": team(found.signs, found.quality, trivial=found.trivial),
        "complexity": complexity(found.signs),
        "domains": found.domains,
        "words": {group: [one.word for one in words] for group, words in found.found.items() if group != "destruction"},
    }


@lru_cache(maxsize=4)
def outside_code(text: str) -> list[tuple[str, bool]]:
    """The lines of a text, and whether each is plain prose: no code, no table, no tag, no frontmatter."""
    plan = parse_plan(text)
    code = {number for block in plan.blocks for number in range(block.first, block.last + 1)}
    return [
        (line, not (number in code or number < plan.body or _is_marked(line)))
        for number, line in enumerate(text.split("\n"), 1)
    ]


def _is_marked(line: str) -> bool:
    return line.lstrip().startswith(("|", "<", ">", "```", "~~~")) or line.count("`") % 2 == 1


def wrapped(text: str, width: int) -> str:
    """The text with its long lines broken at spaces, outside code and headings; no mark of a list begins a line."""
    lines = outside_code(text)
    return "\n".join(_broken(line, width) if plain and not line.startswith("#") else line for line, plain in lines)


def _broken(line: str, width: int) -> str:
    mark = re.match(r"\s*(?:[-*+]\s+(?:\[.\]\s+)?|\d+[.)]\s+)?", line)
    head = mark[0] if mark else ""
    pieces, at = [head], 0
    for word in re.findall(r"\s*(?:`[^`]*`|[^\s`])+\s*$|\s*(?:`[^`]*`|[^\s`])+", line[len(head) :]):
        if at >= width and re.match(r"\s+[A-Za-z`]", word):
            pieces, at = [*pieces, " " * (len(head) - len(head.lstrip()) + 2 * bool(head.strip())) + word.lstrip()], 0
        else:
            pieces[-1] += word
        at += len(word)
    return "\n".join(pieces)


def numbered(text: str) -> str:
    """The text with every bullet of its lists a number."""
    lines = [re.sub(r"^- (?!\[)", "1. ", line) if plain else line for line, plain in outside_code(text)]
    return "\n".join(lines)


def bulleted(text: str) -> str:
    """The text with every number of its lists a bullet."""
    return "\n".join(re.sub(r"^\d+\. ", "-  ", line) if plain else line for line, plain in outside_code(text))


def renamed(text: str, title: str) -> str:
    """The text with other words in its headings."""
    return "\n".join(
        re.sub(r"^(#{1,6}) .*", rf"\1 {title}", line) if plain else line for line, plain in outside_code(text)
    )


CHANGES = {
    "wrapped": lambda text: wrapped(text, 20),
    "wrapped closely": lambda text: wrapped(text, 1),
    "numbered": numbered,
    "bulleted": bulleted,
    "an empty section": lambda text: f"{text.rstrip()}\n\n## Notes\n",
    "an empty section in front": lambda text: text if text.startswith("---") else f"## Open questions\n\n{text}",
}


@given(PLANS, st.sampled_from(sorted(CHANGES)))
def test_how_a_plan_is_written_down_changes_no_assessment(text, change):
    assert assessed(CHANGES[change](text)) == assessed(text)


def test_inline_code_that_is_wrapped_is_the_same_code():
    text = "Look first, then run `npm run deploy` and `psql -f fix.sql`.\n"
    for broken in (text.replace("npm run", "npm\nrun"), text.replace("-f fix", "-f\nfix")):
        assert assessed(broken) == assessed(text)


@given(PLANS, st.sampled_from(NEUTRAL))
def test_other_headings_change_no_assessment(text, title):
    assert assessed(renamed(text, title)) == assessed(text)


@given(PLANS)
def test_headings_alone_make_no_plan_thin_or_rich(text):
    assert assessed(re.sub(r"(?m)^#.*\n", "", text))["quality"] == assessed(text)["quality"]


@pytest.mark.parametrize(
    ("path", "change"),
    part([(path, change) for path in BUNDLED for change in sorted(CHANGES)], 4),
    ids=lambda value: getattr(value, "stem", value),
)
def test_how_a_plan_of_the_project_is_written_down_changes_no_assessment(path, change):
    text = path.read_text("utf-8")
    assert assessed(CHANGES[change](text)) == assessed(text)


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.stem)
def test_other_headings_in_a_plan_of_the_project_change_no_assessment(path):
    text = path.read_text("utf-8")
    assert assessed(renamed(text, "Part")) == assessed(text)


@pytest.mark.parametrize("path", SHARED or [None], ids=lambda path: path.stem if path else "none")
def test_how_a_plan_of_other_projects_is_written_down_changes_no_assessment(path):
    if path is None:
        pytest.skip("the folder ../shared/data/plans with other projects' plans is not beside this checkout")
    text = path.read_text("utf-8")
    for name, change in {**CHANGES, "renamed": lambda text: renamed(text, "Part")}.items():
        assert assessed(change(text)) == assessed(text), name
