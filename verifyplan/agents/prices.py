"""Compute the cost of a call, and estimate it beforehand: its tokens, and prices from a table (rules A12, G3)."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from decimal import Context, Decimal, localcontext
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_core import to_json

from verifyplan.errors import InputError, Problem, SettingsError
from verifyplan.files import decode
from verifyplan.protocol.base import Model
from verifyplan.protocol.call import Usage
from verifyplan.text import did_you_mean

PRICES_VARIABLE = "VERIFYPLAN_PRICES"
MAX_PRICE = 1_000_000
"""US dollars per million tokens; a higher price is a mistake."""
MAX_TABLE_BYTES = 1_000_000
_WORDS = ("source", "date", "note")
"""The fields of a price that are words, not numbers."""

_SEARCH_FIX = "write web_search = ... beside its other prices: US dollars per 1,000 searches, 0 where nothing is paid"

_DATE = re.compile(r"[-@]20\d{6}$")
_EXACT = Context(prec=100)  # sums of prices and tokens have fewer digits, so that nothing is rounded


def _number(value: object) -> Decimal:
    """Return a price as it is written: 0.1 is one tenth, not the float next to it."""
    number = Decimal(repr(value)) if isinstance(value, float) else value
    if isinstance(number, int) and not isinstance(number, bool):
        number = Decimal(number)
    if not isinstance(number, Decimal):
        raise ValueError(f"must be a number, got {value!r}")
    if not number.is_finite() or not 0 <= number <= MAX_PRICE:
        raise ValueError(f"must be a number from 0 to {MAX_PRICE:,}, got {value}")
    return number


Dollars = Annotated[Decimal, BeforeValidator(_number)]


class Rates(Model):
    """US dollars per million tokens, by the kind of the tokens."""

    input: Dollars = Field(description="Tokens in that are neither read from nor put in a cache.")
    output: Dollars
    cache_write: Dollars = Field(description="Tokens in that are put in a cache, for 5 minutes.")
    cache_read: Dollars = Field(description="Tokens in that were in a cache.")


class LongRates(Rates):
    """The rates of a request, output included, whose prompt has more tokens than `above`."""

    above: int = Field(ge=0, description="Tokens in, cached ones included.")


class Price(Rates):
    """The price of a model, with its source and date."""

    web_search: Dollars | None = Field(
        default=None, description="US dollars per 1,000 searches; needed where agents may search the web."
    )
    batch_discount: Annotated[Dollars, Field(le=1)] = Field(
        default=Decimal(0), description="What Message Batches take off the price of tokens, as a share."
    )
    long: LongRates | None = Field(default=None, description="Where long prompts cost more.")
    source: str = Field(default="", description="The page that names the price.")
    date: str = Field(default="", description="The day of which that page is, as far as known.")
    note: str = ""


PriceSource = Mapping[str, Price | Mapping[str, Any]] | str | Path
"""Prices by model, or the TOML file that holds them."""


def price_of(model: str, given: PriceSource | None = None) -> Price | None:
    """Return the price of a model; None if it is in no table.

    Tables are read in this order: `given`, the file named by the environment variable VERIFYPLAN_PRICES, the table of
    this package. In each, a dated id such as claude-haiku-4-5-20251001 is looked up by its name, else by its name
    without the date. SettingsError lists everything that is wrong with a user's table, even if another table has the
    model. Files are read again at each call.

    >>> price_of("claude-haiku-4-5-20251001").output
    Decimal('5')
    >>> free = dict.fromkeys(("input", "output", "cache_write", "cache_read"), 0)
    >>> price_of("my-model", {"my-model": free}).input, price_of("my-model")
    (Decimal('0'), None)
    """
    named = os.environ.get(PRICES_VARIABLE)
    tables = [] if given is None else [_table(given)]
    tables += [_table(Path(named))] if named else []
    for table in (*tables, bundled_prices()):
        for name in (model, _DATE.sub("", model)):
            if name in table:
                return table[name]
    return None


def cost(usage: Usage, price: Price, *, batch: bool = False) -> Decimal:
    """Return the US dollars of one exchange, to the last digit: nothing is rounded.

    Give the usage of one request, not a sum of several: whether the rates of long prompts apply is decided by the
    prompt of each request. In a batch, tokens cost less and searches do not. SettingsError for searches without a
    price.

    >>> cost(Usage(input_tokens=1000, output_tokens=10), price_of("claude-haiku-4-5"))
    Decimal('0.00105')
    """
    if usage.web_searches and price.web_search is None:
        raise SettingsError(Problem("price", f"must have web_search for {usage.web_searches:,} searches", _SEARCH_FIX))
    rates: Rates = price.long if price.long and usage.total_input > price.long.above else price
    with localcontext(_EXACT):
        tokens = (
            usage.input_tokens * rates.input
            + usage.cache_write_tokens * rates.cache_write
            + usage.cache_read_tokens * rates.cache_read
            + usage.output_tokens * rates.output
        )
        share = 1 - price.batch_discount if batch else Decimal(1)
        total = (tokens * share).scaleb(-6) + (usage.web_searches * (price.web_search or Decimal(0))).scaleb(-3)
        return total.quantize(Decimal(1)) if total == total.to_integral_value() else total.normalize()


def unpriced(prices: Mapping[str, Price | None]) -> Iterator[Problem]:
    """Yield a problem for each model that has a price without `web_search`, for agents that may search the web."""
    for model, price in prices.items():
        if price is not None and price.web_search is None:
            message = "must have web_search, as web=True lets agents search the web"
            yield Problem(f"price of {model!r}", message, f"{_SEARCH_FIX}, or leave out web=True (--web)")


def logged_price(price: Mapping[str, Any]) -> dict[str, Any]:
    """Return a logged price with numbers, which the log keeps as texts."""
    values = {name: logged_price(value) if isinstance(value, Mapping) else value for name, value in price.items()}
    with suppress(ArithmeticError):
        return {n: Decimal(v) if isinstance(v, str) and n not in _WORDS else v for n, v in values.items()}
    return values


def price_fix(*models: str) -> str:
    """Return how to give models their prices, with the lines to write."""
    lines = "\n\n".join(
        "\n".join((f"[{json.dumps(model)}]", *(f"{name} = ..." for name in _REQUIRED))) for model in models
    )
    prices = "its price" if len(models) == 1 else "their prices"
    return (
        f"write {prices} into a TOML file, and name that file by prices= of the backend (agents.Anthropic), --prices "
        f"or the environment variable {PRICES_VARIABLE} (US dollars per million tokens; 0 where nothing is paid; if "
        f"agents may search the web, also web_search = ..., per 1,000 searches):\n\n{lines}"
    )


def unknown_price(*models: str) -> SettingsError:
    """Return the error for a limit of cost on models without a price; its fix has the lines that add them."""
    names = ", ".join(f"{model!r}{did_you_mean(model, bundled_prices())}" for model in models)
    fix = f"{price_fix(*models)}\n\nor leave out the limit of cost"
    if len(models) > 1:
        return SettingsError(Problem("prices", f"no table has {names}", fix))
    known = names.removeprefix(repr(models[0]))
    return SettingsError(Problem(f"price of {models[0]!r}", f"no table has it{known}", fix))


@cache
def bundled_prices() -> Mapping[str, Price]:
    """Return the prices of this package by model, each with its source and date."""
    text = files(__package__).joinpath("prices.toml").read_text("utf-8")
    return _prices(tomllib.loads(text, parse_float=Decimal), "prices.toml")


_REQUIRED = tuple(name for name, field in Price.model_fields.items() if field.is_required())


def _table(given: PriceSource) -> Mapping[str, Price]:
    """Return the prices of a mapping or a TOML file; SettingsError if it cannot be read or is not TOML."""
    if isinstance(given, Mapping):
        return _prices(given, "prices")
    path = Path(given)
    fix = "name a TOML file with a table for each model"
    try:
        if not path.is_file() or path.stat().st_size > MAX_TABLE_BYTES:
            raise SettingsError(Problem(str(path), f"must be a file of at most {MAX_TABLE_BYTES:,} bytes", fix))
        tables = tomllib.loads(decode(path.read_bytes(), str(path)), parse_float=Decimal)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise SettingsError(error.problems) from None
        raise SettingsError(Problem(str(path), f"cannot be read ({error})", fix)) from None
    return _prices(tables, str(path))


def _prices(tables: Mapping[str, Any], place: str) -> Mapping[str, Price]:
    """Return the prices of all models; SettingsError with all problems of all of them."""
    problems: list[Problem] = []
    prices: dict[str, Price] = {}
    for model, table in tables.items():
        try:
            prices[model] = table if isinstance(table, Price) else Price.model_validate(table)
        except ValidationError as error:
            for details in error.errors(include_url=False, include_context=False):
                where = ": ".join((place, model, *map(str, details["loc"])))
                problems.append(_problem(details["type"], details["msg"], where, details["loc"]))
    if problems:
        raise SettingsError(problems)
    return prices


def _problem(kind: str, message: str, place: str, names: tuple[int | str, ...]) -> Problem:
    fix = "write US dollars per million tokens, such as 2.5"
    match kind:
        case "missing":
            return Problem(place, "is missing", fix)
        case "extra_forbidden":
            known = ", ".join(Price.model_fields)
            return Problem(place, f"is unknown{did_you_mean(names[-1], Price.model_fields)}", f"write one of {known}")
        case "model_type" | "dict_type" | "model_attributes_type":
            return Problem(
                place, "must be a table of prices", f"write {', '.join(f'{name} = ...' for name in _REQUIRED)}"
            )
        case "string_type":
            return Problem(place, "must be a text", "write it in quotes")
        case "value_error":
            return Problem(place, message.removeprefix("Value error, "), fix)
    return Problem(place, message[0].lower() + message[1:], "write a value that fits")


MAX_CONTEXT_TOKENS = 10_000_000
"""Tokens that no model's context exceeds: a reply that counts more tokens in counts something else."""


