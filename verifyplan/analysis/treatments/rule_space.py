"""Which rules a search judges: a few hundred that the recorded votes allow, or those that a caller gives (rule R5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np

from verifyplan.analysis.replay import recorded_rules
from verifyplan.analysis.voters import order_of_runs, roster_of, voters_of
from verifyplan.errors import Problem, Problems, SettingsError
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.rules_value import read_rules
from verifyplan.protocol.vote import MODES, Mode
from verifyplan.protocol.voting_rules import VotingRules

MAX_RULES = 10_000
"""A search judges at most so many rules."""

MAX_WORKERS_OF_SUBSETS = 5
"""Up to so many workers, the default space has every subset of them; beyond, only some."""

MAX_WORKERS_LEFT_OUT = 20
"""Up to so many workers, it has all but each of them."""

MAX_SINGLE_WORKERS = 100
"""It has the first workers of the roster, at most so many, each alone."""

_NAMED_WORKERS = 6
"""In words, more workers than these are counted, not named."""

MAX_ORDERED_WORKERS = 100
"""Of up to so many workers, the order of asking is written into rules that stop within a round."""

MAX_ROUNDS = 3
"""The default space has at most so many rounds."""

Fields = dict[str, Any]


def read_space(space: object, runs: RunSet) -> tuple[VotingRules, ...]:
    """Return the rules that a caller names, each once, in order; those of the runs come first (`rules_of_runs`).

    Rules that stop within a round and name no order of asking get that of the roster, so that they ask in the same one
    wherever they are used (see `asking_order`).

    `space` is None for `default_space`; or rules as `read_rules` reads them, or a sequence of these; or a mapping of
    fields to sequences of values, every combination of which is judged.

    Raises SettingsError for values that are no rules, for none, and for more than `MAX_RULES`.
    """
    if space is None:
        found = list(default_space(runs)[1:])
    elif isinstance(space, Mapping):
        found = _combinations(space)
    elif isinstance(space, Sequence) and not isinstance(space, str):
        found = _each_read(space)
    else:
        found = [read_rules(VotingRules, space, "space")]
    if not found or len(found) > MAX_RULES:
        message = f"has {len(found):,} rules, must have from 1 to {MAX_RULES:,}"
        raise SettingsError(Problem("space", message, "name some rules, or None for those that the votes allow"))
    order = asking_order(runs) if any(_lacks_order(each) for each in found) else None
    return _each_once([rules_of_runs(runs), *(_with_order(each, order) for each in found)])


def asking_order(runs: RunSet) -> tuple[str, ...] | None:
    """Return the order in which a round that can stop asks whoever voted: that of the roster.

    None where the rosters of runs contradict each other, so that each asks in its own order, and for more workers than
    `MAX_ORDERED_WORKERS`.
    """
    workers = _roster(runs)
    return workers if 1 < len(workers) <= MAX_ORDERED_WORKERS and not order_of_runs(runs) else None


def _lacks_order(rules: VotingRules) -> bool:
    return rules.stop != "round" and rules.order is None


def _with_order(rules: VotingRules, order: tuple[str, ...] | None) -> VotingRules:
    """Return the rules with an order of asking, where they stop within a round and name none."""
    if order is None or not _lacks_order(rules):
        return rules
    asked = tuple(name for name in order if rules.workers is None or name in rules.workers)
    return rules.model_copy(update={"order": asked}) if len(asked) > 1 else rules


def _each_read(space: Sequence[object]) -> list[VotingRules]:
    problems = Problems()
    found = [
        problems.of(partial(read_rules, VotingRules, rules, f"space[{place}]")) for place, rules in enumerate(space)
    ]
    if problems:
        raise problems.error()
    return [rules for rules in found if rules is not None]


def rules_of_runs(runs: RunSet) -> VotingRules:
    """Return the rules that the runs were made under; the neutral ones, which leave each run its own, if these differ.

    >>> print(rules_of_runs(RunSet()))  # doctest: +ELLIPSIS
    VotingRules() [...]
    """
    recorded = recorded_rules(runs).unique()
    return VotingRules.from_json(recorded[0]) if len(recorded) == 1 and recorded[0] else VotingRules()


def recorded_mode(runs: RunSet) -> Mode | None:
    """Return the mode that all runs were recorded in; None where they differ. Runs that name none are collaborative.

    >>> print(recorded_mode(RunSet()))
    None
    """
    modes = set(runs.runs["mode"].astype("object").fillna(MODES[0]))
    return next((mode for mode in MODES if modes == {mode}), None)


def _combinations(space: Mapping[Any, Any]) -> list[VotingRules]:
    """Return the rules of every combination of the values of some fields."""
    values = {str(name): _listed(given) for name, given in space.items()}
    size = prod(map(len, values.values()))
    if size > MAX_RULES:
        sizes = " x ".join(f"{len(given)} of {name}" for name, given in values.items())
        message = f"has {size:,} combinations ({sizes}), more than {MAX_RULES:,}"
        raise SettingsError(Problem("space", message, "give fewer values of some fields"))
    return [VotingRules(**dict(zip(values, chosen, strict=True))) for chosen in product(*values.values())]


def _listed(given: Any) -> list[Any]:
    several = isinstance(given, Sequence | np.ndarray) and not isinstance(given, str)
    return list(given) if several else [given]


def default_space(runs: RunSet) -> tuple[VotingRules, ...]:
    """Return the rules that recorded votes allow: a few hundred; those of the runs come first.

    Every subset of up to five workers; of more each alone, the first 2, 3, 5, 8 ... of the roster, and all but each;
    rounds from 1 to those recorded; with the modes, and a majority, of each. With all workers also two thirds,
    unanimity, a single disagree, sticky refutations, refutations that cite nothing as lazy doubt, caveats as agrees,
    the first round alone, last votes for lost ones, a quorum of 2 votes or of two thirds, and a stop at a lead of 1 or
    2. The adversarial mode is there if a run was adversarial, or a disagree has a basis. Source: rule R5.

    >>> import pandas as pd
    >>> from verifyplan.frames.votes import from_votes
    >>> votes = pd.DataFrame({"item": "F", "who": ["a", "b"], "says": ["agree", "disagree"]})
    >>> len(default_space(from_votes(votes, item="item", worker="who", verdict="says")))
    17
    """
    workers = _roster(runs)
    last = max(int(part["round"].max()) if len(part) else 1 for part in runs.votes_by_part(["round"]))
    n_rounds = min(last, MAX_ROUNDS)
    rounds: list[Fields] = [{"max_rounds": number} for number in range(1, n_rounds + 1)]
    modes = _modes(runs)
    core = [*modes, {"aggregate": "majority"}]
    subsets: list[Fields] = [{}, *({"workers": chosen} for chosen in _subsets(workers))]
    quorums: list[Fields] = [{}, {"quorum": 2}, {"quorum": "2/3"}] if len(workers) > 2 else [{}]
    stops: list[Fields] = [{}, {"stop": {"margin": 1}}, *([{"stop": {"margin": 2}}] if len(workers) > 2 else [])]
    judges = [*core, *_other_judges(runs, modes, n_rounds)]
    return _each_once([rules_of_runs(runs), *_all(rounds, core, subsets), *_all(rounds, judges, quorums, stops)])


def _any(runs: RunSet, column: str, value: bool | str | None = None) -> bool:
    """Return whether any vote has a value in a column, or that value."""
    parts = (part[column] for part in runs.votes_by_part([column]))
    return any(bool((part.notna() if value is None else part.eq(value)).any()) for part in parts)


def _all(*groups: Iterable[Fields]) -> Iterable[VotingRules]:
    """Return the rules of every choice of fields from each group."""
    for chosen in product(*groups):
        yield VotingRules(**{name: value for fields in chosen for name, value in fields.items()})


def _each_once(rules: Iterable[VotingRules]) -> tuple[VotingRules, ...]:
    return tuple({each.digest: each for each in rules}.values())


def _roster(runs: RunSet) -> tuple[str, ...]:
    """Return the workers who voted, in roster order."""
    voters = voters_of(runs)
    return tuple(name for name in roster_of(runs) if name in voters)


def _modes(runs: RunSet) -> list[Fields]:
    """Return the modes that votes can be judged in: the adversarial one needs bases."""
    adversarial = runs.runs["mode"].eq("adversarial").any() or _any(runs, "disagree_basis")
    return [{"mode": "collaborative"}, *([{"mode": "adversarial"}] if adversarial else [])]


def _subsets(workers: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return subsets of workers, the full set left out."""
    if len(workers) <= MAX_WORKERS_OF_SUBSETS:
        return [chosen for size in range(1, len(workers)) for chosen in combinations(workers, size)]
    left_out = workers if len(workers) <= MAX_WORKERS_LEFT_OUT else ()
    nested, sizes = [], (2, 3)
    while sizes[0] < len(workers):
        nested.append(workers[: sizes[0]])
        sizes = sizes[1], sum(sizes)
    all_but = [tuple(name for name in workers if name != left) for left in left_out]
    return [*((name,) for name in workers[:MAX_SINGLE_WORKERS]), *nested, *all_but]


