"""Syntax trees of one text: parsed with a bound on the work, walked without recursion.

Meant to run in the process of `careful_main`: on texts made for it, a parser takes gigabytes or ends its process.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_rust
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser, Tree

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


def inside(node: Node, enters: frozenset[str]) -> Iterator[Node]:
    """A node and all named nodes below it, in order, going down only into what `enters` names (empty: everywhere)."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        if found.child_count and (not enters or found.type in enters):
            waiting += reversed(found.named_children)
