"""Cited source files, opened to be read, and what their Python defines, raises, calls and imports (rules G4, H3)."""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from verifyplan.repository.reading import read_lines

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
DefinitionNode = FunctionNode | ast.ClassDef
NamesWithLines = list[tuple[str, int]]
"""Names, each with its line."""

_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_MAX_HEADER_LINES = 30
_PARSING = threading.Lock()  # the filter of warnings belongs to the whole process


@dataclass(frozen=True)
class Syntax:
    """A syntax tree, of which definitions and imports are looked for once."""

    tree: ast.Module

    @cached_property
    def definitions(self) -> list[tuple[str, DefinitionNode]]:
        """The definitions at any depth, with their qualified names."""
        return list(definitions(self.tree))

    @cached_property
    def imports(self) -> tuple[NamesWithLines, NamesWithLines]:
        """The modules that it imports at its top, and anywhere."""
        return imported(own_nodes(self.tree)), imported(ast.walk(self.tree))


@dataclass(frozen=True)
class SourceLines:
    """Lines of code that a checker may look at, and where they are.

    `whole` is false for lines that are only quoted: `first` is then the cited line, and what the lines do not
    show may be elsewhere in the file.
    """

    path: str
    lines: tuple[str, ...]
    first: int = 1
    whole: bool = True

    def line(self, number: int) -> str:
        """Return the text of one line, by its number in the file; empty if it does not exist."""
        at = number - self.first
        return self.lines[at] if 0 <= at < len(self.lines) else ""

    def numbered(self, first: int = 1, last: int | None = None) -> list[tuple[int, str]]:
        """Return line numbers and lines from `first` to `last`, as far as they exist."""
        start = max(first - self.first, 0)
        stop = len(self.lines) if last is None else max(last - self.first + 1, 0)
        return self._numbered[start:stop]

    @cached_property
    def _numbered(self) -> list[tuple[int, str]]:
        return list(enumerate(self.lines, self.first))

    @cached_property
    def texts(self) -> list[tuple[int, str]]:
        """The lines that are not blank, with their numbers and without the spaces around them."""
        return [(number, text) for number, line in self._numbered if (text := line.strip())]

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Where in `texts` each text is."""
        found: dict[str, list[int]] = {}
        for at, (_, text) in enumerate(self.texts):
            found.setdefault(text, []).append(at)
        return found

    def at(self, number: int) -> str:
        """Return a line as a citation."""
        return f"{self.path}:{number}" if self.path else f"line {number} of the quoted text"

    @cached_property
    def syntax(self) -> Syntax | None:
        """The syntax tree; None if this is not Python, or Python that does not parse."""
        tree = parse("\n".join(self.lines)) if self.path.endswith((".py", ".pyi")) else None
        return None if tree is None else Syntax(tree)


class SourceFiles:
    """Opens cited files under one root; the last ones opened are kept. Safe to use from several threads."""

    def __init__(self, root: str | Path, kept: int = 16) -> None:
        self._root = Path(root)
        self._kept = lru_cache(kept)(lambda path: SourceLines(path, read_lines(self._root, path)))

    def open(self, path: str) -> SourceLines:
        """Return the file at `path`, relative to the root; UnreadableError as in `read_lines`."""
        return self._kept(path)


def parse(text: str) -> ast.Module | None:
    """Return the syntax tree of a Python text; None if it cannot be parsed."""
    with _PARSING, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def definitions(tree: ast.AST) -> Iterator[tuple[str, DefinitionNode]]:
    r"""Yield qualified names and nodes of all definitions, at any depth, in the order of the text.

    >>> [name for name, _ in definitions(ast.parse("class C:\n  def f(self): pass"))]
    ['C', 'C.f']
    """
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        name, node = waiting.pop()
        if isinstance(node, _DEFINES):
            name = f"{name}.{node.name}" if name else node.name
            yield name, node
        if not isinstance(node, ast.expr):
            waiting += [(name, child) for child in reversed(list(ast.iter_child_nodes(node)))]


def own_nodes(node: ast.AST) -> list[ast.AST]:
    """Return the nodes of a body without those of functions, classes and lambdas within it."""
    waiting = list(reversed(getattr(node, "body", [])))
    nodes: list[ast.AST] = []
    while waiting:
        nodes.append(node := waiting.pop())
        if not isinstance(node, (*_DEFINES, ast.Lambda)):
            waiting += reversed(list(ast.iter_child_nodes(node)))
    return nodes


def header(lines: Iterable[str]) -> DefinitionNode | None:
    """Return the definition whose header begins on the first line, read to its colon; None if that is not shown.

    >>> parameters(header(["def f(a,", "      b=1):", "    return a"]))
    {'a': 'plain', 'b': 'plain'}
    """
    text = ""
    for line in [*lines][:_MAX_HEADER_LINES]:
        text = f"{text}\n{line.strip()}" if text else line.strip()
        if text.endswith((":", "...", "pass")) or ": " in line or ":#" in line:
            tree = parse(f"{text}\n pass") or parse(text)
            node = tree.body[0] if tree and tree.body else None
            if isinstance(node, _DEFINES):
                return node
    return None


def parameters(function: FunctionNode) -> dict[str, str]:
    """Return a function's parameters and how each is passed: plain, keyword-only, variadic."""
    args = function.args
    kinds = dict.fromkeys((arg.arg for arg in (*args.posonlyargs, *args.args)), "plain")
    kinds.update(dict.fromkeys((arg.arg for arg in args.kwonlyargs), "keyword-only"))
    return kinds | dict.fromkeys((arg.arg for arg in (args.vararg, args.kwarg) if arg), "variadic")


