"""The definitions, imports and calls of a text of code, by the names of its tree's nodes, in six languages.

Meant to run in the process of `careful_main`: on texts made for it, a parser takes gigabytes or ends its process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_rust
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser, Tree

from verifyplan.repository.records import (
    Call,
    Definition,
    Import,
    Outline,
)

_GRAMMARS = {
    "python": tree_sitter_python.language,
    "javascript": tree_sitter_javascript.language,
    "typescript": tree_sitter_typescript.language_typescript,
    "tsx": tree_sitter_typescript.language_tsx,
    "go": tree_sitter_go.language,
    "rust": tree_sitter_rust.language,
    "java": tree_sitter_java.language,
}
_CHUNK = 1 << 16
_DEFINES = re.compile(
    r"(?:generator_)?(function|method|class|struct|interface|enum|trait|type|record|const|static|abstract_class"
    r"|type_alias)_(?:definition|declaration|item|spec|alias|signature)|(variable)_declarator"
)
_OWNERS = frozenset({"class", "struct", "interface", "trait", "record", "abstract_class"})
_PARAMETERS = frozenset({"identifier", "typed_parameter"})
_OPTIONAL = frozenset({"default_parameter", "typed_default_parameter"})
_ANY_NUMBER = frozenset({"list_splat_pattern", "dictionary_splat_pattern", "list_splat", "dictionary_splat"})
_MANY = 10_000


def outline(text: str, grammar: str) -> Outline:
    """What a text defines, imports and calls, each with its line; ValueError where parsing takes too much work."""
    found = Outline([], [], [])
    waiting = [(parse(text, grammar).root_node, "")]
    while waiting:
        node, container = waiting.pop()
        kind = _kind(node)
        name = words_of(_name(node)) if kind else ""
        if name and len(name) <= 200:
            found.definitions.append(_definition(node, name, kind, container))
            container = f"{container}.{name}" if container else name
        found.imports.extend(_imports(node))
        if node.type in ("call", "call_expression", "method_invocation"):
            found.calls.extend(_call(node))
        waiting += [(child, container) for child in reversed(node.named_children)]
    return found


def _kind(node: Node) -> str:
    if node.type == "assignment":
        return "variable"
    matched = _DEFINES.fullmatch(node.type)
    return (matched[1] or matched[2]) if matched else ""


def _name(node: Node) -> Node | None:
    if node.type != "assignment":
        return node.child_by_field_name("name")
    left = node.child_by_field_name("left")
    return left if left is not None and left.type == "identifier" else None


def _definition(node: Node, name: str, kind: str, container: str) -> Definition:
    required, most = _parameters(node)
    owner = "class" if kind in _OWNERS else kind
    return Definition(name, owner, node.start_point[0] + 1, node.end_point[0] + 1, container, required, most)


def _parameters(node: Node) -> tuple[int, int]:
    """How many arguments a Python function needs and takes at most; 0 and many where that is not told."""
    parameters = node.child_by_field_name("parameters")
    if node.type != "function_definition" or parameters is None:
        return 0, _MANY
    types = [child.type for child in parameters.named_children if words_of(child) not in ("self", "cls")]
    required = sum(kind in _PARAMETERS for kind in types)
    splat = any(kind in _ANY_NUMBER for kind in types) or any("*" in words_of(one) for one in parameters.named_children)
    return (0 if splat else required), (_MANY if splat else required + sum(kind in _OPTIONAL for kind in types))


def _imports(node: Node) -> Iterator[Import]:
    line = node.start_point[0] + 1
    if node.type == "import_from_statement":
        module = node.child_by_field_name("module_name")
        names = [_imported(child) for child in node.children_by_field_name("name")]
        yield Import(line, words_of(module), names)
    elif node.type == "import_statement" and (source := node.child_by_field_name("source")) is not None:
        names = re.findall(r"[\w$]+", words_of(node).partition("from")[0].removeprefix("import"))
        yield Import(line, words_of(source).strip("'\""), names)
    elif node.type == "import_statement":
        for child in node.children_by_field_name("name"):
            yield Import(line, _imported(child), [])
    elif node.type == "import_spec":
        yield Import(line, words_of(node.child_by_field_name("path")).strip('"`'), [])
    elif node.type in ("use_declaration", "import_declaration") and not node.named_children[0].type.startswith(
        "import_"
    ):
        parts = re.findall(r"\w+", words_of(node))
        yield Import(line, ".".join(parts[1:]), parts[-1:])


def _imported(node: Node) -> str:
    return words_of(node.child_by_field_name("name") or node)


def _call(node: Node) -> Iterator[Call]:
    called = node.child_by_field_name("function") or node.child_by_field_name("name")
    arguments = node.child_by_field_name("arguments")
    name = re.findall(r"[\w$]+", words_of(called)[-200:])
    if name and arguments is not None:
        types = [child.type for child in arguments.named_children if child.type != "comment"]
        splat = any(kind in _ANY_NUMBER or kind == "spread_element" for kind in types)
        yield Call(node.start_point[0] + 1, name[-1], _MANY if splat else len(types))


@cache
def _language(grammar: str) -> Language:
    return Language(_GRAMMARS[grammar]())


def parse(text: str, grammar: str) -> Tree:
    """The syntax tree of a text, with errors in it where the text has some; ValueError where it takes too much work.

    Ordinary code calls back less than 30 times for every 1,000 bytes, short files aside.
    """
    data = text.encode("utf-8", "surrogatepass")
    most, calls = 5_000 + len(data) // 10, 0

    def read(offset: int, _: object) -> bytes:
        return data[offset : offset + _CHUNK]

    def progress(_offset: int, _error: bool) -> bool:
        nonlocal calls
        calls += 1
        return calls > most

    return Parser(_language(grammar)).parse(read, progress_callback=progress)


def words_of(node: Node | None) -> str:
    """The text of a node."""
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")
