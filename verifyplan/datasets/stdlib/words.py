"""How a fact is told: wording, cited line and quotation, as careful and as careless as people are."""

from __future__ import annotations

import re
from random import Random

from verifyplan.datasets.stdlib.facts import Fact

_WORDINGS = {  # [what states the fact|what denies it]
    "parameter": (
        "`{subject}` takes [a|no] parameter `{detail}`.",
        "`{detail}` is [a|not a] parameter of `{subject}`.",
        "The signature of `{subject}` has [an|no] argument named `{detail}`.",
    ),
    "default": (
        "The parameter `{of}` of `{subject}` [defaults|does not default] to `{detail}`.",
        "In `{subject}`, `{of}` [has|does not have] the default value `{detail}`.",
        "`{detail}` is [the|not the] default of `{of}` in `{subject}`.",
    ),
    "raises": (
        "`{subject}` [raises|does not raise] `{detail}`.",
        "`{detail}` is [raised|never raised] in the body of `{subject}`.",
        "The body of `{subject}` [can|cannot] raise an exception of type `{detail}`.",
    ),
    "imports": (
        "The module `{subject}` [imports|does not import] `{detail}`.",
        "`{detail}` is [imported|not imported] by `{subject}`.",
        "`{of}` has [an|no] import of `{detail}`.",
    ),
    "base-class": (
        "`{subject}` [inherits|does not inherit] from `{detail}`.",
        "`{subject}` is [a|not a] subclass of `{detail}`.",
        "`{detail}` is [a|not a] base class of `{subject}`.",
    ),
    "calls": (
        "`{subject}` [calls|does not call] `{detail}`.",
        "`{detail}` is [called|not called] in the body of `{subject}`.",
        "The body of `{subject}` contains [a|no] call to `{detail}`.",
    ),
    "location": (
        "`{subject}` is [defined|not defined] at line {detail} of `{of}`.",
        "The definition of `{subject}` [starts|does not start] at line {detail}.",
    ),
}
_FORMS = {"exact": 34, "decisive": 34, "off": 12, "inside": 10, "shortened": 6, "retyped": 4}
_DENIED, _BARE, _INHERITED = 0.12, 0.2, 0.08  # shares of ways to say it, the same for true and false


def finding(fact: Fact, altered: str, truth: bool, rng: Random) -> tuple[tuple[str, str], str, bool]:
    """Summary and evidence, category and truth; a denial is true of the altered detail."""
    denied = rng.random() < _DENIED
    detail = fact.detail if truth != denied else altered
    wording = rng.choice(_WORDINGS[fact.category]).format(subject=_subject(fact, rng), detail=detail, of=fact.of)
    summary = re.sub(r"\[([^|\]]*)\|([^\]]*)\]", lambda match: match[2 if denied else 1], wording)
    by = int(detail) - fact.line if fact.category == "location" else 0
    return (summary, _evidence(fact, by, rng)), fact.category, truth


def _subject(fact: Fact, rng: Random) -> str:
    """The name of what the fact is about: in full, bare, or through a subclass that inherits it."""
    kind = rng.random()
    owner, _, bare = fact.subject.rpartition(".")
    if fact.category == "imports" or not owner:
        return fact.subject
    heirs = [one.bare for one in fact.module.definitions if owner in one.bases]
    if kind < _INHERITED and heirs:
        heir = rng.choice(heirs)
        own = any(one.name == f"{heir}.{bare}" for one in fact.module.definitions)
        return fact.subject if own else f"{heir}.{bare}"
    return bare if kind > 1 - _BARE else fact.subject


def _evidence(fact: Fact, by: int, rng: Random) -> str:
    """A cited line, `by` lines from where the fact stands, and quoted lines, in a form as in real life."""
    form = rng.choices(list(_FORMS), list(_FORMS.values()))[0]
    first, last = fact.decisive if form == "decisive" else (fact.line, fact.line + rng.randint(0, 1))
    shift = {"off": rng.choice((-4, -3, -2, -1, 1, 2, 3)), "inside": rng.randint(0, fact.last - fact.line)}
    quote = [line for line in fact.module.lines[first - 1 : min(last, first + 7)] if line.strip()]
    cited = min(max(first + by + shift.get(form, 0), 1), len(fact.module.lines))
    return "\n".join([f"{fact.module.path}:{cited}", *(f"> {line}" for line in _copied(quote, form))])


def _copied(quote: list[str], form: str) -> list[str]:
    """The quoted lines as they were copied: whole, shortened at the end, or typed anew without much care."""
    if form == "shortened" and quote:
        return [*quote[:-1], quote[-1][: max(12, len(quote[-1]) * 3 // 5)].rstrip() + " ..."]
    if form == "retyped":
        return [line.replace('"', "'").replace(", ", ",").replace(" = ", "=") for line in quote]
    return quote
