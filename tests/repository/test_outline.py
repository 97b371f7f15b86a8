"""What a file defines, imports and calls, language by language, with the lines on which it stands."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.repository.small_repositories import tracked, walked

PYTHON = """\
import os, shop.orders as orders
from .base import Box as Crate, Lid
from shop import *

LIMIT: int = 3

class Shop(Box):
    def total(self, *, exact=False): ...

    async def pack(self, order, size=3, *rest): return wrap(order, size)

def wrap(order, size=1):
    return orders.find(order, *size)
"""
TYPESCRIPT = """\
import { a, b as c } from './x';
export interface Shape { draw(at: Point): void }
export const wrap = (one) => pack(one, 2);
class Box extends Lid { shut() { this.lock(...all); } }
"""
GO = 'package p\nimport "golang.org/x/time/rate"\ntype Box struct {}\nfunc (b *Box) Shut() { rate.NewLimiter(1, 2) }\n'
RUST = "use anyhow::Result;\nstruct Box {}\nfn wrap(a: u8) -> u8 { pack(a) }\n"
JAVA = "import a.b.C;\nclass Box { int shut(int a) { return pack(a); } }\n"


@pytest.fixture(scope="module")
def outlines(tmp_path_factory):
    files = {"a.py": PYTHON, "a.ts": TYPESCRIPT, "a.go": GO, "a.rs": RUST, "A.java": JAVA, "a.txt": PYTHON}
    repository = walked(tmp_path_factory.mktemp("outlines"), files)
    return {path: repository.outline(path) for path in files}


@pytest.mark.parametrize(
    ("path", "defined"),
    [
        ("a.py", [("LIMIT", 5, ""), ("Shop", 7, ""), ("total", 8, "Shop"), ("pack", 10, "Shop"), ("wrap", 12, "")]),
        ("a.ts", [("Shape", 2, ""), ("draw", 2, "Shape"), ("wrap", 3, ""), ("Box", 4, ""), ("shut", 4, "Box")]),
        ("a.go", [("Box", 3, ""), ("Shut", 4, "")]),
        ("a.rs", [("Box", 2, ""), ("wrap", 3, "")]),
        ("A.java", [("Box", 2, ""), ("shut", 2, "Box")]),
        ("a.txt", []),
    ],
)
def test_definitions_have_their_lines_and_containers(outlines, path, defined):
    assert [(one.name, one.line, one.container) for one in outlines[path].definitions] == defined


def test_arguments_of_python_functions_are_counted(outlines):
    counts = {one.name: (one.required, one.most) for one in outlines["a.py"].definitions if one.kind == "function"}
    assert counts["wrap"] == (1, 2)
    assert counts["pack"][0] == 0  # takes any number, so that no call of it is known to fail


@pytest.mark.parametrize(
    ("path", "imported"),
    [
        ("a.py", [(1, "os", []), (1, "shop.orders", []), (2, ".base", ["Box", "Lid"]), (3, "shop", [])]),
        ("a.ts", [(1, "./x", ["a", "b", "as", "c"])]),
        ("a.go", [(2, "golang.org/x/time/rate", [])]),
        ("a.rs", [(1, "anyhow.Result", ["Result"])]),
        ("A.java", [(1, "a.b.C", ["C"])]),
    ],
)
def test_imports_have_their_modules_and_names(outlines, path, imported):
    assert [(one.line, one.module, one.names) for one in outlines[path].imports] == imported


@pytest.mark.parametrize(
    ("path", "called"),
    [
        ("a.py", [(10, "wrap", 2), (13, "find", 10_000)]),
        ("a.ts", [(3, "pack", 2), (4, "lock", 10_000)]),
        ("a.go", [(4, "NewLimiter", 2)]),
        ("a.rs", [(3, "pack", 1)]),
        ("A.java", [(2, "pack", 1)]),
    ],
)
def test_calls_have_their_names_and_how_many_arguments(outlines, path, called):
    assert [(one.line, one.name, one.arguments) for one in outlines[path].calls] == called


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """A repository without files: its process parses one text after the other."""
    return walked(tmp_path_factory.mktemp("empty"), {})


@settings(max_examples=25, deadline=None)
@given(text=st.text(max_size=300), language=st.sampled_from(["python", "javascript", "tsx", "go", "rust", "java", "x"]))
def test_any_text_has_an_outline(empty, text, language):
    for found in empty.outline_of(text, language):
        assert all(one.line >= 1 for one in found)


def test_a_file_made_to_take_long_is_skipped_and_said(tmp_path):
    repository = walked(tmp_path, {"a.py": "x = " + "(" * 400_000 + "\n", "b.py": "y" * 1_000_001})
    assert repository.outline("b.py").definitions == []
    repository.outline("a.py")
    assert "more than 1,000,000 characters" in {one.path: one.reason for one in repository.skipped}["b.py"]


def test_what_git_is_told_to_ignore_is_known_whether_it_is_there_or_not(tmp_path):
    repository = tracked(tmp_path, {".gitignore": "out/\n*.log\n", "a.py": ""})
    assert [repository.ignored(path) for path in ("out/x.csv", "b.log", "a.py", "b.py", "../x.log", "/x.log")] == [
        True, True, False, False, False, False,
    ]  # fmt: skip
    assert not walked(tmp_path / "plain", {"a.py": ""}).ignored("b.log")


def test_a_text_is_parsed_once_whatever_repository_it_lies_in(tmp_path):
    text = "def f(): pass\n"
    first, second = (walked(tmp_path / name, {path: text}) for name, path in (("a", "a.py"), ("b", "b.py")))
    assert first.outline("a.py") == second.outline("b.py")
    assert first._helper._process is not None
    assert second._helper._process is None
    assert second.outline_of("def g(): pass\n", "python").definitions[0].name == "g"
    assert second.outline_of("def f(): pass\n", "go") != first.outline("a.py"), "another language, another outline"
