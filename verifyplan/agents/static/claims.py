"""A claim about code, read from an ordinary sentence into its parts (rule G2).

Names are set in backticks, or, in a text without any, are the words that look like code: `f()`, `a.b`, `ValueError`.
A text that is not clearly one claim is not read at all: a checker that guesses would judge something that nobody said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, cast

ClaimKind = Literal["file", "parameter", "default", "raises", "imports", "base-class", "calls", "location"]

MAX_CHARACTERS = 2000
"""Characters above which a text is not read."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_KINDS = {  # words that tell the kind, the first that fits; words between two names that put the subject second
    "default": (_words("default defaults defaulting defaulted"), _words("")),
    "parameter": (_words("parameter parameters param params argument arguments arg args"), _words("of by in to")),
    "raises": (_words("raise raises raised raising throw throws thrown"), _words("by in inside within from")),
    "imports": (_words("import imports imported importing"), _words("by in inside within")),
    "base-class": (
        _words("inherit inherits inherited inheriting subclass subclasses superclass superclasses base bases")
        | _words("derive derives derived extend extends extended extending"),
        _words("of by"),
    ),
    "location": (_words("defined defines definition declared declares declaration starts begins located"), _words("")),
    "calls": (_words("call calls called calling invoke invokes invoked"), _words("by in inside within from")),
}
_DESCENDING = _words("subclass subclasses inherits inherited derives derived")  # `C` is a subclass of `B`
_NEGATIONS = _words("not no never neither nor none nothing without lacks lack cannot hardly")
_QUANTIFIERS = _words("always only every exactly unconditionally all both also first last sometimes rarely")
_CUTS = _words(
    "when if unless whenever because while after before so since whose except but and or for where"
)  # once two things are named, they begin a part that is not read

_FILE = re.compile(r"\s*(?:The )?file `([^`\n]{1,300})` exists(?:\.?\s*$|(,.))", re.IGNORECASE)
_SENTENCE = re.compile(r"(?:`[^`\n]+`|[.!?;](?!\s|$)|[^.!?;])+")
_TICKED = re.compile(r"`([^`\n]+)`")
_WORD = re.compile(r"[\w'-]+")
_BARE = re.compile(r"(?:[^\s,;:!?\"'`]|:(?=[0-9]))*[^\s.,;:!?\"'`]")
_CODE = re.compile(r"[a-z][A-Z]|\w[_./(]")
_LINE = re.compile(r"\blines? `?([0-9]{1,8})(?![0-9])[^\s`]*`?", re.IGNORECASE)
_PATH = re.compile(r"(?:[^\s:]*[/\\][^\s:]*|[^\s:]+\.(?:py|pyi))(?::([0-9]{1,8}))?(?:-[0-9]{1,8})?")
_NAME = re.compile(r"\s*(?:(?:raise|import|class|def) )?\s*\**([^\W\d]\w*(?:\.[^\W\d]\w*)*)(?:\(.*\))?\s*")


@dataclass(frozen=True)
class CodeClaim:
    """The claim of a sentence: `kind` of fact, `subject` it is about, and the `detail` that can be wrong.

    `subject` is the path of a file that exists, and empty where an import is stated of the cited file itself; `detail`
    is a parameter, exception, module, base, called name, or the line number of a location (empty: none stated);
    `value` is the default of a parameter (empty: any). `unread` is a word, such as `when`, whose part of the sentence
    was not understood.
    """

    kind: ClaimKind
    subject: str
    detail: str
    value: str = ""
    negated: bool = False
    unread: str = ""


def read_claim(text: str) -> CodeClaim | None:
    """Return the one claim that `text` clearly states, or None; names of files in it are not part of the claim.

    A text that begins with a claim that a file exists makes that claim; the rest of it is unread. None for texts
    above 2,000 characters, for several claims, for double negations, and for more or fewer names than the kind of
    claim needs. Never raises. Source: rule G2.

    >>> read_claim("The parameter `strict` of `parse` defaults to `True`.")
    CodeClaim(kind='default', subject='parse', detail='strict', value='True', negated=False, unread='')
    >>> read_claim("ValueError is never raised by parse()")
    CodeClaim(kind='raises', subject='parse', detail='ValueError', value='', negated=True, unread='')
    >>> read_claim("The code is hard to read.") is None
    True
    """
    if file := _FILE.match(text[:MAX_CHARACTERS]):
        return CodeClaim("file", file[1].removeprefix("./"), "", unread="the rest" if file[2] else "")
    if len(text) > MAX_CHARACTERS:
        return None
    text = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    if "`" not in text:
        text = _BARE.sub(lambda word: f"`{word[0]}`" if _CODE.search(word[0]) else word[0], text)
    sentences = _SENTENCE.findall(text)
    claims = [claim for sentence in sentences if (claim := _claim(sentence)) is not None]
    if len(claims) != 1:
        return None
    other = sum(1 for sentence in sentences if _TICKED.search(sentence)) > 1
    return replace(claims[0], unread=claims[0].unread or ("the other sentence" if other else ""))


