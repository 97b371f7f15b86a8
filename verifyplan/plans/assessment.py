"""Assess how complex a plan is and how much it says: counted from word lists, every counted word shown (rule A8)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from verifyplan.field_docs import with_field_docs
from verifyplan.plans.commands import begins_like_command, writes
from verifyplan.plans.markdown import TextBlock
from verifyplan.plans.statements import constraints, decisions, is_goal_line, may_state_goal
from verifyplan.plans.values import Plan, Reference, normalised
from verifyplan.plans.word_lists import Lexicon, table
from verifyplan.protocol.records import PlanQuality
from verifyplan.rules.sizing import Signs, Traits, quality, trivial

DOMAIN_WORDS, DOMAIN_MENTIONS = 2, 3
"""A domain counts from so many different words on, or from so many mentions of one word: one alone may be chance."""

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")
_LETTERS = re.compile(r"[A-Z]+(?![a-z])|[^\W\d_A-Z][^\W\d_A-Z]*|[A-Z][^\W\d_A-Z]*")
_CODE = re.compile(r"`[^`]{0,500}`")
_ADDRESS = re.compile(r"\S{1,40}://\S+|(?<!\S)\S?@?[^\s/]{0,80}/\S*[/.]\w\S*")
_INVISIBLE = re.compile("[*\u00ad\u200b-\u200d\u2060\ufeff]")
"""Marks of emphasis and characters without width: a reader does not see that they divide a word."""
_NO_QUESTIONS = re.compile(r"\W*(?:\w+ ){0,2}open (?:question|issue)s?\W*(?:none\b.*)?", re.IGNORECASE)


class CountedWord(NamedTuple):
    """A word that counted as a sign, in small letters, and its line."""

    word: str
    line: int


@with_field_docs
@dataclass(frozen=True)
class Assessment:
    """The signs and traits by which a plan is sized, and the words they rest on.

    `domains` are those that count. `found` holds the words under "domain:api", "integration:Stripe", "compliance",
    "unknown" and "destruction"; words of a domain that does not count are there, too, to show why it does not.
    """

    signs: Signs
    """The counts by which a plan is sized."""
    traits: Traits
    """What makes a plan complex (rule A8)."""
    quality: PlanQuality
    """How much the plan says: RICH, ADEQUATE or THIN."""
    trivial: bool
    """Whether the plan is small and says nothing risky."""
    domains: tuple[str, ...]
    """The domains that count, such as `security`."""
    found: Mapping[str, tuple[CountedWord, ...]] = field(hash=False)
    """The words behind signs and traits, by what they count for."""

    @property
    def integrations(self) -> tuple[str, ...]:
        """The external systems that the plan names."""
        return tuple(key.partition(":")[2] for key in self.found if key.startswith("integration:"))


def assess(plan: Plan) -> Assessment:
    """Count a plan's signs and traits, and judge by them how much it says and whether it is trivial.

    Only text outside headings counts, wherever its lines break and whatever its lists look like; the words for
    destruction count in headings and code, too. Words count whole, in any case, with a plural s; not in fenced code,
    paths, URLs, nor the frontmatter. A domain counts from 2 different words or 3 mentions on; integrations are counted
    by system, unknown signals by sentence, files and other references by name. Source: rule A8.

    >>> import verifyplan as vp
    >>> found = assess(vp.plans.read_plan(vp.datasets.plan_path("purge-hour")))
    >>> found.quality, found.trivial
    ('THIN', False)
    """
    counted = _counted_words(plan)
    domains = []
    for name in table("domains"):  # "webhook" and "webhooks" are one word
        mentions = Counter(each.word.removesuffix("s") for each in counted.get(f"domain:{name}", ()))
        if len(mentions) >= DOMAIN_WORDS or mentions.total() >= DOMAIN_MENTIONS:
            domains.append(name)
    headings = {text.first for text in plan.texts if text.kind == "heading"}
    references = [reference for reference in plan.references if reference.line not in headings]
    signs = Signs(
        steps=len(plan.actions),
        domains=len(domains),
        integrations=sum(1 for group in counted if group.startswith("integration:")),
        compliance="compliance" in counted,
        unknown_signals=len(counted.get("unknown", ())),
        referenced_files=len({normalised(reference.name) for reference in references if reference.kind == "file"}),
    )
    traits = _traits(plan, references, len(counted.get("destruction", ())))
    return Assessment(signs, traits, quality(traits), trivial(signs, traits), tuple(domains), counted)


def _lists() -> dict[str, list[str]]:
    """Return all lists of words by the names under which their words are shown."""
    lists = {f"domain:{name}": phrases for name, phrases in table("domains").items()}
    lists |= {f"integration:{name}": phrases for name, phrases in table("integrations").items()}
    return lists | {"compliance": table("signals")["compliance"], "unknown": table("signals")["unknowns"]}


_LEXICON = Lexicon(_lists())


def _counted_words(plan: Plan) -> dict[str, tuple[CountedWord, ...]]:
    """Return every counted word by its list, in the order of the lists; of unknown signals the first of a sentence."""
    counted: dict[str, list[CountedWord]] = {group: [] for group in _lists()}
    for text in plan.texts:
        for sentence, line in _sentences(text):
            unknown = bool(_NO_QUESTIONS.fullmatch(" ".join(sentence.split())))
            for match in _LEXICON.find(sentence):
                if match.group != "unknown" or not unknown:
                    word = CountedWord(match.words, line + sentence.count("\n", 0, match.start))
                    counted[match.group].append(word)
                unknown = unknown or match.group == "unknown"
    listed = frozenset(table("signals")["destruction"])
    counted["destruction"] = [  # anywhere in the plan: no mention of it is too small to look at
        CountedWord(word.lower(), number)
        for number, line in enumerate(plan.lines[plan.body - 1 :], plan.body)
        for word in _LETTERS.findall(_INVISIBLE.sub("", line))
        if word.lower() in listed
    ]
    return {group: tuple(words) for group, words in counted.items() if words}


def _sentences(text: TextBlock) -> Iterator[tuple[str, int]]:
    """Yield the sentences of a text, with the line on which each begins; a heading has none, addresses are blanked."""
    if text.kind == "heading":
        return
    content = _ADDRESS.sub(lambda address: " " * len(address.group()), text.content)
    starts = [0, *(end.end() for end in _SENTENCE_END.finditer(content)), len(content)]
    for start, end in pairwise(starts):
        yield content[start:end], text.first + content.count("\n", 0, start)


def _traits(plan: Plan, references: Sequence[Reference], destructive: int) -> Traits:
    """Return the traits of the text alone, without those that line breaks and headings lend it."""
    headings = {text.content for text in plan.texts if text.kind == "heading"}
    texts = []
    for text in plan.texts:
        if text.kind != "heading":
            above = tuple(label for label in text.above if label not in headings)
            texts.append(replace(text, content=" ".join(text.content.split()), above=above))
    return Traits(
        goal=any(may_state_goal(text) or is_goal_line(text.content) for text in texts),
        steps=len(plan.actions),
        constraints=len(constraints(texts, ())),
        decisions=len(decisions(texts)),
        references=len({(reference.kind, reference.name) for reference in references}),
        words=sum(1 for text in texts for word in _CODE.sub(" ", text.content).split() if _LETTERS.search(word)),
        destructive=destructive,
        writes=sum(map(writes, _commands(plan))),
    )


def _commands(plan: Plan) -> Iterator[str]:
    """Yield every command of the plan, and what looks like one in inline code and in fences that name no language."""
    yield from (reference.name for reference in plan.references if reference.kind == "command")
    inline = (" ".join(code.strip("`").split()) for text in plan.texts for code in _CODE.findall(text.content))
    fenced = (line for block in plan.blocks if not block.language for line in block.text.split("\n"))
    yield from filter(begins_like_command, (*inline, *fenced))
