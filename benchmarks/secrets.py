"""How many made-up secrets are redacted, how many ordinary lines are, which names are withheld, and how fast.

`python -m benchmarks.secrets [LINES]`: the tables of docs/security.md. Ordinary lines are those of this
repository, of Python's standard library and of the packages installed beside this one, LINES of them in all (400,000).
"""

from __future__ import annotations

import random
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.secret_formats import UNSEEN, MadeUp, made_up
from verifyplan.redaction import redact
from verifyplan.secret_rules.file_names import looks_secret

SEED, REPEATS, LINES = 17, 20, 400_000
SURVIVING = 12
"""Characters of a secret in a row that must not be left."""
SUFFIXES = ("py", "md", "rst", "txt", "json", "yml", "yaml", "toml", "cfg", "lock", "js", "ts", "css", "html", "csv")
MAX_FILE_BYTES = 1_000_000


def is_gone(secret: MadeUp) -> bool:
    """Return whether neither the secret nor 12 characters of it in a row are left."""
    left = redact(secret.text)
    starts = range(max(1, len(secret.secret) - SURVIVING + 1))
    return not any(secret.secret[start : start + SURVIVING] in left for start in starts)


def recall_table() -> None:
    """Print the share of secrets that are redacted, by family of formats, and the formats of which one was missed."""
    secrets = made_up(SEED, REPEATS)
    gone = [is_gone(secret) for secret in secrets]
    names = list(dict.fromkeys(secret.family for secret in secrets))
    print("| family | formats | redacted |\n|---|--:|--:|")
    groups = {name: [name] for name in names} | {"all": names, "families kept apart": list(UNSEEN)}
    for title, families in groups.items():
        rows = [number for number, secret in enumerate(secrets) if secret.family in families]
        share = sum(gone[number] for number in rows) / len(rows)
        print(f"| {title} | {len({secrets[number].name for number in rows})} | {share:.1%} |")
    missed = Counter(secret.name for secret, hit in zip(secrets, gone, strict=True) if not hit)
    print("\nmissed:", ", ".join(f"{name} ({count} of {REPEATS})" for name, count in missed.items()), "\n")


def ordinary_files() -> dict[str, list[Path]]:
    """Return files in which no secret is expected, by where they are from, in a drawn order."""
    root = Path(__file__).parents[1]
    stdlib, packages = Path(sysconfig.get_paths()["stdlib"]), Path(sysconfig.get_paths()["purelib"])
    found = {
        "this repository": [p for part in ("verifyplan", "docs", "tests", "data") for p in (root / part).rglob("*.*")],
        "the standard library": [p for p in stdlib.rglob("*.py") if "site-packages" not in p.parts],
        "packages: Python": list(packages.rglob("*.py")),
        "packages: Markdown, JSON, YAML, lock files ...": [p for s in SUFFIXES[1:] for p in packages.rglob(f"*.{s}")],
    }
    for paths in found.values():
        paths[:] = sorted(p for p in paths if p.suffix[1:] in SUFFIXES and "__pycache__" not in p.parts)
        random.Random(SEED).shuffle(paths)
    return found


def texts(paths: list[Path]) -> Iterator[str]:
    """Yield the texts of files of at most 1 MB."""
    for path in paths:
        if path.is_file() and path.stat().st_size <= MAX_FILE_BYTES:
            try:
                yield path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def false_alarm_table(lines: int) -> None:
    """Print how many ordinary lines are changed; what is a secret of a test there counts as a false alarm, too."""
    print("| ordinary lines | lines | changed | in 1,000 | seconds of CPU a MB |\n|---|--:|--:|--:|--:|")
    groups = ordinary_files()
    for title, paths in groups.items():
        seen = changed = size = 0
        seconds = 0.0
        for text in texts(paths):
            start = time.process_time()
            left = redact(text)
            seconds += time.process_time() - start
            changed += sum(a != b for a, b in zip(text.split("\n"), left.split("\n"), strict=True))
            seen, size = seen + text.count("\n") + 1, size + len(text)
            if seen >= lines / len(groups):
                break
        print(f"| {title} | {seen:,} | {changed:,} | {changed / seen * 1000:.2f} | {seconds / size * 1e6:.3f} |")


def names_table() -> None:
    """Print which names of files are withheld, and how many of ordinary files."""
    listed = Path(__file__).with_name("secret_names.txt").read_text(encoding="utf-8").split("\n")
    names = [name for name in listed if name]
    read = [name for name in names if not looks_secret(name)]
    count = f"{len(names) - len(read)} of {len(names)}"
    print(f"\nnames that look secret: {count} withheld; read: {', '.join(read) or 'none'}")
    root = Path(sysconfig.get_paths()["purelib"])
    ordinary = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
    withheld = sum(bool(looks_secret(name)) for name in ordinary)
    print(f"files of installed packages: {withheld:,} of {len(ordinary):,} withheld")


def speed() -> None:
    """Print the CPU time of redacting 1 MB of sources, in one text."""
    paths = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    text = "".join(texts(paths))[:1_000_000]
    times = []
    for _ in range(5):
        start = time.process_time()
        redact(text)
        times.append(time.process_time() - start)
    print(f"\n1 MB of the standard library: {min(times) * 1000:.0f} ms of CPU, the least of five")


if __name__ == "__main__":
    redact("warm up, so that the tables are read and compiled")
    recall_table()
    false_alarm_table(int(sys.argv[1]) if len(sys.argv) > 1 else LINES)
    names_table()
    speed()
