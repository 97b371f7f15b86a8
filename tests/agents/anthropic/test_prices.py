"""What models cost: the table of this package, that of the user, and sums that are exact."""

from __future__ import annotations

import datetime
import decimal
import re
import tomllib
from decimal import Decimal
from fractions import Fraction
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.agents.anthropic.backend import Anthropic
from verifyplan.agents.prices import (
    MAX_CONTEXT_TOKENS,
    PRICES_VARIABLE,
    Price,
    bundled_prices,
    cost,
    price_of,
    unknown_price,
    usage_of,
)
from verifyplan.errors import SettingsError
from verifyplan.protocol.call import Usage

OURS = {"input": 1, "output": 2.5, "cache_write": 0, "cache_read": 0.1, "web_search": 10}
TOML = "[mine]\ninput = 1\noutput = 2.5\ncache_write = 0\ncache_read = 0.1\nweb_search = 10\n"


@pytest.fixture(autouse=True)
def no_table_of_the_user(monkeypatch):
    monkeypatch.delenv(PRICES_VARIABLE, raising=False)


def the_models_of_the_sdk():
    model = pytest.importorskip("anthropic.types.model", reason="needs the extra anthropic")
    return set(get_args(get_args(model.Model)[0]))


def test_every_model_of_the_sdk_has_a_price_but_the_one_that_could_not_be_sourced():
    without = {model for model in the_models_of_the_sdk() if price_of(model) is None}
    assert without == {"claude-mythos-preview"}


def test_no_price_is_for_a_model_that_the_sdk_does_not_know():
    assert set(bundled_prices()) <= the_models_of_the_sdk()


@pytest.mark.parametrize("model", bundled_prices())
def test_every_price_has_a_source_and_a_date(model):
    price = bundled_prices()[model]
    assert re.fullmatch(r"https://platform\.claude\.com/docs/\S+", price.source)
    assert datetime.date(2026, 1, 1) < datetime.date.fromisoformat(price.date) < datetime.date(2026, 12, 1)


@pytest.mark.parametrize("model", bundled_prices())
def test_prices_stand_to_each_other_as_the_page_says(model):
    """Output 5 times input, cache writes 1.25 times, batches half: a slip of a digit would show."""
    price = bundled_prices()[model]
    for rates in filter(None, (price, price.long)):
        assert rates.output == 5 * rates.input
        assert rates.cache_write == Decimal("1.25") * rates.input
        assert rates.cache_read / rates.input in {Decimal(share) for share in ("0.1", "0.05", "0.025")}
    assert (price.batch_discount, price.web_search) == (Decimal("0.5"), 10)


@pytest.mark.parametrize(
    ("model", "rates"),
    [
        ("claude-fable-5-2", ("8", "10", "0.20", "40")),
        ("claude-opus-5-5", ("4", "5", "0.20", "20")),
        ("claude-sonnet-5-5", ("2", "2.50", "0.10", "10")),
        ("claude-haiku-5-5", ("0.10", "0.125", "0.01", "0.50")),
        ("claude-fable-5-1", ("10", "12.50", "0.25", "50")),
        ("claude-fable-5", ("10", "12.50", "1", "50")),
        ("claude-opus-4-8", ("5", "6.25", "0.50", "25")),
        ("claude-sonnet-4-6", ("3", "3.75", "0.30", "15")),
        ("claude-haiku-4-5", ("1", "1.25", "0.10", "5")),
    ],
)
def test_prices_are_those_of_the_sources(model, rates):
    price = bundled_prices()[model]
    assert (price.input, price.cache_write, price.cache_read, price.output) == tuple(map(Decimal, rates))


def test_a_dated_id_has_the_price_of_its_model():
    assert (
        price_of("claude-haiku-4-5-20251001") == price_of("claude-haiku-4-5@20251001") == price_of("claude-haiku-4-5")
    )


def test_a_dated_id_of_ones_own_comes_before_the_one_without_date():
    table = {"m": OURS, "m-20260101": OURS | {"input": 7}}
    assert price_of("m-20260101", table).input == 7
    assert price_of("m-20260202", table).input == 1


