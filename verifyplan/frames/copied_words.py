"""Find calls whose votes are explained in the words of another call (rule G5)."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.frames.codes import row_numbers, shared_numbers

MIN_COPIED_WORDS = 12
"""An explanation of so many words or more counts as copied where another call has it to the letter. Shorter ones are
often alike by themselves; text in quotes or backticks, which several may cite, does not count."""

MIN_COPIED_ANSWER_WORDS = 24
"""A whole answer counts as copied where all its votes are those of another, and its explanations have so many words."""

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|«[^»]*»")
_WITHOUT_SPACES = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class CastVotes(NamedTuple):
    """Explained votes as numbers: equal numbers are equal calls, findings, verdicts, texts."""

    call: Ints
    finding: Ints
    round: Ints
    verdict: Ints
    text: Ints
    words: Ints
    """How many words outside quotes a text has, by its number; 0 where it is of one call alone."""

    @classmethod
    def of_table(cls, votes: pd.DataFrame, call: Ints, finding: Ints, round_number: Ints) -> CastVotes:
        """Return the votes of a table, with the numbers of their calls, findings and rounds."""
        (text,) = shared_numbers(votes["explanation"].str.strip())
        of_several = np.flatnonzero(is_shared(text, call))
        number, first = np.unique(text[of_several], return_index=True)
        words = np.zeros(int(text.max(initial=-1)) + 1, dtype=np.int64)
        words[number] = _own_words(votes["explanation"].take(of_several[first]))
        verdict = np.asarray(pd.factorize(votes["verdict"])[0], dtype=np.int64)
        return cls(call, finding, round_number, verdict, text, words)

    def of(self, rows: Bools) -> CastVotes:
        """Return some of the votes."""
        return self._replace(**{name: getattr(self, name)[rows] for name in self._fields if name != "words"})


def is_shared(group: Ints, member: Ints) -> Bools:
    """Return which rows are of a group that has several members."""
    lowest = np.full(int(group.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    highest = np.full(len(lowest), -1)
    np.minimum.at(lowest, group, member)
    np.maximum.at(highest, group, member)
    return np.asarray((lowest < highest)[group])


def copied(cast: CastVotes, context: Ints) -> Ints:
    """Return the calls whose explanations are, word for word, those of another call in the same context.

    A call is copied where one explanation of 12 words or more is that of another call on the same finding, or where
    all its votes are those of another call, and their different explanations have 24 words or more together.
    """
    entry = row_numbers(context, cast.finding, cast.text)
    shared = is_shared(entry, cast.call)
    if not shared.any():
        return np.zeros(0, dtype=np.int64)
    words = np.where(shared, cast.words[cast.text], 0)
    whole = _whole_answers(cast.call, row_numbers(entry, cast.verdict), cast.text, words)
    return np.unique(np.append(cast.call[shared & (words >= MIN_COPIED_WORDS)], whole))


def _own_words(explanations: pd.Series[str]) -> Ints:
    """Return the words outside quotes of each explanation; of scripts without spaces two letters are one."""
    different = explanations.str.replace(_QUOTED, " ", regex=True)
    spaced = different.str.replace(_WITHOUT_SPACES, " ", regex=True).str.count(r"\S+")
    return np.asarray(spaced + different.str.count(_WITHOUT_SPACES.pattern) // 2, dtype=np.int64)


def _whole_answers(call: Ints, vote: Ints, text: Ints, words: Ints) -> Ints:
    """Return the calls that have just the votes of another call, with enough words in different explanations."""
    names, answer = np.unique(call, return_inverse=True)
    digest = np.zeros(len(names), dtype=np.uint64)
    np.add.at(digest, answer, pd.util.hash_array(vote))
    _, group, size = np.unique(digest, return_inverse=True, return_counts=True)
    first = np.unique(row_numbers(answer, text), return_index=True)[1]
    total = np.bincount(answer[first], weights=words[first], minlength=len(names))
    return np.asarray(names[(size[group] > 1) & (total >= MIN_COPIED_ANSWER_WORDS)])
