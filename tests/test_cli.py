"""The command line as a user meets it: exit codes of rule H2, errors without tracebacks.

Some tests start real processes; the others stay within this one, which is faster by a second or two each.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import typer

import verifyplan as vp
from tests.processes import ROOT, client, forked, process
from verifyplan.agents.prices import bundled_prices
from verifyplan.cli.app import COMMANDS, app
from verifyplan.cli.rules import rules

COMMAND = Path(sys.executable).with_name("verifyplan")


def verifyplan(*words: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, which has been imported before."""
    given: Any = {"folder": cwd, "variables": os.environ | {"COLUMNS": "200"}}
    done = forked("everything", "tests.fork_server", "command", *words, **given)
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.fixture
def code(tmp_path) -> Path:
    (tmp_path / "m.py").write_text("def f(a, b=1):\n    raise ValueError(a)\n")
    return tmp_path


def write_findings(folder: Path, summaries: list[str]) -> Path:
    rows = [
        {"finding_id": f"F-{i}", "summary": text, "evidence": "m.py:1", "worker": "window", "truth": True}
        for i, text in enumerate(summaries)
    ]
    path = folder / "findings.json"
    path.write_text(json.dumps(rows))
    return path


@pytest.mark.parametrize(
    "name",
    ["demo", "verify", "resume", "crossverify", "estimate", "compare", "replay", "explain", "convert", "datasets"],
)
def test_every_command_has_help_with_an_example(cli, name):
    done = cli(name, "--help")
    assert done.code == 0
    assert f"\n  verifyplan {name}" in done.out


def test_all_help_texts_name_the_same_models_and_their_prices_are_known(cli):
    """Each family of models is named in one version."""
    words = [["verify"], ["crossverify"], ["debate"], ["revise"], ["estimate"], ["doctor"], ["bench", "plans"]]
    words += [["batch", "plans"], ["batch", "findings"]]
    named = {model for each in words for model in re.findall(r"claude-[a-z]+-[\d-]+\d", cli(*each, "--help").out)}
    assert named == {"claude-opus-5-5", "claude-haiku-5-5"}
    assert named <= bundled_prices().keys()


def test_a_run_from_findings_to_explanation(code):
    findings = write_findings(code, ["`f` has a parameter `b`.", "`f` raises `KeyError`."])
    done = verifyplan(
        "crossverify", findings, "--repo", code, "--task-type", "error-analysis", "--log-dir", code / "runs"
    )
    assert done.returncode == 0, done.stderr
    artifact = code / "runs" / "error-analysis" / "state" / "convergence-error-analysis-001.json"
    assert f"artifact: {artifact}" in done.stdout
    assert vp.read_artifact(artifact).adversarial
    told = verifyplan("explain", code / "runs", "F-1")
    assert "F-1 in run error-analysis/state/convergence-error-analysis-001, read as adversarial" in told.stdout
    assert re.search(r"syntax-tree: disagree \(counter-evidence\): .*m\.py:\d", told.stdout), told.stdout


def test_the_settings_of_votes_are_options_by_the_names_of_the_parameters(cli, code):
    findings = write_findings(code, ["`f` has a parameter `b`."])
    words = ("crossverify", findings, "--repo", code, "--log-dir", code / "runs")
    done = cli(*words, "--mode", "collaborative", "--max-rounds", 1, "--verification", "full-reanalysis")
    assert done.code == 0, done.err
    config = vp.read_artifact(code / "runs" / "ad-hoc" / "state" / "convergence-ad-hoc-001.json").config
    assert (config.adversarial, config.maxRounds, config.verificationMode) == (False, 1, "full-reanalysis")
    for refused, message in (
        (("--mode", "adverserial"), "did you mean 'adversarial'?"),
        (("--mode", "adversarial", "--verification", "lightweight"), "verification: 'lightweight' cannot serve"),
        (("--max-rounds", 4), "Invalid value for '--max-rounds'"),
        (("--gating",), "gating: needs a plan body"),
    ):
        done = cli(*words, *refused)
        assert (done.code, message in done.err) == (2, True), done.err


