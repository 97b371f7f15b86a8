"""Say of how many calls the reply is not their own, and what to do: repeated, copied, of another model (rule G5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from verifyplan.frames.columns import empty
from verifyplan.frames.copied_words import MIN_COPIED_WORDS
from verifyplan.frames.dataset.dataset import Dataset
from verifyplan.frames.reply_flags import CALL, with_flags
from verifyplan.frames.runset import RunSet
from verifyplan.text import counted

_SWITCH_OFF = "Switch off what keeps replies between here and the model (docs/live-agents.md), and run again"

_WORDS = {
    "id_repeated": (
        "{n} of {m}{where} {have} a reply with the same message id as another call (originals included): a cache "
        f"answered, or the endpoint does not give each reply an id. {_SWITCH_OFF}"
    ),
    "words_repeated": (
        f"{{n}} of {{m}}{{where}} {{answer}} in the words of another worker on the same findings ({MIN_COPIED_WORDS} "
        "words or more; originals included): such votes are copies, and always agree. Give the workers other "
        "models, stances or temperatures, or switch off a cache of replies"
    ),
    "run_repeated": (
        "{n} of {m}{where} {have} the reply of the same call in another run (originals included): a cache answered, "
        f"and the repetition says nothing new. {_SWITCH_OFF}"
    ),
    "other_model": (
        "{n} of {m}{where} {were} answered by a model other than the one asked{pair}. Name the model that the endpoint "
        "serves, or have the endpoint serve the model that is named"
    ),
}
"""The note of each flag, without a full stop."""


def notes_on_independence(runs: RunSet, where: str = "") -> Iterator[str]:
    """Yield a note for each flag that calls of these runs have, with the number of calls for which it is known.

    The notes have no full stop at their end. `where` names the runs, as ` of a condition`. Nothing for agents that are
    not models: they have no message ids.
    """
    if not _has_turns(runs):
        return
    calls = runs.calls
    if len(runs) > 1 and calls["run_repeated"].isna().all():  # the parts of a dataset were read apart
        calls = calls.assign(run_repeated=with_flags(calls, runs.turns, empty("votes"))["run_repeated"])
    for flag, words in _WORDS.items():
        known = calls[flag].dropna()
        if n := int(known.sum()):
            pair = _most_frequent_pair(calls, runs.turns) if flag == "other_model" else ""
            yield words.format(
                n=f"{n:,}",
                m=counted(len(known), "call"),
                where=where,
                have="has" if n == 1 else "have",
                were="was" if n == 1 else "were",
                answer="answers" if n == 1 else "answer",
                pair=pair,
            )


def _has_turns(runs: RunSet) -> bool:
    """Return whether any agent was a model; of a dataset nothing is read for it."""
    if isinstance(runs, Dataset) and runs.statistics:
        return any(part.count("turns") for part in runs.statistics)
    return bool(len(runs.turns))


def _most_frequent_pair(calls: pd.DataFrame, turns: pd.DataFrame) -> str:
    """Return which model was asked and which replied most often, of the calls that another model answered."""
    flagged = calls.loc[calls["other_model"].fillna(False).to_numpy(dtype=bool), CALL]
    pairs = turns.merge(flagged, on=CALL)[["model", "model_replied"]].dropna()
    different = pairs[pairs["model"].ne(pairs["model_replied"])]
    if different.empty:
        return ""
    counts = different.groupby(["model", "model_replied"]).size()
    asked, replied = counts.index[int(counts.argmax())]
    more = "" if len(counts) == 1 else " most often"
    return f":{more} {asked} was asked, {replied} replied"


def notes_between_sets(sets: Sequence[RunSet]) -> Iterator[str]:
    """Yield a note where calls of several sets have one reply: a set is then no repetition of another.

    A run that is in several sets, by its name and start, counts once: it ends later where it was resumed.
    """
    live = [runs for runs in sets if _has_turns(runs)]
    if len(live) < 2:
        return
    seen: pd.Index[Any] = pd.Index([])
    parts: list[RunSet] = []
    for number, runs in enumerate(live):
        names = pd.Index(runs.runs["run_id"].str.rpartition("/")[2] + " " + runs.runs["started_at"].astype(str))
        new = set(runs.runs.loc[~names.isin(seen), "run_id"])
        seen = seen.union(names)
        parts.append(_renamed(runs, new, f"{number}/"))
    tables = {
        name: pd.concat([getattr(part, name) for part in parts], ignore_index=True)
        for name in ("calls", "turns", "votes")
    }
    together = with_flags(tables["calls"], tables["turns"], tables["votes"])["run_repeated"]
    alone = tables["calls"]["run_repeated"].fillna(False)
    known = together.dropna()
    if n := int((together.fillna(False) & ~alone).sum()):
        words = _WORDS["run_repeated"].replace("another run", "another set")
        have = "has" if n == 1 else "have"
        yield words.format(n=f"{n:,}", m=counted(len(known), "call"), where="", have=have)


def _renamed(runs: RunSet, kept: set[str], prefix: str) -> RunSet:
    """Return some of the runs, with their calls, turns and votes alone, under ids that no other set has."""
    tables = {}
    for name in ("calls", "turns", "votes"):
        table: pd.DataFrame = getattr(runs, name)
        part = table[table["run_id"].isin(kept).to_numpy(dtype=bool)]
        tables[name] = part.assign(run_id=prefix + part["run_id"])
    return replace(RunSet(), **tables)
