"""Lets commands write to a real disk that is full: a program that `test_full_disk` starts, as it forks.

It mounts a file system of few pages in memory, in a mount namespace of its own, and gives it less and less of to do:
each action has no page free at first, and one more each time, until it comes to its end. What it prints, as JSON, are
the pages that each action needed, and everything that was not as it should be.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd

import verifyplan as vp
from verifyplan.cli.app import main as command_line
from verifyplan.errors import VerifyplanError

PAGES, PAGE, ROOM = 64, 4096, (*range(6), 8, 16, 32, 64)
NEW_NAMES, NEW_MOUNTS = 0x10000000, 0x00020000
"""CLONE_NEWUSER and CLONE_NEWNS of Linux."""
FREE = r"No space left on device\)? \([0-9,]+ bytes are free there\)"
Action = Callable[[Path], None]


class NoMountError(Exception):
    """This system lets nobody mount a file system here."""


def mount(place: Path) -> None:
    """Mount a file system of so many pages, which this process alone sees."""
    libc, uid, gid = ctypes.CDLL(None, use_errno=True), os.getuid(), os.getgid()
    if libc.unshare(NEW_NAMES | NEW_MOUNTS) == 0:
        for name, text in {"setgroups": "deny", "uid_map": f"0 {uid} 1", "gid_map": f"0 {gid} 1"}.items():
            Path("/proc/self", name).write_text(text)
    elif libc.unshare(NEW_MOUNTS):
        raise NoMountError(os.strerror(ctypes.get_errno()))
    if libc.mount(b"none", bytes(place), b"tmpfs", 0, f"size={PAGES * PAGE}".encode()):
        raise NoMountError(os.strerror(ctypes.get_errno()))


@contextlib.contextmanager
def room(place: Path, pages: int) -> Iterator[Path]:
    """Yield an empty folder on the disk, which has so many pages left."""
    folder, filler = place / "work", place / "filler"
    folder.mkdir()
    with filler.open("wb", buffering=0) as file:
        file.write(bytes((PAGES - pages) * PAGE))
    try:
        yield folder
    finally:
        filler.unlink()
        shutil.rmtree(folder)


def said(*words: object) -> None:
    """Run a command; OSError with what it says where it does not come to its end."""
    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["verifyplan", *map(str, words)]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            command_line()
        except SystemExit as ended:
            if ended.code:
                raise OSError(f"{ended.code}: {err.getvalue()}") from None


def left(folder: Path) -> list[str]:
    """Return what is in a folder, by relative path."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


class Attempt(NamedTuple):
    """Something that writes, what is whole when it was written, and what may stay where there was too little room."""

    act: Action
    whole: Action
    may_stay: str = "$^"


def tried(name: str, attempt: Attempt, disk: Path) -> tuple[int, list[str]]:
    """Do it with more and more room; return how many pages it needed, and what was wrong before it had them."""
    wrong: list[str] = []
    for pages in ROOM:
        with room(disk, pages) as folder:
            try:
                attempt.act(folder)
            except (OSError, VerifyplanError) as error:
                wrong += [f"{name}, {pages} pages: {sentence}" for sentence in failed(attempt, folder, error)]
            else:
                attempt.whole(folder)
                return pages, wrong
    return PAGES, [*wrong, f"{name}: no room was enough"]


def failed(attempt: Attempt, folder: Path, error: Exception) -> Iterator[str]:
    """Yield what is wrong with an attempt that failed for want of room; a run that has begun is resumed with more."""
    words = " ".join([str(error), *getattr(error, "__notes__", [])])
    if not re.search(FREE, words):
        yield f"it says {words}"
    if over := [path for path in left(folder) if not re.fullmatch(attempt.may_stay, path)]:
        yield f"it leaves {over}"
    logs = [path for path in folder.rglob("*.jsonl") if b"\n" in path.read_bytes()]
    if (": verifyplan resume" in words) != bool(logs):
        yield f"it says {words} and has the logs {logs}"
    if logs:
        (folder.parent / "filler").write_bytes(b"")
        said("resume", logs[0])
        attempt.whole(folder)


def attempts(source: Path) -> dict[str, Attempt]:
    """Return what is tried, by name; what it needs is made in a folder on another disk."""
    (source / "m.py").write_text("x = 1\n")
    names = {"finding_id": [f"F-{n}" for n in range(9)], "summary": [f"`x` is {n}" for n in range(9)]}
    pd.DataFrame({**names, "evidence": "m.py:1", "worker": "ann"}).to_csv(source / "findings.csv", index=False)
    (source / "plan.md").write_text("# Plan\n\n1. Rename `x` in `m.py`.\n2. Delete the table `orders` for ever.\n")
    cross = ["crossverify", source / "findings.csv", "--repo", source, "--workers", "ann=window,bob=search"]
    plan = ["verify", source / "plan.md", "--repo", source]
    said(*cross, "--log-dir", source / "runs")
    runs, figure = vp.load(source / "runs"), vp.charts.queue("contract")
    artifact = vp.read_artifact(next((source / "runs").rglob("*.json")))
    log = r"(.*/)?[\w-]+\.jsonl"
    return {
        "log and artifact": Attempt(lambda at: said(*cross, "--log-dir", at), loads(), log),
        "log and report": Attempt(lambda at: said(*plan, "--log-dir", at, "--report", at / "r.md"), loads(), log),
        "artifact": Attempt(lambda at: discard(vp.write_artifact(artifact, at / "a.json")), loads()),
        "tables": Attempt(lambda at: discard(runs.save(at)), loads(), r".*\.parquet"),
        "CSV": Attempt(lambda at: discard(runs.save_csv(at)), holds("votes.csv"), r".*\.csv"),
        "dataset": Attempt(lambda at: said("compile", source / "runs", "--out", at / "set"), loads("set")),
        "chart": Attempt(lambda at: discard(vp.export(figure, at / "queue.svg")), holds("queue.svg")),
    }


def discard(_: object) -> None:
    """Return nothing."""


def loads(name: str = "") -> Action:
    """Return what raises unless a folder within the one that was written loads as one run."""

    def check(folder: Path) -> None:
        assert len(vp.load(folder / name)) == 1, left(folder)

    return check


def holds(name: str) -> Action:
    """Return what raises unless a file was written, and nothing beside it is half-written."""

    def check(folder: Path) -> None:
        assert (folder / name).stat().st_size, left(folder)
        assert not [path for path in left(folder) if Path(path).name.startswith(".")], left(folder)

    return check


def main(place: str) -> None:
    """Try everything on a full disk, and print what came of it."""
    source, disk = Path(place, "source"), Path(place, "disk")
    source.mkdir()
    disk.mkdir()
    try:
        mount(disk)
    except NoMountError as error:
        sys.stdout.write(json.dumps({"refused": str(error)}))
        return
    found = {name: tried(name, attempt, disk) for name, attempt in attempts(source).items()}
    wrong = [sentence for _, sentences in found.values() for sentence in sentences]
    sys.stdout.write(json.dumps({"pages": {name: pages for name, (pages, _) in found.items()}, "wrong": wrong}))
