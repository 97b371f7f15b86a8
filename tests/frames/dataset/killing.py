"""Kills compiles, again and again: a program that `test_killed` starts, so that it forks from one thread.

It prints, as JSON, how often a compile was killed, how often the dataset was then the old one, and what was wrong.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from functools import partial
from pathlib import Path

import verifyplan as vp
from tests.forking import in_child, survived
from tests.frames.dataset.folders import expect_equal, write_run
from tests.longer import LONG
from verifyplan.frames.dataset.compile import compile_dataset
from verifyplan.frames.dataset.manifest import MANIFEST

TRIES = 100 if LONG else 6


def prepare(folder: Path) -> None:
    """Compile the old runs, and make the new ones of them: one added, one changed, one removed."""
    for name in ("a", "b", "c", "d"):
        write_run(folder / "old", name)
    shutil.copytree(folder / "old", folder / "runs")
    compile_dataset(folder / "runs", folder / "set", part_votes=4)
    shutil.copytree(folder / "old", folder / "new")
    write_run(folder / "new", "e")
    write_run(folder / "new", "b", explanation="holds after all")
    (folder / "new/d.json").unlink()
    shutil.rmtree(folder / "runs")
    shutil.copytree(folder / "new", folder / "runs")


def compile_again(folder: Path) -> None:
    """Bring the dataset up to date."""
    compile_dataset(folder / "runs", folder / "set", part_votes=4)


def check(folder: Path) -> None:
    """Check that the dataset is whole, old or new; that the next compile is right, and leaves nothing over."""
    is_old = (folder / "set" / MANIFEST).read_bytes() == (folder / "manifest").read_bytes()
    expect_equal(vp.load(folder / "set"), vp.load(folder / ("old" if is_old else "new")))
    (folder / "was-old").write_text(str(int(is_old)))
    compile_again(folder)
    dataset = vp.load(folder / "set")
    expect_equal(dataset, vp.load(folder / "new"))
    parts = {part.name for part in dataset.statistics}
    over = {path.name for path in (folder / "set/parts").iterdir()} - parts
    hidden = [path.name for path in (folder / "set").rglob(".tmp-*")]
    if over or hidden or len(list((folder / "set/sources").iterdir())) > 1:
        raise RuntimeError(f"left over: {over or hidden or 'sources'}")


def begin(folder: Path) -> Path:
    """Return the folder to work in, as it was prepared; its name is that which the dataset was compiled from."""
    work = folder / "work"
    shutil.rmtree(work)
    shutil.copytree(folder / "kept", work)
    shutil.copy(work / "set" / MANIFEST, work / "manifest")
    return work


def main(place: str) -> None:
    """Kill and check so many times, at moments spread over the time of a compile."""
    folder, chance = Path(place), random.Random(0)
    survived(in_child(partial(prepare, folder / "work")))
    shutil.copytree(folder / "work", folder / "kept")
    work, began = begin(folder), time.perf_counter()
    survived(in_child(partial(compile_again, work)))
    whole = time.perf_counter() - began
    killed, old, wrong = 0, 0, []
    for number in range(TRIES):
        work = begin(folder)
        child = in_child(partial(compile_again, work))
        time.sleep(whole * chance.uniform(0, 1.1))
        os.kill(child, signal.SIGKILL)
        ended = survived(child)
        killed += not ended
        whole *= 0.8 if ended else 1.1  # on a busy machine the time changes: some seven in ten are killed in it
        try:
            survived(in_child(partial(check, work)))
            old += int((work / "was-old").read_text())
        except RuntimeError as error:
            wrong.append(f"try {number}: {error}")
    print(json.dumps({"tries": TRIES, "killed": killed, "old": old, "wrong": wrong}))


if __name__ == "__main__":
    main(*sys.argv[1:])
