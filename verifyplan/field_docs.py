"""Show the strings under the fields of a class in its help; Python itself forgets them."""

from __future__ import annotations

import ast
from functools import cache
from inspect import cleandoc, getsource
from itertools import pairwise
from textwrap import dedent
from typing import TypeVar

T = TypeVar("T")


def with_field_docs(cls: type[T]) -> type[T]:
    """Return a dataclass or named tuple whose `__doc__`, and so its help, ends in a list of its documented fields.

    The source is read when somebody asks; fields of base classes come first. Without a source nothing is added.

    >>> from verifyplan.analysis.explain import Explanation
    >>> print(Explanation.__doc__)
    One finding's way to its class, as data and as words.
    <BLANKLINE>
    Fields:
        finding: The finding's row of the replay: class, rule, round, censoring, filled bases.
        votes: The votes on it, by round and worker.
        text: The explanation in words, as `print` shows it.
    """
    type.__setattr__(cls, "__doc__", _Doc(cls.__doc__ or ""))  # a descriptor, which Python asks for the text
    return cls


def field_docs(cls: type) -> dict[str, str]:
    """Return the documented fields of a class and of those it is derived from, each with the string under it."""
    docs: dict[str, str] = {}
    for kind in reversed(cls.__mro__):
        docs |= _own_field_docs(kind)
    return docs


@cache  # Python reads a class's source word by word, and that of pydantic's base class for every model
def _own_field_docs(cls: type) -> dict[str, str]:
    try:
        [tree] = ast.parse(dedent(getsource(cls))).body
    except (OSError, TypeError):  # built in, or without source
        return {}
    if not isinstance(tree, ast.ClassDef):
        return {}
    return {name: text for field, below in pairwise(tree.body) for name, text in _documented(field, below)}


def _documented(field: ast.stmt, below: ast.stmt) -> list[tuple[str, str]]:
    """Return the name and the text of a field with a string under it; nothing for any other pair of statements."""
    if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
        return []
    text = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else None
    return [(field.target.id, " ".join(text.split()))] if isinstance(text, str) else []


class _Doc:
    """The `__doc__` of a class, completed when it is asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __get__(self, instance: object, owner: type) -> str:
        """Return the text and the documented fields of the class."""
        fields = "\n".join(f"    {name}: {text}" for name, text in field_docs(owner).items())
        return f"{cleandoc(self.text)}\n\nFields:\n{fields}" if fields else self.text
