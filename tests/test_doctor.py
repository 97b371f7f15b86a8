"""Whether the doctor tells right from wrong: what is installed, the key, the endpoint; over real HTTP on loopback."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tests.live.scripted_http import LoopbackServer, Reply, json_reply
from tests.live.scripted_server import ScriptedServer
from verifyplan import redaction
from verifyplan.agents import doctor as doctor_module
from verifyplan.agents.doctor import diagnose
from verifyplan.cli.doctor import doctor

SECRET = "sk-ant-api03-planted-key-of-the-doctor"
OTHER = "https://gateway.example"


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch, tmp_path):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "VERIFYPLAN_PRICES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(redaction, "_forms", ())
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def keyed(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)


class Faulty(LoopbackServer):
    """Answers every request by the same reply, and counts them."""

    def __init__(self, reply):
        super().__init__()
        self.reply, self.count = reply, 0

    async def answer(self, request):  # noqa: ARG002 - of the interface
        self.count += 1
        return self.reply


def checked(**settings):
    """The checks by name; no text of them holds the key."""
    checks = diagnose(**settings)
    assert SECRET not in repr(checks) + "".join(check.model_dump_json() + str(check) for check in checks)
    return {check.name: check for check in checks}


def endpoint(url, **settings):
    return checked(base_url=url, **settings)["endpoint"]


def command(*words):
    app = typer.Typer()
    app.command()(doctor)
    return CliRunner().invoke(app, list(words))


@pytest.mark.usefixtures("keyed")
def test_a_right_key_lists_the_models():
    with ScriptedServer([], models=("a", "b"), key=SECRET) as server:
        told = endpoint(server.url, model="a")
    assert (told.state, told.message) == ("ok", f"{server.url} answers and lists 2 models")
    assert server.count("/v1/models", "GET") == 1


@pytest.mark.usefixtures("keyed")
def test_a_model_that_the_endpoint_does_not_list_is_named():
    with ScriptedServer([], models=("a", "b")) as server:
        other = endpoint(server.url, model="c")
        assert (other.state, other.fix) == ("wrong", "use one of 'a', 'b'")
        assert other.message.endswith("answers, and 'c' is not among its 2 models")


@pytest.mark.usefixtures("keyed")
def test_a_wrong_key_is_told_with_where_it_came_from_and_not_shown():
    with ScriptedServer([], key="another") as server:
        told = endpoint(server.url)
    assert told.state == "wrong"
    assert told.message == f"{server.url}: the key from ANTHROPIC_API_KEY was refused (401)"
    assert told.fix == (
        "check the key from ANTHROPIC_API_KEY; it goes out as `Authorization: Bearer`: for an endpoint that reads "
        "`x-api-key`, set VERIFYPLAN_KEY_HEADER=x-api-key"
    )
    assert server.count("*", "GET") == 1


class ReadsHeader(ScriptedServer):
    """Takes its key in the header `x-api-key` alone."""

    async def answer(self, request):
        bearer = request.headers.pop("authorization", None)
        assert (bearer is None) is ("x-api-key" in request.headers)
        return await super().answer(request)


@pytest.mark.usefixtures("keyed")
def test_a_key_is_sent_in_the_header_that_the_environment_names(monkeypatch):
    with ReadsHeader([], key=SECRET) as server:
        assert endpoint(server.url).state == "wrong"
        monkeypatch.setenv("VERIFYPLAN_KEY_HEADER", "X-Api-Key")
        assert endpoint(server.url).state == "ok"
    with ScriptedServer([], key="another") as server:
        assert endpoint(server.url).fix.endswith("reads `Authorization`, unset VERIFYPLAN_KEY_HEADER")
    monkeypatch.setenv("VERIFYPLAN_KEY_HEADER", "cookie")
    told = checked(base_url=server.url)["key"]
    assert (told.state, told.message) == ("wrong", "VERIFYPLAN_KEY_HEADER: names no header for a key, got 'cookie'")


def test_an_endpoint_that_asks_for_a_key_where_none_is_set():
    with ScriptedServer([], key=SECRET) as server:
        told = endpoint(server.url)
    assert told.message == f"{server.url}: it asks for a key (401)"
    assert told.fix.startswith("no key is set; give one as api_key=, set the environment variable ANTHROPIC_API_KEY")


@pytest.mark.parametrize(
    ("reply", "fix"),
    [
        (
            json_reply({}, 529, **{"retry-after": "600"}),
            "try again in 10 min, as the endpoint asks, or ask who runs it",
        ),
        (json_reply({}, 503), "try again later, or ask who runs it; key and address may be right"),
        (Reply(b"{}", 200, sent=-1), "try again later, or ask who runs it; key and address may be right"),
    ],
)
@pytest.mark.usefixtures("keyed")
def test_an_outage_is_not_blamed_on_key_or_address(reply, fix):
    with Faulty(reply) as server:
        assert endpoint(server.url).fix.startswith(fix)


def test_this_machine_needs_no_key():
    with ScriptedServer([]) as server:
        checks = checked(base_url=server.url)
    assert (checks["key"].state, checks["endpoint"].state) == ("ok", "ok")
    assert "a placeholder for this machine" in checks["key"].message


@pytest.mark.parametrize(
    ("reply", "state", "why"),
    [
        (json_reply({"error": {"type": "api_error", "message": f"no {SECRET}"}}, 500), "wrong", "status 500"),
        (json_reply({"error": {"type": "overloaded_error", "message": "x"}}, 529), "wrong", "status 529"),
        (json_reply({}, 403), "wrong", "refused (403)"),
        (json_reply({}, 404), "skipped", "no list of models (404), which runs do not need"),
        (json_reply({}, 405), "skipped", "no list of models (405), which runs do not need"),
        (json_reply({}, 501), "skipped", "no list of models (501), which runs do not need"),
        (json_reply({}), "wrong", "not a list of models"),
        (json_reply([1, 2]), "wrong", "not a list of models"),
        (json_reply({"data": 5}), "wrong", "not a list of models"),
        (json_reply({"data": [{"name": SECRET}]}), "wrong", "not a list of models"),
        (Reply(b"<html><h1>Hello</h1></html>", 200, {"content-type": "text/html"}), "wrong", "not a list of models"),
        (Reply(b"<html>Bad Gateway</html>", 502, {"content-type": "text/html"}), "wrong", "status 502"),
        (Reply(b"", 200), "wrong", "not a list of models"),
        (Reply(b"{", 200), "wrong", "not a list of models"),
        (Reply(b"{}", 200, sent=-1), "wrong", "no connection"),
        (Reply(b"{}" + b" " * 99, 200, sent=3), "wrong", "no connection"),
    ],
)
@pytest.mark.usefixtures("keyed")
def test_what_an_endpoint_may_do_wrong_is_told_after_one_request(reply, state, why):
    with Faulty(reply) as server:
        told = endpoint(server.url)
    assert (told.state, server.count) == (state, 1)
    assert why in told.message
    assert bool(told.fix) is (state == "wrong")


@pytest.mark.parametrize("status", [404, 501])
@pytest.mark.usefixtures("keyed")
def test_an_address_that_ends_in_v1_gets_the_address_to_write(status):
    with Faulty(json_reply({}, status)) as server:
        told = endpoint(f"{server.url}/v1")
        assert told.state == "missing"
        assert told.fix == f"write base_url={server.url!r}: /v1/messages is added to it"


@pytest.mark.usefixtures("keyed")
def test_a_server_that_hangs_is_given_up():
    with Faulty(Reply(silence=30.0)) as server:
        start = time.monotonic()
        told = endpoint(server.url, timeout=0.3)
        assert time.monotonic() - start < 10
    assert (told.state, told.message) == ("wrong", f"{server.url}: no answer within 0.3 s")


class Dripping(LoopbackServer):
    """Sends a byte of its reply every tenth of a second: no single wait is long."""

    async def _exchange(self, request, reader, writer):  # noqa: ARG002 - of the interface
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n")
        for _ in range(100):
            writer.write(b" ")
            await asyncio.sleep(0.1)


@pytest.mark.usefixtures("keyed")
def test_a_server_that_drips_is_given_up():
    with Dripping() as server:
        start = time.monotonic()
        assert endpoint(server.url, timeout=0.5).message.endswith("no answer within 0.5 s")
        assert time.monotonic() - start < 4


@pytest.mark.usefixtures("keyed")
def test_a_refused_connection_is_told():
    with Faulty(Reply()) as server:
        gone = server.url
    told = endpoint(gone)
    assert told.state == "wrong"
    assert "no connection" in told.message
    assert told.fix == "check the address, and that a server answers there"


def test_it_works_where_an_event_loop_runs_as_in_notebooks():
    async def cell():
        return endpoint(server.url)

    with ScriptedServer([]) as server:
        assert asyncio.run(cell()).state == "ok"


def test_without_a_key_the_ways_to_give_one_are_told_and_nothing_is_asked(monkeypatch):
    monkeypatch.delenv("VERIFYPLAN_OFFLINE")
    checks = checked(base_url=OTHER)
    assert checks["key"].state == "missing"
    assert "ANTHROPIC_API_KEY" in checks["key"].fix
    server = Path(__file__).parents[1] / checks["key"].fix.split("tests.live.serve ")[1].split()[0]
    assert server.is_file()
    assert (checks["endpoint"].state, checks["endpoint"].message) == (
        "skipped",
        f"{OTHER} was not asked: there is no key",
    )


@pytest.mark.usefixtures("keyed")
def test_other_machines_are_not_asked_where_that_is_forbidden(monkeypatch):
    monkeypatch.setenv("VERIFYPLAN_OFFLINE", "1")
    told = endpoint(OTHER)
    assert (told.state, told.message) == ("skipped", f"{OTHER} was not asked: VERIFYPLAN_OFFLINE is set")


@pytest.mark.usefixtures("keyed")
def test_no_network_asks_nobody():
    with ScriptedServer([]) as server:
        told = endpoint(server.url, network=False)
    assert (told.state, told.message) == ("skipped", f"{server.url} was not asked: --no-network")
    assert server.count("*", "GET") == 0


def test_the_endpoint_of_the_environment_is_asked(monkeypatch):
    with ScriptedServer([]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        assert endpoint(None).state == "ok"


def test_a_key_that_cannot_be_sent_is_wrong(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", f"{SECRET}\n")
    told = checked(network=False)["key"]
    assert (told.state, told.message) == (
        "wrong",
        "ANTHROPIC_AUTH_TOKEN: holds a key with spaces or line breaks around it",
    )


def test_an_address_with_a_password_is_wrong_and_not_shown():
    told = endpoint(f"https://user:{SECRET}@gateway.example")
    assert (told.state, told.message) == ("wrong", "holds a user or a password, which would end up in logs")


@pytest.mark.usefixtures("keyed")
def test_a_key_within_an_address_or_a_folder_is_not_shown(tmp_path):
    checks = checked(base_url=f"{OTHER}/{SECRET}/", log_dir=tmp_path / SECRET, network=False)
    assert checks["endpoint"].message == f"{OTHER}/[redacted]/ was not asked: --no-network"
    assert checks["run logs"].message.endswith("[redacted] can be written")


def test_prices_are_told_where_a_model_is_named(tmp_path, monkeypatch):
    assert "prices" not in checked(network=False)
    assert checked(network=False, model="claude-haiku-4-5")["prices"].message.startswith(
        "claude-haiku-4-5: $1 in, $5 out"
    )
    missing = checked(network=False, model="my-model")["prices"]
    assert (missing.state, '["my-model"]' in missing.fix) == ("missing", True)
    assert missing.fix.endswith("cache_read = ...\n\nwithout it, runs work, but their cost is unknown")
    (tmp_path / "p.toml").write_text("[m]\ninput = -1\n")
    monkeypatch.setenv("VERIFYPLAN_PRICES", "p.toml")
    wrong = checked(network=False, model="my-model")["prices"]
    assert (wrong.state, wrong.message) == (
        "wrong",
        "p.toml: m: input: must be a number from 0 to 1,000,000, got -1 (and 3 more)",
    )


def test_what_is_not_installed_is_missing_with_the_command_that_brings_it(monkeypatch):
    monkeypatch.setattr(doctor_module, "version", no_version)
    monkeypatch.setattr(doctor_module.shutil, "which", lambda _: None)
    checks = checked()
    fixes = {name: check.fix for name, check in checks.items() if check.state == "missing" and name != "key"}
    assert fixes == {
        "anthropic": "pip install verifyplan",
        "bm25s": "pip install 'verifyplan[memory]'",
        "keyring": "pip install 'verifyplan[keyring]'",
        "crowd-kit": "pip install 'verifyplan[crowd]'",
        "playwright": "pip install 'verifyplan[dev]'",
        "git": "install git (Debian: apt-get install git)",
        "Chromium": "install Chromium (Debian: apt-get install chromium)",
    }


def test_every_extra_that_is_advised_exists():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    for package, (requirement, _) in doctor_module.PACKAGES.items():
        extra = requirement.strip("'").removeprefix("verifyplan").strip("[]")
        brought = project["optional-dependencies"][extra] if extra else project["dependencies"]
        assert any(line.startswith(f"{package}>=") for line in brought), package


def no_version(package):
    raise doctor_module.PackageNotFoundError(package)


@pytest.mark.usefixtures("keyed")
def test_without_the_sdk_no_endpoint_is_asked(monkeypatch):
    monkeypatch.setattr(doctor_module, "version", no_version)
    with ScriptedServer([]) as server:
        assert endpoint(server.url).message.endswith("was not asked: the package anthropic is not installed")


def test_a_program_that_does_not_run_is_wrong(tmp_path, monkeypatch):
    broken = tmp_path / "git"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    told = checked(network=False)["git"]
    assert (told.state, "does not run (CalledProcessError)" in told.message) == ("wrong", True)


def test_a_folder_that_takes_no_logs_is_wrong(tmp_path):
    (tmp_path / "file").write_text("")
    told = checked(network=False, log_dir=tmp_path / "file" / "runs")["run logs"]
    assert told.state == "wrong"
    assert not (tmp_path / "runs").exists()


def test_the_folder_for_logs_is_not_made(tmp_path):
    assert checked(network=False, log_dir=tmp_path / "runs")["run logs"].state == "ok"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("keyed")
def test_the_command_prints_a_line_each_and_never_the_key():
    with ScriptedServer([], key=SECRET) as server:
        done = command("--base-url", server.url)
    assert done.exit_code == 0, done.output
    assert f"ok       endpoint: {server.url} answers and lists 3 models\n" in done.output
    assert all(line[:9].strip() in ("ok", "missing") for line in done.output.splitlines())
    assert SECRET not in done.output


@pytest.mark.usefixtures("keyed")
def test_the_command_ends_with_1_if_something_is_wrong():
    with ScriptedServer([], key="another") as server:
        done = command("--base-url", server.url, "--json")
    assert done.exit_code == 1
    assert SECRET not in done.output
    by_name = {check["name"]: check for check in json.loads(done.output)}
    assert by_name["endpoint"]["state"] == "wrong"
    assert set(by_name["endpoint"]) == {"name", "state", "message", "fix"}


def test_what_is_missing_does_not_end_the_command_with_1():
    done = command("--no-network", "--model", "my-model")
    assert done.exit_code == 0
    assert "missing  prices: price of 'my-model': no table has it. Fix: " in done.output
    assert '\n         ["my-model"]\n' in done.output


def test_the_sdk_is_loaded_only_to_ask_an_endpoint():
    code = (
        "import sys; import verifyplan.cli.doctor; from verifyplan.agents.doctor import diagnose; "
        "import verifyplan.agents.anthropic.key, verifyplan.agents.prices; "
        "diagnose(network=False); sys.exit('anthropic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
