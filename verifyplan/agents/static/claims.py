"""A claim about code, read from an ordinary sentence into its parts (SPEC G2).

Names stand in backticks, or bare where nothing else in the sentence could be a name. What is not clearly
one claim is not read at all: a checker that guesses what was meant would judge something nobody said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, cast

from verifyplan.agents.static import vocabulary
from verifyplan.agents.static.sentences import Sentence, sentences

Kind = Literal["parameter", "default", "raises", "imports", "base-class", "calls", "location"]
Roles = tuple[str, str, str]  # subject, detail, value

_PATH = re.compile(r"(?:[^\s:]*[/\\][^\s:]*|[^\s:]+\.(?:py|pyi))(?::([0-9]{1,8}))?(?:-[0-9]{1,8})?")
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_LONGEST = 2000


@dataclass(frozen=True)
class Claim:
    """What a sentence states: `kind` of fact, `subject` it is about, and the `detail` that can be wrong.

    `subject` is empty where an import is stated of the cited file itself; `detail` is a parameter, exception,
    module, base, called name, or the line number of a location (empty: none stated); `value` is the default
    of a parameter (empty: any). `unread` is a word, such as `when`, whose part of the sentence was not
    understood.
    """

    kind: Kind
    subject: str
    detail: str
    value: str = ""
    negated: bool = False
    unread: str = ""


def read_claim(text: str) -> Claim | None:
    """The one claim that `text` clearly states, or None; names of files in it are not part of the claim.

    None for texts above 2,000 characters, for several claims, for double negations, and for more or fewer
    names than the kind of claim needs. Never raises. Source: SPEC G2.

    >>> read_claim("The parameter `strict` of `parse` defaults to `True`.")
    Claim(kind='default', subject='parse', detail='strict', value='True', negated=False, unread='')
    >>> read_claim("ValueError is never raised by parse()")
    Claim(kind='raises', subject='parse', detail='ValueError', value='', negated=True, unread='')
    >>> read_claim("The code is hard to read.") is None
    True
    """
    read = sentences(text) if len(text) <= _LONGEST else []
    claims = [claim for sentence in read if (claim := _claim(sentence)) is not None]
    if len(claims) != 1:
        return None
    others = sum(1 for sentence in read if sentence.names) - 1
    return replace(claims[0], unread=claims[0].unread or ("the other sentence" if others else ""))


def _claim(sentence: Sentence) -> Claim | None:
    words = sentence.words
    kind = next((kind for kind, marks in vocabulary.KINDS.items() if marks & words), None)
    if kind is None or sentence.negations() > 1:
        return None
    roles = _roles(_without_places(_owned(sentence), kind), kind, _line(sentence))
    if roles is None or not _sound(roles, kind):
        return None
    unread = sentence.rest or next(iter(sorted(words & vocabulary.QUANTIFIERS)), "")
    return Claim(cast(Kind, kind), *roles, negated=sentence.negations() == 1, unread=unread)


def _sound(roles: Roles, kind: str) -> bool:
    """Whether subject and detail look like what they should be."""
    subject, detail, _ = roles
    named = _DOTTED.fullmatch(subject) is not None or (not subject and kind == "imports")
    return named and (kind == "location" or _DOTTED.fullmatch(detail) is not None)


def _bare(name: str) -> str:
    """The name in `f()`, `f(a, b)`, `*args`, `raise X`, `import x`, `def f`."""
    for keyword in ("raise ", "import ", "class ", "def "):
        name = name.strip().removeprefix(keyword)
    name = name.strip().lstrip("*")
    return name[: name.index("(")] if name.endswith(")") and "(" in name else name


def _owned(sentence: Sentence) -> Sentence:
    """Method `m` of class `C` is `C.m`."""
    for at in range(1, len(sentence.names)):
        gap = set(sentence.gaps[at])
        if "class" in gap and gap <= {"of", "in", "on", "the", "class"}:
            return sentence.merged(at, f"{_bare(sentence.names[at])}.{_bare(sentence.names[at - 1])}")
    return sentence


def _without_places(sentence: Sentence, kind: str) -> Sentence:
    """The sentence without names of files, and of modules that only say where something stands."""
    for at in reversed(range(len(sentence.names))):
        where = kind != "imports" and {"module", "file", "package"} & set(sentence.gaps[at][-1:])
        if where or _PATH.fullmatch(sentence.names[at]):
            sentence = sentence.without(at)
    return sentence


def _line(sentence: Sentence) -> str:
    paths = (_PATH.fullmatch(name) for name in sentence.names)
    return sentence.line or next((path[1] for path in paths if path and path[1]), "")


def _roles(sentence: Sentence, kind: str, line: str) -> Roles | None:
    """Which name plays which part; None where the number of names does not fit the kind."""
    names = [_bare(name) for name in sentence.names]
    match kind, len(names):
        case "location", 1:
            return names[0], line, ""
        case "imports", 1:
            return "", names[0], ""
        case "default", 2 | 3:
            return _default_roles(sentence, names)
        case "default" | "location", _:
            return None
        case _, 2:
            return (names[1], names[0], "") if _turned(sentence.gaps[1], kind) else (names[0], names[1], "")
    return None


def _turned(between: tuple[str, ...], kind: str) -> bool:
    """Whether the words between two names put the subject second."""
    if kind == "base-class" and vocabulary.DESCENDING & set(between):
        return False
    return bool(vocabulary.REVERSING[kind] & set(between))


def _default_roles(sentence: Sentence, names: list[str]) -> Roles | None:
    """`x` of `f` defaults to `3`; in `f`, `x` defaults to `3`; `3` is the default of `x` in `f`."""
    gaps = [set(gap) for gap in sentence.gaps]
    raw = [name.strip() for name in sentence.names]
    if len(names) == 3 and {"is", "default"} <= gaps[1]:
        return names[2], names[1], raw[0]
    value = raw[2] if len(names) == 3 else ""
    turned = {"of", "in", "to", "for"} & gaps[1] and not {"in", "for", "inside"} & gaps[0]
    return (names[1], names[0], value) if turned else (names[0], names[1], value)
