"""Files and functions that the plan creates, and that are there already, under this or a like name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from verifyplan.agents.repository.records import Symbol
from verifyplan.agents.static.roles.issues import Issue, Place
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.agents.static.roles.wordsets import words

_ANEW = re.compile(
    r"\b(?:creat(?:e|es|ing)|new|write|writes|scaffold|introduces?)\s+(?:a |an |the |file |module |script "
    r"|test |new |small |shell )*`?$",
    re.IGNORECASE,
)
_AWARE = re.compile(
    r"\b(?:replac|overwrit|rewrit|re-?creat|existing|extend|again|second|another|already|instead|update)\w*",
    re.IGNORECASE,
)
_SIGNATURE = re.compile(r"\b([a-z_]\w{3,60})\(([^()`]{1,200})\)")
_DEFINED = re.compile(
    r"^\s*(?:async )?(?:def|function|func|fn|export function|export async "
    r"function)\s+([A-Za-z_]\w{3,60})\(([^()]{1,300})\)",
    re.MULTILINE,
)
_SYNONYMS = (
    "chunk batch page slice portion", "fetch get load read retrieve find search lookup select",
    "send post notify dispatch", "delete remove purge erase clear", "retry attempt", "parse decode",
    "format render show display", "check verify validate ensure", "create make build new", "update change set",
    "config settings options", "token credential", "mail email", "cache memo", "hash digest", "lock mutex",
    "split divide", "merge join combine", "convert transform map", "log record", "timeout deadline",
    "client caller", "time moment date instant datetime", "flag switch toggle feature", "view list table",
)  # fmt: skip
_MEANING = {word: words.split()[0] for words in _SYNONYMS for word in words.split()}
_EMPTY = words(
    "in of the a an to for by with and or on from at is as all do run helper util utils function impl new",
    "it its that this which who has have had are be one two not no none was were will can may if when",
    "then else say says whether each every any other than into out up so but only also they them",
)
_GENERAL = words("fetch send check create update find enabled json data value item text list all")
_TEST = re.compile(r"(?:^|[/_.-])tests?(?:[/_.-]|$)|\.spec\.", re.IGNORECASE)
_MOST, _MOST_TWINS, _LEAST = 5, 6, 3


class New(NamedTuple):
    """A function or component that the plan adds: its line, its parameters, and the words that describe it."""

    name: str
    line: int
    parameters: frozenset[str]
    words: frozenset[str]


def check(scene: Scene) -> Iterator[Issue]:
    """An issue for each file that is created and exists, and for each function that is there by another name.

    A function is the same by another name if that name says no more than the new one, synonyms counted, and most
    parameters are the same. Silent where the plan shows that it knows: it names the other one, or speaks of
    replacing.
    """
    if scene.known.empty:
        return
    yield from _files(scene)
    yield from _functions(scene)


def _files(scene: Scene) -> Iterator[Issue]:
    seen = set()
    for one in scene.reading.actions("file"):
        name = one.name
        if name in seen or name not in scene.repository.files or scene.reading.block(one.line) is not None:
            continue
        line = scene.reading.sentence(one.line, name).text
        before = line.partition(name)[0]
        if _ANEW.search(before) and not _AWARE.search(line):
            seen.add(name)
            yield Issue(
                statement("exists-already", name),
                one.line,
                "The file is in the repository, and the step would write over it.",
                "SIGNIFICANT",
                "HIGH",
                scenario=(
                    "What the file holds today is lost, or the step is carried out another way than it is written."
                ),
                alternative=f"Say what is added to `{name}`, and what stays.",
                beside=(Place(name, 1),),
            )


def _functions(scene: Scene) -> Iterator[Issue]:
    for new in list(_created(scene).values())[:_MOST]:
        twin = next((one for one in _candidates(scene, new) if _same(scene, new, one) and not _known(scene, one)), None)
        if twin is not None:
            yield _issue(new.name, new.line, twin)


def _candidates(scene: Scene, new: New) -> list[Symbol]:
    """Definitions whose names share a word with the new one, those that share most first; tests are left out."""
    scored = []
    for symbol in scene.known.tops:
        shared = tokens(symbol.name) | tokens(symbol.path.rpartition("/")[2].partition(".")[0])
        score = len(shared & new.words)
        if score and symbol.name != new.name:
            scored.append((-score, symbol.path, symbol.line, symbol))
    return [one for *_, one in sorted(scored)[:_MOST_TWINS]]


def _created(scene: Scene) -> dict[str, New]:
    """Functions and components that the plan adds, which the repository does not have, with what it says of them."""
    found: dict[str, New] = {}
    for at, line in scene.reading.to_do:
        if scene.reading.block(at) is None:
            for match in _SIGNATURE.finditer(line):
                _keep(scene, found, match[1], at, match[2], line[match.end() :])
    for block in scene.plan.blocks:
        if scene.reading.planned(block.first):
            for match in _DEFINED.finditer(block.text):
                at = block.first + 1 + block.text.count("\n", 0, match.start(1))
                _keep(scene, found, match[1], at, match[2], block.text[match.end() : match.end() + 200])
    for path in sorted(scene.plan.created):
        name = path.rpartition("/")[2].partition(".")[0]
        at = scene.reading.makes(path)
        if at and name[:1].isupper() and not _TEST.search(path):
            _keep(scene, found, name, at, "", scene.reading.sentence(at, path).text.partition(path)[2])
    return found


def _keep(scene: Scene, found: dict[str, New], name: str, at: int, arguments: str, says: str) -> None:
    if not name.startswith("test") and not scene.known.symbols(name) and scene.reading.planned(at):
        says = re.split(r"(?<=[a-z)`])[.;] ", says)[0]
        words = tokens(name) | frozenset(
            _MEANING.get(word, word) for word in map(_singular, re.findall(r"[a-z]{3,}", says.lower()))
        )
        found.setdefault(name, New(name, at, parameters_of(arguments), words - _EMPTY))


def parameters_of(arguments: str) -> frozenset[str]:
    """The names of parameters in a signature, without types, defaults, and the object itself.

    >>> sorted(parameters_of("self, a: int = 3, *, b=None"))
    ['a', 'b']
    """
    parts = re.split(r",(?![^\[(]*[\])])", arguments)
    names = (re.match(r"[*&\s]*(?:const |mut |final )?([A-Za-z_]\w*)", part) for part in parts)
    return frozenset(match[1] for match in names if match and match[1] not in ("self", "cls", "this"))


def tokens(name: str) -> frozenset[str]:
    """The words of a name that mean something, synonyms as one word, without plural s.

    >>> sorted(tokens("update_in_chunks")), sorted(tokens("inBatches"))
    (['chunk', 'update'], ['chunk'])
    """
    words = re.findall(r"[a-z]+|[A-Z][a-z]*", name)
    singular = (_singular(word.lower()) for word in words)
    return frozenset(_MEANING.get(word, word) for word in singular if word not in _EMPTY)


def _same(scene: Scene, new: New, symbol: Symbol) -> bool:
    """Whether a definition does what the new one is to do: by parameters and name, or by what its first line says."""
    theirs = tokens(symbol.name)
    if not theirs or not theirs - _GENERAL <= new.words:
        return False
    match = re.search(r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)", symbol.signature)
    parameters = parameters_of(match[1]) if match else frozenset()
    shared = len(parameters & new.parameters)
    if (
        shared >= 2
        and shared * 5 >= 3 * min(len(parameters), len(new.parameters))
        and theirs - _GENERAL <= tokens(new.name)
    ):
        return True
    says = theirs | _says(scene, symbol)
    return len(says & new.words) >= _LEAST and len(says & new.words) * 2 >= len(says)


def _says(scene: Scene, symbol: Symbol) -> frozenset[str]:
    """What the documentation of a definition says in its first line, or the comment right above it."""
    lines = scene.tools.read(symbol.path).lines
    inside = lines[symbol.line : min(symbol.last, symbol.line + 12)]
    above = lines[max(symbol.line - 3, 0) : symbol.line - 1]
    text = next((line for line in inside if '"""' in line or "'''" in line), "") or " ".join(
        line for line in above if line.lstrip().startswith(("//", "#", "*", "/*"))
    )
    if symbol.name == symbol.path.rpartition("/")[2].partition(".")[0] and lines:
        text += f" {lines[0]}"
    words = map(_singular, re.findall(r"[a-z]{3,}", text.lower()))
    return frozenset(_MEANING.get(word, word) for word in words) - _EMPTY


def _singular(word: str) -> str:
    if word.endswith(("ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and len(word) > 3 and not word.endswith("ss") else word


def _known(scene: Scene, symbol: Symbol) -> bool:
    return bool(scene.reading.naming(symbol.name))


def _issue(name: str, line: int, symbol: Symbol) -> Issue:
    return Issue(
        statement("similar-exists", name, symbol.name),
        line,
        f"{symbol.path}:{symbol.line} has it: {symbol.signature[:160]}.",
        "SIGNIFICANT",
        "MED",
        scenario="Two pieces of code do the same and have to be kept in step.",
        alternative=f"Use `{symbol.qualified}` of `{symbol.path}`, or say why it does not fit.",
        beside=(Place(symbol.path, symbol.line),),
    )
