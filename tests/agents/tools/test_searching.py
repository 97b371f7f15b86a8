"""Grep: what is found, and that hostile patterns and files do no harm."""

import re

import psutil
import pytest

from verifyplan.agents.tools import ModelToolkit, sources
from verifyplan.agents.tools.sources import search
from verifyplan.agents.untrusted_text import MAX_ANSWER_CHARACTERS
from verifyplan.repository import grep
from verifyplan.repository.helper_process import HelperProcess


@pytest.fixture
def found(kit):
    """What Grep answers in the small repository."""
    tools = kit()

    def asked(pattern, path=""):
        return tools.run("Grep", {"pattern": pattern, "path": path})

    return asked


def test_hits_have_path_line_and_text(found):
    result = found(r"find_\w+")
    assert result.text == (
        "2 hits in 2 files\nsrc/app.py:6: def find_order(number):\nsrc/deep/orders.py:1: from src.app import find_order"
    )
    assert (result.use.argument, result.use.results, result.failed) == (r"find_\w+", 2, False)


def test_documents_are_searched_first(found):
    assert found("^.. Change|TIMEOUT").text.splitlines()[1:] == [
        "plan.md:4: 2. Change `src/app.py`.",
        "src/app.py:3: TIMEOUT = 7",
    ]


def test_a_search_may_be_kept_to_a_folder_a_file_or_a_document(found):
    assert found("find_order", "src/deep").text.splitlines()[1:] == [
        "src/deep/orders.py:1: from src.app import find_order"
    ]
    assert found("find_order", "./src/app.py").use.argument == "find_order in ./src/app.py"
    assert found("Plan", "plan.md").text.splitlines()[1:] == ["plan.md:1: # Plan"]
    assert found("Plan", "src").text == "No line matches."


def test_a_place_that_is_not_there_is_said(found):
    assert found("x", "scr").text.startswith("scr does not exist. Near it: src")
    assert found("x", "../outside").use.refused
    assert found("x", ".env").use.refused


def test_a_link_is_searched_where_it_leads(kit, root):
    (root / "link.py").symlink_to("src/app.py")
    tools = kit()
    assert "src/app.py:3: TIMEOUT" in tools.run("Grep", {"pattern": "TIMEOUT", "path": "link.py"}).text
    assert tools.run("Grep", {"pattern": "TIMEOUT"}).text.startswith("1 hit in 1 file\n")


def test_a_pattern_that_is_none_is_an_answer(found):
    result = found("(")
    assert result.failed
    assert "unterminated subpattern" in result.text
    assert not result.use.refused


def test_no_pattern_takes_long(repository_with, plenty, monkeypatch, at_once):
    monkeypatch.setattr(grep, "TIMEOUT_S", 1.0)
    tools = ModelToolkit(repository_with({"a.txt": "a" * 900 + "!\n", "b.txt": "a" * 900 + "!\n"}), {}, plenty)
    result = at_once(tools.run, "Grep", {"pattern": "(a+)+$"})
    assert result.failed
    assert "longer than 1 second" in result.text


def test_a_search_that_finds_nothing_ends_in_time_too(repository_with, plenty, monkeypatch):
    monkeypatch.setattr(grep, "TIMEOUT_S", -1.0)
    tools = ModelToolkit(repository_with({f"{n}.txt": "x\n" for n in range(3)}), {}, plenty)
    assert "the search takes longer than" in tools.run("Grep", {"pattern": "nothing"}).text


def test_hits_are_limited_in_number_and_length(repository_with, plenty):
    files = {f"{n:03}.txt": "hit\n" * 2 for n in range(150)} | {"long.txt": f"{'needle ' * 900}\n" * 100}
    tools = ModelToolkit(repository_with(files), {}, plenty)
    many = tools.run("Grep", {"pattern": "hit"})
    assert many.use.results == 200
    assert many.text.startswith("The first 200 hits in 100 files; there may be more: ask for less, or give a path\n")
    assert many.text.splitlines()[-1] == "099.txt:2: hit"
    long = tools.run("Grep", {"pattern": "needle"})
    assert len(long.text) <= MAX_ANSWER_CHARACTERS
    assert long.text.startswith(f"The first {long.use.results} hits in 1 file; there may be more")


ODD = {
    "crlf.txt": b"alpha\r\nbeta\r\n",
    "mac.txt": b"alpha\rbeta\r",
    "bom.txt": b"\xef\xbb\xbfalpha\n",
    "utf16.txt": "alpha\n".encode("utf-16"),
    "binary.txt": b"alpha\n" * 9 + b"\0",
    "latin.txt": b"alph\xe9 alpha\n",
    "long.txt": b"x" * 1_500 + b" alpha\n",
    "empty.txt": b"",
    "blank.txt": b"\n",
    "no end.txt": b"alpha",
    "-e.txt": b"alpha beta\n",
    "sub/caf\xc3\xa9.txt".encode("latin-1").decode(): "Äpfel alpha\n".encode(),
    "big.txt": b"alpha\n" * 400_000,
}
PATTERNS = [
    "alpha", "^alpha$", "alph.", r"\balpha\b", "(?i)ALPHA", "(?i)äPFEL", "beta|Äpfel", "^$", "x*", "[[:alpha:]]lpha",
    r"(?<=a)lpha", "alpha beta", "a{1}lpha", "nowhere",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_odd_files_are_searched_as_text_or_left_out(repository_with, pattern):
    repository = repository_with(ODD)
    found = search(repository, {}, list(repository.files), pattern, 200)
    assert {"big.txt", "binary.txt", "latin.txt", "utf16.txt"}.isdisjoint(hit.path for hit in found)
    assert bool(found) == (pattern not in ("nowhere", "[[:alpha:]]lpha"))
    assert all(re.search(pattern, hit.text) for hit in found)


def test_many_files_are_searched_in_their_order(repository_with):
    names = [f"{'long' * 20}/{'name' * 20}-{n:04}.txt" for n in range(400)]
    repository = repository_with(dict.fromkeys(names, "x\n") | {names[7]: "alpha\n", names[-1]: "alpha\n"})
    assert [hit.path for hit in search(repository, {}, names, "alpha", 9)] == [names[7], names[-1]]


def test_a_search_leaves_no_process_behind(found, monkeypatch):
    before = psutil.Process().children()
    started = []
    monkeypatch.setattr(sources, "HelperProcess", lambda: started.append(1) or HelperProcess())
    assert "TIMEOUT" in found("TIMEOUT").text
    assert found("(").failed
    assert len(started) == 2
    assert psutil.Process().children() == before