@pytest.mark.parametrize(
    "model",
    [
        "",
        "claude",
        "claude-opus",
        "claude-opus-5-6",
        "claude-haiku-4-5-2025",
        "claude-haiku-4-5-latest",
        "CLAUDE-OPUS-5",
    ],
)
def test_no_model_borrows_the_price_of_another(model):
    assert price_of(model) is None


def test_a_table_of_ones_own_adds_and_replaces(tmp_path, monkeypatch):
    file = tmp_path / "prices.toml"
    file.write_text(TOML + TOML.replace("mine", "claude-opus-5"))
    assert price_of("mine") is None
    monkeypatch.setenv(PRICES_VARIABLE, str(file))
    assert price_of("mine") == Price(**OURS)
    assert price_of("claude-opus-5").input == 1
    assert price_of("claude-opus-5-5").input == 4
    assert price_of("mine", {"mine": OURS | {"input": 9}}).input == 9
    assert price_of("mine", {}).input == 1
    assert price_of("mine", str(file)) == price_of("mine", file) == price_of("mine", {"mine": Price(**OURS)})


def test_a_number_is_taken_as_it_is_written(tmp_path):
    file = tmp_path / "prices.toml"
    file.write_text(TOML.replace("0.1", "0.10000000000000000000000001"))
    assert price_of("mine", file).cache_read == Decimal("0.10000000000000000000000001")
    assert price_of("mine", {"mine": OURS}).cache_read == Decimal("0.1")


LOCAL = {name: price for name, price in OURS.items() if name != "web_search"}


def test_a_price_without_web_search_is_enough_for_agents_that_do_not_search():
    price = price_of("mine", {"mine": LOCAL})
    assert cost(Usage(input_tokens=2_000_000), price) == 2
    own = {"base_url": "http://127.0.0.1:9"}
    assert Anthropic("mine", prices={"mine": LOCAL}, **own).describe()["prices"]["mine"]["web_search"] is None
    assert Anthropic("mine", prices={"mine": OURS}, web=True, **own).prices["mine"].web_search == 10


