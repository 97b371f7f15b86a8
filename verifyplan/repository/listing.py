"""The files of a repository, those that git tracks, else those that a walk yields; and the language of each."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterator
from pathlib import Path

from verifyplan.plans.values import split_lines
from verifyplan.repository import git
from verifyplan.repository.reading import HIDDEN_FOLDERS_READ, hidden_folder, reason
from verifyplan.repository.records import FileEntry, Listing

EXCLUDED_FOLDERS = frozenset({"node_modules", "__pycache__", "target", "dist", "build", "venv"})
"""Folders that a walk does not enter, beside hidden ones."""
HIDDEN_FOLDER = "a hidden folder, which is not looked into"
"""Why a folder is skipped, tracked by git or not."""
MAX_FILES = 500_000
"""Files after which a walk ends."""
LOG_BEGINS = b'{"seq":1,"at":"'
"""How a run log begins: it quotes a plan, and what a plan says must not vouch for the plan."""


def list_files(root: Path, plan: str = "") -> Listing:
    """Return the ordinary files under `root`, which is resolved. Never raises, whatever lies there.

    Files that hold the text of `plan`, and run logs, are left out: a plan does not vouch for itself.

    Where git fails, or tracks nothing here, the folder is walked; if it is a git repository, `skipped` says so
    under the path `.`. Links count by what they lead to. Hidden folders are left out, tracked or not, and so are links
    into them, but for those of `HIDDEN_FOLDERS_READ`. Source: rules G2, G4, H3.
    """
    listing = Listing()
    targets: dict[str, str] = {}
    for path, submodule in _tracked(root, listing).items() or ((path, False) for path in _walk(root, listing)):
        _add(root, path, submodule, listing, targets)
    size = len(plan.encode(errors="replace"))
    sizes = range(size - 4, size + 5 + plan.count("\n")) if plan else range(0)  # whatever the line ends
    for path in [path for path, entry in listing.files.items() if _quotes(root / path, entry.size in sizes, plan)]:
        del listing.files[path]
        listing.skipped[path] = "the plan itself, or a run log"
    listing.files = {path: listing.files[path] for path in sorted(listing.files)}
    listing.aliases = {path for path, target in targets.items() if target in listing.files}
    return listing


def _tracked(root: Path, listing: Listing) -> dict[str, bool]:
    """Return what git tracks; nothing, and a note why, where the folder has to be walked."""
    try:
        tracked = git.tracked(root)
    except git.GitError as error:
        if str(error):
            listing.skipped["."] = f"{error}, so the folder was walked"
        return {}
    if tracked:
        listing.commit = git.head(root)
    else:
        listing.skipped["."] = "git tracks nothing here, so the folder was walked"
    return tracked


def shown(path: str) -> str:
    r"""Return a path that can be written down, whatever bytes its name has.

    >>> shown("caf\udce9.py")
    'caf\\xe9.py'
    """
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _add(root: Path, path: str, submodule: bool, listing: Listing, targets: dict[str, str]) -> None:
    """List a path; of a link, note the path that it leads to in `targets`."""
    if hidden := hidden_folder(path):
        listing.skipped[shown(hidden)] = HIDDEN_FOLDER
        return
    if submodule or path != shown(path):
        why = "a submodule, which is not looked into" if submodule else "its name is not UTF-8"
        listing.skipped[shown(path)] = why
        return
    try:
        listing.files[path] = FileEntry(path, _size(root, path, targets), language_of(path))
    except _ExcludedError as error:
        listing.skipped[path] = str(error)
    except (OSError, RuntimeError, ValueError) as error:
        listing.skipped[path] = reason(error)


def _quotes(path: Path, same_size: bool, plan: str) -> bool:
    """Whether a file is a run log, or holds the plan and nothing else; only a file of its size can."""
    if not same_size and path.suffix != ".jsonl":
        return False
    try:
        with path.open("rb") as file:
            if file.read(len(LOG_BEGINS)) == LOG_BEGINS:
                return True
            if not same_size:  # of any size, then: it is not read
                return False
            file.seek(0)
            text = file.read().decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
            return split_lines(text) == split_lines(plan)
    except (OSError, UnicodeDecodeError):
        return False


class _ExcludedError(Exception):
    """Why a path is not listed as a file."""


def _size(root: Path, path: str, targets: dict[str, str]) -> int:
    """Return the bytes of an ordinary file, by way of a link if need be."""
    status = os.lstat(f"{root}/{path}")
    if stat.S_ISLNK(status.st_mode):
        target = (root / path).resolve(strict=True)
        if not target.is_relative_to(root):
            raise _ExcludedError("a link that leads out of the folder")
        if hidden_folder(target.relative_to(root).as_posix()):
            raise _ExcludedError("a link into a hidden folder")
        status = target.stat()
        if stat.S_ISDIR(status.st_mode):
            raise _ExcludedError("a link to a folder, whose files stand under their own names")
        targets[path] = target.relative_to(root).as_posix()
    if not stat.S_ISREG(status.st_mode):
        raise _ExcludedError("no ordinary file")
    return status.st_size


def _walk(root: Path, listing: Listing) -> Iterator[str]:
    """Yield the paths of everything but folders, folder by folder; links to folders are not followed."""
    waiting, count = [""], 0
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(f"{root}/{folder}") as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            listing.skipped[shown(folder) or "."] = reason(error)
            continue
        for entry in inside:
            path = posixpath.join(folder, entry.name)
            if entry.is_dir(follow_symlinks=False):
                hidden = entry.name.startswith(".") or entry.name in EXCLUDED_FOLDERS
                waiting += [path] if entry.name in HIDDEN_FOLDERS_READ or not hidden else []
            elif count == MAX_FILES:
                listing.skipped["."] = f"only the first {MAX_FILES:,} files were listed"
                return
            else:
                count += 1
                yield path


_SUFFIXES = {
    "c": "c h",
    "c#": "cs",
    "c++": "cc cpp hpp",
    "ini": "cfg ini",
    "javascript": "cjs js jsx mjs",
    "kotlin": "kt kts",
    "make": "mk",
    "markdown": "md",
    "protobuf": "proto",
    "python": "py pyi",
    "restructuredtext": "rst",
    "ruby": "rb",
    "rust": "rs",
    "shell": "bash sh",
    "typescript": "cts mts ts tsx",
    "yaml": "yaml yml",
}
_NAMED_AS_SUFFIX = ("css", "go", "gradle", "html", "java", "json", "php", "scala", "sql", "swift", "toml", "xml")
LANGUAGES: dict[str, str] = {name: name for name in _NAMED_AS_SUFFIX} | {
    suffix: language for language, suffixes in _SUFFIXES.items() for suffix in suffixes.split()
}
"""Languages by the suffix of a file's name."""

NAMED: dict[str, str] = {"dockerfile": "docker", "gnumakefile": "make", "justfile": "just", "makefile": "make"}
"""Languages of files whose name has no suffix."""

PARSED = frozenset({"go", "java", "javascript", "python", "rust", "typescript"})
"""Languages whose definitions and imports are read."""


def language_of(path: str) -> str | None:
    """Return the language of a file, None if its name does not tell.

    >>> language_of("src/app.tsx"), language_of("Makefile"), language_of("LICENSE")
    ('typescript', 'make', None)
    """
    name = posixpath.basename(path).lower()
    return NAMED.get(name) or LANGUAGES.get(name.rpartition(".")[2] if "." in name else "")
