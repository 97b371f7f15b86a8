"""Functions, classes and methods that the plan counts on and that no file defines, or another one than it says."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from rapidfuzz import fuzz

from verifyplan.agents.static.roles.checks import members
from verifyplan.agents.static.roles.issues import Issue, Place
from verifyplan.agents.static.roles.known import key
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.reading import denied
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.documents.values import Reference

NEAR = 80.0
"""Likeness, of 100, from which on another name is what was probably meant."""

_CODE_LIKE = re.compile(r"[a-z0-9]_[a-z0-9]|[a-z][A-Z]|\w\.\w|\w\(")
_IN = re.compile(
    r"`{}`(?:\(\))?(?: (?:function|method|class|helper|handler|constant|component|hook|test|command))?"
    r" (?:in|of|from|inside|at|within) (?:the )?(?:file |module )?`([^`\s]+\.[A-Za-z]\w*)`"
)
_BEHIND = r"`([^`\s]+\.[A-Za-z]\w*)`(?:'s|:|,)? (?:the )?(?:function |method |class |helper |handler )?`{}"
_USES = re.compile(
    r"\b(?:calls?|calling|call of|us(?:e|es|ing)|reus(?:e|es|ing)|via|through|invok(?:e|es|ing)|extend|extends"
    r"|change|changes|"
    r"modify|rename|renames|remove|removes|delete|replace|replaces|existing|wrap|wraps|import|imports"
    r"|pass(?:es)?[^.;]*\bto|"
    r"hand(?:s|ed)?[^.;]*\bto|add(?:s|ed|ing)?\b[^.;]*\bto|with|by|in|inside|from|register(?:s|ed)? with"
    r"|depends on|same as|like)"
    r"\s+(?:the |our |its |existing |shared |common |helper |function |method |class |current )*`?$",
    re.IGNORECASE,
)
_DESCRIBES = re.compile(
    r"(?:\([^)`]*\))?`?\s*(?:->[^`]*`)?,?\s*(?:\(new\)|new\b|gives?|selects?|takes?|returns?|is\b|are\b"
    r"|deletes?|runs?|sets?|sends?|says?|"
    r"reads?|writes?|does|counts?|lists?|stores?|holds?|which\b|that\b|handles?|converts?|builds?|computes?"
    r"|maps?|checks?|"
    r"calls?|hands?|prints?|tells?|answers?|looks?|keeps?|moves?|marks?|puts?|yields?|loads?|parses?|[:=])",
    re.IGNORECASE,
)
_OWN = re.compile(r"\b(?:our|existing|the project's|today's)\s+(?:\w+\s+)?`?$", re.IGNORECASE)
_SAME = re.compile(
    r"(?:\([^)]*\))?`?,? (?:in|of|from) (?:the same|this|that|its) (?:module|file|class|package|component)\b",
    re.IGNORECASE,
)
_CONFIG = re.compile(
    r"env(?:ironment)?|variables?|settings?|keys?|fields?|columns?|tables?|index|flags?|parameters?"
    r"|attributes?|props?|options?|labels?|"
    r"roles?|events?|headers?|status|values?|branch|job|secret|argument|arguments|state|database",
    re.IGNORECASE,
)


def check(scene: Scene) -> Iterator[Issue]:
    """An issue for each name that the plan calls or changes, that it does not make, and that stands nowhere.

    A name that stands anywhere in the repository's text counts as there: it may be a key, a column or another
    package's. Where the plan names the file beside it, the definition must be in that file, or the name at least
    stand in it. Silent in an empty repository.
    """
    if scene.known.empty:
        return
    seen: set[str] = set()
    stated = {at for at, _ in scene.reading.stated}
    for one in scene.plan.references:
        name = one.name.removesuffix("()")
        if one.kind != "symbol" or name in seen or not (scene.reading.planned(one.line) or one.line in stated):
            continue
        if not _counts(scene, one, name):
            found = _elsewhere(scene, one, name) or _absent(scene, one, name)
            if found is not None and one.line in stated:
                seen.add(name)
                yield found
            continue
        seen.add(name)
        found = _missing(scene, one, name) or _elsewhere(scene, one, name)
        if found is not None:
            yield found
    for find in (
        members.check,
        members.in_code,
        members.called_so,
        members.columns,
        members.keywords,
        members.instances,
    ):
        yield from (issue for issue in find(scene) if issue.statement.names[0] not in seen)


def _counts(scene: Scene, one: Reference, name: str) -> bool:
    if one.intent == "create" or not _CODE_LIKE.search(one.name) or len(name) < 4 or scene.reading.makes(name):
        return False
    found = scene.reading.mention(one.line, name)
    if found is None or denied(found[0].text, found[1]) or _made_in_code(scene, name):
        return False
    described = any(_described(sentence.text, start, name) for sentence, start in scene.reading.naming(name))
    return _USES.search(found[0].text[: found[1]][-90:]) is not None and not described


def _described(text: str, start: int, name: str) -> bool:
    """Whether a mention says what the name is or does, as one does of what is new."""
    given = re.search(r"\b(?:takes?|gets?|given?|gains?)\s+`?$", text[:start]) is not None
    return given or _DESCRIBES.match(text[start + len(name) :][:120]) is not None


def _made_in_code(scene: Scene, name: str) -> bool:
    """Whether a block of code of the plan defines or assigns the name."""
    last = re.escape(re.split(r"[.:]+", name)[-1])
    pattern = re.compile(
        rf"(?:def|class|function|func|fn|const|let|var|type|interface|struct|enum|trait)\s+(?:\([^)]*\)\s*)?{last}\b|^\s*{last}\s*[:=(]|\b{last}:\s",
        re.MULTILINE,
    )
    return any(pattern.search(block.text) for block in scene.plan.blocks)


def _missing(scene: Scene, one: Reference, name: str) -> Issue | None:
    last = re.split(r"[.:]+", name)[-1]
    if scene.known.symbols(name) or scene.known.mentions(last) or _foreign(scene, name):
        return None
    line = scene.reading.sentence(one.line, name).text
    near = next(
        (
            one
            for one in scene.repository.similar_symbols(last, 1)
            if fuzz.ratio(one.name.lower(), last.lower()) >= NEAR
        ),
        None,
    )
    if near is None and (_setting(line, name) or not _anchored(scene, line, name)):
        return None
    beside = (Place(near.path, near.line),) if near else ()
    hint = (
        f"The nearest name is `{near.qualified}` at {near.path}:{near.line}; use the one that is meant." if near else ""
    )
    return Issue(
        statement("symbol-missing", name),
        one.line,
        "The name stands nowhere in the repository, and no step creates it.",
        "SIGNIFICANT" if near else "BLOCKING",
        "HIGH",
        scenario="The step cannot be carried out as written, or fails when the code first runs.",
        alternative=hint or "Add the step that creates it, or name what is meant.",
        beside=beside,
    )


def _anchored(scene: Scene, line: str, name: str) -> bool:
    """Whether the words around a name say that it is the repository's: beside one of its files, or as existing."""
    path = _beside(line, name)
    if path is not None and scene.known.file(path) is not None:
        return True
    before, _, after = line.partition(name)
    return _OWN.search(before[-30:]) is not None or _SAME.match(after) is not None


