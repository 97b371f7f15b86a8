"""What calls used, in words: tokens, those of a cache among them, and dollars (rule A12)."""

from __future__ import annotations

from decimal import Decimal

from verifyplan.protocol.call import Usage

LEAST = Decimal("0.0001")
"""Dollars below which no figure is shown."""
MOST = 10**9
"""Dollars from which a figure is rounded to three digits: it is not what anybody paid."""


def tokens_told(usage: Usage) -> str:
    """Tokens in and out, for one line; those that went through a cache are part of those in.

    >>> tokens_told(Usage(input_tokens=4, cache_read_tokens=1000, cache_write_tokens=200, output_tokens=88))
    '1,204 in (1,000 cached, 200 put in a cache) + 88 out tokens'
    """
    parts = [f"{usage.cache_read_tokens:,} cached"] if usage.cache_read_tokens else []
    parts += [f"{usage.cache_write_tokens:,} put in a cache"] if usage.cache_write_tokens else []
    cached = f" ({', '.join(parts)})" if parts else ""
    return f"{usage.total_input:,} in{cached} + {usage.output_tokens:,} out tokens"


def dollars(cost: Decimal) -> str:
    """US dollars: cents from one dollar on, four digits below; what is less than the last of these is said to be so.

    >>> [dollars(Decimal(text)) for text in ("0", "0.0000004", "0.01234", "1234.567", "1e12")]
    ['$0', 'under $0.0001', '$0.0123', '$1,234.57', '$1.00e+12']
    """
    if not cost:
        return "$0"
    if cost < LEAST:
        return f"under ${LEAST}"
    return f"${cost:.2e}" if cost >= MOST else f"${cost:,.2f}" if cost >= 1 else f"${cost:.4f}"


def used_told(usage: Usage) -> str:
    """Tokens, and dollars where they are known.

    >>> used_told(Usage(input_tokens=1)), used_told(Usage(cost=Decimal("0.5")))
    ('1 in + 0 out tokens', '0 in + 0 out tokens, $0.5000')
    """
    return f"{tokens_told(usage)}, {dollars(usage.cost)}" if usage.cost is not None else tokens_told(usage)
