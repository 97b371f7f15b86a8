"""Models from a shell: options, files, variables, exit codes, over real HTTP on loopback; no key is ever an option."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import typer

import verifyplan as vp
from tests.live.live_runs import Played, turn_of
from tests.live.scripted_replies import hangs
from tests.live.scripted_server import ScriptedServer
from tests.processes import client
from tests.runs.crossing import AGREE, finding
from tests.runs.plan.planning import PLAN, challenge, scores
from verifyplan import redaction
from verifyplan.agents.anthropic.backend import Anthropic
from verifyplan.cli.agents import KEY_VARIABLES, arguments_model, read_agents
from verifyplan.cli.app import COMMANDS, app
from verifyplan.cli.listed_commands import ListedGroup
from verifyplan.cli.options import AgentOptions
from verifyplan.errors import SettingsError
from verifyplan.runs import estimate

COMMAND = Path(sys.executable).with_name("verifyplan")
OPUS, SONNET, HAIKU = "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"
SECRET = "sk-ant-api03-planted-in-a-file-of-arguments"
CALM = {f"i1/{role}": {} for role in ("challenger", "surface", "probe", "synthesizer")} | {
    "i1/score": scores(8),
    "i1/audit": scores(8),
}
"""A run of the base team that finds nothing."""
BLOCKED = CALM | {"i1/challenger": {"challenges": [challenge("locks", "BLOCKING")]}}


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VERIFYPLAN_MODEL", raising=False)
    monkeypatch.setattr(redaction, "_forms", ())
    (tmp_path / "PLAN.md").write_text(PLAN)
    found = [finding(f"F-{n}", "ann", evidence="PLAN.md:1") for n in range(1, 5)]
    (tmp_path / "findings.json").write_text(json.dumps(found))


def served(script=CALM, **more):
    return ScriptedServer(Played(script, silent=True), **more)


def votes(*_):
    return {"1": {name: {f"F-{n}": AGREE for n in range(1, 5)} for name in ("ann", "bob", "cy")}}


def models_of(server):
    return {turn_of(asked).removesuffix("/t1"): asked.model for asked in server.requests}


def write(name, text):
    Path(name).write_text(text if isinstance(text, str) else json.dumps(text))
    return name


def test_a_plan_is_verified_by_a_model(cli):
    with served() as server:
        done = cli("verify", "PLAN.md", "--model", HAIKU, "--base-url", server.url, "--synthetic", "--timeout", 30)
    assert (done.code, done.err) == (0, "")
    assert "PROCEED" in done.out
    run = vp.read_run("runs/PLAN-001.jsonl")
    assert run.started.backend["name"] == "anthropic"
    assert (run.started.synthetic, run.started.plan.settings.timeout) == (True, 30)
    assert set(models_of(server).values()) == {HAIKU}
    assert not server.refused


def test_findings_are_voted_on_by_models(cli):
    with served(votes()) as server:
        words = ("--workers", "ann,bob,cy", "--model", HAIKU, "--worker-model", f"bob={OPUS}", "--items-per-call", 2)
        done = cli("crossverify", "findings.json", *words, "--base-url", server.url)
    assert (done.code, done.err) == (0, "")
    assert "converged after 1 round" in done.out
    assert models_of(server) == {
        **dict.fromkeys(("r1/bob/p1", "r1/bob/p2"), OPUS),
        **dict.fromkeys(("r1/cy/p1", "r1/cy/p2"), HAIKU),
    }


def test_roles_and_the_panel_have_models_of_their_own(cli):
    words = ("--model", HAIKU, "--model-for", f"synthesizer={OPUS}", "--model-for", f"worker={SONNET}")
    panel = ("--panel-workers", "ann, bob", "--worker-model", f"bob={OPUS}", "--max-iterations", 1)
    with served(BLOCKED) as server:
        done = cli("verify", "PLAN.md", "--base-url", server.url, *words, *panel)
    assert done.err == ""
    models = models_of(server)
    assert (models["i1/challenger"], models["i1/synthesizer"]) == (HAIKU, OPUS)
    assert (models["i1/panel/r1/ann"], models["i1/panel/r1/bob"]) == (SONNET, OPUS)


@pytest.mark.parametrize("form", ["toml", "json"])
def test_a_file_says_more_and_options_say_it_last(cli, form):
    told = {"model": OPUS, "models": {"probe": {"model": SONNET, "max_tokens": 900}}, "effort": "low", "max_retries": 0}
    lines = [
        f'model = "{OPUS}"\neffort = "low"\nmax_retries = 0',
        f'[models]\nprobe = {{model = "{SONNET}", max_tokens = 900}}',
    ]
    file = write(f"agents.{form}", told if form == "json" else "\n".join(lines))
    with served() as server:
        words = ("--agents", file, "--model-for", f"probe={HAIKU}", "--effort", "high", "--base-url", server.url)
        done = cli("verify", "PLAN.md", *words)
    assert (done.code, done.err) == (0, "")
    bodies = {turn_of(asked): asked.body for asked in server.requests}
    assert bodies["i1/challenger/t1"]["model"] == OPUS
    assert (bodies["i1/probe/t1"]["model"], bodies["i1/probe/t1"]["max_tokens"]) == (HAIKU, 900)
    assert {body["output_config"]["effort"] for body in bodies.values()} == {"high"}
    assert vp.read_run("runs/PLAN-001.jsonl").started.backend["max_retries"] == 0


def test_a_variable_names_the_model_and_does_not_choose_the_backend(cli, monkeypatch):
    monkeypatch.setenv("VERIFYPLAN_MODEL", SONNET)
    assert cli("verify", "PLAN.md", "--log-dir", "a").code == 0
    assert vp.read_run("a/PLAN-001.jsonl").started.backend["name"] == "static"
    with served() as server:
        done = cli("verify", "PLAN.md", "--backend", "anthropic", "--base-url", server.url)
    assert (done.code, set(models_of(server).values())) == (0, {SONNET})
    with served() as server:
        cli("verify", "PLAN.md", "--model", HAIKU, "--base-url", server.url)
    assert set(models_of(server).values()) == {HAIKU}


def test_all_that_is_wrong_is_told_at_once_by_option(cli):
    words = ("--model-for", "chalenger=x", "--model-for", "probe", "--worker-model", "a=b", "--worker-model", "a=c")
    done = cli("verify", "PLAN.md", *words, "--base-url", "http://127.0.0.1:1", "--model", HAIKU)
    assert done.code == 2
    told = done.err.splitlines()
    assert told[0].startswith("Error: --model-for: 'probe' is not ROLE=MODEL. Fix: write it as ROLE=MODEL")
    assert told[1].startswith("--worker-model: 'a' is repeated")
    assert told[2].startswith("--model-for: 'chalenger' is not a role (did you mean 'challenger'?)")
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--backend", "anthropic"), "--model: no model is named. Fix: name one by --model or in VERIFYPLAN_MODEL"),
        (("--backend", "static", "--model", "x"), "--model: is for agents that are models"),
        (("--backend", "static", "--web"), "--web: is for agents that are models"),
        (("--model", "x", "--base-url", "ftp://here"), "--base-url: must be an http address, got 'ftp://here'"),
        (("--model", "x", "--base-url", "http://me:it@localhost"), "--base-url: holds a user or a password"),
        (("--model", "x"), "no key was found. Fix: give one as api_key="),
        (("--model", "x", "--effort", "huge"), "'--effort'"),
        (("--model", "x", "--max-concurrency", 0), "'--max-concurrency'"),
        (("--agents", "none.toml"), "--agents: 'none.toml' is not a file"),
        (("--agents", "PLAN.md"), "--agents: must be a .toml or .json file, got 'PLAN.md'"),
        (("--model", "x", "--prices", "no.toml", "--base-url", "http://127.0.0.1:1"), "no.toml"),
        (("--panel-workers", "ann,ann"), "--panel-workers: a name is repeated"),
        (("--panel-workers", "ann", "--no-panel"), "--panel-workers: does not go with --no-panel"),
        (("--repetitions", 2, "--report", "r.md"), "--report: is for one run, got 2"),
        (("--max-cost", 1), "max_cost: cannot be kept: its calls have no price"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_asked(cli, words, message):
    done = cli("verify", "PLAN.md", *words)
    assert (done.code, Path("runs").exists()) == (2, False)
    assert message in done.err
    assert "Traceback" not in done.err


def test_models_need_a_roster_of_names(cli):
    given = ("crossverify", "findings.json", "--model", HAIKU, "--base-url", "http://127.0.0.1:1")
    assert "'ann=window' names a checker" in cli(*given, "--workers", "ann=window,bob").err
    assert "--workers: a name is repeated" in cli(*given, "--workers", "ann,ann").err


@pytest.mark.parametrize(
    "content",
    [
        {"model": HAIKU, "api_key": SECRET},
        {"model": HAIKU, "api_keys": {"http://localhost:1": SECRET}},
        {"models": {"probe": {"model": HAIKU, "api_key": SECRET}}},
        {"model": HAIKU, "workers": {"ann": {"model": HAIKU, "auth-token": SECRET}}},
    ],
)
def test_a_key_in_a_file_is_refused_and_shown_nowhere(cli, content):
    done = cli("verify", "PLAN.md", "--agents", write("agents.json", content))
    assert done.code == 2
    assert ": a key is not read from a file, which others may see. Fix: set ANTHROPIC_API_KEY" in done.err
    assert SECRET not in done.err + done.out
    assert redaction.redact(f"it is {SECRET}") != f"it is {SECRET}"


def test_keys_of_other_endpoints_come_from_variables_that_a_file_names(cli, monkeypatch):
    with served(key="its-own-key-of-sonnet") as other, served(votes()) as server:
        content = {
            "model": HAIKU,
            "models": {"challenger": {"model": SONNET, "base_url": other.url}},
            KEY_VARIABLES: {other.url: "OTHER_KEY"},
        }
        file = write("agents.json", content)
        missing = cli("verify", "PLAN.md", "--agents", file, "--base-url", server.url)
        monkeypatch.setenv("OTHER_KEY", "its-own-key-of-sonnet")
        cli("verify", "PLAN.md", "--agents", file, "--base-url", server.url, "--max-iterations", 1)
    assert "key_variables: the variable 'OTHER_KEY' is not set" in missing.err
    assert list(models_of(other)) == ["i1/challenger"]
    assert "i1/challenger" not in models_of(server)
    assert "its-own-key" not in Path("runs/PLAN-001.jsonl").read_text()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.toml", "model = ", "cannot be read"),
        ("a.toml", b"\xff\xfe\x00", "a.toml"),
        ("a.json", "[1, 2]", "does not contain a table of arguments"),
        ("a.json", '{"a":' * 100_000, "cannot be read"),
        ("a.json", '{"models":' * 40 + "1" + "}" * 40, "has tables nested"),
        ("a.toml", "x" * 1_000_001, "is not a file of at most 1,000,000 bytes"),
        ("a.toml", 'modle = "x"', "modle: is not an argument of agents.Anthropic (did you mean 'model'?)"),
        ("a.toml", 'model = "x"\nweb = "no"\nmax_retries = 1.5', "max_retries: does not fit"),
        ("a.toml", 'model = "x"\nmax_retries = 99', "a.toml: max_retries: must be an integer from 0 to 20, got 99"),
        ("a.toml", 'models = {probe = {modle = "x"}}', "modle"),
    ],
)
def test_a_file_that_is_none_is_told_and_never_a_crash(cli, name, content, message):
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    done = cli("verify", "PLAN.md", "--agents", name, "--base-url", "http://127.0.0.1:1")
    assert done.code == 2
    assert message in done.err
    assert len(done.err) < 5000


def test_a_file_may_hold_what_the_backend_takes_and_nothing_else():
    takes = set(inspect.signature(Anthropic).parameters) - {"repo", "api_key", "api_keys"}
    assert set(arguments_model().model_fields) == takes | {KEY_VARIABLES}
    offered = {"model_for": "models", "worker_model": "workers"}
    options = {offered.get(name, name) for name in inspect.signature(AgentOptions).parameters} - {"backend", "agents"}
    assert options <= takes


def every_command():
    """Every command with the words that call it, those of groups included."""
    listing = typer.main.get_command(app)
    for name in COMMANDS:
        command = listing.loaded(name)
        for inner, one in getattr(command, "commands", {"": command}).items():
            yield f"{name} {inner}".strip(), command.loaded(inner) if isinstance(command, ListedGroup) else one


def test_the_key_is_no_option_of_any_command(cli):
    options = {name: {option for one in command.params for option in one.opts} for name, command in every_command()}
    live = {name for name, known in options.items() if "--model-for" in known}
    assert live >= {"verify", "crossverify", "resume", "estimate", "bench plans"}
    assert not {option for known in options.values() for option in known if "key" in option or "token" in option} - {
        "--max-tokens"
    }
    done = cli("verify", "PLAN.md", "--api-key", SECRET)
    assert (done.code, SECRET in done.err) == (2, False)
    assert "No such option: --api-key" in done.err
    for name in live:
        told = " ".join(cli(*name.split(), "--help").out.split())
        assert "ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or the keyring, never from an option" in told, name


def test_a_cost_that_is_used_up_exits_with_4(cli):
    words = ("--model", HAIKU, "--max-cost", "0.0000001")
    with served() as server:
        plan = cli("verify", "PLAN.md", *words, "--base-url", server.url)
    assert (plan.code, len(server.requests)) == (4, 1)
    with served(votes()) as server:
        given = ("--workers", "ann,bob,cy", "--items-per-call", 1, "--max-concurrency", 1)
        cross = cli("crossverify", "findings.json", *words, *given, "--base-url", server.url)
    assert (cross.code, len(server.requests)) == (4, 1)
    for done in (plan, cross):
        assert " --retry-failed" in done.out
        assert " --max-cost DOLLARS" in done.out
        assert "--max-tokens" not in done.out


def test_tokens_that_are_used_up_exit_with_4(cli):
    with served(votes()) as server:
        given = ("--workers", "ann,bob,cy", "--items-per-call", 1, "--max-concurrency", 1, "--max-tokens", 10)
        done = cli("crossverify", "findings.json", "--model", HAIKU, *given, "--base-url", server.url)
        plan = cli("verify", "PLAN.md", "--model", HAIKU, "--max-tokens", 10, "--base-url", server.url)
    assert (done.code, plan.code, len(server.requests)) == (4, 4, 2)
    for out in (done.out, plan.out):
        assert " --max-tokens TOKENS" in out
        assert "--max-cost" not in out


def test_a_cost_of_a_model_without_price_is_refused_with_the_lines_that_add_one(cli):
    words = ("verify", "PLAN.md", "--model", "my-model", "--max-cost", "1", "--max-iterations", 1)
    with ScriptedServer(Played(CALM, silent=True), models=()) as server:
        refused = cli(*words, "--base-url", server.url)
        lines = ["input", "output", "cache_write", "cache_read", "web_search"]
        prices = write("prices.toml", "\n".join(["[my-model]", *(f"{line} = 1" for line in lines)]))
        done = cli(*words, "--base-url", server.url, "--prices", prices)
    assert refused.code == 2
    assert "price of 'my-model': no table has it" in refused.err
    assert '["my-model"]\ninput = ...' in refused.err
    assert (done.code, done.err) == (0, "")


def test_agents_that_fail_exit_with_3(cli):
    fails = write("agents.json", {"model": HAIKU, "max_retries": 0})
    with served({"i1/challenger": "error", "i1/surface": "error"}) as server:
        plan = cli("verify", "PLAN.md", "--agents", fails, "--base-url", server.url)
    with ScriptedServer(lambda _: hangs()) as server:
        words = ("--workers", "ann,bob", "--agents", fails, "--base-url", server.url, "--timeout", 0.5)
        cross = cli("crossverify", "findings.json", *words)
    assert (plan.code, cross.code) == (3, 3)
    assert "aborted-non-result" in cross.out


def test_repetitions_are_runs_of_their_own(cli):
    with served() as server:
        words = ("--model", HAIKU, "--base-url", server.url, "--repetition", 3, "--repetitions", 2)
        done = cli("verify", "PLAN.md", *words)
        logs = sorted(Path("runs").glob("*.jsonl"))
        assert [vp.read_run(log).started.repetition for log in logs] == [3, 4]
        assert [line for line in done.out.splitlines() if line.startswith("repetition")] == [
            "repetition 3:",
            "repetition 4:",
        ]
        assert len(server.requests) == 2 * len(set(models_of(server)))
    crossed = cli("crossverify", "findings.json", "--workers", "ann=window,bob=search", "--repetitions", 2)
    assert (crossed.code, len(list(Path("runs/ad-hoc/state").glob("*.jsonl")))) == (0, 2)


def test_of_several_repetitions_the_first_that_did_not_end_well_gives_the_exit_code(cli):
    words = ("--model", HAIKU, "--max-cost", "0.0000001", "--repetitions", 2)
    with served() as server:
        assert cli("verify", "PLAN.md", *words, "--base-url", server.url).code == 4
    assert len(list(Path("runs").glob("*.jsonl"))) == 2


def test_a_run_goes_on_with_the_agents_of_its_log_or_others(cli):
    with served(BLOCKED) as first:
        words = ("--model", HAIKU, "--effort", "low", "--on-blocked", "pause")
        waits = cli("verify", "PLAN.md", *words, "--base-url", first.url)
    asked = len(first.requests)
    assert waits.code == 30
    log = "runs/PLAN-001.jsonl"
    with served(BLOCKED | {f"i2/{role[3:]}": told for role, told in CALM.items()}) as second:
        given = ("--base-url", second.url, "--model-for", f"synthesizer={OPUS}")
        done = cli("resume", log, "--answer", "acknowledge:C1", *given)
    assert (done.code, done.err) == (0, "")
    assert (len(first.requests), "i1/challenger" in models_of(second)) == (asked, False)
    models = models_of(second)
    assert models.pop("i2/synthesizer", OPUS) == OPUS
    assert set(models.values()) == {HAIKU}
    assert {body.body["output_config"]["effort"] for body in second.requests} == {"low"}


def test_a_key_goes_to_no_endpoint_that_only_a_log_names(cli, monkeypatch):
    with served(BLOCKED) as server:
        cli("verify", "PLAN.md", "--model", HAIKU, "--on-blocked", "pause", "--base-url", server.url)
        run = vp.read_run("runs/PLAN-001.jsonl")
        backend = run.started.backend | {"base_url": "https://elsewhere.example"}
        first = run.records[0]._replace(event=run.started.model_copy(update={"backend": backend}))
        stray = replace(run, records=(first, *run.records[1:]))
        monkeypatch.setattr(vp, "read_run", lambda _: stray)
        monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
        words = ("resume", "runs/PLAN-001.jsonl", "--answer", "abort", "--effort", "low")
        refused = cli(*words)
        named = cli(*words, "--base-url", server.url)
    assert refused.code == 2
    assert "--base-url: the log names the endpoint https://elsewhere.example" in refused.err
    assert named.code == 0


def test_bench_scores_models(cli, monkeypatch):
    asked = {}

    def bench(backend, **given):
        asked.update(given, backend=backend)
        raise SettingsError("not now")

    monkeypatch.setattr(vp, "bench_plans", bench)
    cli("bench", "plans", "--model", HAIKU, "--base-url", "http://127.0.0.1:1", "--timeout", 5)
    assert isinstance(asked["backend"], Anthropic)
    assert asked["timeout"] == 5
    cli("bench", "plans")
    assert (asked["backend"], asked["timeout"]) == ("static", 600)


def test_an_estimate_is_told_in_words_as_json_and_as_a_table(cli):
    words = ("estimate", "PLAN.md", "--model", HAIKU, "--max-iterations", 1, "--panel-workers", "a,b")
    done = cli(*words, "--out", "table.csv")
    assert (done.code, done.err) == (0, "")
    assert f"1 run by {HAIKU}:\n  low:      $" in done.out
    assert "expected, by role:" in done.out
    header, *rows = Path("table.csv").read_text().splitlines()
    assert header.startswith("case,role,model,calls,requests,input_tokens")
    assert {row.split(",")[0] for row in rows} == {"low", "expected", "high"}
    told = json.loads(cli(*words, "--json").out)
    assert told["low"]["calls"] < told["high"]["calls"]
    assert sum(part["calls"] for part in told["high"]["roles"]) == told["high"]["calls"]
    assert [part["calls"] for part in told["high"]["roles"] if part["role"] == "worker"] == [2]
    assert not Path("runs").exists()


def test_an_estimate_of_findings_takes_what_a_cross_run_takes(cli):
    words = ("estimate", "findings.json", "--workers", "ann,bob,cy", "--model", HAIKU, "--json")
    plain = json.loads(cli(*words).out)
    split = json.loads(cli(*words, "--items-per-call", 2, "--max-rounds", 1, "--batch", "--repetitions", 2).out)
    assert (plain["high"]["calls"], split["high"]["calls"]) == (4, 8)
    assert (split["runs"], split["batch"]) == (2, True)
    assert json.loads(cli(*words, "--mode", "collaborative").out)["low"]["input_tokens"] > 0


def test_an_estimate_needs_no_key_and_takes_the_variable_for_a_model(cli, monkeypatch):
    monkeypatch.setenv("VERIFYPLAN_MODEL", SONNET)
    file = write("agents.json", {"workers": {"ann": {"model": HAIKU, "base_url": "https://far.example"}}})
    assert cli("estimate", "PLAN.md", "--max-iterations", 1).code == 0
    told = json.loads(
        cli("estimate", "findings.json", "--workers", "bob,ann", "--agents", file, "--model", OPUS, "--json").out
    )
    assert {part["model"] for part in told["high"]["roles"]} == {OPUS}, "ann found them all and is not asked"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("PLAN.md",), "--model: no model is named"),
        (("PLAN.md", "--backend", "static"), "--backend: estimates are for models, got static"),
        (("PLAN.md", "--model", "x", "--workers", "a"), "--workers: cannot be used for plans"),
        (("PLAN.md", "--model", "x", "--max-rounds", 1), "--max-rounds: cannot be used for plans"),
        (("findings.json", "--model", "x", "--workers", "a", "--no-panel"), "cannot be used for findings"),
        (("findings.json", "PLAN.md", "--model", "x"), "sources: must be plans or findings, got both"),
        (("nowhere.md", "--model", "x"), "nowhere.md"),
    ],
)
def test_what_cannot_be_estimated_is_told(cli, words, message):
    done = cli("estimate", *words)
    assert done.code == 2
    assert message in done.err


def test_the_sets_of_the_command_are_those_of_the_library(cli):
    assert f"a bundled set: {', '.join(estimate.SETS)}." in " ".join(cli("estimate", "--help").out.split())


@pytest.mark.parametrize(
    "words", [["--help"], ["verify", "--help"], ["crossverify", "findings.json", "--workers", "ann=window,bob=search"]]
)
def test_the_sdk_is_not_loaded_where_no_model_is_asked(words):
    command = [sys.executable, "-X", "importtime", str(COMMAND), *words]
    done = subprocess.run(command, capture_output=True, text=True)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert done.returncode == 0, done.stderr[-2000:]
    assert "verifyplan.errors" in loaded
    assert not {name for name in loaded if name.partition(".")[0] in ("anthropic", "httpx2", "bm25s")}
    if "--help" in words:
        assert "verifyplan.runs.estimate" not in loaded


def test_the_command_itself_asks_a_model():
    with served(votes()) as server:
        words = ["crossverify", "findings.json", "--workers", "ann,bob,cy", "--model", HAIKU, "--base-url", server.url]
        done = subprocess.run(client("command", *words), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(server.requests) == 2


def test_arguments_are_read_as_they_are_written():
    file = Path(write("agents.toml", f'model = "{HAIKU}"\ntemperature = 1\nthinking = 2048\nweb = true\n'))
    assert read_agents(file) == {"model": HAIKU, "temperature": 1, "thinking": 2048, "web": True}


def test_workers_that_are_left_out_are_those_that_the_help_names(cli):
    Path("found.json").write_text('[{"finding_id": "F-1", "summary": "rows are locked", "evidence": "m.py:1"}]')
    for command in ("estimate", "crossverify"):
        more = ("--preview",) if command == "crossverify" else ()
        by_default, named = (
            cli(command, "found.json", "--model", HAIKU, *more, *workers)
            for workers in ((), ("--workers", "syntax-tree,window,search,quotation"))
        )
        assert (by_default.code, by_default.out) == (0, named.out), by_default.err
