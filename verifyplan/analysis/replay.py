"""Replay the recorded votes of runs under a mode and a number of rounds, or under any voting rules (rules B7, R4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from verifyplan.analysis.chosen_rules import RECORDED, chosen_rules
from verifyplan.analysis.classify import CLASS_TYPE, RULE_TYPE, judge
from verifyplan.analysis.parts_to_judge import parts_to_judge
from verifyplan.analysis.tally import CodedVotes, Ints, code_votes, with_held_back
from verifyplan.analysis.vote_cube import VoteCube, vote_cube
from verifyplan.analysis.voters import Voters, asks_some, in_order_of_runs, order_of_runs, voters_of_runs
from verifyplan.errors import InputError, Problem
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.cut_rounds import held_back
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.runset import RunSet
from verifyplan.frames.vote_checks import FINDING, VoteNumbers
from verifyplan.frames.vote_losses import LOST
from verifyplan.protocol.event_cross import PLAN_BODY
from verifyplan.protocol.vote import MODES, MissingBasis, Mode
from verifyplan.protocol.voting_rules import VotingRules

ReplayMode = Literal["collaborative", "adversarial", "recorded"]
REPLAY_MODES: tuple[str, ...] = (*MODES, RECORDED)

BASIS_COUNTS = ["filled_bases", "filled_counter", "disagreements"]
"""The columns that count bases filled in, those of them filled in as counter-evidence, and disagrees."""

DECIDING_VOTES = "deciding_votes"
"""The column that counts the votes behind a class: those of the round that decided, errors left out."""

_KEY = ["run_id", "iteration", "finding_id"]
_COUNTS = [*BASIS_COUNTS, DECIDING_VOTES, *LOST]
_CLASSES = ["classification", "low", "high"]
_JUDGED = ["classification", "decided_round", "rule", "censored", *_COUNTS, "low", "high"]


@with_field_docs
@dataclass(frozen=True)
class Setting:
    """How votes are judged; `compare` takes one for each condition. Values are checked where they are used.

    >>> Setting("adversarial", max_rounds=1)
    Setting(mode='adversarial', max_rounds=1, missing_basis='infer')
    """

    mode: ReplayMode = "recorded"
    """`collaborative`, `adversarial`, or `recorded`: each run in its own mode."""
    max_rounds: int | None = None
    """Rounds allowed; None takes each run's own."""
    missing_basis: MissingBasis = "infer"
    """How an adversarial mode fills in the basis of a disagree that has none (see `classify`)."""

    @property
    def own(self) -> bool:
        """Whether each run is judged as it was: under its mode, with the rounds that it allowed.

        >>> Setting().own, Setting(max_rounds=1).own
        (True, False)
        """
        return self == Setting()

    @property
    def rules(self) -> VotingRules:
        """The setting as rules; `recorded` names no mode. Raises SettingsError for values that are unknown.

        >>> print(Setting("adversarial", max_rounds=1).rules)  # doctest: +ELLIPSIS
        VotingRules(mode=adversarial, max_rounds=1) [...]
        """
        return chosen_rules(None, self.mode, self.max_rounds, self.missing_basis)

    def replay(self, runs: RunSet) -> pd.DataFrame:
        """Return every finding with its class under this setting (see `replay`, also for errors)."""
        return replay(runs, self.mode, max_rounds=self.max_rounds, missing_basis=self.missing_basis)


