"""What a plan of a domain must speak of, and where a plan does not (document 002's domain expert).

The demands are data, `lenses.toml`; here they are read and held against the lines that say what is to be done.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from verifyplan.agents.static.roles.issues import Issue, Place
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.reading import Reading, denied
from verifyplan.protocol.challenge import Confidence, Severity

_LONGEST_LINE = 400
_TICKED = re.compile(r"`([^`]{4,200})`")
_SHELLS = frozenset({"sh", "bash", "shell", "console", "zsh", ""})
_PROGRAM = re.compile(r"^#!|\b(?:if|while|until|for)\b.*[;\n]|\bthen\b|\|\||\(\)\s*\{|set -e|=\"?\$\(", re.MULTILINE)
"""What a shell text holds that is a program, and not typed in by hand."""
_COMMENT = re.compile(r"(?:^|\s)(?:#|//|-- )")
_STATEMENT = 3
_BACKWARD = re.compile(r"\b(?:down|back|way back|rollback|undo|reverts?|on the way down|going down)\b[^.;]*$")
_UNSAID = re.compile(r"\b(?:no|without(?: an?| any)?|lacks?|missing|not|never)\s+(?:\w+\s+)?$")


@dataclass(frozen=True)
class Demand:
    """What a kind of step calls for; the fields are those of `lenses.toml`."""

    lens: str
    what: str
    severity: Severity
    confidence: Confidence
    when: re.Pattern[str]
    never: re.Pattern[str] | None
    said: re.Pattern[str]
    here: re.Pattern[str] | None
    asked: re.Pattern[str] | None
    breaks: str
    instead: str
    challenger: bool = False
    code: bool = False
    near: bool = False


@cache
def demands() -> tuple[Demand, ...]:
    """All demands, in the order of the file."""
    text = files(__package__ or "").joinpath("lenses.toml").read_text("utf-8")
    return tuple(_demand(table) for table in tomllib.loads(text)["demand"])


def _demand(table: dict[str, Any]) -> Demand:
    when, said = (_code if table.get("code") else _words)(table["when"]), _words(table["said"])
    never, here, asked = (_words(table[key]) if key in table else None for key in ("never", "here", "asked"))
    plain = {key: table[key] for key in ("lens", "what", "severity", "confidence", "breaks", "instead")}
    return Demand(
        **plain,
        when=when,
        never=never,
        said=said,
        here=here,
        asked=asked,
        challenger=table.get("challenger", False),
        code=table.get("code", False),
        near=table.get("near", False),
    )


def _words(patterns: Sequence[str]) -> re.Pattern[str]:
    """One pattern for whole words in small letters; a space stands for any run of spaces."""
    one = "|".join(pattern.replace(" ", r"\s+") for pattern in patterns) or "(?!)"
    return re.compile(rf"(?<![\w-])(?:{one})(?![\w-])")


def _code(patterns: Sequence[str]) -> re.Pattern[str]:
    """One pattern for pieces of code in small letters, which need not end a word."""
    return re.compile(rf"(?<![\w-])(?:{'|'.join(patterns)})")


def unmet(reading: Reading, rules: Sequence[str], chosen: Sequence[Demand]) -> Iterator[Issue]:
    """An issue for each demand that a line of the plan calls for and no line speaks of.

    `rules` are the lines of the project's rules files, which some demands depend on. A line that denies what
    would call for it calls for nothing, and "no rollback" is no word on rollback.
    """
    for demand in chosen:
        if demand.asked is not None and not any(demand.asked.search(rule.lower()) for rule in rules):
            continue
        open_ = next(
            (
                (at, found)
                for at, found in calls(demand, reading)
                if not _here(demand, reading, at) and not spoken_at(demand, reading, at)
            ),
            None,
        )
        if open_ is not None:
            yield _issue(demand, *open_, _goes_live(reading, open_[0]))


def calls(demand: Demand, reading: Reading) -> Iterator[tuple[int, str]]:
    """The lines of what is to be done that call for it, each with the words that do."""
    for at, text in reading.to_do:
        if not reading.downward(at):
            code = reading.block(at) is not None
            line = (_COMMENT.split(text)[0] if code else text).lower()[:_LONGEST_LINE]
            found = _call(demand, _as_code(reading, at, line) if demand.code else line)
            if found is not None:
                yield at, found


def spoken_at(demand: Demand, reading: Reading, line: int = 0) -> int:
    """The first line of the plan that speaks of what is demanded, frontmatter and code among them; 0 if none does.

    Of a demand that is to be met near by, only the step of `line` counts, and lines that plan nothing.
    """
    near = {at for at, _ in reading.around(line)} if demand.near and line else None
    for at, text in enumerate(reading.plan.lines, 1):
        counts = near is None or at in near or (reading.step(at) is None and not reading.planned(at))
        if counts and _spoken(demand.said, text.lower()):
            return at
    return 0


def _as_code(reading: Reading, at: int, line: str) -> str:
    """A line of code as it is; of a line of prose, what stands in backticks."""
    block = reading.block(at)
    if block is None:
        return " ; ".join(name for name in _TICKED.findall(line) if not name.startswith(("curl", "wget")))
    by_hand = block.language in _SHELLS and not _PROGRAM.search(block.text)
    return "" if by_hand else line


def _call(demand: Demand, line: str) -> str | None:
    """The words of a line that call for it, or None."""
    found = demand.when.search(line)
    if found is None or denied(line, found.start()) or _BACKWARD.search(line[: found.start()]):
        return None
    if demand.never is not None and demand.never.search(line):
        return None
    return found.group()


def _spoken(said: re.Pattern[str], line: str) -> bool:
    return any(
        _UNSAID.search(line[max(0, found.start() - 40) : found.start()]) is None for found in said.finditer(line)
    )


def _here(demand: Demand, reading: Reading, at: int) -> bool:
    """Whether the line that calls for it, or one of the few behind it in the same block of code, has it itself."""
    block = reading.block(at)
    last = min(at + _STATEMENT, block.last) if block else at + 1
    return demand.here is not None and any(
        demand.here.search(reading.plan.line(number).lower()) for number in range(at, last + 1)
    )


def _goes_live(reading: Reading, line: int) -> tuple[Place, ...]:
    """The later line, if any, that takes it to production: where it becomes final."""
    later = (at for at, text in reading.to_do if at > line and "production" in text.lower())
    return tuple(Place("", at) for at in list(later)[:1])


def _issue(demand: Demand, line: int, words: str, beside: tuple[Place, ...]) -> Issue:
    return Issue(
        statement("demand", " ".join(words.replace("`", "").split()), demand.what),
        line,
        f"Seen with the eyes of {demand.lens}, such a step calls for it: without it {demand.breaks}.",
        demand.severity,
        demand.confidence,
        scenario=f"When the step goes wrong, {demand.breaks}.",
        alternative=f"{demand.instead[0].upper()}{demand.instead[1:]}.",
        beside=beside if demand.severity == "BLOCKING" else (),
    )
