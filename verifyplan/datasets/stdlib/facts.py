"""True facts about the standard library, as the syntax trees of its files state them; nothing is imported or run."""

from __future__ import annotations

import ast
import os
import re
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from verifyplan.repository import sources
from verifyplan.repository.reading import UnreadableError, read_lines

CATEGORIES = ("parameter", "default", "raises", "imports", "base-class", "calls", "location")
"""The kinds of claims, dealt in turn."""

_SKIPPED = re.compile(r"(^|/)(test|tests|idle_test|lib2to3|idlelib|turtledemo|site-packages|dist-packages|encodings)/")


@dataclass(frozen=True)
class StdlibDefinition:
    """One function or class as the tree states it; mappings go from each name to its line."""

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
        """The last part of the name."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True)
class Module:
    """One file as its tree states it; imports with their lines."""

    path: str
    lines: tuple[str, ...]
    definitions: tuple[StdlibDefinition, ...]
    imports: dict[str, int]


@dataclass(frozen=True)
class Fact:
    """Something true, from `line` to `last`; `decisive` lines show it; `of` is a parameter or a path."""

    module: Module
    category: str
    subject: str
    detail: str
    of: str
    line: int
    last: int
    decisive: tuple[int, int]
    definition: StdlibDefinition | None = None


def stdlib_root() -> Path:
    """Return the folder of the running interpreter's standard library: the root that the claims' paths start from.

    >>> (stdlib_root() / "json").is_dir()
    True
    """
    return Path(sysconfig.get_path("stdlib"))


@cache
def module_paths() -> tuple[str, ...]:
    """Return every file that claims may be about, relative to the root: no tests, no tools, no tables of codes.

    What is installed beside the library is not walked through: it may be ten times as much.
    """
    root, found = stdlib_root(), list[str]()
    for folder, inner, files in os.walk(root):
        inner[:] = [name for name in inner if not _SKIPPED.search(f"{name}/")]
        found += [Path(folder, name).relative_to(root).as_posix() for name in files if name.endswith(".py")]
    return tuple(sorted(found))


@lru_cache(maxsize=256)
def read_module(path: str) -> Module | None:
    """Return what the tree of one file states; None if it cannot be read or does not parse."""
    try:
        lines = read_lines(stdlib_root(), path)
    except UnreadableError:
        return None
    tree = sources.parse("\n".join(lines))
    if tree is None:
        return None
    definitions = tuple(_definition(name, node) for name, node in sources.definitions(tree))
    return Module(path, lines, definitions, _first_lines(sources.imported(list(ast.walk(tree)))))


def _definition(name: str, node: sources.DefinitionNode) -> StdlibDefinition:
    function = None if isinstance(node, ast.ClassDef) else node
    everything = [child for statement in node.body for child in ast.walk(statement)]
    args = [child for child in ast.walk(function.args) if isinstance(child, ast.arg)] if function else []
    defaults = sources.defaults(function) if function else {}
    return StdlibDefinition(
        name=name,
        node=type(node),
        line=node.lineno,
        last=node.end_lineno or node.lineno,
        header=max(node.body[0].lineno - 1, node.lineno),
        defaults={parameter: sources.unparsed(value) for parameter, value in defaults.items()},
        parameter={
            parameter: next(arg.lineno for arg in args if arg.arg == parameter)
            for parameter in (sources.parameters(function) if function else ())
        },
        raises=_first_lines(sources.raised(everything)),
        calls=_first_lines(sources.called(everything)),
        bases=tuple(sources.bases(node)) if isinstance(node, ast.ClassDef) else (),
    )


def _first_lines(names: sources.NamesWithLines) -> dict[str, int]:
    """Return the first line of each name."""
    return dict(sorted(names, key=lambda pair: -pair[1]))


def facts(module: Module) -> Iterator[Fact]:
    """Yield all true facts of a module, of every category."""
    for name, line in module.imports.items():
        path = stdlib_root() / name.replace(".", "/")
        if name in sys.stdlib_module_names or path.with_suffix(".py").is_file() or path.is_dir():
            dotted = module.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            yield Fact(module, "imports", dotted, name, module.path, line, line, (line, line))
    functions = {definition.name for definition in module.definitions if definition.node is not ast.ClassDef}
    for definition in module.definitions:
        if definition.name.rpartition(".")[0] not in functions:
            yield from _facts_of(module, definition)


def _facts_of(module: Module, subject: StdlibDefinition) -> Iterator[Fact]:
    def fact(category: str, detail: str, of: str = "", line: int = 0) -> Fact:
        decisive = (line, line) if line else (subject.line, subject.header)
        return Fact(module, category, subject.name, detail, of, subject.line, subject.last, decisive, subject)

    is_function = subject.node is not ast.ClassDef
    yield fact("location", str(subject.line), module.path)
    yield from (fact("parameter", name) for name in subject.parameter if name not in {"self", "cls"})
    yield from (fact("default", text, name) for name, text in subject.defaults.items() if short(text))
    yield from (fact("calls", name, line=line) for name, line in subject.calls.items() if is_function)
    yield from (fact("base-class", name) for name in sorted(ancestors(module, subject)))
    if all(name.rpartition(".")[2][:1].isupper() for name in subject.raises) and is_function:
        yield from (fact("raises", name, line=line) for name, line in subject.raises.items())


def short(text: str) -> bool:
    """Whether a default is short and plain enough for a sentence."""
    return len(text) <= 24 and "`" not in text and text.isprintable()


def ancestors(module: Module, definition: StdlibDefinition) -> set[str]:
    """Return the bases of a class and, as far as they are in its module, the bases of those."""
    known = {other.bare: other.bases for other in module.definitions}
    names, waiting = set(), list(definition.bases)
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += known.get(name, ())
    return names - {"object"}
