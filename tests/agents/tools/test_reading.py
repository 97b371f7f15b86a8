"""What Read shows: numbered lines, parts of files, limits that it speaks of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.agents.tools import sources
from verifyplan.agents.tools.definitions import ReadArguments
from verifyplan.agents.untrusted_text import MAX_ANSWER_CHARACTERS, bounded_answer, one_line

KEY = (
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq3fVx9\nZ2s5d8Jk1LmNoPqRsTuVwXyZ\n-----END RSA PRIVATE KEY-----"
)


@pytest.fixture
def read(repository_with, plenty):
    """What Read shows of a text that stands in `a.txt`."""
    from verifyplan.agents.tools import ModelToolkit

    def asked(text, **part):
        return ModelToolkit(repository_with({"a.txt": text}), {}, plenty).run("Read", {"path": "a.txt", **part})

    return asked


def test_lines_have_their_numbers(read):
    result = read("one\r\ntwo\n\nfour")
    assert result.text == "a.txt: lines 1-4 of 4\n1: one\n2: two\n3: \n4: four"
    assert (result.use.argument, result.use.results, result.failed) == ("a.txt", 4, False)


def test_a_long_file_says_how_to_read_on(read):
    text = "".join(f"line {n}\n" for n in range(1, 1001))
    first = read(text)
    assert first.text.splitlines()[0] == "a.txt: lines 1-400 of 1,000. More: first=401"
    assert first.text.splitlines()[-1] == "400: line 400"
    last = read(text, first=901)
    assert last.text.splitlines()[0] == "a.txt: lines 901-1000 of 1,000"
    assert last.use.argument == "a.txt:901-"
    assert read(text, first=1, last=1000).use.results == 1000  # as many as were asked for, if they are short
    assert read(text, first=7, last=7).text == "a.txt: line 7 of 1,000. More: first=8\n7: line 7"


def test_what_is_beyond_the_end_is_said(read):
    result = read("one\n", first=5)
    assert result.text == "a.txt has 1 line; first=5 is behind them"
    assert result.failed
    assert read("").text == "a.txt is empty"


def test_long_lines_are_cut_and_say_so(read):
    text = read("x" * 70_000 + "\nshort\n").text
    assert text.splitlines()[1:] == [f"1: {'x' * 1000}... (cut: 70,000 characters)", "2: short"]


def test_an_answer_is_never_longer_than_60_000_characters(read):
    result = read(("y" * 999 + "\n") * 400)
    assert len(result.text) <= MAX_ANSWER_CHARACTERS
    shown_lines = result.use.results
    assert f"lines 1-{shown_lines} of 400. More: first={shown_lines + 1}" in result.text
    assert 50 <= shown_lines < 60


def test_keys_are_taken_out_and_lines_keep_their_numbers(read):
    text = read(f"before\n{KEY}\nafter sk-ant-api03-{'a1B2' * 8}\n").text
    assert "MIIE" not in text
    assert "a1B2" not in text
    assert "\n1: before\n" in text
    assert "\n6: after " in text


def test_a_key_is_taken_out_where_only_a_part_of_it_is_asked_for(read):
    assert "MIIE" not in read(f"before\n{KEY}\n", first=3, last=3).text
    assert "a1B2" not in read("x" * 980 + f" sk-ant-api03-{'a1B2' * 8}\n").text


def test_documents_are_free_and_by_their_name(kit):
    tools = kit()
    result = tools.run("Read", {"path": "plan.md", "first": 1, "last": 1})
    assert result.text == "plan.md: line 1 of 4. More: first=2\n1: # Plan"
    assert result.use is None
    assert tools.uses == []


def test_names_are_told_on_one_line():
    assert one_line("a\nb\x1b[2J") == "a\\nb\\x1b[2J"
    assert one_line("x" * 900) == "x" * 300 + "... (900 characters)"
    assert bounded_answer("\ud800").encode()
    assert bounded_answer(f"key: sk-ant-api03-{'a1B2' * 8}") == "key: [redacted]"


@given(st.text(alphabet="ab\n", max_size=60), st.integers(1, 40), st.none() | st.integers(1, 40))
def test_any_part_of_any_text_is_what_editors_show(text, first, last):
    if last is not None and last < first:
        return
    lines = text.removesuffix("\n").split("\n") if text else []
    answer = sources.file_lines("a", text, ReadArguments(path="a", first=first, last=last))
    wanted = [f"{n}: {line}" for n, line in enumerate(lines, 1) if first <= n <= (last or first + 399)]
    assert answer.text.split("\n")[1:] == wanted
    assert answer.results == len(wanted)
