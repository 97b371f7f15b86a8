"""Calls and imports that the plan's code makes of the repository, and that do not fit what is there."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from verifyplan.agents.repository.records import Symbol
from verifyplan.agents.static.roles.checks.duplicates import parameters_of
from verifyplan.agents.static.roles.issues import Issue, Place
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.agents.static.roles.wordsets import words

_CALL = re.compile(r"(?<![\w.])(?:[a-z_]\w*\.)?([A-Za-z_]\w{2,60})\(([^()\[\]{}]*)\)")
_GO = re.compile(r"(?<![\w.])([a-z]\w{2,30})\.([A-Z]\w{2,60})\(")
_NAMED = re.compile(r"""\bimport\s+(?:type\s+)?\{([^}]{1,300})\}\s+from\s+["'](\.{1,2}/[\w./-]+)["']""")
_BUILT_IN = words(
    "print range open len str int isinstance getattr setattr sorted zip map filter max min sum super field "
    "format replace join get set"
)
_FEWEST = 2
_DEFINES = re.compile(r"\b(?:def|function|func|class)\s")
_GO_LANGUAGES, _SCRIPT = words("go golang"), words("ts tsx js jsx typescript javascript")


def check(scene: Scene) -> Iterator[Issue]:
    """An issue for each call with more arguments than there are parameters, and each import of what is not exported.

    Only names that the repository defines once are compared, and functions that the plan changes are left alone.
    """
    yield from _arity(scene)
    for block in scene.plan.blocks:
        if not scene.reading.told(block.first):
            lines = list(enumerate(block.text.split("\n"), block.first + 1))
            if block.language in _GO_LANGUAGES:
                yield from _go(scene, lines)
            if block.language in _SCRIPT:
                yield from _imported(scene, lines)


def _arity(scene: Scene) -> Iterator[Issue]:
    seen = set()
    for at, line in scene.reading.to_do:
        code = line if scene.reading.block(at) is not None else " ".join(re.findall(r"`([^`]+)`", line))
        for name, arguments in _CALL.findall(code) if not _DEFINES.search(code) else ():
            given = [one for one in arguments.split(",") if one.strip()]
            open_ended = any("..." in one or "*" in one or "…" in one for one in given)
            if name in seen or len(given) < _FEWEST or open_ended or name in _BUILT_IN:
                continue
            symbols = [one for one in scene.known.symbols(name) if one.kind == "function"]
            if len(symbols) != 1:
                continue
            taken = _parameters(symbols[0])
            if taken is not None and len(given) > taken and not _changed(scene, name):
                seen.add(name)
                why = f"{symbols[0].path}:{symbols[0].line} takes {taken} arguments, and the plan gives it {len(given)}"
                yield _issue(name, at, symbols[0], why, taken=True)


def _parameters(symbol: Symbol) -> int | None:
    """How many parameters a function takes at most; None where that cannot be told."""
    match = re.search(r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)", symbol.signature)
    if match is None or "*" in match[1] or "..." in match[1] or symbol.path.endswith(".go"):
        return None
    return len(parameters_of(match[1]))


def _changed(scene: Scene, name: str) -> bool:
    """Whether the plan gives the function a new form: a signature of its own, or a further parameter."""
    gains = re.compile(
        rf"`{re.escape(name)}(?:\([^`]*\))?`?[^.;]*\b(?:takes?|gets?|gains?|accepts?|parameters?|arguments?)\b|\bparameters?\b[^.;]*`{re.escape(name)}"
    )
    return any(gains.search(line) for _, line in scene.reading.prose)


def _go(scene: Scene, lines: list[tuple[int, str]]) -> Iterator[Issue]:
    """Exported names of a package of the repository that none of its files has."""
    for at, line in lines:
        for package, name in _GO.findall(line):
            folder = [
                path
                for path in scene.repository.files
                if path.endswith(".go") and posixpath.basename(posixpath.dirname(path)) == package
            ]
            there = {hit.path for hit in scene.known.mentions(name)}
            if folder and not there & set(folder) and not scene.reading.makes(name) and not _written(scene, name):
                symbol = Symbol(package, "module", folder[0], 1, 1, "")
                yield _issue(f"{package}.{name}", at, symbol, f"No file beside {folder[0]} defines it")
                return


def _imported(scene: Scene, lines: list[tuple[int, str]]) -> Iterator[Issue]:
    """Names that code imports from a file of the repository which has no such name."""
    for at, line in lines:
        for names, source in _NAMED.findall(line):
            end = posixpath.normpath(source).lstrip("./")
            found = [path for ending in ("ts", "tsx", "js") for path in scene.known.files(f"{end}.{ending}")]
            for name in (one.split(" as ")[0].replace("type ", "").strip() for one in names.split(",")):
                if len(found) != 1 or not name or any(hit.path == found[0] for hit in scene.known.mentions(name)):
                    continue
                if not scene.reading.makes(name) and not _written(scene, name):
                    yield _issue(
                        name, at, Symbol(name, "module", found[0], 1, 1, ""), f"{found[0]} exports no such name"
                    )


def _written(scene: Scene, name: str) -> bool:
    """Whether the plan describes or defines the name itself."""
    defines = re.compile(
        rf"\b(?:func|function|const|type|interface|class)\s+(?:\([^)]*\)\s*)?{re.escape(name)}\b|`{re.escape(name)}[`(]"
    )
    return any(defines.search(text) for text in (*scene.plan.lines,))


def _issue(name: str, line: int, symbol: Symbol, why: str, *, taken: bool = False) -> Issue:
    return Issue(
        statement("wrong-call", f"{name}(...)", symbol.path) if taken else statement("symbol-missing", name),
        line,
        f"{why}.",
        "SIGNIFICANT",
        "HIGH",
        scenario="The code does not compile, or fails when it is first called.",
        alternative=f"Call it as `{symbol.path}` defines it, or change it in a step before.",
        beside=(Place(symbol.path, symbol.line),),
    )
