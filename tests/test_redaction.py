"""What is never written: remembered secrets in any form, and what looks like a key; nothing else is touched."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import random
import string
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.longer import LONG
from verifyplan import redaction
from verifyplan.protocol.base import Model
from verifyplan.protocol.call import Item, WorkerRequest
from verifyplan.redaction import MARK, redact, redacted, remember

LETTERS = string.ascii_letters + string.digits
MILLION = 1_000_000


@pytest.fixture(autouse=True)
def forgets(monkeypatch):
    """Secrets of these tests are not left to others."""
    monkeypatch.setattr(redaction, "_forms", redaction._forms)


def made_up(n, alphabet=LETTERS, seed=7):
    return "".join(random.Random(f"{seed}{n}").choices(alphabet, k=n))


PEM = "\n".join(
    [
        "-----BEGIN RSA PRIVATE KEY-----",
        *(made_up(64, seed=i) for i in range(3)),
        "a1b2=",
        "-----END RSA PRIVATE KEY-----",
    ]
)
KEYS = {
    "anthropic": f"sk-ant-api03-{made_up(93)}",
    "openai": f"sk-{made_up(48)}",
    "openai project": f"sk-proj-{made_up(40)}-{made_up(30)}_{made_up(20)}",
    "aws id": f"AKIA{made_up(16, string.ascii_uppercase + '234567')}",
    "github": f"ghp_{made_up(36)}",
    "github fine-grained": f"github_pat_{made_up(22)}_{made_up(59)}",
    "slack": f"xoxb-{made_up(12, string.digits)}-{made_up(24)}",
    "google": f"AIza{made_up(35)}",
    "jwt": f"eyJ{made_up(30)}.eyJ{made_up(60)}.{made_up(43)}",
}
AROUND = (
    "{}",
    "key={}",
    '"{}"',
    "see `{}`.",
    "({})",
    "https://host/?k={}&x=1",
    "first\n{}\nlast",
    r"escaped\n{}\n",
    "k%3D{}",
)


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("around", AROUND)
def test_what_looks_like_a_key_is_taken_out_wherever_it_stands(name, around):
    assert redact(around.format(KEYS[name])) == around.format(MARK)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer 0a1b2c3d4e5f60718293", "Authorization: Bearer [redacted]"),
        ("authorization: bearer a1b2c3d4", "authorization: bearer [redacted]"),
        ("Authorization: Basic dXNlcjpwYXNzMTIz", "Authorization: Basic [redacted]"),
        ("curl -H 'x-api-key: abc123def456' u", "curl -H 'x-api-key: [redacted]' u"),
        ('{"x-api-key": "abc123def456"}', '{"x-api-key": "[redacted]"}'),
        (r'"{\"X-Api-Key\": \"abc123def456\"}"', r'"{\"X-Api-Key\": \"[redacted]\"}"'),
        ("[(b'x-api-key', b'abc123def456')]", "[(b'x-api-key', b'[redacted]')]"),
        ("export ANTHROPIC_API_KEY=abc123def456", "export ANTHROPIC_API_KEY=[redacted]"),
        ("ANTHROPIC_AUTH_TOKEN='abc123def456'", "ANTHROPIC_AUTH_TOKEN='[redacted]'"),
        (f"aws_secret_access_key = {made_up(40)}", "aws_secret_access_key = [redacted]"),
    ],
)
def test_what_a_header_or_a_variable_gives_is_taken_out(text, expected):
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Set `sk-ant-...` or sk-ant-api03-your-key-goes-here or sk-ant-xxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-learn-compatible-estimators-module and task-0a1b2c3d4e5f60718293 and disk-usage-reporter-of-2024",
        "commit edac2592943e10aae35599b96a2e9680cbf6fa4c of 6f1ed002ab5595859014ebf0951522d9",
        "sha256:" + hashlib.sha256(b"x").hexdigest(),
        "data:image/png;base64," + base64.b64encode(random.Random(3).randbytes(3000)).decode(),
        base64.urlsafe_b64encode(random.Random(4).randbytes(3000)).decode(),
        "id 123e4567-e89b-12d3-a456-426614174000",
        "Bearer authentication of all endpoints; the Bearer OAuth2Token; a bearer of bad news",
        "-H 'x-api-key: $ANTHROPIC_API_KEY' and headers['x-api-key'] = settings.anthropic_api_key",
        "x-api-key: <your key>, ANTHROPIC_API_KEY=${KEY}, ANTHROPIC_API_KEY=...",
        "basic authentication2 and Authorization: Basic credentials",
        "AKIA..., ghp_..., AIza..., xoxb-..., eyJ..., xoxb-is-a-kind-of-token",
        "A file that begins with `-----BEGIN PRIVATE KEY-----` and ends with `-----END PRIVATE KEY-----` is refused.",
        "-----BEGIN PUBLIC KEY-----\n" + made_up(64) + "\n-----END PUBLIC KEY-----",
        "Grüße, 日本語, \x00\x1b[0m \ud800 and a lone \r",
    ],
)
def test_what_is_no_key_stays_as_it_is(text):
    assert redact(text) == text


@pytest.mark.parametrize("kind", ["RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", ""])
def test_a_private_key_becomes_as_many_lines(kind):
    text = f"before\n{PEM.replace('RSA ', kind)}\nafter"
    assert redact(text) == "before\n" + "\n".join([MARK] * 6) + "\nafter"


@pytest.mark.parametrize("indent", ["    ", "> ", "| ", '"'])
def test_a_private_key_is_found_indented_and_quoted(indent):
    kept = redact("\n".join(indent + line for line in PEM.splitlines()))
    assert kept.count("\n") == 5
    assert made_up(64, seed=1) not in kept


def test_a_private_key_that_is_cut_off_is_taken_out_as_far_as_it_goes():
    cut = "\n".join(PEM.splitlines()[:3]) + "\nThe file ends here."
    assert redact(cut) == "\n".join([MARK] * 3) + "\nThe file ends here."


def test_a_private_key_in_a_string_of_json_is_taken_out():
    assert redact(json.dumps({"key": PEM})) == '{"key": "[redacted]"}'


SECRETS = st.text(
    st.characters(codec="utf-8", exclude_characters="[]", exclude_categories=["Zs", "Zl", "Zp", "Cc"]), min_size=8
)
"""No brackets: those of the mark could meet the ends of such a secret."""


@given(SECRETS.filter(lambda secret: not set(secret) <= set(MARK)), st.text(), st.text(), st.booleans())
def test_a_remembered_secret_never_survives(secret, before, after, twice):
    remember(secret)
    kept = redact(before + secret * (1 + twice) + after)
    assert secret not in kept
    assert MARK in kept


@given(SECRETS.filter(lambda secret: not set(secret) <= set(MARK)))
def test_a_remembered_secret_is_found_escaped(secret):
    remember(secret)
    for form in (quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1], html.escape(secret)):
        assert redact(f"<{form}>") == f"<{MARK}>"
    lower = "".join(f"%{byte:02x}" if f"%{byte:02X}" in quote(secret) else chr(byte) for byte in secret.encode())
    assert lower != quote(secret).lower() or redact(lower) == MARK


@given(st.binary(max_size=20), st.binary(max_size=20), st.booleans())
def test_a_remembered_secret_is_found_within_base64(before, after, for_urls):
    secret = "correct horse/battery+staple?~"
    remember(secret)
    encode = base64.urlsafe_b64encode if for_urls else base64.b64encode
    kept = redact(encode(before + secret.encode() + after).decode())
    assert MARK in kept
    rest = kept.replace(MARK, "")
    assert len(rest) <= (len(before) + len(after)) * 4 / 3 + 8


PIECES = [
    *KEYS.values(),
    PEM,
    *PEM.splitlines(),
    "Bearer ",
    "x-api-key: ",
    "\n",
    "\r\n",
    "a1",
    " ",
    "hunter2-hunter2",
    '"',
    MARK,
]
MANY = st.lists(st.sampled_from([*PIECES, *"-[]redact\u2028\x0c"])).map("".join)


@given(MANY | st.text())
def test_redacting_keeps_the_lines_and_redacting_twice_changes_nothing(text):
    remember("hunter2-hunter2")
    once = redact(text)
    assert redact(once) == once
    assert len(once.splitlines()) == len(text.splitlines())
    assert once.count("\n") == text.count("\n")


@pytest.mark.parametrize("secret", ["", "short", "  spaces ", "[redacted]", "redacted", "[[[[[[[[["])
def test_what_is_too_short_or_part_of_the_mark_is_not_remembered(secret):
    before = redaction._forms
    remember(secret)
    assert redaction._forms == before
    assert redact(f"the {secret} text") == f"the {secret} text"


def test_a_secret_that_meets_the_mark_is_gone_too():
    remember("acted]-tail")
    remember("hidden-head")
    assert "acted]-tail" not in redact("hidden-head-tail-tail")


def test_of_a_secret_of_many_lines_each_line_is_one():
    remember("first-line-of-it\r\nsecond-line-of-it\n")
    assert redact("x first-line-of-it\ny second-line-of-it") == "x [redacted]\ny [redacted]"


def test_a_longer_secret_is_taken_out_before_a_shorter_one_within_it():
    remember("swordfish-1")
    remember("swordfish-1-and-more")
    assert redact("swordfish-1-and-more, swordfish-1") == "[redacted], [redacted]"


def test_threads_forget_no_secret_of_each_other():
    secrets = [f"secret-of-thread-{n:03}" for n in range(200)]
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(remember, secrets))
    assert redact(" ".join(secrets)) == " ".join([MARK] * 200)


class Loose(Model, extra="allow"):
    names: tuple[str, ...] = ()


def test_values_and_models_are_redacted_through_and_through():
    remember("hunter2-hunter2")
    item = Item(finding_id="F1", summary="it says hunter2-hunter2", evidence="a.py:1")
    request = WorkerRequest(
        call_id="r1/w", worker="w", round=1, mode="adversarial", verification_mode="lightweight",
        items=(item,), documents={"hunter2-hunter2.md": "text"},
    )  # fmt: skip
    value = {"k": [1, 2.5, None, True, ("x", {"hunter2-hunter2": KEYS["github"]})], "r": request}
    kept = redacted(value)
    assert kept["k"] == [1, 2.5, None, True, ("x", {MARK: MARK})]
    assert kept["r"].items[0].summary == "it says [redacted]"
    assert kept["r"].documents == {"[redacted].md": "text"}
    assert kept["r"].worker == "w"
    assert value["r"] is request
    assert request.items[0] is item
    assert "hunter2" in item.summary


def test_fields_that_a_model_allows_besides_its_own_are_redacted():
    remember("hunter2-hunter2")
    kept = redacted(Loose(names=("a",), other={"x": "hunter2-hunter2"}))
    assert kept.model_extra == {"other": {"x": MARK}}


def test_keys_that_become_equal_are_numbered_and_none_is_lost():
    remember("hunter2-hunter2")
    remember("swordfish-fish")
    assert redacted({"hunter2-hunter2": 1, MARK: 2, "swordfish-fish": 3}) == {
        "[redacted] 2": 1,
        MARK: 2,
        "[redacted] 3": 3,
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner) | st.lists(inner).map(tuple),
)


@given(JSON)
def test_what_holds_no_secret_is_returned_as_it_is(value):
    assert redacted(value) is value


def test_a_value_nested_beyond_reason_is_replaced_and_does_not_crash():
    deep: list = ["sk-" + made_up(30)]
    for _ in range(100_000):
        deep = [deep]
    kept = redacted(deep)
    for _ in range(redaction.DEEPEST):
        kept = kept[0]
    assert kept == MARK


SLOW = {
    "prose": "The quick brown fox jumps over the lazy dog with authentication. ",
    "base64": base64.b64encode(random.Random(5).randbytes(75_000)).decode(),
    "sk-": "sk-",
    "eyJ": "eyJ",
    "eyJ.": "eyJaaaaaaaaa.",
    "begin": "-----BEGIN PRIVATE KEY-----",
    "begin and lines": "-----BEGIN PRIVATE KEY-----\nabcdefghijklmnopqrst\n",
    "begin and words": "-----BEGIN A B ",
    "dashes": "-",
    "bearer": "bearer ",
    "headers": "x-api-key: ",
    "authorization": "authorization: bearer ",
    "AKIA": "AKIA",
    "AIza": "AIza",
    "keys": "sk-ant-a1b2c3d4e5f6a7b8c9d0e1f2 ",
    "remembered": "hunter2-hunter2 ",
    "quotes": "x-api-key\\\\\\\"' = \\\\\\",
}


@pytest.mark.parametrize("name", SLOW)
def test_a_long_text_takes_no_longer_than_its_length(name):
    remember("hunter2-hunter2")
    megabytes = 5 if LONG else 1
    text = SLOW[name] * (megabytes * MILLION // len(SLOW[name]))
    start = time.process_time()
    redact(text)
    assert time.process_time() - start < 2 * megabytes  # 0.03 to 0.5 s each; what is quadratic takes an hour


def test_long_runs_of_one_kind_are_fast():
    start = time.process_time()
    for text in ("sk-" + "a" * MILLION, "bearer " + "=" * MILLION, "x-api-key:" + " " * MILLION, "eyJ" * MILLION + "."):
        redact(text)
    assert time.process_time() - start < 5
