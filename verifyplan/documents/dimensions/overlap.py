"""Which words of a plan carry meaning, and how much of one text another one speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterable

from verifyplan.plans.word_lists import words

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]+|\d+")
_JOINT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENDINGS = ("ations", "ation", "ingly", "ings", "ions", "ing", "ion", "ies", "ed", "es", "s", "y", "e")
_SHORTEST = 4
_MOST = 400_000


def meaningful_words(text: str) -> frozenset[str]:
    """The words of a text that carry meaning, without their endings; those of names are taken apart.

    >>> sorted(meaningful_words("The handler validates webhookSignatures with `hmac_secret`"))
    ['handler', 'hmac', 'secret', 'signatur', 'validat', 'webhook']
    """
    found = _WORD.findall(_JOINT.sub(" ", text[:_MOST]))
    return frozenset(_stem(word.lower()) for word in found if len(word) > 2 and word.lower() not in _stop())


def share_of_meaning(text: str, spoken: frozenset[str]) -> float:
    """How much of a text's meaning is among `spoken` words, from 0 to 1; 1 where it has none.

    >>> share_of_meaning("Users can log in", meaningful_words("Add the login form for users"))
    0.5
    """
    wanted = meaningful_words(text)
    return len(wanted & spoken) / len(wanted) if wanted else 1.0


def is_empty(text: str) -> bool:
    """Whether a text says nothing: it is blank, or only stands for what is to be written.

    >>> is_empty(" TBD "), is_empty("..."), is_empty("Run the tests")
    (True, True, False)
    """
    left = text.split()
    return all(word.lower().strip("*`[](){}<>:;!") in _blank() for word in left)


def vague_words(text: str) -> list[str]:
    """The words of a text that two people would judge differently, in order.

    >>> vague_words("The login works correctly and looks good")
    ['works', 'correctly', 'good']
    """
    return [word for word in _lower(text) if word in words("plan_check", "vague")]


def _lower(text: str) -> Iterable[str]:
    return (word.lower() for word in _WORD.findall(text[:_MOST]))


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word[: -len(ending)]
    return word


def _stop() -> frozenset[str]:
    return words("plan_check", "stop")


def _blank() -> frozenset[str]:
    return words("plan_check", "empty") | {""}
