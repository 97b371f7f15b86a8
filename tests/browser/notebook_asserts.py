"""What must hold of the variables of each notebook, by the id of the cell after which it is looked at."""

from __future__ import annotations

HELD = {
    "00-24": """
assert {"report.html", "report.md"} <= {path.name for path in report.parent.iterdir()}
assert picture.is_file()
""",
    "00-26": 'assert replayed["rule"].tolist() == ["hard-refute", "survived"]',
    "00-28": "assert len(run.frames.findings) == 40",
    "10-06": 'assert why["findings"].sum() == rule.findings["changed"].sum()',
    "10-10": 'assert rates.loc["false-consensus-rate", "difference_high"] < 0, "fewer false claims are held"',
    "10-16": 'assert alpha["value"].between(0, 1).all()',
    "10-18": "assert (table.sum() == 720).all()",
    "12-03": 'assert at["recall"].is_monotonic_decreasing and at["precision"].iloc[0] < 0.95 < at["precision"].iloc[2]',
    "12-08": 'assert by_quorum.summary.set_index("metric").loc["recall", "difference_3 votes_high"] < 0',
    "12-11": """
assert by_chance.iloc[0, 0] > 10 * by_chance.iloc[1, 0]
assert by_chance.iloc[0, 1] == 0
unlike = vp.compare(held, rules=["adversarial", "sticky-refutes"]).findings["changed"]
assert not unlike.any(), "where nobody's vote is missing, sticky changes nothing"
""",
    "12-17": 'assert rows["seen"].between(rows["low_bound"], rows["high_bound"]).all(), "the range holds it"',
    "12-25": "assert made.cost <= 5000 and made.decided and len({each.rules for each in by_reading.values()}) > 1",
    "12-29": """
width = (rows["high_bound"] - rows["low_bound"]).to_numpy()
assert width[2] < width[1] / 2, "the plan leaves less than half of what as many random calls leave open"
assert rows["low_bound"].le(last).all() and rows["high_bound"].ge(last).all()
""",
    "12-31": """
assert vp.VotingRules.from_json(made.rules.to_json()) == made.rules
assert classes.equals(replayed[classes.index])
""",
    "15-01": """
concluding = both.tests.query("role == 'concluding'")
assert (concluding["p_value"] < 0.05).all() and both.metric == "false-consensus-rate"
""",
    "16-04": 'assert round(worth.figure("effective-votes").value, 2) == 2.25',
    "16-07": "assert worth.order['held_out'].max() == worth.order['held_out'].iloc[0]",
    "16-13": """
scores = vp.datasets.votes("judge-scores/base")
assert round(100 * scores["margin"].eq(0).mean()) == 19
repeated, once = effective.drop(index="5 models, once each"), effective.loc["5 models, once each"]
assert (round(repeated.min().min(), 1), round(repeated.max().max(), 1)) == (1.0, 2.4)
assert (round(once.min(), 1), round(once.max(), 1)) == (1.8, 2.4)
""",
    "20-13": """
assert vp.replay_run(run).same
assert run.verdict == "RETHINK", "no iteration settled what blocks it"
""",
    "30-11": 'assert live.run.verdict == "REVISE"',
    "40-03": "assert fit.r2_cv > fit.r2_cv_linear - 0.02",
    "40-14": 'assert vp.weights.load("out/weights.json") == fit.exact()',
    "50-16": "assert len(written) == 5 * len(figures), written",
    "60-28": """
assert replayed.same
assert set(replayed.run.frames.calls["source"].dropna()) == {"replay"}
""",
    "70-19": "assert replayed.same and as_bytes(replayed.run) == as_bytes(settled) == as_bytes(again)",
    "80-05": "assert all(document.write() == document.source.text for document in tree)",
    "80-25": """
again = vp.documents.check(repository / ".planning")
new = {Path(second.path), Path(closing.path)}
assert not [one for one in again.violations if Path(one.path) in new and one.severity == "error"]
""",
    "90-03": "assert len(truth) == 3_000",
    "90-05": "assert (first.added, again.added, more.added) == (60, 0, 1)",
    "90-07": """
key = ["run_id", "finding_id", "round", "worker"]
texts = [t[[*key, "verdict"]].astype(str).sort_values(key, ignore_index=True) for t in (votes, from_files.votes)]
assert texts[0].equals(texts[1]), "the dataset has the votes that the files have"
""",
    "90-09": "assert by_parts.classes.to_dict() == in_memory.reindex(by_parts.classes.index).to_dict()",
    "90-11": "assert len(search.table) > 100",
    "90-13": 'assert (slopes < 1.5).all(), "far from linear"',
}
