"""Read functions, classes and modules off a syntax tree: for the checkers and for the fixtures of the library."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from verifyplan.repository.sources import parse

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef
Named = list[tuple[str, int]]
"""Names, each with its line."""

_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_MAX_HEADER_LINES = 30


def definitions(tree: ast.AST) -> Iterator[tuple[str, Definition]]:
    r"""Qualified names and nodes of all definitions, at any depth, in the order in which they stand.

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


def parameters(function: Function) -> dict[str, str]:
    """Return a function's parameters and how each is passed: plain, keyword-only, variadic."""
    args = function.args
    kinds = dict.fromkeys((arg.arg for arg in (*args.posonlyargs, *args.args)), "plain")
    kinds.update(dict.fromkeys((arg.arg for arg in args.kwonlyargs), "keyword-only"))
    return kinds | dict.fromkeys((arg.arg for arg in (args.vararg, args.kwarg) if arg), "variadic")


def defaults(function: Function) -> dict[str, ast.expr]:
    """Return the default of each parameter that has one."""
    args = function.args
    plain = zip(reversed([*args.posonlyargs, *args.args]), reversed(args.defaults), strict=False)
    pairs = [*plain, *zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    return {arg.arg: value for arg, value in pairs if value}


def raised(nodes: Iterable[ast.AST]) -> Named:
    """Return what is raised; the name is empty for a bare `raise` and for other expressions."""
    found = [node for node in nodes if isinstance(node, ast.Raise)]
    return [(_dotted(node.exc.func if isinstance(node.exc, ast.Call) else node.exc), node.lineno) for node in found]


def called(nodes: Iterable[ast.AST]) -> Named:
    """Return what is called, such as `self.read`; calls of other expressions are left out."""
    calls = ((_dotted(node.func), node.lineno) for node in nodes if isinstance(node, ast.Call))
    return [(name, line) for name, line in calls if name]


def imported(nodes: Iterable[ast.AST]) -> Named:
    """Return imported modules; `from a import b` imports `a`, perhaps `a.b`, and gives both."""
    found: Named = []
    for node in nodes:
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            found += [(name, node.lineno) for name in names]
    return found


def bases(node: ast.ClassDef) -> list[str]:
    """Return the names of a class's direct bases; `Generic[T]` counts as `Generic`."""
    plain = (base.value if isinstance(base, ast.Subscript) else base for base in node.bases)
    return [name for base in plain if (name := _dotted(base))]


def own(node: ast.AST) -> list[ast.AST]:
    """Return the nodes of a body without those of functions, classes and lambdas within it."""
    waiting = list(reversed(getattr(node, "body", [])))
    found: list[ast.AST] = []
    while waiting:
        found.append(node := waiting.pop())
        if not isinstance(node, (*_DEFINES, ast.Lambda)):
            waiting += reversed(list(ast.iter_child_nodes(node)))
    return found


def header(lines: Iterable[str]) -> Definition | None:
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


def same(claimed: str, found: str) -> bool:
    """Whether a claimed name means a found one: equal, or equal in the last part where one has no dots.

    >>> same("read", "self.read"), same("os.read", "self.read")
    (True, False)
    """
    if "." in claimed and "." in found:
        return claimed == found
    return bool(found) and claimed.rpartition(".")[2] == found.rpartition(".")[2]


def written(value: ast.expr) -> str:
    """Return an expression as text, cut after 80 characters; `...` where it is nested too deeply to be written."""
    try:
        return ast.unparse(value)[:80]
    except RecursionError:
        return "..."


def equal(value: ast.expr, text: str) -> bool:
    """Whether an expression and a text are the same expression, however they are written.

    >>> equal(ast.parse("'a'").body[0].value, '"a"')
    True
    """
    tree = parse(f"({text})")
    node = tree.body[0] if tree and len(tree.body) == 1 else None
    try:
        return isinstance(node, ast.Expr) and ast.dump(node.value) == ast.dump(value)
    except RecursionError:
        return False


def _dotted(node: ast.AST | None) -> str:
    """The name that an expression is, such as `a.b.c`; empty for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