def test_workers_may_have_names_of_their_own(cli, code):
    findings = write_findings(code, ["`f` has a parameter `b`."])
    findings.write_text(findings.read_text().replace('"window"', '"ann"'))
    done = cli("crossverify", findings, "--repo", code, "--workers", "ann=window,bob=search", "--log-dir", code)
    assert done.code == 0, done.err
    assert "1 finding, 2 workers" in done.out


def test_a_failed_gate_exits_with_1_and_an_advisory_one_with_0(cli, code):
    findings = write_findings(code, [])
    items = code / "plan.json"
    items.write_text(
        json.dumps(
            [
                {
                    "finding_id": "P-1",
                    "summary": "`f` has a parameter `zeal`.",
                    "evidence": "m.py:1\n> def f(a, b=1):\n>     raise ValueError(a)",
                }
            ]
        )
    )
    words = ["crossverify", findings, "--repo", code, "--task-type", "implementation-planning", "--plan-items", items]
    failed = cli(*words, "--log-dir", code)
    assert (failed.code, "plan body: failed" in failed.out) == (1, True), failed.out + failed.err
    advised = cli(*words, "--no-gating", "--log-dir", code)
    assert (advised.code, "plan body: failed (advisory)" in advised.out) == (0, True), advised.out + advised.err
    advisory = cli(*words, "--workers", "syntax-tree", "--log-dir", code)
    assert (advisory.code, "(advisory)" in advisory.out) == (0, True), advisory.out


def test_compare_a_table_of_votes_and_write_a_report(cli, tmp_path):
    table = pd.DataFrame(
        {"claim": [1, 1, 2, 2], "judge": ["a", "b"] * 2, "says": ["agree", "disagree"] * 2, "label": [1, 1, 0, 0]}
    )
    table.to_csv(tmp_path / "votes.csv", index=False)
    columns = "item=claim,worker=judge,verdict=says,truth=label"
    done = cli("compare", tmp_path / "votes.csv", "--columns", columns, "--out", tmp_path / "report")
    assert done.code == 0, done.err
    assert "collaborative against adversarial: 2 findings of 1 run" in done.out
    assert {"report.md", "report.html", "class-mix.png", "findings.csv"} <= {
        p.name for p in (tmp_path / "report").iterdir()
    }


def test_two_tables_of_votes_are_paired_each_in_its_own_mode(cli, tmp_path):
    (tmp_path / "a.csv").write_text("claim,judge,vote,text,how\n1,a,yes,f,collaborative\n1,b,NO,f,collaborative\n")
    (tmp_path / "b.csv").write_text("claim,judge,vote,text,how\n1,a,yes,f,Adversarial\n1,b,no,f,adversarial\n")
    columns = (
        "--columns",
        "item=claim, worker=judge, verdict=vote, summary=text",
        "--verdicts",
        "yes=agree,no=disagree",
    )
    modes = ("--mode", "collaborative", "--other-mode", "adversarial")
    named = cli("compare", "a.csv", "--other", "b.csv", *columns, *modes, cwd=tmp_path)
    assert named.out.startswith("collaborative against adversarial: 1 finding of 1 run"), named.err
    assert "findings whose class differs: 100.0 %" in named.out
    by_column = cli(
        "compare", "a.csv", "--other", "b.csv", "--columns", columns[1] + ",mode=how", *columns[2:], cwd=tmp_path
    )
    assert by_column.out == named.out


def test_two_real_runs_are_compared_with_truth_from_a_table(cli):
    sets = [vp.datasets.path(f"stdlib-claims/{mode}") for mode in ("collaborative", "adversarial")]
    truth = vp.datasets.path("stdlib-claims") / "claims.csv"
    done = cli("compare", sets[0], "--other", sets[1], "--truth", truth)
    assert "collaborative against adversarial: 720 findings (synthetic) of 12 runs" in done.out
    assert "false-consensus-rate (exploratory): " in done.out


def test_named_sets_and_modes_are_compared_by_their_names(cli, tmp_path):
    sets = ["x=stdlib-claims/collaborative", "y=stdlib-claims/adversarial", "z=stdlib-claims/adversarial"]
    done = cli("compare", *sets, "--resamples", "20", "--out", tmp_path)
    assert done.out.startswith("x against y against z: 720 findings"), done.err
    assert "class=" not in done.out
    assert (tmp_path / "transitions-2.png").exists()
    assert "difference z" in (tmp_path / "report.md").read_text()
    modes = cli("compare", "stdlib-claims/adversarial", "--modes", "recorded, collaborative", "--resamples", "20")
    assert modes.out.startswith("The same votes, counted by 2 rules;")
    assert "\nadversarial against collaborative: 720 findings" in modes.out


