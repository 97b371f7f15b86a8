"""Keys in the wrong place stand in no local that a notebook or an error tracker shows of our frames."""

from __future__ import annotations

import importlib
import io
import sys
import traceback
import warnings

import pytest
from IPython.core.ultratb import VerboseTB
from rich.console import Console
from rich.traceback import Traceback

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


def raised(call):
    """The error of a call, and all that notebooks, rich, error trackers and cgitb show of frames that are ours."""
    try:
        call()
    except (Exception, KeyboardInterrupt):
        kind, value, trace = sys.exc_info()
    else:
        pytest.fail("it was taken")
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next  # these frames are the caller's own
    captured = traceback.TracebackException(kind, value, trace, capture_locals=True)
    shown = ["".join(captured.format()), VerboseTB(theme_name="nocolor").text(kind, value, trace)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        cgitb = importlib.import_module("cgitb") if sys.version_info < (3, 13) else None
    if cgitb is not None:
        shown.append(cgitb.text((kind, value, trace)))
    rich = Traceback.from_exception(kind, value, trace, show_locals=True, locals_max_string=None)
    console = Console(file=io.StringIO(), width=200)
    console.print(rich)
    return value, "\n".join([*shown, console.file.getvalue(), repr(value), repr(value.args)])


@pytest.mark.parametrize("place", CALLS)
def test_a_misplaced_key_is_in_no_local(place):
    value, shown = raised(lambda: CALLS[place](KEY))
    assert isinstance(value, InputError)
    assert KEY not in shown
    assert type(value).__name__ in shown
    assert "verifyplan/errors.py" in shown


OWN = "Kq7-an-own-form-of-key"
"""A key of a form that nobody knows, which nothing has heard of before the call."""

WRONG_CALLS = {
    "a mistyped name": lambda key: vp.agents.Anthropic(MODEL, api_key=key, max_retry=3),
    "the name of the key mistyped": lambda key: vp.agents.Anthropic(MODEL, apikey=key),
    "the key by its place": lambda key: vp.agents.Anthropic(MODEL, key),
    "a mistyped name beside keys by address": lambda key: vp.agents.Anthropic(MODEL, api_keys={"http://a": key}, x=1),
    "a number in words": lambda key: vp.agents.Anthropic(MODEL, api_key=key, max_concurrency="x"),
    "no address": lambda key: vp.agents.Anthropic(MODEL, api_key=key, base_url="nonsense"),
    "an address that is a number": lambda key: vp.agents.Anthropic(MODEL, api_key=key, base_url=7),
    "prices that are none": lambda key: vp.agents.Anthropic(MODEL, api_key=key, prices=3),
    "a folder that is none": lambda key: vp.agents.Anthropic(MODEL, api_key=key, repo=3),
    "keys that are no mapping": lambda key: vp.agents.Anthropic(MODEL, api_keys=key),
    "keys in a list": lambda key: vp.agents.Anthropic(MODEL, api_keys=[key]),
    "a key in a list": lambda key: vp.agents.Anthropic(MODEL, api_key=[key]),
    "a key of bytes": lambda key: vp.agents.Anthropic(MODEL, api_key=key.encode()),
    "a key for a backend without": lambda key: vp.agents.Anthropic.keyless(MODEL, api_key=key),
    "a diagnosis": lambda key: vp.agents.diagnose(api_key=key),
    "a run": lambda key: vp.crossverify([FINDING], ["ann", "bob"], api_key=key, log_dir=None),
    "a plan run": lambda key: vp.verify("# A\n\n1. Do", api_key=key, log_dir=None),
    "a batch": lambda key: vp.batch_crossverify([FINDING], ["ann", "bob"], backend=MODEL, api_key=key),
    "a batch of plans": lambda key: vp.batch_verify(["a.md"], backend=MODEL, api_key=key),
    "an estimate": lambda key: vp.estimate([FINDING], workers=["ann", "bob"], model=MODEL, api_key=key),
    "a preview": lambda key: vp.preview(vp.crossverify, [FINDING], ["ann", "bob"], api_key=key),
    "a resumed run": lambda key: vp.resume("no.jsonl", api_key=key),
    "a revision": lambda key: vp.revise("no.md", api_key=key),
    "a bench": lambda key: vp.bench_plans(api_key=key),
}


@pytest.mark.parametrize("key", [OWN, KEY], ids=["of no known form", "of a known form"])
@pytest.mark.parametrize("call", WRONG_CALLS)
def test_a_key_is_in_no_frame_of_a_call_that_is_wrong_elsewhere(call, key):
    value, shown = raised(lambda: WRONG_CALLS[call](key))
    assert key not in shown
    assert type(value).__name__ in shown


@pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError])
def test_an_interrupt_and_an_error_of_a_dependency_show_no_key_and_say_where_they_were_raised(monkeypatch, kind):
    def fails(*_, **__):
        raise kind(f"with {OWN}")

    monkeypatch.setattr("verifyplan.agents.anthropic.backend.price_of", fails)
    value, shown = raised(lambda: vp.agents.Anthropic(MODEL, api_key=OWN))
    assert OWN not in shown
    assert isinstance(value, kind)
    assert f"Raised in {__file__}, line" in value.__notes__[0]


def test_errors_of_calls_without_a_key_keep_their_frames(monkeypatch):
    monkeypatch.setattr("verifyplan.agents.anthropic.backend.price_of", lambda *_: 1 / 0)
    value, shown = raised(lambda: vp.agents.Anthropic(MODEL, base_url="http://127.0.0.1:9"))
    assert isinstance(value, ZeroDivisionError)
    assert "backend.py" in shown


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
