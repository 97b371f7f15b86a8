"""Say which fields of voting rules cannot matter for some votes, and why (rule R2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from verifyplan.frames.runset import RunSet
from verifyplan.frames.vote_checks import cite_places
from verifyplan.protocol.event_cross import PLAN_BODY
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.text import listed


@dataclass(frozen=True)
class VoteFacts:
    """Facts about recorded votes on which it depends whether a field can matter; counts leave out own votes."""

    n_votes: int
    n_lost: int
    n_supplements: int
    n_counter: int
    """Counter-evidences."""
    n_uncited: int
    """Of these, those whose explanation cites no place."""
    n_bare: int
    """Disagrees without a basis."""
    n_bare_cited: int
    """Of these, those whose explanation cites a place."""
    workers: tuple[str, ...]
    """Whoever voted, discoverers included, in order of appearance."""
    rounds: int
    """The highest number of rounds that a run allowed or had."""
    modes: frozenset[str]
    """The modes of the runs; an unknown one counts as collaborative."""


def vote_facts(runs: RunSet) -> VoteFacts:
    """Return the facts about the votes of some runs; votes on the items of a plan body are left out."""
    votes = _judged_votes(runs)
    own = votes["is_origin"].fillna(False).to_numpy(dtype=bool)
    cast = votes[~own]
    disagrees = cast["verdict"].eq("disagree").to_numpy(dtype=bool)
    counter = disagrees & cast["disagree_basis"].eq("counter-evidence").fillna(False).to_numpy(dtype=bool)
    rounds = [runs.runs["effective_max_rounds"].max(), votes["round"].max()]
    modes = runs.runs["mode"].astype("object").fillna("collaborative").unique()
    bare = disagrees & cast["disagree_basis"].isna().to_numpy()
    return VoteFacts(
        n_votes=len(cast),
        n_lost=int(cast["verdict"].eq("verification-error").sum()),
        n_supplements=int(cast["verdict"].eq("supplement").sum()),
        n_counter=int(counter.sum()),
        n_uncited=int(np.sum(~cite_places(cast.loc[counter, "explanation"]))),
        n_bare=int(bare.sum()),
        n_bare_cited=int(np.sum(cite_places(cast.loc[bare, "explanation"]))),
        workers=tuple(map(str, votes["worker"].drop_duplicates())),
        rounds=max([1, *(int(n) for n in rounds if pd.notna(n))]),
        modes=frozenset(map(str, modes)),
    )


def _judged_votes(runs: RunSet) -> pd.DataFrame:
    plan_items = runs.findings["category"].eq(PLAN_BODY).fillna(False).astype(bool)
    if not plan_items.any():
        return runs.votes
    key = ["run_id", "finding_id"]
    left_out = pd.MultiIndex.from_frame(runs.findings.loc[plan_items, key])
    return runs.votes[~pd.MultiIndex.from_frame(runs.votes[key]).isin(left_out)]


def reasons(facts: VoteFacts, rules: VotingRules, *, unseen: bool) -> dict[str, str]:
    """Return why fields cannot matter under rules whose other fields stay, by field; those that can are not in it.

    `unseen` says whether the rules ask for votes that were never cast: these can be of any kind, or fail.
    """
    if not facts.n_votes:
        return dict.fromkeys(VotingRules.model_fields, "no vote was recorded")
    found = {
        **_basis_reasons(facts, rules),
        "caveats": _caveats(facts, rules, unseen),
        "lost_votes": "" if facts.n_lost or unseen or rules.stop != "round" else "no vote failed",
        "refutes": _refutes(facts, rules, unseen),
        "pruning": _one_round(facts, rules),
        "mode": _mode(facts, rules),
        "majority": "" if rules.aggregate not in ("unanimous", "any-refute") else "these rules need no majority",
        "order": "all workers of a round are asked at once" if rules.stop == "round" else "",
        **_worker_reasons(facts),
    }
    return {name: why for name, why in found.items() if why}


def _by_mode(rules: VotingRules) -> bool:
    return rules.aggregate in ("rules", "first-round")


def _reads_adversarially(facts: VoteFacts, rules: VotingRules) -> bool:
    return "adversarial" in ({rules.mode} if rules.mode else facts.modes)


def _estimated(rules: VotingRules) -> bool:
    """Return whether a model of all votes decides, so that any difference between votes can matter."""
    return rules.aggregate == "dawid-skene"


def _several_rounds(facts: VoteFacts, rules: VotingRules) -> bool:
    return (rules.max_rounds or facts.rounds) > 1


def _basis_reasons(facts: VoteFacts, rules: VotingRules) -> dict[str, str]:
    sticky = rules.refutes == "sticky" and _several_rounds(facts, rules)
    read = _reads_adversarially(facts, rules) and (_by_mode(rules) or sticky or _estimated(rules))
    unread = "" if read else "these rules do not read a basis"
    uncited = facts.n_uncited or (facts.n_bare and rules.missing_basis == "counter-evidence")
    cited = "every counter-evidence cites a place" if facts.n_counter else "no vote gives counter-evidence"
    return {
        "missing_basis": unread if facts.n_bare else "no vote lacks a basis",
        "uncited": unread if uncited else cited,
    }


def _caveats(facts: VoteFacts, rules: VotingRules, unseen: bool) -> str:
    if not (facts.n_supplements or unseen):
        return "no vote is a supplement"
    told_apart = (_by_mode(rules) and _reads_adversarially(facts, rules)) or _estimated(rules)
    return "" if told_apart else "these rules count a supplement as an agree anyway"


def _refutes(facts: VoteFacts, rules: VotingRules, unseen: bool) -> str:
    lost = facts.n_lost and rules.lost_votes == "as-disagree"
    by_basis = {"infer": facts.n_bare_cited, "counter-evidence": facts.n_bare}
    if not (facts.n_counter or by_basis.get(rules.missing_basis, 0) or lost or unseen):
        return "no vote gives counter-evidence"
    if not _reads_adversarially(facts, rules):
        return "collaborative mode does not use counter-evidence"
    return _one_round(facts, rules) if rules.aggregate != "dawid-skene" else ""


def _one_round(facts: VoteFacts, rules: VotingRules) -> str:
    if not _several_rounds(facts, rules):
        return "only one round is allowed"
    return "the first round with a vote decides" if rules.aggregate == "first-round" else ""


def _mode(facts: VoteFacts, rules: VotingRules) -> str:
    sticky = rules.refutes == "sticky" and _several_rounds(facts, rules)
    return "" if _by_mode(rules) or _estimated(rules) or sticky else "the aggregate decides, whatever the mode"


def _worker_reasons(facts: VoteFacts) -> dict[str, str]:
    if len(facts.workers) < 2:
        return dict.fromkeys(("workers", "stop", "order"), "only one worker voted")
    return {}


def idle_words(runs: RunSet, rules: VotingRules, base: VotingRules, *, unseen: bool) -> str:
    """Return why fields in which rules differ from others have no effect on the votes; nothing where all can have one.

    >>> from verifyplan.frames.votes import from_votes
    >>> votes = pd.DataFrame({"item": "F", "who": ["a", "b"], "says": "agree", "round": 1})
    >>> runs = from_votes(votes, item="item", worker="who", verdict="says", max_rounds=2)
    >>> idle_words(runs, VotingRules(refutes="sticky"), VotingRules(), unseen=False)
    'no vote gives counter-evidence, so refutes has no effect'
    """
    differ = [name for name in VotingRules.model_fields if getattr(rules, name) != getattr(base, name)]
    found = reasons(vote_facts(runs), rules, unseen=unseen) if differ else {}
    by_reason: dict[str, list[str]] = {}
    for name in differ:
        if name in found:
            by_reason.setdefault(found[name], []).append(name)
    effects = [f"so {listed(names)} {'has' if len(names) == 1 else 'have'} no effect" for names in by_reason.values()]
    return "; ".join(f"{why}, {effect}" for why, effect in zip(by_reason, effects, strict=True))
