"""The manifest of a dataset: its parts with their statistics, and the file that lists what they were compiled from."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec

from verifyplan.errors import InputError, Problem
from verifyplan.frames.columns import TABLES
from verifyplan.frames.dataset.storage import Storage

MANIFEST = "verifyplan-dataset"
"""The file that makes a folder a dataset; it has no suffix, so that nobody takes it for a run."""

PARTS, SOURCES = "parts", "sources"
"""The folders that hold a folder for each part, and the list of run files."""

_LAYOUT = 2
"""How files are laid out; raised by whoever changes it."""


def schema() -> str:
    """Return what tells this version of layout and columns from any other.

    >>> schema().split("-")[0]
    '2'
    """
    columns = [(name, [(column.name, column.kind) for column in table]) for name, table in TABLES.items()]
    return f"{_LAYOUT}-{sha256(repr(columns).encode()).hexdigest()[:12]}"


class Part(msgspec.Struct, frozen=True):
    """One part of a dataset: some whole runs, in files of their own."""

    name: str
    """The name of its folder."""
    rows: dict[str, int]
    """The rows of each table that has any."""
    memory: dict[str, int]
    """The bytes of each such table in memory, texts included."""
    first_run: str
    """The least run id, as texts are sorted."""
    last_run: str
    """The greatest run id."""
    modes: tuple[str, ...]
    """The modes of its runs."""
    workers: tuple[str, ...]
    """Who votes in it, sorted; the first 1,000."""
    missing_bases: int
    """Disagrees without a basis, whose explanations an adversarial replay reads."""
    synthetic: bool
    """Whether findings or votes of a run were generated."""

    def count(self, table: str) -> int:
        """Return the rows of a table."""
        return self.rows.get(table, 0)


class Manifest(msgspec.Struct, frozen=True):
    """All that has to be read to open a dataset."""

    source: str
    """The address that was compiled."""
    parts: tuple[Part, ...]
    """The parts, in the order of their runs."""
    files: str
    """The name of the file that lists the run files."""
    errors: tuple[dict[str, str], ...] = ()
    """What is wrong with run files that were left out, or read all the same: source, place, message, fix."""
    truth: str = ""
    """The digest of the file by which the truth of findings was filled; empty where there was none."""
    schema: str = msgspec.field(default_factory=schema)
    """The version of layout and columns."""


def is_dataset(system: Any, folder: str) -> bool:
    """Return whether a folder is a dataset."""
    return bool(system.exists(f"{folder}/{MANIFEST}"))


def read_manifest(storage: Storage) -> Manifest | None:
    """Return the manifest of a dataset; None where there is none, or one of another version of this library.

    Raises InputError for one that is damaged.
    """
    found = _decoded(storage)
    if found is None or found["schema"] != schema():
        return None
    try:
        return msgspec.convert(found, Manifest)
    except msgspec.ValidationError as error:
        raise _damaged(storage, error) from None


def remove_left_over(storage: Storage) -> None:
    """Remove what the manifest does not name: of a compile that was killed, or of the dataset before this one."""
    found = _decoded(storage) or {"parts": [], "files": ""}
    storage.remove_half_written()
    storage.remove_all_but({part["name"] for part in found["parts"]}, PARTS)
    storage.remove_all_but({found["files"]}, SOURCES)


def _decoded(storage: Storage) -> dict[str, Any] | None:
    """Return the manifest of any version; None where there is none."""
    try:
        data = storage.read(MANIFEST)
    except FileNotFoundError:
        return None
    try:
        found = msgspec.json.decode(data, type=dict[str, Any])
        _ = found["schema"], found["files"], [part["name"] for part in found["parts"]]
    except (msgspec.DecodeError, KeyError, TypeError) as error:
        raise _damaged(storage, error) from None
    return found


def _damaged(storage: Storage, error: Exception) -> InputError:
    fix = "remove the dataset and compile it again"
    return InputError(Problem(storage.path(MANIFEST), f"is damaged ({error})", fix))


def write_manifest(storage: Storage, manifest: Manifest) -> None:
    """Replace the manifest: from then on the dataset is what it says."""
    storage.write(MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=1))
