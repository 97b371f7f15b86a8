"""Secrets made up by a seed, in the formats in which they stand in files: one template a format, by family.

A template holds one secret in braces, made of parts: `{b62:36}` are 36 letters and digits, `{pw}` is a password as people
choose them, what stands between parts is literal; `[b62:5]` is made up as well, but no secret. `\\n` breaks the line. Written from what vendors publish of their formats;
nothing here was ever a key. Formats of families in UNSEEN were not looked at while rules were written.
"""

from __future__ import annotations

import base64
import random
import re
import string
from typing import NamedTuple

UNSEEN = ("packages", "monitoring", "payments", "shell", "documents")
"""Families that were kept apart."""

ALPHABETS = {
    "b62": string.ascii_letters + string.digits,
    "b64": string.ascii_letters + string.digits + "+/",
    "url": string.ascii_letters + string.digits + "-_",
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "dig": string.digits,
    "low": string.ascii_lowercase + string.digits,
    "up": string.ascii_uppercase + string.digits,
    "b32": string.ascii_uppercase + "234567",
}
WORDS = "amber birch cobalt delta ember falcon granite harbor indigo jasper kestrel lantern maple nectar onyx pepper".split()
SIGNS = "!#*+-.?_"

FORMATS = r"""
cloud | aws access key id | aws_access_key_id = {AKIA[b32:16]}
cloud | aws temporary key id | "AccessKeyId": "{ASIA[b32:16]}"
cloud | aws secret key | aws_secret_access_key = {[b64:40]}
cloud | aws secret key in JSON | "SecretAccessKey": "{[b64:40]}",
cloud | aws session token | export AWS_SESSION_TOKEN={[b64:180]}==
cloud | google api key | const url = "https://maps.example.com/api/js?key={AIza[url:35]}";
cloud | google oauth token | Authorization: Bearer {ya29.[url:60]}
cloud | google client secret | "client_secret": "{GOCSPX-[url:28]}"
cloud | azure storage connection | DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={[b64:86]==};EndpointSuffix=core.windows.net
cloud | azure service bus | Endpoint=sb://shop.example.net/;SharedAccessKeyName=root;SharedAccessKey={[b64:43]=}
cloud | azure signature | https://shop.blob.example.net/c?sv=2022-11-02&ss=b&sig={[b62:43]%3D}&se=2030
cloud | azure client secret | clientSecret: {[b62:3]8Q~[b62:34]}
cloud | digitalocean token | token = "{dop_v1_[hex:64]}"
cloud | heroku key | HEROKU_API_KEY={[hex:8]-[hex:4]-4[hex:3]-a[hex:3]-[hex:12]}
cloud | cloudflare token | CLOUDFLARE_API_TOKEN="{[url:40]}"
cloud | alibaba key id | AccessKeyId: {LTAI[b62:20]}
cloud | ibm cloud key | ibmcloud_api_key: "{[url:44]}"
cloud | linode token | linode_token = "{[hex:64]}"
cloud | databricks token | host = x\ntoken = {dapi[hex:32]}
cloud | vault token | VAULT_TOKEN={hvs.[b62:24]}
cloud | vault secret id | secret_id: {[hex:8]-[hex:4]-[hex:4]-[hex:4]-[hex:12]}
cloud | terraform cloud token | token = "{[b62:14].atlasv1.[b62:67]}"
cloud | pulumi token | PULUMI_ACCESS_TOKEN={pul-[hex:40]}
cloud | doppler token | {dp.pt.[b62:43]}
cloud | kubernetes secret | kind: Secret\ndata:\n  password: {@pw}
cloud | kubernetes variable | - name: DB_PASSWORD\n  value: "{pw}"
cloud | kubeconfig key | client-key-data: {LS0tLS1CRUdJTiBSU0Eg[b64:400]}
code | github token | git clone https://{ghp_[b62:36]}@github.com/shop/app
code | github app token | GITHUB_TOKEN: {ghs_[b62:36]}
code | github fine-grained token | see {github_pat_[b62:22]_[b62:59]} in the log
code | gitlab token | curl --header "PRIVATE-TOKEN: {glpat-[url:20]}" https://gitlab.example.com
code | gitlab deploy token | {gldt-[url:20]}
code | bitbucket password | bitbucket app: {ATBB[b62:32]}
code | atlassian token | email:{ATATT3xFfGF0[url:180]}
code | old github token | github_token = "{[hex:40]}"
code | circleci token | CIRCLE_TOKEN: {[hex:40]}
chat | slack bot token | SLACK = "{xoxb-[dig:12]-[dig:12]-[b62:24]}"
chat | slack app token | {xapp-1-A[up:10]-[dig:13]-[hex:64]}
chat | slack webhook | https://hooks.slack.com/services/{T[up:8]/B[up:8]/[b62:24]}
chat | discord token | client.run("{M[b62:23].[b62:6].[url:27]}")
chat | discord webhook | https://discord.com/api/webhooks/{[dig:18]/[url:68]}
chat | telegram token | bot = Bot("{[dig:9]:AA[url:33]}")
chat | twilio token | TWILIO_AUTH_TOKEN={[hex:32]}
chat | twilio key | {SK[hex:32]}
chat | sendgrid key | {SG.[url:22].[url:43]}
chat | mailgun key | mailgun: {key-[hex:32]}
chat | mailchimp key | {[hex:32]-us14}
models | anthropic key | key: {sk-ant-api03-[url:93]AA}
models | openai key | openai.api_key = "{sk-[b62:48]}"
models | openai project key | {sk-proj-[url:74]}
models | hugging face token | HF_TOKEN={hf_[b62:34]}
models | groq key | {gsk_[b62:52]}
models | replicate token | {r8_[b62:37]}
models | xai key | {xai-[b62:80]}
models | perplexity key | {pplx-[b62:48]}
models | wandb key | WANDB_API_KEY={[hex:40]}
models | mistral key | MISTRAL_API_KEY={[b62:32]}
packages | npm token | //registry.npmjs.org/:_authToken={npm_[b62:36]}
packages | old npm token | //registry.npmjs.org/:_authToken={[hex:8]-[hex:4]-[hex:4]-[hex:4]-[hex:12]}
packages | npm password | //registry.example.com/:_password="{@pw}"
packages | pypi token | password = {pypi-AgEIcHlwaS5vcmc[url:120]}
packages | rubygems key | :rubygems_api_key: {rubygems_[hex:48]}
packages | crates token | token = "{cio[b62:32]}"
packages | nuget key | dotnet nuget push a.nupkg --api-key {oy2[low:43]}
packages | docker hub token | docker login -u shop -p {dckr_pat_[url:27]}
packages | docker auth | "auth": "{@user:pw}"
packages | artifactory key | X-JFrog-Art-Api: {AKCp[b62:69]}
packages | sonar token | sonar.token={squ_[hex:40]}
monitoring | sentry token | {sntrys_[b64:120]}
monitoring | sentry dsn with secret | https://{[hex:32]:[hex:32]}@sentry.example.com/42
monitoring | new relic key | {NRAK-[up:27]}
monitoring | datadog key | DD_API_KEY: {[hex:32]}
monitoring | datadog app key | "datadog_app_key": "{[hex:40]}"
monitoring | grafana token | {glsa_[b62:32]_[hex:8]}
monitoring | dynatrace token | {dt0c01.[up:24].[up:64]}
monitoring | postman key | {PMAK-[hex:24]-[hex:34]}
monitoring | snyk token | SNYK_TOKEN={[hex:8]-[hex:4]-[hex:4]-[hex:4]-[hex:12]}
monitoring | splunk token | Authorization: Splunk {[hex:8]-[hex:4]-[hex:4]-[hex:4]-[hex:12]}
monitoring | pagerduty key | pagerduty_api_key = "{[url:20]}"
payments | stripe key | stripe.api_key = "{sk_live_[b62:24]}"
payments | stripe restricted key | {rk_live_[b62:60]}
payments | stripe webhook | {whsec_[b62:32]}
payments | square token | {sq0atp-[url:22]}
payments | shopify token | {shpat_[hex:32]}
payments | paypal secret | PAYPAL_CLIENT_SECRET={[url:80]}
payments | braintree token | {access_token$production$[low:16]$[hex:32]}
payments | plaid secret | "plaid_secret": "{[hex:30]}"
payments | razorpay key | {rzp_live_[b62:14]}
payments | flutterwave key | {FLWSECK-[hex:32]-X}
settings | password in Python | password = "{pw}"
settings | password in YAML | password: {pw}
settings | password in JSON | "password": "{pw}",
settings | password in a properties file | spring.datasource.password={pw}
settings | password in an env file | DB_PASSWORD={pw}
settings | password in quotes in an env file | export MYSQL_ROOT_PASSWORD='{pw}'
settings | password in XML | <password>{pw}</password>
settings | password as an attribute | <add key="SmtpPassword" value="{pw}" />
settings | password in PHP | define( 'DB_PASSWORD', '{pw}' );
settings | password in a PHP array | 'password' => '{pw}',
settings | salt of WordPress | define('AUTH_KEY', '{[b64:32]#[b64:31]}');
settings | key of Laravel | APP_KEY=base64:{[b64:43]=}
settings | key of Django | SECRET_KEY = "{django-insecure-[low:20]$[low:20]}"
settings | key of Rails | secret_key_base: {[hex:128]}
settings | password in Java | dataSource.setPassword("{pw}");
settings | password in Go | dbPass := "{pw}"
settings | password in Ruby | :password => "{pw}"
settings | password as a default | os.environ.get("DB_PASSWORD", "{pw}")
settings | password in Ansible | ansible_become_pass: {pw}
settings | password in compose | - POSTGRES_PASSWORD={pw}
settings | password in Terraform | master_password = "{pw}"
settings | api key in JavaScript | apiKey: '{[b62:32]}',
settings | client secret | client_secret={[b62:40]}
settings | refresh token | "refresh_token": "{[url:64]}"
settings | jwt secret | JWT_SECRET={[b62:24]}
settings | wireguard key | PrivateKey = {[b64:43]=}
settings | wifi password | psk="{pw}"
settings | encryption key | ENCRYPTION_KEY: {[hex:64]}
addresses | postgres address | postgres://shop:{pw}@db.example.com:5432/shop
addresses | mongodb address | mongodb+srv://shop:{pw}@cluster0.example.net/?w=majority
addresses | redis address | REDIS_URL=redis://:{pw}@cache:6379/0
addresses | amqp address | amqp://shop:{pw}@queue:5672/
addresses | proxy address | http_proxy=http://ann:{pw}@proxy.example.com:3128
addresses | jdbc address | jdbc:mysql://db/shop?user=shop&password={pw}&ssl=true
addresses | odbc connection | Server=db;Database=shop;User Id=sa;Password={pw};Encrypt=true
addresses | odbc short | Driver=x;Uid=sa;Pwd={pw};
addresses | query token | https://api.example.com/v1/me?access_token={[b62:40]}
addresses | git credentials | https://ann:{pw}@git.example.com
headers | bearer | Authorization: Bearer {[b62:40]}
headers | basic | Authorization: Basic {@user:pw}
headers | api key header | -H "X-Api-Key: {[b62:32]}"
headers | json web token | {eyJhbGciOiJIUzI1NiJ9.eyJ[url:60].[url:43]}
headers | session cookie | Cookie: sessionid={[low:32]}
shell | netrc | machine api.example.com login ann password {pw}
shell | netrc on lines | machine api.example.com\n  login ann\n  password {pw}
shell | curl user | curl -u ann:{pw} https://api.example.com
shell | mysql option | mysql -u root -p{pw} shop
shell | long option | tool --password {pw} --verbose
shell | long option with sign | tool --token={[b62:32]}
shell | sshpass | sshpass -p '{pw}' ssh ann@host
shell | pgpassword | PGPASSWORD={pw} psql -h db shop
shell | sql user | CREATE USER 'ann'@'%' IDENTIFIED BY '{pw}';
shell | sql role | ALTER ROLE ann WITH PASSWORD '{pw}';
shell | docker env | ENV API_TOKEN {[b62:32]}
shell | htpasswd | ann:{$apr1$[b62:8]$[b62:22]}
shell | shadow | root:{$6$[b62:16]$[b62:86]}:19000:0:99999:7:::
shell | pgpass | db.example.com:5432:shop:ann:{pw}
shell | openssl | openssl enc -pass pass:{pw} -in a
documents | private key | -----BEGIN RSA PRIVATE KEY-----\n{[b64:64]}\n-----END RSA PRIVATE KEY-----
documents | openssh key | -----BEGIN OPENSSH PRIVATE KEY-----\n{[b64:70]}\n-----END OPENSSH PRIVATE KEY-----
documents | pgp key | -----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{[b64:64]}\n=[b64:4]\n-----END PGP PRIVATE KEY BLOCK-----
documents | key in JSON | "private_key": "-----BEGIN PRIVATE KEY-----\\n{[b64:64]}\\n-----END PRIVATE KEY-----\\n"
documents | putty key | PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 1\n{[b64:64]}\nPrivate-MAC: [hex:40]
documents | age key | {AGE-SECRET-KEY-1[up:58]}
documents | json web key | {"kty": "EC", "crv": "P-256", "d": "{[url:43]}"}
documents | seed phrase | mnemonic: {@words}
documents | one-time secret | otpauth://totp/shop:ann?secret={[b32:32]}&issuer=shop
documents | password in prose | The password is: {pw}
documents | password in a table | password | {pw}
documents | ethereum key | private_key = "0x{[hex:64]}"
"""


