"""The sets, rules and analyses whose results are golden: every class, and every figure with its interval.

Only `import verifyplan as vp` is used, so that everything behind it can be written anew; words are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any
from zlib import crc32

import pandas as pd

import verifyplan as vp

MODES: Any = ["collaborative", "adversarial"]
RECORDED = ("contract", "stdlib-claims/collaborative", "stdlib-claims/adversarial", "live-example")
JUDGEMENTS = ("llmbar/natural", "llmbar/misleading")
"""Bundled tables of votes that `vp.datasets.runs` gives as runs."""
LABELS = (
    *("rte", "dog", "judge-scores/base", "judge-scores-balanced/base", "judge-panel"),
    *("debate-judges", "debate-rounds", "prover-verifier/debate", "prover-verifier-verdicts"),
    *("prover-verifier-samples", "prover-verifier-outcomes", "prover-verifier-hle"),
)
ROUNDS = ("debate-judges", "debate-rounds", "prover-verifier/debate", "prover-verifier-verdicts")
METHODS: Any = ("majority", "dawid-skene", "one-coin", "wawa", "zero-based-skill")
NAMED: dict[str, Any] = {name: name for name in ("round", "run", "mode", "truth")}
VERDICTS = {"accept": "agree", "challenge": "supplement", "reject": "disagree", "": "verification-error"}
CLASSES = ["run_id", "iteration", "finding_id", "classification", "rule", "decided_round", "censored", "low", "high"]
WORDS = {"note", "why", "assumes", "title", "summary"}
ROWS_AT_MOST = 400
"""Of a longer table, those rows are kept that a checksum of their key chooses, whatever the order of the rows."""

KEYS = {
    **{f"compare.{name}": ("condition", "metric") for name in ("summary", "truth", "bounds")},
    "compare.tests": ("condition", "role", "of", "test"),
    "compare.mix": ("condition", "classification"),
    "compare.cost": ("condition", "measure"),
    "compare.transitions": ("from",),
    "panel.summary": ("figure",),
    "panel.judges": ("worker",),
    "panel.pairs": ("worker_a", "worker_b"),
    "panel.order": ("position",),
    "panel.size_curve": ("size",),
    "workers.table": ("worker",),
    "workers.recalls": ("worker", "label"),
    "agreement": ("measure", "worker_a", "worker_b"),
    "influence": ("worker", "metric"),
    "flips.adoption": ("step", "majority_was", "side", "evidence"),
    "flips.breaks": ("majority", "round"),
    "flips.changes": ("step", "change"),
    "flips.differences": ("measure",),
    "flips.majority": ("step", "change"),
    "flips.rounds": ("measure", "round"),
    "flips.workers": ("worker", "change"),
    "search.table": tuple(vp.VotingRules.model_fields),
    "power.by_runs": ("runs", "findings"),
    "power.needed": ("findings",),
    "sample_size.needed": ("findings",),
    "weights": ("dimension",),
    "rates": ("estimate",),
    "aggregate": ("method",),
    "cost": ("measure",),
    "queue": ("mode", "round"),
    "disagreement": ("run_id", "iteration", "finding_id"),
    "challenge_pool": ("run_id", "iteration", "severity", "state"),
    "coverage": ("run_id", "section"),
    "usage": ("role", "turn"),
}
"""The columns that tell the rows of a figure apart; a column that a table lacks is left out."""


@cache
def runs_of(name: str) -> vp.RunSet:
    """Return a bundled set as runs; a table of labels as votes on whether each worker's label is the true one."""
    if name == "example-votes":
        frame = vp.datasets.example_votes(60)
        columns: dict[str, Any] = {"item": "claim", "worker": "judge", "verdict": "answer"}
        words = {"yes": "agree", "no": "disagree"}
        return vp.from_votes(frame.assign(run=frame["mode"]), verdicts=words, **columns, **NAMED)
    if name not in ROUNDS:
        return vp.datasets.runs(name)
    frame = vp.datasets.votes(name)
    if name != "prover-verifier-verdicts":
        right = (frame["label"] == frame["truth"]).map({True: "agree", False: "disagree"})
        frame = frame.assign(label=right.where(frame["label"].notna(), "verification-error"), truth=None)
    frame = frame.assign(
        truth=frame["truth"].map({"accept": True, "reject": False}),
        run=frame.get("run", "votes"),
        label=frame["label"].fillna(""),
        mode="adversarial",
    ).drop_duplicates(["run", "item", "worker", "round"])
    frame["round"] = frame.groupby(["run", "item"])["round"].rank("dense").astype(int)  # rounds of a finding: no gaps
    columns = {"item": "item", "worker": "worker", "verdict": "label"}
    return vp.from_votes(frame, verdicts=VERDICTS if "verdicts" in name else None, **columns, **NAMED)


