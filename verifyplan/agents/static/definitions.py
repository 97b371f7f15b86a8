"""What a syntax tree states of functions, classes and modules: small readings for checkers and fixtures."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from verifyplan.agents.sources import parse

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SCOPES = (*_DEFINES, ast.Lambda)
_HEADER_LINES = 30


def definitions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Definition]]:
    r"""Qualified names and nodes of all definitions, at any depth, in the order in which they stand.

    >>> [name for name, _ in definitions(ast.parse("class C:\n  def f(self): pass"))]
    ['C', 'C.f']
    """
    waiting: list[tuple[str, ast.AST]] = [(prefix, tree)]
    while waiting:
        name, node = waiting.pop()
        if isinstance(node, _DEFINES):
            name = f"{name}.{node.name}" if name else node.name
            yield name, node
        if not isinstance(node, ast.expr):
            waiting += [(name, child) for child in reversed(list(ast.iter_child_nodes(node)))]


def dotted(node: ast.AST | None) -> str:
    """The name that an expression is, such as `a.b.c`; empty for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def parameters(function: Function) -> dict[str, str]:
    """The names of a function's parameters and how each is passed: plain, keyword-only, variadic."""
    given = function.args
    kinds = dict.fromkeys((one.arg for one in (*given.posonlyargs, *given.args)), "plain")
    kinds.update(dict.fromkeys((one.arg for one in given.kwonlyargs), "keyword-only"))
    return kinds | dict.fromkeys((one.arg for one in (given.vararg, given.kwarg) if one), "variadic")


def defaults(function: Function) -> dict[str, ast.expr]:
    """The default of each parameter that has one."""
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    pairs = [*zip(reversed(plain), reversed(given.defaults), strict=False)]
    keyword = [(one, value) for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value]
    return {one.arg: value for one, value in (*pairs, *keyword)}


def raised(nodes: list[ast.AST]) -> list[tuple[str, int]]:
    """Names and lines of what is raised; the name is empty for a bare `raise` and for other expressions."""
    found = [node for node in nodes if isinstance(node, ast.Raise)]
    return [(dotted(node.exc.func if isinstance(node.exc, ast.Call) else node.exc), node.lineno) for node in found]


def called(nodes: list[ast.AST]) -> list[tuple[str, int]]:
    """Names and lines of what is called, such as `self.read`; calls of other expressions are left out."""
    calls = ((dotted(node.func), node.lineno) for node in nodes if isinstance(node, ast.Call))
    return [(name, line) for name, line in calls if name]


def imported(nodes: list[ast.AST]) -> list[tuple[str, int]]:
    """Names and lines of imported modules; `from a import b` imports `a`, perhaps `a.b`, and gives both."""
    found: list[tuple[str, int]] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [(node.module, node.lineno)]
            found += [(f"{node.module}.{alias.name}", node.lineno) for alias in node.names]
    return found


def bases(node: ast.ClassDef) -> list[str]:
    """The names of a class's direct bases; `Generic[T]` counts as `Generic`."""
    plain = (base.value if isinstance(base, ast.Subscript) else base for base in node.bases)
    return [name for base in plain if (name := dotted(base))]


def inside(node: ast.AST) -> list[ast.AST]:
    """All nodes of a definition's body, those of functions and classes within it, too."""
    return [found for statement in getattr(node, "body", []) for found in ast.walk(statement)]


def own(node: ast.AST) -> list[ast.AST]:
    """The nodes of a body without those of functions, classes and lambdas within it."""
    waiting = list(reversed(getattr(node, "body", [])))
    found: list[ast.AST] = []
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not isinstance(node, _SCOPES):
            waiting += reversed(list(ast.iter_child_nodes(node)))
    return found


def header(lines: list[str]) -> Definition | None:
    """The definition whose header begins on the first line, read to its colon; None if that is not shown.

    >>> parameters(header(["def f(a,", "      b=1):", "    return a"]))
    {'a': 'plain', 'b': 'plain'}
    """
    text = ""
    for line in lines[:_HEADER_LINES]:
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
    """An expression as text, cut after 80 characters; `...` where it is nested too deeply to be written."""
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
    given = tree.body[0] if tree and len(tree.body) == 1 else None
    try:
        return isinstance(given, ast.Expr) and ast.dump(given.value) == ast.dump(value)
    except RecursionError:
        return False
