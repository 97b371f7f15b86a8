"""What the syntax trees of the standard library state, file by file; nothing is imported or run."""

from __future__ import annotations

import ast
import re
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from verifyplan.repository import definitions as read
from verifyplan.repository.sources import UnreadableError, parse, read_lines

_SKIPPED = re.compile(r"(^|/)(test|tests|idle_test|lib2to3|idlelib|turtledemo|site-packages|dist-packages|encodings)/")


@dataclass(frozen=True)
class Definition:
    """What the tree states of one function or class; mappings go from what it holds to its line."""

    name: str
    node: type
    line: int
    last: int
    header: int  # the last line before the body
    defaults: dict[str, str]
    parameter: dict[str, int]
    raises: dict[str, int]
    calls: dict[str, int]
    bases: tuple[str, ...]

    @property
    def bare(self) -> str:
        """The name without the names of what it stands in."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True)
class Module:
    """What the tree states of one file; imports with their lines."""

    path: str
    lines: tuple[str, ...]
    definitions: tuple[Definition, ...]
    imports: dict[str, int]


def stdlib_root() -> Path:
    """The folder of the running interpreter's standard library: the root that the claims' paths start from."""
    return Path(sysconfig.get_path("stdlib"))


def module_paths() -> list[str]:
    """Every file that claims may be about, relative to the root: no tests, no tools, no tables of codes."""
    root = stdlib_root()
    paths = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py"))
    return [path for path in paths if not _SKIPPED.search(path)]


def read_module(path: str) -> Module | None:
    """What the tree of one file states; None if it cannot be read or does not parse."""
    try:
        lines = read_lines(stdlib_root(), path)
    except UnreadableError:
        return None
    tree = parse("\n".join(lines))
    if tree is None:
        return None
    found = tuple(_definition(name, node) for name, node in read.definitions(tree))
    return Module(path, lines, found, _lines(read.imported(list(ast.walk(tree)))))


def _definition(name: str, node: read.Definition) -> Definition:
    function = None if isinstance(node, ast.ClassDef) else node
    everything = [found for statement in node.body for found in ast.walk(statement)]
    given = [one for one in ast.walk(function.args) if isinstance(one, ast.arg)] if function else []
    own = read.parameters(function) if function else {}
    return Definition(
        name=name,
        node=type(node),
        line=node.lineno,
        last=node.end_lineno or node.lineno,
        header=max(node.body[0].lineno - 1, node.lineno),
        defaults={key: read.written(value) for key, value in read.defaults(function).items()} if function else {},
        parameter={key: next(one.lineno for one in given if one.arg == key) for key in own},
        raises=_lines(read.raised(everything)),
        calls=_lines(read.called(everything)),
        bases=tuple(read.bases(node)) if isinstance(node, ast.ClassDef) else (),
    )


def _lines(found: list[tuple[str, int]]) -> dict[str, int]:
    """The first line of each name."""
    return dict(sorted(found, key=lambda one: -one[1]))