def replay(
    runs: Runs,
    mode: ReplayMode | None = None,
    *,
    rules: object = None,
    max_rounds: int | None = None,
    missing_basis: MissingBasis = "infer",
) -> pd.DataFrame:
    """Return every finding of some runs with the class that its recorded votes give under `mode`, or under any rules.

    A finding that nobody was asked about (found by all, or with votes switched off) keeps its class, by the rule
    `round-0`. The items of a plan body are left out: they have rules of their own (rule B10). A replay isolates the
    effect of the rule; the effect of the prompt needs two real runs (`compare`, paired). A challenge on which a panel
    voted in several iterations is judged, and has a row, in each.

    Votes that the rules would ask for and that were never cast (later rounds, other workers, those after a stop, those
    that a limit of the run held back) count on neither side, and nothing of earlier rounds takes their place; `low` and
    `high` are the worst and the best class that they could have given. A round that a limit cut off, which its run did
    not judge, is judged by the votes that were cast; `compare` and `explain` say so.

    Args:
        runs: a RunSet, a run, or a path.
        mode: `collaborative`, `adversarial`, or `recorded`: each run in its own mode. Where nothing is given, and where
            only rounds and missing bases are, each run is judged by the rules that it recorded.
        rules: VotingRules, the name of a preset, a mapping of fields, or a JSON file. Mode and rounds that it does not
            name are each run's own.
        max_rounds: rounds allowed; None takes each run's own `effective_max_rounds`.
        missing_basis: see `classify`.

    Returns:
        One row a finding and iteration (0 in cross runs), in the order of `runs.findings`: `run_id, iteration,
        finding_id, summary, category, truth, recorded` (the class that the run gave), `classification,
        decided_round, rule, censored` (a round up to the last that the rules hold has votes that were never cast),
        `filled_bases, filled_counter` (of these, as counter-evidence), `disagreements`
        (of the executed rounds; both 0 where no basis matters), `deciding_votes` (of the deciding round, those that
        count), `lost_votes` (of that round, errors) and `lost_refutes` (counter-evidences of earlier rounds whose
        author has no vote in it; rule B8), and `low, high` (the worst and the best class; both `classification` where
        nothing is censored).

    Raises:
        SettingsError, TableError: as `classify`.

    >>> from verifyplan.frames.votes import from_votes
    >>> votes = pd.DataFrame(
    ...     {"item": "F", "who": ["a", "b"], "says": ["agree", "disagree"]}
    ... )
    >>> runs = from_votes(votes, item="item", worker="who", verdict="says")
    >>> replay(runs, "adversarial")[["classification", "rule"]].values.tolist()
    [['partial-consensus', 'lone-doubt']]
    >>> replay(runs, rules="unanimous")[["classification", "rule"]].values.tolist()
    [['contested', 'no-unanimity']]
    """
    return replay_under(as_runs(runs), chosen_rules(rules, mode, max_rounds, missing_basis))


def replay_under(runs: RunSet, rules: VotingRules, coded: CodedRuns | None = None) -> pd.DataFrame:
    """Return what `replay` does, for rules that are read already; a dataset is judged part by part.

    `coded` is what other replays of the set have found out; it serves where the set is judged as a whole.
    """
    parts = parts_to_judge(runs, rules)
    if len(parts) == 1:
        return _replay_part(parts[0], rules, coded if parts[0] is runs else None)
    tables = [_replay_part(part, rules) for part in parts]
    return pd.concat(tables, ignore_index=True)


def _replay_part(runs: RunSet, rules: VotingRules, coded: CodedRuns | None = None) -> pd.DataFrame:
    judged = [part.judged(losses=True) for part in replay_parts(runs, rules, coded, by_name=False)]
    judged = judged or [pd.DataFrame(columns=[*_KEY, *_JUDGED])]
    table = judged[0] if len(judged) == 1 else pd.concat(judged)
    own = _replayed(runs)[["run_id", "finding_id", "summary", "category", "truth", "classification"]]
    out = own.rename(columns={"classification": "recorded"}).merge(table[[*_KEY, *_JUDGED]], on=FINDING, how="left")
    out.insert(1, "iteration", out.pop("iteration").fillna(0).astype("int64"))
    return _keep_unvoted(out.assign(recorded=_recorded_classes(out, runs)))


