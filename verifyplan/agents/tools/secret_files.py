"""Which files look as if they held secrets, by their paths alone: no tool of a model opens them (rule G4)."""

from __future__ import annotations

import posixpath
import re
from fnmatch import translate

SECRET_NAMES: dict[str, tuple[str, ...]] = {
    "settings of an environment": (".env", ".env.*", "*.env", ".envrc"),
    "a private key or a store of keys": (
        *("*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.ppk", "*.keytab", "*.gpg", "*.ovpn"),
        *("*.kdb", "*.kdbx", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*_rsa", "*_ed25519"),
    ),
    "somebody's credentials": (
        *(".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd", ".pgpass", ".my.cnf"),
        *(".dockercfg", ".vault_pass*", ".vault-pass*", "credentials", "credentials.*", "token.json", "kubeconfig"),
        *("*.kubeconfig", "client_secret*.json", "service-account*.json", "service_account*.json"),
    ),
    "secrets by its name": ("secret.*", "secrets.*", "secrets-*.*", "secrets_*.*"),
    "the state or the settings of Terraform": ("*.tfstate", "*.tfstate.*", "*.tfvars", "*.tfvars.json"),
    "what somebody typed": (".*_history",),
}
"""Names of files, as shells match them, by what such a file is."""

SECRET_FOLDERS: dict[str, tuple[str, ...]] = {
    "keys": (".ssh", ".gnupg", ".password-store"),
    "credentials": (".aws", ".azure", ".gcloud", ".kube", ".config/gcloud", ".docker/config.json"),
    "git's own files": (".git",),
}
"""Folders of which nothing is opened, and single files in others, by what they hold."""

_DATA = ("yml", "yaml", "json", "toml", "ini", "cfg", "conf", "properties", "xml", "txt", "csv", "db", "enc", "env")
"""Endings with which a file called `secrets` or `credentials` holds some; `secrets.py` is code."""

_EXAMPLE = re.compile(r"(?:^|[._-])(?:example|sample|template|tmpl|dist|defaults?)(?=[._-]|$)")
_COPY = re.compile(r"(?:\.(?:bak|backup|old|orig|save|copy|swp|tmp|[0-9]+)|~)+$")
_BY_WORD = re.compile(r"(?:credentials|secrets?)\b.*\.(\w+)$")
_NAMES = tuple((re.compile("|".join(map(translate, names))), what) for what, names in SECRET_NAMES.items())


def looks_secret(path: str) -> str:
    """Why a file is not opened, by its path; empty where nothing speaks against it.

    Case does not matter, nor the mark of a copy (`.env.bak`). Examples that are meant to be read (`.env.example`)
    and public keys (`id_rsa.pub`) are no secrets. A link is judged by its own name alone: ask for its target, too.

    >>> looks_secret("deploy/.env"), looks_secret(".env.example"), looks_secret("shop/secrets.py")
    ('it looks like settings of an environment', '', '')
    >>> looks_secret("home/.ssh/config")
    'it stands where keys are kept'
    """
    whole = "/" + path.replace("\\", "/").casefold().strip("/")
    for what, folders in SECRET_FOLDERS.items():
        if any(f"/{folder}/" in f"{whole}/" for folder in folders):
            return f"it stands where {what} are kept"
    name = _COPY.sub("", posixpath.basename(whole)) or posixpath.basename(whole)
    by_word = _BY_WORD.match(name)
    if name.endswith(".pub") or _EXAMPLE.search(name) or (by_word and by_word[1] not in _DATA):
        return ""
    return next((f"it looks like {what}" for pattern, what in _NAMES if pattern.match(name)), "")
