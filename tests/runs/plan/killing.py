"""Kills runs and resumes them, again and again: a program that `test_killed` starts, so that it forks from one thread.

It prints, as JSON, how often it killed, how often a line was torn, and everything that was not as it should be.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.forking import deaths, dying, in_child, survived
from tests.longer import LONG
from tests.runs.crossing import AGREE, BURDEN, COUNTER, finding
from tests.runs.plan.planning import PLAN, script
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.call import Reply
from verifyplan.protocol.event import Event, Sink
from verifyplan.protocol.event_run import RunResumed
from verifyplan.runlog.chain import Record
from verifyplan.runlog.recorder import Past
from verifyplan.runlog.writer import LogWriter
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.plan.pauses import Pause
from verifyplan.runs.plan.verify import verify
from verifyplan.runs.resume import read_run, resume
from verifyplan.runs.run import Run

CHUNK = 24
"""Bytes that a slow disk takes at once, so that a kill can come in the middle of a line."""

PAUSE = 0.00002
"""Seconds that it takes for them, at least."""

NEW_EVENTS = 1 if LONG else 4
"""Events of its own that a process adds to a run before it dies, where one after another does."""

DURATION = re.compile(r'"durationMs": \d+')

CROSS_SCRIPT: dict[Any, Any] = {
    1: {"ann": {"F-2": AGREE}, "bob": {"F-1": COUNTER, "F-3": AGREE}, "cy": {"F-1": AGREE, "F-2": BURDEN}},
    2: {"ann": {"F-2": AGREE}, "bob": {"F-1": AGREE}, "cy": "timeout"},
}


class Told:
    """Answers from a script after a moment; every call is on record in a file before it is answered."""

    def __init__(self, answers: dict[Any, Any], calls: Path, pace: float) -> None:
        self._inner, self._calls, self._pace = ScriptedBackend(answers, silent=True), calls, pace

    def describe(self) -> dict[str, Any]:
        return self._inner.describe()

    def check_worker(self, worker: str) -> str | None:
        return self._inner.check_worker(worker)

    async def answer(self, request: Any) -> Reply:
        with self._calls.open("a") as file:  # what is written outlives the process, if not the machine
            file.write(f"{request.call_id}\n")
        time.sleep(self._pace)
        return (await self._inner.answer(request)).model_copy(update={"duration_ms": 1})


def person(pause: Pause) -> str:
    """Acknowledges what blocks, one pause after another."""
    return f"acknowledge:{pause.challenges[0].id}"


class Scenario:
    """A run of one kind in a folder of its own: how it starts, and how it goes on."""

    def __init__(self, kind: str, folder: Path, pace: float = 0.0) -> None:
        self.kind, self.folder, self.calls = kind, folder, folder / "calls"
        folder.mkdir(parents=True)
        self.calls.touch()
        self._backend = Told(CROSS_SCRIPT if kind == "cross" else script(), self.calls, pace)

    def run(self, sink: Sink | None = None) -> Run:
        """Start the run, or go on with it; a log that holds nothing yet is begun anew."""
        path = self.log()
        if path is not None:
            return resume(path, backend=self._backend, sink=sink, on_blocked=person if self.kind == "asked" else None)
        if self.kind == "cross":
            found = [finding("F-1", "ann"), finding("F-2", "bob"), finding("F-3", "cy")]
            return crossverify(
                found,
                ["ann", "bob", "cy"],
                backend=self._backend,
                log_dir=self.folder,
                sink=sink,
                repo=ROOT,
                matcher=None,
            )
        asks: Any = person if self.kind == "asked" else "continue"
        return verify(
            parse_plan(PLAN),
            ROOT,
            backend=self._backend,
            log_dir=self.folder,
            on_blocked=asks,
            team="scaled",
            sink=sink,
            progress=False,
        )

    def log(self) -> Path | None:
        """The run's log, once it holds a whole line."""
        found = [path for path in self.folder.rglob("*.jsonl") if b"\n" in path.read_bytes()]
        for path in set(self.folder.rglob("*.jsonl")) - set(found):
            path.unlink()
        return found[0] if found else None


