"""How close live cross-verification comes to the ideal time: 200 findings x 3 workers, one call each, 16 at once.

Run it with `python -m benchmarks.live`. A scripted server on loopback, a process of its own, answers each request after
100 ms. The ideal is calls / 16 x 100 ms; the peer is the bare SDK sending requests of the same size and doing nothing
with the replies. It stops if memory grows by more than 60 MB.
"""

from __future__ import annotations

import asyncio
import math
import os
import tempfile
import time
from pathlib import Path

import anthropic
import psutil

import verifyplan as vp
from benchmarks.figures import Measurement, report
from tests.live.serve import ServedScript

FINDINGS, WORKERS, AT_ONCE, LATENCY, LIMIT = 200, ("ann", "bob", "cy"), 16, 0.1, 1.3
GROWTH_LIMIT = 60_000_000  # bytes; a log of twice the calls is written in between

SCRIPT = f"""
import re
from tests.live.scripted_replies import says_json

def reply(asked):
    found = dict.fromkeys(re.findall(r"F-\\d+", asked.prompt))
    votes = [{{"finding_id": one, "explanation": "m.py:3 says so", "verdict": "AGREE"}} for one in found]
    return says_json({{"votes": votes}}).after({LATENCY})
"""


def findings(count: int) -> list[dict[str, str]]:
    """Findings of a worker who does not vote."""
    return [
        {"finding_id": f"F-{n}", "summary": f"`f{n}` has no check", "evidence": f"m{n}.py:{n + 1}", "worker": "dora"}
        for n in range(count)
    ]


def verified(backend: vp.agents.Anthropic, count: int, out: str) -> float:
    """Seconds for one round over `count` findings, log and artifact included."""
    began = time.perf_counter()
    run = vp.crossverify(
        findings(count),
        ["dora", *WORKERS],
        backend=backend,
        items_per_call=1,
        mode="collaborative",
        max_rounds=1,
        matcher=None,
        log_dir=out,
        progress=False,
    )
    took = time.perf_counter() - began
    lost = (run.frames.votes["verdict"] == "verification-error").sum()
    if lost or len(run.frames.votes) != count * len(WORKERS):
        raise SystemExit(f"{lost} votes were lost of {len(run.frames.votes)}")
    return took


async def bare(url: str, calls: int) -> float:
    """Seconds for as many requests by the SDK alone."""
    line = asyncio.Semaphore(AT_ONCE)
    words = "F-1 is a claim about the code. " * 150

    async with anthropic.AsyncAnthropic(api_key="a-key-for-loopback", base_url=url) as client:

        async def one() -> None:
            async with line:
                await client.messages.create(
                    model="claude-opus-5-5", max_tokens=100, messages=[{"role": "user", "content": words}]
                )

        await one()
        began = time.perf_counter()
        await asyncio.gather(*(one() for _ in range(calls)))
        return time.perf_counter() - began


def main() -> None:
    """Measure, report, and stop if memory grows."""
    process, calls = psutil.Process(), FINDINGS * len(WORKERS)
    ideal = math.ceil(calls / AT_ONCE) * LATENCY
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "script.py")
        script.write_text(SCRIPT)
        with ServedScript(script, Path(folder, "calls.jsonl")) as server:
            os.environ["VERIFYPLAN_OFFLINE"] = "1"
            backend = vp.agents.Anthropic("claude-opus-5-5", base_url=server.url, max_concurrency=AT_ONCE)
            verified(backend, 5, folder)
            peer = asyncio.run(bare(server.url, calls))
            took = min(verified(backend, FINDINGS, folder) for _ in range(2))
            before = process.memory_info().rss
            verified(backend, 2 * FINDINGS, folder)
            growth = process.memory_info().rss - before
    peers = {"the ideal schedule": Measurement(ideal), "the SDK alone": Measurement(peer)}
    name = f"live calls, {AT_ONCE} at once, {LATENCY * 1000:.0f} ms each"
    report("live", name, calls, "calls", Measurement(took), peers, {"the ideal schedule": 1 / LIMIT})
    print(f"memory after twice as many calls more: {growth / 1e6:+.0f} MB")
    if growth > GROWTH_LIMIT:
        raise SystemExit(f"missed: memory grew by more than {GROWTH_LIMIT / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
