"""The lines of files that a log holds: those that Read and Grep returned, in the very words of these tools."""

from __future__ import annotations

from verifyplan.agents.tools.definitions import ReadArguments
from verifyplan.agents.tools.sources import file_lines, search_hits
from verifyplan.protocol.event_run import TurnSent
from verifyplan.repository.records import Match
from verifyplan.runlog.chain import Record
from verifyplan.widgets.explorer.recorded_lines import recorded_lines


def lines_of(*results: str) -> dict[str, dict[int, str]]:
    blocks = tuple({"type": "tool_result", "content": text} for text in results)
    turn = TurnSent(call_id="i1/challenger/t2", model="m", request_sha256="", added=blocks)
    return {name: dict(lines) for name, lines in recorded_lines([Record(1, "", turn)]).items()}


def test_the_lines_of_read_are_those_of_its_file_also_where_it_is_but_one():
    text = "x\ny: 1\nz.py:3: not of another file\n"
    several, single = (ReadArguments(path="a b.py", first=first, last=last) for first, last in ((2, 3), (1, 1)))
    assert lines_of(file_lines("a b.py", text, several).text) == {
        "a b.py": {2: "y: 1", 3: "z.py:3: not of another file"}
    }
    assert lines_of(file_lines("a b.py", text, single).text) == {"a b.py": {1: "x"}}


def test_the_hits_of_grep_are_lines_of_their_files_and_notes_that_look_so_are_not():
    hits = [Match("a.py", 3, "take(x)"), Match("b/c.py", 12, "d: e")]
    expected = {"a.py": {3: "take(x)"}, "b/c.py": {12: "d: e"}}
    assert lines_of(search_hits(hits, 20).text) == expected
    assert lines_of(search_hits(hits, 2).text) == expected
    assert lines_of("1 passage that fit best\nnotes.md:1\na.py:3: was changed since\n") == {}