def test_a_metric_a_pairing_and_clusters_are_named_in_the_shell(cli):
    sets = ("stdlib-claims/collaborative", "--other", "stdlib-claims/adversarial")
    named = cli("compare", *sets, "--metric", "false-consensus", "--cluster-by", "category")
    assert "\nfalse-consensus-rate: 57.5 % against 5.6 % (n = 360), difference -51.9 points [" in named.out
    assert "With 7 values of category, little is known about how much these differ" in named.out
    assert cli("compare", *sets, "--pair-by", "none").out.splitlines()[1].startswith("unpaired: no finding is compared")
    assert "\npaired by category: the means of 7 values" in cli("compare", *sets, "--pair-by", "category").out
    wrong = cli("compare", *sets, "--metric", "recal")
    assert wrong.code == 2
    assert "metric: 'recal' is not a metric of this comparison (did you mean 'recall'?)" in wrong.err


def test_convert_and_load_again(cli, tmp_path):
    assert cli("convert", "contract", "--out", tmp_path / "t").code == 0
    assert len(vp.load(tmp_path / "t")) == len(vp.datasets.runs("contract"))


def test_convert_leniently_tells_what_was_left_out(cli, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "bad.json").write_text('{"schemaVersion": ')
    (tmp_path / "in" / "good.json").write_text('{"schemaVersion": "1.2", "findings": []}')
    done = cli("convert", tmp_path / "in", "--out", tmp_path / "t", "--lenient")
    assert done.code == 1
    assert "RunSet(1 run," in done.out
    assert "bad.json: line 1" in done.err


def test_replay_writes_a_table(cli, tmp_path):
    done = cli("replay", "stdlib-claims/collaborative", "--mode", "adversarial", "--out", tmp_path / "r.parquet")
    assert "720 findings, judged as adversarial" in done.out
    assert len(pd.read_parquet(tmp_path / "r.parquet")) == 720


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compare", "nowhere"], "nowhere: is not there. Fix: name a file"),
        (["explain", "contract", "F-9"], "'F-9' is in no run. Fix: use one of 2 findings: F-001"),
        (["explain", "contract", "F-001"], "'F-001' is in 15 runs. Fix: name its run"),
        (["crossverify", "nowhere.csv"], "cannot be read (No such file or directory)"),
        (["replay", "contract", "--mode", "hostile"], "Invalid value for '--mode'"),
        (["replay", "contract", "--out", "x.xlsx"], "--out: must be a .csv or .parquet file, got 'x.xlsx'"),
        (["replay", "x.jsonl", "--check", "--out", "x.csv"], "--out: has no meaning when a logged run is run again"),
        (["datasets", "atlantis"], "dataset: 'atlantis' is not bundled. Fix: use 'stdlib-claims'"),
        (["compare", "votes.csv", "--columns", "item=a"], "--columns: does not say which column is the worker"),
        (["compare", "votes.csv", "--columns", "item=a"], "--columns: does not say which column is the verdict"),
        (["crossverify", __file__], "is not JSON"),
        (["nonsense"], "No such command 'nonsense'"),
    ],
)
def test_bad_input_exits_with_2_and_says_what_to_do(cli, words, message, tmp_path):
    done = cli(*words, cwd=tmp_path)
    assert done.code == 2
    assert message in done.err


