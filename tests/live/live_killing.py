"""Kills runs of models and resumes them against one server: a program that `test_live_killed` starts, as it forks.

The server stands in a process of its own and notes each request. It kills the client where it is told to, with the
request in its hands; the answer is lost. What is printed, as JSON: how often a process was killed, how many turns the
undisturbed run took, how often each was asked for, and everything that was not as it should be.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.forking import dying, in_child, survived
from tests.live.live_runs import Played, derived, speaking_to, turn_of
from tests.live.live_scripts import FOUND, ROSTER, VOTES, spoken_script
from tests.live.scripted_asked import Asked
from tests.live.scripted_replies import Answer, calls, says, searches, status
from tests.live.serve import ServedScript
from tests.runs.plan.planning import PLAN, challenge
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.event import Event, Sink
from verifyplan.protocol.event_run import CallFailed, CallReplied, RunResumed, TurnReplied, TurnSent
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.plan.verify import verify
from verifyplan.runs.resume import read_run, resume
from verifyplan.runs.run import Run

EVERY_TURN = "*"
LOOK = re.compile(r"(.*/t)(\d+)/w\d+")

ANSWERS: dict[str, dict[Any, Any]] = {
    "plan": spoken_script() | {"i2/challenger": {"challenges": [challenge("journal")]}},
    "cross": VOTES,
}
SEARCH = calls("WebSearch", query="orders api", serves="U1")
FIRST: dict[str, dict[str, Answer]] = {
    "plan": {
        "i1/challenger/t1": calls("Read", path="store.py"),
        "i1/challenger/t2": calls("Grep", pattern="lock") + calls("Read", path="../store.py") + calls("Bash"),
        "i1/challenger/t3": says("Let me think."),
        "i1/resolver/t1": SEARCH + calls("Read", path="store.py") + SEARCH,
        "i1/resolver/t1/w1": searches("orders api", ("https://a.example", "A"), text="It is so."),
        "i1/resolver/t1/w3": status(400),
        "i1/resolver/t2": SEARCH,
        "i1/resolver/t2/w1": searches("orders api", error="unavailable"),
        "i1/panel/r1/panel-2/t1": says("Let me think."),
        "i2/synthesizer/t1": calls("Read", path="store.py"),
    },
    "cross": {"r1/bob/t1": says("Let me think."), "r2/cy/t1": says("Let me think.")},
}


def served(kind: str, folder: Path) -> Callable[[Asked], Answer]:
    """What the server answers; it notes each turn, and kills the client that it is told to kill at this turn."""
    played = Played(ANSWERS[kind], FIRST[kind])

    def reply(asked: Asked) -> Answer:
        here, turn = Path((folder / "now").read_text()), turn_of(asked)
        before = (here / "asked").read_text().split()
        with (here / "asked").open("a") as file:
            file.write(f"{turn}\n")
        told = (here / "kill").read_text().split()
        if (turn in told or EVERY_TURN in told) and turn not in before:
            os.kill(int((here / "pid").read_text()), signal.SIGKILL)
        return played(asked).using(
            input_tokens=10, output_tokens=5, cache_read_input_tokens=0, cache_creation_input_tokens=0
        )

    return reply


class Scenario:
    """A run in a folder of its own: how it starts, how it goes on, and what of it is on disk."""

    def __init__(self, kind: str, server: ServedScript, folder: Path, kill: str = "") -> None:
        self.kind, self.folder = kind, folder
        self._backend = speaking_to(server, web=True, max_concurrency=2)
        folder.mkdir(parents=True)
        for name, text in {"asked": "", "kill": kill, "pid": ""}.items():
            (folder / name).write_text(text)
        (folder.parent / "now").write_text(str(folder))

    def run(self, sink: Sink | None = None) -> Run:
        """Start the run, or go on with it."""
        (self.folder / "pid").write_text(str(os.getpid()))
        path = self.log()
        if path is not None:
            return resume(path, backend=self._backend, sink=sink, progress=False)
        if self.kind == "cross":
            return crossverify(
                FOUND,
                ROSTER,
                backend=self._backend,
                log_dir=self.folder,
                sink=sink,
                matcher=None,
                repo=self.folder.parent / "repository",
                settings={"adversarial": True, "maxRounds": 3},
                progress=False,
            )
        return verify(
            parse_plan(PLAN),
            self.folder.parent / "repository",
            backend=self._backend,
            log_dir=self.folder,
            sink=sink,
            team="scaled",
            progress=False,
        )

    def log(self) -> Path | None:
        """The run's log, once there is one."""
        return next(iter(self.folder.rglob("*.jsonl")), None)

    def events(self) -> tuple[Event, ...]:
        """What is on disk."""
        path = self.log()
        return read_run(path).events if path else ()

    def asked(self) -> list[str]:
        """The turns that the server was asked for so far."""
        return (self.folder / "asked").read_text().splitlines()