def usage_of(
    message: Mapping[str, Any], asked: Mapping[str, Any], price: Price | None, *, batch: bool = False
) -> Usage:
    """Return what the reply to a request used by the endpoint's own count, with its price if it is known.

    `asked` is the body of the request. A usage that cannot be true is unknown (`uncounted` is 1) and never 0: tokens
    in and out that are missing, a count that is no whole number or below 0, no token in, more of them than
    `MAX_CONTEXT_TOKENS`, more tokens out than `max_tokens` (of each time that a model speaks: an endpoint that looks
    something up lets it speak again), more searches than `max_uses`. Counts of caches and searches may be missing or
    null, and are then 0. The cost is missing for searches without a price.

    >>> usage_of({"usage": {"input_tokens": 7, "output_tokens": 2}}, {"max_tokens": 10}, None).total
    9
    >>> usage_of({"usage": {"input_tokens": 7, "output_tokens": -2}}, {"max_tokens": 10}, None)
    Usage(input_tokens=0, output_tokens=0, ..., cost=None, uncounted=1)
    """
    reported = message.get("usage")
    counts: Mapping[str, Any] = reported if isinstance(reported, Mapping) else {}
    server = counts.get("server_tool_use")
    searches = server.get("web_search_requests") if isinstance(server, Mapping) else server
    found = [
        counts.get("input_tokens"),
        counts.get("output_tokens"),
        *(0 if (value := counts.get(name)) is None else value for name in _CACHE_COUNTS),
        0 if searches is None else searches,
    ]
    numbers = [value for value in found if isinstance(value, int) and not isinstance(value, bool) and value >= 0]
    if len(numbers) < len(found):
        return Usage(uncounted=1)
    tokens_in, tokens_out, read, written, searched = numbers
    uses = _look_ups(asked)
    most_out = int(asked["max_tokens"]) * (1 + sum(uses.values()))
    plausible = 0 < tokens_in + read + written <= MAX_CONTEXT_TOKENS and tokens_out <= most_out
    if not plausible or searched > uses["web_search"]:
        return Usage(uncounted=1)
    used = Usage(
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cache_read_tokens=read,
        cache_write_tokens=written,
        web_searches=searched,
    )
    if price is None or (used.web_searches and price.web_search is None):
        return used
    return used.model_copy(update={"cost": cost(used, price, batch=batch)})


