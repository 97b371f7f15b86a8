"""The tasks of the helper process: outlines of code in six languages, and trying a pattern on lines (rule H3).

They run in a separate process, because on hostile texts a parser takes gigabytes or crashes, and a pattern may never
end.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_rust
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser, Tree

from verifyplan.repository.helper_process import read_frame, write_frame
from verifyplan.repository.records import Call, Definition, Import, Outline

try:
    import resource
except ImportError:  # Windows has none; there, only the time is limited
    resource = None  # type: ignore[assignment]

MAX_MEMORY_BYTES = 500_000_000
"""Address space that the process may take."""
MAX_LINE_CHARACTERS = 1_000
"""Characters of a line that a pattern is tried on."""


def main() -> None:
    """Answer requests until there are no more."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = MAX_MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MAX_MEMORY_BYTES, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    warnings.simplefilter("ignore")
    while (request := read_frame(sys.stdin.buffer)) is not None:
        write_frame(sys.stdout.buffer, answer(request))


def answer(request: list[Any]) -> dict[str, Any]:
    """Return `{"value": ...}`, or `{"error": ...}` with the reason in words."""
    try:
        task, *arguments = request
        return {"value": _TASKS[task](*arguments)}
    except re.error as error:
        return {"error": str(error)}
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        return {"error": "it takes too much work" if "Parsing" in str(error) else type(error).__name__}


def _grep(pattern: str, texts: list[tuple[str, str]], limit: int) -> list[tuple[str, int, str]]:
    """Return path, number and text of up to `limit` lines in which the pattern is found."""
    search = re.compile(pattern).search
    hits: list[tuple[str, int, str]] = []
    for path, text in texts:
        for number, line in enumerate(text.split("\n"), 1):
            if search(line[:MAX_LINE_CHARACTERS]):
                hits.append((path, number, line[:MAX_LINE_CHARACTERS]))
                if len(hits) >= limit:
                    return hits
    return hits


_GRAMMARS = {
    "python": tree_sitter_python.language,
    "javascript": tree_sitter_javascript.language,
    "typescript": tree_sitter_typescript.language_typescript,
    "tsx": tree_sitter_typescript.language_tsx,
    "go": tree_sitter_go.language,
    "rust": tree_sitter_rust.language,
    "java": tree_sitter_java.language,
}
_CHUNK_BYTES = 1 << 16
_DEFINES = re.compile(
    r"(?:generator_)?(function|method|class|struct|interface|enum|trait|type|record|const|static|abstract_class"
    r"|type_alias)_(?:definition|declaration|item|spec|alias|signature)|(variable)_declarator"
)
_OWNERS = frozenset({"class", "struct", "interface", "trait", "record", "abstract_class"})
_PARAMETERS = frozenset({"identifier", "typed_parameter"})
_OPTIONAL = frozenset({"default_parameter", "typed_default_parameter"})
_ANY_NUMBER = frozenset({"list_splat_pattern", "dictionary_splat_pattern", "list_splat", "dictionary_splat"})
_RUST_AND_JAVA_IMPORTS = ("use_declaration", "import_declaration")
_UNLIMITED = 10_000


def outline(text: str, grammar: str) -> Outline:
    """Return what a text defines, imports and calls, each with its line; ValueError where parsing is too much work."""
    result = Outline([], [], [])
    waiting = [(parse(text, grammar).root_node, "")]
    while waiting:
        node, container = waiting.pop()
        kind, name = _kind_and_name(node)
        if name and len(name) <= 200:
            first, last = node.start_point[0] + 1, node.end_point[0] + 1
            owner = "class" if kind in _OWNERS else kind
            result.definitions.append(Definition(name, owner, first, last, container, *_arguments(node)))
            container = f"{container}.{name}" if container else name
        result.imports.extend(_imports(node))
        if node.type in ("call", "call_expression", "method_invocation"):
            result.calls.extend(_call(node))
        waiting += [(child, container) for child in reversed(node.named_children)]
    return result


def _kind_and_name(node: Node) -> tuple[str, str]:
    """Return the kind and name of a definition; both empty for any other node."""
    if node.type == "assignment":
        left = node.child_by_field_name("left")
        return ("variable", _text(left)) if left is not None and left.type == "identifier" else ("", "")
    matched = _DEFINES.fullmatch(node.type)
    return (matched[1] or matched[2], _text(node.child_by_field_name("name"))) if matched else ("", "")


def _arguments(node: Node) -> tuple[int, int]:
    """Return how many arguments a Python function needs and takes at most; 0 and 10,000 for any other definition."""
    parameters = node.child_by_field_name("parameters")
    if node.type != "function_definition" or parameters is None:
        return 0, _UNLIMITED
    types = [child.type for child in parameters.named_children if _text(child) not in ("self", "cls")]
    required = sum(kind in _PARAMETERS for kind in types)
    if any(kind in _ANY_NUMBER for kind in types) or any("*" in _text(child) for child in parameters.named_children):
        return 0, _UNLIMITED
    return required, required + sum(kind in _OPTIONAL for kind in types)


def _imports(node: Node) -> Iterator[Import]:
    line = node.start_point[0] + 1
    if node.type == "import_from_statement":
        names = [_imported(child) for child in node.children_by_field_name("name")]
        yield Import(line, _text(node.child_by_field_name("module_name")), names)
    elif node.type == "import_statement" and (source := node.child_by_field_name("source")) is not None:
        names = re.findall(r"[\w$]+", _text(node).partition("from")[0].removeprefix("import"))
        yield Import(line, _text(source).strip("'\""), names)
    elif node.type == "import_statement":
        for child in node.children_by_field_name("name"):
            yield Import(line, _imported(child), [])
    elif node.type == "import_spec":
        yield Import(line, _text(node.child_by_field_name("path")).strip('"`'), [])
    elif node.type in _RUST_AND_JAVA_IMPORTS and not node.named_children[0].type.startswith("import_"):
        parts = re.findall(r"\w+", _text(node))
        yield Import(line, ".".join(parts[1:]), parts[-1:])


def _imported(node: Node) -> str:
    return _text(node.child_by_field_name("name") or node)


def _call(node: Node) -> Iterator[Call]:
    called = node.child_by_field_name("function") or node.child_by_field_name("name")
    arguments = node.child_by_field_name("arguments")
    name = re.findall(r"[\w$]+", _text(called)[-200:])
    if name and arguments is not None:
        types = [child.type for child in arguments.named_children if child.type != "comment"]
        splat = any(kind in _ANY_NUMBER or kind == "spread_element" for kind in types)
        yield Call(node.start_point[0] + 1, name[-1], _UNLIMITED if splat else len(types))


@cache
def _language(grammar: str) -> Language:
    return Language(_GRAMMARS[grammar]())


def parse(text: str, grammar: str) -> Tree:
    """Return the syntax tree of a text, with errors in it where the text has some.

    ValueError where it takes too much work: ordinary code calls back less than 30 times for every 1,000 bytes, short
    files aside.
    """
    data = text.encode("utf-8", "surrogatepass")
    max_calls, calls = 5_000 + len(data) // 10, 0

    def read(offset: int, _: object) -> bytes:
        return data[offset : offset + _CHUNK_BYTES]

    def progress(_offset: int, _error: bool) -> bool:
        nonlocal calls
        calls += 1
        return calls > max_calls

    return Parser(_language(grammar)).parse(read, progress_callback=progress)


def _text(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")


_TASKS: dict[str, Callable[..., Any]] = {"outline": outline, "grep": _grep}