def test_searches_without_a_price_are_refused_or_of_unknown_cost():
    needed = r"price of 'mine': must have web_search, as web=True lets agents search the web\. Fix: write web_search = "
    with pytest.raises(SettingsError, match=needed):
        Anthropic("mine", prices={"mine": LOCAL}, web=True, base_url="http://127.0.0.1:9")
    price = price_of("mine", {"mine": LOCAL})
    with pytest.raises(SettingsError, match=r"price: must have web_search for 2 searches"):
        cost(Usage(web_searches=2), price)
    counts = {"input_tokens": 7, "output_tokens": 2}
    body = {"max_tokens": 9, "tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 1}]}
    assert usage_of({"usage": counts}, body, price).cost is not None
    searched = usage_of({"usage": counts | {"server_tool_use": {"web_search_requests": 1}}}, body, price)
    assert (searched.cost, searched.uncounted, searched.total) == (None, 0, 9)


FINE = {"input_tokens": 7, "output_tokens": 2, "cache_read_input_tokens": None, "server_tool_use": None}
BODY = {"max_tokens": 100}
JUNK = st.one_of(
    st.integers(max_value=-1),
    st.integers(min_value=MAX_CONTEXT_TOKENS + 1),
    st.floats(),
    st.booleans(),
    st.text(),
    st.lists(st.integers(0, 9)),
    st.dictionaries(st.text(), st.integers(0, 9)),
)
NEVER_MISSING = ("input_tokens", "output_tokens")


@given(st.sampled_from([*NEVER_MISSING, "cache_read_input_tokens", "cache_creation_input_tokens"]), JUNK)
def test_a_count_that_cannot_be_true_makes_the_usage_unknown(name, value):
    assert usage_of({"usage": FINE | {name: value}}, BODY, price_of("claude-opus-5")) == Usage(uncounted=1)


@pytest.mark.parametrize("usage", [None, 7, "7 tokens", [], {}, *({n: 7} for n in NEVER_MISSING)], ids=range(7))
def test_a_usage_without_tokens_in_and_out_is_unknown(usage):
    assert usage_of({"usage": usage}, BODY, None) == usage_of({}, BODY, None) == Usage(uncounted=1)


@pytest.mark.parametrize(
    ("more", "known"),
    [
        ({"output_tokens": 100}, True),
        ({"output_tokens": 101}, False),
        ({"output_tokens": 0}, True),
        ({"input_tokens": 0}, False),
        ({"input_tokens": 0, "cache_read_input_tokens": 5}, True),
        ({"input_tokens": MAX_CONTEXT_TOKENS}, True),
        ({"input_tokens": MAX_CONTEXT_TOKENS, "cache_read_input_tokens": 1}, False),
        ({"server_tool_use": {"web_search_requests": 0}}, True),
        ({"server_tool_use": {"web_search_requests": 1}}, False),
        ({"server_tool_use": {"web_search_requests": "0"}}, False),
        ({"server_tool_use": [0]}, False),
        ({"server_tool_use": {}}, True),
    ],
)
def test_what_a_usage_may_say(more, known):
    read = usage_of({"usage": FINE | more}, BODY, price_of("claude-opus-5"))
    assert (read.uncounted, read.cost is not None) == ((0, True) if known else (1, False))


def test_where_an_endpoint_looks_something_up_the_model_speaks_again():
    body = BODY | {"tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 1}]}
    served = FINE | {"server_tool_use": {"web_search_requests": 1}}
    assert usage_of({"usage": served | {"output_tokens": 200}}, body, None).output_tokens == 200
    assert usage_of({"usage": served | {"output_tokens": 201}}, body, None).uncounted == 1


def test_all_that_is_wrong_with_a_table_is_said_at_once():
    table = {
        "one": OURS
        | {"input": -1, "output": float("nan"), "cache_read": "0.1", "cache_write": True, "web_search": 1e9},
        "two": {"input": 1, "outputs": 2, "cache_write": 0, "cache_read": 0, "web_search": 0},
        "three": 5,
        "four": OURS | {"batch_discount": 2, "long": {"above": -1, **OURS}, "source": 7},
        "five": OURS | {"output": float("inf"), "date": datetime.date(2026, 1, 1)},
    }
    with pytest.raises(SettingsError) as caught:
        price_of("claude-opus-5", table)
    assert {problem.place for problem in caught.value.problems} == {
        "prices: one: input", "prices: one: output", "prices: one: cache_read", "prices: one: cache_write",
        "prices: one: web_search", "prices: two: output", "prices: two: outputs", "prices: three",
        "prices: four: batch_discount", "prices: four: long: above", "prices: four: long: web_search",
        "prices: four: source", "prices: five: output", "prices: five: date",
    }  # fmt: skip
    text = str(caught.value)
    assert (
        "prices: one: input: must be a number from 0 to 1,000,000, got -1. Fix: write US dollars per million tokens"
        in text
    )
    assert "prices: one: cache_read: must be a number, got '0.1'." in text
    assert "prices: two: outputs: is unknown (did you mean 'output'?)" in text
    assert "prices: two: output: is missing." in text
    assert "prices: three: must be a table of prices." in text
    assert "prices: five: date: must be a text. Fix: write it in quotes." in text


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"[mine\n", "cannot be read"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"x" * 2_000_000, "must be a file of at most"),
        (b"a = 1", "must be a table of prices"),
        (b"[mine]\na = nan", "is unknown"),
    ],
)
def test_a_file_that_holds_no_prices_is_named(content, why, tmp_path, monkeypatch):
    file = tmp_path / "prices.toml"
    file.write_bytes(content)
    monkeypatch.setenv(PRICES_VARIABLE, str(file))
    with pytest.raises(SettingsError, match=rf"prices\.toml.*{why}"):
        price_of("claude-opus-5")


