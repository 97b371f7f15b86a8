"""Name voting rules in a few words: a preset, or the fields in which they differ from others (rule R1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.text import counted

MAX_NAMED_WORKERS = 3
"""More workers are counted, not named."""


def rule_words(rules: VotingRules, base: VotingRules, workers: Sequence[str] = ()) -> str:
    """Return rules in words, by what differs from `base`; `as run` where nothing does.

    `workers` are those that could be asked: where fewer are left out than kept, these are named.

    >>> rule_words(VotingRules(aggregate="unanimous", max_rounds=1), VotingRules())
    '1 round, unanimous'
    >>> rule_words(VotingRules(workers=["ann", "bob"]), VotingRules(), ["ann", "bob", "cem"])
    'without cem'
    """
    mine, theirs = rules.model_dump(mode="json"), base.model_dump(mode="json")
    changed = {name: value for name, value in mine.items() if value != theirs[name]}
    words = [_WORDS[name](value, workers) if name in _WORDS else f"{name} {value}" for name, value in changed.items()]
    order = ["workers", "max_rounds", "mode", "aggregate"]
    ranks = [order.index(name) if name in order else len(order) for name in changed]
    return ", ".join(word for _, word in sorted(zip(ranks, words, strict=True), key=lambda pair: pair[0])) or "as run"


def _worker_words(names: list[str] | None, workers: Sequence[str]) -> str:
    if names is None:
        return "all workers"
    left_out = [name for name in workers if name not in names]
    if 0 < len(left_out) < len(names) and len(left_out) <= MAX_NAMED_WORKERS:
        return f"without {', '.join(left_out)}"
    return " + ".join(names) if len(names) <= MAX_NAMED_WORKERS else f"{len(names)} workers"


def _stop_words(stop: str | Mapping[str, Any]) -> str:
    if isinstance(stop, str):
        return "no early stop"
    return f"stop at lead {stop['margin']}" if "margin" in stop else "sequential stop"


_WORDS: Mapping[str, Any] = {
    "mode": lambda value, _: value or "own mode",
    "max_rounds": lambda value, _: "rounds as run" if value is None else counted(value, "round"),
    "majority": lambda value, _: f"majority above {value}",
    "refutes": lambda value, _: "sticky refutes" if value == "sticky" else "refutes by round",
    "lost_votes": lambda value, _: f"lost votes {value}",
    "quorum": lambda value, _: f"quorum {value}" if value else "no quorum",
    "missing_basis": lambda value, _: f"missing basis {value}",
    "uncited": lambda value, _: "uncited as burden" if value == "as-burden" else "uncited count",
    "caveats": lambda value, _: "caveats agree" if value == "as-agree" else "caveats partial",
    "workers": _worker_words,
    "weights": lambda value, _: "weighted" if value else "unweighted",
    "pruning": lambda value, _: "no pruning" if value == "none" else "pruning by queue",
    "aggregate": lambda value, _: "rules of the mode" if value == "rules" else value,
    "stop": lambda value, _: _stop_words(value),
    "order": lambda value, _: f"asks {value[0]} first" if value else "roster order",
}
"""How each field is said; the value is that of JSON."""
