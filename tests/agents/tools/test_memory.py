"""Notes of a folder, found by their words: in a fixed order, confined like a repository."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.agents.tools import Memory, memory
from verifyplan.agents.tools.memory import MAX_PASSAGE_CHARACTERS, passages
from verifyplan.errors import InputError

NOTES = {
    "retries.md": "# Retries\n\nCalls to suppliers are tried four times.\n\n## Timeouts\n\n"
    "Seven seconds, set in `client.py`.\n",
    "deep/orders.txt": "Orders are found by their number.\n\nNever by their id.\n",
    "code.py": "orders = 'not a note'\n",
    "secrets.txt": "orders of CANARY\n",
}


@pytest.fixture
def notes(tmp_path, write_files):
    def made(files=NOTES):
        return write_files(tmp_path / "notes", files)

    return made


def test_the_best_passage_comes_first_with_its_place(notes):
    found = Memory.open(notes()).search("how many seconds is the timeouts of clients")
    assert found[0] == ("retries.md", 5, "## Timeouts\n\nSeven seconds, set in `client.py`.")
    assert [note.path for note in Memory.open(notes()).search("ORDERS")] == ["deep/orders.txt"]


def test_ties_come_by_path_and_line(notes):
    files = {f"{name}.md": "# One\nsame words\n# Two\nsame words\n" for name in "cab"}
    found = Memory.open(notes(files)).search("same", limit=4)
    assert [(note.path, note.line) for note in found] == [("a.md", 1), ("a.md", 3), ("b.md", 1), ("b.md", 3)]


@pytest.mark.parametrize("query", ["", "   ", "?!", "nowhere", "\ud800"])
def test_what_finds_nothing_finds_nothing(notes, query):
    assert Memory.open(notes()).search(query) == []
    assert Memory.open(notes()).search("orders", limit=0) == []


@pytest.mark.parametrize("files", [{".keep": ""}, {"a.md": ""}, {"a.md": "---\n\n***\n"}, {"a.py": "orders"}])
def test_a_folder_without_notes_is_a_memory_without_passages(notes, files):
    empty = Memory.open(notes(files))
    assert len(empty) == 0
    assert empty.search("orders") == []


def test_the_tool_says_what_it_found(notes, kit):
    tools = kit(memory=Memory.open(notes()))
    result = tools.run("memory_search", {"query": "orders", "serves": "U2"})
    assert result.text.startswith("1 passage that fit best\ndeep/orders.txt:1\nOrders are found by their number.\n")
    assert (result.use.results, result.use.serves) == (1, "U2")
    assert tools.run("memory_search", {"query": "zebra"}).text == "No note speaks of that."
    nothing = kit(memory=Memory.open(notes({"deep/orders.txt": "", "retries.md": "", "secrets.txt": ""})))
    assert nothing.run("memory_search", {"query": "zebra"}).text == "The memory holds no notes."


def test_secrets_links_and_broken_notes_are_left_out(notes, tmp_path):
    (tmp_path / "outside.md").write_text("orders of CANARY outside\n")
    folder = notes(NOTES | {"bad.md": b"orders \xff\n", "key.md": f"orders sk-ant-api03-{'a1B2' * 8}\n"})
    (folder / "link.md").symlink_to(tmp_path / "outside.md")
    (folder / "again.md").symlink_to("retries.md")
    found = Memory.open(folder)
    assert "CANARY" not in str(found.search("orders CANARY", limit=99))
    assert [note.passage for note in found.search("redacted")] == ["orders [redacted]"]
    assert len(found.search("suppliers", limit=9)) == 1
    assert set(found.skipped) == {"bad.md", "link.md"}


def test_a_memory_has_a_limit_and_says_what_it_leaves_out(notes, monkeypatch):
    monkeypatch.setattr(memory, "MAX_MEMORY_CHARACTERS", 60)
    found = Memory.open(notes({"a.md": "alpha " * 9, "b.md": "beta " * 9, "c.md": "gamma\n"}))
    assert found.search("alpha")
    assert not found.search("beta")
    assert found.skipped == {"b.md": "the notes before it hold 60 characters"}


def test_errors_say_what_to_do(tmp_path, monkeypatch, notes):
    with pytest.raises(InputError, match=r"memory '.*gone': there is no such folder\. Fix: give a folder of \.md"):
        Memory.open(tmp_path / "gone")
    folder = notes()
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(InputError, match=r"needs the package bm25s\. Fix: pip install 'verifyplan\[memory\]'"):
        Memory.open(folder)


LINES = st.lists(st.sampled_from(["", " ", "# One", "## Two", "words and words", "x" * 700, "```"]), max_size=30)


@given(LINES)
def test_passages_hold_every_line_once_at_its_number(lines):
    text = "\n".join(lines)
    found = list(passages("a.md", text))
    told = {note.line + n: line for note in found for n, line in enumerate(note.passage.split("\n"))}
    assert {n: line.rstrip() for n, line in told.items() if line.strip()} == {
        n: line.rstrip() for n, line in enumerate(lines, 1) if line.strip()
    }
    assert all(note.passage.strip() for note in found)
    for note in found:  # a paragraph may be of any length; what is before the last one is not
        within = note.passage.split("\n")
        before = within[: max((n for n, line in enumerate(within) if not line.strip()), default=0)]
        if any(line.strip() and not line.startswith("#") for line in before):
            assert sum(len(line) + 1 for line in before) < MAX_PASSAGE_CHARACTERS