@pytest.mark.parametrize("name", ["nothing.toml", ".", "\x00", "/dev/zero"])
def test_what_is_no_file_is_named(name, tmp_path):
    with pytest.raises(SettingsError, match=r"must be a file|cannot be read"):
        price_of("mine", tmp_path / name)


USAGE = st.builds(
    Usage,
    **{
        name: st.integers(0, 10**9)
        for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "web_searches")
    },
)
DOLLARS = st.decimals(0, 10**6, places=6)
PRICE = st.builds(
    Price,
    input=DOLLARS,
    output=DOLLARS,
    cache_write=DOLLARS,
    cache_read=DOLLARS,
    web_search=DOLLARS,
    batch_discount=st.decimals(0, 1, places=3),
    long=st.none(),
)


@given(USAGE, PRICE, st.booleans())
def test_a_cost_is_exact(usage, price, batch):
    tokens = (
        usage.input_tokens * Fraction(price.input)
        + usage.output_tokens * Fraction(price.output)
        + usage.cache_read_tokens * Fraction(price.cache_read)
        + usage.cache_write_tokens * Fraction(price.cache_write)
    )
    share = 1 - Fraction(price.batch_discount) if batch else 1
    with decimal.localcontext(prec=2):  # whatever the caller's own context is
        assert (
            Fraction(cost(usage, price, batch=batch))
            == tokens * share / 10**6 + usage.web_searches * Fraction(price.web_search) / 1000
        )


@pytest.mark.parametrize(
    ("usage", "batch", "dollars"),
    [
        (Usage(), False, "0"),
        (Usage(input_tokens=1_000_000), False, "5"),
        (Usage(output_tokens=1), False, "0.000025"),
        (Usage(cache_write_tokens=100, cache_read_tokens=100), False, "0.000675"),
        (Usage(input_tokens=10, output_tokens=10), True, "0.00015"),
        (Usage(web_searches=3), False, "0.03"),
        (Usage(web_searches=3, input_tokens=10), True, "0.030025"),
        (Usage(input_tokens=10_000_000_000), False, "50000"),
    ],
)
def test_costs_by_hand(usage, batch, dollars):
    assert str(cost(usage, bundled_prices()["claude-opus-5"], batch=batch)) == dollars


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        (Usage(input_tokens=100_000), "0.01"),
        (Usage(input_tokens=100_001), "0.0500005"),
        (Usage(input_tokens=1, cache_read_tokens=100_000, output_tokens=1000), "0.0075005"),
        (Usage(input_tokens=1, cache_write_tokens=99_999, output_tokens=1000), "0.012999975"),
        (Usage(output_tokens=200_000), "0.1"),
    ],
)
def test_a_long_prompt_costs_more_where_the_price_says_so(usage, dollars):
    assert str(cost(usage, bundled_prices()["claude-haiku-5-5"])) == dollars


def test_an_unknown_price_says_which_lines_to_write(tmp_path, monkeypatch):
    error = unknown_price('llama-3.1 "q4"')
    assert isinstance(error, SettingsError)
    lines = re.search(r"\n\n(\[.*?)\n\n", str(error), re.DOTALL)[1]
    assert PRICES_VARIABLE in str(error)
    file = tmp_path / "prices.toml"
    file.write_text(lines.replace("...", "0"))
    assert tomllib.loads(file.read_text())
    monkeypatch.setenv(PRICES_VARIABLE, str(file))
    assert cost(Usage(input_tokens=7), price_of('llama-3.1 "q4"')) == 0


def test_an_unknown_price_names_the_model_that_may_be_meant():
    assert "no table has it (did you mean 'claude-opus-5-5'?)" in str(unknown_price("claude-opus-5.5"))


def test_unknown_prices_of_several_models_are_one_problem_with_the_lines_of_each():
    [problem] = unknown_price("my-model", "other").problems
    assert problem.message == "no table has 'my-model', 'other'"
    assert list(tomllib.loads(re.search(r"(\[.*?)\n\nor", problem.fix, re.DOTALL)[1].replace("...", "0"))) == [
        "my-model",
        "other",
    ]
