"""Tables of votes for tests: a hypothesis strategy, and a plain reading of rule B7 to compare with."""

from __future__ import annotations

import pandas as pd
from hypothesis import strategies as st

from verifyplan.protocol.vote import BASES, VERDICTS
from verifyplan.rules.citations import cites_location
from verifyplan.rules.classification import at_end, decide, tally

COLUMNS = ["run_id", "finding_id", "round", "worker", "verdict", "disagree_basis", "explanation", "is_origin"]
TEXTS = ["no check", "see a.py:3", "line 9", "", None]

vote = st.tuples(st.sampled_from(VERDICTS), st.sampled_from([*BASES, None]), st.sampled_from(TEXTS), st.booleans())
one_round = st.dictionaries(st.sampled_from("abcde"), vote, min_size=1, max_size=5)
finding = st.lists(one_round, min_size=1, max_size=4)
tables = st.dictionaries(st.tuples(st.sampled_from("rs"), st.sampled_from("FGH")), finding, min_size=1, max_size=6)
joined_tables = st.lists(tables, min_size=1, max_size=4).map(
    lambda several: {(f"{run}{n}", key): cast for n, each in enumerate(several) for (run, key), cast in each.items()}
)
"""Several such tables as one, each with runs of its own: one analysis tries as many cases as one of each would."""


def frame(findings) -> pd.DataFrame:
    """The votes as one long table, rounds from 1."""
    rows = [
        [*key, number, worker, verdict, basis if verdict == "disagree" else None, text, origin]
        for key, rounds in findings.items()
        for number, cast in enumerate(rounds, start=1)
        for worker, (verdict, basis, text, origin) in cast.items()
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def by_hand(rounds, mode, max_rounds, missing_basis):
    """rule B7 finding by finding, round by round: (class, round, rule, censored, filled)."""
    filled, last_rule = 0, None
    executed = rounds[:max_rounds]
    for number, cast in enumerate(executed, start=1):
        counted = []
        for verdict, basis, text, origin in cast.values():
            if origin:
                continue
            if verdict == "disagree" and basis is None and mode == "adversarial":
                filled += 1
                read = "counter-evidence" if cites_location(text) else "burden-not-met"
                basis = read if missing_basis == "infer" else missing_basis
            counted.append((verdict, basis if verdict == "disagree" else None))
        classification, rule = decide(tally(counted), mode)
        if classification is not None:
            return classification, number, rule, False, filled
        last_rule = last_rule if rule == "no-votes" else rule
    return *_end(last_rule, len(executed)), len(rounds) < max_rounds, filled


def _end(last_rule, number):
    classification, rule = at_end(last_rule)
    return classification, number, rule
