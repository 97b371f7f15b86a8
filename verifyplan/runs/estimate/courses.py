"""How runs may go, and what that takes: calls, requests, tokens and dollars, by role and model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from typing import NamedTuple

import pandas as pd

from verifyplan.protocol.call import Usage
from verifyplan.protocol.event_run import CallRequested, TurnReplied, TurnSent
from verifyplan.protocol.records import TeamMode
from verifyplan.protocol.role_call import ROLES
from verifyplan.runs.estimate.sizes import CUT
from verifyplan.runs.run import Run

COURSES = ("low", "expected", "high")
PARTS = (*ROLES, "worker")
"""Who is called, in the order of a plan run."""


class Part(NamedTuple):
    """The use of one role, played by one model; `worker` is the role of all who vote."""

    role: str
    model: str
    calls: int
    requests: int
    usage: Usage
    cut: int = 0
    """Answers that are likely to be cut off, as they are longer than `max_tokens`."""

    def plus(self, other: Part) -> Part:
        """Both together, of the same role and model."""
        return self._replace(
            calls=self.calls + other.calls,
            requests=self.requests + other.requests,
            usage=self.usage + other.usage,
            cut=self.cut + other.cut,
        )


class Scenario(NamedTuple):
    """The team of a plan run (None for a trivial plan) and its iterations, which expected tokens depend on."""

    team: TeamMode | None
    iterations: int


@dataclass(frozen=True)
class Course:
    """How runs may go: what each role takes, and of plan runs the team and the iterations of each."""

    parts: tuple[Part, ...] = ()
    scenarios: tuple[Scenario, ...] = ()
    rounds: int = 0
    """Rounds of all cross runs together."""

    @property
    def calls(self) -> int:
        """Calls of agents."""
        return sum(part.calls for part in self.parts)

    @property
    def requests(self) -> int:
        """Requests to the endpoint: one for each turn of a call."""
        return sum(part.requests for part in self.parts)

    @property
    def usage(self) -> Usage:
        """All tokens, and their cost if every model has a price."""
        return reduce(Usage.__add__, (part.usage for part in self.parts), Usage())

    @property
    def input_tokens(self) -> int:
        """Tokens in, cached ones included."""
        return self.usage.total_input

    @property
    def cached_tokens(self) -> int:
        """Tokens in that are read from a cache."""
        return self.usage.cache_read_tokens

    @property
    def output_tokens(self) -> int:
        """Tokens out, thoughts included."""
        return self.usage.output_tokens

    @property
    def cost(self) -> Decimal | None:
        """US dollars; None where a model has no price, 0 where nothing is asked."""
        return self.usage.cost if self.parts else Decimal(0)

    @property
    def cut(self) -> int:
        """Answers that are likely to be cut off, and lost."""
        return sum(part.cut for part in self.parts)

    @property
    def iterations(self) -> int:
        """Iterations of all plan runs together."""
        return sum(one.iterations for one in self.scenarios)

    def __add__(self, other: Course) -> Course:
        """Both, one after the other."""
        return Course(
            _merged([*self.parts, *other.parts]), self.scenarios + other.scenarios, self.rounds + other.rounds
        )

    def __mul__(self, times: int) -> Course:
        """The same so many times."""
        return reduce(Course.__add__, [self] * times, Course())


def course_of(run: Run) -> Course:
    """Return the use of a dry run."""
    rounds = sum(event.type == "round-closed" for event in run.events) if run.started.inputs.kind == "cross" else 0
    return Course(_merged(_parts(run)), tuple(_scenarios(run)), rounds)


def table_of(courses: Iterable[Course]) -> pd.DataFrame:
    """The parts of the three courses: a row for each course, role and model."""
    rows = [
        {
            "course": name,
            "role": part.role,
            "model": part.model,
            "calls": part.calls,
            "requests": part.requests,
            **{field: getattr(part.usage, field) for field in _TOKENS},
            "cost": None if part.usage.cost is None else float(part.usage.cost),
        }
        for name, course in zip(COURSES, courses, strict=True)
        for part in course.parts
    ]
    columns = ["course", "role", "model", "calls", "requests", *_TOKENS, "cost"]
    return pd.DataFrame(rows, columns=columns).astype({"cost": "float64"})


_TOKENS = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "web_searches")


def _merged(parts: Iterable[Part]) -> tuple[Part, ...]:
    """One part for each role and model, in the order of a plan run."""
    merged: dict[tuple[str, str], Part] = {}
    for part in parts:
        key = (part.role, part.model)
        merged[key] = merged[key].plus(part) if key in merged else part
    return tuple(sorted(merged.values(), key=lambda part: (PARTS.index(part.role), part.model)))


def _parts(run: Run) -> Iterator[Part]:
    """A part for each exchange; the first of a call counts the call."""
    models = {event.call_id: event.model for event in run.events if isinstance(event, TurnSent)}
    calls = {event.call_id for event in run.events if isinstance(event, CallRequested)}
    for event in run.events:
        if isinstance(event, TurnReplied):
            first = event.of_call in calls
            calls.discard(event.of_call)
            role, cut = _role_of(event.of_call), event.message[CUT]
            yield Part(role, models[event.call_id], int(first), 1, event.usage, int(cut))


def _role_of(call: str) -> str:
    """The role of a call by its id: `i2/challenger`, `i2/panel/r1/ann`, `r1/ann`."""
    name = call.split("/")[1]
    return name if call.startswith("i") and name in ROLES else "worker"


def _scenarios(run: Run) -> Iterator[Scenario]:
    assessed = next((event for event in run.events if event.type == "plan-assessed"), None)
    if assessed is not None:
        yield Scenario(assessed.team, sum(event.type == "iteration-started" for event in run.events))
