"""Go, Rust and Java: packages, modules and classes by the names that their own files give them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from verifyplan.agents.repository.importing.target import Target
from verifyplan.agents.repository.records import FileEntry
from verifyplan.agents.repository.texts import Texts

_GO_MODULE = re.compile(r"^module[ \t]+\"?([^\s\"]+)", re.MULTILINE)
_JAVA_PACKAGE = re.compile(r"^[ \t]*package[ \t]+([\w.]+)", re.MULTILINE)
_CRATE = re.compile(r"^name[ \t]*=[ \t]*[\"']([\w-]+)", re.MULTILINE)
_NEARBY = re.compile(r"\b(?:super|crate)\b")
_USE = re.compile(r"\w+|::|[{},*]|\bas\b")


def go_target(path: str, files: Mapping[str, FileEntry], texts: Texts) -> Target:
    """How the package of a Go file is imported: by the module of the nearest `go.mod` and the folder below it."""
    folder = posixpath.dirname(path)
    top = _nearest(folder, "go.mod", files)
    found = _GO_MODULE.search(texts.text(posixpath.join(top, "go.mod")) or "") if top is not None else None
    below = posixpath.relpath(folder or ".", top or ".") if top is not None else folder
    full = posixpath.normpath(posixpath.join(found[1], below)) if found else below
    last = posixpath.basename(full)
    return Target(
        (last,) if last else (), lambda _, source: source == full or (not found and source.endswith(f"/{full}"))
    )


def java_target(path: str, files: Mapping[str, FileEntry], texts: Texts) -> Target:
    """How a Java class is imported: by its full name, statically, or with its whole package."""
    del files
    found = _JAVA_PACKAGE.search(texts.text(path) or "")
    stem = posixpath.basename(path).removesuffix(".java")
    package = found[1] if found else ""
    full = f"{package}.{stem}" if package else stem

    def imports(_: str, statement: str) -> bool:
        name = "".join(statement.removeprefix("import").replace(" static ", " ").rstrip(";").split())
        return name == full or name.startswith(f"{full}.") or (bool(package) and name == f"{package}.*")

    return Target((stem,), imports, neighbours=stem)


def rust_target(path: str, files: Mapping[str, FileEntry], texts: Texts) -> Target:
    """How a Rust module is used: by `mod`, or by a `use` whose path leads to its file and no deeper one."""
    crate = _nearest(posixpath.dirname(path), "Cargo.toml", files) or ""
    found = _CRATE.search(texts.text(posixpath.join(crate, "Cargo.toml").lstrip("/")) or "")
    name = found[1].replace("-", "_") if found else ""
    parts = _rust_parts(path, crate)

    def imports(importer: str, statement: str) -> bool:
        own = _nearest(posixpath.dirname(importer), "Cargo.toml", files) or ""
        at = _rust_parts(importer, own)
        return any(
            _leads_to(path, resolved, crate, files)
            for used in _used(statement)
            if (resolved := _resolve(used, at, name, own == crate)) is not None
        )

    below = posixpath.join(crate, "src", *parts).lstrip("/")
    return Target((parts[-1],) if parts else ((name,) if name else ()), imports, folder=below, nearby=_NEARBY)


def _rust_parts(path: str, crate: str) -> list[str]:
    """The module path of a file in its crate; empty for `lib.rs` and `main.rs`."""
    below = path.removeprefix(f"{crate}/" if crate else "").removeprefix("src/").removesuffix(".rs").split("/")
    return below[:-1] if below[-1] in ("mod", "lib", "main") else below


def _used(statement: str) -> Iterator[list[str]]:
    """The paths of a `use` or `mod` statement, its braces unfolded."""
    if statement.startswith("mod "):
        yield ["self", statement[4:].strip()]
        return
    waiting: list[list[str]] = []
    path: list[str] = []
    skip = False
    for part in _USE.findall(statement.partition("use")[2]):
        if part == "{":
            waiting.append(list(path))
        elif part in (",", "}"):
            if path:
                yield path
            path, skip = (list(waiting[-1]) if waiting else []), False
            if part == "}" and waiting:
                waiting.pop()
                path = []
        elif part == "as":
            skip = True
        elif part not in ("::", "*") and not skip:
            path.append(part)
    if path:
        yield path


def _resolve(used: list[str], at: list[str], crate: str, same: bool) -> list[str] | None:
    """A path from the top of the crate that is looked for; None if it leads to another one."""
    if used[0] == crate and crate:
        return used[1:]
    if not same:
        return None
    if used[0] == "crate":
        return used[1:]
    base = list(at)
    while used and used[0] in ("self", "super"):
        base = base[:-1] if used[0] == "super" else base
        used = used[1:]
    return base + used


def _leads_to(path: str, parts: list[str], crate: str, files: Mapping[str, FileEntry]) -> bool:
    """Whether the deepest module file along a path is the one that is looked for."""
    parts = [part for part in parts if part != "self"]
    for end in range(len(parts), -1, -1):
        stem = "/".join(part for part in (crate, "src", *parts[:end]) if part)
        ends = (f"{stem}.rs", f"{stem}/mod.rs") if end else (f"{stem}/lib.rs", f"{stem}/main.rs")
        found = next((one for one in ends if one in files), None)
        if found is not None:
            return found == path
    return False


def _nearest(folder: str, name: str, files: Mapping[str, FileEntry]) -> str | None:
    """The nearest folder from `folder` upwards that holds a file of this name."""
    while posixpath.join(folder, name) not in files:
        if not folder:
            return None
        folder = posixpath.dirname(folder)
    return folder
