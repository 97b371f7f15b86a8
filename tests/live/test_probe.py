"""Probes of endpoints of several kinds, over real HTTP: what they find, what they use, and what runs make of it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from tests.live.anybody import OPTIONS, anybody
from tests.live.imitated_endpoints import API, GATEWAY, KINDS, LLAMA, MODEL, VLLM, ImitatedEndpoint
from tests.live.live_runs import KEY, speaking_to
from tests.live.scripted_replies import hangs, resets, says, status
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import finding
from verifyplan.agents.anthropic.probe import Answered, _Probe
from verifyplan.agents.conformance import STEPS, TOO_FAST, ConformanceReport, probe, read_conformance
from verifyplan.agents.prices import price_of
from verifyplan.cli.app import app
from verifyplan.errors import AgentError, InputError, SettingsError
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.resume import read_run

ROOT = Path(__file__).resolve().parents[2]
FOUND = {
    API: {"answer_schema": "held", "counts": "refused", "tools": "held", "token_count": True, "prompt_cache": True,
          "reply_cache": False, "context": 200_000},
    LLAMA: {"answer_schema": "ignored", "counts": "ignored", "tools": "ignored", "token_count": False,
            "prompt_cache": False, "reply_cache": False, "context": None},
    VLLM: {"answer_schema": "held", "counts": "held", "tools": "held", "token_count": True, "prompt_cache": False,
           "reply_cache": False, "context": 32_768},
    GATEWAY: {"answer_schema": "refused", "counts": "refused", "tools": "held", "token_count": False,
              "prompt_cache": False, "reply_cache": True, "context": 128_000},
}  # fmt: skip
"""What a probe of each kind finds; how many at once is timed, which says little on a busy machine."""


@pytest.fixture(scope="module")
def probes():
    """The report of a probe of each kind, what was said before its requests, and the server."""
    made = {}
    for kind in KINDS:
        said: list[str] = []
        with ImitatedEndpoint(kind) as server:
            made[kind] = probe(MODEL, base_url=server.url, api_key=KEY, say=said.append), said, server
    return made


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.title)
def test_a_probe_finds_what_an_endpoint_holds_to_and_says_the_cost_first(kind, probes):
    report, said, server = probes[kind]
    assert {name: getattr(report, name) for name in FOUND[kind]} == FOUND[kind]
    assert (TOO_FAST in report.notes) == (report.at_once is None)
    assert report.at_once is None or report.at_once <= (2 if kind is LLAMA else 4)
    assert not (TOO_FAST in report.notes and kind is LLAMA), "its answers take long enough to tell"
    price = price_of(MODEL)
    skipped = {"counts": report.answer_schema != "held", "context": kind.context_key != ""}
    assert said == [step.line(price) for name, step in STEPS.items() if not skipped.get(name)]
    assert said[0].startswith("Does it answer? 1 request, about 60 tokens in, at most 20 out, about $")
    assert report.requests == sum(step.requests for name, step in STEPS.items() if not skipped.get(name))
    assert report.input_tokens < sum(step.input_tokens for step in STEPS.values())
    assert report.output_tokens <= sum(step.output_tokens for step in STEPS.values())
    assert len(server.requests) <= 13
    assert KEY not in report.model_dump_json()


def test_the_page_of_endpoints_shows_these_reports(probes):
    rows = {kind.title: dict(report.rows[:-1]) for kind, (report, _, _) in probes.items()}
    names = list(next(iter(rows.values())))
    lines = [f"| | {' | '.join(rows)} |", f"|---|{'---|' * len(rows)}"]
    lines += [f"| {name} | {' | '.join(answers[name] for answers in rows.values())} |" for name in names]
    page = (ROOT / "docs" / "endpoints.md").read_text()
    assert page.split("<!-- endpoints -->\n")[1].split("<!-- /endpoints -->")[0] == "\n".join(lines) + "\n"


def test_the_settings_that_fit_follow_from_the_report():
    def settings(**found):
        return ConformanceReport.model_validate(REPORT | found).settings

    assert settings(answer_schema="ignored", counts="ignored", at_once=1) == {"structured": False, "max_concurrency": 1}
    assert settings(context=32_768) == {"context": 32_768, "structured": "counts"}
    assert settings(answer_schema="refused", counts="refused", context=8192) == {"context": 8192, "structured": False}
    assert settings(counts="refused") == {}
    assert settings(answer_schema="unknown", counts="unknown", at_once=None) == {}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            status(401, message="invalid x-api-key"),
            "401: .*invalid x-api-key.* Fix: check the key from api_key; it goes",
        ),
        (status(404, message="model: none"), "404: .* Fix: check the model's name"),
        (status(400, message="prefill"), "400: .*prefill.* Fix: see what the endpoint says"),
        (status(500), "500: .* Fix: try again later, .*key and address may be right"),
        (status(503, 600), "503: .*; it asks to wait 10 min. Fix: try again in 10 min, as the endpoint asks"),
        (resets(), "no connection .* Fix: try again later"),
        (hangs(), "no answer: no answer in time. Fix: try again later"),
    ],
)
def test_an_endpoint_that_does_not_answer_is_an_error_after_one_request(answer, words):
    with ScriptedServer([answer]) as server, pytest.raises((SettingsError, AgentError), match=words) as raised:
        probe(MODEL, base_url=server.url, api_key=KEY, timeout=0.3)
    assert len(server.requests) == 1
    assert (raised.type is AgentError) == ("try again" in words)


def test_the_server_of_the_documentation_goes_through_a_probe():
    with ScriptedServer(anybody, **OPTIONS) as server:
        report = probe("qwen3", base_url=server.url)
    assert (report.answer_schema, report.tools) == ("held", "ignored")
    assert len(set(report.notes) - {TOO_FAST}) == 1


@pytest.mark.parametrize(
    ("alone_s", "together_s", "found"),
    [(0.004, 0.016, None), (0.004, 0.004, 4), (0.2, 0.8, 1), (0.2, 0.21, 4)],
)
def test_answers_that_are_too_fast_to_overlap_do_not_say_how_many_are_answered_at_once(
    alone_s, together_s, found, monkeypatch
):
    """By a clock of the test, since a busy machine makes any endpoint slow."""
    clock = [0.0]

    class Timed(_Probe):
        async def ask(self, said, *_, **__):
            seconds = alone_s if said.endswith("100.") else together_s / 4
            clock[0] += seconds
            return Answered({"content": []}, seconds=seconds)

    monkeypatch.setattr("verifyplan.agents.anthropic.probe.time", SimpleNamespace(monotonic=lambda: clock[0]))
    asking = Timed.__new__(Timed)
    asking.notes = []
    assert asyncio.run(asking.at_once()) == found
    assert asking.notes == ([] if found else [TOO_FAST])


def test_a_report_of_too_fast_answers_says_so_and_limits_nothing():
    report = ConformanceReport.model_validate(REPORT | {"at_once": None, "notes": ["404: x", TOO_FAST]})
    assert "  at once                             answered too fast to tell" in str(report)
    assert "max_concurrency" not in report.settings
    assert report.warnings == ()


def test_refusals_after_the_first_answer_are_unknowns_and_notes():
    def reply(asked):
        return says("OK.") if asked.number == 1 else status(529, message="overloaded")

    with ScriptedServer(reply) as server:
        report = probe(MODEL, base_url=server.url, api_key=KEY)
    assert (report.at_once, report.prompt_cache, report.reply_cache) == (None, None, None)
    assert any(note.startswith("529: ") and "overloaded" in note for note in report.notes)
    assert "  at once                             unknown" in str(report)
    assert (report.answer_schema, report.tools) == ("unknown", "unknown")
    assert "warning: unknown is still: holds answers to a schema, " in str(report)


def test_usage_that_cannot_be_read_is_noted_and_not_added_up():
    with ScriptedServer(lambda _: says("OK").using(input_tokens=-5)) as server:
        report = probe(MODEL, base_url=server.url, api_key=KEY)
    assert report.input_tokens == 0
    [note] = [note for note in report.notes if "usage" in note]
    assert "is missing or cannot be read" in note
    assert "a run with max_tokens or max_cost ends at the first" in note


def test_a_server_fault_refuses_what_it_names():
    def reply(asked):
        return status(500, message="tools param requires --jinja flag") if asked.tools else says("OK.")

    with ScriptedServer(reply) as server:
        report = probe(MODEL, base_url=server.url, api_key=KEY)
    assert (report.answer_schema, report.tools, report.warnings) == ("ignored", "refused", ())


def test_a_cache_of_replies_is_warned_of_though_it_takes_no_long_prompt(tmp_path):
    small = replace(GATEWAY, context=4000)
    out = tmp_path / "report.json"
    with ImitatedEndpoint(small) as server:
        options = ["doctor", "--base-url", server.url, "--model", MODEL, "--log-dir", str(tmp_path), "--probe"]
        shown = CliRunner().invoke(app, [*options, "--out", str(out)])
    report = read_conformance(out)
    assert (report.reply_cache, report.prompt_cache, report.context) == (True, None, 4000)
    assert "warning: two equal requests got one reply, with one message id" in shown.stdout
    assert f"The probe's report is in {out}" in shown.stderr


def test_a_run_with_a_report_takes_its_settings_and_keeps_it_in_its_log(tmp_path):
    votes = json.dumps({"votes": [{"finding_id": "F-1", "verdict": "AGREE", "explanation": ""}]})
    report = ConformanceReport.model_validate(REPORT | {"answer_schema": "ignored", "at_once": 1})
    with ScriptedServer([says(f"Hm. {votes}")]) as server:
        own = report.model_copy(update={"address": server.url})
        path = tmp_path / "report.json"
        path.write_text(own.model_dump_json())
        backend = speaking_to(server, MODEL, conformance=path)
        assert (backend.structured, backend.max_concurrency) == (False, 1)
        given = speaking_to(server, MODEL, conformance=own, structured="shape", max_concurrency=3)
        assert (given.structured, given.max_concurrency) == ("shape", 3)
        run = crossverify(
            [finding("F-1")], ["ann", "bob"], backend=backend, log_dir=tmp_path, progress=False, matcher=None,
            settings={"maxRounds": 1},
        )  # fmt: skip
    logged = read_run(run.log_path).started.backend
    assert read_conformance(logged["conformance"]) == own
    assert "output_config" not in server.requests[0].body
    again = type(backend).arguments_of(logged)
    assert (again["structured"], again["max_concurrency"], "conformance" in again) == (False, 1, False)


REPORT = {
    "address": "http://127.0.0.1:1", "model": MODEL, "date": "2026-01-01", "verifyplan": "0", "answer_schema": "held",
    "counts": "held", "tools": "held", "token_count": True, "prompt_cache": True, "reply_cache": False, "context": None,
    "at_once": 4, "requests": 1, "input_tokens": 1, "output_tokens": 1,
}  # fmt: skip


def test_a_report_about_another_model_is_refused():
    with (
        ScriptedServer([]) as server,
        pytest.raises(SettingsError, match=r"is about .* and the backend's own model is"),
    ):
        speaking_to(server, MODEL, conformance=REPORT)


@pytest.mark.parametrize(
    ("value", "words"),
    [({"model": "m"}, "is not a conformance report: address: Field required"), (REPORT | {"tools": 3}, "tools: Input")],
)
def test_what_is_no_report_is_refused(value, words, tmp_path):
    with pytest.raises(SettingsError, match=words):
        read_conformance(value)
    path = tmp_path / "report.json"
    path.write_text(json.dumps(value))
    with pytest.raises(SettingsError, match=words):
        read_conformance(path)
    path.write_text("{")
    with pytest.raises(InputError, match="is not JSON"):
        read_conformance(path)
    assert read_conformance(REPORT) == ConformanceReport.model_validate(REPORT)


def test_the_shell_probes_writes_the_report_and_says_costs_first(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    out = tmp_path / "report.json"
    with ImitatedEndpoint(VLLM) as server:
        options = ["doctor", "--base-url", server.url, "--model", MODEL, "--log-dir", str(tmp_path), "--probe"]
        shown = CliRunner().invoke(app, [*options, "--out", str(out)])
        as_json = CliRunner().invoke(app, [*options, "--json"])
    assert shown.exit_code == 0, shown.output
    assert "Does it call tools? 1 request, about 700 tokens in" in shown.stderr
    assert "holds lists to a number of entries  held" in shown.stdout
    assert read_conformance(out).context == 32_768
    assert json.loads(as_json.stdout)[-1]["report"]["context"] == 32_768


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--probe"], "--probe: needs a model"),
        (["--probe", "--model", "m", "--no-network"], "--no-network forbids it"),
        (["--out", "x.json"], "--out: is for the report of a probe"),
    ],
)
def test_options_of_a_probe_that_do_not_fit_are_refused(options, words):
    result = CliRunner().invoke(app, ["doctor", *options])
    assert isinstance(result.exception, SettingsError)
    assert words in str(result.exception)
    assert not Path("x.json").exists()
