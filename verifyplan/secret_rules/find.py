"""Take out of a text all that the rules know as secrets: blocks of keys, tokens, values by name, place and column."""

from __future__ import annotations

from verifyplan.secret_rules.assignments import assigned_spans
from verifyplan.secret_rules.columns import column_spans
from verifyplan.secret_rules.places import placed_spans, without_key_blocks
from verifyplan.secret_rules.tokens import token_spans


def without_secrets(text: str, mark: str) -> str:
    """Return the text with a mark for each secret that the rules find; its lines stay.

    >>> without_secrets('db_password = "hunter2!"  # postgres://ann:s3cr3t@db/shop', "[-]")
    'db_password = "[-]"  # postgres://ann:[-]@db/shop'
    """
    lower = _small(text)
    if "private" in lower or "openvpn" in lower or "nkey seed" in lower:
        text = without_key_blocks(text, lower, mark)
        lower = _small(text)
    by_name = {*assigned_spans(text, lower), *placed_spans(text, lower), *column_spans(text, lower)}
    spans = sorted({*token_spans(text), *by_name})
    if not spans:
        return text
    parts: list[str] = []
    end = 0
    for start, last in spans:
        if start >= end:
            parts += [text[end:start], mark]
        end = max(end, last)
    return "".join([*parts, text[end:]])


def _small(text: str) -> str:
    """Return the text in small letters, as long as it is: of all capitals, only one becomes two characters."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.replace("\u0130", "I").lower()
