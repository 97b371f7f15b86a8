"""Files that look as if they held secrets: not read, not searched, by whatever name they are reached."""

import pytest

from verifyplan.agents.tools import ModelToolkit
from verifyplan.secret_rules.file_names import looks_secret

SECRET = """.env .env.local config/.env.production prod.env .ENV .env.bak .env~ .envrc server.pem tls/server.key
cert.p12 cert.pfx store.jks vault.kdbx id_rsa .ssh/id_ed25519 home/.ssh/config deploy_rsa .netrc
.npmrc .pypirc .git-credentials .aws/credentials .aws/config credentials credentials.json service-account.json
service-account-prod.json secrets.yml config/secrets.yaml secrets.json secrets.toml secrets.prod.yaml
terraform.tfstate terraform.tfstate.backup prod.tfvars .htpasswd .docker/config.json kubeconfig .kube/config
.gnupg/secring.gpg .bash_history .git/config .pgpass client_secret_12.json token.json Secrets.YAML
id_rsa.old server.key.2 .config/gcloud/access_tokens.db"""
OPEN = """.env.example .env.sample .env.template example.env config/env.py environment.yml id_rsa.pub keys.py secrets.py
src/secrets/reader.py credentials.py src/credentials.ts token.py tokens.json docker/config.json config.json docs/key.md
keyboard.py monkey.js history.md tfstate.md credentials.example.json secrets.yml.dist pem.py .github/workflows/ci.yml
.dockerignore .gitignore Dockerfile .npmignore secretary.md README"""


@pytest.mark.parametrize("path", SECRET.split())
def test_it_looks_secret(path):
    assert looks_secret(path).startswith("it ")
    assert looks_secret(path.replace("/", "\\"))
    assert looks_secret(f"deep/er/{path}")


@pytest.mark.parametrize("path", OPEN.split())
def test_it_does_not(path):
    assert looks_secret(path) == ""


NAMED = """passwords.txt db_password config/wp-config.php hosts.yml my-secret.yaml api_key.txt private_key.json
prod-key.json
app/secret_token.rb config/database.yml appsettings.Production.json service_account_key.json
firebase-adminsdk-x.json apikeys.csv .vault-token terraform.tfplan kube.config admin_rsa .zsh_history logins.json
auth_token .git-credentials secrets/db.yaml.secret stripe.apikey.txt backup_codes.txt rootkey.csv
.config/gh/hosts.yml cookies.sqlite master.key
group_vars/vault.yml app.secrets wallet.dat user_credentials keystore.properties .m2/settings.xml tls.key.bak
local_settings.py .env.py access_token.json id_rsa_backup kubeconfig.yaml"""
KINDS = """settings_local.py local_settings.py settings-local.py settings.local.py localsettings.py LocalSettings.php
app/settings_local.py config/settings/local.py settings_local.json local.settings.json config.local.php config_local.py
config/local.json autoload/db.local.php instance/config.py secrets_settings.py settings_local.py.bak local.properties
docker-config.json docker_config.json dockerconfig.json ci-docker-config.json build.docker-config.json
.dockerconfigjson prod.dockerconfigjson docker-auth.json docker-auth-config.json old.dockercfg my-regcred.yaml
registry-auth.json containers-auth.json docker-config.json.old
aws-exports.js src/aws-exports.ts aws_exports.json amplifyconfiguration.json amplify_outputs.json awsconfiguration.json
lib/amplifyconfiguration.dart team-provider-info.json config/aws.yml aws-config.json azureauth.json azureProfile.json
my.publishsettings firebaseConfig.js firebase_options.dart app.pubxml.user
ansible-vault.txt ansible_vault.yml ansible-vault-password.txt hashicorp-vault-token.txt vault.txt prod-vault.txt
vault.json my.vault vault-keys.json vault_unseal.txt .vault
cookie.txt cookies.txt cookie.json my_cookies.txt session-cookies.json youtube.cookies.txt cookies_shop.com.txt
cookies.lwp cookies.pkl cookies cookie cookiejar cookie-jar.txt my_cookiejar curl.cookie COOKIES.TXT cookies.txt.1"""
ORDINARY = """settings.py settings/base.py test_settings.py settings_locale.py locale.py local.py local/config.rst
config/index.js localization.json localstorage.js instance/model.py instances/config.py config.py
docker-compose.yml docker-compose.local.yml docker-config.md dockerconfig.go test_docker_config.py docker/config.json
aws.py s3.py aws.svg aws-exports.md aws_exports_test.py exports.js firebase.json registry.json containers.conf
vault.py vault.go vault_design.md docs/vault.md vault_test.rb vault.hcl vaults.json default.vault.md
cookies.py cookie.py test_cookie.py cookie.svg cookies.html cookie.d.ts cookie-banner.js cookies.yml cookiecutter.json
cookiecutter.yaml .cookiecutterrc cookie-policy.txt cookie_policy.json cookie_consent.json"""
CODE = """password_reset.py src/secrets/index.ts test_api_key.py primary_key.rb docs/passwords.md hosts.py vault.go
tokenizer.json special_tokens_map.json keymap.json monkey.yml package-lock.json secret_rules.js author.txt pass.py
settings.xml config.yml access_token.py refresh_tokens.ts kubeconfig.go id_rsa_parser.rs connection_strings.cs
_password.pyi edit_password.html.erb secrets_test.zig"""


