from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from verifyplan.documents.dimensions.plan_graph import Conflict, Edge, Unmet, execution_order, plan_graph

NEEDS = st.integers(0, 12).flatmap(lambda n: st.lists(st.lists(st.integers(-1, n), max_size=4), min_size=n, max_size=n))


def reached(needs, start):
    """All that `start` needs, through others too."""
    seen, left = set(), [start]
    while left:
        for other in needs[left.pop()]:
            if 0 <= other < len(needs) and other not in seen:
                seen.add(other)
                left.append(other)
    return seen


@given(NEEDS)
def test_cycles_are_what_needs_itself_through_others(needs):
    cycles = execution_order(needs).cycles
    inside = {at for cycle in cycles for at in cycle}
    assert inside == {at for at in range(len(needs)) if at in reached(needs, at)}
    assert len(inside) == sum(map(len, cycles))
    for cycle in cycles:
        for at in cycle:
            assert set(cycle) <= reached(needs, at)


@given(NEEDS)
def test_a_wave_is_one_more_than_the_highest_that_is_needed(needs):
    waves, cycles = execution_order(needs)
    inside = {at for cycle in cycles for at in cycle}
    for at, wave in enumerate(waves):
        known = [waves[other] for other in needs[at] if 0 <= other < len(needs)]
        if at in inside or inside & reached(needs, at):
            assert wave is None
        else:
            assert wave == 1 + max(known, default=0)


def test_a_chain_of_twenty_thousand_takes_no_time_and_no_stack():
    started = time.process_time()
    ordered = execution_order([[], *([at] for at in range(20_000))])
    ring = execution_order([[(at + 1) % 20_000] for at in range(20_000)])
    assert time.process_time() - started < 5
    assert ordered.waves[-1] == 20_001
    assert len(ring.cycles[0]) == 20_000


PLAN = '---\nplan: "{}"\nwave: {}\ndepends_on: {}\nfiles_modified: {}\n---\n'
TEXT = st.text("0123456789-.abPLANmd/ \"'[]", max_size=12)


@given(st.lists(st.tuples(TEXT, st.integers(-3, 9), st.lists(TEXT, max_size=4)), max_size=6))
def test_any_ids_and_dependencies_give_a_graph(documents, rows):
    plans = documents(
        *(PLAN.format(name.replace('"', ""), wave, [str(n) for n in needs], ["a.py"]) for name, wave, needs in rows)
    )
    graph = plan_graph(plans)
    assert len(graph.nodes) == len(rows)
    assert all(node.wave >= 1 for node in graph.nodes)
    stated = sum(len(set(plan.depends_on)) for plan in plans)
    assert len(graph.edges) <= stated
    assert len(graph.unmet) <= sum(len(plan.depends_on) for plan in plans)
    assert str(graph) or not rows


def test_a_graph_says_what_waits_for_what(documents):
    plans = documents(
        PLAN.format("02-01", 1, "[]", '["a.py"]'),
        PLAN.format("2", 1, '["1"]', '["a.py", "b.py"]'),
        PLAN.format("02-03", 1, '["02-09", "03-01"]', '["b.py"]'),
    )
    graph = plan_graph(plans)
    assert graph.edges == (Edge(0, 1),)
    assert [node.derived for node in graph.nodes] == [1, 2, 1]
    assert graph.conflicts == (Conflict("b.py", (1, 2)),)  # the plans that share a.py wait for each other
    assert graph.unmet == (Unmet(2, 0, "02-09"), Unmet(2, 1, "03-01"))
    assert str(graph) == "02-auth, wave 1: 02-01, 2, 02-03"