def test_the_demo_writes_everything_and_prints_a_screen(tmp_path):
    done = verifyplan("demo", "--out", tmp_path, "--claims", "12")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 16
    assert re.search(r"^ +natural +first +98 .* of 6 votes$", done.stdout, re.MULTILINE)
    assert re.search(r"^  the majority is right in .* % .* two workers agree in", done.stdout, re.MULTILINE)
    assert len(re.findall(r"^  now, .*: full-consensus .* \(n = \d+\)$", done.stdout, re.MULTILINE)) == 2
    assert done.stderr == "", "progress is for terminals"
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    figures = {"panel-natural", "panel-misleading", "debate", "class-mix", "transitions", "truth-metrics"}
    figures |= {"votes", "rounds"}
    assert {f"{figure}.{suffix}" for figure in figures for suffix in ("png", "svg", "html")} <= written
    assert {"report.md", "report.html", "tables/votes.csv"} <= written


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["crossverify", "f.json", "--task-type", "eror-analysis"], "(did you mean 'error-analysis'?)"),
        (["crossverify", "f.json", "--workers", "serch,window"], "(did you mean 'search'?)"),
        (["crossverify", "f.json", "--workers", "search,window,search"], "a name is repeated"),
        (["compare", "votes.csv"], "--columns item=claim,worker=judge,verdict=says --verdicts "),
        (["compare", "contract", "--mode", "adversarial"], "--mode: goes with a table of votes"),
        (["compare", "contract", "--other-mode", "adversarial"], "--other-mode: goes with --other"),
        (["compare", "contract", "--modes", "adversarial"], "modes: must name at least two conditions, got 1"),
        (["compare", "a=contract", "contract"], "runs: 'contract' has no name, but others do. Fix: write each as NAME"),
        (["compare", "a=contract", "a=stdlib-claims"], "a name is repeated in a, a"),
        (["compare", "contract", "--verdicts", "yes=agree"], "--verdicts: goes with a table of votes"),
        (
            ["compare", "votes.csv", "--columns", "items=claim,worker=judge"],
            "'items' is not the name of a column (did you mean 'item'?)",
        ),
        (["compare", "votes.csv", "--columns", "item=claim,worker"], "'worker' is not name=column"),
        (["compare", "votes.csv", "--columns", "item=a,worker=b,verdict=c,max_rounds=x"], "at least 1, got 'x'"),
        (
            ["compare", "votes.csv", "--columns", "item=claim,worker=judge,verdict=says"],
            "(did you mean 'agree'?) in 1 row",
        ),
        (
            ["convert", "votes.csv", "--columns", "item=claim,worker=judge,verdict=says", "--lenient", "--out", "t"],
            "--lenient",
        ),
        (["compare", "stdlib-claims/adversarial", "--truth", "truth.csv"], "no id of its 1 finding is in these runs"),
        (["datasets", "--claims", "3", "--out", "x.json"], "must be a .csv file, got 'x.json'"),
        (["datasets", "stdlib-claim"], "(did you mean 'stdlib-claims'?)"),
    ],
)
def test_ordinary_slips_are_told_and_nothing_is_written(cli, words, message, code):
    findings = write_findings(code, ["`f` has a parameter `b`."])
    findings.rename(code / "f.json")
    (code / "elsewhere").mkdir()
    (code / "votes.csv").write_text("claim,judge,says\nc1,a,agre\n")
    (code / "truth.csv").write_text("finding_id,truth\nX,1\n")
    before = set(code.rglob("*"))
    done = cli(*words, cwd=code)
    assert done.code == 2
    assert message in done.err
    assert set(code.rglob("*")) == before


def test_a_lenient_conversion_of_nothing_does_not_overwrite_good_tables(cli, tmp_path):
    cli("convert", "contract", "--out", tmp_path / "t")
    (tmp_path / "bad.json").write_text('{"schemaVersion": ')
    done = cli("convert", tmp_path / "bad.json", "--lenient", "--out", tmp_path / "t")
    assert done.code == 2
    assert len(vp.load(tmp_path / "t")) == len(vp.datasets.runs("contract"))


def test_votes_are_judged_by_rules_of_a_preset_or_a_file(cli, tmp_path):
    done = cli("replay", "stdlib-claims/adversarial", "--rules", "no-pruning")
    assert done.code == 0
    assert "720 findings, judged by no-pruning" in done.out
    assert "votes never cast could change the class of 622 findings: see low and high" in done.out
    path = tmp_path / "mine.json"
    path.write_text('{"mode": "adversarial", "quorum": 3}')
    assert "judged by" in cli("replay", "stdlib-claims/adversarial", "--rules", str(path)).out
    done = cli("explain", "stdlib-claims/adversarial", "F-0025", "--rules", "unanimous")
    assert "aggregate=unanimous decides: with aggregate=rules it would be partial-consensus." in done.out
    done = cli("replay", "stdlib-claims/adversarial", "--rules", "stiky-refutes")
    assert done.code != 0
    assert "'stiky-refutes' is neither rules nor the name of a preset (did you mean 'sticky-refutes'?)" in done.err