def rules_of(roster: list[str]) -> dict[str, Any]:
    """Return all presets, and values that touch each field of the rules, for the workers of a set."""
    first, last = roster[0], roster[-1]
    values: dict[str, dict[str, Any]] = {
        "one round": {"max_rounds": 1},
        "three rounds, no pruning, adversarial": {"max_rounds": 3, "pruning": "none", "mode": "adversarial"},
        "any majority": {"majority": 0},
        "three quarters": {"majority": "3/4", "mode": "adversarial"},
        "sticky, lost as last": {"refutes": "sticky", "lost_votes": "last-vote"},
        "lost as disagree": {"lost_votes": "as-disagree"},
        "lost as agree": {"lost_votes": "as-agree", "mode": "adversarial"},
        "quorum 2": {"quorum": 2},
        "quorum of all": {"quorum": "3/3", "mode": "adversarial"},
        "bases counter": {"missing_basis": "counter-evidence", "mode": "adversarial"},
        "bases burden, uncited": {"missing_basis": "burden-not-met", "uncited": "as-burden", "mode": "adversarial"},
        "caveats agree": {"caveats": "as-agree", "mode": "adversarial"},
        "two workers": {"workers": sorted({first, last})},
        "weights": {"weights": {first: 2, last: "1/2"}, "aggregate": "majority"},
        "margin 1, order": {"stop": {"margin": 1}, "order": [last]},
        "test": {"stop": {"accuracy": 0.7, "false_accept": 0.1, "false_reject": 0.2}},
    }
    presets = {name: vp.VotingRules.preset(name) for name in vp.VotingRules.PRESETS}
    return presets | {name: vp.VotingRules(**fields) for name, fields in values.items()}


def judgements() -> pd.DataFrame:
    """Return one row for each set, rules and finding: class, rule, round, bounds, and whether it is censored."""
    return pd.concat(list(_judged()), ignore_index=True).astype({"decided_round": "int32"})


def _judged() -> Iterator[pd.DataFrame]:
    for name in (*RECORDED, *JUDGEMENTS, *ROUNDS, "example-votes"):
        runs = runs_of(name)
        for rules, value in rules_of(sorted(set(runs.votes["worker"]))).items():
            yield vp.replay(runs, rules=value)[CLASSES].assign(set=name, rules=rules).astype(dict.fromkeys(TEXTS, str))


TEXTS = ("run_id", "finding_id", "classification", "rule", "low", "high")


def figures() -> pd.DataFrame:
    """Return one row for each set, figure, row and column of its table: key `set:figure:row`, column, value."""
    cells = []
    for name, figure, table in _tables():
        if table is None or table.empty:  # its rows would be told as missing or new
            continue
        keys = [column for column in KEYS[figure] if column in table]
        rows = table[keys].astype(object).where(table[keys].notna(), "").astype(str).agg("/".join, axis=1)
        kept = table.drop(columns=[*keys, *WORDS.intersection(table)]).to_dict("records")
        step = 1 + len(table) // ROWS_AT_MOST
        for key, row in zip(rows, kept, strict=True):
            if crc32(key.encode()) % step == 0:
                cells += [(f"{name}:{figure}:{key}", column, as_text(value)) for column, value in row.items()]
    return pd.DataFrame(cells, columns=["key", "column", "value"])


def as_text(value: Any) -> str:
    """Return a value as golden files hold it: a number with all its digits, nothing for a missing one."""
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    return repr(float(value)) if pd.api.types.is_float(value) else str(value)