def _setting(line: str, name: str) -> bool:
    """Whether the words beside a name call it a setting, a column or the like, which is no definition in code."""
    before, _, after = line.partition(name)
    words = [*re.findall(r"[A-Za-z]+", before)[-2:], *re.findall(r"[A-Za-z]+", after)[:2]]
    return any(_CONFIG.fullmatch(word) for word in words)


def _foreign(scene: Scene, name: str) -> bool:
    """Whether the first part of a dotted name belongs to a package, or to nothing that the repository defines."""
    first = re.split(r"[.:]+", name)[0]
    if first == name:
        return False
    if key(first) in scene.known.packages or first in sys.stdlib_module_names:
        return True
    return (
        not any(symbol.kind in ("class", "module", "type") for symbol in scene.known.symbols(first))
        and key(first) not in scene.known.own
    )


def _beside(line: str, name: str) -> str | None:
    """The file that a line says a name is in."""
    behind = re.search(_BEHIND.replace("{}", re.escape(name)), line)
    inside = re.search(_IN.pattern.replace("{}", re.escape(name)), line)
    found = inside or behind
    return found[1] if found else None


def _absent(scene: Scene, one: Reference, name: str) -> Issue | None:
    """A name that the plan says is in a file, which stands neither there nor anywhere else."""
    line = scene.reading.sentence(one.line, name).text
    inside = re.search(_IN.pattern.replace("{}", re.escape(name)), line)
    path = scene.known.file(inside[1]) if inside else None
    last = re.split(r"[.:]+", name)[-1]
    if (
        path is None
        or len(last) < 4
        or scene.known.mentions(last)
        or scene.reading.makes(name)
        or _made_in_code(scene, name)
    ):
        return None
    if denied(line, line.find(name)) or any(
        _described(one.text, start, name) for one, start in scene.reading.naming(name)
    ):
        return None
    return Issue(
        statement("symbol-missing", name),
        one.line,
        f"{path} has no such name, nor has any other file, and no step creates it.",
        "BLOCKING",
        "HIGH",
        scenario="The plan rests on something that is not there.",
        alternative=f"Name what is meant in `{path}`, or add the step that creates it.",
        beside=(Place(path, 1),),
    )


def _elsewhere(scene: Scene, one: Reference, name: str) -> Issue | None:
    named = _beside(scene.reading.sentence(one.line, name).text, name)
    path = scene.known.file(named) if named else None
    symbols = scene.known.symbols(name)
    if path is None or not symbols or any(symbol.path == path for symbol in symbols):
        return None
    last = name.rpartition(".")[2]
    if any(match.path == path for match in scene.known.mentions(last)):
        return None
    real = symbols[0]
    return Issue(
        statement("symbol-elsewhere", name, path),
        one.line,
        f"That file does not speak of it; it is defined at {real.path}:{real.line}.",
        "SIGNIFICANT" if one.intent in ("change", "delete", "move") else "MINOR",
        "HIGH",
        scenario="The change lands in the wrong file, or the name cannot be imported from there.",
        alternative=f"Name `{real.path}` instead.",
        beside=(Place(real.path, real.line),),
    )