def test_rules_are_compared_by_names_in_a_list_and_over_sets(cli):
    compare = ("compare", "stdlib-claims/adversarial", "--resamples", "20")
    named = cli(*compare, "--rules", "run=as-recorded", "--rules", "strict=unanimous")
    assert "\nrun against strict: 720 findings" in named.out
    plain = cli(*compare, "--rules", "adversarial", "--rules", "unanimous")
    assert "\nadversarial against unanimous: 720 findings" in plain.out
    both = cli(*compare, "--other", "stdlib-claims/collaborative", "--rules", "unanimous")
    assert both.out.startswith("adversarial against collaborative: 720 findings")
    mixed = cli(*compare, "--rules", "run=as-recorded", "--rules", "unanimous")
    assert "--rules: 'unanimous' has no name, but others do. Fix: write each as NAME=PATH." in mixed.err


def test_votes_of_judges_are_explained_without_a_detour(cli, tmp_path):
    (tmp_path / "votes.csv").write_text("claim,judge,says\nc1,a,agree\nc1,b,disagree\n")
    done = cli("explain", tmp_path / "votes.csv", "c1", "--columns", "item=claim,worker=judge,verdict=says")
    assert "c1 in run votes, read as collaborative (the table names no mode): contested" in done.out


PLAN = """# Rename a function

Goal: change `m.py`.

1. Change `f` in `m.py`
2. Run `pytest -q`
3. Read the log
4. Tell the team
"""


def test_verify_takes_a_weights_file_and_tells_what_is_wrong_with_one(cli, code):
    (code / "PLAN.md").write_text(PLAN)
    zeros = dict.fromkeys(vp.rules.scoring.WEIGHTS, "0")
    for name, total in (("good", "1.0"), ("bad", "0.9")):
        content = {"version": 1, "weights": zeros | {"risk_coverage": total}}
        (code / f"{name}.json").write_text(json.dumps(content))
    refused = cli("verify", "PLAN.md", "--weights", "bad.json", cwd=code)
    assert refused.code == 2
    assert "Error: bad.json: weights: sum to 0.9. Fix: make them sum to exactly 1." in refused.err
    assert not (code / "runs").exists()
    done = cli("verify", "PLAN.md", "--weights", "good.json", cwd=code)
    assert done.code == 0, done.err
    [log] = (code / "runs").glob("*.jsonl")
    assert vp.read_run(log).started.plan.settings.weights == zeros | {"risk_coverage": "1.0"}
    scores = vp.load(log).scores
    assert scores.groupby("dimension", observed=True)["weight"].first().to_dict()["risk_coverage"] == 1.0


