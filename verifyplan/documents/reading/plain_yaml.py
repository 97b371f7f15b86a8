"""YAML nodes of plain values alone, read by libyaml where that gives the same (rule H3)."""

from __future__ import annotations

import re
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

from verifyplan.plans.prose import PlainLoader

try:
    from yaml.cyaml import CParser  # type: ignore[attr-defined]
except ImportError:  # PyYAML was built without libyaml: everything is read by its own parser, some four times slower
    CParser = None  # type: ignore[assignment, misc]

DEEPEST = 20

_ALIKE = re.compile(r"[\n ->@-~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe]*")
_APART = re.compile(r"[|>][0-9+-]*#")
"""Texts that both parsers read alike: no tab, question mark, mark of byte order, or second kind of line end; and what
they read apart all the same: a block whose head runs into a comment."""


class Refused(yaml.YAMLError):
    """Something that YAML allows and frontmatter does not; `at` is its place in the text."""

    def __init__(self, at: int, problem: str) -> None:
        super().__init__(problem)
        self.at = at


class _Plain(Composer):
    """Refuses anchors, aliases and tags, and what is nested deeper than anyone writes by hand."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """The next node, if it is plain."""
        event: Any = self.peek_event()  # type: ignore[attr-defined]
        for name in ("anchor", "tag"):
            if getattr(event, name, None) is not None:
                alias = isinstance(event, yaml.AliasEvent)
                raise Refused(event.start_mark.index, f"it holds {'an alias' if alias else _ARTICLE[name]}")
        if self.depth >= DEEPEST:
            raise Refused(event.start_mark.index, f"it is nested deeper than {DEEPEST}")
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


_ARTICLE = {"anchor": "an anchor", "tag": "a tag"}


class _Slow(_Plain, PlainLoader):
    """PyYAML's own parser, whose errors are told."""


if CParser is not None:

    class _Fast(_Plain, CParser, SafeConstructor, Resolver):
        """The events of libyaml, composed and constructed as by the other one."""

        def __init__(self, text: str) -> None:
            CParser.__init__(self, text)
            Composer.__init__(self)
            SafeConstructor.__init__(self)
            Resolver.__init__(self)


def root_node(text: str) -> tuple[SafeConstructor, yaml.Node | None]:
    """The root of a YAML text, None if it is empty, and what makes values of its nodes.

    Raises a YAMLError for what is no YAML, or no plain one.
    """
    if CParser is not None and _ALIKE.fullmatch(text) and not _APART.search(text):
        try:
            fast = _Fast(text)
            return fast, fast.get_single_node()
        except (yaml.YAMLError, ValueError):
            pass  # the other parser tells what is wrong
    slow = _Slow(text)
    return slow, slow.get_single_node()