class ReplayPart(NamedTuple):
    """The votes of a set that are judged in one mode and under the same rules, as `judge` takes them."""

    mode: Mode
    votes: pd.DataFrame
    cast: CodedVotes
    max_rounds: Ints
    """The rounds allowed to each finding."""
    rules: VotingRules
    """The rules that judge the part: those of the caller, or those that its runs recorded."""
    voters: Callable[[], Voters]
    """Tells who votes, and who could have."""
    all_asked: bool
    """Whether the rounds that were held asked everybody: no rules of a run left somebody out, or stopped a round."""

    def judged(self, cast: CodedVotes | None = None, *, losses: bool = False) -> pd.DataFrame:
        """Return the class of each finding (see `judge`), by the votes or by those that `cast` makes of them."""
        own = self.cast if cast is None else cast
        return judge(
            self.votes,
            own,
            self.mode,
            self.max_rounds,
            self.rules,
            self.voters,
            losses=losses,
            all_asked=self.all_asked,
        )

    def cube(self, *, citations: bool) -> VoteCube:
        """Return the votes as an array (see `vote_cube`)."""
        return vote_cube(self.votes, self.cast, self.voters(), citations=citations)


class _CodedPart(NamedTuple):
    """Votes with what is known of them and their findings, whatever rules judge them."""

    votes: pd.DataFrame
    cast: CodedVotes
    findings: pd.DataFrame
    """A row for each finding of `cast`, with what `CodedRuns.findings` says of it."""


class CodedRuns:
    """The coded votes of a set of runs, which its replays have in common; made when the first of them needs it."""

    def __init__(self, runs: RunSet) -> None:
        self.runs = runs

    @cached_property
    def whole(self) -> _CodedPart:
        """All votes, where they are judged together."""
        return _coded_part(self.runs, self.findings)

    @property
    def numbers(self) -> VoteNumbers | None:
        """The numbers of findings and workers of all votes; None before they are judged together."""
        whole = vars(self).get("whole")
        return whole.cast.numbers if whole and whole.votes is self.runs.votes else None

    @cached_property
    def findings(self) -> pd.DataFrame:
        """The findings that a replay judges, with the mode, allowed rounds and own rules of their runs."""
        of_findings = self.judged.drop(columns="run_id").take(self.run).reset_index(drop=True)
        return pd.concat([self._known.reset_index(drop=True), of_findings], axis=1)

    @cached_property
    def judged(self) -> pd.DataFrame:
        """The runs of these findings with `run_id, mode, effective_max_rounds, own_rules`, in order of appearance."""
        of_runs = self.runs.runs[["run_id", "mode", "effective_max_rounds"]]
        of_runs = of_runs.assign(own_rules=recorded_rules(self.runs))
        return self._known[["run_id"]].drop_duplicates().merge(of_runs, on="run_id", how="left")

    @cached_property
    def run(self) -> Ints:
        """The position in `judged` of the run of each finding."""
        return np.asarray(pd.factorize(self._known["run_id"])[0], dtype=np.int64)

    @cached_property
    def _known(self) -> pd.DataFrame:
        return _replayed(self.runs)[[*FINDING, "n_rounds", "discoverers"]]


