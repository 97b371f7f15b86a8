"""Whether a file exists: every checker opens it, and says what it could not see."""

from __future__ import annotations

import pytest

from verifyplan.agents.static.backend import _CHECKS
from verifyplan.agents.static.judging import look
from verifyplan.protocol.call import Item
from verifyplan.repository.sources import SourceFiles


def found(tmp_path, summary, evidence="src/a.py:1", checker="search", opened=True):
    (tmp_path / "src").mkdir(exist_ok=True)
    (tmp_path / "src" / "a.py").write_text("def f():\n    pass\n")
    (tmp_path / "src" / "b.bin").write_bytes(b"\0\1")
    item = Item(finding_id="F-1", summary=summary, evidence=evidence)
    return look(_CHECKS[checker], item, SourceFiles(tmp_path) if opened else None)


@pytest.mark.parametrize("checker", sorted(_CHECKS))
def test_every_checker_tells_a_file_that_is_there_from_one_that_is_not(tmp_path, checker):
    assert found(tmp_path, "The file `src/a.py` exists.", checker=checker).kind == "holds"
    gone = found(tmp_path, "The file `src/c.py` exists.", "src/c.py:1-200", checker)
    assert (gone.kind, gone.why) == ("refuted", "src/c.py:1 cannot be looked at: there is no such file.")


def test_what_else_is_said_of_it_is_a_caveat(tmp_path):
    outcome = found(tmp_path, "The file `src/a.py` exists, and it is so: checks tokens.")
    assert outcome.kind == "caveat"
    assert outcome.why.endswith("What 'the rest' adds to the claim was not checked.")


@pytest.mark.parametrize(
    ("summary", "evidence", "opened"),
    [
        ("The file `src/a.py` exists.", "src/a.py:1", False),
        ("The file `src/a.py` exists.", "src/other.py:1", True),
        ("The file `src/b.bin` exists.", "src/b.bin:1", True),
        ("The file `../x.py` exists.", "../x.py:1", True),
        ("The file `src/a.py` exists no longer.", "src/a.py:1", True),
        ("The file `src/a.py` does not exist.", "src/a.py:1", True),
    ],
)
def test_what_was_not_seen_is_undecided(tmp_path, summary, evidence, opened):
    assert found(tmp_path, summary, evidence, opened=opened).kind == "undecided"


def test_nothing_is_defined_in_a_file_that_is_not_there(tmp_path):
    claim = "`f` is defined in `src/c.py`."
    assert found(tmp_path, claim, "src/c.py:1").kind == "refuted"
    assert found(tmp_path, claim.replace("is defined", "is not defined"), "src/c.py:1").kind == "holds"
    assert found(tmp_path, "`f` is defined.", "src/c.py:1").kind == "undecided"
    assert found(tmp_path, "`f` calls `g` in `src/c.py`.", "src/c.py:1").kind == "undecided"


def test_a_definition_within_the_cited_lines_is_at_the_cited_place(tmp_path):
    claim = "`f` is defined in `src/a.py`."
    assert found(tmp_path, claim, "src/a.py:1-200", "syntax-tree").kind == "holds"
    (tmp_path / "src" / "d.py").write_text("\n" * 9 + "def g():\n    pass\n")
    other = "`g` is defined in `src/d.py`."
    assert found(tmp_path, other, "src/d.py:3-200", "syntax-tree").kind == "holds"
    assert found(tmp_path, other, "src/d.py:3", "syntax-tree").kind == "caveat"


@pytest.mark.parametrize("checker", sorted(_CHECKS))
def test_nothing_is_defined_in_a_file_that_never_names_it(tmp_path, checker):
    claim = "`median` is defined in `src/a.py`."
    gone = found(tmp_path, claim, "src/a.py:1-200", checker)
    assert gone.kind == "refuted"
    assert gone.why.endswith("no line of src/a.py holds the name median.")
    assert found(tmp_path, claim.replace("is defined", "is not defined"), "src/a.py:1-200", checker).kind == "holds"
    assert found(tmp_path, "`median` is defined.", "src/a.py:1-200", checker).kind != "refuted"
    assert found(tmp_path, claim.replace("median", "f"), "src/a.py:1-200", checker).kind != "refuted"
