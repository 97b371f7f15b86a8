"""Rules that a comparison names: a mapping of names to rules, or a list that names itself (rules F1, R1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from verifyplan.analysis.chosen_rules import check_settings, chosen_rules
from verifyplan.errors import Problem, Problems, SettingsError, one_of
from verifyplan.protocol.rules_value import value_words
from verifyplan.protocol.vote import MODES
from verifyplan.protocol.voting_rules import VotingRules

_EXAMPLE = "such as {'as run': VotingRules(), 'sticky': 'sticky-refutes'}, or a list of rules"


def rules_by_name(rules: object, max_rounds: int | None, missing_basis: str) -> dict[str, VotingRules]:
    """Return the rules of the conditions of one set, by name; those of a list are named by `rule_names`.

    Rounds and missing bases hold for all rules that do not name their own. Raises SettingsError, listing what is wrong
    with any of them, for fewer than two, and for what is neither a mapping nor a list.
    """
    if isinstance(rules, str | Path | VotingRules) or not isinstance(rules, Mapping | Sequence):
        message = f"must be two rules or more, got {rules!r:.80}"
        raise SettingsError(Problem("rules", message, f"give a mapping, {_EXAMPLE}"))
    if isinstance(rules, Mapping) and rules.keys() and rules.keys() <= VotingRules.model_fields.keys():
        message = f"names fields ({one_of(rules)}) and not conditions"
        raise SettingsError(Problem("rules", message, f"give a mapping, {_EXAMPLE}"))
    entries = list(rules.values()) if isinstance(rules, Mapping) else list(rules)
    if len(entries) < 2:
        raise SettingsError(Problem("rules", f"must name at least two conditions, got {len(entries)}", "name another"))
    read = _read(entries, list(rules) if isinstance(rules, Mapping) else None, max_rounds, missing_basis)
    names = [str(name) for name in rules] if isinstance(rules, Mapping) else rule_names(entries, read)
    return dict(zip(names, read, strict=True))


def rules_of_sets(
    rules: object, n_sets: int, names: Sequence[str] | None, max_rounds: int | None, missing_basis: str
) -> list[VotingRules]:
    """Return the rules of several sets, in their order: of a mapping by name, of a list in order, else one for all."""
    if isinstance(rules, Mapping) and names is not None and set(rules) == set(names):
        entries = [rules[name] for name in names]
    elif isinstance(rules, Sequence) and not isinstance(rules, str):
        entries = list(rules)
    else:
        entries = [rules] * n_sets
    if len(entries) != n_sets:
        message = f"must have an entry for each of {n_sets} sets, got {len(entries)}"
        raise SettingsError(Problem("rules", message, "give rules for each set, in their order, or one for all"))
    return _read(entries, names, max_rounds, missing_basis)


def _read(
    entries: Sequence[object], names: Sequence[object] | None, max_rounds: int | None, missing_basis: str
) -> list[VotingRules]:
    problems = Problems()
    problems.of(lambda: check_settings(MODES[0], max_rounds, missing_basis))
    if problems:
        max_rounds, missing_basis = None, "infer"
    read = [
        problems.of(partial(chosen_rules, entry, None, max_rounds, missing_basis, name=f"rules[{name!r}]"))
        for name, entry in zip(names or range(len(entries)), entries, strict=True)
    ]
    if problems:
        raise problems.error()
    return [rules for rules in read if rules is not None]


def rule_names(entries: Sequence[object], rules: Sequence[VotingRules]) -> list[str]:
    """Name rules by their presets or files, else by the fields in which they differ; equal names are numbered.

    >>> mine = [VotingRules(), {"refutes": "sticky", "quorum": 2}, "unanimous"]
    >>> rule_names(mine, [VotingRules(), VotingRules(**mine[1]), VotingRules.preset("unanimous")])
    ['as-recorded', 'refutes sticky, quorum 2', 'unanimous']
    """
    presets = {VotingRules.preset(name): name for name in reversed(VotingRules.presets())}
    shared = set.intersection(*(set(_fields(each).items()) for each in rules))
    return numbered([_name(entry, each, presets, shared) for entry, each in zip(entries, rules, strict=True)])


def _name(entry: object, rules: VotingRules, presets: Mapping[VotingRules, str], shared: set[tuple[str, str]]) -> str:
    if isinstance(entry, str | Path):
        return str(entry) if entry in VotingRules.PRESETS else Path(entry).stem
    if rules in presets:
        return presets[rules]
    own = [
        f"{field.replace('_', ' ')} {value}" for field, value in _fields(rules).items() if (field, value) not in shared
    ]
    return ", ".join(own) or "neutral"


def _fields(rules: VotingRules) -> dict[str, str]:
    return {name: value_words(value) for name, value in rules.changed.items()}


def numbered(names: Sequence[str]) -> list[str]:
    """Return names with a number where several are equal.

    >>> numbered(["a", "b", "a"])
    ['a (1)', 'b', 'a (2)']
    """
    repeated = {name for name in names if names.count(name) > 1}
    return [
        f"{name} ({names[: place + 1].count(name)})" if name in repeated else name for place, name in enumerate(names)
    ]
