"""Secrets of formats made up by a seed are found, ordinary lines stay; all of it is in benchmarks/secrets.py."""

from __future__ import annotations

import json
import re
import sysconfig
import time
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.secret_formats import made_up
from benchmarks.secrets import is_gone
from verifyplan.redaction import redact
from verifyplan.secret_rules.patterns import expression, expressions, places, rows

PROSE = ("password in a table", "password in prose")
"""Formats without any sign that a secret follows: these are missed, as docs/security.md says."""


def test_made_up_secrets_of_nearly_all_formats_are_gone():
    secrets = made_up(3, 3)
    gone = Counter(secret.name for secret in secrets if is_gone(secret))
    never = {secret.name for secret in secrets} - set(gone)
    assert never <= set(PROSE)
    assert sum(gone.values()) >= 0.96 * len(secrets)
    assert len({secret.name for secret in secrets}) >= 80


def test_what_is_redacted_is_redacted_once_and_keeps_its_lines():
    for secret in made_up(4, 1):
        once = redact(secret.text)
        assert redact(once) == once
        assert once.count("\n") == secret.text.count("\n")


@pytest.mark.parametrize("name", ["argparse.py", "http/client.py", "tokenize.py", "json/decoder.py", "getpass.py"])
def test_sources_stay_as_they_are(name):
    text = (Path(sysconfig.get_paths()["stdlib"]) / name).read_text(encoding="utf-8")
    assert redact(text) == text


ORDINARY = """\
password = os.environ["DB_PASSWORD"]
def login(user: str, password: str, token: Token | None = None) -> None:
password: SecretStr = Field(default=None)
client = Client(api_key=settings.api_key, token=self._token)
"password": "${DB_PASSWORD}", "token": "{{ token }}", 'secret': '<your secret>'
DB_PASSWORD=$PASSWORD
api_key: YOUR_API_KEY_HERE
password: ********
for key, value in tokens.items(): passed += key == "primary_key_of_table_7"
"integrity": "sha512-Tq6yWzJ3m2bXJZ5cQq9a0S1d2f3G4h5J6k7L8z9X0c1V2b3N4m5Q6w7E8r9T0y1U2i3O4p5A6s7D8f9G0h1J2k3==",
resolved "https://registry.example.com/a/-/a-1.0.0.tgz#6f1ed002ab5595859014ebf0951522d9aabbccdd"
cache_key = "v2-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ4kUqv7mV5tq0m9mVYw0q1m9mVYw0q1m9mVYw0q1m9 ann@host
postgres://user:password@localhost/db and https://user:${TOKEN}@host
max_tokens=4096, token_count: 128000, pad_token_id = 50256
The password is required; enter your password, then the token that was sent.
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased", use_auth_token=True)
raise ValueError("password must have at least 8 characters")
token: TokenOpt = None,
    fs-minipass: ^2.1.0
    return s.maxConcurrentConnections
    button.connect("clicked", "on_click_2"), canvas.bind("<Button-1>", "move_left1")
    verdaccio-htpasswd: 13.0.0-next-8.29
connect("postgresql", "utf8mb4"), connect("mysql", "UTF-16-LE"), login("ann", "iso-8859-15")
google-oauth2 = { git = "https://example.com/oauth.git", rev = "3f2504e04f8911d39a0c0305e82c33013f2504e0" }
"""


@pytest.mark.parametrize("line", ORDINARY.splitlines())
def test_ordinary_lines_stay_as_they_are(line):
    assert redact(line) == line


@pytest.mark.parametrize(
    "hint",
    [
        "token",
        "key.",
        "pass",
        "secret=",
        "password='",
        "://a:",
        "seed ",
        "a-b_",
        "-----BEGIN ",
        "zip -p ",
        "client(",
        "auth(",
        "uid=;",
        "snmp=",
        "connecta",
        "smtp1",
        "passx",
        "password,\n",
        "<th>password",
        "into t (password) values (",
        "secrets: {",
    ],
)
def test_no_text_takes_longer_than_its_length_allows(hint):
    start = time.process_time()
    redact(f'{hint * (100_000 // len(hint))} of = """')
    assert time.process_time() - start < 20  # 0.02 to 2 s; what is quadratic takes minutes


