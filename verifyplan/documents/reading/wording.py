"""The words of a text as two documents' texts are compared, however they number and format it (rule D3)."""

from __future__ import annotations

import re
import unicodedata

_NUMBER = re.compile(r"^\s*(?:[-*+]\s+)?(?:#?\d{1,4}[.):]\s+)?")
_TOKEN = re.compile(r"\w+|[<>=!+%$]+")


def wording(text: str) -> str:
    """A text as it is compared: small letters, without numbering, formatting, punctuation and blanks.

    Signs that change what is said (`<`, `>=`, `!`, `%`) stay.

    >>> wording("1. **Tokens** expire in `<= 15` minutes."), wording("tokens expire in <= 15 minutes")
    ('tokens expire in <= 15 minutes', 'tokens expire in <= 15 minutes')
    """
    plain = _NUMBER.sub("", unicodedata.normalize("NFKC", text).casefold(), count=1)
    tokens = (token.strip("_") for token in _TOKEN.findall(plain))
    return " ".join(token for token in tokens if token)
