"""The definitions that a syntax tree holds: names, kinds, lines, signatures and what they are defined in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from verifyplan.agents.repository.records import Kind
from verifyplan.agents.repository.syntax.tables import TABLES, Table
from verifyplan.agents.repository.syntax.trees import parse, words_of

_LONGEST = 300
_FUNCTIONS = frozenset(
    {
        "arrow_function",
        "function_declaration",
        "function_definition",
        "function_expression",
        "function_item",
        "generator_function",
        "generator_function_declaration",
        "method_declaration",
        "method_definition",
    }
)
_AFTER_OPENING = re.compile(r"([(\[]) ")
_BEFORE_CLOSING = re.compile(r",? ([)\]])")
_FUNCTION_VALUES = frozenset({"arrow_function", "function_expression", "generator_function"})
_EXPRESSIONS = frozenset(
    {
        "arguments",
        "array",
        "await_expression",
        "binary_expression",
        "call_expression",
        "expression_statement",
        "formal_parameters",
        "if_statement",
        "member_expression",
        "new_expression",
        "return_statement",
        "template_string",
        "ternary_expression",
        "throw_statement",
        "type_annotation",
    }
)
_LOCAL = frozenset({"lexical_declaration", "variable_declaration"})
_KEPT_IN_FUNCTIONS = frozenset({"function", "class", "method", "type", "module", "macro"})


class Definition(NamedTuple):
    """A symbol without its path."""

    name: str
    kind: Kind
    line: int
    last: int
    signature: str
    container: str


class _Place(NamedTuple):
    """Where in the tree the walk stands: node, names around it, and the nearest scope."""

    node: Node
    container: str
    scope: str  # module, class, object or function


def definitions(text: str, grammar: str) -> list[Definition]:
    """All definitions of a text, in order; a name given twice to a field or variable of one scope counts once.

    Raises ValueError where parsing takes too much work.
    """
    table = TABLES["typescript" if grammar == "tsx" else grammar]
    found: dict[tuple[str, str, str | int], Definition] = {}
    tree = parse(text, grammar)
    for definition in _walk(tree.root_node, table, text.encode("utf-8", "surrogatepass")):
        again = definition.kind if definition.kind in ("field", "variable", "constant") else definition.line
        found.setdefault((definition.name, definition.container, again), definition)
    return sorted(found.values(), key=lambda definition: definition.line)


def _walk(root: Node, table: Table, data: bytes) -> Iterator[Definition]:
    waiting = [_Place(root, "", "module")]
    while waiting:
        place = waiting.pop()
        node = place.node
        named: list[Definition] = []
        if node.type in table.kinds:
            named = list(_defined(place, table.kinds[node.type]))
            yield from named
        if node.type in table.enters if table.enters else not _barren(place, data):
            container, scope = _within(place, named, table)
            waiting += [_Place(child, container, scope) for child in reversed(node.named_children)]


def _barren(place: _Place, data: bytes) -> bool:
    """JavaScript: whether nothing in a node can be a definition that counts, told without walking it."""
    node = place.node
    if not node.child_count:
        return True
    if node.type in _EXPRESSIONS or (place.scope == "function" and node.type in _LOCAL):
        return not any(data.find(sign, node.start_byte, node.end_byte) >= 0 for sign in (b"{", b"=>"))
    return False


def _within(place: _Place, named: list[Definition], table: Table) -> tuple[str, str]:
    """Container and scope of what a node holds."""
    node, container, scope = place
    name = named[0].name if named else _bare(node.child_by_field_name(table.opens.get(node.type, "")))
    if node.type in table.opens:
        return _join(container, name), "class"
    if node.type in _FUNCTIONS:
        return (_join(container, name) if named else container), "function"
    if not named:
        return container, scope
    if named[0].kind in ("class", "type"):
        return _join(container, name), "class"
    if named[0].kind == "module":
        return _join(container, name), "module"
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    if value is not None and (value.type == "object" or value.type in _FUNCTION_VALUES):
        return _join(container, name), "object" if value.type == "object" else "function"
    return container, scope


def _defined(place: _Place, kind: Kind) -> Iterator[Definition]:
    """What one node defines; nothing for what is only local to a function."""
    node, container, scope = place
    names, container = _names(node, container, scope)
    for name in names:
        text = words_of(name).strip("'\"`").removeprefix("#")
        if not text or len(text) > _LONGEST or text == "_" or text.startswith("["):
            continue
        found = _kind(node, kind, scope, text)
        if scope != "function" or found in _KEPT_IN_FUNCTIONS or node.type == "assignment":
            whole = name if node.type == "enum_body" else node  # which holds the names of all its members
            line, last = name.start_point[0] + 1, whole.end_point[0] + 1
            yield Definition(text, found, line, last, _signature(whole), container)


def _names(node: Node, container: str, scope: str) -> tuple[list[Node], str]:
    """The nodes that hold the names, and the container, which a receiver or `self` may tell."""
    match node.type:
        case "assignment":
            return _assigned(node.child_by_field_name("left"), container, scope)
        case "assignment_expression":
            return _exported(node, container)
        case "pair":
            key = node.child_by_field_name("key")
            value = node.child_by_field_name("value")
            takes = scope == "object" or (value is not None and value.type in _FUNCTION_VALUES)
            return ([key] if key is not None and takes and key.type != "computed_property_name" else []), container
        case "type_alias_statement":
            left = node.child_by_field_name("left")
            return ([left] if left is not None else []), container
        case "method_declaration" if (receiver := node.child_by_field_name("receiver")) is not None:
            types = [child.child_by_field_name("type") for child in receiver.named_children]
            return node.children_by_field_name("name"), _bare(types[0]) if types else container
        case "field_declaration" | "constant_declaration" if node.child_by_field_name("declarator") is not None:
            declared = node.children_by_field_name("declarator")
            return [name for one in declared if (name := one.child_by_field_name("name")) is not None], container
        case "variable_declarator":
            names = node.children_by_field_name("name")
            return [name for name in names if name.type == "identifier"], container
        case "field_definition":
            return node.children_by_field_name("property"), container
    return node.children_by_field_name("name"), container


def _assigned(left: Node | None, container: str, scope: str) -> tuple[list[Node], str]:
    """Python: names assigned to outside of functions, and attributes of `self` inside of methods."""
    if left is None:
        return [], container
    if left.type == "identifier" and scope != "function":
        return [left], container
    if left.type == "attribute" and scope == "function" and words_of(left.child_by_field_name("object")) == "self":
        name = left.child_by_field_name("attribute")
        return ([name] if name is not None else []), container.rpartition(".")[0]
    return [], container


def _exported(node: Node, container: str) -> tuple[list[Node], str]:
    """JavaScript: functions assigned to a name or to a property, such as `exports.run` or `Run.prototype.start`."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or right.type not in _FUNCTION_VALUES | {"class"}:
        return [], container
    if left.type != "member_expression":
        return ([left] if left.type == "identifier" else []), container
    owner = words_of(left.child_by_field_name("object")).removesuffix(".prototype")
    name = left.child_by_field_name("property")
    plain = owner.isidentifier() and owner not in ("exports", "this", "window", "globalThis")
    return ([name] if name is not None else []), _join(container, owner) if plain else container


