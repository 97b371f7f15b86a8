"""What a plan says it does with a name, by the words that govern it."""

from __future__ import annotations

import pytest

from verifyplan.plans.plan import parse_plan


def intents(text):
    return {r.name: r.intent for r in parse_plan(text).references}


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("- Create: `a.py`", "create"), ("- Modify: `a.py:3-9`", "change"), ("- Delete: `a.py`", "delete"),
        ("- Test: `a.py`", "create"), ("- Reference: `a.py` (lines 3-9)", "use"), ("- **Update:** `a.py`", "change"),
        ("Create `a.py` with a parser.", "create"), ("Add a new file `a.py`.", "create"),
        ("New file: `a.py`", "create"),
        ("Write a module at `a.py`.", "create"), ("Add a file called `a.py`.", "create"),
        ("Add a check to `a.py`.", "change"), ("Create a class in `a.py`.", "change"), ("Edit `a.py`.", "change"),
        ("Remove the check from `a.py`.", "change"), ("Remove `a.py`.", "delete"), ("Move `a.py`.", "move"),
        ("Extend the parser in `a.py`.", "change"), ("In `a.py`, add a check.", "change"), ("See `a.py`.", "use"),
        ("In `a.py` there is a check.", "use"), ("It is like `a.py`.", "use"),
        ("Create it by hand, as `a.py` shows", "use"),
        ("Do not create `a.py`.", "use"), ("Don't modify `a.py`.", "use"), ("No changes to `a.py`.", "use"),
        ("`a.py` (new)", "create"), ("`a.py` (new file)", "create"), ("Update `b.py` and `a.py` (new)", "create"),
        ("Modify: `a.py` (add import at top)", "change"), ("`a.py` is removed.", "delete"),
        ("`a.py` will be updated", "change"),
        ("`a.py` created with all functions", "create"), ("`a.py` - Delete 7 tests", "change"),
        ("`a.py` - delete", "delete"),
        ("`a.py`: new helper", "create"), ("`a.py` — extracts the version", "use"), ("Fixed. See `a.py`", "use"),
        ("Create it. `a.py` stays.", "use"), ("Add tests for `a.py`.", "use"), ("`a.py`", "use"),
        ("After that moved here, the file `a.py` is idle", "use"),
    ],
)  # fmt: skip
def test_the_intent_of_a_file(text, intent):
    assert intents(text)["a.py"] == intent


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Move `a.py` to `b.py`.", {"a.py": "move", "b.py": "create"}),
        ("Rename `a.py` to `b.py`.", {"a.py": "move", "b.py": "create"}),
        ("Copy `a.py` to `b.py`.", {"a.py": "use", "b.py": "create"}),
        ("Create `a.py`, `b.py` and update `c.py`.", {"a.py": "create", "b.py": "create", "c.py": "change"}),
        ("Files created: `a.py`, `b.py`", {"a.py": "create", "b.py": "create"}),
        ("Updated src/a.py, src/b.py", {"src/a.py": "change", "src/b.py": "change"}),
        ("Create `a.py` like `b.py`.", {"a.py": "create", "b.py": "use"}),
    ],
)
def test_the_intents_of_several_files_in_a_sentence(text, expected):
    assert intents(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Add a function `parse_x`.", {"parse_x": "create"}),
        ("Introduce the class `Parser()`.", {"Parser": "create"}),
        ("Add `go()` to `Runner.start()`.", {"go": "create", "Runner.start": "change"}),
        ("Update `go()` to use `stop()`.", {"go": "change", "stop": "use"}),
        ("Remove `go()` from `Runner()`.", {"go": "delete", "Runner": "change"}),
        ("Remove the `go()` call.", {"go": "use"}),
        ("Add an import for `go()`.", {"go": "use"}),
        ("Add tests for `go()`.", {"go": "use"}),
        ("Replace `old_x()` with `new_x()`.", {"old_x": "change", "new_x": "use"}),
        ("Replace it with a validator named `new_x`.", {"new_x": "create"}),
        ("Rename to `new_x`.", {"new_x": "create"}),
        ("Create `a.py` with a `TestX1Y` class.", {"a.py": "create", "TestX1Y": "create"}),
        ("Call `go()`.", {"go": "use"}),
    ],
)
def test_the_intent_of_symbols(text, expected):
    assert intents(text) == expected


@pytest.mark.parametrize(
    ("label", "intent"),
    [
        ("**Create:**", "create"), ("Files to create:", "create"), ("Modify the following files:", "change"),
        ("Remove:", "delete"), ("These files are read:", "use"), ("Create and update:", "use"),
        ("We create very many things, and here is a long list of all of them:", "use"), ("Update `x` so:", "use"),
    ],
)  # fmt: skip
def test_a_label_governs_the_list_below_it(label, intent):
    assert intents(f"{label}\n\n- `a.py`\n- `b.py` for x\n") == {"a.py": intent, "b.py": intent}
    assert intents(f"1. {label}\n   - `a.py`\n")["a.py"] == intent


@pytest.mark.parametrize(
    ("heading", "intent"),
    [("New files", "create"), ("Files modified", "change"), ("Create", "create"), ("Phase 2: Remove old files", "use"),
     ("Adding a parser", "use")],
)  # fmt: skip
def test_a_heading_about_files_governs_what_stands_below_it(heading, intent):
    assert intents(f"## {heading}\n\n- `a.py`\n") == {"a.py": intent}


def test_a_label_governs_only_what_an_item_begins_with():
    assert intents("Create:\n\n- the parser, by `a.py`\n- a. `b.py`\n") == {"a.py": "use", "b.py": "create"}


def test_own_words_beat_the_label():
    assert intents("Create:\n\n- `a.py`\n- update `b.py`\n") == {"a.py": "create", "b.py": "change"}


def test_a_row_says_what_is_done_with_its_files():
    head = "| File | Action |\n|---|---|\n"
    text = head + "| `a.py` | Create |\n| `b.py` | Modify |\n| `c.py` | Implemented |\n| `d.py` | x |\n"
    assert intents(text) == {"a.py": "create", "b.py": "change", "c.py": "use", "d.py": "use"}


def test_each_mention_keeps_its_own_intent():
    plan = parse_plan("Create `./src/a.py`.\n\nThen edit `src/a.py`, see `b.py`.\n")
    assert [(r.name, r.intent) for r in plan.references] == [
        ("./src/a.py", "create"), ("src/a.py", "change"), ("b.py", "use"),
    ]  # fmt: skip
    assert plan.created == {"src/a.py"}
    assert plan.files == {"src/a.py", "b.py"}
    assert [plan.creates(name) for name in ("src/a.py", "./src/a.py", "a.py", "src/", "b.py", "rc/a.py")] == [
        True, True, True, True, False, False,
    ]  # fmt: skip
