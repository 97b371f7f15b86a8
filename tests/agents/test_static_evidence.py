import os
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifyplan.agents.evidence import CitedPlace, open_evidence, read_evidence
from verifyplan.protocol.call import Item
from verifyplan.repository.reading import MAX_FILE_BYTES, UnreadableError
from verifyplan.repository.repository import Repository
from verifyplan.repository.sources import SourceFiles


def test_places_and_quoted_lines_are_read_in_order():
    evidence = read_evidence("See `a/b.py:3-7`, then (c.toml:12).\n>  x = 1\n> y\ntext")
    assert evidence.places == (CitedPlace("a/b.py", 3, 7), CitedPlace("c.toml", 12, 12))
    assert evidence.quotes == (" x = 1", "y")


def test_fences_and_backticks_are_quotations_where_no_line_is_quoted():
    assert read_evidence("a.py:3\n```python\ndef f():\n    pass\n```").quotes == ("def f():", "    pass")
    assert read_evidence("a.py:3 says `def f():`").quotes == ("def f():",)
    assert read_evidence("`a.py:3`").quotes == ()


@pytest.mark.parametrize("path", [".env", ".npmrc", ".ssh/config", ".github/CODEOWNERS", "config/.env", ".env.local"])
def test_a_file_whose_name_begins_with_a_dot_is_a_place(path):
    assert read_evidence(f"see `{path}:3`.").places == (CitedPlace(path, 3, 3),)


LINES = [f"line {number}" for number in range(1, 301)]


@given(st.lists(st.tuples(st.integers(1, 320), st.integers(0, 30)), min_size=1, max_size=5, unique=True))
def test_each_line_around_cited_places_is_shown_once(tmp_path_factory, cited):
    repository = Repository.open(tmp_path_factory.getbasetemp())
    names = [f"a.md:{first}-{first + more}" if more else f"a.md:{first}" for first, more in cited]
    item = Item(finding_id="F-1", summary="a claim", evidence=" ".join(names))
    shown, uses = open_evidence([item], repository, {"a.md": "\n".join(LINES)})
    seen = [int(line.partition(":")[0]) for text in shown.values() for line in text.split("\n") if line[0] != "("]
    due = {n for first, more in cited for n in range(first - 20, first + more + 21)} & set(range(1, 301))
    assert sorted(seen) == sorted(due)
    assert sorted(name for names in shown for name in names.split(", ")) == sorted(names)
    assert [use.argument for use in uses] == list(shown)


def test_a_place_inside_a_quotation_is_no_place():
    assert read_evidence("> a.py:3").places == ()


@pytest.mark.parametrize("text", ["a.py", "a.py:0", "a.py:9-3", "12:30", "http://x:80", ":3", "a.py:", ".py:x"])
def test_what_is_no_place_is_none(text):
    assert read_evidence(text).places == ()


@settings(deadline=None)
@given(st.text() | st.lists(st.sampled_from(["a.py:3", ">", "`", "```", "\n", ":", " ", "..", "-4"])).map("".join))
def test_any_text_is_read_without_an_error(text):
    evidence = read_evidence(text)
    assert all(place.line >= 1 and place.last >= place.line for place in evidence.places)


@pytest.mark.parametrize("piece", ["a.", "`", "a:", "> ", "```\n", "a.py:1 ", ".a:", "x"])
def test_long_texts_take_no_long_time_and_give_few_places(piece):
    start = time.process_time()
    evidence = read_evidence(piece * 400_000)
    assert time.process_time() - start < 2
    assert len(evidence.places) <= 5
    assert len(evidence.quotes) <= 60


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret.py").write_text("def secret(): pass\n")
    (root / "a.py").write_bytes(b"one\r\ntwo\x0cstill two\nthree")
    (root / "binary.py").write_bytes(b"a\0b")
    (root / "latin.py").write_bytes("é".encode("latin-1"))
    (root / "huge.py").write_bytes(b"#" * (MAX_FILE_BYTES + 1))
    (root / "empty.py").write_bytes(b"")
    (root / "loop.py").symlink_to("loop.py")
    (root / "out.py").symlink_to(tmp_path / "secret.py")
    (root / "outer").symlink_to(tmp_path)
    (root / "in.py").symlink_to("a.py")
    os.mkfifo(root / "pipe.py")
    return root


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../secret.py", "outside"),
        ("../../../../../../etc/passwd", "outside"),
        ("/etc/passwd", "outside"),
        ("out.py", "outside"),
        ("outer/secret.py", "outside"),
        ("loop.py", "opened"),
        ("missing.py", "does not exist"),
        ("a.py/b.py", "opened"),
        ("nul\0.py", "no valid path"),
        ("x" * 5000 + ".py", "opened"),
        ("", "no ordinary file"),
        ("pipe.py", "no ordinary file"),
        ("binary.py", "binary"),
        ("latin.py", "UTF-8"),
        ("huge.py", "larger"),
    ],
)
def test_hostile_and_unfit_files_are_refused_in_words(root, path, reason):
    with pytest.raises(UnreadableError, match=reason) as caught:
        SourceFiles(root).open(path)
    assert str(root) not in str(caught.value)


def test_lines_are_numbered_as_python_numbers_them(root):
    source = SourceFiles(root).open("a.py")
    assert source.lines == ("one", "two\x0cstill two", "three")
    assert source.line(3) == "three"
    assert source.numbered(2, 9) == [(2, "two\x0cstill two"), (3, "three")]
    assert source.line(0) == source.line(4) == ""


def test_links_within_the_root_and_empty_files_are_read(root):
    assert SourceFiles(root).open("in.py").line(1) == "one"
    assert SourceFiles(root).open("empty.py").lines == ("",)


def test_a_missing_root_is_refused_in_words(tmp_path):
    with pytest.raises(UnreadableError, match="does not exist"):
        SourceFiles(tmp_path / "nowhere").open("a.py")


def test_files_are_kept_up_to_a_bound(root):
    sources = SourceFiles(root, kept=2)
    first = sources.open("a.py")
    assert sources.open("a.py") is first
    sources.open("in.py")
    sources.open("empty.py")
    assert sources.open("a.py") is not first
