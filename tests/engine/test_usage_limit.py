"""What is under way reserves its estimate, so that a run uses at most one estimate more than its limit (rule A12)."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.engine.usage_limit import UsageLimit
from verifyplan.protocol.call import Usage
from verifyplan.protocol.event_run import Attempt, CallFailed, CallReplied, TurnReplied, TurnSent
from verifyplan.protocol.settings import Limits


def used(tokens):
    return Usage(output_tokens=tokens, cost=Decimal(tokens) / 1000)


async def turn(limit, slots, name, estimate, use, yields, log):
    """One turn: it reserves, is sent, is lost at first if it uses more than one number, and ends."""
    async with slots:
        if await limit.reserve(name, used(estimate)):
            return
        limit.add(TurnSent(call_id=name, model="m", request_sha256="", estimate=used(estimate)))
        log.append(name)
        for lost in use[:-1]:
            await asyncio.sleep(0)
            facts = {"number": 1, "started": "", "duration_ms": 0, "sent_bytes": 1, "received_bytes": 0}
            limit.add(Attempt(call_id=name, perhaps_billed=lost is not None, **facts))
            limit.release(name)
            if await limit.reserve(name, used(estimate)):
                return
        for _ in range(yields):
            await asyncio.sleep(0)
        limit.add(TurnReplied(call_id=name, message={}, usage=used(use[-1]), duration_ms=0))
        limit.release(name)


turns = st.lists(
    st.integers(1, 100).flatmap(
        lambda estimate: st.tuples(
            st.just(estimate), st.lists(st.integers(1, estimate), min_size=1, max_size=3), st.integers(0, 5)
        )
    ),
    max_size=40,
)


@pytest.mark.parametrize("kind", ["tokens", "dollars"])
@pytest.mark.parametrize("at_once", [1, 8, 32])
@given(turns=turns, most=st.integers(1, 500))
def test_a_run_goes_beyond_its_limit_by_less_than_one_estimate(turns, most, at_once, kind):
    limit = UsageLimit(Limits(max_tokens=most) if kind == "tokens" else Limits(max_cost=Decimal(most) / 1000))
    sent = []

    async def run():
        slots = asyncio.Semaphore(at_once)
        made = [turn(limit, slots, f"r1/w{n}/t1", *each, sent) for n, each in enumerate(turns)]
        async with asyncio.timeout(20):
            await asyncio.gather(*made)

    asyncio.run(run())
    total = limit.spent.total + limit.perhaps.total
    assert total < most + max((estimate for estimate, *_ in turns), default=1)
    if total < most:
        assert len(sent) == len(turns)  # nobody was refused
    if turns:
        assert sent[0] == "r1/w0/t1"


def test_what_fits_goes_at_once_and_what_does_not_waits_in_its_order():
    limit, order = UsageLimit(Limits(max_tokens=10)), []

    async def go(name, estimate):
        assert await limit.reserve(name, used(estimate)) == ""
        order.append(name)

    async def run():
        await go("a", 4)
        await go("b", 4)
        waits = [asyncio.create_task(go("c", 9)), asyncio.create_task(go("d", 1))]
        await asyncio.sleep(0.01)
        assert order == ["a", "b"]
        limit.release("a")
        await asyncio.sleep(0.01)
        assert order == ["a", "b"]  # c would not fit beside b, and d is behind c
        limit.release("b")
        await asyncio.gather(*waits[:1])
        limit.release("c")
        await waits[1]
        assert order == ["a", "b", "c", "d"]

    asyncio.run(run())


def test_without_an_estimate_the_first_call_goes_alone_and_later_ones_reserve_the_largest():
    limit = UsageLimit(Limits(max_cost=Decimal("0.010")))

    async def run():
        assert await limit.reserve("a", None) == ""
        waits = asyncio.create_task(limit.reserve("b", None))
        await asyncio.sleep(0.01)
        assert not waits.done()
        limit.add(CallFailed(call_id="a", status="error", reason="", duration_ms=0))
        limit.release("a")
        assert await waits == ""
        waits = asyncio.create_task(limit.reserve("c", None))
        await asyncio.sleep(0.01)
        assert not waits.done()  # a failure without use says nothing of what others use
        limit.add(CallReplied(call_id="b", value=1, usage=used(3), duration_ms=0, source="live"))
        limit.release("b")
        assert await waits == ""
        assert await limit.reserve("d", None) == ""
        waits = asyncio.create_task(limit.reserve("e", None))
        await asyncio.sleep(0.01)
        assert not waits.done()
        limit.add(CallReplied(call_id="c", value=1, usage=used(8), duration_ms=0, source="live"))
        limit.release("c")
        assert await waits == "max_cost: 0.0110 dollars of 0.010 were spent before e was called"

    asyncio.run(run())


def test_what_is_perhaps_billed_counts_and_the_refusal_says_so():
    limit = UsageLimit(Limits(max_tokens=10, max_cost=Decimal("0.5")))
    limit.add(TurnSent(call_id="r1/a/t1", model="m", request_sha256="", estimate=used(7)))
    facts = {"number": 1, "started": "", "duration_ms": 0, "sent_bytes": 1, "received_bytes": 0}
    limit.add(Attempt(call_id="r1/a/t1", status=500, **facts))
    assert limit.refusal("x") == ""
    limit.add(Attempt(call_id="r1/a/t1", perhaps_billed=True, **facts))
    limit.add(TurnReplied(call_id="r1/a/t1", message={}, usage=used(3), duration_ms=0))
    words = "max_tokens: 10 tokens of 10 were used (7 of them perhaps, for lost answers) before x was called"
    assert limit.refusal("x") == words
    limit.limits = Limits(max_cost=Decimal("0.01"))
    words = "max_cost: 0.0100 dollars of 0.01 were spent (0.0070 of them perhaps, for lost answers) before x was called"
    assert limit.refusal("x") == words