class MadeUp(NamedTuple):
    """A text with one secret in it."""

    family: str
    name: str
    text: str
    secret: str


def made_up(seed: int, repeats: int) -> list[MadeUp]:
    """Return `repeats` texts of each format, the same for the same seed."""
    rng = random.Random(seed)
    rows = [tuple(part.strip() for part in line.split(" | ", 2)) for line in FORMATS.strip().splitlines()]
    return [_text(rng, *row) for row in rows for _ in range(repeats)]


def _text(rng: random.Random, family: str, name: str, template: str) -> MadeUp:
    template = re.sub(r"(?<!\\)\\n", "\n", template).replace("\\\\n", "\\n")
    start, end = _braces(template)
    inside = template[start + 1 : end]
    special = {"pw": password(rng), "@pw": _base64(password(rng)), "@user:pw": _base64(f"shop:{password(rng)}")}
    special["@words"] = " ".join(rng.choices(WORDS, k=12))
    secret = special.get(inside) or _filled(rng, inside)
    return MadeUp(family, name, _filled(rng, template[:start]) + secret + _filled(rng, template[end + 1 :]), secret)


def _braces(template: str) -> tuple[int, int]:
    """Return where the secret is; braces of JSON are none."""
    match = re.search(r"\{(?:pw|@[\w:]+|[^{}\"]*\[[^{}]*)\}", template) or re.search(r"\{[^{}]*\}", template)
    assert match is not None, template
    return match.start(), match.end() - 1


def _filled(rng: random.Random, template: str) -> str:
    return re.sub(r"\[(\w+):(\d+)\]", lambda m: "".join(rng.choices(ALPHABETS[m[1]], k=int(m[2]))), template)


def password(rng: random.Random) -> str:
    """Return a password as people choose them: words, digits and signs, or letters made up."""
    word = rng.choice(WORDS)
    return rng.choice(
        (
            f"{word.capitalize()}{rng.randrange(10, 9999)}{rng.choice(SIGNS)}",
            f"{word}{rng.randrange(100, 9999)}",
            f"{word}-{rng.choice(WORDS)}-{rng.randrange(10, 99)}",
            "".join(rng.choices(string.ascii_letters + string.digits + SIGNS, k=14)),
            f"{word[0].upper()}{rng.randrange(10)}{word[1:]}{rng.choice('!?*')}{rng.choice(WORDS)}",
        )
    )


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
