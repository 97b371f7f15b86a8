"""Python: modules by their dotted names, imported absolutely or relatively."""

from __future__ import annotations

import re
from collections.abc import Mapping

from verifyplan.agents.repository.importing.target import Target
from verifyplan.agents.repository.records import FileEntry

_FROM = re.compile(r"from\s*(\.*)\s*([\w.]*)\s*import\b(.*)", re.DOTALL)
_COMMENT = re.compile(r"#[^\n]*")
_NEARBY = re.compile(r"from[ \t]*\.+[ \t]*import\b")
_SOURCE_FOLDERS = ("src", "lib", "python")


def target(path: str, files: Mapping[str, FileEntry]) -> Target:
    """How a Python file is imported.

    It is known by its dotted path from the root, below `src`, and from the topmost folder that is a package. A
    package's `__init__.py` is imported by `from package import name` where some name is no module of its own.
    """
    names = module_names(path, files)
    full = _dotted(path)
    submodules = _submodules(path, files)

    def imports(importer: str, statement: str) -> bool:
        return any(
            module in names or any(f"{module}.{name}" in names for name in taken)
            for module, taken in _imported(importer, statement)
            if not (taken and module in names and set(taken) <= submodules)
        )

    package = path.rpartition("/")[2].startswith("__init__.")
    hints = tuple(sorted({name.rpartition(".")[2] for name in names | {full}} - {""}))
    return Target(hints, imports, folder=path.rpartition("/")[0], nearby=_NEARBY if package else None)


def module_names(path: str, files: Mapping[str, FileEntry]) -> frozenset[str]:
    """The dotted names under which a file may be imported."""
    parts = _dotted(path).split(".")
    folders = path.split("/")[:-1]
    top = len(folders)
    while top > 0 and "/".join([*folders[:top], "__init__.py"]) in files:
        top -= 1
    names = {".".join(parts), ".".join(parts[top:])}
    if parts[0] in _SOURCE_FOLDERS:
        names.add(".".join(parts[1:]))
    return frozenset(names - {""})


def _dotted(path: str) -> str:
    return path.removesuffix(".pyi").removesuffix(".py").replace("/", ".").removesuffix("__init__").strip(".")


def _submodules(path: str, files: Mapping[str, FileEntry]) -> set[str]:
    """Names of modules and packages that lie in the folder of an `__init__.py`."""
    folder, _, name = path.rpartition("/")
    if not name.startswith("__init__."):
        return set()
    inside = (one.removeprefix(f"{folder}/") for one in files if one.startswith(f"{folder}/"))
    return {one.partition("/")[0].partition(".")[0] for one in inside if one.count("/") < 2}


def _imported(importer: str, statement: str) -> list[tuple[str, tuple[str, ...]]]:
    """Modules that a statement imports, and the names that it takes from each."""
    text = _COMMENT.sub("", statement).replace("\\\n", " ")
    found = _FROM.match(text)
    if found is None:
        parts = text.removeprefix("import").split(",")
        return [(part.split()[0], ()) for part in parts if part.split()]
    dots, module, names = found.groups()
    taken = tuple(part.split()[0] for part in names.strip(" ()\n").split(",") if part.split())
    return [(_absolute(importer, len(dots), module), taken)]


def _absolute(importer: str, dots: int, module: str) -> str:
    """The dotted path from the root that a relative import means."""
    if not dots:
        return module
    folders = importer.split("/")[:-1]
    return ".".join([*folders[: max(len(folders) - dots + 1, 0)], *([module] if module else [])])