def defaults(function: FunctionNode) -> dict[str, ast.expr]:
    """Return the default of each parameter that has one."""
    args = function.args
    plain = zip(reversed([*args.posonlyargs, *args.args]), reversed(args.defaults), strict=False)
    pairs = [*plain, *zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    return {arg.arg: value for arg, value in pairs if value}


def bases(node: ast.ClassDef) -> list[str]:
    """Return the names of a class's direct bases; `Generic[T]` counts as `Generic`."""
    plain = (base.value if isinstance(base, ast.Subscript) else base for base in node.bases)
    return [name for base in plain if (name := _dotted(base))]


def raised(nodes: Iterable[ast.AST]) -> NamesWithLines:
    """Return what is raised; the name is empty for a bare `raise` and for other expressions."""
    raises = (node for node in nodes if isinstance(node, ast.Raise))
    return [(_dotted(node.exc.func if isinstance(node.exc, ast.Call) else node.exc), node.lineno) for node in raises]


def called(nodes: Iterable[ast.AST]) -> NamesWithLines:
    """Return what is called, such as `self.read`; calls of other expressions are left out."""
    calls = ((_dotted(node.func), node.lineno) for node in nodes if isinstance(node, ast.Call))
    return [(name, line) for name, line in calls if name]


def imported(nodes: Iterable[ast.AST]) -> NamesWithLines:
    """Return imported modules; `from a import b` imports `a`, perhaps `a.b`, and gives both."""
    modules: NamesWithLines = []
    for node in nodes:
        if isinstance(node, ast.Import):
            modules += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            modules += [(name, node.lineno) for name in names]
    return modules


def same_name(claimed: str, actual: str) -> bool:
    """Whether a claimed name means an actual one: equal, or equal in the last part where one has no dots.

    >>> same_name("read", "self.read"), same_name("os.read", "self.read")
    (True, False)
    """
    if "." in claimed and "." in actual:
        return claimed == actual
    return bool(actual) and claimed.rpartition(".")[2] == actual.rpartition(".")[2]


def unparsed(value: ast.expr) -> str:
    """Return an expression as text, cut after 80 characters; `...` where it is nested too deeply to be written."""
    try:
        return ast.unparse(value)[:80]
    except RecursionError:
        return "..."


def same_expression(value: ast.expr, text: str) -> bool:
    """Whether an expression and a text are the same expression, however they are written.

    >>> same_expression(ast.parse("'a'").body[0].value, '"a"')
    True
    """
    tree = parse(f"({text})")
    node = tree.body[0] if tree and len(tree.body) == 1 else None
    try:
        return isinstance(node, ast.Expr) and ast.dump(node.value) == ast.dump(value)
    except RecursionError:
        return False


def _dotted(node: ast.AST | None) -> str:
    """Return the name that an expression is, such as `a.b.c`; empty for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
