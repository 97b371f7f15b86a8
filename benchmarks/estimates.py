"""What runs of simulated models use, beside what was estimated for them, on twelve cases.

`python -m benchmarks.estimates [--write]`. Workers vote as real models did (`datasets.votes`: three agents who debate
over three rounds, five judges), and write as much as these agents wrote. Teams of plans are drawn by a seed: how many
challenges a role raises, how many files it reads and how long its sentences are, within what its prompt asks for.
A server on loopback counts tokens as the estimate does, four characters each, and caches as the API does; so what is
compared is the course of runs and the length of what is said, not a tokenizer. Of plans, several runs are made, and
their mean counts. `--write` writes the table of docs/reliability.md anew. It ends with 1 where the expected cost is off
by more than 30 %, or the high one is more than 8 times the expected; of plan runs of several iterations it may be more,
as each iteration that is allowed, and each tool call in it, is in the bound.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pandas as pd

import verifyplan as vp
from benchmarks.faults import PAGE, with_tables
from benchmarks.simulated_team import Team, Voters
from tests.live.live_runs import MODEL, facts, speaking_to
from tests.live.scripted_server import ScriptedServer
from tests.live.scripted_usage import PromptCache, Spent
from verifyplan.datasets import plan_path
from verifyplan.datasets.sample import sample_repository
from verifyplan.runs.call_use import MIN_CACHED_TOKENS
from verifyplan.runs.estimated_use import Estimate

MAX_OFF, MAX_HIGH, PLAN_RUNS = 0.3, 8, 24
DISCOVERER, THINKING = "agent-0", "gpt-5-mini"
"""Who made the claim of a debate, and the model whose tokens count its thoughts."""


class Case(NamedTuple):
    """A run that is estimated first, and then made."""

    name: str
    source: Any
    settings: Mapping[str, Any]
    scripts: Sequence[Any]
    """Answer the requests of a run each."""


class Compared(NamedTuple):
    """An estimate, and what the run used."""

    name: str
    estimate: Estimate
    tokens: float
    cost: float
    calls: float

    @property
    def off(self) -> float:
        """The share by which the expected cost is more than what was used."""
        assert self.estimate.expected.cost is not None
        return float(self.estimate.expected.cost) / self.cost - 1

    @property
    def high(self) -> float:
        """The high dollars, in expected ones."""
        assert self.estimate.high.cost is not None
        assert self.estimate.expected.cost is not None
        return float(self.estimate.high.cost / self.estimate.expected.cost)

    @property
    def holds(self) -> bool:
        """Whether the estimate is as good as it should be."""
        return abs(self.off) <= MAX_OFF and (self.high <= MAX_HIGH or self.estimate.high.iterations > 1)


class SchemaCache(PromptCache):
    """Reads tools and the schema of the answer as JSON, before all else, and keeps no beginning that is too short."""

    def split(self, body: dict[str, Any]) -> Spent:
        """Return what of a request is read from the cache, and what would be written."""
        schema = body.get("output_config", {}).get("format", {}).get("schema", {})
        definitions = [{"name": json.dumps(one, separators=(",", ":"))} for one in (schema, *body.get("tools", ()))]
        spent = super().split({**body, "tools": definitions})
        marked = spent.written + spent.read
        if marked >= MIN_CACHED_TOKENS:
            return spent
        return spent._replace(fresh=spent.fresh + marked, written=0, read=0, marks=[])


def debated() -> tuple[pd.DataFrame, list[int]]:
    """Return votes on what the first agent of each debate answered first, and how much was written for each."""
    votes = vp.datasets.votes("debate-rounds")
    votes["item"] = votes["run"].astype(str) + "/" + votes["item"].astype(str)
    first = votes[votes["round"].eq(0) & votes["worker"].eq(DISCOVERER)].set_index("item")["label"].astype(str)
    votes["agrees"] = votes["label"].astype(str).eq(votes["item"].map(first))
    votes["round"] += 1
    lengths = votes.loc[votes["model"].ne(THINKING), "tokens_out"].dropna().astype(int).tolist()
    return votes[votes["worker"].ne(DISCOVERER)][["item", "worker", "round", "agrees"]], lengths


def judged() -> pd.DataFrame:
    """Return votes of five judges, each repetition as a round."""
    votes = vp.datasets.votes("judge-scores")
    votes = votes[votes["variant"].eq("base") & votes["repetition"].lt(3) & votes["verdict"].ne("error")]
    votes = votes.drop_duplicates(["item", "model", "repetition"])
    return pd.DataFrame(
        {
            "item": votes["item"].astype(str),
            "worker": votes["model"].astype(str),
            "round": votes["repetition"].astype(int) + 1,
            "agrees": votes["verdict"].eq("agree"),
        }
    )


def cross_cases() -> Iterator[Case]:
    """Yield runs of votes: few and many findings, asked together, by tens and one by one."""
    agents, lengths = debated()
    sets = {"two agents": agents, "five judges": judged()}
    shapes: list[tuple[str, int, int | None, str, int]] = [
        ("two agents", 20, None, "collaborative", 2),
        ("two agents", 20, 1, "adversarial", 3),
        ("two agents", 100, 10, "adversarial", 2),
        ("two agents", 100, 10, "collaborative", 3),
        ("five judges", 20, None, "adversarial", 1),
        ("five judges", 20, 1, "collaborative", 2),
        ("five judges", 100, 10, "adversarial", 2),
        ("five judges", 100, 10, "collaborative", 3),
    ]
    for who, count, size, mode, rounds in shapes:
        votes = sets[who]
        items = votes["item"].drop_duplicates().sample(count, random_state=17).tolist()
        names = {item: f"F-{n}" for n, item in enumerate(items, 1)}
        of_items = votes[votes["item"].isin(names)].assign(item=lambda table, names=names: table["item"].map(names))
        found = [
            {
                "finding_id": name,
                "summary": f"`f{name}` of item {item} returns what its document says, on every path through it",
                "evidence": f"planning.py:{n + 1}",
                "worker": DISCOVERER,
            }
            for n, (item, name) in enumerate(names.items())
        ]
        workers = [DISCOVERER, *sorted(of_items["worker"].unique())]
        settings = {"workers": workers, "items_per_call": size, "mode": mode, "max_rounds": rounds}
        asked = "together" if size is None else "one by one" if size == 1 else f"{size} at a time"
        name = f"cross, {who}, {count} findings {asked}, {mode}, {rounds} round{'s' * (rounds > 1)}"
        yield Case(name, found, settings, [Voters(of_items, lengths)])


def plan_cases(repository: Path) -> Iterator[Case]:
    """Yield plan runs with tools: a small team and a large one, one iteration, up to three, and three if need be."""
    files = [path.relative_to(repository).as_posix() for path in sorted(repository.rglob("*.py"))]
    for team, iterations, policy in (("base", 1, "protocol"), ("scaled", 1, "protocol"), ("base", 3, "protocol"),
                                     ("scaled", 3, "deliberate")):  # fmt: skip
        settings = {"team": team, "max_iterations": iterations, "policy": policy}
        name = f"plan, {team} team with tools, at most {iterations} iteration{'s' * (iterations > 1)}, {policy}"
        yield Case(name, plan_path("purge-hour"), settings, [Team(files, seed) for seed in range(PLAN_RUNS)])


def compared(case: Case, repository: Path) -> Compared:
    """Estimate a run, make it as often as the case says, and return both; of several runs the mean."""
    told = vp.estimate(case.source, repository, model=MODEL, progress=False, **case.settings)
    used = [use_of(case, script, repository) for script in case.scripts]
    tokens, cost, calls = (sum(values) / len(used) for values in zip(*used, strict=True))
    return Compared(case.name, told, tokens, cost, calls)


def use_of(case: Case, script: Any, repository: Path) -> tuple[float, float, float]:
    """Make a run; return its tokens, dollars and calls."""
    settings = dict(case.settings)
    with ScriptedServer(script) as server:
        server._cache = SchemaCache()
        given = {"backend": speaking_to(server), "repo": repository, "log_dir": None, "progress": False}
        run = (
            vp.verify(case.source, **given, **settings)
            if isinstance(case.source, Path)
            else vp.crossverify(case.source, settings.pop("workers"), matcher=None, **given, **settings)
        )
    if failed := facts(run, "call-failed"):
        raise RuntimeError(f"{case.name}: a call failed: {failed[0].reason}")
    usages = [turn.usage for turn in facts(run, "turn-replied")]
    dollars = sum(float(usage.cost or 0) for usage in usages)
    return sum(usage.total for usage in usages), dollars, len(facts(run, "call-requested"))


def markdown(rows: list[Compared]) -> str:
    """Return a row for each case."""
    lines = [
        "| run | calls | expected | dollars used | expected | off | low | high | high / expected |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        low, expected, high = row.estimate.cases.values()
        lines.append(
            f"| {row.name} | {row.calls:.0f} | {expected.calls} | {row.cost:.4f} | {expected.cost:.4f} | "
            f"{row.off:+.0%} | {low.cost:.4f} | {high.cost:.4f} | {row.high:.1f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Estimate, run, print, write if asked, and end with 1 where an estimate is not as good as it should be."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--write", action="store_true", help="write the table of docs/reliability.md anew")
    chosen = options.parse_args()
    os.environ["VERIFYPLAN_OFFLINE"] = "1"
    with TemporaryDirectory() as folder:
        repository = sample_repository(Path(folder) / "repository")
        rows = []
        for case in [*cross_cases(), *plan_cases(repository)]:
            rows.append(compared(case, repository))
            print(markdown(rows[-1:]).splitlines()[-1], flush=True)
    held = sum(row.holds for row in rows)
    bounded = sum(row.high <= MAX_HIGH for row in rows)
    sums = f"{sum(abs(row.off) <= MAX_OFF for row in rows)} of {len(rows)} within {MAX_OFF:.0%}; of {bounded} the high "
    sums += f"dollars are at most {MAX_HIGH} times the expected"
    print(f"\n{markdown(rows)}\n\n{sums}")
    if chosen.write:
        tables = f"{sums}, on {datetime.date.today().isoformat()}.\n\n{markdown(rows)}"
        PAGE.write_text(with_tables(PAGE.read_text(), tables, "estimates"))
    if held < len(rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
