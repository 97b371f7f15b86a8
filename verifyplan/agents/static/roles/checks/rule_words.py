"""What a rule forbids in so many words, and the steps that do it; values that rules give to new things."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from verifyplan.agents.static.roles.issues import Issue
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.reading import denied
from verifyplan.agents.static.roles.rulebook import Rule
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.agents.static.roles.wordsets import words
from verifyplan.protocol.challenge import Severity

_ACTIONS = (
    "add append attach", "remove delete drop strip", "rename", "edit change modify alter rewrite touch",
    "import", "call invoke", "log print", "sleep", "reach", "commit", "push", "merge", "deploy release",
    "skip bypass disable", "mock stub patch", "hardcode", "store keep save", "raise throw", "catch swallow",
    "return", "cache", "copy", "force", "squash", "move", "use", "write", "read", "send", "expose", "share",
    "depend", "install", "restart", "sort", "share", "guess", "truncate", "retry",
)  # fmt: skip
_ACTION = {word: words.split()[0] for words in _ACTIONS for word in words.split()}
_EMPTY = words(
    "a an the of in on at to from by for with and or nor not never no any all our its it is are be been",
    "this that these those which who what they them their one ones other others each every ever than then",
    "there here so as if only also do does may must can will we you i under over into out up down same",
    "new old file files line lines code thing things way",
)
_NEGATIVE = re.compile(
    r"\b(?:are never|is never|are not|is not|must never|never|must not|may not|do not|don't|cannot|nor)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:without|unless|except|until|before|instead|if|when|where|while)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[;:.](?:\s|$)")
_WORDS = re.compile(r"[A-Za-z][A-Za-z-]+")
_TICKED = re.compile(r"`([^`]{1,200})`")
_VALUE = re.compile(
    r"\b(?:a|every|each|any) new (?P<what>\w+)[^.;`]{0,30}\b(?:is|are|starts?|begins?"
    r"|has)\b[^.;`]{0,20}`(?P<value>[^`]{1,30})`",
    re.IGNORECASE,
)
_SWITCH = words("true false on off yes no")


class Ban(NamedTuple):
    """What may not be done: the actions, and what they may not be done to or by."""

    actions: frozenset[str]
    objects: frozenset[str]


def in_words(scene: Scene, rule: Rule) -> Iterator[tuple[int, str]]:
    """Lines of what is to be done that do what a rule forbids, in its words; each with the words."""
    found = [ban for clause in _CLAUSE.split(rule.text) for ban in bans(clause)]
    for at, line in scene.reading.to_do if found else ():
        if scene.reading.block(at) is None and not _NEGATIVE.search(line) and not denied(line):
            words = stems(line)
            for ban in found:
                shared = ban.objects & words
                if ban.actions & actions(line) and len(shared) >= min(2, len(ban.objects)):
                    yield at, " ".join(sorted(shared))


def bans(clause: str) -> Iterator[Ban]:
    """What a clause forbids; nothing where it forbids only under a condition.

    >>> [sorted(ban.objects) for ban in bans("Fields are never removed from answers")]
    [['field']]
    >>> list(bans("Do not add a dependency without a record"))
    []
    """
    marks = list(_NEGATIVE.finditer(clause))
    if not marks or _CONDITION.search(clause):
        return
    first = marks[0]
    before, after = clause[: first.start()], clause[first.start() :]
    passive = first.group().lower().startswith(("are", "is"))
    done = actions(after)
    objects = frozenset(stems(before) or ([] if passive else stems(after))) - frozenset(_ACTION) - done
    if done and objects:
        yield Ban(done, objects)


def actions(text: str) -> frozenset[str]:
    """The actions that a text names, synonyms as one."""
    return frozenset(_ACTION[stem] for stem in map(stem_of, _WORDS.findall(text.lower())) if stem in _ACTION)


def stems(text: str) -> frozenset[str]:
    """The words of a text that mean something, in their plainest form; names in backticks are left out."""
    words = _WORDS.findall(_TICKED.sub(" ", text).lower())
    return frozenset(stem_of(word) for word in words if word not in _EMPTY and len(word) > 2)


def stem_of(word: str) -> str:
    """A word without the ends of verbs and plurals, as far as simple rules go.

    >>> [stem_of(word) for word in ("removed", "renames", "logging", "dependencies", "sleeps", "addresses")]
    ['remove', 'rename', 'log', 'dependency', 'sleep', 'address']
    """
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    for end in ("ing", "ed"):
        base = word[: -len(end)]
        if word.endswith(end) and len(base) >= 3:
            short = base[:-1] if base[-1] == base[-2] and base[-1] not in "lse" else base
            return next((one for one in (base, f"{base}e", short) if one in _ACTION), base)
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def value(scene: Scene, rule: Rule) -> Iterator[tuple[int, str]]:
    """Lines that give something new another value than the rule says that new ones have."""
    match = _VALUE.search(rule.text)
    if match is None or match["value"].lower() not in _SWITCH:
        return
    noun = match["what"].lower()
    given = re.compile(r"`\s*([A-Za-z_][\w.-]*)\s*[:=]\s*(\w+)\s*`|^\s*([A-Za-z_][\w.-]*)\s*[:=]\s*(\w+)\s*$")
    for at, line in scene.reading.to_do:
        for name, worth, key, set_to in given.findall(line):
            word = (worth or set_to).lower()
            if word not in _SWITCH or word == match["value"].lower() or scene.known.mentions(name or key):
                continue
            if noun in " ".join(text for _, text in scene.reading.around(at)).lower():
                yield at, f"{name or key}: {word}"


def conflict(rule: Rule, line: int, why: str, severity: Severity = "SIGNIFICANT") -> Issue:
    """An issue on a rule that a line breaks."""
    return Issue(
        statement("rule-broken", rule.text),
        line,
        f"{why} ({rule.name}).",
        severity,
        "HIGH",
        scenario="The change is turned down in review, or works against what the rule protects.",
        alternative="Do it the way the rule says, or have the rule changed first.",
        beside=(rule.place,),
    )
