"""The statements of a text that import something, each with its line."""

from __future__ import annotations

from tree_sitter import Node

from verifyplan.agents.repository.syntax.tables import TABLES
from verifyplan.agents.repository.syntax.trees import inside, parse, words_of

_LONGEST = 5_000
_CALLS = ("require", "import")


def imports(text: str, grammar: str) -> list[tuple[int, str]]:
    """Line and text of each import, up to 5,000 characters; of JavaScript and Go, the text is the imported path.

    Raises ValueError where parsing takes too much work.
    """
    table = TABLES["typescript" if grammar == "tsx" else grammar]
    tree = parse(text, grammar)
    nodes = (node for node in inside(tree.root_node, frozenset()) if node.type in table.imports)
    return [(node.start_point[0] + 1, words[:_LONGEST]) for node in nodes if (words := _imported(node))]


def _imported(node: Node) -> str:
    match node.type:
        case "call_expression":
            return _required(node)
        case "import_spec":
            return words_of(node.child_by_field_name("path")).strip('"`')
        case "export_statement":
            return words_of(node.child_by_field_name("source")).strip("'\"")
        case "mod_item":
            return "" if node.child_by_field_name("body") else f"mod {words_of(node.child_by_field_name('name'))}"
        case "import_statement" if (source := _source(node)) is not None:
            return words_of(source).strip("'\"")
    return words_of(node)


def _source(node: Node) -> Node | None:
    """JavaScript: the string behind `from`, or in `import x = require("y")`."""
    clause = next((child for child in node.named_children if child.type == "import_require_clause"), None)
    return node.child_by_field_name("source") or (clause.child_by_field_name("source") if clause else None)


def _required(node: Node) -> str:
    """JavaScript: the string in `require("x")` and `import("x")`."""
    given = node.child_by_field_name("arguments")
    if words_of(node.child_by_field_name("function")) not in _CALLS or given is None:
        return ""
    first = given.named_children[:1]
    return words_of(first[0]).strip("'\"`") if first and first[0].type in ("string", "template_string") else ""