def _claim(sentence: str) -> CodeClaim | None:
    line = _LINE.search(sentence)
    names, gaps, rest = _parts(_LINE.sub("line", sentence))
    words = [word for gap in gaps for word in gap]
    kind = next((kind for kind, (signs, _) in _KINDS.items() if signs.intersection(words)), None)
    denials = sum(word in _NEGATIONS or word.endswith("n't") for word in words)
    if kind is None or denials > 1:
        return None
    paths = [path[1] for name in names if (path := _PATH.fullmatch(name)) and path[1]]
    number = next((str(int(text)) for text in ([line[1]] if line else paths)), "")
    names, gaps = _without_places(*_owned(names, gaps), kind)
    roles = _roles(kind, names, gaps)
    if roles is None:
        return None
    subject, detail, value = (roles[0], number, "") if kind == "location" else roles
    unread = rest or next(iter(sorted(_QUANTIFIERS.intersection(words))), "")
    return CodeClaim(cast(ClaimKind, kind), subject, detail, value, negated=denials == 1, unread=unread)


def _parts(sentence: str) -> tuple[list[str], list[list[str]], str]:
    """Return names, the words before each and after the last, and the word that begins a part which is not read."""
    parts = _TICKED.split(sentence)
    gaps = [_WORD.findall(gap.lower()) for gap in parts[::2]]
    for at, gap in enumerate(gaps):
        cut = next((number for number, word in enumerate(gap) if at > 1 and word in _CUTS), None)
        if cut is not None:
            return parts[1 : 2 * at : 2], [*gaps[:at], gap[:cut]], gap[cut]
    return parts[1::2], gaps, ""


def _owned(names: list[str], gaps: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Join method `m` of class `C` to `C.m`."""
    for at in range(1, len(names)):
        if "class" in gaps[at] and set(gaps[at]) <= {"of", "in", "on", "the", "class"}:
            owned = f"{_bare(names[at])}.{_bare(names[at - 1])}"
            return [*names[: at - 1], owned, *names[at + 1 :]], gaps[:at] + gaps[at + 1 :]
    return names, gaps


def _without_places(names: list[str], gaps: list[list[str]], kind: str) -> tuple[list[str], list[list[str]]]:
    """Return the parts without names of files, and of modules that only say where something is."""
    for at in reversed(range(len(names))):
        where = kind != "imports" and {"module", "file", "package"} & set(gaps[at][-1:])
        if where or _PATH.fullmatch(names[at]):
            names = names[:at] + names[at + 1 :]
            gaps = [*gaps[:at], gaps[at] + gaps[at + 1], *gaps[at + 2 :]]
    return names, gaps


def _bare(name: str) -> str:
    """Return the name in `f()`, `f(a, b)`, `*args`, `raise X`, `import x`, `def f`; empty if there is none."""
    matched = _NAME.fullmatch(name)
    return matched[1] if matched else ""


def _roles(kind: str, names: list[str], gaps: list[list[str]]) -> tuple[str, str, str] | None:
    """Return subject, detail and value; None where the number of names, or one of them, does not fit the kind."""
    if len(names) == 1 and kind in {"imports", "location"}:
        roles = ("", names[0], "") if kind == "imports" else (names[0], names[0], "")
    elif len(names) not in ({2, 3} if kind == "default" else {2}) or kind == "location":
        return None
    elif kind == "default":
        roles = _default_roles(names, [set(gap) for gap in gaps])
    else:
        between = set(gaps[1])
        turned = between & _KINDS[kind][1] and not (kind == "base-class" and _DESCENDING & between)
        roles = (names[1], names[0], "") if turned else (names[0], names[1], "")
    subject, detail = _bare(roles[0]), _bare(roles[1])
    return (subject, detail, roles[2].strip()) if detail and (subject or not roles[0]) else None


def _default_roles(names: list[str], gaps: list[set[str]]) -> tuple[str, str, str]:
    """Read "`x` of `f` defaults to `3`", "in `f`, `x` defaults to `3`", "`3` is the default of `x` in `f`"."""
    if len(names) == 3 and {"is", "default"} <= gaps[1]:
        return names[2], names[1], names[0]
    value = names[2] if len(names) == 3 else ""
    turned = {"of", "in", "to", "for"} & gaps[1] and not {"in", "for", "inside"} & gaps[0]
    return (names[1], names[0], value) if turned else (names[0], names[1], value)
