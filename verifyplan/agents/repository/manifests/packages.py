"""The packages that a repository's manifests declare."""

from __future__ import annotations

import fnmatch
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from verifyplan.agents.repository.manifests import others, python
from verifyplan.agents.repository.manifests.text import LARGEST, DamagedError, Manifest
from verifyplan.agents.repository.records import FileEntry, Package
from verifyplan.agents.repository.texts import Texts

T = TypeVar("T")
Readers = Iterable[tuple[str, Callable[[Manifest], Iterator[T]]]]

_READERS: Readers[Package] = (
    ("requirements*.txt", python.requirements),
    ("*requirements.txt", python.requirements),
    ("requirements/*.txt", python.requirements),
    ("pyproject.toml", python.pyproject),
    ("setup.cfg", python.setup_cfg),
    ("environment*.y*ml", python.environment),
    ("package.json", others.package_json),
    ("Cargo.toml", others.cargo),
    ("go.mod", others.go_mod),
    ("pom.xml", others.pom),
    ("build.gradle", others.gradle),
    ("build.gradle.kts", others.gradle),
)


def read_packages(files: Mapping[str, FileEntry], texts: Texts) -> list[Package]:
    """All declared packages, in order of path and line; what a damaged manifest declares is not known."""
    found = list(read_manifests(files, texts, _READERS))
    return sorted(set(found), key=lambda package: (package.path, package.line, package.name, package.version))


def read_manifests(files: Mapping[str, FileEntry], texts: Texts, readers: Readers[T]) -> Iterator[T]:
    """What the readers find in the files that their patterns name, each file being read by the first that fits.

    A damaged or overlong manifest is noted as skipped.
    """
    for path in files:
        read = next((read for pattern, read in readers if _named(path, pattern)), None)
        text = texts.text(path) if read is not None else None
        if read is None or text is None:
            continue
        try:
            if len(text) > LARGEST:
                raise DamagedError(f"is larger than {LARGEST:,} characters, too large for a manifest")
            yield from list(read(Manifest(path, text)))
        except DamagedError as error:
            texts.skipped.setdefault(path, str(error))


def _named(path: str, pattern: str) -> bool:
    """Whether the last parts of a path fit a pattern of as many parts."""
    parts = path.split("/")[-1 - pattern.count("/") :]
    return fnmatch.fnmatchcase(posixpath.join(*parts), pattern)
