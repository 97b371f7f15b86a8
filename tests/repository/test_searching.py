"""Patterns and history."""

import gc
import os
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.repository.small_repositories import commit, git, tracked, walked
from verifyplan.errors import InputError
from verifyplan.repository import grep, helper_process
from verifyplan.repository.records import Match
from verifyplan.repository.repository import Repository

FILES = {
    "b.py": "run = 1\nrerun = run_all = 2\n",
    "a.md": "We “run” it.\nRUN\nrun-time, naïve naïveté\n",
    "c/d.txt": "x" * 2_000 + " run\n$cost a.b.c\n",
    "e.bin": b"run\0",
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    return walked(tmp_path_factory.mktemp("searching"), FILES)


def places(matches):
    return [(one.path, one.line) for one in matches]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"^r\w+ = 1$", [("b.py", 1)]),
        (r"(?i)\brun\b", [("a.md", 1), ("a.md", 2), ("a.md", 3), ("b.py", 1)]),
        (r"run$", []),
        ("[[a]b]", []),
    ],
)
def test_patterns_are_tried_on_each_line(repository, pattern, expected):
    assert places(repository.grep(pattern)) == expected


def test_grep_stops_at_its_limit(repository):
    assert len(repository.grep("", limit=3)) == 3
    assert repository.grep("run", limit=0) == []


@pytest.mark.parametrize(
    "pattern", ["(", "*", "a{99999999999}", "(?P<a>x)(?P<a>y)", "(?<=a+)b", "x" * 1_001, "\\", "(" * 900]
)
def test_what_is_no_pattern_is_refused_in_words(repository, pattern):
    with pytest.raises(InputError, match=r"pattern '.*write a simpler regular expression") as caught:
        repository.grep(pattern)
    assert str(repository.root) not in str(caught.value)
    assert repository.grep("rerun")  # the next one is answered


def test_a_pattern_is_refused_in_an_empty_repository_too(tmp_path):
    with pytest.raises(InputError, match="pattern"):
        Repository.open(tmp_path).grep("(")


@pytest.mark.parametrize(
    "pattern", [r"(x+)+y", r"(a|a)*$b", r".*.*.*.*.*.*=z", r"(x*)*\d", r"^(([a-z])+.)+[A-Z]([a-z])+$"]
)
def test_a_pattern_that_never_ends_is_ended(repository, pattern, monkeypatch):
    assert repository.grep("rerun")  # the process has started
    monkeypatch.setattr(grep, "TIMEOUT_S", 0.25)
    start = time.monotonic()
    try:
        repository.grep(pattern)
    except InputError as error:
        assert "the search takes longer than 0.25 seconds" in str(error)  # noqa: PT017  (some end by themselves)
    assert time.monotonic() - start < 5
    monkeypatch.undo()
    assert repository.grep("rerun")


@given(st.text(max_size=30) | st.lists(st.sampled_from([*"(a|b)*+?[]{},\\^$.12:<=!P-"])).map("".join))
def test_any_pattern_is_answered_or_refused(repository, pattern):
    try:
        assert all(isinstance(one, Match) for one in repository.grep(pattern, limit=2))
    except InputError:
        assert pattern


@given(
    st.lists(st.sampled_from(["abc", "def", "x", "\\b", "\\w", ".", "*", "?", "+", "(", ")", "|", "\\(", "_"])).map(
        "".join
    )
)
def test_what_a_match_must_hold_is_held_by_every_match(pattern):
    try:
        found = re.compile(pattern).search("abc defabc(abdefx) _abcdefdef ab de")
    except re.error:
        return
    if found:
        assert all(part in found[0] for part in grep.literals(pattern))


def test_history_is_newest_first_and_without_authors(tmp_path):
    tracked(tmp_path, {"a.py": "", "b/c.py": "", "odd\nname": ""})
    commit(tmp_path, "Change a\n\nwith a body", {"a.py": "1"}, day=2)
    commit(tmp_path, "Change \x01 both", {"a.py": "2", "b/c.py": "2"}, day=3)
    repository = Repository.open(tmp_path)
    found = repository.history()
    assert [(one.subject, one.date, one.files) for one in found] == [
        ("Change \x01 both", "2024-01-03T12:00:00+00:00", ("a.py", "b/c.py")),
        ("Change a", "2024-01-02T12:00:00+00:00", ("a.py",)),
        ("Begin", "2024-01-01T12:00:00+00:00", ("a.py", "b/c.py", "odd\nname")),
    ]
    assert found[0].hash == repository.commit
    assert "Secret" not in repr(found)
    assert [one.subject for one in repository.history(["b"])] == ["Change \x01 both", "Begin"]
    assert [one.subject for one in repository.history(["./a.py"], limit=1)] == ["Change \x01 both"]
    for wrong in (["none.py"], ["../x"], [":(exclude)a.py"], ["*"], ["--all"], [""], ["nul\0"]):
        assert repository.history(wrong) == []
    assert repository.history(limit=0) == []


def test_merges_are_left_out(tmp_path):
    tracked(tmp_path, {"a.py": ""})
    git(tmp_path, "checkout", "-q", "-b", "side")
    commit(tmp_path, "Side", {"b.py": ""}, day=2)
    git(tmp_path, "checkout", "-q", "main")
    git(tmp_path, "merge", "-q", "--no-ff", "-m", "Merge", "side", day=3)
    assert [one.subject for one in Repository.open(tmp_path).history()] == ["Side", "Begin"]


def test_the_helping_process_ends_with_its_repository(tmp_path):
    repository = walked(tmp_path, {"a.py": "def f(): pass\n"})
    repository.outline("a.py")
    process = repository._helper._process
    assert process.poll() is None
    del repository
    gc.collect()
    assert process.poll() is not None


def test_without_a_helping_process_files_are_told_as_not_parsed(tmp_path, monkeypatch):
    repository = walked(tmp_path, {"a.py": "def f(): pass\n"})
    monkeypatch.setattr("sys.executable", os.devnull)
    assert repository.outline("a.py").definitions == []
    assert "no helping process" in repository.skipped[0].reason
    with pytest.raises(InputError, match="no helping process"):
        repository.grep("f")


def test_an_interrupt_leaves_no_stale_answer(tmp_path, monkeypatch):
    repository = walked(tmp_path, {"a.py": "def f(): pass\n", "b.py": "def g(): pass\n"})
    repository.outline("a.py")
    real = helper_process.read_frame

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(helper_process, "read_frame", interrupted)
    with pytest.raises(KeyboardInterrupt):
        repository.outline("b.py")
    monkeypatch.setattr(helper_process, "read_frame", real)
    assert places(repository.grep("def f")) == [("a.py", 1)]
