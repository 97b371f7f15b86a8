"""The checker that parses the cited file and looks the definition up in its syntax tree.

Its limits: of several definitions of a name it takes the first; it looks at a body without the functions
within it; it knows no inheritance; it knows nothing of files that are not Python.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from textwrap import dedent

from verifyplan.agents.static.lines import by_definition
from verifyplan.agents.static.outcome import Case, Look
from verifyplan.repository import definitions as read
from verifyplan.repository.sources import Source, parse


def check(case: Case) -> Look:
    """Judge by the syntax tree; unknown where it does not hold what the claim is about.

    Only quoted lines are read as far as they parse, and then say nothing of what they do not show.
    """
    claim, source = case.claim, case.source
    shown = source.path if source.whole else "the quoted text"
    tree = source.tree if source.whole else _fragment(source)
    if tree is None:
        return Look("unknown", f"{shown} is not Python that parses.")
    if claim.kind == "imports":
        return _imports(case, tree, shown)
    node = _find(tree, claim.subject if source.whole else claim.subject.rpartition(".")[2], source.path)
    if node is None:
        return Look("unknown", f"The syntax tree of {shown} holds no {claim.subject}.")
    look = _mention(case, node) if claim.kind in {"raises", "calls"} else _definition(case, node)
    first = min((decorator.lineno for decorator in node.decorator_list), default=node.lineno)
    if not source.whole or (first <= case.last and case.line <= (node.end_lineno or node.lineno)):
        return look
    return replace(look, note=f"The cited line {case.line} lies outside this definition.")


def _fragment(source: Source) -> ast.Module | None:
    node = read.header(source.lines)
    tree = ast.Module([node], []) if node else parse(dedent("\n".join(source.lines)))
    return tree and ast.increment_lineno(tree, source.first - 1)


def _find(tree: ast.Module, subject: str, path: str) -> read.Definition | None:
    """The first definition of that name, qualified or not; a leading name of the module itself is ignored."""
    parts = subject.split(".")
    module = path.rpartition(".")[0].replace("\\", "/").split("/")
    while len(parts) > 1 and parts[0] in module:
        parts = parts[1:]
    name = ".".join(parts)
    return next((n for q, n in read.definitions(tree) if q == name or q.endswith(f".{name}")), None)


def _definition(case: Case, node: read.Definition) -> Look:
    """Judge by the definition, or, of a class whose parameters are claimed, by its `__init__`."""
    if isinstance(node, ast.ClassDef) and case.claim.kind in {"parameter", "default"}:
        own = (each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__")
        function = next(own, None)
        if function is None:
            return Look("unknown", f"The tree shows no parameters of {node.name} at {case.source.at(node.lineno)}.")
        node = function
    return by_definition(case, node, node.lineno)


def _mention(case: Case, node: read.Definition) -> Look:
    """Judge by what the body itself raises or calls, without the functions within it."""
    verb, detail = case.claim.kind, case.claim.detail
    found = (read.raised if verb == "raises" else read.called)(read.own(node))
    if lines := [line for name, line in found if read.same(detail, name)]:
        return Look("yes", f"{node.name} {verb} {detail} at {case.source.at(min(lines))}.")
    if lines := [line for name, line in found if not name]:
        return Look("unknown", f"What {case.source.at(min(lines))} {verb} is no plain name.")
    if not case.source.whole:
        return Look("unknown", f"The quoted text shows no {detail} and may be incomplete.")
    return Look("no", f"The body of {node.name} at {case.source.at(node.lineno)} itself {verb} no {detail}.")


def _imports(case: Case, tree: ast.Module, shown: str) -> Look:
    """Imports at the top of the module hold, `os.path` for `os`, too; those in functions hold in part."""
    claimed = case.claim.detail
    at, anywhere = (
        [line for name, line in read.imported(nodes) if f"{name}.".startswith(f"{claimed}.")]
        for nodes in (read.own(tree), ast.walk(tree))
    )
    if at:
        return Look("yes", f"{case.source.at(min(at))} imports it.")
    if anywhere:
        return Look("partly", f"{case.source.at(min(anywhere))} imports it, but only within a definition.")
    if not case.source.whole:
        return Look("unknown", "The quoted text shows no such import, and is not the whole file.")
    return Look("no", f"No import in {shown} names {claimed}; read from {case.source.at(1)} on.")
