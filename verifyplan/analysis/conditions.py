"""The conditions of a comparison: sets of runs, each replayed under voting rules, each with a name (rule F1)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from verifyplan.analysis.agreement import agreement_of_runs
from verifyplan.analysis.cost import cost
from verifyplan.analysis.metrics import summary_columns
from verifyplan.analysis.named_rules import numbered, rules_by_name, rules_of_sets
from verifyplan.analysis.replay import CodedRuns, ReplayMode, Setting, recorded_rules, replay_under
from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.runset import RunSet
from verifyplan.frames.vote_checks import VoteNumbers
from verifyplan.protocol.vote import MODES, MissingBasis, Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.text import counted

MAX_KEPT_REPLAYS = 8
"""A `ReplayedSet` keeps so many replays; each has as many rows as there are findings."""


class ReplayedSet:
    """A set of runs with its replays under several rules, and what depends on the runs alone.

    The last eight replays are kept, so that a change of one rule costs one replay. The tables must not be changed.
    """

    def __init__(self, runs: RunSet) -> None:
        self.frames = runs
        self._coded = CodedRuns(runs)
        self._replays: OrderedDict[VotingRules, pd.DataFrame] = OrderedDict()

    def replay(self, rules: VotingRules) -> pd.DataFrame:
        """Return the findings with their classes under some rules (see `replay`, also for errors); do not change it."""
        if rules.mode is None and self.only_mode and not recorded_rules(self.frames).any():
            rules = rules.model_copy(update={"mode": self.only_mode})  # the same, and kept once
        if rules not in self._replays:
            self._replays[rules] = replay_under(self.frames, rules, self._coded)
        self._replays.move_to_end(rules)
        while len(self._replays) > MAX_KEPT_REPLAYS:
            self._replays.popitem(last=False)
        return self._replays[rules]

    @property
    def numbers(self) -> VoteNumbers | None:
        """The numbers of findings and workers of all votes; None before a replay of the whole set."""
        return self._coded.numbers

    @cached_property
    def only_mode(self) -> Mode | None:
        """The mode of all runs; None where it is not known of all, or is not the same."""
        modes = self.frames.runs["mode"].astype("object").fillna("")
        return next((mode for mode in MODES if len(modes) and modes.eq(mode).all()), None)

    @cached_property
    def has_discoverers(self) -> bool:
        """Whether it is known who found any of the findings."""
        return bool(self.frames.findings["discoverers"].explode().notna().any())

    @cached_property
    def agreement(self) -> pd.DataFrame:
        """How far the workers agree."""
        return agreement_of_runs(self.frames, self.numbers)

    @cached_property
    def cost(self) -> pd.DataFrame:
        """The cost of the runs."""
        return cost(self.frames)

    @cached_property
    def circumstances(self) -> dict[str, set[Any]]:
        """Circumstances in which sets can differ beside the mode, with the values recorded; none where nothing was."""
        frames = self.frames
        workers = pd.concat([frames.votes["worker"].drop_duplicates(), frames.dispatches["worker"].drop_duplicates()])
        return {
            "workers": set(workers),
            ALLOWED_ROUNDS: set(frames.runs["effective_max_rounds"].dropna().astype("int64")),
            "access to evidence": set(frames.runs["verification_mode"].dropna()),
            "backends": set(frames.runs["backend"].dropna()),
            "models": set(frames.calls["model"].dropna()),
            "prompts": set(frames.runs["prompts"].dropna().str.split("; ").explode()),
        }


ALLOWED_ROUNDS = "allowed rounds"


@dataclass(frozen=True, eq=False)
class Condition:
    """One of the things that a comparison compares: a set of runs under voting rules."""

    name: str
    """The name in tables, charts and words."""
    replayed: ReplayedSet
    """The runs with their replays; conditions of one set share it."""
    rules: VotingRules
    """The rules under which the votes are judged; without a mode, that of each run."""

    @property
    def frames(self) -> RunSet:
        """The tables of the runs."""
        return self.replayed.frames

    @property
    def judged_mode(self) -> str | None:
        """The mode whose rules judge the votes; None where each run is judged by its own, and these differ."""
        return self.rules.mode or self.replayed.only_mode

    @property
    def setting(self) -> Setting:
        """The rules in their short form: mode, rounds and missing bases."""
        return Setting(self.rules.mode or "recorded", self.rules.max_rounds, self.rules.missing_basis)

    @property
    def findings(self) -> pd.DataFrame:
        """The findings with their classes under the rules."""
        return self.replayed.replay(self.rules)


def conditions_of(
    runs: Runs | Mapping[str, Runs],
    other: Runs | None,
    modes: Sequence[ReplayMode | Setting] | None,
    max_rounds: int | None = None,
    missing_basis: MissingBasis = "infer",
    rules: object = None,
) -> tuple[Condition, ...]:
    """Return the conditions that the arguments of `compare` name, the baseline first.

    Raises SettingsError for fewer than two conditions, for names that cannot be columns, for modes or rules that are
    not as many as the sets, and for rules that are none; InputError for what is no set of runs.
    """
    if isinstance(runs, Mapping):
        if other is not None:
            fix = "put it into the mapping, under a name"
            raise SettingsError(Problem("other", "does not go with a mapping of sets", fix))
        check_names(list(runs))
        sets = [ReplayedSet(as_runs(value, f"runs[{name!r}]")) for name, value in runs.items()]
    else:
        sets = [ReplayedSet(as_runs(runs))]
        sets += [] if other is None else [ReplayedSet(as_runs(other, "other"))]
    several = are_several_sets(runs, other)
    set_names = list(runs) if isinstance(runs, Mapping) else None
    if rules is not None and modes is not None:
        raise SettingsError(Problem("modes", "does not go with rules", "name the mode in the rules"))
    if rules is not None and several:
        chosen = rules_of_sets(rules, len(sets), set_names, max_rounds, missing_basis)
        settings = [Setting(each.mode or "recorded") for each in chosen]
        names = set_names or setting_names(settings, [each.frames for each in sets])
    elif rules is not None:
        named = rules_by_name(rules, max_rounds, missing_basis)
        check_names(list(named), "rules")
        names, chosen = list(named), list(named.values())
    else:
        entries = _entries(modes, len(sets) if several else None)
        settings = [
            entry if isinstance(entry, Setting) else Setting(entry, max_rounds, missing_basis) for entry in entries
        ]
        chosen = [setting.rules for setting in settings]
        sets_of = sets if several else sets * len(settings)
        names = set_names or setting_names(settings, [each.frames for each in sets_of])
    sets = sets if several else sets * len(chosen)
    return tuple(Condition(*parts) for parts in zip(names, sets, chosen, strict=True))


def are_several_sets(runs: Runs | Mapping[str, Runs], other: Runs | None) -> bool:
    """Return whether the arguments of `compare` name several sets, to be paired, and not modes of one set."""
    return isinstance(runs, Mapping) or other is not None


def _entries(modes: Any, n_sets: int | None) -> Sequence[ReplayMode | Setting]:
    """Return the modes, or the default ones: of one set (None) both, of several each as recorded."""
    if modes is None:
        return MODES if n_sets is None else ["recorded"] * n_sets
    if isinstance(modes, str) or not isinstance(modes, Sequence):
        fix = "write a list, such as ['collaborative', Setting('adversarial', max_rounds=1)]"
        raise SettingsError(Problem("modes", f"must be a list of modes and Settings, got {modes!r:.80}", fix))
    if n_sets is None and len(modes) < 2:
        message = f"must name at least two conditions, got {len(modes)}"
        raise SettingsError(Problem("modes", message, "name another mode or Setting, or leave modes out"))
    if n_sets is not None and len(modes) != n_sets:
        message = f"must have an entry for each of {n_sets} sets, got {len(modes)}"
        raise SettingsError(Problem("modes", message, "give one mode or Setting for each, in their order"))
    return modes


def check_names(names: Sequence[object], argument: str = "runs") -> None:
    """Raise SettingsError, listing all that is wrong, unless the names can be those of two or more conditions."""
    problems = [
        Problem(argument, f"a condition must have a printable text as its name, got {name!r:.80}", "rename it")
        for name in names
        if not isinstance(name, str) or not name.strip() or not name.isprintable()
    ]
    if len(names) < 2:
        message = f"must name at least two conditions, got {one_of(names) or 'none'}"
        problems.append(Problem(argument, message, "add a set, or give the one without a name to compare its modes"))
    columns = [] if problems else summary_columns([str(name) for name in names])
    twice = sorted({column for column in columns if columns.count(column) > 1})
    if twice:
        message = f"the names {one_of(names)} make two columns {one_of(twice)} of .summary"
        problems.append(Problem(argument, message, "rename a condition"))
    if problems:
        raise SettingsError(problems)


def setting_names(settings: Sequence[Setting], sets: Sequence[RunSet]) -> list[str]:
    """Name settings by their modes, and by whatever else differs; equal names are numbered.

    The mode of `recorded` is that of the runs, if all have one mode; "own rounds" are those that each run allowed.

    >>> runs = RunSet()
    >>> setting_names([Setting("adversarial", 1), Setting("adversarial")], [runs, runs])
    ['adversarial, 1 round', 'adversarial, own rounds']
    """
    names = []
    rounds, bases = ({getattr(setting, name) for setting in settings} for name in ("max_rounds", "missing_basis"))
    for setting, runs in zip(settings, sets, strict=True):
        modes = runs.runs["mode"].dropna().unique()
        words = [str(modes[0]) if setting.mode == "recorded" and len(modes) == 1 else setting.mode]
        if len(rounds) > 1:
            words.append("own rounds" if setting.max_rounds is None else counted(setting.max_rounds, "round"))
        if len(bases) > 1 and setting.mode != "collaborative":  # there no basis matters
            words.append(f"missing bases: {setting.missing_basis}")
        names.append(", ".join(words))
    return numbered(names)