def replay_parts(
    runs: RunSet,
    rules: VotingRules,
    coded: CodedRuns | None = None,
    *,
    apart: bool | None = None,
    by_name: bool = True,
) -> list[ReplayPart]:
    """Return the votes of runs by the mode and the rules that judge them; one part where these are the same for all.

    Rules that name nothing but rounds and missing bases leave each run its own: those that it recorded (the column
    `rules` of `runs`), with these in place. Where rules stop within rounds, runs whose rosters contradict each other
    are apart, so that each asks in its own order; without `by_name`, rules that name no worker judge these together,
    with workers numbered by the roster of each run. `apart` says whether they are, whatever the rules.
    """
    coded = coded or CodedRuns(runs)
    judged, parts = coded.judged, []
    modes = judged["mode"].astype("object").where(judged["mode"].eq("adversarial").fillna(False), "collaborative")
    own = judged["own_rules"].fillna("") if set(rules.changed) <= LEAVES_RULES else pd.Series("", judged.index)
    if rules.mode is not None:
        modes[:] = rules.mode
    stops = rules.stop != "round" or any('"stop"' in text for text in own.unique())
    is_ordered = rules.order is not None and runs.votes["worker"].isin(rules.order).all()
    stops = stops and not is_ordered if apart is None else apart
    orders = order_of_runs(runs) if stops else {}
    every = [rules, *(_with_rounds(text, rules) for text in own.unique())]
    is_apart = bool(orders) and (by_name or any(each.workers or each.weights or each.order for each in every))
    order = judged["run_id"].astype("object").map(orders).fillna("") if is_apart else pd.Series("", judged.index)
    different = pd.DataFrame({"mode": modes, "own": own, "order": order}).drop_duplicates()
    keys = sorted(different.itertuples(index=False, name=None), key=lambda key: (MODES.index(key[0]), *key[1:]))
    for mode, recorded, roster in keys:
        runs_chosen = (modes.eq(mode) & own.eq(recorded) & order.eq(roster)).to_numpy()
        if runs_chosen.all() and not is_apart:
            of_part, votes = runs, coded.whole
        else:
            chosen = coded.findings[runs_chosen[coded.run]]
            of_part = runs.select(chosen["run_id"].unique()) if is_apart else runs
            votes = _coded_part(of_part, chosen)
        part = _part(of_part, votes, mode, _with_rounds(recorded, rules))
        parts.append(part if is_apart or not orders else part._replace(voters=partial(_by_roster, part, orders)))
    return parts


def _by_roster(part: ReplayPart, orders: Mapping[str, str]) -> Voters:
    return in_order_of_runs(part.voters(), part.cast, part.cast.findings["run_id"], orders)


LEAVES_RULES = {"max_rounds", "missing_basis"}
"""Rules that name no other field leave runs their own."""


def recorded_rules(runs: RunSet) -> pd.Series[Any]:
    """Return the rules that each run recorded, as JSON; empty where they are neutral, or it recorded none."""
    if "rules" not in runs.runs:
        return pd.Series("", index=runs.runs.index, dtype="object")
    recorded = runs.runs["rules"].astype("object").fillna("")
    return recorded.where(recorded.ne("{}"), "")


def _with_rounds(recorded: str, rules: VotingRules) -> VotingRules:
    """Return the rules that a run recorded, with the rounds and missing bases that other rules name; else these."""
    if not recorded:
        return rules
    return VotingRules.from_json(recorded).model_copy(update={name: getattr(rules, name) for name in rules.changed})


def _replayed(runs: RunSet) -> pd.DataFrame:
    """Return the findings that a replay judges: all but the items of a plan body."""
    judged = runs.findings["category"].ne(PLAN_BODY).fillna(True).to_numpy(dtype=bool)
    return runs.findings if judged.all() else runs.findings[judged]


def _recorded_classes(table: pd.DataFrame, runs: RunSet) -> pd.Series:
    """Return the class that each run gave in each iteration; `findings` has that of the last, the history has all."""
    own = table["recorded"].astype(CLASS_TYPE)
    if not table["iteration"].any():
        return own
    last = table.groupby(FINDING, sort=False)["iteration"].transform("max")
    history = runs.challenge_history[runs.challenge_history["event"].eq("classified").to_numpy(dtype=bool)]
    history = history.rename(columns={"challenge_id": "finding_id", "classification": "class"})
    classes = table[_KEY].merge(history[[*_KEY, "class"]].drop_duplicates(_KEY, keep="last"), on=_KEY, how="left")
    return classes["class"].astype("object").fillna(own.astype("object").where(table["iteration"].eq(last)))


