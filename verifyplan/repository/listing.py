"""Which files a repository has: those that git tracks, else those that a walk finds."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from verifyplan.plans.values import split_lines
from verifyplan.repository import git
from verifyplan.repository.languages import language_of
from verifyplan.repository.reading import reason
from verifyplan.repository.records import FileEntry

LEFT_OUT = frozenset({"node_modules", "__pycache__", "target", "dist", "build", "venv"})
"""Folders that a walk does not enter, beside hidden ones."""
ENTERED = frozenset({".github", ".cursor"})
"""Hidden folders that a walk enters: they hold rules for whoever works on the repository."""
MOST = 500_000
"""Files after which a walk ends."""


@dataclass
class Listing:
    """Files by path, sorted; paths that lead to another listed file; what was left out; the commit."""

    files: dict[str, FileEntry] = field(default_factory=dict)
    aliases: set[str] = field(default_factory=set)
    skipped: dict[str, str] = field(default_factory=dict)
    commit: str | None = None


LOG_BEGINS = b'{"seq":1,"at":"'
"""How a run log begins: it quotes a plan, and what a plan says must not vouch for the plan."""


def list_files(root: Path, plan: str = "") -> Listing:
    """The ordinary files under `root`, which is resolved. Never raises, whatever lies there.

    Files that hold the text of `plan`, and run logs, are left out: a plan does not vouch for itself.

    Where git fails, or tracks nothing here, the folder is walked; if it is a git repository, `skipped` says so
    under the path `.`. Links count by what they lead to. Source: rules G2, H3.
    """
    listing = Listing()
    _add(root, _tracked(root, listing) or _walk(root, listing), listing)
    least = len(plan.encode(errors="replace"))
    sizes = range(least - 4, least + 5 + plan.count("\n")) if plan else range(0)  # whatever the line ends
    for path in [path for path, entry in listing.files.items() if _quotes(root / path, entry.size in sizes, plan)]:
        del listing.files[path]
        listing.skipped[path] = "the plan itself, or a run log"
    listing.files = {path: listing.files[path] for path in sorted(listing.files)}
    listing.aliases = {path for path in listing.aliases if _leads_to(root, path) in listing.files}
    return listing


def _tracked(root: Path, listing: Listing) -> list[git.Tracked]:
    """What git tracks; nothing, and a note why, where the folder has to be walked."""
    try:
        found = git.tracked(root)
    except git.GitError as error:
        if str(error):
            listing.skipped["."] = f"{error}, so the folder was walked"
        return []
    if found:
        listing.commit = git.head(root)
    else:
        listing.skipped["."] = "git tracks nothing here, so the folder was walked"
    return found


def shown(path: str) -> str:
    r"""A path that can be written down, whatever bytes its name has.

    >>> shown("caf\udce9.py")
    'caf\\xe9.py'
    """
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _add(root: Path, paths: Iterable[git.Tracked], listing: Listing) -> None:
    for path, submodule in paths:
        if submodule:
            listing.skipped[shown(path)] = "a submodule, which is not looked into"
            continue
        if path != shown(path):
            listing.skipped[shown(path)] = "its name is not UTF-8"
            continue
        try:
            listing.files[path] = FileEntry(path, _size(root, path, listing), language_of(path))
        except _LeftOutError as error:
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


class _LeftOutError(Exception):
    """Why a path is not listed as a file."""


def _size(root: Path, path: str, listing: Listing) -> int:
    """Bytes of an ordinary file, by way of a link if need be."""
    found = os.lstat(f"{root}/{path}")
    if stat.S_ISLNK(found.st_mode):
        target = (root / path).resolve(strict=True)
        if not target.is_relative_to(root):
            raise _LeftOutError("a link that leads out of the folder")
        found = target.stat()
        if stat.S_ISDIR(found.st_mode):
            raise _LeftOutError("a link to a folder, whose files stand under their own names")
        listing.aliases.add(path)
    if not stat.S_ISREG(found.st_mode):
        raise _LeftOutError("no ordinary file")
    return found.st_size


def _leads_to(root: Path, path: str) -> str:
    try:
        return (root / path).resolve(strict=True).relative_to(root).as_posix()
    except (OSError, RuntimeError, ValueError):
        return ""


def _walk(root: Path, listing: Listing) -> Iterator[git.Tracked]:
    """Paths of what is no folder, folder by folder; links to folders are not followed."""
    waiting, found = [""], 0
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
                waiting += [path] if _entered(entry.name) else []
            elif found == MOST:
                listing.skipped["."] = f"only the first {MOST:,} files were listed"
                return
            else:
                found += 1
                yield git.Tracked(path, submodule=False)


def _entered(name: str) -> bool:
    return name in ENTERED or not (name.startswith(".") or name in LEFT_OUT)
