"""How complex a plan is and how much it says: counted from word lists, every counted word shown (SPEC A8)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from verifyplan.documents.lexicon import Lexicon
from verifyplan.documents.values import Plan
from verifyplan.documents.wordlists import table
from verifyplan.protocol.iteration import PlanQuality
from verifyplan.rules.sizing import Signs, Traits, quality, trivial

DOMAIN_WORDS, DOMAIN_MENTIONS = 2, 3
"""A domain counts from so many different words on, or from so many mentions of one word: one alone may be chance."""

_HEADING = re.compile(r"[ ]{0,3}#{1,6}(?:[ \t]|$)")
_UNDERLINE = re.compile(r"[ ]{0,3}(?:=+|-+)[ \t]*$")
_ADDRESS = re.compile(r"\S{1,40}://\S+|(?<!\S)\S?@?[^\s/]{0,80}/\S*[/.]\w\S*")
_NONE = re.compile(r"\W*(?:\w+ ){0,2}open (?:question|issue)s?\W*(?:none\b.*)?", re.IGNORECASE)


class Found(NamedTuple):
    """A word that counted as a sign, in small letters, and its line."""

    word: str
    line: int


@dataclass(frozen=True)
class Assessment:
    """What sizing goes by, and the words it rests on.

    `domains` are those that count. `found` holds the words under "domain:api", "integration:Stripe", "compliance"
    and "unknown"; words of a domain that does not count are there, too, so that one sees why.
    """

    signs: Signs
    traits: Traits
    quality: PlanQuality
    trivial: bool
    domains: tuple[str, ...]
    found: Mapping[str, tuple[Found, ...]] = field(hash=False)

    @property
    def integrations(self) -> tuple[str, ...]:
        """The external systems that the plan names."""
        return tuple(key.partition(":")[2] for key in self.found if key.startswith("integration:"))


def assess(plan: Plan) -> Assessment:
    """Count a plan's signs and traits, and judge by them how much it says and whether it is trivial.

    Words count whole, in any case, with a plural s; not in fenced code, paths, URLs, nor the frontmatter. A domain
    counts from 2 different words or 3 mentions on; integrations are counted by system, unknown signals by line,
    files and other references by name. Source: SPEC A8.
    """
    found = _found(plan)
    counted = tuple(name for name in table("domains") if _counts(found.get(f"domain:{name}", ())))
    signs = Signs(
        steps=len(plan.steps),
        domains=len(counted),
        integrations=sum(1 for group in found if group.startswith("integration:")),
        compliance="compliance" in found,
        unknown_signals=len(found.get("unknown", ())),
        referenced_files=len(plan.files),
    )
    traits = _traits(plan)
    return Assessment(signs, traits, quality(traits), trivial(signs, traits), counted, found)


def _lists() -> dict[str, list[str]]:
    """All lists of words by the names under which their words are shown."""
    lists = {f"domain:{name}": phrases for name, phrases in table("domains").items()}
    lists |= {f"integration:{name}": phrases for name, phrases in table("integrations").items()}
    return lists | {"compliance": table("signals")["compliance"], "unknown": table("signals")["unknowns"]}


_LEXICON = Lexicon(_lists())


def _found(plan: Plan) -> dict[str, tuple[Found, ...]]:
    """Every counted word by its list, in the order of the lists; unknown signals are one a line."""
    found: dict[str, list[Found]] = {group: [] for group in _lists()}
    for number, line in _prose(plan):
        for match in _LEXICON.find(line):
            words = found[match.group]
            again = match.group == "unknown" and words and words[-1].line == number
            if not again and not (match.group == "unknown" and _NONE.fullmatch(line)):
                words.append(Found(match.words, number))
    return {group: tuple(words) for group, words in found.items() if words}


def _traits(plan: Plan) -> Traits:
    return Traits(
        goal=bool(plan.goal),
        steps=len(plan.steps),
        constraints=len(plan.constraints),
        decisions=len(plan.decisions),
        references=len({(found.kind, found.name) for found in plan.references}),
        content_lines=_content_lines(plan),
    )


def _content_lines(plan: Plan) -> int:
    """Lines of the body that are neither blank nor part of a heading; code counts."""
    headings = {section.first for section in plan.sections if section.level}
    underlines = [line + 1 for line in headings if not _HEADING.match(plan.line(line))]
    headings |= {line for line in underlines if _UNDERLINE.match(plan.line(line))}
    lines = enumerate(plan.lines[plan.body - 1 :], plan.body)
    return sum(1 for number, line in lines if line.strip() and number not in headings)


def _prose(plan: Plan) -> Iterator[tuple[int, str]]:
    """The lines in which words count: those of the body that stand in no fenced code."""
    code = {number for block in plan.blocks for number in range(block.first, block.last + 1)}
    lines = enumerate(plan.lines[plan.body - 1 :], plan.body)
    return ((number, _ADDRESS.sub(" ", line)) for number, line in lines if line.strip() and number not in code)


def _counts(words: Iterable[Found]) -> bool:
    """Whether words are enough for a domain; "webhook" and "webhooks" are one word."""
    mentions = Counter(found.word.removesuffix("s") for found in words)
    return len(mentions) >= DOMAIN_WORDS or sum(mentions.values()) >= DOMAIN_MENTIONS
