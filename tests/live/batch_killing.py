"""Kills commands that drive batches, and gives them again: a program that `test_batch_killed` starts.

It forks from one thread: a server that kills its client at a request that a scenario names, and clients that may kill
themselves at an event. It prints, as JSON, how often it killed and everything that was not as it should be.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.forking import deaths, dying, in_child, survived
from tests.live.batch_served import Posted
from tests.live.live_runs import KEY, MODEL, Played, derived
from tests.live.scripted_asked import Asked
from tests.live.scripted_http import Reply, Request
from tests.live.scripted_replies import Answer, status
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import AGREE, BURDEN, COUNTER, finding
from tests.runs.plan.planning import PLAN, challenge, change, scores, unknown
from verifyplan.agents.anthropic.backend import Anthropic
from verifyplan.protocol.event import Sink
from verifyplan.protocol.event_run import RunReopened, RunResumed, call_of
from verifyplan.runlog.reader import read_log
from verifyplan.runs.batch.batch import batch_crossverify, batch_verify
from verifyplan.runs.batch.drive import BatchRuns
from verifyplan.runs.batch.journal import NAME, Journal
from verifyplan.runs.resume import read_run

PLAN_SCRIPT: dict[str, Any] = {
    "i1/challenger": {"challenges": [challenge("locks")], "unknowns": [unknown("store", "#1")]},
    "i1/resolver": {"answers": []},
    "i1/surface": {"contexts": []},
    "i1/probe": "error",
    "i1/synthesizer": {"changes": [change("C1", "DEFERRED", "plan.md:3")]},
    "i1/score": scores(7),
    "i1/audit": scores(6),
}
VOTES: dict[Any, Any] = {
    1: {"ann": {"F-2": AGREE}, "bob": {"F-1": COUNTER, "F-3": AGREE}, "cy": {"F-1": AGREE, "F-2": BURDEN}},
    2: {"ann": {"F-2": AGREE}, "bob": {"F-1": AGREE}, "cy": {"F-1": AGREE, "F-2": AGREE}},
}
FOUND = [finding("F-1", "ann"), finding("F-2", "bob"), finding("F-3", "cy")]


WELL, FAILING = "well", "r1/bob/t1"
"""The file without which a request of this turn is wrong."""
ENDS = ("turn-replied", "call-failed")


class Death(NamedTuple):
    """When a client dies: before or after the server took its request of that number, or after an event of its own."""

    when: str = "never"
    number: int = 0


NEVER = Death()


class Ailing:
    """Answers as a script does, but that a request of one turn is wrong until a file says that the server is well."""

    def __init__(self, played: Played, well: Path) -> None:
        self._played, self._well = played, well

    def __call__(self, asked: Asked) -> Answer:
        ill = asked.headers["x-verifyplan-turn"] == FAILING and not self._well.exists()
        return status(400) if ill else self._played(asked)


class Deadly(ScriptedServer):
    """Kills its client, whose id is in a file, at one request; it tells which batches came before that.

    It counts the requests that come once it is well.
    """

    def __init__(self, reply: Any, death: Death, client: Path) -> None:
        super().__init__(reply, models=(), polls=1)
        self._death, self._client = death, client
        self._well = client.parent / WELL
        self.seen: list[str] = []  # the kind of each request
        self.before: int | None = None  # batches that came until then

    async def answer(self, request: Request) -> Reply:
        if not self._well.exists():
            return await super().answer(request)
        self.seen.append(f"{request.method} {len(request.path.split('/'))}")
        if self._death == ("before", len(self.seen)):
            return self._kill()
        reply = await super().answer(request)
        return self._kill() if self._death == ("after", len(self.seen)) else reply

    def _kill(self) -> Reply:
        self.before = len(self.batches)
        os.kill(int(self._client.read_text()), signal.SIGKILL)
        return Reply(sent=-1)


class Scenario:
    """A command in a folder of its own, and the server that it talks to, in a process of its own."""

    def __init__(self, kind: str, folder: Path, death: Death = NEVER) -> None:
        self.kind, self.folder, self.death = kind, folder, death
        folder.mkdir(parents=True)
        if kind != "retried":
            (folder / WELL).touch()
        for name in ("one", "two"):
            (folder / f"{name}.md").write_text(PLAN.replace("orders", f"{name}s"))
        self._stop, stopped = os.pipe()[::-1]
        read, write = os.pipe()
        self.server = in_child(lambda: self._serve(stopped, write), close=self._stop)
        self.url = os.read(read, 100).decode()
        os.close(stopped)
        if kind == "retried":
            survived(in_child(self.run))
            (folder / WELL).touch()

    def _serve(self, stop: int, url: int) -> None:
        played = Played(PLAN_SCRIPT if self.kind == "plans" else VOTES)
        play = Ailing(played, self.folder / WELL)
        with Deadly(Posted(play, self.folder), self.death, self.folder / "client") as server:
            os.write(url, server.url.encode())
            os.read(stop, 1)  # until the other end is closed
        seen = {
            "batches": [list(batch.params) for batch in server.batches],
            "before": server.before,
            "requests": server.seen,
        }
        (self.folder / "server.json").write_text(json.dumps(seen))

    def closed(self) -> dict[str, Any]:
        """What the server saw, when it has ended."""
        os.close(self._stop)
        survived(self.server)
        seen: dict[str, Any] = json.loads((self.folder / "server.json").read_text())
        return seen

    def run(self, sink: Sink | None = None) -> BatchRuns:
        """Give the command."""
        (self.folder / "client").write_text(str(os.getpid()))
        backend = Anthropic(MODEL, base_url=self.url, api_key=KEY, max_retries=0, timeout=30.0)
        given: dict[str, Any] = {"backend": backend, "sink": sink, "poll": 0.02, "settle": 0.05, "progress": False}
        given["retry_failed"] = self.kind == "retried"
        if self.kind == "plans":
            plans = [self.folder / "one.md", self.folder / "two.md"]
            told = {"team": "base", "panel": None, "max_iterations": 1}
            return batch_verify(plans, self.folder, log_dir=self.folder / "runs", **told, **given)
        told = {"matcher": None, "settings": {"adversarial": True, "maxRounds": 2}}
        return batch_crossverify(
            FOUND, ["ann", "bob", "cy"], log_dir=self.folder, repetitions=2, repo=self.folder, **told, **given
        )

    @property
    def logs(self) -> list[Path]:
        """The logs that hold a whole line."""
        return [path for path in sorted(self.folder.rglob("*.jsonl")) if b"\n" in path.read_bytes()]

    def journal(self) -> dict[str, tuple[str, str]]:
        """Run and turn by custom id, of all that was sent or may have been; lines that were dropped, too."""
        lines = [line for path in self.folder.rglob(NAME) for line in path.read_bytes().split(b"\n")[:-1]]
        told = [line for line in map(json.loads, lines) if line["type"] == "intent"]
        return {name: (one["run"], one["turn"]) for line in told for name, one in line["requests"].items()}


def told_by(scenario: Scenario) -> list[list[str]]:
    """What the rules made of all runs, wherever they stand."""
    place = str(scenario.folder)
    return sorted([told.replace(place, "") for told in derived(read_run(path))] for path in scenario.logs)


def expected_of(scenario: Scenario) -> tuple[list[list[str]], list[str], int]:
    """What the runs of an undisturbed command derived, which requests its server saw, and how many events it had."""
    survived(in_child(scenario.run))
    seen = scenario.closed()
    runs = [read_run(path) for path in scenario.logs]
    return told_by(scenario), seen["requests"], sum(len(run.events) for run in runs)


def judged(scenario: Scenario, expected: list[list[str]], before: int | None = None) -> list[str]:
    """Everything that is wrong with a command that was killed, and given again until it came to its end."""
    seen, known = scenario.closed(), scenario.journal()
    wrong = []
    if told_by(scenario) != expected:
        wrong.append("other events")
    sent = [[known[name] for name in batch] for batch in seen["batches"]]
    times = Counter(one for batch in sent for one in batch)
    wrong += [f"sent {n} times: {one}" for one, n in times.items() if n > 1]
    earlier = {one for batch in sent[: seen["before"] if before is None else before] for one in batch}
    for path in scenario.logs:
        records = read_log(path).records
        run = f"{path.stem} of {records[0].at}"
        told = {kind: {one.event.call_id for one in records if one.event.type == kind} for kind in ENDS}
        asked = {turn for name, turn in times if name.startswith(run)}  # in whichever reopening
        lost = {turn for turn in asked - told["turn-replied"] if call_of(turn) not in told["call-failed"]}
        if lost or not told["turn-replied"] <= asked:
            wrong.append(f"{run}: replies without requests, or requests without replies: {lost}")
        name = run  # in the journal, for calls that failed and are asked again
        for event in (record.event for record in records):
            if isinstance(event, RunReopened):
                name = f"{run}, reopening 1"
            if isinstance(event, RunResumed):
                wrong += [f"said to be repeated: {name} {turn}" for turn in event.repeated if (name, turn) in earlier]
    return wrong


def at_requests(kind: str, folder: Path, every: str) -> dict[str, Any]:
    """Killed at every so-manieth request that the server sees, before it takes it and before it answers.

    Of every request, these are the first and the last of each kind, or all of them (long).
    """
    expected, requests, _ = expected_of(Scenario(kind, folder / "undisturbed"))
    wrong, kills = [], 0
    numbers = deaths(requests) if int(every) == 1 else range(1, len(requests) + 1, int(every))
    for number in numbers:
        for when in ("before", "after"):
            scenario = Scenario(kind, folder / f"{when}-{number}", Death(when, number))
            kills += not survived(in_child(scenario.run))
            survived(in_child(scenario.run))
            wrong += [f"{kind} {when} {number}: {one}" for one in judged(scenario, expected)]
    return {"kills": kills, "deaths": len(numbers), "requests": len(requests), "wrong": wrong}


def at_events(kind: str, folder: Path, every: str) -> dict[str, Any]:
    """Killed after every so-manieth event: also when some of the replies of a batch are on disk."""
    expected, _, events = expected_of(Scenario(kind, folder / "undisturbed"))
    wrong, kills = [], 0
    for number in range(1, events + 1, int(every)):
        scenario = Scenario(kind, folder / f"event-{number}")
        kills += not survived(in_child(lambda at=number, one=scenario: one.run(dying(at))))
        before = sum(len(Journal(path).batches) for path in scenario.folder.rglob(NAME))
        survived(in_child(scenario.run))
        wrong += [f"{kind} event {number}: {one}" for one in judged(scenario, expected, before)]
    return {"kills": kills, "events": events, "wrong": wrong}


def at_instants(kind: str, folder: Path, seed: str, runs: str) -> dict[str, Any]:
    """Killed from outside at any moment, again and again."""
    began = time.monotonic()
    expected, *_ = expected_of(Scenario(kind, folder / "undisturbed"))
    took = time.monotonic() - began
    chance, wrong, kills = random.Random(int(seed)), list[str](), 0
    for number in range(int(runs)):
        scenario = Scenario(kind, folder / f"run-{number}")
        for _ in range(8):
            child = in_child(scenario.run)
            time.sleep(chance.uniform(0, took / 2))
            os.kill(child, signal.SIGKILL)
            kills += not survived(child)
        survived(in_child(scenario.run))
        wrong += [f"{kind} run {number}: {one}" for one in judged(scenario, expected, before=0)]
    return {"kills": kills, "wrong": wrong}


def main(place: str, how: str, kind: str, *numbers: str) -> None:
    """Do what the command line says and print what came of it."""
    importlib.import_module("verifyplan.agents.anthropic.batches")  # once, not in every child
    os.fsync = lambda _: None  # a killed process loses nothing that it wrote
    ways: dict[str, Callable[..., dict[str, Any]]] = {
        "requests": at_requests,
        "events": at_events,
        "instants": at_instants,
    }
    sys.stdout.write(json.dumps(ways[how](kind, Path(place), *numbers)))


if __name__ == "__main__":
    main(*sys.argv[1:])
