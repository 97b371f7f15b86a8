"""Faults of processes: killed, interrupted, out of disk, with a clock that goes back, two at one log.

A run goes on in processes of its own, one after the other, until it has come to its end; the server is in this one,
counts, and ends a process with a request in its hands where that is the fault.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.fault_server import CountingServer, misaccounted, repeated
from benchmarks.fault_subjects import SUBJECTS
from benchmarks.fault_trials import Outcome, Wrong, undisturbed
from benchmarks.faulted_process import log_in
from tests.fork_client import KILLED
from tests.live.live_runs import derived
from tests.live.scripted_replies import Answer, status
from tests.processes import forked
from verifyplan.protocol.event_run import TurnReplied
from verifyplan.runlog.current import current
from verifyplan.runlog.reader import read_log
from verifyplan.runs.replay import replay_run
from verifyplan.runs.resume import read_run

LATENCY, INSTANTS_S, MAX_KILLS, SEED = 0.02, 0.2, 6, 17
"""Seconds of a reply, seconds within which a process is killed, how often, and the seed of the instants."""
HINT = "The run goes on by: verifyplan resume"
Befalls = Callable[["Scene"], None]
Process = Future[CompletedProcess[str]]


class ProcessFault(NamedTuple):
    """What happens to the processes of a run."""

    family: str
    name: str
    kind: str
    befall: Befalls
    """Let it happen, until the run has ended or can go on."""
    first: Mapping[str, Answer | Sequence[Answer]] = {}
    """What some turns hear first."""

    def tried(self) -> Outcome:
        """Return what was wrong after it."""
        wrong, played = Wrong(), SUBJECTS[self.kind].played(self.first)
        with TemporaryDirectory() as folder, CountingServer(played, LATENCY) as server:
            scene = Scene(Path(folder), self.kind, server, wrong)
            with wrong.checking("ends"):
                self.befall(scene)
            with wrong.checking("resume"):
                scene.to_the_end()
        return Outcome(self.family, self.name, self.kind, wrong)


class Scene:
    """A run in a folder, the processes that work on it, and the server that they ask."""

    def __init__(self, folder: Path, kind: str, server: CountingServer, wrong: Wrong) -> None:
        self.folder, self.kind, self.server, self.wrong = folder, kind, server, wrong
        self.ended = self.reopened_at = 0
        self._pool = ThreadPoolExecutor(2)

    @contextmanager
    def process(self, *fault: object) -> Iterator[Process]:
        """Start a process that works on the run; none of a reply on disk may it ask for again."""
        (self.folder / "pid").unlink(missing_ok=True)
        on_disk, before = self._replied(), len(self.server.requests)
        started = self._pool.submit(
            forked, "everything", "benchmarks.faulted_process", "main", self.folder, self.kind, self.server.url, *fault
        )
        yield started
        started.result(200)
        again = {asked.headers["x-verifyplan-turn"] for asked in self.server.requests[before:]} & on_disk
        self.wrong.check("resume", not again, f"asked again though the reply was on disk: {sorted(again)}")

    def send(self, number: int) -> None:
        """Send the process a signal, if it has not ended."""
        pid = self.pid()
        try:
            os.kill(pid, number)
            self.ended += 1
        except ProcessLookupError:
            pass

    def pid(self) -> int:
        """Return the id of the process, once it has begun."""
        file, until = self.folder / "pid", time.monotonic() + 60
        while not (file.exists() and file.read_text()):
            if time.monotonic() > until:
                raise TimeoutError("the process did not begin")
            time.sleep(0.002)
        return int(file.read_text())

    def has_ended(self) -> bool:
        """Return whether the run has come to its end."""
        log = log_in(self.folder)
        return log is not None and read_run(log).has_ended

    def to_the_end(self) -> None:
        """Go on undisturbed, and check that the run is the undisturbed one."""
        if not self.has_ended():
            with self.process() as started:
                pass
            done = started.result()
            self.wrong.check("resume", done.returncode == 0, done.stderr[-500:])
        log = log_in(self.folder)
        assert log is not None
        run = read_run(log)
        same = tuple(derived(run)) == undisturbed(self.kind).events
        self.wrong.check("resume", same, "it comes to other events than the undisturbed run")
        self.wrong.check("log", replay_run(log).same and not read_log(log).torn_bytes, "it replays otherwise")
        of_turns = repeated(self.server.exchanges[self.reopened_at :])
        again = sum(of_turns.values()) - len(of_turns)
        self.wrong.check("accounts", again <= 2 * self.ended, f"{again} requests were sent again")
        for sentence in misaccounted(log, self.server.exchanges):
            self.wrong.check("accounts", False, sentence)

    def _replied(self) -> set[str]:
        log = log_in(self.folder)
        events = (record.event for record in current(read_log(log).records)) if log else ()
        return {event.call_id for event in events if isinstance(event, TurnReplied)}


def process_faults(kills: int = 8) -> Iterator[ProcessFault]:
    """Yield all of them: so many runs of a kind are killed at random instants, each again and again."""
    for kind in SUBJECTS:
        of_kind, requests = undisturbed(kind), range(1, len(undisturbed(kind).calls) + 1)
        for seed in range(SEED, SEED + kills):
            yield ProcessFault("kills", "SIGKILL at random instants, repeatedly", kind, _killed_at_instants(seed))
        for name, number in (("SIGKILL", signal.SIGKILL), ("SIGTERM", signal.SIGTERM), ("Ctrl-C", signal.SIGINT)):
            family = "kills" if number == signal.SIGKILL else "signals"
            for at in requests[:: 1 if number == signal.SIGKILL else 3]:
                yield ProcessFault(family, f"{name} while a request is answered", kind, _struck(at, number))
        turn = f"{SUBJECTS[kind].call}/t1"
        name = "SIGKILL twice in a turn that is sent again after an error"
        yield ProcessFault("kills", name, kind, _killed_in(turn, (2, 3)), {turn: [status(500)]})
        name = "SIGKILL twice while a failed call is asked again"
        yield ProcessFault("kills", name, kind, _killed_in_reopening(turn), {turn: status(400)})
        for share in (0.01, 0.2, 0.5, 0.8, 0.97):
            limit = round(share * of_kind.log_bytes)
            yield ProcessFault("disk", "no space for more of the log", kind, _without_room(limit))
        for after in (2, 10):
            yield ProcessFault("clock", "set back by a day, and again with each event", kind, _set_back(after))
        yield ProcessFault("writers", "a second process resumes a run under way", kind, _twice)


def _killed_at_instants(seed: int) -> Befalls:
    chance = random.Random(seed)

    def befall(scene: Scene) -> None:
        while not scene.has_ended() and scene.ended < MAX_KILLS:
            with scene.process():
                scene.pid()
                time.sleep(chance.uniform(0, INSTANTS_S))
                scene.send(signal.SIGKILL)
        scene.wrong.check("ends", scene.ended > 0, "the run was never killed")

    return befall


def _struck(at: int, number: int) -> Befalls:
    """A signal is sent when the server has the request of this number."""

    def befall(scene: Scene) -> None:
        async def strike(request: int, _: str) -> None:
            if request == at and not scene.ended:  # two that come at once have one number
                scene.send(number)

        scene.server.on_request = strike
        with scene.process() as started:
            pass
        done = started.result()
        if number == signal.SIGINT:
            in_words = "KeyboardInterrupt" in done.stderr and HINT in done.stderr
            scene.wrong.check("ends", done.returncode == 1 and in_words, done.stderr[-500:])
        else:
            scene.wrong.check("ends", done.returncode == KILLED, f"exit code {done.returncode}")

    return befall


def _killed_in(turn: str, numbers: Sequence[int], *fault: object) -> Befalls:
    """SIGKILL when the server has these requests of one turn, by their numbers."""

    def befall(scene: Scene) -> None:
        of_turn = count(1)

        async def strike(_: int, asked: str) -> None:
            if asked == turn and next(of_turn) in numbers:
                scene.send(signal.SIGKILL)

        scene.server.on_request = strike
        for _ in numbers:
            with scene.process(*fault) as started:
                pass
            code = started.result().returncode
            scene.wrong.check("ends", code == KILLED, f"exit code {code}")

    return befall


def _killed_in_reopening(turn: str) -> Befalls:
    """A call fails; while a server that is well is asked again, the process is killed, and the next one, too."""

    def befall(scene: Scene) -> None:
        with scene.process():
            pass
        scene.wrong.check("ends", scene.has_ended(), "the run in which a call failed did not end")
        scene.server.heal(SUBJECTS[scene.kind].played())
        scene.reopened_at = len(scene.server.exchanges)
        _killed_in(turn, (1, 2), "retry")(scene)

    return befall


def _without_room(limit: int) -> Befalls:
    def befall(scene: Scene) -> None:
        with scene.process("limit", limit) as started:
            pass
        done, resumable = started.result(), log_in(scene.folder) is not None
        said = "File too large" in done.stderr and (HINT in done.stderr) == resumable
        scene.wrong.check("ends", done.returncode == 1 and said, done.stderr[-500:])
        scene.ended += 1

    return befall


def _set_back(after: int) -> Befalls:
    def befall(scene: Scene) -> None:
        with scene.process("clock", after) as started:
            pass
        scene.wrong.check("ends", started.result().returncode == 0, started.result().stderr[-500:])

    return befall


def _twice(scene: Scene) -> None:
    """While the server holds a request of the first process, a second one begins."""
    held, freed = threading.Event(), threading.Event()

    async def hold(request: int, _: str) -> None:
        if request == 2:
            held.set()
            await asyncio.to_thread(freed.wait, 60)

    scene.server.on_request = hold
    with scene.process() as first:
        held.wait(60)
        asked = len(scene.server.requests)
        with scene.process() as second:
            pass
        said = "is being written by another run" in second.result().stderr
        scene.wrong.check("ends", second.result().returncode == 1 and said, second.result().stderr[-500:])
        scene.wrong.check("ends", len(scene.server.requests) == asked, "the second process asked, too")
        freed.set()
    scene.wrong.check("ends", first.result().returncode == 0, first.result().stderr[-500:])