def _kind(node: Node, kind: Kind, scope: str, name: str) -> Kind:
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    if kind in ("variable", "field") and value is not None:
        if value.type in _FUNCTION_VALUES:
            return "method" if node.type in ("pair", "field_definition", "public_field_definition") else "function"
        if value.type == "class":
            return "class"
    if node.type == "assignment" and scope != "module":
        return "field"
    if kind == "variable" and (name.isupper() or _is_const(node)):
        return "constant"
    return "method" if kind == "function" and scope == "class" else kind


def _is_const(node: Node) -> bool:
    """JavaScript: whether a declarator belongs to `const`."""
    before = node.parent.child(0) if node.type == "variable_declarator" and node.parent is not None else None
    return before is not None and before.type == "const"


def _signature(node: Node) -> str:
    """The text up to the body, its white space folded."""
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    body = node.child_by_field_name("body") or (value.child_by_field_name("body") if value is not None else None)
    data = node.text or b""
    if body is not None:
        data = data[: body.start_byte - node.start_byte]
    text = " ".join(data[: 4 * _LONGEST].decode("utf-8", "replace").split())
    text = _AFTER_OPENING.sub(r"\1", _BEFORE_CLOSING.sub(r"\1", text))
    return text[:_LONGEST].rstrip(" {:" if body is not None else " ").removesuffix("=>").rstrip()


def _bare(node: Node | None) -> str:
    """The name of a type without its pointer, path and parameters."""
    while node is not None and (below := node.child_by_field_name("type")) is not None:
        node = below
    if node is not None and node.type == "pointer_type" and node.named_children:
        return _bare(node.named_children[0])
    return words_of(node).rpartition("::")[2].strip("&* ")


def _join(container: str, name: str) -> str:
    return f"{container}.{name}" if container and name else container or name
