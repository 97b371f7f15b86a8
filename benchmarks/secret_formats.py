r"""Secrets made up by a seed, in the formats in which they stand in files: one template a format, by family.

A template holds one secret in braces, made of parts: `{[b62:36]}` are 36 letters and digits, `{pw}` is a password as
people choose them, what stands between parts is literal; `[b62:5]` outside of braces is made up as well, but no secret.
`\n` breaks the line. Written from what vendors publish of their formats; nothing here was ever a key.
"""

from __future__ import annotations

import base64
import random
import re
import string
from pathlib import Path
from typing import NamedTuple

UNSEEN = ("packages", "monitoring", "payments", "shell", "documents")
"""Families at which nobody looked while the rules were written; the first measure of these is in docs/security.md."""

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
WORDS = [
    "amber",
    "birch",
    "cobalt",
    "delta",
    "ember",
    "falcon",
    "granite",
    "harbor",
    "indigo",
    "jasper",
    "kestrel",
    "lantern",
    "maple",
    "nectar",
    "onyx",
    "pepper",
]
SIGNS = "!#*+-.?_"

FORMATS = Path(__file__).with_suffix(".txt")
"""A format a line: family, name, template."""


class MadeUp(NamedTuple):
    """A text with one secret in it."""

    family: str
    name: str
    text: str
    secret: str


def made_up(seed: int, repeats: int) -> list[MadeUp]:
    """Return `repeats` texts of each format, the same for the same seed."""
    rng = random.Random(seed)
    rows = [
        tuple(part.strip() for part in line.split(" | ", 2))
        for line in FORMATS.read_text(encoding="utf-8").splitlines()
    ]
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
            f"{word}-{rng.choice(WORDS)}-{rng.choice(WORDS)}",
            "".join(rng.choices(string.ascii_letters + string.digits + SIGNS, k=14)),
            f"{word[0].upper()}{rng.randrange(10)}{word[1:]}{rng.choice('!?*')}{rng.choice(WORDS)}",
        )
    )


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
