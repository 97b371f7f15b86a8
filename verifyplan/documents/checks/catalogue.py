"""Tables of rules (rules.csv, issues.csv), what a broken rule says, and violations of documents (rules D2, D3)."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from string import Formatter
from typing import Any, Literal

from verifyplan.field_docs import with_field_docs
from verifyplan.redaction import redact

ViolationSeverity = Literal["error", "warning", "info"]

MAX_MESSAGE_CHARACTERS = 500
MAX_VALUE_CHARACTERS, MAX_WORDS_CHARACTERS = 80, 100
"""Characters of a value, and of a plan's own words, that are quoted: a report is read line by line."""


def rule_rows(package: str, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table of rules beside the code, each as its cells by column."""
    text = files(package).joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def quoted(text: str) -> str:
    """Return a plan's own words on one line, in quotation marks, truncated where they are long.

    >>> quoted("the  login works")
    '"the login works"'
    """
    line = " ".join(text.split())
    return f'"{line if len(line) <= MAX_WORDS_CHARACTERS else line[: MAX_WORDS_CHARACTERS - 1].rstrip() + "…"}"'


class _Template(Formatter):
    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if conversion == "w":
            return quoted(value)
        return repr(value[:MAX_VALUE_CHARACTERS]) if conversion == "q" else super().convert_field(value, conversion)


_TEMPLATE = _Template()


def filled(rule: Any, name: str, values: Mapping[str, Any]) -> str:
    """Return a text of a rule ("message", "fix") with its values filled in, or the value of that name in its place.

    {name!q} is a value in quotation marks, {name!w} a plan's own words.
    """
    return str(values[name]) if name in values else _TEMPLATE.vformat(getattr(rule, name), (), values)


@dataclass(frozen=True)
class Rule:
    """One rule: its id, its severity, the rule of docs/protocol.md behind it, and what it requires, in one sentence.

    `message` and `fix` are what a violation says, with the names of values in braces.
    """

    id: str
    severity: ViolationSeverity
    protocol_rule: str
    meaning: str
    message: str
    fix: str


@with_field_docs
@dataclass(frozen=True, order=True)
class Violation:
    """A rule that a document breaks: where, what is wrong, and what to do.

    `lines` are all lines of a rule that is broken so often that it is reported once; empty for a single line.

    >>> said = ("the task has no id", 'write id="01-01-T1"')
    >>> print(Violation("PLAN-01.md", 7, "plan/task-id", "error", *said))
    PLAN-01.md:7: error: the task has no id [plan/task-id]. Fix: write id="01-01-T1".
    """

    path: str
    """The document."""
    line: int
    """The line, from 1."""
    rule: str
    """The id of the rule, such as `plan/task-id`."""
    severity: ViolationSeverity
    """How bad it is: `error`, `warning` or `info`."""
    message: str
    """The fault, in words."""
    fix: str
    """The fix, in words."""
    lines: tuple[int, ...] = ()
    """All lines of a rule that is broken so often that it is reported once; empty for a single line."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.severity}: {self.message} [{self.rule}]. Fix: {self.fix}."


def violation(rule: str, path: str, line: int, /, **values: Any) -> Violation:
    """Return a violation of a rule of the catalogue: its message and its fix, filled in with values.

    A `message` or a `fix` among the values replaces the rule's own. Long texts are truncated to 500 characters, and
    keys and passwords are redacted.

    >>> print(violation("plan/plan-id", "PLAN-01.md", 3, plan="auth").message)
    the plan's id 'auth' is not its phase's number and its own
    """
    broken = RULES[rule]
    message, fix = (_one_line(filled(broken, name, values)) for name in ("message", "fix"))
    return Violation(path, max(line, 1), rule, broken.severity, message, fix)


def _one_line(text: str) -> str:
    line = redact(" ".join(text[:4_000].split()))
    return line if len(line) <= MAX_MESSAGE_CHARACTERS else f"{line[:MAX_MESSAGE_CHARACTERS].rstrip()}..."


RULES = {row["id"]: Rule(**row) for row in rule_rows("verifyplan.documents.checks", "rules.csv")}
"""Every rule by its id, kind by kind; "tree" rules hold across documents."""
