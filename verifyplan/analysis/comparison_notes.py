"""Notes that a reader of a comparison needs: who is in it, what was guessed or lost, what else differs (rule F1)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from verifyplan.analysis.conditions import ALLOWED_ROUNDS, Condition, ReplayedSet
from verifyplan.analysis.explain import meaning_of
from verifyplan.analysis.failed_calls import failed_calls_of
from verifyplan.analysis.independence import notes_between_sets, notes_on_independence
from verifyplan.analysis.pairing import KEY, OF_CONDITION, rows_of
from verifyplan.analysis.treatments.idle_fields import idle_words
from verifyplan.frames.cut_notes import note_replayed_cut_rounds
from verifyplan.frames.cut_rounds import cut_findings
from verifyplan.frames.run_notes import note_added, note_mixed_modes, note_supplementary, note_unnamed_mode
from verifyplan.frames.runset import RunSet
from verifyplan.frames.vote_checks import FINDING
from verifyplan.frames.vote_losses import note_absent_votes, note_blind_classes
from verifyplan.protocol.vote import HELD, NO_LOOK_BEGINNINGS, NOTHING_LOOKED_AT
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.classification import RULES, Rule
from verifyplan.text import counted, filled_words, is_or_are, joined, listed, visible

_NUMBER = re.compile(r"(?<![\w.-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w-])")
"""A number in a note that is not a part of a name."""


def notes_on_findings(findings: pd.DataFrame, conditions: Sequence[Condition]) -> Iterator[str]:
    """Yield notes on how classes came about: censored findings, filled bases, losses, votes that no class reads."""
    later = {condition.name: list(_notes_on_later_votes(findings, condition)) for condition in conditions}
    yield from notes_on_classes(findings, [condition.name for condition in conditions], later)
    yield from _notes_on_no_finders(findings, conditions)


def notes_on_missing_bases(findings: pd.DataFrame, names: Sequence[str]) -> Iterator[str]:
    """Yield a note where no disagreement has a basis and all are read alike, so that the rules on bases say little."""
    under: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if words := _no_basis_words(rows_of(findings, name), f"_{name}"):
            under[words].append(name)
    for words, of in under.items():
        yield f"Under {' and '.join(of)}, {words}."
        for name in of:
            yield from _notes_on_ties(findings, name, names)


def _notes_on_ties(findings: pd.DataFrame, name: str, names: Sequence[str]) -> Iterator[str]:
    """Yield how many findings without a majority are held under the adversarial rules `name`, and not under others."""
    held = findings[f"rule_{name}"].eq("lone-doubt")
    for other in names:
        n_tied = int((held & findings[f"rule_{other}"].eq("no-majority")).sum())
        if not n_tied:
            continue
        n_changed = int(findings[f"classification_{name}"].ne(findings[f"classification_{other}"]).sum())
        yield (
            f"{n_tied:,} of {counted(len(findings), 'finding')} {is_or_are(n_tied)} tied: held under {name} "
            "(lone-doubt: the doubters, one or several, are no majority and cite no counter-evidence), contested under "
            f"{other} (no-majority), which is {n_tied:,} of the {n_changed:,} that change. If a tie should not hold, "
            "record a basis, or set `majority` below 1/2."
        )


def _no_basis_words(findings: pd.DataFrame, of: str = "") -> str:
    """Return words on disagreements without basis where that is all of them, and all are read alike; or blank."""
    filled, counter, all_of = (
        int(findings[f"{column}{of}"].sum()) for column in ("filled_bases", "filled_counter", "disagreements")
    )
    if not 0 < filled == all_of or counter not in (0, filled):
        return ""
    none = f"none of the disagreements ({all_of:,}) has a basis, and each is read as"
    if counter:
        return f"{none} counter-evidence: one is enough to keep a finding from consensus"
    return (
        f"{none} burden-not-met (not proven): adversarial rules then differ from collaborative ones only where neither "
        "side has a majority, or where somebody supplements and nobody disagrees"
    )


def notes_on_classes(
    findings: pd.DataFrame, names: Sequence[str], more: Mapping[str, Sequence[str]] | None = None
) -> Iterator[str]:
    """Yield notes on the classes under each condition, with `more` notes behind.

    What is the same under several conditions, or differs only in its numbers, is one note.
    """
    under: dict[str, dict[str, str]] = defaultdict(dict)
    for name in names:
        rows = rows_of(findings, name)
        classes = rows[[f"{column}_{name}" for column in OF_CONDITION]].set_axis(list(OF_CONDITION), axis=1)
        classes = classes.assign(finding_id=rows["finding_id"])
        for note in (*_notes_on_classes(classes), *(more or {}).get(name, ())):
            under[_NUMBER.sub("\0", note)][name] = note
    for of in under.values():
        all_of_many = len(of) == len(names) > 2
        yield f"Under {'every condition' if all_of_many else ' and '.join(of)}, {_with_numbers_of_all(of)}"


def _with_numbers_of_all(notes: Mapping[str, str]) -> str:
    """Return notes that differ only in their numbers as one.

    >>> _with_numbers_of_all({"a": "9 of 40 votes of F-1 were lost.", "b": "7 of 40 votes of F-1 were lost."})
    '9 (a) and 7 (b) of 40 votes of F-1 were lost.'
    >>> _with_numbers_of_all({"a": "of 1,040, the first is 3.5.", "b": "of 1,040, the first is 4.5."})
    'of 1,040, the first is 3.5 (a) and 4.5 (b).'
    """
    numbers = zip(*(_NUMBER.findall(note) for note in notes.values()), strict=True)
    words = iter(
        each[0] if len(set(each)) == 1 else joined(f"{n} ({name})" for n, name in zip(each, notes, strict=True))
        for each in numbers
    )
    return _NUMBER.sub(lambda _: next(words), next(iter(notes.values())))


def _notes_on_later_votes(findings: pd.DataFrame, condition: Condition) -> Iterator[str]:
    """Yield a note where findings have votes that count after the round that decided, as a class does not read them."""
    votes = condition.frames.votes
    if votes["round"].le(1).all():
        return
    counts = votes["verdict"].ne("verification-error") & ~votes["is_origin"].fillna(False).astype(bool)
    findings = rows_of(findings, condition.name)
    last = votes[counts.to_numpy(dtype=bool)].groupby(KEY, sort=False, observed=True)["round"].max()
    own_runs = findings.get(f"run_id_{condition.name}", findings["run_id"])
    keys = pd.MultiIndex.from_frame(findings[KEY].assign(run_id=own_runs))
    last_round = last.reindex(keys).fillna(0).to_numpy(dtype="int64")
    decided = findings[f"decided_round_{condition.name}"].to_numpy(dtype="int64")
    if later := int(((decided > 0) & (decided < last_round)).sum()):
        its, was, them = ("its", "was", "it") if later == 1 else ("their", "were", "them")
        yield (
            f"{later:,} of {counted(len(findings), 'finding')} {was} decided before the last round that has votes for "
            f"{them}; {its} later votes are not read (rule B6; see explain)."
        )


def _notes_on_no_finders(findings: pd.DataFrame, conditions: Sequence[Condition]) -> Iterator[str]:
    """Yield a note where findings without discoverers are worker-unique: what that means under each condition."""
    without = [condition for condition in conditions if not condition.replayed.has_discoverers]
    under: dict[str, list[str]] = defaultdict(list)
    for condition in without:
        rejected = findings[f"classification_{condition.name}"].eq("worker-unique")
        found = set(findings.loc[rejected, f"rule_{condition.name}"])
        meanings = [_meaning_of_rejection(rule, condition.rules) for rule in RULES if rule in found - {"no-votes"}]
        if meanings:
            nobody = ["no vote counts"] if "no-votes" in found else []
            under[", or that ".join([*meanings, *nobody])].append(condition.name)
    if not under:
        return
    where = "" if len(without) == len(conditions) else f" of {' and '.join(each.name for each in without)}"
    meant = [
        (f"under {' and '.join(names)} " if len(under) > 1 else "") + f"worker-unique means that {meaning}"
        for meaning, names in under.items()
    ]
    yield f"The findings{where} have no discoverers: {'; '.join(meant)}."


def _meaning_of_rejection(rule: Rule, rules: VotingRules) -> str:
    if rule == "all-others-disagree":
        return "everybody whose vote counts disagreed"
    return "somebody disagreed" if rule == "any-disagree" else meaning_of(rule, rules)


def _notes_on_classes(findings: pd.DataFrame) -> Iterator[str]:
    """Yield notes on the classes under one condition, without its name."""
    censored = int(findings["censored"].sum())
    if censored:
        held = findings.loc[findings["censored"], "classification"].isin(HELD).any()
        low, high = (findings[end].astype("object") for end in ("low", "high"))
        same = int((findings["censored"] & low.eq(high)).sum())
        sure = f"For {same:,} of these, no missing vote could change the class. " if same else ""
        yield (
            f"{censored:,} of {counted(len(findings), 'finding')} {is_or_are(censored)} censored: the run ended before "
            f"the votes that would decide {'it' if censored == 1 else 'them'}. {sure}Censored findings "
            f"{'keep the class that the votes so far give' if held else 'count as contested or worker-unique'}."
        )
    if single := int(findings["deciding_votes"].eq(1).sum()):
        yield f"{_classes_rest(single)} on a single vote."
    unjudged = int(findings["rule"].eq("no-votes").sum())
    if unjudged:
        has, count = ("has", "counts") if unjudged == 1 else ("have", "count")
        yield f"{counted(unjudged, 'finding')} {has} no vote that counts, and {count} as not held."
    if short := int(findings["rule"].eq("no-quorum").sum()):
        yield f"{_classes_rest(short)} on fewer votes than the quorum."
    filled = int(findings["filled_bases"].sum())
    if filled and not _no_basis_words(findings):
        yield f"{filled_words(filled, int(findings['filled_counter'].sum()), int(findings['disagreements'].sum()))}."
    votes, refutes = findings["lost_votes"], findings["lost_refutes"]
    if fewer := int(votes.gt(0).sum()):
        lost = (
            f"{counted(int(votes.sum()), 'vote')} in the deciding rounds {'was' if votes.sum() == 1 else 'were'} lost"
        )
        yield f"{_classes_rest(fewer)} on fewer votes than were asked for: {lost}."
    if refutes.any():
        first = findings.loc[refutes.gt(0), "finding_id"].iloc[0]
        yield (
            f"{counted(int(refutes.gt(0).sum()), 'finding')} lost counter-evidence: a worker cited it in an earlier "
            f"round, and that worker's vote in the deciding round failed. The first is {visible(first)}."
        )


def _classes_rest(n: int) -> str:
    return "the class of 1 finding rests" if n == 1 else f"the classes of {n:,} findings rest"


def notes_on_failed_calls(conditions: Sequence[Condition]) -> Iterator[str]:
    """Yield how many calls of each set failed and why, without a full stop; nothing for sets without such a call."""
    by_set = {id(condition.replayed): condition for condition in conditions}
    for condition in by_set.values():
        if failed := failed_calls_of(condition.frames):
            yield f"{condition.name}: {failed}" if len(by_set) > 1 else failed


def notes_on_cut_rounds(conditions: Sequence[Condition]) -> Iterator[str]:
    """Yield a note on each set with a round that a limit cut off: its run did not judge it, a replay does (rule B8)."""
    by_set = {id(condition.replayed): condition for condition in conditions}
    for condition in by_set.values():
        frames = condition.frames
        note = note_replayed_cut_rounds(frames.findings, cut_findings(frames.runs, frames.findings, frames.votes))
        if note:
            yield f"{condition.name}: {note}" if len(by_set) > 1 else note


def notes_on_differences(conditions: Sequence[Condition]) -> Iterator[str]:
    """Yield what else differs between the sets than their names say, or why rules cannot give other classes."""
    by_set = {id(condition.replayed): condition for condition in conditions}
    if len(by_set) == 1:
        yield from _notes_on_idle_fields(conditions)
        return
    yield from _notes_on_rules(conditions)
    yield from _notes_on_circumstances(conditions)
    yield from (f"{note}." for note in notes_between_sets([each.frames for each in by_set.values()]))


def notes_on_runs(conditions: Sequence[Condition]) -> Iterator[str]:
    """Yield notes on the votes of each set: lost ones, thin ones, copies, pooled modes, other recorded classes."""
    by_set = {id(condition.replayed): condition for condition in conditions}
    votes = pd.concat([condition.frames.votes["verdict"] for condition in by_set.values()])
    if errors := int((votes == "verification-error").sum()):
        yield (
            f"{errors:,} of {counted(len(votes), 'recorded vote')} {is_or_are(errors)} lost (verification-error): the "
            "call failed, or its answer could not be read. Lost votes are not counted."
        )
    for condition in by_set.values():
        where = f" of {condition.name}" if len(by_set) > 1 else ""
        yield from (f"{note}." for note in notes_on_independence(condition.frames, where))
        yield from _notes_on_set(condition.replayed, where)
        if condition.frames.findings["classification"].notna().any():
            yield from _notes_on_recorded_classes(condition, where)


def notes_on_unnamed_modes(conditions: Sequence[Condition]) -> Iterator[str]:
    """Yield one note where tables that name no mode are judged by the rules of their mode."""
    several = len({id(condition.replayed) for condition in conditions}) > 1
    of_run = {id(each.replayed): each for each in conditions if each.rules.mode is None}.values()
    unnamed = {each.name: each.frames.runs for each in of_run if note_unnamed_mode(each.frames.runs)}
    if unnamed:
        yield from filter(None, [note_unnamed_mode(pd.concat(unnamed.values()), list(unnamed) if several else [])])


def _note_on_added(runs: RunSet, where: str) -> str | None:
    """Say how many votes were added, and that somebody chose on which findings; None for none."""
    added = note_added(runs.runs, where)
    if added is None:
        return None
    return (
        f"{added} The findings that got them were chosen, mostly by their earlier votes, and are not a random sample: "
        "as long as a finding is censored, read the bounds, as values, intervals and p-values can mislead."
    )


def _notes_on_idle_fields(conditions: Sequence[Condition]) -> Iterator[str]:
    """Yield why rules that give every finding the class of the baseline cannot give another, where that is known."""
    first = conditions[0]
    classes = first.findings["classification"].cat.codes
    for condition in conditions[1:]:
        findings = condition.findings
        own = findings["classification"].cat.codes
        if findings.empty or (own.ne(classes) | own.lt(0)).any():
            continue
        unseen = bool(findings["censored"].any())
        if why := idle_words(condition.frames, condition.rules, first.rules, unseen=unseen):
            yield f"{condition.name} gives every finding the same class as {first.name}: {why}."


def _notes_on_rules(conditions: Sequence[Condition]) -> Iterator[str]:
    """Yield a note where sets are judged by the rules of different modes."""
    modes = {condition.name: condition.judged_mode for condition in conditions}
    if len(set(modes.values())) > 1:
        rules = {name: f"the {mode} rules" if mode else "those of each run" for name, mode in modes.items()}
        judged = "; ".join(f"{name} by {by}" for name, by in rules.items())
        yield (
            f"The votes are counted by different rules: {judged}. This alone may explain a part of the difference. "
            f"To count all by the same rules, give modes={['collaborative'] * len(conditions)}."
        )


def _notes_on_set(replayed: ReplayedSet, where: str) -> Iterator[str]:
    """Yield notes on one set of runs: votes without evidence, absent votes, mixed modes, repeated findings."""
    runs = replayed.frames
    is_cast = runs.votes["verdict"].ne("verification-error").to_numpy()
    begins_so = runs.votes["explanation"].str.startswith(NO_LOOK_BEGINNINGS).fillna(False).to_numpy(dtype=bool)
    n_cast, blind = int(is_cast.sum()), int((begins_so & is_cast).sum())
    if 2 * blind > n_cast:
        votes_say = f"{blind:,} of {counted(n_cast, 'vote')} say {NOTHING_LOOKED_AT!r}"
        yield f"Most votes{where} were cast without looking at any evidence: {votes_say}."
    thin = (
        note_blind_classes(runs.votes, where),
        note_absent_votes(runs.runs, runs.findings, runs.votes, where, replayed.numbers),
        note_supplementary(runs.runs, where),
        _note_on_added(runs, where),
        note_mixed_modes(runs.runs, where),
    )
    yield from (note for note in thin if note)
    claims = runs.findings[["finding_id", "summary"]]
    repeated = int(claims.duplicated().sum()) if runs.findings["summary"].notna().any() else 0
    if repeated:
        yield (
            f"{counted(repeated, 'finding')}{where} {'repeats' if repeated == 1 else 'repeat'} the id and claim of a "
            "finding in another run; each is counted, and the intervals treat those of one claim as one cluster."
        )


def _notes_on_recorded_classes(condition: Condition, where: str) -> Iterator[str]:
    """Yield a note where runs recorded other classes than their votes give under their own rules (rule B9).

    Findings whose last round a limit cut off are left out: they have a note of their own.
    """
    frames, replayed = condition.frames, condition.replayed.replay(VotingRules())
    unjudged = frames.findings.loc[cut_findings(frames.runs, frames.findings, frames.votes).notna(), FINDING]
    recorded, derived = replayed["recorded"].cat.codes, replayed["classification"].cat.codes
    other = recorded.ge(0) & recorded.ne(derived)
    other &= ~pd.MultiIndex.from_frame(replayed[FINDING]).isin(pd.MultiIndex.from_frame(unjudged))
    if other.any():
        row = replayed[other].iloc[0]
        yield (
            f"The votes of {counted(int(other.sum()), 'finding')}{where} give a class other than the recorded one. The "
            f"first is {row['finding_id']} of run {row['run_id']}: recorded as {row['recorded']}, but its votes give "
            f"{row['classification']}."
        )


def _notes_on_circumstances(conditions: Sequence[Condition]) -> Iterator[str]:
    """Yield a note for each circumstance in which sets differ beside the mode, with the values that not all share.

    A set that recorded nothing is passed over. Allowed rounds are none where every setting says its own.
    """
    all_rounds_set = all(condition.rules.max_rounds is not None for condition in conditions)
    for circumstance in conditions[0].replayed.circumstances:
        if circumstance == ALLOWED_ROUNDS and all_rounds_set:
            continue
        known = {c.name: values for c in conditions if (values := c.replayed.circumstances[circumstance])}
        if len(known) < 2:
            continue
        shared = set.intersection(*known.values())
        names_of: dict[frozenset[Any], list[str]] = defaultdict(list)
        for name, values in known.items():
            names_of[frozenset(values - shared)].append(name)
        own = [f"{listed(sorted(values))} in {' and '.join(names)}" for values, names in names_of.items() if values]
        if own:
            yield (
                f"The sets differ in their {circumstance}: {'; '.join(own)}. This alone may explain a difference "
                "between the conditions."
            )