@pytest.mark.parametrize("path", NAMED.split())
def test_files_of_data_are_withheld_by_words_in_their_names(path):
    assert looks_secret(path).startswith("it ")


@pytest.mark.parametrize("path", KINDS.split())
def test_whole_kinds_of_files_are_withheld_under_any_of_their_names(path):
    assert looks_secret(path).startswith("it ")
    assert looks_secret(f"deep/er/{path}")


@pytest.mark.parametrize("path", ORDINARY.split())
def test_their_neighbours_in_name_are_read(path):
    assert looks_secret(path) == ""


@pytest.mark.parametrize("path", CODE.split())
def test_code_and_documents_that_speak_of_secrets_are_read(path):
    assert looks_secret(path) == ""


def test_a_file_that_is_allowed_is_opened_listed_and_searched_and_its_secrets_are_redacted(repository_with, plenty):
    files = {"deploy/hosts.yml": "host: a.example\npassword: falcon-5580\n", "other/hosts.yml": "host: b.example\n"}
    closed = repository_with(files)
    tools = ModelToolkit(type(closed).open(closed.root, allowed_files=["deploy/*.yml"]), {}, plenty)
    assert "password: [redacted]" in tools.run("Read", {"path": "deploy/hosts.yml"}).text
    assert tools.run("Grep", {"pattern": "example"}).text.startswith("1 hit in 1 file\ndeploy/hosts.yml:1:")
    assert "is not opened" in tools.run("Read", {"path": "other/hosts.yml"}).text


@pytest.fixture
def tools(repository_with, canary, plenty):
    files = dict.fromkeys(SECRET.split(), f"CANARY {canary}\n") | {"src/app.py": "CANARY of the tests\n"}
    repository = repository_with(files | {".env.example": "CANARY=\n"})
    (repository.root / "notes.txt").symlink_to(".env")
    return ModelToolkit(type(repository).open(repository.root), {}, plenty)


def test_secret_files_are_not_searched(tools, canary):
    text = tools.run("Grep", {"pattern": "CANARY"}).text
    assert text.startswith("2 hits in 2 files\n.env.example:1: CANARY=\nsrc/app.py:1: ")
    assert canary not in text
    for path in (".env", "tls", "home"):
        assert canary not in tools.run("Grep", {"pattern": "CANARY", "path": path}).text


def test_secret_files_are_not_read_by_their_name_nor_by_a_link(tools, canary):
    for path in ("tls/server.key", "notes.txt", "terraform.tfstate"):
        result = tools.run("Read", {"path": path})
        assert "is not opened: it" in result.text
        assert result.use.refused
        assert canary not in result.text
    assert "it is a link, and where it leads it looks like settings of an environment" in (
        tools.run("Read", {"path": "notes.txt"}).text
    )


def test_a_refusal_does_not_tell_whether_the_file_is_there(tools):
    for path in (".env", "gone/.env"):
        assert tools.run("Read", {"path": path}).text == (
            f"{path} is not opened: it looks like settings of an environment"
        )


def test_secret_files_are_not_proposed_for_a_missing_one(tools):
    assert "prod.env" not in tools.run("Read", {"path": "prodd.env.txt"}).text
    assert "server.key" not in tools.run("Read", {"path": "tls"}).text


def test_no_pattern_can_ask_for_the_letters_of_a_key(repository_with, plenty):
    key = "sk-ant-api03-" + "a1B2" * 8
    tools = ModelToolkit(
        repository_with({"src/app.py": f"client = Client('{key}')\n"}), {"plan.md": f"use {key}\n"}, plenty
    )
    for pattern in ("sk-ant-api03-a", "a1B2", "api03-[a-z]"):
        assert tools.run("Grep", {"pattern": pattern}).text == "No line matches."
    assert "client = Client('[redacted]')" in tools.run("Grep", {"pattern": "Client"}).text
    assert tools.run("Grep", {"pattern": key}).use.argument == "[redacted]"
