"""The steps of a run, in the order taken: iterations, their phases, rounds, turns (rule B3, part A)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from verifyplan.frames.runset import RunIndex, RunSet

PHASES = ("challenges", "research", "panel", "synthesis", "ruling")
"""The phases of an iteration of a plan run, in their order."""
COLUMNS = ("step", "iteration", "round", "phase", "title")
PANEL = PHASES.index("panel")
RULING = PHASES.index("ruling")

_TITLES = {
    "challenges": "what was challenged",
    "research": "what was found out",
    "panel": "panel round {}",
    "synthesis": "what was settled",
    "ruling": "the ruling",
}
_PHASE_OF_ROLE = {
    "resolver": "research",
    "surface": "research",
    "probe": "research",
    "worker": "panel",
    "synthesizer": "synthesis",
    "score": "ruling",
    "audit": "ruling",
}
_RESEARCHERS = ("surfaced", "probed", "resolver", "surface", "probe")
_PHASE_OF_EVENT = {"classified": "panel", "changed": "synthesis", "refused": "synthesis", "promoted": "synthesis"}


def steps(runs: RunSet, run_id: str) -> pd.DataFrame:
    """What a run went through, one row a step: `step` (from 0), `iteration`, `round`, `phase`, `title`.

    A cross run, and an import of votes, has what was found (round 0), each round, and the end. A plan run has, in each
    iteration, the phases of which anything is recorded: challenges, research, each round of the panel, synthesis,
    ruling. A debate has its turns. A run that was broken off ends with what it came to. Raises InputError
    for a run that is not there.

    >>> from verifyplan.frames.votes import from_votes
    >>> votes = pd.DataFrame({"item": ["F", "F"], "who": ["a", "b"], "says": ["agree", "disagree"]})
    >>> steps(from_votes(votes, item="item", worker="who", verdict="says"), "votes")["title"].tolist()
    ['what was found', 'round 1', 'the end']
    """
    return steps_of(RunIndex(runs).run(run_id))


def steps_of(one: RunSet) -> pd.DataFrame:
    """`steps` of the only run of a set."""
    kind = str(one.runs["kind"].iloc[0])
    rows = {"plan": _plan, "debate": _debate}.get(kind, _cross)(one)
    table = pd.DataFrame(rows, columns=["iteration", "round", "phase", "title"])
    table.insert(0, "step", range(len(table)))
    return table


def _cross(one: RunSet) -> list[tuple[int, int, str, str]]:
    numbers = sorted(
        {int(n) for table in (one.rounds, one.votes, one.dispatches) for n in table["round"].unique() if n > 0}
    )
    unfinished = one.runs["finished"].iloc[0]
    end = "broken off here" if pd.notna(unfinished) and not unfinished else "the end"
    rounds = [(0, n, "round", f"round {n}") for n in numbers]
    return [(0, 0, "found", "what was found"), *rounds, (0, numbers[-1] if numbers else 0, "end", end)]


def _plan(one: RunSet) -> list[tuple[int, int, str, str]]:
    places = sorted(
        {
            *((i, 0, 0) for i in one.iterations["iteration"]),
            *((i, RULING, 0) for i in one.iterations.dropna(subset="plan_status")["iteration"]),
            *((i, PHASES.index("research"), 0) for i in _researched(one)),
            *_history_places(one),
            *_call_places(one),
            *((i, PANEL, r) for table in (one.rounds, one.votes) for i, r in _pairs(table)),
        }
    )
    if not places:
        trivial = one.runs["trivial"].iloc[0]
        ended = "sized as trivial: ended before any call" if pd.notna(trivial) and trivial else "begun"
        return [(0, 0, "sizing", ended)]
    return [(i, r, PHASES[p], f"iteration {i}, {_TITLES[PHASES[p]].format(r)}") for i, p, r in places]


def _pairs(table: pd.DataFrame) -> list[tuple[int, int]]:
    pairs = table[["iteration", "round"]].drop_duplicates()
    return [(int(i), int(r)) for i, r in zip(pairs["iteration"], pairs["round"], strict=True)]


def _researched(one: RunSet) -> set[int]:
    each = [one.unknowns["answered_in"], one.contexts["iteration"], one.risks["iteration"]]
    return {int(i) for i in pd.concat(each).dropna()}


def _history_places(one: RunSet) -> set[tuple[int, int, int]]:
    """Where the history's rows stand; a class stands in a round of the panel, which the votes tell."""
    placed = history_places(one)
    return {(i, p, r) for i, p, r in placed.itertuples(index=False, name=None) if p != PANEL}


def history_places(one: RunSet) -> pd.DataFrame:
    """For each row of the challenges' history: its `iteration`, the number of its `phase`, and its `round`.

    The log's order counts: what is admitted after the research stands with the research. A class stands in the last
    round in which the challenge was voted on in that iteration.
    """
    history = one.challenge_history.sort_values("seq", kind="stable")
    kind, by = history["event"].astype("object"), history["by"].astype("object")
    phase = kind.map(_PHASE_OF_EVENT).fillna("challenges")
    phase = phase.mask(by.isin(_RESEARCHERS), "research").mask(by.eq("user"), "ruling")
    number = phase.map(PHASES.index).astype("int64").groupby(history["iteration"]).cummax()
    keys = ["iteration", "finding_id"]
    last = one.votes.groupby(keys, sort=False)["round"].max().rename("round").reset_index()
    named = history[["iteration", "challenge_id"]].rename(columns={"challenge_id": "finding_id"})
    rounds = named.merge(last, on=keys, how="left")["round"].fillna(1).astype("int64").set_axis(history.index)
    placed = {"iteration": history["iteration"].astype("int64"), "phase": number}
    return pd.DataFrame(placed | {"round": rounds.where(number.eq(PANEL), 0)}).reindex(one.challenge_history.index)


def _call_places(one: RunSet) -> set[tuple[int, int, int]]:
    return {(i, p, r) for i, p, r in call_places(one).itertuples(index=False, name=None) if i > 0}


def call_places(one: RunSet) -> pd.DataFrame:
    """For each call: its `iteration`, the number of its `phase`, and its `round` (0 unless workers voted)."""
    calls = one.calls
    phase = calls["role"].astype("object").map(_PHASE_OF_ROLE).fillna("challenges").map(PHASES.index)
    rounds = pd.to_numeric(calls["call_id"].str.extract(r"(?:^|/)r(\d{1,9})/", expand=False)).fillna(0)
    told: dict[str, Any] = {"iteration": calls["iteration"].fillna(0).astype("int64"), "phase": phase.astype("int64")}
    return pd.DataFrame(told | {"round": rounds.astype("int64").where(phase.eq(PANEL), 0)})


def call_turns(one: RunSet) -> pd.Series[Any]:
    """For each call of a debate its turn; 0 for a call whose id tells none."""
    turns = one.calls["call_id"].str.extract(r"^t(\d{1,9})/", expand=False)
    return pd.to_numeric(turns).fillna(0).astype("int64")


def _debate(one: RunSet) -> list[tuple[int, int, str, str]]:
    turns = sorted(int(turn) for turn in one.messages["turn"].dropna().unique())
    return [(0, turn, "turn", f"turn {turn}") for turn in turns] or [(0, 0, "turn", "begun")]