def test_ctrl_c_says_how_the_run_goes_on(tmp_path):
    plan = tmp_path / "long.md"
    steps = "\n".join(f"{n}. Change `src/m{n}.py` and run `pytest tests/test_m{n}.py`." for n in range(1, 250))
    plan.write_text(f"# Long\n\nGoal: change everything.\n\n{steps}\n")
    logs = tmp_path / "logs"
    given = ("verify", plan, "--repo", tmp_path, "--log-dir", logs)
    words = client("command", *given, signals=(signal.SIGINT,))
    with process(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        while running.poll() is None and not any(log.stat().st_size for log in logs.glob("*.jsonl")):
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
    assert running.returncode == 130, errors
    assert "Interrupted; nothing is half-written.\nThe run goes on by: verifyplan resume " in errors
    assert "Traceback" not in errors
    assert verifyplan("resume", next(logs.glob("*.jsonl"))).returncode == 0


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--help"], [f"\n  {name} " for name in COMMANDS]),
        (["rules", "show", "margin-2"], ["* stop = margin 2"]),
        (["rules", "diff", "majority", "unanimous"], ["aggregate: majority -> unanimous"]),
    ],
)
def test_lists_of_commands_and_rules_load_no_tables_charts_or_runs(words, shown):
    code = (
        f"import sys; sys.argv = ['verifyplan', *{words!r}]\n"
        "import atexit; atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "from verifyplan.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(text in done.stdout for text in shown)
    heavy = {"pandas", "numpy", "altair", "verifyplan.runs", "verifyplan.agents", "verifyplan.frames"}
    assert {"typer", "verifyplan.cli.app"} <= set(done.stderr.split())
    assert not heavy & set(done.stderr.split())


def test_a_comparison_imports_nothing_that_live_runs_charts_or_models_need():
    code = (
        "import sys; sys.argv = ['verifyplan', 'compare', 'contract']\n"
        "import atexit; atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "from verifyplan.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    slow = {"scipy.stats", "statsmodels", "sklearn", "altair", "anthropic", "httpx", "ipywidgets", "IPython"}
    slow |= {"dask", "distributed", "polars", "duckdb", "pyarrow.dataset", "jinja2", "tree_sitter", "markdown_it"}
    slow |= {f"verifyplan.{layer}" for layer in ("agents", "charts", "documents", "engine", "plans", "runs", "widgets")}
    assert "verifyplan.analysis.compare" in done.stderr.split()
    assert not slow.intersection(done.stderr.split())


@pytest.mark.parametrize("group", [app, rules], ids=["verifyplan", "rules"])
def test_a_command_is_listed_with_its_own_first_line(group):
    listing = typer.main.get_command(group)
    for name, listed in listing.LISTED.items():
        command = listing.loaded(name)
        assert command.name in (name, None, "")
        assert " ".join(command.help.split("\n\n")[0].split()) == listed.summary


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent as on POSIX")
@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("verifyplan.cli.app", ["--help"]),
        ("typer", ["--help"]),
        ("pydantic", ["--help"]),
        ("verifyplan.cli.plan", ["verify", "PLAN.md"]),
        ("numpy", ["verify", "PLAN.md"]),
        ("pandas._libs.lib", ["compare", "contract"]),
        ("verifyplan.runs.plan.run", ["verify", "PLAN.md"]),
    ],
)
def test_ctrl_c_while_importing_ends_quietly(tmp_path, module, words):
    """The process interrupts itself at the import of a module: the same moment on fast and on slow machines."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path.rstrip(os.pathsep)}
    done = subprocess.run([str(COMMAND), *words], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
    assert [entry.name for entry in tmp_path.iterdir() if entry.name != "__pycache__"] == ["sitecustomize.py"]


def test_a_report_that_cannot_be_written_is_refused_before_any_agent_is_asked(tmp_path):
    plan = tmp_path / "plan.md"
    plan.write_text("# Ship\n\nGoal: ship it.\n\n1. Build it\n2. Test it\n3. Ship it\n")
    (tmp_path / "file").write_text("")
    done = verifyplan("verify", plan, "--log-dir", tmp_path / "logs", "--report", tmp_path / "file" / "report.html")
    assert done.returncode == 2
    assert "--report" in done.stderr
    assert "name a file in a folder that you may write to" in done.stderr
    assert not (tmp_path / "logs").exists()


def test_empty_cells_are_lost_votes_where_the_shell_says_so(cli, tmp_path):
    votes = tmp_path / "votes.csv"
    votes.write_text("claim,judge,vote\nF,a,agree\nF,b,\nF,c,no\n")
    given = ("replay", votes, "--columns", "item=claim,worker=judge,verdict=vote", "--mode", "adversarial")
    assert "--verdicts no=disagree,=verification-error" in cli(*given, "--verdicts", "no=disagree").err
    done = cli(*given, "--verdicts", "=verification-error,no=disagree")
    assert (done.code, done.err) == (0, "")
    assert "partial-consensus: 1 (n = 1)" in done.out
    assert "'=agree' is not name=column" in cli("replay", votes, "--columns", "=agree").err


@pytest.mark.parametrize(
    ("command", "wrong", "meant"),
    [
        (("replay", "x", "--mode"), "adverserial", "adversarial"),
        (("replay", "x", "--policy"), "delibrate", "deliberate"),
        (("compare", "x", "--missing-basis"), "infre", "infer"),
    ],
)
def test_a_mistyped_choice_is_told_with_the_one_that_was_meant(cli, command, wrong, meant):
    done = cli(*command, wrong)
    assert done.code == 2
    assert f"(did you mean {meant!r}?)" in " ".join(done.err.split())


def test_commands_load_in_any_thread():
    """A handler of signals may be set in the main thread alone; a command that a server runs needs none."""
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(typer.main.get_command(app).loaded, "doctor").result() is not None
