"""How close live cross-verification comes to the ideal time: 5,000 findings x 5 workers, one call each, 16 at once.

Run it with `python -m benchmarks.live [FINDINGS]`; it takes some four minutes. A scripted server on loopback, a process
of its own, answers each request after 100 ms. The ideal is calls / 16 x 100 ms; the peer is the bare SDK sending
requests of the same size and doing nothing with the replies. Log, artifact and tables are part of the time. The memory
is the peak beyond that of a run of a tenth; it stops where a call takes more than 25 kB of it. Last, 60 calls that open
cited places are made over a folder of 30,000 files, and over an empty one: the files are listed once a run.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import anthropic

import verifyplan as vp
from benchmarks.figures import Measurement, report
from tests.live.serve import ServedScript
from verifyplan.protocol.event_cross import VoteCast
from verifyplan.runlog.writer import LogWriter

FINDINGS, WORKERS, AT_ONCE, LATENCY, LIMIT = 5_000, ("ann", "bob", "cy", "dan", "eve"), 16, 0.1, 1.3
MAX_CALL_BYTES = 25_000
"""Of memory at most, for what a run has of a call: its events, its request, and its rows as the tables are made."""

SDK_CALLS, EVENTS = 1_600, 20_000
FOLDERS, FILES_IN_FOLDER, OPENING_FINDINGS = 300, 100, 12
"""A large repository, and the findings of the run over it."""

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


def peak_mb() -> float:
    """Return the peak of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def verified(
    backend: vp.agents.Anthropic, count: int, out: str, verification: str = "lightweight", repo: str = "."
) -> tuple[Measurement, float]:
    """What one round over `count` findings takes, with log, artifact and tables, and the peak before the tables.

    Peaks are of the process so far.
    """
    began, cpu = time.perf_counter(), time.process_time()
    run = vp.crossverify(
        findings(count),
        ["dora", *WORKERS],
        backend=backend,
        items_per_call=1,
        mode="collaborative",
        verification=verification,
        max_rounds=1,
        matcher=None,
        repo=repo,
        log_dir=out,
        progress=False,
    )
    peak_of_run = peak_mb()
    votes = run.frames.votes
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    lost = (votes["verdict"] == "verification-error").sum()
    if lost or len(votes) != count * len(WORKERS):
        raise SystemExit(f"{lost} votes were lost of {len(votes)}")
    return Measurement(took, cpu, peak_mb()), peak_of_run


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


def over_many_files(backend: vp.agents.Anthropic, folder: Path) -> tuple[float, float]:
    """Return the seconds of CPU of a run over a folder of many files, and over an empty one."""
    for number in range(FOLDERS):
        inside = folder / "tree" / f"folder{number}"
        inside.mkdir(parents=True)
        for place in range(FILES_IN_FOLDER):
            (inside / f"m{place}.py").write_text("x = 1\n" * 30)
    (folder / "empty").mkdir()
    large, small = (
        verified(backend, OPENING_FINDINGS, str(folder / "logs"), "full-reanalysis", str(folder / name))[0].cpu
        for name in ("tree", "empty")
    )
    return large, small


def events_to_disk(folder: str) -> None:
    """Report what it takes to write events, numbered and chained; and a plain line of JSON for each.

    Both are forced to the disk once, at the end.
    """
    place = {"part": "findings", "finding_id": "F-1", "round": 1, "worker": "ann"}
    vote = VoteCast(**place, verdict="agree", disagree_basis=None, explanation="as m.py:3 says")
    with LogWriter.create(folder, "events") as writer:
        ours = Measurement(seconds_to(lambda: writer.append(vote), writer.sync))
    plain = vote.model_dump(mode="json")
    with Path(folder, "plain.jsonl").open("w") as file:
        theirs = seconds_to(lambda: file.write(json.dumps(plain) + "\n"), lambda: (file.flush(), os.fsync(file)))
    report("live", "events to disk", EVENTS, "events", ours, {"json.dumps of each, no chain": Measurement(theirs)})


def seconds_to(write: Callable[[], object], sync: Callable[[], object]) -> float:
    """Return the seconds of EVENTS writes and one sync."""
    began = time.perf_counter()
    for _ in range(EVENTS):
        write()
    sync()
    return time.perf_counter() - began


def main(count: int) -> None:
    """Measure, report, and stop if memory grows by more than it may."""
    calls = count * len(WORKERS)
    ideal = math.ceil(calls / AT_ONCE) * LATENCY
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "script.py")
        script.write_text(SCRIPT)
        with ServedScript(script, Path(folder, "calls.jsonl")) as server:
            os.environ["VERIFYPLAN_OFFLINE"] = "1"
            backend = vp.agents.Anthropic("claude-opus-5-5", base_url=server.url, max_concurrency=AT_ONCE)
            opened, _ = verified(backend, count // 10, folder, "full-reanalysis")
            few, of_few = verified(backend, count // 10, folder)
            peer = asyncio.run(bare(server.url, SDK_CALLS)) * calls / SDK_CALLS
            ours, of_run = verified(backend, count, folder)
            large, small = over_many_files(backend, Path(folder))
        events_to_disk(folder)
    grown = ours.peak_mb - few.peak_mb
    peers = {"the ideal schedule": Measurement(ideal), "the SDK alone": Measurement(peer)}
    name = f"live calls, {AT_ONCE} at once, {LATENCY * 1000:.0f} ms each"
    report("live", name, calls, "calls", ours._replace(peak_mb=grown), peers, {"the ideal schedule": 1 / LIMIT})
    call_bytes = grown * 1e6 / (0.9 * calls)
    run_bytes = (of_run - of_few) * 1e6 / (0.9 * calls)
    print(
        f"a call takes {1000 * ours.cpu / calls:.1f} ms of CPU, {10_000 * opened.cpu / calls:.1f} with places opened,"
    )
    print(f"{run_bytes / 1000:.1f} kB of memory, and {call_bytes / 1000:.1f} kB while tables are made;")
    both = [50_000 * len(WORKERS) * each / 1e9 for each in (run_bytes, call_bytes)]
    print(f"50,000 findings would take {both[0]:.1f} GB, and {both[1]:.1f} GB while tables are made")
    opening = OPENING_FINDINGS * len(WORKERS)
    print(f"{opening} calls over {FOLDERS * FILES_IN_FOLDER:,} files take {large:.2f} s of CPU, {small:.2f} over none")
    if call_bytes > MAX_CALL_BYTES:
        raise SystemExit(f"missed: a call takes more than {MAX_CALL_BYTES / 1000:.0f} kB of memory")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else FINDINGS)
