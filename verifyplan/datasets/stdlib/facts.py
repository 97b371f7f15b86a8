"""True facts about a module of the standard library, as its syntax tree states them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from verifyplan.datasets.stdlib.reading import Definition, Module, stdlib_root

CATEGORIES = ("parameter", "default", "raises", "imports", "base-class", "calls", "location")
"""The kinds of claims, dealt in turn."""


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
    definition: Definition | None = None


def facts(module: Module) -> Iterator[Fact]:
    """All true facts of a module, of every category."""
    for name, line in module.imports.items():
        if _is_module(name):
            yield Fact(module, "imports", _dotted(module), name, module.path, line, line, (line, line))
    functions = {one.name for one in module.definitions if one.node is not ast.ClassDef}
    for one in module.definitions:
        if one.name.rpartition(".")[0] not in functions:
            yield from _facts_of(module, one)


def _facts_of(module: Module, one: Definition) -> Iterator[Fact]:
    def fact(category: str, detail: str, of: str = "", line: int = 0) -> Fact:
        decisive = (line, line) if line else (one.line, one.header)
        return Fact(module, category, one.name, detail, of, one.line, one.last, decisive, one)

    yield fact("location", str(one.line), module.path)
    yield from (fact("parameter", name) for name in one.parameter if name not in {"self", "cls"})
    yield from (fact("default", text, name) for name, text in one.defaults.items() if short(text))
    yield from (fact("calls", name, line=line) for name, line in one.calls.items() if one.node is not ast.ClassDef)
    yield from (fact("base-class", name) for name in sorted(ancestors(module, one)))
    if all(name.rpartition(".")[2][:1].isupper() for name in one.raises) and one.node is not ast.ClassDef:
        yield from (fact("raises", name, line=line) for name, line in one.raises.items())


def short(text: str) -> bool:
    """Whether a default is short and plain enough to stand in a sentence."""
    return len(text) <= 24 and "`" not in text and text.isprintable()


def _dotted(module: Module) -> str:
    return module.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _is_module(name: str) -> bool:
    path = stdlib_root() / name.replace(".", "/")
    return name in sys.stdlib_module_names or path.with_suffix(".py").is_file() or path.is_dir()


def ancestors(module: Module, one: Definition) -> set[str]:
    """The bases of a class and, as far as they stand in its module, the bases of those."""
    known = {other.bare: other.bases for other in module.definitions}
    found, waiting = set(), list(one.bases)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += known.get(name, ())
    return found - {"object"}