@pytest.mark.parametrize(
    "line",
    [
        "fine\nrocommunity Falcon1615 10.0.0.0/8",
        'variable "db_password" {\n  default = "Falcon-1615"\n}',
        "password: |\n  Falcon-1615",
        "<key>APIKey</key>\n<string>Falcon1615Falcon</string>",
        "tokenPassword=Falcon1615",
        "amber,PGPASSWORD=falconamber psql",
        'user, password = "ann", "Falcon1615"',
        "Password\n: Falcon1615",
        "-----BEGIN USER NKEY SEED-----\nSUFALCONFALCON2DBHILHTUPBHMMZCF6\n------END USER NKEY SEED------",
    ],
)
def test_values_on_the_next_line_and_behind_other_links_are_found(line):
    left = redact(line)
    assert "alcon" not in left
    assert left.count("\n") == line.count("\n")


@pytest.mark.parametrize(
    "line",
    [
        "openssl enc -aes-256-cbc -k Falcon1615 -in a",
        "net use Z: \\\\host\\share /user:ann Falcon1615",
        "echo Falcon1615 > .vault_pass",
        "mc alias set prod https://x.org ANN Falcon16151234ab",
        "ssh-keygen -t ed25519 -N 'Falcon-1615' -f id",
        "rabbitmqctl add_user ann Falcon1615",
        "[smtp.example.org]:587 ann@example.org:Falcon1615",
        "ann@example.org:{PLAIN}Falcon1615",
        'Pass "Falcon1615"',
        "IPSec secret falcon-amber-harbor",
        "radius-server host 10.0.0.1 key Falcon1615",
        'pre-shared-key ascii-text "Falcon1615"',
        "connect-network home wpa2 Falcon1615",
        'client = memcache.Client(("host:11211",), "ann", "Falcon1615!")',
        'secretKey := []byte("Falcon16151234ab")',
        'connect("postgresql", "Falcon1615")',
        "password: str = field(default='Falcon1615')",
        "keystore.storepass: Falcon1615",
        'password = "Falcon1615.fox"',
        "token refreshed: Falcon16151234falcoN1",
        "the old secret was Falcon1615",
        "The default credentials are admin/Falcon1615.",
        "Use Falcon1615 as the password for staging.",
        "Das Passwort lautet Falcon1615",
        "mot de passe : Falcon1615",
        "https://example.org/hooks/falcon1615falcon1615falcon",
        "Fastly-Key: Falcon16151234falcoN1",
        "pk_16151615_FALCON16151234FALCON16151234FALC",
    ],
)
def test_values_are_found_by_their_place(line):
    assert "alcon" not in redact(line).lower()


@pytest.mark.parametrize(
    "text",
    [
        "| Name | Type | Meaning |\n|---|---|---|\n| password | string | of the account 1615 |",
        "id\ttoken\tlemma\n1\tIt's\tit\n2\tsha256\tsha256",
        "user,password\nann,<your password>\nbob,********\neve,",
        "Option    Password  Token\n------    --------  -----\n--user    required  optional",
        "<tr><th>Password</th></tr><tr><td>required</td></tr>",
        "user, password = read(path), None",
        "tokens = [first, 'second', \"third\"]",
        '<input type="password" name="password" id="field_1615">',
        "const secret = process.env.SECRET_1A2;",
        "from x import token, password\nfrom y import Falcon1615, b",
    ],
)
def test_tables_elements_and_lists_without_secrets_stay_as_they_are(text):
    assert redact(text) == text


def test_tables_are_well_formed():
    formats = list(rows("token_formats.tsv"))
    assert len(formats) > 130
    assert all(len(row) == 4 and all(row) and re.compile(row[2]) for row in formats)
    for hints, pattern, _ in places():
        assert all(hint == hint.lower() for hint in hints)
        assert "key" in pattern.groupindex
    for section in expressions().keys() - {"names", "parts"}:
        assert all(expression(section, name) for name in expressions()[section])


def test_a_value_of_json_keeps_its_form():
    assert json.loads(redact(json.dumps({"password": 'a"b1-falcon', "n": 1}))) == {"password": "[redacted]", "n": 1}