def outcome(run: Run, folder: Path) -> tuple[list[str], list[str]]:
    """What must be equal: the events, resumptions and durations aside, and the artifacts."""
    events = [event for event in run.events if not isinstance(event, RunResumed)]
    artifacts = [path for path in sorted(folder.rglob("*.json")) if not path.name.startswith(".tmp-")]
    return (
        [str(event.model_dump(exclude={"duration_ms"})) for event in events],
        [DURATION.sub("", path.read_text()) for path in artifacts],
    )


class Watch:
    """Looks at a run between two processes, and collects what is wrong."""

    def __init__(self, scenario: Scenario, wrong: list[str], name: str) -> None:
        self.scenario, self.wrong, self.name = scenario, wrong, name
        self.torn = 0

    def before(self) -> None:
        """Remember what is on disk before a process goes on."""
        events = self._events()
        self.past = Past([Record(0, "", event) for event in events])
        self.resumptions, self.asked = len(_resumptions(events)), len(self._calls())

    def after(self) -> None:
        """No call was made whose reply was on disk; what was in flight is told as repeated."""
        again = [name for name in self._calls()[self.asked :] if self.past.result(name) is not None]
        if again:
            self.wrong.append(f"{self.name}: made again though the reply was on disk: {again}")
        new = _resumptions(self._events())[self.resumptions :]
        if new and new[0].repeated != self.past.in_flight:
            self.wrong.append(f"{self.name}: in flight {self.past.in_flight}, but repeated {new[0].repeated}")
        self.torn += sum(one.dropped_bytes > 0 for one in new)

    def at_end(self, expected: tuple[list[str], list[str]]) -> None:
        """The run came to the end that the undisturbed one came to, and stays there."""
        path = self.scenario.log()
        if path is None:
            self.wrong.append(f"{self.name}: there is no log")
            return
        whole = path.read_bytes()
        run = resume(path)
        if path.read_bytes() != whole:
            self.wrong.append(f"{self.name}: resuming the ended run changed its log")
        events, artifacts = outcome(run, self.scenario.folder)
        if events != expected[0]:
            self.wrong.append(f"{self.name}: other events: {sorted(set(events) ^ set(expected[0]))[:2]}")
        if artifacts != expected[1]:
            self.wrong.append(f"{self.name}: another artifact, or {len(artifacts)} of them")

    def _calls(self) -> list[str]:
        return self.scenario.calls.read_text().splitlines()

    def _events(self) -> Sequence[Event]:
        path = self.scenario.log()
        return read_run(path).events if path else ()


def _resumptions(events: Sequence[Event]) -> list[RunResumed]:
    return [event for event in events if isinstance(event, RunResumed)]


def attempt(watch: Watch, work: Callable[[], Any], kill_after: float | None = None) -> bool:
    """One process that works on the run, killed from outside if so asked; whether it came to its end."""
    watch.before()
    child = in_child(work)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    ended = survived(child)
    watch.after()
    return ended


def at_boundaries(kind: str, folder: Path) -> dict[str, Any]:
    """Killed after event n, for some n or every n, and resumed to the end."""
    undisturbed = Scenario(kind, folder / "undisturbed")
    run = undisturbed.run()
    expected, numbers = outcome(run, undisturbed.folder), deaths([event.type for event in run.events])
    wrong: list[str] = []
    kills = 0
    for number in numbers:
        scenario = Scenario(kind, folder / f"after-{number}")
        watch = Watch(scenario, wrong, f"{kind} after {number}")
        kills += not attempt(watch, lambda limit=number, scenario=scenario: scenario.run(dying(limit)))
        watch.before()
        scenario.run()
        watch.after()
        watch.at_end(expected)
    return {"kills": kills, "deaths": len(numbers), "events": len(expected[0]), "wrong": wrong}


