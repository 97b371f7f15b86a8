"""What every benchmark measures, in one form: ours, a peer on the same data in the same run, their ratio, the memory.

Each engine has a process of its own, which works whenever it is asked to; they take turns, so that a busy machine
slows all of them alike. A benchmark has a function that gives an engine its work, and ends like this:

    if __name__ == "__main__":
        serve_or(main, engine)

`measured` starts the processes and `report` prints a line for each peer. Where the environment names a file in
VERIFYPLAN_FIGURES, `report` adds the figures to it; `benchmarks/guard.py` reads them there.
"""

from __future__ import annotations

import csv
import ctypes
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
VARIABLE = "VERIFYPLAN_FIGURES"
REPEATS = 5
QUICK_SECONDS = 0.5
"""Within a turn, work is done again until it took so long in all, or REPEATS times."""
YARDSTICK = "numpy sort of 10 million numbers"
TIME_AIMED_AT = "the time aimed at"
MET = {TIME_AIMED_AT: 1}

Work = Callable[[], object]
Engine = Callable[..., tuple[Work, Callable[[object], object]]]
"""Takes the engine's name and texts; makes the data; returns the work, and a function of its result that must be equal
for all engines; one whose result cannot be compared returns None there."""


class Measurement(NamedTuple):
    """What an engine took: the least of its repeats."""

    seconds: float
    cpu: float = float("nan")
    """Seconds of all its threads: what is left of the time where other programs are at work."""
    peak_mb: float = float("nan")
    """Memory at most, beyond what the process held with its input."""


@dataclass(frozen=True)
class Figure:
    """A row of `figures.csv`: ours beside one peer."""

    benchmark: str
    name: str
    """What is done, on what."""
    n: int
    unit: str
    """What n counts."""
    peer: str
    ratio: float
    """Seconds of the peer, divided by ours: more is better."""
    aim: float | None
    """The least ratio that is aimed at."""
    seconds: float
    peer_seconds: float
    cpu: float
    peer_cpu: float
    peak_mb: float
    peer_peak_mb: float

    @property
    def key(self) -> tuple[str, str, int, str]:
        """What makes it the same figure in another run."""
        return self.benchmark, self.name, self.n, self.peer

    def __str__(self) -> str:
        aim = "" if self.aim is None else f", aim {self.aim:.3g}{'' if self.ratio >= self.aim else ' NOT REACHED'}"
        ours, theirs = _cost(self.seconds, self.peak_mb), _cost(self.peer_seconds, self.peer_peak_mb)
        return f"{self.name}, {self.n:,} {self.unit}: {ours}; {self.peer} {theirs}; ratio {self.ratio:.3g}{aim}"


def _cost(seconds: float, peak_mb: float) -> str:
    return f"{seconds:.3g} s" + ("" if np.isnan(peak_mb) else f", {peak_mb:.0f} MB")


def report(
    benchmark: str,
    name: str,
    n: int,
    unit: str,
    ours: Measurement,
    peers: Mapping[str, Measurement],
    aims: Mapping[str, float] | None = None,
) -> None:
    """Print what was measured, a line a peer, and keep it for `make bench`."""
    for peer, theirs in peers.items():
        figure = Figure(
            benchmark, name, n, unit, peer, theirs.seconds / ours.seconds, (aims or {}).get(peer),
            ours.seconds, theirs.seconds, ours.cpu, theirs.cpu, ours.peak_mb, theirs.peak_mb,
        )  # fmt: skip
        print(figure, flush=True)
        if VARIABLE in os.environ:
            with Path(os.environ[VARIABLE]).open("a", newline="") as file:
                csv.writer(file).writerow(asdict(figure).values())


def read_figures(path: Path) -> list[Figure]:
    """Return the figures that benchmarks have added to a file."""
    with path.open(newline="") as file:
        return [figure_of(dict(zip(FIELDS, row, strict=True))) for row in csv.reader(file)]


FIELDS = [field.name for field in fields(Figure)]
TEXTS = ("benchmark", "name", "unit", "peer")


def figure_of(row: Mapping[str, str]) -> Figure:
    """Return a figure from its texts; no aim is an empty text."""
    values: dict[str, object] = {name: row[name] for name in TEXTS}
    values |= {name: float(row[name]) for name in FIELDS if name not in (*TEXTS, "n", "aim")}
    return Figure(**values, n=int(row["n"]), aim=float(row["aim"]) if row["aim"] else None)  # type: ignore[arg-type]


