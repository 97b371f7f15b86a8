"""The files that import a given file: those that may are found by the index, and their imports are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from verifyplan.agents.repository.importing import compiled, python, script
from verifyplan.agents.repository.importing.target import Target
from verifyplan.agents.repository.languages import PARSED
from verifyplan.agents.repository.records import FileEntry, Match
from verifyplan.agents.repository.symbols import Symbols
from verifyplan.agents.repository.texts import Texts
from verifyplan.agents.repository.words import Words, whole_word

_FAMILIES = {"javascript": "script", "typescript": "script"}
_LONGEST_LINE = 1_000


class Code(NamedTuple):
    """What is needed to look through a repository's imports."""

    files: Mapping[str, FileEntry]
    texts: Texts
    words: Words
    symbols: Symbols


def find_importers(path: str, code: Code, limit: int) -> list[Match]:
    """The first line of each file that imports `path` or its module, in path order, up to `limit` files.

    Java classes of one package use each other without an import; the line is then the first that has the name.
    None for files of other languages than Python, JavaScript, TypeScript, Go, Rust and Java.
    """
    target = _target(path, code)
    if target is None:
        return []
    return list(islice(_found(path, target, code), max(limit, 0)))


def _target(path: str, code: Code) -> Target | None:
    match code.files[path].language:
        case "python":
            return python.target(path, code.files)
        case "javascript" | "typescript":
            return script.target(path)
        case "go":
            return compiled.go_target(path, code.files, code.texts)
        case "rust":
            return compiled.rust_target(path, code.files, code.texts)
        case "java":
            return compiled.java_target(path, code.files, code.texts)
    return None


def _found(path: str, target: Target, code: Code) -> Iterator[Match]:
    family = _family(code.files[path])
    for one in sorted(_candidates(target, code)):
        if one != path and _family(code.files[one]) == family:
            line = _importing_line(one, target, code) or _neighbour_line(one, path, target, code)
            if line:
                lines = (code.texts.text(one) or "").split("\n")
                yield Match(one, line, lines[line - 1][:_LONGEST_LINE])


def _family(entry: FileEntry) -> str | None:
    return _FAMILIES.get(entry.language or "", entry.language)


def _candidates(target: Target, code: Code) -> set[str]:
    found = {path for hint in target.hints for path in code.words.files(hint)}
    if target.nearby is not None:
        below = f"{target.folder}/" if target.folder else ""
        texts = code.texts.scan([path for path in code.files if path.startswith(below) and path not in found])
        found |= {path for path, text in texts if code.files[path].language in PARSED and target.nearby.search(text)}
    return found


def _importing_line(path: str, target: Target, code: Code) -> int:
    """The first line with an import that is meant, 0 if there is none."""
    for line, statement in code.symbols.parsed("imports", path):
        whole_package = str(statement).endswith(".*;")  # of Java: means the class if the file has its name
        if target.imports(path, str(statement)) and (not whole_package or _mentions(path, target.neighbours, code)):
            return int(str(line))
    return 0


def _neighbour_line(path: str, asked: str, target: Target, code: Code) -> int:
    """The first line that has the name of a class of the same package, 0 if there is none."""
    if not target.neighbours or path.rpartition("/")[0] != asked.rpartition("/")[0]:
        return 0
    return _mentions(path, target.neighbours, code)


def _mentions(path: str, word: str, code: Code) -> int:
    search = whole_word(word).search
    lines = enumerate((code.texts.text(path) or "").split("\n"), 1)
    return next((number for number, line in lines if search(line)), 0)
