"""Plan runs under drawn rules: verdicts, missing calls, and what turned a verdict are those of a reading by hand."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.longer import examples
from tests.runs.plan.naive_plans import Iteration, Reading, Story
from tests.runs.plan.planning import told
from verifyplan.protocol.plan_rules import PlanRules
from verifyplan.reports.plan_grounds import challenge_groups
from verifyplan.runs.compare_rules import compare_rules

SEVERITY = st.sampled_from(["BLOCKING", "SIGNIFICANT", "SIGNIFICANT", "MINOR"])
RAISED = st.tuples(SEVERITY, st.sampled_from([True, True, False]), st.sampled_from(["HIGH", "MED", "LOW"]))


def some(most: int) -> Any:
    """Challenges of an agent; None, rarely, for one that fails."""
    spoken = st.lists(RAISED, max_size=most).map(tuple)
    return st.integers(0, 11).flatmap(lambda drawn: st.none() if drawn == 0 else spoken)


CHANGE = st.tuples(
    st.integers(1, 9), st.sampled_from(["RESOLVED", "UNRESOLVED", "DEFERRED", "WITHDRAWN"]), st.booleans()
)
CHANGES = st.lists(CHANGE, max_size=9).map(tuple)
ITERATION = st.builds(
    Iteration,
    challenger=some(6),
    expert=some(3),
    advocate=some(3),
    changes=st.integers(0, 11).flatmap(lambda drawn: st.none() if drawn == 0 else CHANGES),
    promotions=st.lists(st.integers(1, 9), max_size=2).map(tuple),
)
STORY = st.builds(
    Story,
    iterations=st.lists(ITERATION, min_size=3, max_size=3).map(tuple),
    held=st.none() | st.frozensets(st.integers(1, 9), max_size=9),
)
SMALL = st.integers(0, 4)
FIELDS: dict[str, Any] = {
    "policy": st.just("deliberate"),
    "max_iterations": st.integers(1, 4),
    "first_challenger_cap": SMALL,
    "later_challenger_cap": SMALL,
    "expert_cap": SMALL,
    "advocate_cap": SMALL,
    "max_active": st.integers(0, 9),
    "admission": st.just("arrival"),
    "displacement": st.just(False),
    "advocate_bars": st.sampled_from([[], ["MINOR"], ["LOW"]]),
    "consensus_forbids": st.sampled_from([[], ["withdrawal"], ["uncited-blocking"], ["uncited"], ["settlement"]]),
    "uncited_settlement": st.just("refuse"),
    "revise_from": st.integers(1, 4),
    "strong_from": st.integers(1, 6),
    "needs_alternatives": st.just(False),
    "degradation": st.sampled_from(["flag", "off"]),
    "tight_challenger_cap": SMALL,
    "promote_blocking": st.just(False),
    "overflow_continues": st.just(False),
    "overflow_verdict": st.sampled_from(["PROCEED", "RETHINK"]),
    "later_research": st.sampled_from(["always", "never"]),
    "later_consults": st.sampled_from(["always", "never"]),
    "exit_failures": st.integers(1, 5),
    "synthesizer_failure": st.just("carry"),
    "unchallenged": st.just("as-counted"),
}
CHANGED = st.lists(st.sampled_from(sorted(FIELDS)), max_size=6, unique=True).flatmap(
    lambda names: st.fixed_dictionaries({name: FIELDS[name] for name in names})
)
RULES = CHANGED.map(lambda fields: PlanRules(**fields))


@settings(max_examples=examples(100, 8))
@given(STORY, RULES, st.lists(RULES, min_size=1, max_size=3))
def test_runs_under_any_rules_end_as_read_by_hand(story, own, others):
    run = story.run(rules=own)
    recorded = {event.call_id: event.items for event in told(run, "call-requested")}
    named = {"own": None, **{f"rules {number}": rules for number, rules in enumerate(others)}}
    found = compare_rules(run, named)

    def ending(rules: PlanRules) -> tuple[str, str]:
        return Reading(story, rules, recorded).ending()

    baseline = ending(own)
    for row, rules in zip(found.table.to_dict("records"), [own, *others], strict=True):
        reading = Reading(story, rules, recorded)
        how, what = reading.ending()
        if how == "censored":
            assert row["censored"] == what
        else:
            assert (row["ended_by"], row["verdict"] if isinstance(row["verdict"], str) else "no verdict") == (how, what)
        assert row["calls"] == reading.calls
        turned = "censored" not in (how, baseline[0]) and what != baseline[1]
        assert (row["changed"] is True) == turned
        if turned:
            differ = [line.partition(":")[0] for line in own.diff(rules).splitlines()]
            alone = {n: ending(own.model_copy(update={n: getattr(rules, n)})) for n in differ}
            gives = [n for n in differ if alone[n][0] != "censored" and alone[n][1] == what]
            turns = found.turns[found.turns["rules"] == row["rules"]]
            unknown = [n for n in differ if alone[n][0] == "censored"]
            if gives:
                assert turns["field"].tolist() == gives
                assert set(turns["how"]) == {"alone"}
            else:
                assert turns["field"].tolist() == [", ".join(unknown or differ)]
                assert turns["how"].tolist() == ["not known" if unknown else "only together"]


@settings(max_examples=examples(100, 8))
@given(STORY, RULES)
def test_what_a_verdict_rests_on_is_as_read_by_hand(story, own):
    run = story.run(rules=own)
    recorded = {event.call_id: event.items for event in told(run, "call-requested")}
    reading = Reading(story, own, recorded)
    reading.ending()
    [row] = run.frames.runs.to_dict("records")
    cited, uncited = (reading.settled(cites=cites) for cites in (True, False))
    assert (row["n_settled_cited"], row["n_settled_uncited"]) == (cited, uncited)
    groups = challenge_groups(run.state)
    assert (len(groups.cited), len(groups.uncited)) == (cited, uncited)
    assert (len(groups.overflow), len(run.state.raised)) == (len(reading.waiting), len(reading.known))
