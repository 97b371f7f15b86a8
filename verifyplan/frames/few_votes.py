"""Say which classes rest on too few of the votes that were asked for (rule B8)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from verifyplan.frames.vote_losses import Bools, quorum_of
from verifyplan.protocol.vote import CLASSIFICATIONS
from verifyplan.text import counted, listed


def notes_on_few_votes(runs: pd.DataFrame, findings: pd.DataFrame) -> Iterator[str]:
    """Yield how many classes rest on too few valid votes, and which: one note for those below a quorum, one for others.

    Too few are fewer than the quorum of the run's rules and, where these name none, half or fewer of the votes that the
    last round asked for. Findings without a class, as those of an import, and those that needed no vote are left out.

    >>> runs = pd.DataFrame({"run_id": ["r"], "rules": [None]})
    >>> findings = pd.DataFrame({"run_id": "r", "finding_id": ["F-1", "F-2"], "classification": "full-consensus",
    ...     "votes_asked": 3, "votes_valid": [1, 2], "below_quorum": [False, False]})
    >>> list(notes_on_few_votes(runs, findings))
    ['The class of 1 finding rests on half or fewer of the votes asked for (1 of 3): F-1.']
    """
    below = findings["below_quorum"].fillna(False).to_numpy(dtype=bool)
    yield from _note(findings[below], "fewer valid votes than the quorum", " votes asked for")
    few = _half_or_fewer(findings) & ~below & ~_have_quorum(runs, findings)
    yield from _note(findings[few], "half or fewer of the votes asked for", "")


def _half_or_fewer(findings: pd.DataFrame) -> Bools:
    """Return whether half or fewer of the votes of each finding's last round are valid, and it has a class."""
    asked, valid = (findings[name].fillna(0).to_numpy(dtype=np.int64) for name in ("votes_asked", "votes_valid"))
    has_class = findings["classification"].notna().to_numpy(dtype=bool)
    return np.asarray((asked > 0) & (2 * valid <= asked) & has_class)


def _have_quorum(runs: pd.DataFrame, findings: pd.DataFrame) -> Bools:
    """Return whether the rules of each finding's run name a quorum."""
    texts = [text for text in runs["rules"].dropna().unique() if quorum_of(text)]
    return findings["run_id"].isin(runs.loc[runs["rules"].isin(texts), "run_id"]).to_numpy(dtype=bool)


def _note(few: pd.DataFrame, than: str, noun: str) -> Iterator[str]:
    if few.empty:
        return
    classes, rest = ("class", "rests") if len(few) == 1 else ("classes", "rest")
    votes = f"{int(few['votes_valid'].sum()):,} of {int(few['votes_asked'].sum()):,}{noun}"
    those = f"{counted(len(few), 'finding')}"
    yield f"The {classes} of {those} {rest} on {than} ({votes}): {listed(few['finding_id'])}."


def votes_behind(findings: pd.DataFrame) -> dict[str, str]:
    """Return, for each class, how many of its findings rest on no valid vote, or a consensus on one of several.

    Blank classes are left out, and findings that needed no vote. No vote is no rejection: the class follows from the
    rules alone.

    >>> findings = pd.DataFrame({"classification": ["worker-unique", "full-consensus", "full-consensus"],
    ...     "votes_asked": [2, 2, 2], "votes_valid": [0, 1, 2]})
    >>> votes_behind(findings)
    {'worker-unique': '1 without a vote', 'full-consensus': '1 on one vote'}
    """
    asked, valid = (findings[name].fillna(0).to_numpy(dtype=np.int64) for name in ("votes_asked", "votes_valid"))
    classes = findings["classification"].astype("object")
    none = classes[(asked > 0) & (valid == 0)].value_counts()
    held = classes.isin(CLASSIFICATIONS[:2]).to_numpy(dtype=bool)
    one = classes[(asked > 1) & (valid == 1) & held].value_counts()
    words: dict[str, list[str]] = {}
    for name, n in none.items():
        words.setdefault(str(name), []).append(f"{n:,} without a vote")
    for name, n in one.items():
        words.setdefault(str(name), []).append(f"{n:,} on one vote")
    return {name: ", ".join(parts) for name, parts in words.items()}