def _coded_part(runs: RunSet, findings: pd.DataFrame) -> _CodedPart:
    keys = findings[FINDING]
    votes = runs.votes.merge(keys, on=FINDING) if len(keys) < len(runs.findings) else runs.votes
    imported = bool(runs.runs["kind"].eq("votes").any())  # only an artifact says that a round had no votes
    cast = code_votes(votes, gaps_allowed=not imported)
    rows = cast.findings[_KEY].merge(findings, on=FINDING, how="left")
    known = rows["n_rounds"].where(rows["iteration"].eq(last_iteration(cast.findings)))  # it is of the last one alone
    run_rounds = known.to_numpy(dtype="float64", na_value=0).astype(np.int64)
    if (run_rounds > cast.last_round).any():
        cast = replace(cast, last_round=np.maximum(cast.last_round, run_rounds))
    return _CodedPart(votes, with_held_back(cast, held_back(votes, runs.runs)), rows)


def _part(runs: RunSet, coded: _CodedPart, mode: Mode, rules: VotingRules) -> ReplayPart:
    votes, cast, rows = coded
    own, max_rounds = rows["effective_max_rounds"], rules.max_rounds
    allowed = own.to_numpy(dtype="float64", na_value=np.nan) if max_rounds is None else np.full(len(own), max_rounds)
    allowed = np.where(np.isnan(allowed), cast.last_round, allowed).astype(np.int64)
    own_rules = rows["own_rules"].unique() if recorded_rules(runs).any() else np.array([])
    all_asked = not any(asks_some(text) for text in own_rules[pd.notna(own_rules)])
    voters = partial(voters_of_runs, runs, votes, cast, rows)
    return ReplayPart(mode, votes, cast, allowed, rules, voters, all_asked)


def _keep_unvoted(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table in which findings without votes keep the recorded class, by the rule `round-0`."""
    without = table["rule"].isna().to_numpy()
    recorded = table["recorded"].astype(CLASS_TYPE)
    classes = {name: table[name].astype(CLASS_TYPE) for name in _CLASSES}
    for each in classes.values() if without.any() else ():
        each[without] = recorded.to_numpy()[without]
    return table.assign(
        recorded=recorded,
        **classes,
        decided_round=table["decided_round"].fillna(0).astype("int64"),
        rule=table["rule"].astype(RULE_TYPE).fillna("round-0"),
        censored=table["censored"].eq(True),
        **{name: table[name].fillna(0).astype("int64") for name in _COUNTS},
    )


def last_iteration(votes: pd.DataFrame) -> pd.Series[Any]:
    """Return, for each vote, the last iteration in which its finding was voted on; 0 in cross runs.

    >>> votes = pd.DataFrame({"run_id": "r", "finding_id": ["C1", "C1", "C2"], "iteration": [1, 2, 1]})
    >>> last_iteration(votes).tolist()
    [2, 2, 1]
    """
    if not votes["iteration"].any():
        return votes["iteration"]
    return votes.groupby(FINDING, sort=False, observed=True)["iteration"].transform("max")


def at_iteration(runs: RunSet, iteration: int | None = None) -> RunSet:
    """Return the runs with the votes of one iteration alone; None takes, of each finding, those of its last one.

    Raises InputError where nobody voted in that iteration.
    """
    last = last_iteration(runs.votes)
    wanted = runs.votes["iteration"].eq(last if iteration is None else iteration)
    votes = runs.votes[wanted.to_numpy(dtype=bool)].reset_index(drop=True)
    if iteration is None:
        return replace(runs, votes=votes)
    if votes.empty:
        have = ", ".join(map(str, sorted(runs.votes["iteration"].unique()))) or "none"
        raise InputError(Problem("iteration", f"there are no votes of iteration {iteration}", f"use one of: {have}"))
    later = runs.votes.loc[last.gt(iteration).to_numpy(dtype=bool), FINDING].drop_duplicates().assign(later=True)
    known = runs.findings[FINDING].merge(later, on=FINDING, how="left")["later"].isna().to_numpy()
    findings = runs.findings.assign(n_rounds=runs.findings["n_rounds"].where(known))  # it is of the last one alone
    return replace(runs, votes=votes, findings=findings)
