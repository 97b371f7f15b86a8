"""Check that votes and truth call one label by one word, and write the `labels=` that mends it (rule F3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.errors import Problem, TableError, one_of
from verifyplan.frames.codes import Coded, plain, renamed
from verifyplan.frames.panel_votes import CLAIM_LABELS, PanelVotes
from verifyplan.frames.ties import TIE, Ties, tied_sides, ties_problems
from verifyplan.text import counted

MAX_SHOWN_WORDS = 20
"""Of more words than this only the first are written in a fix."""

_BOOLEANS = {"true": "true", "false": "false"}
_SIDE = dict.fromkeys(("true", "yes", "1", "y", "t", "agree"), True)
_SIDE |= dict.fromkeys(("false", "no", "0", "n", "f", "disagree"), False)
"""Words that evidently mean the same."""


def with_booleans(column: Coded) -> Coded:
    """Return labels of which booleans are `true` and `false`, and these words in any case likewise.

    >>> with_booleans(Coded(np.array([0, 1]), ["True", "unsure"])).names
    ['true', 'unsure']
    """
    return renamed(column, _BOOLEANS)


def spelling_problems(
    names: Mapping[str, Coded], meanings: Mapping[Any, str] | None, columns: Mapping[str, Any]
) -> Iterator[Problem]:
    """Yield labels, of votes, truth and pushes together, and workers that differ only in case, with their rows."""
    groups = _spellings([names[key] for key in ("label", "truth", "toward") if key in names])
    if groups:
        usual = {word: group[0][0] for group in groups for word, _ in group[1:]}
        wanted = {word: usual.get(str(label).strip(), label) for word, label in (meanings or {}).items()}
        fix = (
            f"in from_table write labels={_as_dict(wanted | usual)}; labels that differ need words that differ in more"
        )
        yield Problem("votes: label", _in_words(groups), fix)
    groups = _spellings([names["worker"]])
    if groups:
        name, how = columns["worker"], ""
        if isinstance(name, str):
            how = f", as by table[{name!r}] = table[{name!r}].str.lower()"
        fix = f"write each worker in one spelling{how}; workers that differ need names that differ in more"
        yield Problem("votes: worker", _in_words(groups), fix)


Spellings = list[tuple[str, int]]
"""The spellings of one name and how many rows have each, the most frequent first."""


def _spellings(columns: Sequence[Coded]) -> list[Spellings]:
    """Return the names that occur in several spellings, in any of the columns."""
    by_word: defaultdict[str, set[str]] = defaultdict(set)
    for name in {name for column in columns for name in column.names}:
        by_word[plain(name)].add(name)
    several = sorted(sorted(names) for names in by_word.values() if len(names) > 1)[:MAX_SHOWN_WORDS]
    groups = [[(name, _n_rows(columns, name)) for name in names] for names in several]
    return [sorted(group, key=lambda spelling: -spelling[1]) for group in groups]


def _n_rows(columns: Sequence[Coded], name: str) -> int:
    has = [column.codes == column.names.index(name) for column in columns if name in column.names]
    return int(np.logical_or.reduce(has).sum())


def _in_words(groups: Sequence[Spellings]) -> str:
    shown = [" and ".join(f"{name!r} ({counted(n, 'row')})" for name, n in group) for group in groups[:5]]
    more = ", and others" if len(groups) > 5 else ""
    return f"differs only in its spelling: {', '.join(shown)}{more}"


def with_ties(votes: PanelVotes, ties: Ties | None) -> PanelVotes:
    """Return votes whose label `tie` is read as `ties` says; TableError where it says nothing, or nothing that fits.

    A label that truth has, too, is a label like any other, and so is one without truth and without `ties`.
    """
    code = next((place for place, label in enumerate(votes.labels) if plain(label) == TIE), None)
    if code is None or (votes.truth == code).any() or (ties is None and (votes.truth < 0).all()):
        return votes
    tied, others = votes.label == code, [label for label in votes.labels if plain(label) != TIE]
    claims = set(others) <= set(CLAIM_LABELS)
    problems = ties_problems(ties, int(tied.sum()))
    if not claims and (ties == "for" or (ties == "share" and len(others) != 2)):
        message = f"{ties!r} needs {'labels true and false' if ties == 'for' else 'two labels'}, got {one_of(others)}"
        problems = [Problem("votes: ties", message, "use 'lost', or 'against', by which a tie is never right")]
    if problems or ties is None:
        raise TableError(problems)
    if ties == "against" and not claims:
        return replace(votes, ties=(ties,))
    labels = CLAIM_LABELS if claims else tuple(others)
    places = np.array([labels.index(label) if label in labels else -1 for label in votes.labels])
    label, truth = (np.where(codes < 0, codes, places[codes]) for codes in (votes.label, votes.truth))
    toward = None if votes.toward is None else np.where(votes.toward < 0, votes.toward, places[votes.toward])
    keys = {"item": votes.units["item"].to_numpy()[votes.unit[tied]], "round": votes.round[tied]}
    keys["worker"] = np.array(votes.workers, dtype="object")[votes.worker[tied]]
    label[tied] = tied_sides(ties, pd.DataFrame(keys), (len(labels) - 1, 0, -1))
    return replace(votes, labels=labels, label=label, truth=truth, toward=toward, ties=(ties,))


def truth_word_problems(votes: PanelVotes, meanings: Mapping[Any, str] | None) -> Iterator[Problem]:
    """Yield a truth in other words than the votes: no vote has any of them, or no vote has one of yes and no.

    Of other classes one that nobody votes is one that nobody finds. A label that the caller names in `labels=` is
    meant as it is written.
    """
    used = [votes.labels[code] for code in np.unique(votes.label[votes.label >= 0])]
    true = [votes.labels[code] for code in np.unique(votes.truth[votes.truth >= 0])]
    meant = {plain(label) for label in (meanings or {}).values()}
    unvoted = [word for word in true if word not in used]
    untrue = [word for word in used if word not in true and plain(word) not in meant]
    if not used or not unvoted:
        return
    if len(unvoted) == len(true):
        message = f"holds {one_of(true[:5])}, and no vote has such a label: votes say {one_of(used[:5])}"
    elif len(true) == 2 and all(plain(word) in _SIDE for word in true) and untrue:
        message = f"holds {one_of(unvoted)}, which no vote says, and votes say {one_of(untrue)}, which no truth says"
    else:
        return
    yield Problem("votes: truth", message, _same_words(unvoted, untrue or used, meanings or {}))


def _same_words(unvoted: Sequence[str], untrue: Sequence[str], meanings: Mapping[Any, str]) -> str:
    """Return the fix: labels of votes in words of the truth where the pair is evident, the others to be chosen."""
    sides = {_SIDE[plain(word)]: word for word in reversed(unvoted) if plain(word) in _SIDE}
    pairs = {word: sides[_SIDE[plain(word)]] for word in untrue if _SIDE.get(plain(word)) in sides}
    wanted = {word: pairs.get(str(label).strip(), label) for word, label in meanings.items()} | pairs
    open_truths = [word for word in unvoted if word not in pairs.values()]
    open_words = [word for word in untrue if word not in pairs] if open_truths else []
    choice = " or ".join(map(repr, open_truths[:5]))
    labels = _as_dict(wanted, {word: f"<{choice} or {word!r}>" for word in open_words})
    chosen = ", with the label that each word means" if open_words else ""
    return f"make both the same words: in from_table write labels={labels}{chosen}"


def _as_dict(words: Mapping[Any, Any], choices: Mapping[str, str] | None = None) -> str:
    """Return words and their labels as they are written in Python, then those whose label the reader chooses."""
    pairs = [f"{word!r}: {label!r}" for word, label in words.items()]
    pairs += [f"{word!r}: {choice}" for word, choice in (choices or {}).items()]
    more = ", ..." if len(pairs) > MAX_SHOWN_WORDS else ""
    return f"{{{', '.join(pairs[:MAX_SHOWN_WORDS])}{more}}}"
