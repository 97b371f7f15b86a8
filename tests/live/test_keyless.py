"""A backend without a key shows and estimates; a run on it is refused for Anthropic's host, before anything leaves."""

from __future__ import annotations

import asyncio

import pytest

import verifyplan as vp
from tests.live.live_runs import MODEL, Played
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import AGREE, finding
from verifyplan.errors import SettingsError

ARGUMENTS = [finding(worker="ann")], ("ann", "bob")
REFUSED = (
    r"api_key: no key: this backend was made without, and https://api\.anthropic\.com\S* answers none\. Fix: give one"
)


@pytest.fixture(autouse=True)
def own_host(monkeypatch):
    """The default address is Anthropic's own, and may be called."""
    for name in ("ANTHROPIC_BASE_URL", "VERIFYPLAN_OFFLINE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("base_url", [None, "https://api.anthropic.com/", "https://api.anthropic.com."])
def test_runs_on_anthropics_host_are_refused_and_leave_no_log(tmp_path, base_url):
    backend = vp.agents.Anthropic.keyless(model=MODEL, base_url=base_url)
    assert len(vp.preview(vp.crossverify, *ARGUMENTS, backend=backend).bodies) == 1
    with pytest.raises(SettingsError, match=REFUSED):
        vp.crossverify(*ARGUMENTS, backend=backend, log_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_batches_and_single_requests_are_refused(tmp_path):
    backend = vp.agents.Anthropic.keyless(model=MODEL)
    with pytest.raises(SettingsError, match=REFUSED):
        vp.batch_crossverify(*ARGUMENTS, backend=backend, log_dir=tmp_path)
    with pytest.raises(SettingsError, match=REFUSED):
        asyncio.run(backend.endpoints.send(None, "t1", {}))


def test_a_worker_on_anthropics_host_is_refused_beside_a_local_endpoint():
    workers = {"bob": {"model": MODEL, "base_url": "https://api.anthropic.com"}}
    backend = vp.agents.Anthropic.keyless(model=MODEL, base_url="http://localhost:1", workers=workers)
    with pytest.raises(SettingsError, match=REFUSED):
        vp.crossverify(*ARGUMENTS, backend=backend, log_dir=None)


def test_endpoints_that_take_no_key_are_asked():
    with ScriptedServer(Played({1: {"bob": {"F-1": AGREE}}})) as server:
        backend = vp.agents.Anthropic.keyless(model=MODEL, base_url=server.url)
        run = vp.crossverify(*ARGUMENTS, backend=backend, log_dir=None, progress=False)
    assert (len(server.requests), run.frames.votes["verdict"].tolist()[-1]) == (1, "agree")


def test_a_key_is_needed_only_by_who_asks_the_default_endpoint(monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with ScriptedServer(Played({1: {"bob": {"F-1": AGREE}}})) as server:
        workers = {name: {"model": MODEL, "base_url": server.url} for name in ("ann", "bob")}
        backend = vp.agents.Anthropic(workers=workers)
        run = vp.crossverify(*ARGUMENTS, backend=backend, log_dir=None, progress=False)
    assert (len(server.requests), run.frames.votes["verdict"].tolist()[-1]) == (1, "agree")
    assert repr(backend) == f"Anthropic({MODEL!r}, key from no setting: none is needed)"
    assert vp.agents.Anthropic(workers=workers, base_url="https://else.example")  # whom nobody asks
    for asking in ({"model": MODEL}, {"models": {"challenger": MODEL}}):
        with pytest.raises(SettingsError, match="no key was found"):
            vp.agents.Anthropic(workers=workers, **asking)
