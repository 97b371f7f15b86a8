"""Whatever the plan: every cited place can be opened, what is quoted stands there, and the same again is the same."""

import asyncio
import json
import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from verifyplan.agents.static.checkers import is_line
from verifyplan.agents.static.roles.issues import CLAIMS, assertion, claim, read_assertion, read_cited
from verifyplan.plans import parse_plan

WORDS = [
    "Change", "Delete", "Create", "Run", "Call", "`shop/stock.py`", "`shop/orders.py`", "`find_order`",
    "`find_user()`", "`make e2e`", "`tenacity`", "on production", "not", "new", "with", "in", "of",
    "`DELETE FROM orders`", "`a`b`", "`GET /x`", "30 s", "batches of 5 rows", "stays as it is", ".", ":", ",",
    "`scripts/release.sh go`", "the fixture `x_y`", "NOT NULL", "`TIMEOUT` is 3", "unclear", "curl --x",
    "there is no", "\u202e", "<b>", "\t", "\xe9",
]  # fmt: skip
LINES = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
STARTS = st.sampled_from(
    ["1. ", "- [ ] ", "## ", "| ", "> ", "", "   ", "```\n", "```sql\n", "**Facts.** ", "<task>", "-- migrate:down "]
)
PLANS = st.lists(st.tuples(STARTS, LINES).map("".join), max_size=14).map("\n".join)


def places_stand(evidence, text, root):
    for place in read_cited(evidence):
        if place.path == "plan.md":
            lines = parse_plan(text, "plan.md").lines
        else:
            lines = (root / place.path).read_text().split("\n")
        assert 1 <= place.first <= len(lines), place
        for offset, quote in enumerate(place.quotes):
            after = [line for line in lines[place.first - 1 : place.first + 8] if line.strip()]
            assert any(is_line(quote, line) for line in after[offset : offset + 2]), (place, quote)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PLANS)
def test_every_citation_of_a_random_plan_stands(ask, shop, text):
    for role in ("challenger", "domain-expert", "devils-advocate", "surface", "probe"):
        answer = ask(role, text)
        raised = [*getattr(answer, "challenges", ())]
        raised += [
            one.challenge for one in (*getattr(answer, "contexts", ()), *getattr(answer, "risks", ())) if one.challenge
        ]
        for one in raised:
            assert one.evidence
            assert read_assertion(one.claim) is not None, one.claim
            places_stand(one.evidence, text, shop)
        for risk in getattr(answer, "risks", ()):
            places_stand(risk.evidence, text, shop)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=400))
def test_no_text_makes_a_role_fail(ask, text):
    for role in ("challenger", "surface", "probe", "audit"):
        ask(role, text)


@pytest.mark.parametrize("kind", CLAIMS)
def test_a_claim_is_read_as_it_was_written(kind):
    names = [f"a{n}`b\n c" for n in range(CLAIMS[kind].count("{}") + CLAIMS[kind].count("<>"))]
    stated = assertion(kind, *names)
    assert read_assertion(f"{claim(stated)} And why.") == stated


@given(
    st.sampled_from(sorted(CLAIMS)),
    st.lists(st.text(max_size=30).map(lambda text: text.replace("?", "")), min_size=3, max_size=3),
)
def test_any_names_are_read_again(kind, names):
    stated = assertion(kind, *names[: CLAIMS[kind].count("{}") + CLAIMS[kind].count("<>")])
    assert read_assertion(claim(stated)) == stated


SCRIPT = """
import asyncio, json, sys
from verifyplan.agents.static import StaticBackend
from verifyplan.protocol.role_call import RoleRequest
backend = StaticBackend(sys.argv[1])
for line in sys.stdin:
    print(json.dumps(asyncio.run(backend.answer(RoleRequest.model_validate_json(line))).value))
"""


def test_two_processes_with_other_hash_seeds_answer_theis_line(shop, role_request, plan, backend):
    steps = (
        "1. Change `shop/stock.py` with `tenacity`, `pandas` and `redis`.\n2. `DELETE FROM orders`; `make "
        "e2e`, `make f2f`.\n"
        "3. Rename `find_order` to `x`. It is unclear and maybe TBD.\n4. Add `repeat_in_batches(connection, "
        "statement, parameters)`."
    )
    requests = [
        role_request(role, plan(steps))
        for role in ("challenger", "surface", "probe", "domain-expert", "score", "audit")
    ]
    lines = "\n".join(request.model_dump_json() for request in requests)
    outputs = []
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(shop)], input=lines, capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )  # fmt: skip
        outputs.append(run.stdout)
    here = [json.dumps(asyncio.run(backend.answer(request)).value) for request in requests]
    assert outputs[0] == outputs[1]
    assert outputs[0].splitlines() == here


def test_a_plan_without_a_suffix_is_cited_so_that_a_reader_can_open_it(ask, plan):
    (one,) = ask("challenger", plan("1. Change `shop/stock.py`."), name="PLAN").challenges
    assert one.evidence.startswith("line 13 of PLAN\n> ")
    assert str(read_cited(one.evidence)[0]) == "PLAN:13"
