"""Workers run at once, runs run at once, and what is derived does not depend on who was first."""

from __future__ import annotations

import asyncio
import random
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.runlog.conversing import TalkingBackend
from tests.runs.crossing import AGREE, DISAGREE, Playing, agreeing, class_of, finding, run_of, told
from verifyplan.protocol.call import Reply, WorkerRequest

ROSTER = "ann bob cy di ed"
FACTS = {"call-requested", "call-replied", "call-failed"}


def test_all_workers_of_a_round_are_called_before_any_has_to_answer():
    barrier = asyncio.Barrier(4)

    async def wait_for_all(request: WorkerRequest) -> Reply:
        await barrier.wait()
        return agreeing(request)

    run = run_of({}, roster=ROSTER, backend=Playing(wait_for_all), timeout=10.0)
    assert (run.status, len(told(run, "call-failed"))) == ("converged", 0)


class CountingBackend(TalkingBackend):
    """A backend of four calls at once that counts the tasks there are whenever it is asked."""

    def __init__(self) -> None:
        super().__init__({}, silent=True)
        self.tasks: list[int] = []

    async def converse(self, request: Any, turns: Any) -> Reply:
        self.tasks.append(len(asyncio.all_tasks()))
        await asyncio.sleep(0)
        return await super().converse(request, turns)


def many_calls(backend: CountingBackend, count: int = 60) -> Any:
    found = [finding(f"F-{number}") for number in range(count)]
    return run_of({}, found, backend=backend, items_per_call=1, max_rounds=1)


def test_there_are_as_many_tasks_as_calls_at_once_however_many_calls_wait():
    backend = CountingBackend()
    run = many_calls(backend)
    assert len(told(run, "turn-replied")) == 2 * len(backend.tasks) == 240
    assert max(backend.tasks) <= backend.max_concurrency + 2


def test_events_of_the_same_fields_share_the_set_of_their_names():
    events = [event for event in many_calls(CountingBackend(), 5).events if event.type == "turn-sent"]
    assert len(events) == 20
    assert len({id(event.model_fields_set) for event in events}) == len({frozenset(e.model_fields_set) for e in events})


def derived(run: Any) -> list[str]:
    """The derived events as JSON, without durations."""
    return [event.model_dump_json(exclude={"duration_ms"}) for event in run.events if event.type not in FACTS]


def shuffled_run(seed: int) -> tuple[list[str], list[str]]:
    order = random.Random(seed)

    async def late(request: WorkerRequest) -> Reply:
        await asyncio.sleep(order.random() / 50)
        if request.worker == "cy":
            raise ValueError("cy fails")
        verdict = AGREE if request.worker < "d" else DISAGREE
        votes = {item.finding_id: verdict for item in request.items}
        return Reply(value={"votes": votes | {"stray": AGREE}}, duration_ms=order.randrange(1000))

    run = run_of({}, [finding("F-1"), finding("F-2", "bob")], roster=ROSTER, backend=Playing(late))
    return derived(run), [event.call_id for event in run.events if event.type in ("call-replied", "call-failed")]


def test_replies_in_any_order_give_the_same_derived_events():
    runs = [shuffled_run(seed) for seed in range(8)]
    assert len({tuple(arrived) for _, arrived in runs}) > 1, "the replies never arrived in another order"
    assert len({tuple(events) for events, _ in runs}) == 1
    assert len(runs[0][0]) > 20


def test_two_runs_at_once_in_threads_do_not_mix(tmp_path):
    both = threading.Barrier(2)

    def one(verdict: dict[str, Any]) -> Any:
        def play(request: WorkerRequest) -> Reply:
            if request.worker == "bob":
                both.wait(20)
            return Reply(value={"votes": {item.finding_id: verdict for item in request.items}})

        return run_of({}, backend=Playing(play), log_dir=tmp_path)

    with ThreadPoolExecutor(2) as threads:
        agreed, refuted = threads.map(one, (AGREE, DISAGREE))
    assert (class_of(agreed), class_of(refuted)) == ("full-consensus", "worker-unique")
    assert agreed.path != refuted.path
    assert len(list(tmp_path.rglob("*.json"))) == 2


def test_a_run_inside_a_running_event_loop_as_in_a_notebook():
    async def cell() -> Any:
        return run_of({1: {"bob": {"F-1": AGREE}, "cy": {"F-1": AGREE}}})

    assert class_of(asyncio.run(cell())) == "full-consensus"


def test_an_error_inside_a_running_event_loop_comes_out_as_it_is():
    def sink(event: Any) -> None:
        if event.type == "call-replied":
            raise RuntimeError("disk full")

    async def cell() -> None:
        run_of({}, backend=Playing(), sink=sink)

    with pytest.raises(RuntimeError, match="disk full"):
        asyncio.run(cell())


def test_a_notebooks_stop_button_ends_the_run_at_once():
    """An interrupt reaches the main thread alone; the run's own thread must not go on without it."""
    cancelled = threading.Event()

    async def endless(_: WorkerRequest) -> Reply:
        stop = (threading.main_thread().ident, signal.SIGINT)
        threading.Timer(0.05, signal.pthread_kill, stop).start()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        raise AssertionError("nobody stopped this call")

    loop = asyncio.new_event_loop()  # not asyncio.run, which would take SIGINT for itself
    interrupted = []

    async def cell() -> None:
        try:
            run_of({}, roster="ann bob", backend=Playing(endless))
        except KeyboardInterrupt:
            interrupted.append(True)

    try:
        loop.run_until_complete(cell())
    finally:
        loop.close()
    assert interrupted == [True]
    assert cancelled.wait(5)
