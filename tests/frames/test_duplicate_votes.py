"""A worker that labels an item twice in one round: refused, or one or each of its votes counts."""

from __future__ import annotations

import pandas as pd
import pytest

import verifyplan as vp

TABLE = pd.DataFrame(
    {
        "item": ["p", "p", "p", "q", "q"],
        "worker": ["a", "a", "b", "a", "b"],
        "label": ["cat", "dog", "dog", "cat", "cat"],
        "round": [1, 1, 1, 1, 2],
    }
)
COLUMNS = {"item": "item", "worker": "worker", "label": "label"}


def labels(votes) -> list[str]:
    return [votes.labels[code] for code in votes.label]


@pytest.mark.parametrize(("policy", "left"), [("first", "cat"), ("last", "dog")])
def test_one_vote_is_kept_in_the_order_of_rows(policy, left):
    votes = vp.from_table(TABLE, **COLUMNS, duplicates=policy)
    assert sorted(labels(votes)) == sorted([left, "dog", "cat", "cat"])
    assert votes.matrix().shape == (2, 2)


def test_all_votes_are_kept_and_a_matrix_of_them_is_refused():
    votes = vp.from_table(TABLE, **COLUMNS, duplicates="all")
    assert labels(votes) == list(TABLE["label"])
    assert labels(votes.at("first")) == list(TABLE["label"])
    with pytest.raises(vp.errors.TableError) as error:
        votes.at("first").matrix()
    assert str(error.value) == (
        "votes: a worker has several votes on an item. Fix: take those of one round, as by .at('first'), or read the "
        "table with duplicates='first'."
    )


def test_votes_of_several_rounds_are_no_duplicates():
    votes = vp.from_table(TABLE.drop(index=1).replace({"round": {2: 3}}), **COLUMNS, round="round")
    assert labels(votes.at("last")) == ["cat", "dog", "cat", "cat"]
    again = pd.concat([TABLE.drop(index=1), TABLE.drop(index=1).assign(round=5, label="dog")])
    votes = vp.from_table(again, **COLUMNS, round="round")
    assert labels(votes.at("last")) == ["dog"] * 4
    assert labels(votes.at("first")) == ["cat", "dog", "cat", "cat"]
    assert labels(votes.at(5)) == ["dog"] * 4


def test_a_second_vote_is_refused_and_the_message_names_the_policy():
    with pytest.raises(vp.errors.TableError) as error:
        vp.from_table(TABLE, **COLUMNS)
    assert str(error.value) == (
        "votes: worker: 'a' labels item 'p' a second time (1 such row). Fix: name the column of the round or run, as "
        "round='round' or run='run'; if the table holds several conditions (modes, prompts), make votes of each: "
        "{name: from_table(rows, ...) for name, rows in table.groupby('condition')}; only if a vote really is there "
        "twice, keep one: duplicates='first'."
    )


def test_an_unknown_policy_is_refused():
    with pytest.raises(vp.errors.SettingsError) as error:
        vp.from_table(TABLE, **COLUMNS, duplicates="mean")
    assert str(error.value) == ("duplicates: 'mean' is not a policy. Fix: use 'refuse', 'first', 'last', 'all'.")
