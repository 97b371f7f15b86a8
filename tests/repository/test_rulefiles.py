"""Rules files: what is asked for and what is forbidden, and of what they speak."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from repository.small_repositories import walked

from verifyplan.agents.repository.rulefiles import is_rules_file, rules_in

TEXT = """\
---
title: rules
---
# Rules

Always run `make test` before a commit. This is a note.
We like tea.

- Never commit secrets to the repository.
- Don\u2019t use `print`; use the logger.
* Use `ruff`, not `black`, for formatting.
1. Prefer composition over inheritance when you can.
- [ ] Public functions **must** have
  a docstring, and tests must
  not sleep.

```sh
# never read this
```

| never | a table |

## Never

- Global state
- Raw SQL outside of `db/queries.py`

## Always

- Type hints
"""


def rule(text):
    found = rules_in("AGENTS.md", text)
    assert len(found) == 1, found
    return found[0]


def test_rules_have_line_polarity_and_subjects():
    found = [(one.line, one.polarity, one.subjects[:2]) for one in rules_in("CLAUDE.md", TEXT)]
    assert found == [
        (6, "must", ("make test", "run")),
        (9, "must-not", ("commit", "secrets")),
        (10, "must-not", ("print",)),
        (10, "must", ("logger",)),
        (11, "must", ("ruff",)),
        (11, "must-not", ("black",)),
        (12, "must", ("composition",)),
        (12, "must-not", ("inheritance",)),
        (13, "must-not", ("public", "functions")),
        (25, "must-not", ("global", "state")),
        (26, "must-not", ("db/queries.py", "SQL")),
        (30, "must", ("type", "hints")),
    ]


@pytest.mark.parametrize(
    ("text", "polarity"),
    [
        ("You must not log tokens.", "must-not"),
        ("Tokens may not be logged.", "must-not"),
        ("No wildcard imports.", "must-not"),
        ("Avoid mutable defaults.", "must-not"),
        ("Force pushes are forbidden.", "must-not"),
        ("_Never_ call the network in tests.", "must-not"),
        ("Migrations are required for each model change.", "must"),
        ("Only the api module talks to Redis.", "must"),
        ("Use four spaces.", "must"),
        ("Ensure that caches are cleared.", "must"),
        ("Where data cannot be brought back, `backup.sh` is required.", "must"),
        ("All calls go through `client.py`.", "must"),
        ("The page calls our API and nothing else.", "must"),
        ("Nothing in `core` imports `httpx`.", "must-not"),
        ("If it must be fast, never block.", "must-not"),
        ("Call `only()` or `never()`, it must return.", "must"),
    ],
)
def test_the_words_of_a_rule_tell_what_it_asks(text, polarity):
    assert rule(text).polarity == polarity


@pytest.mark.parametrize(
    "text",
    [
        "Where you cannot go back, a copy is made.",
        "The cache is a dictionary.",
        "See the muster roll.",
        "`must()` returns 3.",
        "",
        "\n\n",
    ],
)
def test_other_sentences_are_no_rules(text):
    assert rules_in("CLAUDE.md", text) == []


def test_a_label_is_no_part_of_its_rule():
    assert rule("- D1. Never edit a migration.").text == "Never edit a migration."
    assert rule("## Never\n\n2. D1. Global state.").text == "Global state."


def test_what_to_use_instead_is_a_rule_of_its_own():
    found = [(one.polarity, one.subjects) for one in rules_in("A", "Tests never sleep: use the `clock` fixture.")]
    assert found == [("must-not", ("tests", "sleep")), ("must", ("clock", "fixture"))]


def test_subjects_are_names_first():
    assert rule("Never import pandas or PostgreSQL drivers in `core/api.py`.").subjects == (
        "core/api.py",
        "PostgreSQL",
        "import",
        "pandas",
        "drivers",
    )
    assert len(rule("Never " + " ".join(f"word{n}x" for n in range(50))).subjects) == 8


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("CLAUDE.md", True),
        ("deep/in/AGENTS.md", True),
        ("Contributing.md", True),
        (".cursorrules", True),
        (".cursor/rules/a/b.mdc", True),
        (".github/copilot-instructions.md", True),
        (".github/instructions/py.instructions.md", True),
        ("README.md", False),
        ("my-claude.md", False),
    ],
)
def test_rules_files_are_known_by_name(path, expected):
    assert is_rules_file(path) is expected


def test_rules_of_all_folders_stand_in_path_order_and_links_count_once(tmp_path):
    root = tmp_path / "r"
    root.mkdir()
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    repository = walked(root, {"sub/CLAUDE.md": "Always b.", "AGENTS.md": "Never a.\n", "README.md": "Never c."})
    assert [(one.path, one.text) for one in repository.rules()] == [
        ("AGENTS.md", "Never a."),
        ("sub/CLAUDE.md", "Always b."),
    ]


@pytest.mark.parametrize(
    "piece", ["use a not ", "never. ", "`", "- ", "(\n", "*_", ";", "```\n", "# ", "Use `a` over "]
)
def test_long_texts_are_read_in_no_time(piece):
    rules_in("CLAUDE.md", piece * (1_000_000 // len(piece)))


@given(
    st.text()
    | st.lists(st.sampled_from(["never ", "use ", "`", "x", " not ", ".", "\n", "- ", "A", "#", "```"])).map("".join)
)
def test_any_text_is_read(text):
    lines = text.split("\n")
    for one in rules_in("CLAUDE.md", text):
        assert 1 <= one.line <= len(lines)
        assert one.text
        assert one.polarity in ("must", "must-not")
