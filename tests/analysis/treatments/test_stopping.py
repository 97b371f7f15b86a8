"""What stopping saves: votes, calls and classes against a reading of the table that asks one worker after the other."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from verifyplan.analysis.metrics import IS_HELD, metrics_of_classes, truth_codes
from verifyplan.analysis.replay import replay
from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.analysis.treatments.stopping import ALL_VOTES, DEFAULT_STOPS, stopping
from verifyplan.errors import SettingsError
from verifyplan.frames.runset import RunSet
from verifyplan.frames.votes import from_votes
from verifyplan.protocol.voting_rules import MarginStop, SequentialStop, VotingRules

WORKERS = ["a", "b", "c", "d"]


def table(seed: int, rounds: int = 2) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    rows = [(f"r{i % 3}", f"F{i}", r, who) for i in range(24) for r in range(1, rounds + 1) for who in WORKERS]
    votes = pd.DataFrame(rows, columns=["run", "item", "round", "who"])
    says = random.choice(["agree", "supplement", "disagree", "verification-error"], len(votes), p=[0.5, 0.1, 0.3, 0.1])
    truth = votes["item"].str[1:].astype(int) % 2 == 0
    return votes.assign(says=says, truth=truth, basis=random.choice(["counter-evidence", "burden-not-met"], len(votes)))


def runs_of(votes: pd.DataFrame, mode: str = "adversarial") -> RunSet:
    names = {"item": "item", "worker": "who", "verdict": "says", "basis": "basis", "round": "round", "run": "run"}
    return from_votes(votes, **names, truth="truth", mode=mode)


def asked(votes: pd.DataFrame, rules: VotingRules, lead_for: int, lead_against: int, mode: str) -> pd.DataFrame:
    """Return the votes that the rules ask for, read one after the other; a replay says when a finding is settled."""
    decided = replay(runs_of(votes, mode), rules=rules).set_index("finding_id")
    settled = decided["decided_round"].where(decided["rule"].map(lambda rule: rule not in CARRIES), 99)
    rows = []
    for (item, number), own in votes.groupby(["item", "round"], sort=False):
        lead = 0
        if number > settled[item] or number > (rules.max_rounds or 99):
            continue
        for row in own.to_dict("records"):
            if lead >= lead_for or -lead >= lead_against:
                break
            rows.append(row)
            lead += {"agree": 1, "supplement": 1, "disagree": -1}.get(row["says"], 0)
    return pd.DataFrame(rows)


CARRIES = ("hard-refute", "burden-majority", "no-majority", "no-votes", "no-quorum", "no-unanimity")


@pytest.mark.parametrize("mode", ["collaborative", "adversarial"])
@pytest.mark.parametrize(
    ("stop", "leads"),
    [
        ({"margin": 1}, (1, 1)),
        (MarginStop(margin=2), (2, 2)),
        (SequentialStop(accuracy=0.8, false_accept=0.01), (4, 3)),
        ({"max_rounds": 1}, (99, 99)),
    ],
    ids=str,
)
def test_votes_calls_and_changes_are_those_of_asking_one_after_the_other(
    stop: Any, leads: tuple[int, int], mode: str
) -> None:
    votes = table(3)
    found = stopping(runs_of(votes, mode), {"it": stop})
    own = replay(runs_of(votes, mode))["classification"].cat.codes.to_numpy()
    rules = found.rules["it"]
    for name, of, (lead_for, lead_against) in ((ALL_VOTES, VotingRules(), (99, 99)), ("it", rules, leads)):
        used = asked(votes, of, lead_for, lead_against, mode)
        row = found.table.set_index("stop").loc[name]
        assert row["votes"] == len(used)
        assert row["calls"] == len(used[["run", "round", "who"]].drop_duplicates())
        classes = replay(runs_of(votes, mode), rules=of)["classification"].cat.codes.to_numpy()
        assert row["n_class_changed"] == int((classes != own).sum())
        assert row["n_held_changed"] == int((IS_HELD[classes] != IS_HELD[own]).sum())
    first, second = found.table.to_dict("records")
    assert second["saved"] == pytest.approx(1 - second["votes"] / first["votes"])
    assert second["calls_saved"] == pytest.approx(1 - second["calls"] / first["calls"])
    assert second["saved_low"] < second["saved"] < second["saved_high"]


def test_metrics_are_those_of_a_replay_with_their_difference() -> None:
    runs = runs_of(table(4))
    found = stopping(runs, {"margin 1": {"margin": 1}})
    metrics = found.metrics.set_index(["stop", "metric"])
    values = {}
    for name, rules in found.rules.items():
        replayed = replay(runs, rules=rules)
        truth, classes = truth_codes(replayed), replayed["classification"].cat.codes.to_numpy(dtype=np.int64)
        for metric, of in metrics_of_classes(classes, truth).items():
            values[name, metric] = of.part.sum() / of.whole.sum()
            assert metrics["value"][name, metric] == pytest.approx(values[name, metric])
            change = values[name, metric] - values[ALL_VOTES, metric]
            assert metrics["difference"][name, metric] == pytest.approx(change)
            assert metrics["n"][name, metric] == of.n


def test_stops_by_default_are_one_round_margins_and_tests_which_are_leads() -> None:
    found = stopping(runs_of(table(5)))
    assert found.table["stop"].tolist() == [ALL_VOTES, *DEFAULT_STOPS]
    leads = found.table.set_index("stop")["lead_for"].dropna()
    assert leads.to_dict() == {
        "margin 1": 1,
        "margin 2": 2,
        "margin 3": 3,
        "Wald's test, 60 % right": 8,
        "Wald's test, 70 % right": 4,
        "Wald's test, 80 % right": 3,
        "Wald's test, 90 % right": 2,
    }
    for name, declared in (("table", "stopping"), ("metrics", "stopping.metrics")):
        assert list(getattr(found, name).columns) == [column.name for column in RESULT_TABLES[declared]]


def test_it_says_what_is_saved_and_lost() -> None:
    votes = pd.DataFrame({"who": list("abcde"), "item": "F", "says": "agree", "run": "r", "round": 1})
    votes = pd.concat([votes, votes.assign(item="G", says=["agree", "disagree", *["agree"] * 3])])
    votes = votes.assign(truth=None, basis=None)
    found = stopping(
        runs_of(votes), {"margin 2": {"margin": 2}, "right 0.9": {"accuracy": 0.9}, "never": {"margin": 9}}
    )
    lines = str(found).splitlines()
    assert lines[0] == "2 findings of 1 run, 10 votes; saved and changed against these:"
    assert lines[1].startswith("margin 2 = right 0.9: 40.0 % [")
    assert (
        "of votes saved; 0 of 2 findings in another class, 0 change between held and not held; share held +0.0 "
        in lines[1]
    )
    assert lines[2:] == [
        "never: no vote saved",
        "note: A stop within a round asks one worker after the other: it needs fewer votes, but more time.",
    ]
    assert found._repr_html_().startswith("<p>2 findings of 1 run")


def test_rules_are_those_without_the_stop() -> None:
    found = stopping(runs_of(table(6)), {"margin 1": {"margin": 1}}, {"aggregate": "majority"})
    assert found.rules[ALL_VOTES] == VotingRules(aggregate="majority")
    assert found.rules["margin 1"] == VotingRules(aggregate="majority", stop={"margin": 1})


def test_runs_with_rules_of_their_own_are_judged_by_these() -> None:
    runs = runs_of(table(7))
    unanimous, margin = VotingRules(aggregate="unanimous"), {"margin 1": {"margin": 1}}
    same = replace(runs, runs=runs.runs.assign(rules=unanimous.to_json()))
    assert stopping(same, margin).rules["margin 1"] == VotingRules(aggregate="unanimous", stop={"margin": 1})
    one = replace(runs, runs=runs.runs.assign(rules=[unanimous.to_json(), "{}", "{}"]))
    assert (
        "1 run recorded voting rules: the row 'all votes' is judged by these, the stops by the neutral "
        "rules." in stopping(one, margin).notes
    )
    already = stopping(runs, margin, {"stop": {"margin": 2}})
    assert "The rules themselves stop within rounds: 'all votes' means the votes that they ask for." in already.notes


def test_runs_that_asked_in_another_order_stop_in_their_own() -> None:
    runs = runs_of(table(8))
    rosters = {"r0": "abcd", "r1": "bacd", "r2": "abcd"}
    called = [(run_id, 0, 1, worker, "completed") for run_id, roster in rosters.items() for worker in roster]
    columns = ["run_id", "iteration", "round", "worker", "status"]
    runs = replace(runs, dispatches=pd.DataFrame(called, columns=columns))
    margin = {"margin 1": {"margin": 1}}
    alone = [stopping(runs.select(run_id), margin).table for run_id in rosters]
    found = stopping(runs, margin).table
    for name in ("votes", "n_class_changed", "n_held_changed"):
        assert found[name].tolist() == sum(each[name] for each in alone).tolist()


def test_no_findings_are_said_to_be_none() -> None:
    found = stopping(RunSet(runs=runs_of(table(1)).runs))
    assert found.notes == ("There are no findings: nothing was judged.",)
    assert str(found).startswith("0 findings of 0 runs, 0 votes; saved")


def test_what_is_wrong_with_stops_is_said_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        stopping(runs_of(table(1)), {"a": {"margin": 0}, "b": {"accuracy": 0.4}, ALL_VOTES: {"margin": 1}})
    places = [problem.place for problem in caught.value.problems]
    assert places[:-1] == ["stops['a'].stop.margin", "stops['b'].stop.accuracy"]
    assert "must be an integer of at least 1, got 0" in str(caught.value)
    assert "got 0.4" in str(caught.value)
    assert "'all votes' names the rules without a stop" in str(caught.value)
    with pytest.raises(SettingsError, match="must be a mapping with at least one stop, got 3"):
        stopping(runs_of(table(1)), 3)
