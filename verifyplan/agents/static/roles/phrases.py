"""How the static agents word a challenge, and how a panel worker reads the same words again.

Each kind of statement stands here once. Its names are set in backticks, so that a worker which is shown the
words alone finds them; free words of other backends match no kind and are read as None.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, get_args

Kind = Literal[
    "file-missing",
    "symbol-missing",
    "symbol-elsewhere",
    "wrong-call",
    "package-missing",
    "command-missing",
    "used-before-created",
    "used-after-deleted",
    "kept-and-changed",
    "two-values",
    "denied-and-done",
    "rule-broken",
    "rule-left-out",
    "stale-claim",
    "exists-already",
    "similar-exists",
    "dependents",
    "demand",
    "unchecked",
    "combined",
    "reverted-before",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

CLAIMS: dict[Kind, str] = {
    "file-missing": "The plan assumes that the file {} exists.",
    "symbol-missing": "The plan assumes that {} is defined in the repository.",
    "symbol-elsewhere": "The plan assumes that {} is defined in {}.",
    "wrong-call": "The plan calls {} in a form that {} does not know.",
    "package-missing": "The plan assumes that the package {} is declared.",
    "command-missing": "The plan assumes that the command {} exists.",
    "used-before-created": "The plan uses {} before the step that creates it.",
    "used-after-deleted": "The plan still needs {} after the step that deletes it.",
    "kept-and-changed": "The plan changes {}, which it also says is left as it is.",
    "two-values": "The plan gives {} two values, {} and {}.",
    "denied-and-done": "The plan says {} and does {} all the same.",
    "rule-broken": "The plan does what a rule of the project forbids: {}.",
    "rule-left-out": "The plan leaves out what a rule of the project asks for: {}.",
    "stale-claim": "The plan states of the code what the code does not bear out: {}.",
    "exists-already": "The plan creates {} as if it did not exist yet.",
    "similar-exists": "The plan creates {} beside {}, which seems to serve the same purpose.",
    "dependents": "The plan changes {} without a word on what depends on it.",
    "demand": "The plan says {} and nothing of {}.",
    "unchecked": "The plan does {} and no step checks the outcome.",
    "combined": "The plan does {} before {} has shown that it works.",
    "reverted-before": "The plan changes {}, where an earlier change was taken back: {}.",
}
"""What is claimed of the plan, by kind; each pair of braces is a name in backticks."""

_LONGEST_NAME = 300
_NAME = r"`([^`\n]+)`"


class Statement(NamedTuple):
    """What a challenge states: the kind, and the names that it states it of."""

    kind: Kind
    names: tuple[str, ...]


def claim(statement: Statement) -> str:
    """The statement as a challenge's claim.

    >>> claim(Statement("file-missing", ("src/a.py",)))
    'The plan assumes that the file `src/a.py` exists.'
    """
    return CLAIMS[statement.kind].format(*map(ticked, statement.names))


def ticked(name: str) -> str:
    """A name in backticks, on one line; what cannot stand between them is replaced, and a long name is cut.

    >>> ticked("a`b"), ticked("")
    ("`a'b`", '` `')
    """
    return f"`{bare(name)}`"


def bare(name: str) -> str:
    """A name as it can stand between backticks."""
    return " ".join(name.replace("`", "'").split())[:_LONGEST_NAME] or " "


def statement(kind: Kind, *names: str) -> Statement:
    """A statement with names as they will be read again."""
    return Statement(kind, tuple(map(bare, names)))


def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(_NAME.join(map(re.escape, template.split("{}"))))


_PATTERNS: dict[Kind, re.Pattern[str]] = {kind: _pattern(template) for kind, template in CLAIMS.items()}


def read_statement(text: str) -> Statement | None:
    """What a text that begins with a claim states; None for words that are not worded here.

    >>> read_statement("The plan gives `timeout` two values, `5` and `10`. One of them is wrong.")
    Statement(kind='two-values', names=('timeout', '5', '10'))
    >>> read_statement("This will never work.") is None
    True
    """
    for kind, pattern in _PATTERNS.items():
        match = pattern.match(text)
        if match is not None:
            return Statement(kind, match.groups())
    return None