def measured(module: str, engines: Sequence[str], *arguments: object, repeats: int = REPEATS) -> dict[str, Measurement]:
    """Return what each engine takes, each in its process, in turns; stop unless all come to the same."""
    found: dict[str, list[Measurement]] = {engine: [] for engine in engines}
    answers: dict[str, str] = {}
    with ExitStack() as ends:
        processes = {engine: ends.enter_context(_started(module, engine, *arguments)) for engine in engines}
        for turn in range(-1, repeats):  # -1: their data are made, and they have worked once
            for engine, process in processes.items():
                if turn >= 0:
                    process.stdin.write("\n")
                    process.stdin.flush()
                line = process.stdout.readline().rstrip("\n").split("\t")
                if line == [""]:
                    raise SystemExit(f"{module}: {engine} failed")
                if turn >= 0:
                    found[engine].append(Measurement(*map(float, line[:3])))
                    answers |= {engine: line[3]} if line[3] != "None" else {}
    if len(set(answers.values())) > 1:
        raise SystemExit(f"{module}: the engines come to different results: {answers}")
    return {engine: least(rows) for engine, rows in found.items()}


def _started(module: str, *arguments: object) -> subprocess.Popen[str]:
    """Return the process of an engine; it ends when its input is closed."""
    command = [sys.executable, "-m", module, "--serve", *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def least(rows: Sequence[Measurement]) -> Measurement:
    """Return the least times of some repeats, and the most memory."""
    seconds, cpu, peak = zip(*rows, strict=True)
    return Measurement(min(seconds), min(cpu), max(peak))


def timed(work: Work, repeats: int = REPEATS) -> Measurement:
    """Return what some work takes in this process, after a first time that does not count."""
    work()
    return least([turn(work)[0] for _ in range(repeats)])


def turn(work: Work) -> tuple[Measurement, object]:
    """Return the least that some work takes in a turn, the memory of its first time, and what it returns.

    Before the first time all free memory goes back to the system, as the memory could not be measured otherwise; quick
    work is then done again, as in a session, where memory that was freed is at hand.
    """
    first, result = once(work)
    rows = [first]
    while len(rows) < REPEATS and sum(row.seconds for row in rows) < QUICK_SECONDS:
        rows.append(_clocked(work)[0])
    return least(rows)._replace(peak_mb=first.peak_mb), result


def once(work: Work) -> tuple[Measurement, object]:
    """Return what some work takes in this process and its children that end in it, and what it returns."""
    clear = Path("/proc/self/clear_refs")
    if clear.exists():
        ctypes.CDLL(None).malloc_trim(0)  # what was freed goes back
        clear.write_text("5")  # the highest memory begins anew
    before = memory_mb("VmRSS")
    spent, result = _clocked(work)
    return spent._replace(peak_mb=memory_mb("VmHWM") - before), result


def _clocked(work: Work) -> tuple[Measurement, object]:
    cpu, began = cpu_seconds(), time.perf_counter()
    result = work()
    return Measurement(time.perf_counter() - began, cpu_seconds() - cpu), result


def cpu_seconds() -> float:
    """Return the seconds of CPU of this process and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def memory_mb(name: str) -> float:
    """Return a figure of this process in MB, of those that Linux gives: VmRSS now, VmHWM at most; elsewhere nan."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1e3 for line in lines if line.startswith(name)), float("nan"))


def yardstick(repeats: int = 3) -> Measurement:
    """Return what YARDSTICK takes: a peer for what nobody else computes, whose ratio does not depend on the machine."""
    numbers = np.random.default_rng(0).random(10_000_000)
    return timed(lambda: np.sort(numbers), repeats)


def within(seconds: float | None) -> dict[str, Measurement]:
    """Return a time that is aimed at in the form of a peer; MET is the aim. `make bench` does not fail by it."""
    return {} if seconds is None else {TIME_AIMED_AT: Measurement(seconds)}


def serve_or(main: Callable[[], None], engine: Engine) -> None:
    """Run a benchmark; or, in a process that `measured` has started, an engine, each time that a line comes."""
    if sys.argv[1:2] != ["--serve"]:
        return main()
    work, answer = engine(*sys.argv[2:])
    work()
    print("ready", flush=True)
    for _ in sys.stdin:
        spent, result = turn(work)
        print(*spent, answer(result), sep="\t", flush=True)
    return None