def _tables() -> Iterator[tuple[str, str, pd.DataFrame]]:
    for name in (*RECORDED, *JUDGEMENTS, *LABELS, "llmbar/plain", "example-votes"):
        data = runs_of(name) if name in (*RECORDED, "llmbar/plain", "example-votes") else vp.datasets.votes(name)
        yield from ((name, *figure) for figure in _of_panels(data))
    for name in (*RECORDED, *JUDGEMENTS, "prover-verifier-verdicts", "example-votes"):
        yield from ((name, *figure) for figure in _of_modes(runs_of(name)))
    for name in RECORDED:
        for analysis in (vp.analysis.cost, vp.analysis.queue, vp.analysis.disagreement):
            yield name, analysis.__name__, analysis(name)
    for analysis in (vp.analysis.challenge_pool, vp.coverage, vp.analysis.usage):
        yield "live-example", analysis.__name__, analysis("live-example")
    yield from _of_pairs()
    yield from _of_design()


def _parts(figure: str, result: Any) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the tables of a result that KEYS names."""
    for name in KEYS:
        if name.startswith(f"{figure}.") and (name != "compare.transitions" or result.is_paired):
            table = getattr(result, name.split(".")[1])
            yield name, table.rename_axis("from").reset_index() if name == "compare.transitions" else table


def _of_panels(data: Any) -> Iterator[tuple[str, pd.DataFrame]]:
    yield from _parts("panel", vp.panel(data))
    yield from _parts("workers", vp.workers(data))
    yield "agreement", vp.agreement(data)
    yield "influence", vp.influence(data).table
    rounds = (
        data["round"] if isinstance(data, pd.DataFrame) and "round" in data else getattr(data, "votes", {}).get("round")
    )
    if rounds is not None and rounds.nunique() > 1:
        yield from _parts("flips", vp.flips(data))


def _of_modes(runs: vp.RunSet) -> Iterator[tuple[str, pd.DataFrame]]:
    yield from _parts("compare", vp.compare(runs, modes=MODES))
    if runs.findings["truth"].notna().any():
        yield "search.table", vp.search_rules(runs).table.drop(columns=["preset", "digest"])


def _of_pairs() -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield comparisons of two sets, paired and unpaired, and of rules."""
    recorded = vp.compare("stdlib-claims/collaborative", "stdlib-claims/adversarial")
    yield from (("stdlib-claims", *part) for part in _parts("compare", recorded))
    unpaired = vp.compare({name: f"llmbar/{name}" for name in ("natural", "misleading")})
    yield from (("llmbar, unpaired", *part) for part in _parts("compare", unpaired))
    rules = {name: {"aggregate": name} for name in ("rules", "majority")}
    yield from (("llmbar, rules", *part) for part in _parts("compare", vp.compare("llmbar/natural", rules=rules)))


def _of_design() -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield accuracies of labels by method, corrected rates, sizes of studies, and fitted weights."""
    power = vp.power("stdlib-claims", delta=0.1)
    yield from (("stdlib-claims", *part) for part in _parts("power", power))
    yield from (("planned", *part) for part in _parts("sample_size", vp.sample_size(delta=0.1, discordance=0.2)))
    scores = vp.datasets.example_scores(60)
    fit = vp.weights.fit(scores.drop(columns="overall"), scores["overall"], resamples=200)
    whole = {name: getattr(fit, name) for name in ("intercept", "scale", "r2", "r2_cv")}
    yield "example-scores", "weights", pd.concat([fit.weights, pd.DataFrame([{"dimension": "all"} | whole])])
    for name in LABELS:
        found = [vp.aggregate(vp.datasets.votes(name), method=method).accuracy() for method in METHODS]
        yield name, "aggregate", _intervals(METHODS, found)
    designs: Any = (
        ("rte", "random", "prediction-powered"),
        ("rte", "random", "rogan-gladen"),
        ("rte", "by-truth", "rogan-gladen"),
        ("judge-scores-balanced/base", "by-verdict", "stratified"),
    )
    for name, design, method in designs:
        votes = vp.datasets.votes(name)
        known = votes["item"].astype(str).map(lambda item: crc32(item.encode()) % 3 == 0)
        rate = vp.corrected_rate(votes.assign(truth=votes["truth"].where(known)), labels=design, method=method)
        yield f"{name}, {design}, {method}", "rates", rate.rates


def _intervals(names: Any, intervals: list[Any]) -> pd.DataFrame:
    cells = [(name, one.value, one.low, one.high, one.n) for name, one in zip(names, intervals, strict=True)]
    return pd.DataFrame(cells, columns=["method", "value", "low", "high", "n"])
