"""The steps of a run, in the order taken: iterations, their phases, rounds, turns (rule B3, part A)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.runset import RunSet

PHASES = ("challenges", "research", "panel", "synthesis", "ruling")
"""The phases of an iteration of a plan run, in their order."""
PANEL = PHASES.index("panel")

COLUMNS = ("step", "iteration", "round", "phase", "title")

_TITLES = ("what was challenged", "what was found out", "panel round {}", "what was settled", "the ruling")
_RESEARCHERS = ("resolver", "surface", "probe")
_PHASE_OF_ROLE = {
    **dict.fromkeys(_RESEARCHERS, "research"),
    "worker": "panel",
    "synthesizer": "synthesis",
    "score": "ruling",
    "audit": "ruling",
}
_PHASE_OF_EVENT = {"classified": "panel", "changed": "synthesis", "refused": "synthesis", "promoted": "synthesis"}


def steps(runs: Runs, run_id: str) -> pd.DataFrame:
    """Return what a run went through, one row a step: `step` (from 0), `iteration`, `round`, `phase`, `title`.

    A cross run, and an import of votes, has what was found (round 0), each round, and the end. A plan run has, in each
    iteration, the phases of which anything is recorded: challenges, research, each round of the panel, synthesis,
    ruling. A debate has its turns. A run that was broken off ends with what it came to. Raises InputError
    for a run that is not there.

    >>> from verifyplan.frames.votes import from_votes
    >>> votes = pd.DataFrame(
    ...     {"item": ["F", "F"], "who": ["a", "b"], "says": ["agree", "disagree"]}
    ... )
    >>> found = steps(from_votes(votes, item="item", worker="who", verdict="says"), "votes")
    >>> found["title"].tolist()
    ['what was found', 'round 1', 'the end']
    """
    return steps_of(as_runs(runs).select(run_id))


def steps_of(run: RunSet) -> pd.DataFrame:
    """Return the `steps` of the only run of a set."""
    kind = str(run.runs["kind"].iloc[0])
    rows = {"plan": _plan, "debate": _debate}.get(kind, _cross)(run)
    table = pd.DataFrame(rows, columns=list(COLUMNS[1:]))
    table.insert(0, "step", range(len(table)))
    return table


def _cross(run: RunSet) -> list[tuple[int, int, str, str]]:
    tables = (run.rounds, run.votes, run.dispatches)
    numbers = sorted({int(number) for table in tables for number in table["round"].unique() if number > 0})
    finished = run.runs["finished"].iloc[0]
    end = "broken off here" if pd.notna(finished) and not finished else "the end"
    rounds = [(0, number, "round", f"round {number}") for number in numbers]
    return [(0, 0, "found", "what was found"), *rounds, (0, numbers[-1] if numbers else 0, "end", end)]


def _debate(run: RunSet) -> list[tuple[int, int, str, str]]:
    turns = sorted(int(turn) for turn in run.messages["turn"].dropna().unique())
    return [(0, turn, "turn", f"turn {turn}") for turn in turns] or [(0, 0, "turn", "begun")]


def _plan(run: RunSet) -> list[tuple[int, int, str, str]]:
    research = pd.concat([run.unknowns["answered_in"], run.contexts["iteration"], run.risks["iteration"]]).dropna()
    history, calls = (table.itertuples(index=False, name=None) for table in (history_places(run), call_places(run)))
    pairs = pd.concat([table[["iteration", "round"]] for table in (run.rounds, run.votes)]).drop_duplicates()
    places = sorted(
        {
            *((i, 0, 0) for i in run.iterations["iteration"]),
            *((i, PHASES.index("ruling"), 0) for i in run.iterations.dropna(subset="plan_status")["iteration"]),
            *((int(i), PHASES.index("research"), 0) for i in research),
            *((i, phase, r) for i, phase, r in history if phase != PANEL),  # a class: the votes say in which round
            *((i, phase, r) for i, phase, r in calls if i > 0),
            *((int(i), PANEL, int(r)) for i, r in pairs.itertuples(index=False, name=None)),
        }
    )
    if not places:
        trivial = run.runs["trivial"].iloc[0]
        ended = "sized as trivial: ended before any call" if pd.notna(trivial) and trivial else "begun"
        return [(0, 0, "sizing", ended)]
    return [(i, r, PHASES[phase], f"iteration {i}, {_TITLES[phase].format(r)}") for i, phase, r in places]


def history_places(run: RunSet) -> pd.DataFrame:
    """Return, for each row of the challenges' history, its `iteration`, the number of its `phase`, and its `round`.

    The log's order counts: what is admitted after the research belongs to the research. A class belongs to the last
    round in which the challenge was voted on in that iteration.
    """
    history = run.challenge_history.sort_values("seq", kind="stable")
    kind, by = history["event"].astype("object"), history["by"].astype("object")
    phase = kind.map(_PHASE_OF_EVENT).fillna("challenges")
    phase = phase.mask(by.isin(("surfaced", "probed", *_RESEARCHERS)), "research").mask(by.eq("user"), "ruling")
    number = phase.map(PHASES.index).astype("int64").groupby(history["iteration"]).cummax()
    keys = ["iteration", "finding_id"]
    last = run.votes.groupby(keys, sort=False)["round"].max().rename("round").reset_index()
    named = history[["iteration", "challenge_id"]].rename(columns={"challenge_id": "finding_id"})
    rounds = named.merge(last, on=keys, how="left")["round"].fillna(1).astype("int64").set_axis(history.index)
    places = {"iteration": history["iteration"].astype("int64"), "phase": number}
    return pd.DataFrame(places | {"round": rounds.where(number.eq(PANEL), 0)}).reindex(run.challenge_history.index)


def call_places(run: RunSet) -> pd.DataFrame:
    """Return, for each call, its `iteration`, the number of its `phase`, and its `round` (0 unless workers voted)."""
    calls = run.calls
    phase = calls["role"].astype("object").map(_PHASE_OF_ROLE).fillna("challenges").map(PHASES.index)
    rounds = pd.to_numeric(calls["call_id"].str.extract(r"(?:^|/)r(\d{1,9})/", expand=False)).fillna(0)
    places: dict[str, Any] = {"iteration": calls["iteration"].fillna(0).astype("int64"), "phase": phase.astype("int64")}
    return pd.DataFrame(places | {"round": rounds.astype("int64").where(phase.eq(PANEL), 0)})


def call_turns(run: RunSet) -> pd.Series[Any]:
    """Return, for each call of a debate, its turn; 0 for a call whose id has none."""
    turns = run.calls["call_id"].str.extract(r"^t(\d{1,9})/", expand=False)
    return pd.to_numeric(turns).fillna(0).astype("int64")