def without_reply(events: Iterable[Event]) -> set[str]:
    """Turns without a reply of calls that have not ended."""
    ended = {event.call_id for event in events if isinstance(event, CallReplied | CallFailed)}
    over = {event.call_id for event in events if isinstance(event, TurnReplied)}
    sent = (event for event in events if isinstance(event, TurnSent) and event.of_call not in ended)
    return {event.call_id for event in sent} - over


def given_up(turns: set[str], events: Iterable[Event]) -> set[str]:
    """Those that are looks on the web which failed: the turn after the one that they were made in was sent."""
    begun = {event.call_id for event in events if isinstance(event, TurnSent)}
    looks = (LOOK.fullmatch(turn) for turn in turns)
    return {look[0] for look in looks if look and f"{look[1]}{int(look[2]) + 1}" in begun}


def attempt(scenario: Scenario, wrong: list[str], sink: Sink | None = None) -> bool:
    """One process that works on the run; whether it came to its end. What it should not have done is told."""
    events, asked = scenario.events(), scenario.asked()
    replied = {event.call_id for event in events if isinstance(event, TurnReplied)}
    lost = without_reply(events)
    in_flight = lost - given_up(lost, events)
    ended = survived(in_child(lambda: scenario.run(sink)))
    new, name = scenario.asked()[len(asked) :], f"{scenario.kind} {scenario.folder.name}"
    if again := sorted(set(new) & replied):
        wrong.append(f"{name}: asked again though the reply was on disk: {again}")
    if again := sorted((set(new) & set(asked)) - in_flight):
        wrong.append(f"{name}: asked again though not in flight: {again}")
    if twice := [turn for turn, count in Counter(new).items() if count > 1]:
        wrong.append(f"{name}: asked twice by one process: {twice}")
    resumed = [event for event in scenario.events()[len(events) :] if isinstance(event, RunResumed)]
    if resumed and any(isinstance(event, TurnSent) for event in events):
        told = set(resumed[0].repeated)
        if not in_flight <= told <= lost or len(told) < len(resumed[0].repeated):
            wrong.append(f"{name}: in flight were {sorted(in_flight)}, but repeated {resumed[0].repeated}")
    return ended


def outcome(run: Run) -> tuple[list[str], int]:
    """What must be equal, however often the run was killed: the derived events, and the tokens of its calls."""
    return derived(run), sum(event.usage.total for event in run.events if isinstance(event, CallReplied | CallFailed))


def killed(
    kind: str, folder: Path, server: ServedScript, events: Iterable[int], turns: Iterable[str]
) -> dict[str, Any]:
    """Runs that are killed after so many events, and runs that are killed at each of some turns, until their end."""
    undisturbed, wrong, kills = Scenario(kind, server, folder / "undisturbed"), list[str](), 0
    attempt(undisturbed, wrong)
    expected, length = outcome(read_run(undisturbed.log() or "")), len(undisturbed.events())
    sinks: list[tuple[str, str, Sink | None]] = [(f"after-{n}", "", dying(n)) for n in events if n < length]
    for name, kill, sink in [*sinks, *((f"at-{n}", told, None) for n, told in enumerate(turns))]:
        scenario = Scenario(kind, server, folder / name, kill)
        while not attempt(scenario, wrong, sink):
            kills, sink = kills + 1, None
        if outcome(read_run(scenario.log() or "")) != expected:
            wrong.append(f"{kind} {name}: another course than the undisturbed run's")
        if set(scenario.asked()) != set(undisturbed.asked()):
            wrong.append(f"{kind} {name}: other turns than the undisturbed run's")
    counts = Counter(scenario.asked())
    return {"kills": kills, "events": length, "turns": undisturbed.asked(), "last": counts, "wrong": wrong}


def main(place: str, kind: str, events: str, *turns: str) -> None:
    """Do what the command line says and print what came of it."""
    folder = Path(place)
    os.fsync = lambda _: None  # a killed process loses nothing that it wrote
    (folder / "repository").mkdir()
    (folder / "repository" / "store.py").write_text("import locks\n\nlocks.open('orders')\n")
    (folder / "script.py").write_text(
        "from pathlib import Path\n"
        "from tests.live.live_killing import served\n"
        f"reply = served({kind!r}, Path({place!r}))\n"
    )
    with ServedScript(folder / "script.py", folder / "requests") as server:
        found = killed(kind, folder, server, map(int, events.split(",")), turns)
        found["requests"] = server.count()
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
