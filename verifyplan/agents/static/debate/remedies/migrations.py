"""The way down of a migration that the plan writes without one."""

from __future__ import annotations

import re

from verifyplan.agents.static.debate.page import Lines
from verifyplan.agents.static.debate.remedies.case import Case
from verifyplan.documents.values import CodeBlock

_LACKS = re.compile(r"^The code of the plan has no `([^`]*\bdown\b[^`]*)` ")
_FIRST = re.compile(r"\bcannot bring [^.;]{1,60} back, '([^']{1,100})' runs first\b")
_ADD = re.compile(r"^alter table (?:only )?(\S+) add column (?:if not exists )?(\S+) [^;]*;?$", re.IGNORECASE)
_CREATE = re.compile(
    r"^create (?:unique )?(table|index)(?: concurrently)? (?:if not exists )?([\w.\"]+)\b.*$", re.IGNORECASE
)
_CONSTRAIN = re.compile(r"^alter table (\S+) add constraint (\S+) .*$", re.IGNORECASE)


def down(case: Case) -> Lines | None:
    """The code with a part that takes back, last first, what the part above it does; None where that cannot be told."""
    lacks, block = _LACKS.search(case.finding.concern), case.reading.block(case.finding.line)
    if lacks is None or block is None:
        return None
    backward = _backward(block)
    if not backward:
        return None
    first = _FIRST.search(case.names[0])
    said = f"Before it goes down, `{first[1]}` runs: what is dropped cannot be brought back otherwise." if first else ""
    lines = (case.add(said) if said else None) or case.lines  # behind the block, whose own lines keep their numbers
    indent = case.lines[block.first - 1][: -len(case.lines[block.first - 1].lstrip()) or None]
    more = ["", lacks[1], *backward]
    end = block.last - 1
    return (*lines[:end], *(f"{indent}{line}".rstrip() for line in more), *lines[end:])


def _backward(block: CodeBlock) -> list[str]:
    text = " ".join(line for line in block.text.split("\n") if not line.lstrip().startswith("--"))[:20_000]
    forward = [" ".join(one.split()) for one in text.split(";") if one.strip()]
    backward = [_undone(one) for one in reversed(forward)]
    return [one for one in backward if one] if all(backward) else []


def _undone(statement: str) -> str:
    """The statement that takes another one back; empty if none is known to."""
    if found := _ADD.match(statement):
        return f"ALTER TABLE {found[1]} DROP COLUMN {found[2]};"
    if found := _CONSTRAIN.match(statement):
        return f"ALTER TABLE {found[1]} DROP CONSTRAINT {found[2]};"
    if found := _CREATE.match(statement):
        return f"DROP {found[1].upper()} {found[2]};"
    return ""