def one_by_one(kind: str, folder: Path) -> dict[str, Any]:
    """One run of which every process dies after a few new events: its resumption, and `NEW_EVENTS` of its own."""
    undisturbed = Scenario(kind, folder / "undisturbed")
    expected = outcome(undisturbed.run(), undisturbed.folder)
    scenario, wrong, kills = Scenario(kind, folder / "disturbed"), list[str](), 0
    watch = Watch(scenario, wrong, kind)
    while not attempt(watch, lambda: scenario.run(dying(1 + NEW_EVENTS))):
        kills += 1
    watch.at_end(expected)
    return {"kills": kills, "events": len(expected[0]), "wrong": wrong}


class Slow:
    """A raw file that takes a few bytes at a time."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, data: bytes) -> int:
        time.sleep(PAUSE)
        written: int = self._file.write(data[:CHUNK])
        return written

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def slow_disk() -> None:
    """Let every log be written a few bytes at a time."""
    begin = LogWriter.__init__

    def slower(self: LogWriter, *given: Any) -> None:
        begin(self, *given)
        self._file = Slow(self._file)  # type: ignore[assignment]

    LogWriter.__init__ = slower  # type: ignore[method-assign]


def at_instants(kind: str, folder: Path, seed: int, runs: int) -> dict[str, Any]:
    """Runs that are killed from outside at any moment, each again and again until it comes to its end."""
    slow_disk()
    took = float("inf")
    for name in ("first", "undisturbed"):  # the first run loads what it needs, and a busy machine may be slow at once
        undisturbed = Scenario(kind, folder / name, 0.0005)
        began = time.monotonic()
        run = undisturbed.run()
        took = min(took, time.monotonic() - began)
    expected = outcome(run, undisturbed.folder)
    chance, wrong, kills, torn = random.Random(seed), list[str](), 0, 0
    for number in range(runs):
        scenario = Scenario(kind, folder / f"run-{number}", 0.0005)
        watch = Watch(scenario, wrong, f"{kind} run {number}")
        for _ in range(12):
            if attempt(watch, scenario.run, chance.uniform(0, took / 3.5)):
                break
            kills += 1
        attempt(watch, scenario.run)
        watch.at_end(expected)
        torn += watch.torn
    return {"kills": kills, "torn": torn, "events": len(expected[0]), "wrong": wrong}


def artifact_half_written(folder: Path) -> dict[str, Any]:
    """A cross run killed while its artifact is on its way to its name."""
    undisturbed = Scenario("cross", folder / "undisturbed")
    expected = outcome(undisturbed.run(), undisturbed.folder)
    scenario, wrong = Scenario("cross", folder / "disturbed"), list[str]()
    watch = Watch(scenario, wrong, "artifact")

    def die(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def work() -> None:
        Path.hardlink_to = die  # type: ignore[method-assign]
        scenario.run()

    ended = attempt(watch, work)
    for left in scenario.folder.rglob(".tmp-*"):
        left.unlink()
    watch.at_end(expected)
    return {"kills": int(not ended), "events": len(expected[0]), "wrong": wrong}


ROOT = Path(os.devnull)


def main(place: str, how: str, kind: str, *numbers: str) -> None:
    """Do what the command line says and print what came of it."""
    global ROOT
    folder = Path(place)
    os.fsync = lambda _: None  # a killed process loses nothing that it wrote; thousands of these take minutes
    ROOT = folder / "repository"
    ROOT.mkdir()
    told: Sequence[int] = [int(number) for number in numbers]
    if how == "instants":
        found = at_instants(kind, folder, *told)
    elif how == "artifact":
        found = artifact_half_written(folder)
    else:
        found = {"boundaries": at_boundaries, "one-by-one": one_by_one}[how](kind, folder)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
