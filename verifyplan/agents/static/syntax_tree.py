"""The checker that parses the cited file and looks the definition up in its syntax tree.

Its limits: of several definitions of a name it takes the first; it looks at a body without the functions
within it; it knows no inheritance; it knows nothing of files that are not Python.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from textwrap import dedent

from verifyplan.agents.sources import Source, parse
from verifyplan.agents.static import definitions as read
from verifyplan.agents.static.outcome import Case, Look


def check(case: Case) -> Look:
    """What the syntax tree says of the claim; unknown where the tree does not hold what the claim is about.

    Only quoted lines are read as far as they parse, and then say nothing of what they do not show.
    """
    tree = case.source.tree if case.source.whole else _fragment(case.source)
    if tree is None:
        return Look("unknown", f"{_shown(case)} is not Python that parses.")
    if case.claim.kind == "imports":
        return _imports(case, tree)
    subject = case.claim.subject if case.source.whole else case.claim.subject.rpartition(".")[2]
    node = _find(tree, subject, case.source.path)
    if node is None:
        return Look("unknown", f"The syntax tree of {_shown(case)} holds no {case.claim.subject}.")
    look = _CHECKS[case.claim.kind](case, node)
    return Look(look.says, look.why, look.note or _off(case, node))


def _shown(case: Case) -> str:
    return case.source.path if case.source.whole else "the quoted text"


def _fragment(source: Source) -> ast.Module | None:
    node = read.header(list(source.lines))
    return ast.Module([node], []) if node else parse(dedent("\n".join(source.lines)))


def _find(tree: ast.Module, subject: str, path: str) -> read.Definition | None:
    """The first definition of that name, qualified or not; a leading name of the module itself is ignored."""
    parts = subject.split(".")
    module = path.rpartition(".")[0].replace("\\", "/").split("/")
    while len(parts) > 1 and parts[0] in module:
        parts = parts[1:]
    name = ".".join(parts)
    return next((n for q, n in read.definitions(tree) if q == name or q.endswith(f".{name}")), None)


def _at(case: Case, line: int) -> str:
    return case.source.at(line + case.source.first - 1)


def _off(case: Case, node: read.Definition) -> str:
    first = min((one.lineno for one in node.decorator_list), default=node.lineno)
    if not case.source.whole or (first <= case.last and case.line <= (node.end_lineno or node.lineno)):
        return ""
    return f"The cited line {case.line} lies outside this definition."


def _function(case: Case, node: read.Definition) -> read.Function | None:
    """The function itself, or the `__init__` of a class."""
    if not isinstance(node, ast.ClassDef):
        return node
    own = (one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__")
    return next(own, None) if case.claim.kind in {"parameter", "default"} else None


def _parameter(case: Case, node: read.Definition) -> Look:
    function = _function(case, node)
    if function is None:
        return Look("unknown", f"The tree shows no parameters of {node.name} at {_at(case, node.lineno)}.")
    kind = read.parameters(function).get(case.claim.detail)
    stands = f"{_at(case, function.lineno)} defines {function.name}"
    if kind is None:
        return Look("no", f"{stands} without a parameter {case.claim.detail}.")
    why = f"{stands} with the {kind.replace('plain', 'ordinary')} parameter {case.claim.detail}."
    return Look("yes" if kind == "plain" else "partly", why)


def _default(case: Case, node: read.Definition) -> Look:
    function = _function(case, node)
    if function is None or case.claim.detail not in read.parameters(function):
        return _parameter(case, node)
    value = read.defaults(function).get(case.claim.detail)
    stands = f"{_at(case, function.lineno)} defines {function.name}, and there {case.claim.detail}"
    if value is None:
        return Look("no", f"{stands} has no default.")
    says = not case.claim.value or read.equal(value, case.claim.value)
    return Look("yes" if says else "no", f"{stands} defaults to {read.written(value)}.")


def _inside(case: Case, node: read.Definition) -> Look:
    """What is raised or called: in the body itself, only in functions within it, or nowhere."""
    reading, verb = (read.raised, "raises") if case.claim.kind == "raises" else (read.called, "calls")
    own = reading(read.own(node))
    line = _first(own, case.claim.detail)
    if line:
        return Look("yes", f"{node.name} {verb} {case.claim.detail} at {_at(case, line)}.")
    opaque = _first(own, "")
    if opaque:
        return Look("unknown", f"What {_at(case, opaque)} {verb} is no plain name.")
    if not case.source.whole:
        return Look("unknown", f"The quoted text shows no {case.claim.detail} and may be incomplete.")
    return Look("no", f"The body of {node.name} at {_at(case, node.lineno)} itself {verb} no {case.claim.detail}.")


def _first(found: list[tuple[str, int]], name: str) -> int:
    """The first line at which a name stands, or 0; the empty name stands for any other expression."""
    return min((line for one, line in found if (read.same(name, one) if name else not one)), default=0)


def _bases(case: Case, node: read.Definition) -> Look:
    if not isinstance(node, ast.ClassDef):
        return Look("unknown", f"{_at(case, node.lineno)} defines {node.name}, which is no class.")
    listed = read.bases(node)
    says = any(read.same(case.claim.detail, name) for name in listed)
    text = ", ".join(listed) or "none"
    return Look("yes" if says else "no", f"The bases of {node.name} at {_at(case, node.lineno)} are: {text}.")


def _location(case: Case, node: read.Definition) -> Look:
    line = node.lineno + case.source.first - 1
    says = not case.claim.detail or int(case.claim.detail) == line
    return Look("yes" if says else "no", f"{node.name} is defined at {case.source.at(line)}.")


_CHECKS: dict[str, Callable[[Case, read.Definition], Look]] = {
    "parameter": _parameter,
    "default": _default,
    "raises": _inside,
    "calls": _inside,
    "base-class": _bases,
    "location": _location,
}


def _imports(case: Case, tree: ast.Module) -> Look:
    """Imports at the top of the module hold; those in functions hold in part."""
    for says, nodes in (("yes", read.own(tree)), ("partly", read.inside(tree))):
        lines = [line for name, line in read.imported(nodes) if covers(name, case.claim.detail)]
        if lines:
            where = "" if says == "yes" else ", but only within a definition"
            return Look("yes" if says == "yes" else "partly", f"{_at(case, lines[0])} imports it{where}.")
    if not case.source.whole:
        return Look("unknown", "The quoted text shows no such import, and is not the whole file.")
    return Look("no", f"No import in {_shown(case)} names {case.claim.detail}; read from {_at(case, 1)} on.")


def covers(found: str, claimed: str) -> bool:
    """Whether importing `found` imports `claimed`, too: `os.path` imports `os`."""
    return found == claimed or found.startswith(f"{claimed}.")
