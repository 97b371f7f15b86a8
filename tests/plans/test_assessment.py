"""rule A8: the signs of a plan, the words they rest on, its quality, and whether it is trivial."""

from __future__ import annotations

import pytest

from verifyplan.plans.assessment import CountedWord, assess
from verifyplan.plans.plan import parse_plan
from verifyplan.plans.word_lists import Lexicon, table, words
from verifyplan.rules.sizing import Signs, Traits

PLAN = """# Billing

**Goal:** Charge people.

## Constraints

- Keep the audit trail for GDPR.

## Steps

1. Create `src/billing.py`, with a REST endpoint.
2. Call Stripe from `charge()`; the API key is TBD.
3. Store receipts in S3 and Postgres, not sure how long. Perhaps forever?
4. We use `httpx` because it is small. See `docs/a.md` and `docs/a.md`.

```sh
kafka redis api api api
```
"""


def test_a_plan_is_assessed():
    found = assess(parse_plan(PLAN))
    assert found.signs == Signs(5, 2, 3, True, 3, 2)
    assert found.traits == Traits(True, 5, 0, 1, 4, words=42, destructive=0, writes=1)
    assert (found.quality, found.trivial, found.domains) == ("ADEQUATE", False, ("api", "compliance"))
    assert found.integrations == ("Amazon S3", "Postgres", "Stripe")
    assert found.found["unknown"] == (CountedWord("tbd", 12), CountedWord("not sure", 13), CountedWord("perhaps", 13))
    assert found.found["compliance"] == (CountedWord("audit trail", 7), CountedWord("gdpr", 7))
    assert found.found["domain:data"] == (CountedWord("postgres", 13),)


@pytest.mark.parametrize(
    ("text", "counts"),
    [("One webhook.", False), ("A webhook and webhooks.", False), ("A webhook, a webhook, a webhook.", True),
     ("A webhook and an endpoint.", True), ("An endpoint\n```\nwebhook\n```", False),
     ("See `docs/api/webhook.md` and https://api.x.org/webhook and api.", False)],
)  # fmt: skip
def test_a_domain_counts_from_two_words_or_three_mentions_on(text, counts):
    assert ("api" in assess(parse_plan(text)).domains) is counts


def test_an_integration_counts_once():
    found = assess(parse_plan("Redis, redis, REDIS and Postgres or PostgreSQL.\n"))
    assert found.signs.integrations == 2
    assert [word.word for word in found.found["integration:Redis"]] == ["redis"] * 3


def test_a_sentence_is_one_unknown_signal_wherever_its_lines_break():
    assert (
        assess(parse_plan("TBD, TODO, ???\n???\n## Open questions\n\nOpen questions: none\n")).signs.unknown_signals
        == 2
    )


def test_frontmatter_does_not_count():
    found = assess(parse_plan("---\nname: redis\nnote: TODO\n---\ntext\n"))
    assert (found.found, found.traits.words) == ({}, 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [("# A\n\nb\n\nc d\n", 3), ("A\n===\nb\n", 1), ("A - b\n\n* * *\n", 2), ("```\nx\n```\n", 0),
     ("see `a\nb`, it's\n", 2), ("| a | b |\n| - | - |\n| c d | e |\n", 5), ("", 0)],
)  # fmt: skip
def test_words_outside_headings_and_code(text, words):
    assert assess(parse_plan(text)).traits.words == words


def test_a_small_plan_is_trivial_until_it_names_something_large():
    small = "# Fix\n\n1. Edit `a.py`\n2. Run `pytest -q`\n"
    assert assess(parse_plan(small)).trivial
    for more in ("Ask Stripe.\n", "GDPR.\n", "TBD.\n", "3. more\n", "3. Run `git push`\n", "\n" + "so " * 60):
        assert not assess(parse_plan(f"{small}{more}")).trivial, more


def test_the_empty_plan_is_thin_and_trivial():
    found = assess(parse_plan(""))
    assert (found.quality, found.trivial, found.signs) == ("THIN", True, Signs(0, 0, 0, False, 0, 0))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("API, apis and rest-api", ["api", "apis"]),
        ("api_key, my_api, my-api, api-x, api's", ["api_key", "api"]),
        ("API\n  key", ["api key"]),
        ("Soc-2, SOC 2, soc2", ["soc-2", "soc 2"]),
        ("what???", ["???"]),
        ("rapid", []),
        ("", []),
    ],
)
def test_phrases_are_found_as_whole_words(text, found):
    assert [match.words for match in Lexicon({"x": ["api", "API key", "SOC 2", "???"]}).find(text)] == found


def test_phrases_of_one_list_do_not_overlap_and_lists_do_not_hinder_one_another():
    matches = list(Lexicon({"a": ["audit", "audit trail"], "b": ["trail"]}).find("An audit trail"))
    assert [(m.group, m.words, m.start, m.end) for m in matches] == [("a", "audit trail", 3, 14), ("b", "trail", 9, 14)]


def test_word_lists_are_whole_and_in_no_two_minds():
    for name in ("domains", "integrations", "signals", "statements"):
        for key, phrases in table(name).items():
            assert len(set(phrases)) == len(phrases), (name, key)
            assert all(phrase == phrase.strip().lower() for phrase in phrases), (name, key)
    intents = [word for key in ("create", "change", "delete", "move", "use") for word in table("intents")[key].split()]
    assert len(set(intents)) == len(intents)
    assert "Makefile" in words("paths", "names")