_CACHE_COUNTS = ("cache_read_input_tokens", "cache_creation_input_tokens")


def _look_ups(body: Mapping[str, Any]) -> Counter[str]:
    """Return how often a request lets the endpoint use each of its own tools for the web."""
    web = [tool for tool in body.get("tools", ()) if str(tool.get("type", "")).startswith("web_")]
    return Counter({str(tool.get("name")): int(tool.get("max_uses", 1)) for tool in web})


BYTES_PER_TOKEN = 3.5
"""Fewer than texts have in most languages, so that an estimate is rather too high."""

WEB_PAGE_TOKENS = 20_000
"""Tokens of web pages that an endpoint reads for one look-up."""


def turn_estimate(body: Mapping[str, Any], price: Price | None, *, batch: bool = False) -> Usage:
    """Return the most that a request may use: all of its bytes as tokens in, and its `max_tokens` out.

    Nothing is taken as read from a cache; where something is marked for it, all is priced as put in it. The cost is
    missing without a price.

    >>> turn_estimate({"max_tokens": 100, "messages": [{"role": "user", "content": "x" * 700}]}, None).total
    317
    """
    text = to_json(body)
    uses = _look_ups(body)
    tokens = round(len(text) / BYTES_PER_TOKEN) + WEB_PAGE_TOKENS * len(uses)
    marked = b'"cache_control"' in text
    used = Usage(
        input_tokens=0 if marked else tokens,
        cache_write_tokens=tokens if marked else 0,
        output_tokens=int(body["max_tokens"]),
        web_searches=uses["web_search"],
    )
    return used if price is None else used.model_copy(update={"cost": cost(used, price, batch=batch)})