def _other_judges(runs: RunSet, modes: list[Fields], n_rounds: int) -> list[Fields]:
    """Return ways to judge a round, or to read its votes, that these votes tell apart from the modes and a majority."""
    later = n_rounds > 1
    judges: list[Fields] = [
        {"aggregate": "majority", "majority": "2/3"},
        {"aggregate": "unanimous"},
        {"aggregate": "any-refute"},
        *({**mode, "majority": "2/3"} for mode in modes),
    ]
    if {"mode": "adversarial"} in modes:
        adversarial = {"mode": "adversarial"}
        judges += [{**adversarial, "refutes": "sticky"}] if later else []
        judges += [{**adversarial, "uncited": "as-burden"}] if _any(runs, "uncited", True) else []
        judges += [{**adversarial, "caveats": "as-agree"}] if _any(runs, "verdict", "supplement") else []
    if later:
        judges += [{**mode, "aggregate": "first-round"} for mode in modes]
        judges += [{**mode, "pruning": "none"} for mode in modes]
        if _any(runs, "verdict", "verification-error"):
            judges += [{**mode, "lost_votes": "last-vote"} for mode in modes]
    return judges


def space_words(rules: VotingRules) -> str:
    """Return the fields of rules that are not neutral in one line, but the order of asking; the runs' own for none.

    >>> space_words(VotingRules(mode="adversarial", workers=["a", "b"])), space_words(VotingRules())
    ('mode=adversarial, workers=a+b', "the runs' own")
    """
    fields = {name: field_text(value) for name, value in rules.changed.items() if name != "order"}
    if rules.workers is not None and len(rules.workers) > _NAMED_WORKERS:
        fields["workers"] = f"{len(rules.workers)} names"
    return ", ".join(f"{name}={value}" for name, value in fields.items()) or "the runs' own"


def order_words(order: Sequence[str]) -> str:
    """Return an order of asking as words.

    >>> order_words(["gpt", "claude", "qwen"])
    'asks gpt first, then claude, then qwen'
    """
    named = list(order[:_NAMED_WORKERS])
    more = [f"{len(order) - len(named)} more in the order of rules.order"] if len(order) > len(named) else []
    return f"asks {named[0]} first, then {', then '.join([*named[1:], *more])}"


def field_text(value: Any) -> str | None:
    """Return the value of a field as JSON holds it as a short text; None for none.

    >>> field_text(["a", "b"]), field_text({"margin": 2}), field_text(2)
    ('a+b', 'margin 2', '2')
    """
    if value is None:
        return None
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
