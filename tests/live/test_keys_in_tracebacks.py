"""Keys in the wrong place stand in no local that a notebook or an error tracker shows of our frames."""

from __future__ import annotations

import sys
import traceback

import pytest
from IPython.core.ultratb import VerboseTB

import verifyplan as vp
from tests.live.leaking import OTHERS
from tests.live.live_runs import MODEL, Played, speaking_to
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import AGREE, finding
from verifyplan import redaction
from verifyplan.errors import InputError, SettingsError

KEY = OTHERS["anthropic"]
IN_USE = "an-own-key-of-no-known-form"
FINDING = {"finding_id": "F-1", "summary": "a claim", "worker": "cy"}

CALLS = {
    "a model": lambda key: vp.agents.Anthropic(key, api_key="of-the-example"),
    "a key that is no key": lambda key: vp.agents.Anthropic(MODEL, api_key=f"{key} "),
    "a model without a key": lambda key: vp.agents.Anthropic.keyless(model=key),
    "the model of a role": lambda key: vp.agents.Anthropic(models={"challenger": key}, api_key="of-the-example"),
    "the name of a worker": lambda key: vp.agents.Anthropic(workers={key: {"model": 7}}, api_key="of-the-example"),
    "an address": lambda key: vp.agents.Anthropic(
        MODEL, base_url=f"http://{key}@localhost:1", api_key="of-the-example"
    ),
    "the query of an address": lambda key: vp.agents.Anthropic.keyless(
        model=MODEL, base_url=f"http://h/?api_key={key}"
    ),
    "a setting": lambda key: vp.agents.Anthropic(models={"worker": {"api_key": key}}, api_key="of-the-example"),
    "a roster": lambda key: vp.crossverify([FINDING], ["ann", key], log_dir=None),
    "a task type": lambda key: vp.crossverify([FINDING], ["window", "search"], task_type=key, log_dir=None),
    "a panel": lambda key: vp.verify(vp.plans.parse_plan("# A\n\n1. Do"), panel=["ann", key], log_dir=None),
    "an estimate": lambda key: vp.estimate(vp.plans.parse_plan("# A\n\n1. Do"), model=key),
    "a preview": lambda key: vp.preview(vp.crossverify, [FINDING], ["ann", key]),
    "a resumed run": lambda key: vp.resume("no.jsonl", base_url=f"http://x:{key}@h"),
}


@pytest.fixture(autouse=True)
def _in_use(monkeypatch):
    monkeypatch.setattr(redaction, "_forms", ())
    monkeypatch.setenv("ANTHROPIC_API_KEY", IN_USE)


@pytest.mark.parametrize("place", CALLS)
def test_a_misplaced_key_is_in_no_local(place):
    try:
        CALLS[place](KEY)
    except InputError:
        kind, value, trace = sys.exc_info()
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next  # these frames are the caller's own
        captured = traceback.TracebackException(kind, value, trace, capture_locals=True)
        shown = "".join(captured.format()) + _verbose(kind, value, trace)
    else:
        pytest.fail("it was taken")
    assert KEY not in shown
    assert KEY not in str(value)
    assert kind.__name__ in shown
    assert "verifyplan/errors.py" in shown


def _verbose(kind, value, trace):
    return VerboseTB(theme_name="nocolor").text(kind, value, trace)


def resumed(log, **given):
    return vp.resume(log, progress=False, **given)


@pytest.fixture
def broken_log(tmp_path):
    """A run whose server is gone: its log names a port of this machine."""
    votes = {1: {"bob": {"F-1": AGREE}, "cy": {"F-1": AGREE}}}
    with ScriptedServer(Played(votes)) as server:
        run = vp.crossverify(
            [finding(worker="ann")], ["ann", "bob", "cy"], backend=speaking_to(server), log_dir=tmp_path, progress=False
        )
    lines = run.log_path.read_text().splitlines(keepends=True)
    run.log_path.write_text("".join(lines[:2]))
    return run.log_path, server.url


def test_a_port_that_only_a_log_names_gets_no_key_of_the_environment(broken_log):
    log, url = broken_log
    with pytest.raises(SettingsError, match=f"the log names the endpoint {url}") as caught:
        resumed(log)
    assert "the key of ANTHROPIC_API_KEY is not sent to another unasked" in str(caught.value)
    assert f"base_url='{url}' or --base-url" in str(caught.value)


def test_it_goes_on_where_the_endpoint_is_confirmed(broken_log):
    log, url = broken_log
    votes = {1: {"bob": {"F-1": AGREE}, "cy": {"F-1": AGREE}}}
    with ScriptedServer(Played(votes)) as other:
        run = resumed(log, base_url=other.url)
        assert len(other.requests) == 2
    assert run.has_ended
    assert url != other.url


def test_without_a_key_a_port_of_this_machine_is_asked(broken_log, monkeypatch):
    log, _ = broken_log
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setattr("verifyplan.agents.anthropic.key._from_keyring", lambda: (None, ""))
    assert resumed(log).has_ended  # its calls fail, as the server is gone; none had a key to lose


def test_secrets_in_headers_of_the_environment_count_as_a_key(broken_log, monkeypatch):
    log, _ = broken_log
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Gateway-Key: of-the-gateway-1a2b")
    with pytest.raises(SettingsError, match="the key of ANTHROPIC_CUSTOM_HEADERS is not sent"):
        resumed(log)
